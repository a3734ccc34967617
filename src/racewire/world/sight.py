"""Whether a camera that looks up from the body sees a point: the plain test a course is made by.

The camera is given by its field of view alone, because the world lies below the sensors: spec
aigp.md 4.1, 640x360 at a focal length of 320, tilted 20 degrees up from body x.
"""

import math
from dataclasses import dataclass

from racewire.core.frames import Frd, Ned, Rot, Vec


@dataclass(frozen=True, slots=True)
class Sight:
    """Tangents of half the horizontal and half the vertical field of view; tilt up (deg)."""

    tan_across: float = 1.0
    tan_up: float = 0.5625
    tilt_deg: float = 20.0

    def sees(self, place: Vec[Ned], pitch: float, yaw: float, target: Vec[Ned], size: float) -> bool:
        """Tell whether a sphere of radius `size` (m) at `target` lies wholly in view.

        The camera is at `place` on a body that is rolled level, with `pitch` and `yaw` (rad).
        """
        ned_from_view: Rot[Ned, Frd] = Rot.from_euler(0.0, pitch + math.radians(self.tilt_deg), yaw)
        v = ned_from_view.inverse() @ (target - place)
        return self.tan_across * v.x - abs(v.y) >= size * math.hypot(
            1.0, self.tan_across
        ) and self.tan_up * v.x - abs(v.z) >= size * math.hypot(1.0, self.tan_up)

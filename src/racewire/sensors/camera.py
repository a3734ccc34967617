"""The pinhole camera: where a point of the scene falls in the image, and back.

Frame Optical is right, down, forward. Image coordinates (u, v) are in pixels, right and down, and
*continuous*: pixel (i, j) covers [i, i+1) x [j, j+1), so the centre of a 640x360 image is exactly
(320, 180). OpenCV counts from pixel centres: add 0.5 to what it returns. Pilots import this module.
Source: AI Grand Prix camera, spec 4.1 (VADR-TS-002): f = 320 px, no distortion, 20 degrees up.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Frd, Optical, Rot, Vec

NEAR = 0.05
"""Points nearer to the lens plane than this (m) are not projected."""


def tilted_up(angle: float) -> Rot[Frd, Optical]:
    """Return the mount of a forward camera tilted up from body x by `angle` (rad)."""
    s, c = math.sin(angle), math.cos(angle)
    return Rot.from_matrix(np.array(((0.0, s, c), (1.0, 0.0, 0.0), (0.0, c, -s))))


@dataclass(frozen=True, slots=True)
class Camera:
    """Intrinsics in pixels, and the mount on the body (position in m)."""

    width: int = 640
    height: int = 360
    fx: float = 320.0
    fy: float = 320.0
    cx: float = 320.0
    cy: float = 180.0
    frd_from_optical: Rot[Frd, Optical] = tilted_up(math.radians(20.0))
    position: Vec[Frd] = Vec(0.0, 0.0, 0.0)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """K, shape (3, 3), for continuous image coordinates."""
        return np.array(((self.fx, 0.0, self.cx), (0.0, self.fy, self.cy), (0.0, 0.0, 1.0)))

    def project(self, point: Vec[Optical]) -> tuple[float, float] | None:
        """Return (u, v) of a point in front of the lens, inside the image or not; None behind it."""
        if point.z < NEAR:
            return None
        return self.cx + self.fx * point.x / point.z, self.cy + self.fy * point.y / point.z

    def ray(self, u: float, v: float) -> Vec[Optical]:
        """Return the direction, with z = 1, of the scene seen at (u, v)."""
        return Vec((u - self.cx) / self.fx, (v - self.cy) / self.fy, 1.0)

    def sees(self, u: float, v: float) -> bool:
        """Tell whether (u, v) lies inside the image."""
        return 0.0 <= u < self.width and 0.0 <= v < self.height


AIGP_CAMERA = Camera()
"""The camera of the AI Grand Prix drone."""

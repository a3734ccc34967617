"""The camera: from the pose of the body to a picture.

Frames: the pose is `ned_from_frd`; the camera's mount on the body is its own. The picture is BGR,
uint8, (height, width, 3). No clock, no threads, no state besides scratch memory.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Frd, Ned, Pose
from racewire.render.draw import draw_band
from racewire.render.look import load_look
from racewire.render.scene import build_scene
from racewire.render.view import View, look_at
from racewire.sensors.camera import Camera
from racewire.world.layout import Course

Picture = NDArray[np.uint8]
"""BGR, shape (height, width, 3)."""


class Renderer:
    """Draws one course through one camera. Use one per thread, or one whose bands are drawn on several."""

    def __init__(self, course: Course, camera: Camera) -> None:
        self.camera = camera
        self.scene = build_scene(course, load_look(course.look))
        self._view = View.empty(len(self.scene.leg))
        self._lens = np.array(
            (camera.fx, camera.fy, camera.cx, camera.cy, float(camera.width), float(camera.height))
        )

    def render(self, pose: Pose[Ned, Frd], active_gate: int) -> Picture:
        """Return a fresh picture from `pose`; the ribbon leads to the gate with the index `active_gate`.

        Raises
        ------
        ValueError
            If the pose is not finite.
        """
        picture = self.blank()
        self.look_from(pose, active_gate)
        self.draw(0, self.camera.height, picture)
        return picture

    def blank(self) -> Picture:
        """Return memory for one picture, not yet drawn."""
        return np.empty((self.camera.height, self.camera.width, 3), np.uint8)

    def look_from(self, pose: Pose[Ned, Frd], active_gate: int) -> None:
        """Find what is in view from `pose`, for `draw`.

        Raises
        ------
        ValueError
            If the pose is not finite.
        """
        p, q = pose.position, pose.rotation
        if not all(math.isfinite(c) for c in (p.x, p.y, p.z, q.w, q.x, q.y, q.z)):
            message = f"the camera's pose is not finite: {pose}"
            raise ValueError(message)
        rotation = (q @ self.camera.frd_from_optical).matrix()
        scene, view = self.scene, self._view
        look_at(
            scene.corners,
            scene.normal,
            scene.u,
            scene.v,
            scene.leg,
            active_gate,
            active_gate + scene.legs - 1,
            rotation,
            (pose @ self.camera.position).array(),
            self._lens,
            view.edges,
            view.edge_count,
            view.bounds,
            view.plane,
            view.face,
            view.counts,
        )

    def draw(self, top: int, bottom: int, picture: Picture) -> None:
        """Draw the rows `top` to `bottom` of what `look_from` found.

        Rows do not depend on each other: any bands, drawn in any order or at the same time on several
        threads, give the same bytes.
        """
        scene, view = self.scene, self._view
        draw_band(
            top,
            bottom,
            view.edges,
            view.edge_count,
            view.bounds,
            view.plane,
            view.face,
            view.counts,
            scene.material,
            scene.texture,
            scene.paint,
            scene.background,
            scene.atlas,
            scene.glow,
            picture,
        )

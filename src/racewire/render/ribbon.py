"""The ribbon: a glowing sheet from the pad through the gates, one leg between one and the next.

Its middle line is a cubic Hermite curve through the openings along their forward axes. Across, it is
a shallow trough: u runs from -1 at the left border to +1 at the right one, where it is brightest.
Lengths in m, NED.
"""

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Gate, Ned, Pose
from racewire.render.look import RibbonLook
from racewire.render.mesh import GLOWING, Mesh, Paint, Point

FLAT = 0.6
"""Part of the width that is flat; the borders rise outside of it."""


def add_ribbon(mesh: Mesh, stations: list[Pose[Ned, Gate]], look: RibbonLook) -> None:
    """Append the legs between `stations`: the start and every opening, in flying order."""
    slope = (1.0 - FLAT) / float(np.hypot((1.0 - FLAT) * look.half_width, look.rise))
    paint = Paint(GLOWING, look.sheet, look.line, line=2.0 * look.line_width * slope)
    across = ((-1.0, -look.rise), (-FLAT, 0.0), (FLAT, 0.0), (1.0, -look.rise))
    for leg, (start, end) in enumerate(zip(stations, stations[1:], strict=False)):
        rows = [_section(start, end, k / look.steps, across, look) for k in range(look.steps + 1)]
        for k, (near, far) in enumerate(zip(rows, rows[1:], strict=False)):
            for i in range(len(across) - 1):
                a, b, c, d = far[i], far[i + 1], near[i + 1], near[i]
                left, right = across[i][0], across[i + 1][0]
                mesh.add([a, b, c], [(left, k + 1.0), (right, k + 1.0), (right, k)], paint, leg)
                mesh.add([a, c, d], [(left, k + 1.0), (right, k), (left, k)], paint, leg)


def _section(
    start: Pose[Ned, Gate],
    end: Pose[Ned, Gate],
    s: float,
    across: tuple[tuple[float, float], ...],
    look: RibbonLook,
) -> list[Point]:
    """Return the corners of the cross-section at the part `s` of a leg."""
    p0, p1 = start.position.array(), end.position.array()
    length = float(np.linalg.norm(p1 - p0))
    m0, m1 = length * _axis(start, 0), length * _axis(end, 0)
    centre = (
        (1.0 + 2.0 * s) * (1.0 - s) ** 2 * p0
        + s * (1.0 - s) ** 2 * m0
        + s * s * (3.0 - 2.0 * s) * p1
        + s * s * (s - 1.0) * m1
    )
    tangent = 6.0 * s * (1.0 - s) * (p1 - p0) + (1.0 - s) * (1.0 - 3.0 * s) * m0 + s * (3.0 * s - 2.0) * m1
    forward = _unit(tangent, p1 - p0)
    right = (1.0 - s) * _axis(start, 1) + s * _axis(end, 1)
    right = _unit(right - (right @ forward) * forward, _axis(start, 1))
    down = np.cross(forward, right)
    middle = centre + look.drop * down
    return [middle + look.half_width * u * right + d * down for u, d in across]


def _axis(pose: Pose[Ned, Gate], index: int) -> Point:
    return pose.rotation.matrix()[:, index]


def _unit(vector: Point, otherwise: Point) -> NDArray[np.float64]:
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm > 1e-6 else otherwise / float(np.linalg.norm(otherwise))

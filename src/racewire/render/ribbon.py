"""The ribbon: a glowing sheet from the pad through the gates, one leg between one and the next.

Its middle line is a cubic Hermite curve through the openings along their forward axes. Across, it is
a shallow trough: u runs from -1 at the left border to +1 at the right one, where it is brightest.
Lengths in m, NED.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Gate, Ned, Pose
from racewire.render.look import RibbonLook
from racewire.render.mesh import GLOWING, Mesh, Paint, Point

FLAT = 0.6
"""Part of the width that is flat; the borders rise outside of it."""

NARROWING = 0.35
"""Part of a leg at either end over which the ribbon takes the width of an opening, and dims before it."""

Line = Sequence[tuple[float, float]]
"""A cross-section: (part of the half width to the right, height above the middle in m)."""


def add_ribbon(mesh: Mesh, stations: list[Pose[Ned, Gate]], look: RibbonLook) -> None:
    """Append the legs between `stations`: the start and every opening, in flying order."""
    across = ((-1.0, look.rise), (-FLAT, 0.0), (FLAT, 0.0), (1.0, look.rise))
    for leg, (start, end) in enumerate(zip(stations, stations[1:], strict=False)):
        rows = [_section(start, end, k / look.steps, across, look, leg == 0) for k in range(look.steps + 1)]
        for k, (near, far) in enumerate(zip(rows, rows[1:], strict=False)):
            paint = _paint((k + 0.5) / look.steps, look)
            for i in range(len(across) - 1):
                a, b, c, d = far[i], far[i + 1], near[i + 1], near[i]
                left, right = across[i][0], across[i + 1][0]
                uv = [(left, k + 1.0), (right, k + 1.0), (right, float(k)), (left, float(k))]
                if _flat(a, b, c, d):
                    mesh.add([a, b, c, d], uv[:3], paint, leg)
                else:
                    mesh.add([a, b, c], uv[:3], paint, leg)
                    mesh.add([a, c, d], [uv[0], uv[2], uv[3]], paint, leg)


def _paint(s: float, look: RibbonLook) -> Paint:
    """Return how a piece at the part `s` of its leg looks: the borders dim on the way into a gate."""
    bright = look.dim + (1.0 - look.dim) * _smooth((1.0 - s) / NARROWING)
    red, green, blue = (bright * c + (1.0 - bright) * d for c, d in zip(look.line, look.sheet, strict=True))
    return Paint(GLOWING, look.sheet, (red, green, blue), line=look.line_width)


def _section(
    start: Pose[Ned, Gate], end: Pose[Ned, Gate], s: float, across: Line, look: RibbonLook, first: bool
) -> list[Point]:
    """Return the corners of the cross-section at the part `s` of a leg; the first leg begins wide."""
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
    wide = _smooth((1.0 - s) / NARROWING) * (1.0 if first else _smooth(s / NARROWING))
    half = look.half_width + wide * (look.wide - look.half_width)
    middle = centre + (look.drop + wide * (look.low - look.drop)) * down
    return [middle + half * u * right - height * down for u, height in across]


def _smooth(s: float) -> float:
    """Rise from 0 to 1 over the same range, level at both ends."""
    s = min(max(s, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def _flat(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Tell whether `d` lies within 5 mm of the plane of the others."""
    normal = np.cross(b - a, c - a)
    return abs(float(normal @ (d - a))) < 0.005 * float(np.linalg.norm(normal))


def _axis(pose: Pose[Ned, Gate], index: int) -> Point:
    return pose.rotation.matrix()[:, index]


def _unit(vector: Point, otherwise: Point) -> NDArray[np.float64]:
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm > 1e-6 else otherwise / float(np.linalg.norm(otherwise))

"""The ribbon: a glowing sheet from the pad through the gates, one leg between one and the next.

Its middle line is a cubic Hermite curve through the openings along their forward axes. Across, it is
a shallow trough: u runs from -1 at the left border to +1 at the right one, where it is brightest.
Lengths in m, NED.
"""

from collections.abc import Sequence
from itertools import pairwise

from racewire.core.frames import Gate, Ned, Pose, Vec
from racewire.render.look import RibbonLook
from racewire.render.mesh import GLOWING, Mesh, Paint, Point

FLAT = 0.6
"""Part of the width that is flat; the borders rise outside of it."""

NARROWING = 0.35
"""Part of a leg at either end over which the ribbon takes the width of an opening, and dims before it."""

FLATNESS = 0.005
"""Quadrilaterals that are flat to within this (m) are drawn as one face, others as two triangles."""

SHORT = 1e-6
"""A direction cannot be taken from a vector shorter than this."""

FORWARD: Vec[Gate] = Vec(1.0, 0.0, 0.0)
RIGHT: Vec[Gate] = Vec(0.0, 1.0, 0.0)

Line = Sequence[tuple[float, float]]
"""A cross-section: (part of the half width to the right, height above the middle in m)."""


def add_ribbon(mesh: Mesh, stations: list[Pose[Ned, Gate]], look: RibbonLook) -> None:
    """Append the legs between `stations`: the start and every opening, in flying order."""
    across = ((-1.0, look.rise), (-FLAT, 0.0), (FLAT, 0.0), (1.0, look.rise))
    for leg, (start, end) in enumerate(pairwise(stations)):
        if (end.position - start.position).norm() < SHORT:
            continue
        rows = [_section(start, end, k / look.steps, across, look, leg == 0) for k in range(look.steps + 1)]
        for k, (near, far) in enumerate(pairwise(rows)):
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
    p0, p1 = start.position, end.position
    length = (p1 - p0).norm()
    m0, m1 = _axis(start, FORWARD) * length, _axis(end, FORWARD) * length
    r = 1.0 - s
    centre = (
        p0 * ((1.0 + 2.0 * s) * r * r) + m0 * (s * r * r) + p1 * (s * s * (3.0 - 2.0 * s)) - m1 * (s * s * r)
    )
    tangent = (p1 - p0) * (6.0 * s * r) + m0 * (r * (1.0 - 3.0 * s)) + m1 * (s * (3.0 * s - 2.0))
    forward = _unit(tangent, p1 - p0)
    right = _axis(start, RIGHT) * r + _axis(end, RIGHT) * s
    right = _unit(right - forward * right.dot(forward), _axis(start, RIGHT))
    down = forward.cross(right)
    wide = _smooth(r / NARROWING) * (1.0 if first else _smooth(s / NARROWING))
    half = look.half_width + wide * (look.wide - look.half_width)
    middle = centre + down * (look.drop + wide * (look.low - look.drop))
    return [middle + right * (half * u) - down * height for u, height in across]


def _smooth(s: float) -> float:
    """Rise from 0 to 1 over the same range, level at both ends."""
    s = min(max(s, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def _flat(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Tell whether `d` lies in the plane of the others, but for FLATNESS."""
    normal = (b - a).cross(c - a)
    return abs(normal.dot(d - a)) < FLATNESS * normal.norm()


def _axis(pose: Pose[Ned, Gate], axis: Vec[Gate]) -> Point:
    return pose.rotation @ axis


def _unit(vector: Point, otherwise: Point) -> Point:
    norm = vector.norm()
    return vector * (1.0 / norm) if norm > SHORT else otherwise * (1.0 / otherwise.norm())

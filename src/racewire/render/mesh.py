"""Faces: the flat pieces a scene is made of, in NED metres.

A face is convex with four corners, clockwise as seen from its front (a triangle repeats its last
corner). Its texture coordinates (u, v) are affine in space, u = gu . p + u0, so one plane is textured
the same whatever piece of it is drawn. Its colour is `shade (dark + t (light - dark))` with the
texel t, blended into `haze` as fade / distance. Plain float arithmetic: every machine gets the same faces.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Ned, Vec
from racewire.render.look import Colour

Point: TypeAlias = Vec[Ned]
"""A point or direction, m."""

TEXTURED, LINED, GLOWING = range(3)
"""Materials: a texel from the atlas; grid lines at whole u and v; an additive sheet, bright at |u| = 1."""

NEVER = 1.0e9
"""A fade distance that is not reached."""

MIN_AREA = 1e-9
"""Faces with less than half of this (m^2) are left out."""


@dataclass(frozen=True, slots=True)
class Paint:
    """How a face looks; `texture` is an index of the atlas, `line` half a line's width in (u, v) units."""

    material: int
    dark: Colour
    light: Colour
    haze: Colour = (0.0, 0.0, 0.0)
    fade: float = NEVER
    texture: int = 0
    line: float = 0.0
    shade: float = 1.0

    def row(self) -> NDArray[np.float32]:
        """Return dark, light - dark, haze (blue, green, red each), fade and line, shape (11,)."""
        dark = self.shade * np.array(self.dark[::-1])
        light = self.shade * np.array(self.light[::-1])
        haze = np.array(self.haze[::-1])
        return np.concatenate([dark, light - dark, haze, [self.fade, self.line]]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Face:
    """One face; its plane and texture are (normal or gradient, offset); `leg` is -1 but for the ribbon."""

    corners: tuple[Point, Point, Point, Point]
    normal: tuple[Point, float]
    u: tuple[Point, float]
    v: tuple[Point, float]
    paint: Paint
    leg: int


@dataclass(frozen=True, slots=True)
class Mesh:
    """A growing list of faces."""

    faces: list[Face] = field(default_factory=list[Face])

    def add(
        self, corners: Sequence[Point], uv: Sequence[tuple[float, float]], paint: Paint, leg: int = -1
    ) -> None:
        """Append a face of three or four corners; `uv` belongs to the first three of them."""
        a, b, c = corners[0], corners[1], corners[2]
        inward = (b - a).cross(c - a)
        area = inward.norm()
        if area < MIN_AREA:
            return
        along = (c - a).cross(inward) * (1.0 / area**2)
        across = inward.cross(b - a) * (1.0 / area**2)
        (ua, va), (ub, vb), (uc, vc) = uv[:3]
        gu = along * (ub - ua) + across * (uc - ua)
        gv = along * (vb - va) + across * (vc - va)
        normal = inward * (-1.0 / area)
        self.faces.append(
            Face(
                corners=(a, b, c, corners[-1]),
                normal=(normal, normal.dot(a)),
                u=(gu, ua - gu.dot(a)),
                v=(gv, va - gv.dot(a)),
                paint=paint,
                leg=leg,
            )
        )

    def rectangle(
        self,
        corner: Point,
        right: Point,
        down: Point,
        paint: Paint,
        tile: float = 1.0,
        start: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Append the rectangle from `corner` along the edges `right` and `down`, as its front shows them.

        One texture covers `tile` metres; `start` is the corner's (u, v).
        """
        u0, v0 = start
        u1, v1 = u0 + right.norm() / tile, v0 + down.norm() / tile
        opposite = corner + right + down
        self.add([corner, corner + right, opposite, corner + down], [(u0, v0), (u1, v0), (u1, v1)], paint)

    def box(
        self,
        centre: Point,
        axes: tuple[Point, Point, Point],
        size: tuple[float, float, float],
        paints: tuple[Paint, Paint, Paint, Paint],
        tile: float,
        start: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Append a box with unit `axes` forward, right, down; `paints` of its ends, sides, top, bottom."""
        f, r, d = (axis * (0.5 * length) for axis, length in zip(axes, size, strict=True))
        ends, sides, top, bottom = paints
        u, v = start
        self.rectangle(centre + f + r - d, r * -2.0, d * 2.0, ends, tile, (u, v))
        self.rectangle(centre - f - r - d, r * 2.0, d * 2.0, ends, tile, (u + 0.3, v))
        self.rectangle(centre + r - f - d, f * 2.0, d * 2.0, sides, tile, (u + 0.5, v))
        self.rectangle(centre - r + f - d, f * -2.0, d * 2.0, sides, tile, (u + 0.7, v))
        self.rectangle(centre - d + f - r, r * 2.0, f * -2.0, top, tile, (u, v + 0.5))
        self.rectangle(centre + d - f - r, r * 2.0, f * 2.0, bottom, tile, (u, v + 0.7))

"""Faces: the flat pieces a scene is made of, in NED metres.

A face is convex with four corners, clockwise as seen from its front (a triangle repeats its last
corner). Its texture coordinates (u, v) are affine in space, u = gu . p + u0, so one plane is textured
the same whatever piece of it is drawn. Its colour is `shade (dark + t (light - dark))` with the
texel t, blended into `haze` as fade / distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from racewire.render.look import Colour

Point = NDArray[np.float64]
"""A point or direction in NED, shape (3,), m."""

TEXTURED, LINED, GLOWING = range(3)
"""Materials: a texel from the atlas; grid lines at whole u and v; an additive sheet, bright at |u| = 1."""

NEVER = 1.0e9
"""A fade distance that is not reached."""


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
class Mesh:
    """A growing list of faces."""

    corners: list[NDArray[np.float64]] = field(default_factory=lambda: [])
    u: list[NDArray[np.float64]] = field(default_factory=lambda: [])
    v: list[NDArray[np.float64]] = field(default_factory=lambda: [])
    normal: list[NDArray[np.float64]] = field(default_factory=lambda: [])
    paint: list[Paint] = field(default_factory=lambda: [])
    leg: list[int] = field(default_factory=lambda: [])

    def add(
        self, corners: Sequence[Point], uv: Sequence[tuple[float, float]], paint: Paint, leg: int = -1
    ) -> None:
        """Append a face; `uv` belongs to its first three corners; `leg` is that of a ribbon."""
        a, b, c = corners[0], corners[1], corners[2]
        normal = np.cross(c - a, b - a)
        area = np.linalg.norm(normal)
        if area < 1e-9:
            return
        normal = normal / area
        frame = np.array([b - a, c - a, normal])
        for coordinate, rows in ((0, self.u), (1, self.v)):
            start, *rest = (pair[coordinate] for pair in uv[:3])
            gradient = np.linalg.solve(frame, np.array([rest[0] - start, rest[1] - start, 0.0]))
            rows.append(np.array([*gradient, start - gradient @ a]))
        self.corners.append(np.array([*corners, corners[-1]][:4]))
        self.normal.append(np.array([*normal, normal @ a]))
        self.paint.append(paint)
        self.leg.append(leg)

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
        du, dv = float(np.linalg.norm(right)) / tile, float(np.linalg.norm(down)) / tile
        self.add(
            [corner, corner + right, corner + right + down, corner + down],
            [(u0, v0), (u0 + du, v0), (u0 + du, v0 + dv)],
            paint,
        )

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
        f, r, d = (0.5 * s * a for s, a in zip(size, axes, strict=True))
        ends, sides, top, bottom = paints
        u, v = start
        self.rectangle(centre + f + r - d, -2 * r, 2 * d, ends, tile, (u, v))
        self.rectangle(centre - f - r - d, 2 * r, 2 * d, ends, tile, (u + 0.3, v))
        self.rectangle(centre + r - f - d, 2 * f, 2 * d, sides, tile, (u + 0.5, v))
        self.rectangle(centre - r + f - d, -2 * f, 2 * d, sides, tile, (u + 0.7, v))
        self.rectangle(centre - d + f - r, 2 * r, -2 * f, top, tile, (u, v + 0.5))
        self.rectangle(centre + d - f - r, 2 * r, 2 * f, bottom, tile, (u, v + 0.7))

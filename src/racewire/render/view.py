"""Faces as one camera sees them: culled, clipped to the near plane, projected, ready to be drawn.

Through a pinhole, 1/z and u/z, v/z of a flat face are affine in the image point. They are taken from
the face's own plane, so that a face cut by the near plane is shaded as the whole one. Image
coordinates are continuous pixels, as in `sensors.camera`; camera frame Optical, m.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel

NEAR = 0.02
"""What lies nearer to the lens plane is cut off, m."""

MAX_EDGES = 5
"""A clipped face has at most this many edges."""


@dataclass(frozen=True, slots=True)
class View:
    """The pieces in view, in the scene's order; rows beyond `counts` are left over from earlier frames."""

    edges: NDArray[np.float64]
    """(n, MAX_EDGES, 4): an edge's first and last y, x at the first, dx/dy; px."""
    edge_count: NDArray[np.int64]
    """(n,)"""
    bounds: NDArray[np.float64]
    """(n, 4): least and greatest y of a piece (px), least and greatest 1/z."""
    plane: NDArray[np.float64]
    """(n, 9): 1/z, u/z, v/z, each as its coefficients of x, y and 1."""
    face: NDArray[np.int32]
    """(n,): row of the scene."""
    counts: NDArray[np.int64]
    """(2,): opaque pieces, and all."""

    @staticmethod
    def empty(faces: int) -> "View":
        """Return a view with room for a scene of that many faces."""
        return View(
            edges=np.zeros((faces, MAX_EDGES, 4)),
            edge_count=np.zeros(faces, np.int64),
            bounds=np.zeros((faces, 4)),
            plane=np.zeros((faces, 9)),
            face=np.zeros(faces, np.int32),
            counts=np.zeros(2, np.int64),
        )


@kernel
def clip_near(corners: NDArray[np.float64], near: float, out: NDArray[np.float64]) -> int:
    """Cut a convex polygon (m, 3) to z >= near, into `out` (m + 1, 3); return its corners."""
    n = 0
    m = corners.shape[0]
    for i in range(m):
        j = i + 1 if i + 1 < m else 0
        zi, zj = corners[i, 2], corners[j, 2]
        if zi >= near:
            out[n, 0], out[n, 1], out[n, 2] = corners[i, 0], corners[i, 1], zi
            n += 1
        if (zi >= near) != (zj >= near):
            a, b = (i, j) if zi >= near else (j, i)
            s = (corners[a, 2] - near) / (corners[a, 2] - corners[b, 2])
            out[n, 0] = corners[a, 0] + s * (corners[b, 0] - corners[a, 0])
            out[n, 1] = corners[a, 1] + s * (corners[b, 1] - corners[a, 1])
            out[n, 2] = near
            n += 1
    return n


@kernel
def set_edges(px: NDArray[np.float64], n: int, edges: NDArray[np.float64]) -> int:
    """Write the edges of a projected polygon, each from its upper end; return how many are not level."""
    count = 0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        a, b = (i, j) if px[i, 1] <= px[j, 1] else (j, i)
        rise = px[b, 1] - px[a, 1]
        if rise > 0.0:
            edges[count, 0] = px[a, 1]
            edges[count, 1] = px[b, 1]
            edges[count, 2] = px[a, 0]
            edges[count, 3] = (px[b, 0] - px[a, 0]) / rise
            count += 1
    return count


@kernel
def set_plane(
    row: NDArray[np.float64],
    gradient: NDArray[np.float64],
    rotation: NDArray[np.float64],
    offset: float,
    lens: NDArray[np.float64],
    k: int,
) -> None:
    """Write (gradient . p + offset) / z as coefficients of image x, y and 1 into `row[k : k + 3]`.

    For a point p = z d on the ray d, that is (gradient in the camera frame) . d + offset / z, with
    1/z from `row[:3]`.
    """
    gx = rotation[0, 0] * gradient[0] + rotation[1, 0] * gradient[1] + rotation[2, 0] * gradient[2]
    gy = rotation[0, 1] * gradient[0] + rotation[1, 1] * gradient[1] + rotation[2, 1] * gradient[2]
    gz = rotation[0, 2] * gradient[0] + rotation[1, 2] * gradient[1] + rotation[2, 2] * gradient[2]
    a, b = gx / lens[0], gy / lens[1]
    row[k] = a + offset * row[0]
    row[k + 1] = b + offset * row[1]
    row[k + 2] = gz - a * lens[2] - b * lens[3] + offset * row[2]


@kernel
def look_at(
    corners: NDArray[np.float64],
    normal: NDArray[np.float64],
    u: NDArray[np.float64],
    v: NDArray[np.float64],
    leg: NDArray[np.int32],
    first_leg: int,
    last_leg: int,
    rotation: NDArray[np.float64],
    position: NDArray[np.float64],
    lens: NDArray[np.float64],
    edges: NDArray[np.float64],
    edge_count: NDArray[np.int64],
    bounds: NDArray[np.float64],
    plane: NDArray[np.float64],
    face: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> None:
    """Fill a view: `rotation` is ned_from_optical, `lens` is (fx, fy, cx, cy, width, height).

    Ribbon faces have two sides and are shown from `first_leg` to `last_leg`; others show their front.
    """
    local = np.empty((4, 3))
    cut = np.empty((MAX_EDGES, 3))
    n = 0
    counts[0] = 0
    for f in range(corners.shape[0]):
        glows = leg[f] >= 0
        if glows and not first_leg <= leg[f] <= last_leg:
            continue
        h = normal[f, 3] - (
            normal[f, 0] * position[0] + normal[f, 1] * position[1] + normal[f, 2] * position[2]
        )
        if h > -1e-6 and (not glows or h < 1e-6):
            continue
        behind = 0
        for i in range(4):
            x = corners[f, i, 0] - position[0]
            y = corners[f, i, 1] - position[1]
            z = corners[f, i, 2] - position[2]
            for k in range(3):
                local[i, k] = rotation[0, k] * x + rotation[1, k] * y + rotation[2, k] * z
            behind += local[i, 2] < NEAR
        if behind == 4:
            continue
        m = clip_near(local, NEAR, cut)
        left, right, top, bottom = np.inf, -np.inf, np.inf, -np.inf
        least, most = np.inf, 0.0
        for i in range(m):
            inverse = 1.0 / cut[i, 2]
            least, most = min(least, inverse), max(most, inverse)
            cut[i, 0] = lens[2] + lens[0] * cut[i, 0] * inverse
            cut[i, 1] = lens[3] + lens[1] * cut[i, 1] * inverse
            left, right = min(left, cut[i, 0]), max(right, cut[i, 0])
            top, bottom = min(top, cut[i, 1]), max(bottom, cut[i, 1])
        if right <= 0.0 or left >= lens[4] or bottom <= 0.0 or top >= lens[5]:
            continue
        edge_count[n] = set_edges(cut, m, edges[n])
        bounds[n, 0], bounds[n, 1], bounds[n, 2], bounds[n, 3] = top, bottom, least, most
        row = plane[n]
        row[0] = row[1] = row[2] = 0.0
        set_plane(row, normal[f], rotation, 0.0, lens, 0)
        row[0], row[1], row[2] = row[0] / h, row[1] / h, row[2] / h
        at_u = u[f, 0] * position[0] + u[f, 1] * position[1] + u[f, 2] * position[2] + u[f, 3]
        at_v = v[f, 0] * position[0] + v[f, 1] * position[1] + v[f, 2] * position[2] + v[f, 3]
        set_plane(row, u[f], rotation, at_u, lens, 3)
        set_plane(row, v[f], rotation, at_v, lens, 6)
        face[n] = f
        n += 1
        if not glows:
            counts[0] = n
    counts[1] = n

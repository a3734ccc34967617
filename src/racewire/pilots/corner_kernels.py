"""Gate corners as the filter's innovation: their projection, its derivatives, the update.

States and error states are `eskf_kernels`'. The reprojection error itself is fused, without a pose from
PnP: it weighs bearing against range by itself and works from any number of corners, as in ADR-VINS
(arXiv 2603.02742). Frames: Ned, Frd, Optical, Gate; image coordinates continuous, px.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import quat_rotate
from racewire.core.jit import kernel
from racewire.pilots.eskf_kernels import BODY, GATE0, Array, inject
from racewire.pilots.gate_model import outline_edge


def _look(
    x: Array, slot: int, which: NDArray[np.int64], size: Array, camera: Array, pixels: Array, H: Array
) -> bool:
    """Project a gate's outline to `pixels` (k, 2); False if a point of it is behind the lens.

    `which` (k) names corners as they are seen, from before the gate or from behind: outer TL, TR, BR, BL
    0-3, inner 4-7. `size`: outer and inner half side,
    depth. `camera`: fx, fy, cx, cy, quaternion frd_from_optical, position on the body. `H` (2k, 12)
    takes the derivatives with respect to the body's attitude and position and the gate's position and
    attitude; that of the outline with respect to the point of view is left out.
    """
    a = GATE0 + 7 * slot
    ex, ey, ez = quat_rotate(x[0], x[1], x[2], x[3], camera[8], camera[9], camera[10])
    ex, ey, ez = ex + x[7] - x[a], ey + x[8] - x[a + 1], ez + x[9] - x[a + 2]
    ex, ey, ez = quat_rotate(x[a + 3], -x[a + 4], -x[a + 5], -x[a + 6], ex, ey, ez)
    side = -1.0 if ex < 0.0 else 1.0
    share = size[2] / (size[2] + max(abs(ex) - 0.5 * size[2], 1e-3))
    for i in range(which.shape[0]):
        c = which[i]
        half, sense = (size[0], 1.0) if c < 4 else (size[1], -1.0)
        right = -side if c % 4 == 1 or c % 4 == 2 else side
        down = 1.0 if c % 4 > 1 else -1.0
        px = 0.5 * side * size[2]
        py = outline_edge(right * half, ey, share, sense * right)
        pz = outline_edge(down * half, ez, share, sense * down)
        gx, gy, gz = quat_rotate(x[a + 3], x[a + 4], x[a + 5], x[a + 6], px, py, pz)
        gx, gy, gz = gx + x[a] - x[7], gy + x[a + 1] - x[8], gz + x[a + 2] - x[9]
        bx, by, bz = quat_rotate(x[0], -x[1], -x[2], -x[3], gx, gy, gz)
        ox, oy, oz = bx - camera[8], by - camera[9], bz - camera[10]
        ox, oy, oz = quat_rotate(camera[4], -camera[5], -camera[6], -camera[7], ox, oy, oz)
        if oz < 0.2:
            return False
        pixels[i, 0] = camera[2] + camera[0] * ox / oz
        pixels[i, 1] = camera[3] + camera[1] * oy / oz
        for axis in range(2):
            f, o = (camera[0], ox) if axis == 0 else (camera[1], oy)
            # gradient of the pixel with respect to the point in Frd, then in Ned
            ux, uy, uz = (f / oz, 0.0, -f * o / (oz * oz)) if axis == 0 else (0.0, f / oz, -f * o / (oz * oz))
            ux, uy, uz = quat_rotate(camera[4], camera[5], camera[6], camera[7], ux, uy, uz)
            nx, ny, nz = quat_rotate(x[0], x[1], x[2], x[3], ux, uy, uz)
            kx, ky, kz = quat_rotate(x[a + 3], -x[a + 4], -x[a + 5], -x[a + 6], nx, ny, nz)
            row = 2 * i + axis
            # u . (b x dtheta) = (u x b) . dtheta; the gate's turn moves the point by -p x dphi
            H[row, 0], H[row, 1], H[row, 2] = uy * bz - uz * by, uz * bx - ux * bz, ux * by - uy * bx
            H[row, 3], H[row, 4], H[row, 5] = -nx, -ny, -nz
            H[row, 6], H[row, 7], H[row, 8] = nx, ny, nz
            H[row, 9], H[row, 10], H[row, 11] = ky * -pz + kz * py, kz * -px + kx * pz, kx * -py + ky * px
    return True


look = kernel(_look)


def _cholesky(S: Array, m: int) -> None:
    """Replace the lower triangle of the leading m x m of `S` by its Cholesky factor."""
    for i in range(m):
        for j in range(i + 1):
            s = S[i, j]
            for k in range(j):
                s -= S[i, k] * S[j, k]
            S[i, j] = math.sqrt(max(s, 1e-12)) if i == j else s / S[j, j]


cholesky = kernel(_cholesky)


def _see_gate(
    x: Array,
    P: Array,
    n: int,
    slot: int,
    which: NDArray[np.int64],
    size: Array,
    camera: Array,
    seen: Array,
    variance: float,
    huber: float,
    apply: bool,
) -> float:
    """Return the squared Mahalanobis distance of a gate's corners from where `x` expects them.

    The corners `which` were seen at the pixels `seen` (k, 2), each coordinate with `variance`; the rest
    as in `look`. Infinite if one lies behind the lens. If `apply`, fuse them, a coordinate further off
    than `huber` deviations with less weight.
    """
    m = 2 * which.shape[0]
    pixels, H = np.empty((which.shape[0], 2)), np.empty((m, 12))
    if not look(x, slot, which, size, camera, pixels, H):
        return np.inf
    index = np.empty(12, np.int64)
    for k in range(3):
        index[k], index[3 + k] = k, 6 + k
        index[6 + k], index[9 + k] = BODY + 6 * slot + k, BODY + 6 * slot + 3 + k
    PH = np.zeros((n, m))
    for i in range(n):
        for k in range(12):
            p = P[i, index[k]]
            for j in range(m):
                PH[i, j] += p * H[j, k]
    S = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            s = 0.0
            for k in range(12):
                s += H[i, k] * PH[index[k], j]
            S[i, j] = s
    residual, factor = np.empty(m), np.empty((m, m))
    for i in range(m):
        residual[i] = seen[i // 2, i % 2] - pixels[i // 2, i % 2]
    factor[:, :] = S
    for i in range(m):
        factor[i, i] += variance
    cholesky(factor, m)
    distance = 0.0
    white = np.empty(m)
    for i in range(m):
        s = residual[i]
        for k in range(i):
            s -= factor[i, k] * white[k]
        white[i] = s / factor[i, i]
        distance += white[i] * white[i]
    if not apply:
        return distance
    factor[:, :] = S
    for i in range(m):
        off = abs(residual[i]) / math.sqrt(S[i, i] + variance)
        factor[i, i] += variance * max(1.0, off / huber)
    cholesky(factor, m)
    # K = PH S^-1: solve rows W = PH L^-T, then dx = W (L^-1 r) and P -= W W^T
    for i in range(m):
        s = residual[i]
        for k in range(i):
            s -= factor[i, k] * white[k]
        white[i] = s / factor[i, i]
    error = np.zeros(n)
    for r in range(n):
        for i in range(m):
            s = PH[r, i]
            for k in range(i):
                s -= factor[i, k] * PH[r, k]
            PH[r, i] = s / factor[i, i]
            error[r] += PH[r, i] * white[i]
    for i in range(n):
        for j in range(i, n):
            s = 0.0
            for k in range(m):
                s += PH[i, k] * PH[j, k]
            P[i, j] -= s
            P[j, i] = P[i, j]
    inject(x, n, error)
    return distance


see_gate = kernel(_see_gate)

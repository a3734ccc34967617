"""Touching the world: how deep a sphere lies in gate frames, blocks, the ramp or the floor.

Every solid is one row of numbers: a full box, or a square frame (a gate: the union of its four
bars). A row gives the signed distance of a point and the outward normal there, so that a sphere
which is already deep inside is still pushed out by the nearest side. Rows whose bounding sphere is
out of reach are skipped. NED, metres.
Source of the distance forms: C. Ericson, "Real-Time Collision Detection" (2005), chapter 5; box and
frame are both extruded plane sections, a rectangle and a square ring.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Frd, Gate, Ned, Pose, Vec
from racewire.core.jit import kernel
from racewire.world.layout import Course

NOTHING = -2
"""Contact code: the sphere touches nothing."""

ENVIRONMENT = -1
"""Contact code: the floor, a block or the ramp. A gate's code is its index."""

COLUMNS = 18
"""Row: centre 0-2, rotation matrix by rows 3-11, half extents 12-14, inner half 15, bound 16, code 17."""


@kernel
def ring_section(y: float, z: float, outer: float, inner: float) -> tuple[float, float, float]:
    """Return the signed distance to a square ring (half edges `outer`, `inner`), and its gradient."""
    sy = 1.0 if y >= 0.0 else -1.0
    sz = 1.0 if z >= 0.0 else -1.0
    a, b = sy * y, sz * z
    turned = b > a
    if turned:
        a, b = b, a
    if a <= inner:
        d, ga, gb = inner - a, -1.0, 0.0
    elif a > outer:
        da, db = a - outer, max(b - outer, 0.0)
        d = math.sqrt(da * da + db * db)
        ga, gb = da / d, db / d
    else:
        da, db = a - inner, max(b - inner, 0.0)
        hole = math.sqrt(da * da + db * db)
        if outer - a < hole:
            d, ga, gb = a - outer, 1.0, 0.0
        else:
            d, ga, gb = -hole, -da / hole, -db / hole
    if turned:
        ga, gb = gb, ga
    return d, sy * ga, sz * gb


@kernel
def box_section(y: float, z: float, half_y: float, half_z: float) -> tuple[float, float, float]:
    """Return the signed distance to a rectangle, and its gradient."""
    sy = 1.0 if y >= 0.0 else -1.0
    sz = 1.0 if z >= 0.0 else -1.0
    dy, dz = sy * y - half_y, sz * z - half_z
    if dy > 0.0 and dz > 0.0:
        d = math.sqrt(dy * dy + dz * dz)
        return d, sy * dy / d, sz * dz / d
    if dy > dz:
        return dy, sy, 0.0
    return dz, 0.0, sz


@kernel
def solid_distance(
    x: float, y: float, z: float, half_x: float, half_y: float, half_z: float, inner: float
) -> tuple[float, float, float, float]:
    """Return the signed distance to a solid in its own axes, and its gradient.

    The section lies in y and z and is extruded along x: a square ring with half edges `half_y` and
    `inner`, or a full rectangle where `inner` is negative.
    """
    if inner < 0.0:
        section, gy, gz = box_section(y, z, half_y, half_z)
    else:
        section, gy, gz = ring_section(y, z, half_y, inner)
    gx = 1.0 if x >= 0.0 else -1.0
    slab = gx * x - half_x
    if slab <= 0.0 and section <= 0.0:
        if slab > section:
            return slab, gx, 0.0, 0.0
        return section, 0.0, gy, gz
    u, v = max(slab, 0.0), max(section, 0.0)
    d = math.sqrt(u * u + v * v)
    return d, gx * u / d, gy * v / d, gz * v / d


@kernel
def touch(
    solids: NDArray[np.float64], floor: float, radius: float, x: float, y: float, z: float
) -> tuple[float, float, float, float, int]:
    """Return the deepest contact of a sphere: depth (m), unit normal out of the solid (NED), code.

    `solids` has shape (n, COLUMNS). Depth and normal are zero and the code `NOTHING` if there is none.
    """
    depth, nx, ny, nz, code = 0.0, 0.0, 0.0, 0.0, NOTHING
    if z + radius > floor:
        depth, nz, code = z + radius - floor, -1.0, ENVIRONMENT
    for i in range(solids.shape[0]):
        dx, dy, dz = x - solids[i, 0], y - solids[i, 1], z - solids[i, 2]
        reach = solids[i, 16] + radius
        if dx * dx + dy * dy + dz * dz > reach * reach:
            continue
        distance, gx, gy, gz = solid_distance(
            solids[i, 3] * dx + solids[i, 6] * dy + solids[i, 9] * dz,
            solids[i, 4] * dx + solids[i, 7] * dy + solids[i, 10] * dz,
            solids[i, 5] * dx + solids[i, 8] * dy + solids[i, 11] * dz,
            solids[i, 12],
            solids[i, 13],
            solids[i, 14],
            solids[i, 15],
        )
        if radius - distance > depth:
            depth = radius - distance
            nx = solids[i, 3] * gx + solids[i, 4] * gy + solids[i, 5] * gz
            ny = solids[i, 6] * gx + solids[i, 7] * gy + solids[i, 8] * gz
            nz = solids[i, 9] * gx + solids[i, 10] * gy + solids[i, 11] * gz
            code = int(solids[i, 17])
    return depth, nx, ny, nz, code


@dataclass(frozen=True, slots=True)
class Contact:
    """The deepest contact: depth (m), unit normal out of the solid, the gate's index or None."""

    depth: float
    normal: Vec[Ned]
    gate: int | None


@dataclass(frozen=True, slots=True)
class ContactWorld:
    """A course as arrays for one size of vehicle: the arguments of `touch`."""

    solids: NDArray[np.float64]
    floor: float
    radius: float

    @staticmethod
    def of(course: Course, radius: float) -> "ContactWorld":
        """Return the solids of `course` for a sphere of `radius` (m).

        The ramp lies so low that the sphere at the start just rests on it.
        """
        size = course.pad_size
        rows = [
            _row(gate.pose, (gate.depth, gate.outer, gate.outer), 0.5 * gate.inner, gate.gate_id)
            for gate in course.gates
        ]
        rows += [_row(b.pose, (b.size.x, b.size.y, b.size.z), -1.0, ENVIRONMENT) for b in course.blocks]
        rows.append(_row(course.ramp_below(radius), (size.x, size.y, size.z), -1.0, ENVIRONMENT))
        return ContactWorld(np.array(rows), course.floor, radius)

    def touching(self, position: Vec[Ned]) -> Contact | None:
        """Return the deepest contact of the vehicle with its centre at `position`, or None."""
        args = (self.solids, self.floor, self.radius)
        depth, nx, ny, nz, code = touch(*args, position.x, position.y, position.z)
        if code == NOTHING:
            return None
        return Contact(depth, Vec(nx, ny, nz), None if code == ENVIRONMENT else code)


def _row(
    pose: Pose[Ned, Gate] | Pose[Ned, Ned] | Pose[Ned, Frd],
    size: tuple[float, float, float],
    inner: float,
    code: int,
) -> NDArray[np.float64]:
    half = 0.5 * np.array(size)
    centre, matrix = pose.position.array(), pose.rotation.matrix().ravel()
    return np.concatenate((centre, matrix, half, (inner, float(np.linalg.norm(half)), float(code))))

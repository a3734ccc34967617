"""A course, painted: every face that the camera may see, as frozen arrays in NED metres.

Opaque faces come first, the ribbon's last. The arrays are what the kernels of `view` and `draw` read;
`mesh` says what the columns mean.
"""

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Gate, Ned, Pose, Rot, Vec
from racewire.render import texture
from racewire.render.look import Look
from racewire.render.mesh import LINED, TEXTURED, Mesh, Paint, Point
from racewire.render.ribbon import add_ribbon
from racewire.world.layout import Block, Course, CourseGate

DOWN: Point = Vec(0.0, 0.0, 1.0)

MIN_LEVEL = 1e-3
"""A pad whose forward axis has less than this along the ground stands on end: it has no way ahead."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Faces (n of them) and the textures they use; all arrays are read-only."""

    corners: NDArray[np.float64]
    """(n, 4, 3), NED."""
    normal: NDArray[np.float64]
    """(n, 4): outward unit normal, and its product with any point of the face."""
    u: NDArray[np.float64]
    """(n, 4): gradient and offset of the texture's u."""
    v: NDArray[np.float64]
    """(n, 4): the same of v."""
    material: NDArray[np.int32]
    """(n,): TEXTURED, LINED or GLOWING."""
    texture: NDArray[np.int32]
    """(n,): index in the atlas."""
    leg: NDArray[np.int32]
    """(n,): the ribbon's leg, -1 for anything else."""
    paint: NDArray[np.float32]
    """(n, 11): `Paint.row`."""
    atlas: NDArray[np.uint32]
    background: NDArray[np.float32]
    """(3,): blue, green, red where there is nothing."""
    glow: NDArray[np.float32]
    """(2,): distances at which the ribbon begins to show, and shows fully, m."""
    legs: int
    """Legs of the ribbon shown at a time."""


def build_scene(course: Course, look: Look) -> Scene:
    """Paint `course` with `look`."""
    mesh = Mesh()
    _add_grids(mesh, course, look)
    for index, block in enumerate(course.blocks):
        _add_block(mesh, block, index, look)
    _add_pad(mesh, course, look)
    for gate in course.gates:
        _add_gate(mesh, gate, look)
    start = Pose(course.pad.position, cast("Rot[Ned, Gate]", course.pad.rotation))
    add_ribbon(mesh, [start, *(gate.pose for gate in course.gates)], look.ribbon)
    return _freeze(mesh, look)


def _freeze(mesh: Mesh, look: Look) -> Scene:
    faces = mesh.faces
    scene = Scene(
        corners=np.array([[_row(corner) for corner in face.corners] for face in faces]),
        normal=np.array([(*_row(face.normal[0]), face.normal[1]) for face in faces]),
        u=np.array([(*_row(face.u[0]), face.u[1]) for face in faces]),
        v=np.array([(*_row(face.v[0]), face.v[1]) for face in faces]),
        material=np.array([face.paint.material for face in faces], np.int32),
        texture=np.array([face.paint.texture for face in faces], np.int32),
        leg=np.array([face.leg for face in faces], np.int32),
        paint=np.array([face.paint.row() for face in faces]),
        atlas=texture.atlas(),
        background=np.array(look.grid.haze[::-1], np.float32),
        glow=np.array((look.ribbon.near, look.ribbon.full), np.float32),
        legs=look.ribbon.legs,
    )
    for array in (scene.corners, scene.normal, scene.u, scene.v, scene.material, scene.texture):
        array.flags.writeable = False
    for array in (scene.leg, scene.paint, scene.atlas, scene.background, scene.glow):
        array.flags.writeable = False
    return scene


def _row(vector: Point) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z


def _add_grids(mesh: Mesh, course: Course, look: Look) -> None:
    grid = look.grid
    line = 0.5 * grid.line_width / grid.spacing
    paint = Paint(LINED, grid.ground, grid.line, grid.haze, grid.fade, line=line)
    middle = (course.low + course.high) * 0.5
    n, e = middle.x - grid.reach, middle.y - grid.reach
    top = min(course.low.z, course.high.z) - grid.ceiling
    north: Point = Vec(2.0 * grid.reach, 0.0, 0.0)
    east: Point = Vec(0.0, 2.0 * grid.reach, 0.0)
    start = (0.5 - grid.reach / grid.spacing, 0.5 - grid.reach / grid.spacing)
    far: Point = Vec(n + 2.0 * grid.reach, e, course.floor)
    mesh.rectangle(far, east, -north, paint, grid.spacing, start)
    mesh.rectangle(Vec(n, e, top), east, north, paint, grid.spacing, start)


def _add_block(mesh: Mesh, block: Block, index: int, look: Look) -> None:
    b = look.block
    c, s = math.cos(block.yaw), math.sin(block.yaw)

    def paint(shade: float) -> Paint:
        return Paint(TEXTURED, b.dark, b.light, b.haze, b.fade, texture.PANEL, shade=shade)

    along = c * c
    ends = paint(b.north * along + b.east * (1.0 - along))
    sides = paint(b.east * along + b.north * (1.0 - along))
    mesh.box(
        block.centre,
        (Vec(c, s, 0.0), Vec(-s, c, 0.0), DOWN),
        _row(block.size),
        (ends, sides, paint(b.top), paint(b.bottom)),
        b.tile,
        (0.37 * index % 1.0, 0.61 * index % 1.0),
    )


def _add_pad(mesh: Mesh, course: Course, look: Look) -> None:
    p, pad, ramp = look.pad, course.pad, course.ramp
    paint = Paint(TEXTURED, p.dark, p.light, p.haze, p.fade, texture.SPECKLE)
    paints = (paint, paint, paint, paint)
    ahead, right, down = (ramp.rotation @ Vec(*unit) for unit in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    size = (course.pad_size.x, course.pad_size.y, course.pad_size.z)
    mesh.box(ramp.position, (ahead, right, down), size, paints, p.tile)
    length = math.hypot(ahead.x, ahead.y)
    depth = min(p.base[2], course.floor - pad.position.z - p.base_below)
    if length < MIN_LEVEL or depth <= 0.0:
        return
    level: Point = Vec(ahead.x / length, ahead.y / length, 0.0)
    side: Point = Vec(-level.y, level.x, 0.0)
    centre = pad.position + level * p.base_ahead + DOWN * (p.base_below + 0.5 * depth)
    mesh.box(centre, (level, side, DOWN), (p.base[0], p.base[1], depth), paints, p.tile)


def _add_gate(mesh: Mesh, gate: CourseGate, look: Look) -> None:
    g, pose = look.gate, gate.pose

    def paint(shade: float) -> Paint:
        return Paint(TEXTURED, g.dark, g.light, texture=texture.ARTWORK, shade=shade)

    def at(depth: float, right: float, down: float) -> Point:
        return pose @ Vec(depth, right, down)

    outer, inner, half = 0.5 * gate.outer, 0.5 * gate.inner, 0.5 * gate.depth
    turns = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
    for (r0, d0), (r1, d1) in zip(turns, turns[1:] + turns[:1], strict=True):
        ring = [(outer * r0, outer * d0), (outer * r1, outer * d1), (inner * r1, inner * d1)]
        ring.append((inner * r0, inner * d0))
        uv = [(0.5 + r / gate.outer, 0.5 + d / gate.outer) for r, d in ring]
        mesh.add([at(-half, r, d) for r, d in ring], uv[:3], paint(g.face))
        back = [ring[i] for i in (1, 0, 3, 2)]
        mesh.add([at(half, r, d) for r, d in back], [uv[i] for i in (1, 0, 3)], paint(g.face))
        for edge, shade, end in ((outer, g.outside, half), (inner, g.inside, -half)):
            corners = [at(end, edge * r0, edge * d0), at(end, edge * r1, edge * d1)]
            corners += [at(-end, edge * r1, edge * d1), at(-end, edge * r0, edge * d0)]
            mesh.add(corners, [(0.1, 0.05), (0.9, 0.05), (0.9, 0.05)], paint(shade))

"""The near plane, mip levels and the scene's faces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Vec
from racewire.render import texture
from racewire.render.look import load_look
from racewire.render.mesh import TEXTURED, Mesh, Paint
from racewire.render.scene import build_scene
from racewire.render.view import MAX_EDGES, clip_near

PAINT = Paint(TEXTURED, (0.0, 0.0, 0.0), (255.0, 255.0, 255.0))
side = st.floats(-3.0, 3.0)


@given(st.tuples(side, side, side), st.tuples(side, side, side), st.tuples(side, side, side))
def test_cut_at_the_near_plane(corner, right, down):
    a, r, d = (np.array(v) for v in (corner, right, down))
    quad = np.array([a, a + r, a + r + d, a + d])
    out = np.empty((MAX_EDGES, 3))
    n = clip_near(quad, 0.02, out)
    assert n <= MAX_EDGES
    cut = out[:n]
    assert np.all(cut[:, 2] >= 0.02)
    assert np.all(cut[:, 2] <= max(quad[:, 2].max(), 0.02))
    for point in quad[quad[:, 2] >= 0.02]:
        assert np.any(np.all(cut == point, axis=1))
    if n and np.linalg.norm(np.cross(r, d)) > 1e-3:
        normal = np.cross(r, d) / np.linalg.norm(np.cross(r, d))
        assert np.abs((cut - a) @ normal).max() < 1e-6
    assert (n == 0) == bool(np.all(quad[:, 2] < 0.02))


def test_a_cut_edge_is_the_same_seen_from_either_side():
    a, b = (0.3, -0.2, -1.0), (0.7, 0.9, 1.7)
    left = np.array([a, b, (2.0, 1.0, 1.5), (2.0, 0.0, -1.0)])
    right = np.array([b, a, (-2.0, 0.0, -1.0), (-2.0, 1.0, 1.5)])
    out, other = np.empty((MAX_EDGES, 3)), np.empty((MAX_EDGES, 3))
    n, m = clip_near(left, 0.02, out), clip_near(right, 0.02, other)
    shared = {tuple(p) for p in out[:n]} & {tuple(p) for p in other[:m]}
    assert len(shared) == 2


def test_texture_coordinates_are_those_given_at_the_corners():
    mesh = Mesh()
    corners = [Vec(1.0, 2.0, 3.0), Vec(2.0, 4.0, 3.5), Vec(2.5, 4.0, 9.0)]
    uv = [(0.3, -1.0), (2.0, 4.0), (-5.0, 0.5)]
    mesh.add(corners, uv, PAINT)
    (face,) = mesh.faces
    for corner, (u, v) in zip(corners, uv, strict=True):
        assert face.u[0].dot(corner) + face.u[1] == pytest.approx(u)
        assert face.v[0].dot(corner) + face.v[1] == pytest.approx(v)
    assert face.normal[0].dot(corners[1]) == pytest.approx(face.normal[1])
    assert face.normal[0].norm() == pytest.approx(1.0)


def test_faces_without_area_are_left_out():
    mesh = Mesh()
    mesh.add([Vec(0.0, 0.0, 0.0), Vec(1.0, 1.0, 1.0), Vec(2.0, 2.0, 2.0)], [(0.0, 0.0)] * 3, PAINT)
    assert not mesh.faces


def test_a_box_looks_outwards():
    mesh = Mesh()
    axes = Vec(1.0, 0.0, 0.0), Vec(0.0, 1.0, 0.0), Vec(0.0, 0.0, 1.0)
    mesh.box(Vec(5.0, 6.0, 7.0), axes, (1.0, 2.0, 3.0), (PAINT, PAINT, PAINT, PAINT), 1.0)
    outward = {(f.normal[0].x, f.normal[0].y, f.normal[0].z) for f in mesh.faces}
    units = {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)}
    assert outward == units | {(-x, -y, -z) for x, y, z in units}
    for face in mesh.faces:
        assert face.normal[0].dot(Vec(5.0, 6.0, 7.0)) < face.normal[1]


def test_gate_faces_enclose_the_frame(make):
    gate = make.gate(0, 9.0, 1.0, -2.0, 30.0, pitch_deg=10.0)
    scene = build_scene(make.course_of([gate]), load_look("vq1"))
    sides = scene.corners[(scene.texture == texture.ARTWORK) & (scene.leg < 0)]
    assert len(sides) == 16
    # The divergence theorem gives the volume of a closed body, and only of a closed one.
    fans = [(q[0], q[i], q[i + 1]) for q in sides for i in (1, 2)]
    volume = -sum(np.dot(a, np.cross(b, c)) for a, b, c in fans) / 6.0
    assert volume == pytest.approx((2.7**2 - 1.5**2) * 0.26)


def test_ribbon_faces_come_last(make):
    scene = build_scene(make.small_course(), load_look("vq1"))
    legs = scene.leg
    first = int(np.argmax(legs >= 0))
    assert np.all(legs[:first] == -1)
    assert np.all(legs[first:] >= 0)
    assert legs.max() == 3


def test_mip_levels_keep_the_mean_and_pack_their_neighbours():
    for make_texture in (texture.panel, texture.artwork, texture.speckle):
        t = np.clip(make_texture(), 0.0, 1.0)
        words = texture.mips(t)
        assert words.shape == (texture.STRIDE,)
        for level, start in enumerate(texture.LEVEL_START):
            n = texture.SIZE >> level
            grid = words[start : start + n * n].reshape(n, n)
            assert (grid & 255).mean() / 255.0 == pytest.approx(t.mean(), abs=0.004)
            assert np.array_equal(grid >> 8 & 255, np.roll(grid & 255, -1, axis=1))
            assert np.array_equal(grid >> 16 & 255, np.roll(grid & 255, -1, axis=0))
            assert np.array_equal(grid >> 24, np.roll(grid >> 16 & 255, -1, axis=1))

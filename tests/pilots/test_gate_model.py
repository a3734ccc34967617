import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Vec
from racewire.pilots.gate_model import GATE_SIZE, GateView, silhouette

SQUARE = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


def on_front_plane(eye, point):
    """Return where the ray from `eye` to `point` meets the front plane."""
    k = (-0.13 - eye.x) / (point.x - eye.x)
    return eye.y + k * (point.y - eye.y), eye.z + k * (point.z - eye.z)


def edges_seen(eye, half):
    """Return the front and the back square of this half width, on the front plane, shape (2, 4, 2)."""
    return np.array(
        [[on_front_plane(eye, Vec(x, half * sy, half * sz)) for sy, sz in SQUARE] for x in (-0.13, 0.13)]
    )


eyes = st.builds(Vec, st.floats(-30.0, -1.0), st.floats(-6.0, 6.0), st.floats(-6.0, 6.0))


@given(eyes)
def test_outline_is_that_of_the_solid_ring(eye):
    outer, inner = silhouette(eye)[:4], silhouette(eye)[4:]
    both = edges_seen(eye, 1.35).reshape(8, 2)
    assert outer[0] == pytest.approx(both.min(axis=0))
    assert outer[2] == pytest.approx(both.max(axis=0))
    front, back = edges_seen(eye, 0.75)
    assert inner[0] == pytest.approx(np.maximum(front[0], back[0]))
    assert inner[2] == pytest.approx(np.minimum(front[2], back[2]))


def test_order_is_outer_then_inner_from_top_left_clockwise():
    points = silhouette(Vec(-10.0, 0.0, 0.0))
    for quad in (points[:4], points[4:]):
        assert np.array_equal(np.sign(quad), np.array(SQUARE))


def test_squarely_seen_the_hole_is_the_back_opening():
    points = silhouette(Vec(-10.0, 0.0, 0.0))
    assert points[:4] == pytest.approx(1.35 * np.array(SQUARE))
    shrunk = 0.75 * (10.0 - 0.13) / (10.0 + 0.13)
    assert points[4:] == pytest.approx(shrunk * np.array(SQUARE))


def test_from_beside_the_nearer_outer_side_is_a_back_edge():
    points = silhouette(Vec(-6.0, -2.4, 0.0))
    assert points[0, 0] < -1.35
    assert points[1, 0] == pytest.approx(1.35)
    assert points[4, 0] == pytest.approx(-0.75)
    assert points[5, 0] < 0.75


def test_view_lists_all_corners_with_gaps():
    view = GateView(None, np.arange(8.0).reshape(4, 2), complete=False, area_px=1.0, sigma_px=0.2)
    assert np.isnan(view.corners()[:4]).all()
    assert np.array_equal(view.corners()[4:], view.inner)


def test_gate_is_the_published_one():
    assert (GATE_SIZE.outer, GATE_SIZE.inner, GATE_SIZE.depth) == (2.7, 1.5, 0.26)

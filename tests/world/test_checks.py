import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from racewire.core.frames import Rot
from racewire.world.checks import box_corners, boxes_overlap

coordinate = st.floats(-3.0, 3.0)
edge = st.floats(0.2, 2.0)
turn = st.floats(-math.pi, math.pi)


def box(x, y, z, a, b, c, roll, pitch, yaw):
    matrix = Rot.from_euler(roll, pitch, yaw).matrix()
    return np.array((x, y, z)), matrix, np.array((a, b, c))


boxes = st.builds(box, *[coordinate] * 3, *[edge] * 3, *[turn] * 3)


def filled(b, n=9):
    grid = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, n)] * 3), -1).reshape(-1, 3)
    return b[0] + (grid * b[2]) @ b[1].T


def inside(b, points, grow=0.0):
    return bool(np.any(np.all(np.abs((points - b[0]) @ b[1]) <= b[2] + grow, axis=1)))


@settings(max_examples=80)
@given(boxes, boxes)
def test_boxes_overlap_where_a_point_of_one_lies_in_the_other(a, b):
    if inside(a, filled(b)) or inside(b, filled(a)):
        assert boxes_overlap(a, b)
    if boxes_overlap(a, b):  # then a sample of one lies within half a sample step of the other
        grow = float(np.linalg.norm(b[2])) / 8.0 + 1e-9
        assert inside(a, filled(b), grow)


def test_edges_that_pass_one_another_do_not_overlap():
    a = box(0.0, 0.0, 0.0, 5.0, 0.5, 0.5, math.pi / 4.0, 0.0, 0.0)
    b = box(0.0, 0.0, 1.42, 0.5, 5.0, 0.5, 0.0, math.pi / 4.0, 0.0)
    assert not boxes_overlap(a, b)
    assert boxes_overlap(a, (b[0] - (0.0, 0.0, 0.02), b[1], b[2]))


def test_the_corners_are_the_extremes():
    corners = box_corners(box(1.0, 2.0, 3.0, 1.0, 0.5, 0.2, 0.0, 0.0, math.pi / 2.0))
    assert np.allclose(corners.max(axis=0), (1.5, 3.0, 3.2))
    assert np.allclose(corners.min(axis=0), (0.5, 1.0, 2.8))

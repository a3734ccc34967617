"""Where things are drawn: against Camera.project of the same points, and in front of one another."""

import math
from itertools import product

import numpy as np
import pytest

from racewire.core.frames import Pose, Rot, Vec
from racewire.sensors.camera import AIGP_CAMERA, Camera
from racewire.world.layout import Block

FULL = 240.0
THIN = 1e-10
"""A gate of this depth is only its front: smaller sides are not drawn."""

VIEWS = [
    (0.0, 0.0, 0.0, 0.0, -20.0, 0.0),
    (1.0, 1.2, -0.7, 0.0, -12.0, -6.0),
    (2.5, -0.8, 0.6, 33.0, -17.0, 9.0),
]
"""Poses of the body (n, e, d, roll, pitch, yaw in degrees) before a gate at 7 m north."""


def project(camera, pose, point):
    body = pose.to_local(point) - camera.position
    return np.array(camera.project(camera.frd_from_optical.inverse() @ body))


def coverage(corners, width, height, fine=8):
    """Part of each pixel inside a convex quadrilateral, by fine sampling, shape (height, width)."""
    x = (np.arange(width * fine) + 0.5) / fine
    y = (np.arange(height * fine) + 0.5) / fine
    inside = np.ones((y.size, x.size), bool)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        inside &= (b[0] - a[0]) * (y[:, None] - a[1]) - (b[1] - a[1]) * (x[None, :] - a[0]) >= 0.0
    return inside.reshape(height, fine, width, fine).mean(axis=(1, 3))


def shifts(difference, corners, parts=4):
    """How far (px) each part of each edge is drawn outside of its true place, by what is too bright there."""
    height, width = difference.shape
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    found = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        length = np.linalg.norm(b - a)
        along = ((x - a[0]) * (b[0] - a[0]) + (y - a[1]) * (b[1] - a[1])) / length
        across = ((x - a[0]) * (b[1] - a[1]) - (y - a[1]) * (b[0] - a[0])) / length
        for k in range(parts):
            start, end = length * (0.03 + 0.94 * k / parts), length * (0.03 + 0.94 * (k + 1) / parts)
            band = (along >= start) & (along < end) & (np.abs(across) < 2.5)
            found.append(difference[band].sum() / (end - start))
    return np.array(found)


@pytest.mark.parametrize("view", VIEWS)
def test_corners_of_a_gate_lie_where_the_camera_projects_them(draw, make, view):
    gate = make.gate(0, 7.0, 0.2, -0.1, 4.0, depth=THIN)
    pose = make.pose_at(*view)
    image = draw([gate], pose)
    outer, inner = (
        np.array([project(AIGP_CAMERA, pose, c) for c in gate.corners(edge)])
        for edge in (gate.outer, gate.inner)
    )
    assert np.all((outer > 5) & (outer < np.array((635, 355))))
    expected = coverage(outer, 640, 360) - coverage(inner, 640, 360)
    difference = image[:, :, 2] / FULL - expected
    for corners in (outer, inner):
        assert np.abs(shifts(difference, corners)).max() < 0.15
    assert abs(difference.sum()) < 0.002 * expected.sum()


def test_another_camera_with_an_odd_size_and_a_mount_off_the_centre(draw, make):
    camera = Camera(333, 205, 200.0, 210.0, 160.0, 100.0, position=Vec(0.1, 0.2, -0.3))
    gate = make.gate(0, 7.0, 0.2, -0.1, depth=THIN)
    pose = make.pose_at(0.0, 0.5, 0.0, 10.0, -18.0, 3.0)
    image = draw([gate], pose, camera=camera)
    assert image.shape == (205, 333, 3)
    outer = np.array([project(camera, pose, c) for c in gate.corners(gate.outer)])
    inner = np.array([project(camera, pose, c) for c in gate.corners(gate.inner)])
    difference = image[:, :, 2] / FULL - coverage(outer, 333, 205) + coverage(inner, 333, 205)
    assert max(np.abs(shifts(difference, outer)).max(), np.abs(shifts(difference, inner)).max()) < 0.2


def test_near_gate_hides_the_far_one_whatever_their_order(draw, make):
    near, far = make.gate(0, 6.0, 1.05, 0.0), make.gate(1, 14.0, 1.05, 0.0)
    pose = make.pose_at(0.0, 0.0, 0.0, pitch_deg=-20.0)
    both = draw([near, far], pose)
    assert np.array_equal(both, draw([far, near], pose))
    alone = draw([near], pose)
    solid = alone[:, :, 2] == FULL
    assert np.array_equal(both[solid], alone[solid])
    assert (both[:, :, 2] == FULL).sum() > solid.sum()


def test_a_block_hides_what_is_behind_it_and_not_what_is_before(draw, make):
    pose = make.pose_at(0.0, 0.0, 0.0, pitch_deg=-20.0)
    gate = make.gate(0, 10.0, 0.0, 0.0)
    wall = Vec(1.0, 8.0, 8.0)
    hidden = draw([gate], pose, [Block(Vec(6.0, 0.0, 0.0), wall)])
    assert hidden[:, :, 2].max() == 0
    assert hidden[180, 320, 0] == 120
    seen = draw([gate], pose, [Block(Vec(16.0, 0.0, 0.0), wall)])
    assert (seen[:, :, 2] == FULL).sum() == (draw([gate], pose)[:, :, 2] == FULL).sum()


def test_from_inside_the_opening_only_what_lies_before_the_lens_is_drawn(draw, make):
    gate = make.gate(0, 0.0, 0.0, 0.0)
    image = draw([gate], make.pose_at(0.0, 0.0, 0.0, pitch_deg=-20.0))
    # The inner sides reach 0.13 m ahead and stand 0.75 m off: 80 degrees from the axis, out of view.
    assert image[:, :, 2].max() == 0
    # Moved to 0.1 m from the right side, that one fills the right of the image from 37.6 degrees on.
    image = draw([gate], make.pose_at(0.0, 0.65, 0.0, pitch_deg=-20.0))
    rows = image[100:260, :, 2]
    edge = 320.0 + 320.0 * 0.1 / 0.13
    assert np.all(rows[:, int(edge) + 1 :] == FULL / 2.0)
    assert np.all(rows[:, : int(edge)] == 0)


@pytest.mark.parametrize("yaw_deg", [-25.0, 0.0, 25.0])
def test_five_centimetres_before_a_bar_the_bar_fills_the_image(draw, make, yaw_deg):
    gate = make.gate(0, 0.0, 0.0, 0.0)
    pose = make.pose_at(-0.13 - 0.05, 1.05, 0.0, pitch_deg=-20.0, yaw_deg=yaw_deg)
    image = draw([gate], pose)
    expected = np.abs(np.degrees(np.arctan((np.arange(640) + 0.5 - 320) / 320)) + yaw_deg)
    bar = math.degrees(math.atan(0.3 / 0.05))
    sure = image[:, expected < bar - 1.0]
    assert sure.shape[1] >= 600
    assert np.all(sure[:, :, 2] == FULL)
    assert np.all(sure[:, :, :2] == 0)


def test_turned_by_half_a_turn_the_image_is_turned(draw, make):
    gates = [make.gate(0, 7.0, 0.2, -0.1, 14.0), make.gate(1, 15.0, -2.0, 1.0, -30.0)]
    camera = Camera(frd_from_optical=Camera().frd_from_optical)
    upright = draw(gates, make.pose_at(0.0, 0.0, 0.0), camera=camera)
    axis = camera.frd_from_optical @ Vec(0.0, 0.0, 1.0)
    half = Rot.exp(*(math.pi * c for c in (axis.x, axis.y, axis.z)))
    turned = draw(gates, Pose(Vec(0.0, 0.0, 0.0), half), camera=camera)
    different = np.any(turned[::-1, ::-1] != upright, axis=2)
    assert upright.max() == FULL
    assert different.sum() <= 4


def test_slanted_edges_take_four_steps(draw, make):
    image = draw([make.gate(0, 7.0, 0.2, -0.1, depth=THIN)], make.pose_at(0.0, 0.0, 0.0, 10.0, -20.0))
    levels, counts = np.unique(image[:, :, 2], return_counts=True)
    assert levels.tolist() == [0, 60, 120, 180, 240]
    assert counts[1:4].min() > 50


@pytest.mark.parametrize(("axis", "side"), list(product((0, 1, 2), (-1.0, 1.0))))
def test_from_inside_a_block_nothing_breaks(draw, make, axis, side):
    place = [0.0, 20.0, 0.0]
    place[axis] += side * 0.999
    block = Block(Vec(0.0, 20.0, 0.0), Vec(2.0, 2.0, 2.0), 0.0)
    image = draw([make.gate(0, 9.0, 20.0, 0.0)], make.pose_at(*place, pitch_deg=-20.0), [block])
    assert image[:, :, 2].max() == FULL


@pytest.mark.parametrize("aside", [1e-2, 1e-3, 1e-4, 1e-5])
def test_a_side_seen_edge_on_keeps_to_its_colours(draw, make, aside):
    block = Block(Vec(52.0, -1.0, 0.0), Vec(100.0, 2.0, 2.0))
    for roll_deg in (0.0, 7.0, 31.0, 60.0):
        pose = make.pose_at(0.0, aside, 0.2, roll_deg, -20.0, 0.4)
        image = draw([], pose, [block])
        assert image[:, :, 0].max() == 120
        assert image[:, :, 1:].max() == 0

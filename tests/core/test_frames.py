import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import (
    Frd,
    Ned,
    Pose,
    Rot,
    Vec,
    matrix_apply,
    matrix_apply_inverse,
    quat_derivative,
    quat_exp,
    quat_matrix,
    quat_multiply,
    quat_normalise,
    quat_rotate,
    wrap_angle,
)

small = st.floats(-3.0, 3.0, allow_nan=False)
rotations = st.builds(Rot.exp, small, small, small)
vectors = st.builds(Vec, small, small, small)


def near(a: Vec, b: Vec, tolerance: float = 1e-9) -> bool:
    return (a - b).norm() < tolerance


@given(rotations, rotations, rotations)
def test_composition_is_associative_and_has_an_inverse(a, b, c):
    assert ((a @ b) @ c).angle_to(a @ (b @ c)) < 1e-7
    assert (a @ a.inverse()).angle_to(Rot.identity()) < 1e-7
    assert (Rot.identity() @ a).angle_to(a) < 1e-7


@given(rotations, rotations, vectors)
def test_rotation_acts_as_its_matrix(a, b, v):
    assert near((a @ b) @ v, a @ (b @ v), 1e-8)
    assert np.allclose(a.matrix() @ v.array(), (a @ v).array(), atol=1e-9)
    assert math.isclose((a @ v).norm(), v.norm(), abs_tol=1e-9)
    assert math.isclose(float(np.linalg.det(a.matrix())), 1.0, abs_tol=1e-9)


@given(rotations)
def test_matrix_and_back(a):
    assert Rot.from_matrix(a.matrix()).angle_to(a) < 1e-7


@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_exp_and_log_are_inverse(x, y, z):
    assert Rot.exp(x, y, z).log() == pytest.approx((x, y, z), abs=1e-9)


@given(st.floats(-3.1, 3.1), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1))
def test_euler_and_back(roll, pitch, yaw):
    assert Rot.from_euler(roll, pitch, yaw).euler() == pytest.approx((roll, pitch, yaw), abs=1e-6)


@pytest.mark.parametrize("axis", range(3))
def test_every_branch_of_from_matrix(axis):
    half_turn = [0.0, 0.0, 0.0]
    half_turn[axis] = math.pi
    rotation = Rot.exp(*half_turn)
    assert Rot.from_matrix(rotation.matrix()).angle_to(rotation) < 1e-7


def test_signs_a_pilot_would_read_aloud():
    forward = Vec[Frd](1.0, 0.0, 0.0)
    right = Vec[Frd](0.0, 1.0, 0.0)
    nose_up: Rot[Ned, Frd] = Rot.from_euler(0.0, 0.3, 0.0)
    assert (nose_up @ forward).z < 0.0  # the nose points above the horizon: D is negative
    right_wing_down: Rot[Ned, Frd] = Rot.from_euler(0.3, 0.0, 0.0)
    assert (right_wing_down @ right).z > 0.0
    turned_right: Rot[Ned, Frd] = Rot.from_euler(0.0, 0.0, math.pi / 2)
    assert near(turned_right @ forward, Vec(0.0, 1.0, 0.0))  # facing east


def test_gravity_in_the_body_on_the_pad():
    pad: Rot[Ned, Frd] = Rot.from_euler(0.0, math.radians(-17.8), math.pi)
    felt = pad.inverse() @ Vec(0.0, 0.0, -9.81)
    assert (felt.x, felt.y, felt.z) == pytest.approx((-2.999, 0.0, -9.340), abs=1e-3)


@given(rotations, vectors, vectors)
def test_pose_there_and_back(rotation, origin, point):
    pose = Pose(origin, rotation)
    assert near(pose.to_local(pose @ point), point, 1e-8)


@given(rotations, rotations, vectors)
def test_kernels_are_the_same_mathematics(a, b, v):
    assert quat_rotate(a.w, a.x, a.y, a.z, v.x, v.y, v.z) == pytest.approx(tuple((a @ v).array()), abs=1e-14)
    product = quat_normalise(*quat_multiply(a.w, a.x, a.y, a.z, b.w, b.x, b.y, b.z))
    c = a @ b
    assert product == pytest.approx((c.w, c.x, c.y, c.z), abs=1e-15)
    e = Rot.exp(v.x, v.y, v.z)
    assert quat_exp(v.x, v.y, v.z) == pytest.approx((e.w, e.x, e.y, e.z), abs=1e-15)


@given(rotations, vectors)
def test_matrix_kernels_are_the_same_mathematics(a, v):
    nine = quat_matrix(a.w, a.x, a.y, a.z)
    assert nine == pytest.approx(a.matrix().ravel(), abs=1e-14)
    assert matrix_apply(nine, v.x, v.y, v.z) == pytest.approx(tuple((a @ v).array()), abs=1e-13)
    back = a.inverse() @ v
    assert matrix_apply_inverse(nine, v.x, v.y, v.z) == pytest.approx(tuple(back.array()), abs=1e-13)


@given(rotations, vectors)
def test_quaternion_derivative_is_the_limit_of_a_small_turn(a, w):
    h = 1e-6
    ahead, behind = a @ Rot.exp(h * w.x, h * w.y, h * w.z), a @ Rot.exp(-h * w.x, -h * w.y, -h * w.z)
    slope = [(getattr(ahead, k) - getattr(behind, k)) / (2.0 * h) for k in "wxyz"]
    assert quat_derivative(a.w, a.x, a.y, a.z, w.x, w.y, w.z) == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("q", [(0.0, 0.0, 0.0, 0.0), (math.nan, 0.0, 0.0, 1.0), (math.inf, 0.0, 0.0, 0.0)])
def test_what_is_not_a_rotation_is_refused(q):
    with pytest.raises(ValueError, match="not a rotation"):
        Rot.from_quaternion(*q)


@given(st.floats(-50.0, 50.0))
def test_wrap_angle(angle):
    wrapped = wrap_angle(angle)
    assert -math.pi <= wrapped < math.pi
    assert math.isclose(math.sin(wrapped), math.sin(angle), abs_tol=1e-9)

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Gate, Optical, Pose, Rot, Vec
from racewire.core.seeds import stream
from racewire.pilots.gate_model import GateView, silhouette
from racewire.pilots.gate_pose import gate_pose, outline
from racewire.sensors.camera import AIGP_CAMERA

SQUARELY = Rot.from_matrix(np.array(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))))


def facing(x, y, z, yaw_deg=0.0, pitch_deg=0.0, roll_deg=0.0):
    turn = Rot.from_euler(math.radians(roll_deg), math.radians(pitch_deg), math.radians(yaw_deg))
    return Pose(Vec(x, y, z), SQUARELY @ turn)


def seen(corners, *, sides=None):
    known = ~np.isnan(corners[:, 0])
    return GateView(
        outer=corners[:4] if known[:4].any() else None,
        inner=corners[4:] if known[4:].any() else None,
        complete=bool(known[:4].all()),
        area_px=1.0,
        sigma_px=0.2,
        sides=sides,
    )


def far_off(pose, other):
    return (pose.position - other.position).norm(), math.degrees(pose.rotation.angle_to(other.rotation))


poses = st.builds(
    facing,
    st.floats(-4.0, 4.0),
    st.floats(-2.0, 2.0),
    st.floats(4.0, 15.0),
    st.floats(-40.0, 40.0),
    st.floats(-20.0, 20.0),
    st.floats(-40.0, 40.0),
)


@given(poses)
def test_outline_is_the_projected_silhouette(pose):
    eye = pose.to_local(Vec[Optical](0.0, 0.0, 0.0))
    points = [pose @ Vec[Gate](-0.13, y, z) for y, z in silhouette(eye)]
    assert outline(pose) == pytest.approx(np.array([AIGP_CAMERA.project(p) for p in points]), abs=1e-6)


@given(poses)
def test_exact_corners_give_the_exact_pose(pose):
    fit = gate_pose(seen(outline(pose)))
    distance, angle = far_off(fit.pose, pose)
    assert distance < 1e-3
    assert angle < 0.05
    assert fit.rms_px < 1e-3
    assert fit.rms_px <= fit.other_rms_px


@pytest.mark.parametrize("unknown", [range(4, 8), range(4), (2, 3, 6, 7), (0, 3, 4, 7)])
def test_four_corners_are_enough(unknown):
    pose = facing(0.5, -0.4, 6.0, yaw_deg=20.0, pitch_deg=-8.0, roll_deg=10.0)
    corners = outline(pose)
    corners[list(unknown)] = np.nan
    distance, angle = far_off(gate_pose(seen(corners)).pose, pose)
    assert distance < 0.01
    assert angle < 0.5


def test_fewer_than_four_corners_give_no_pose():
    corners = outline(facing(0.0, 0.0, 6.0))
    corners[3:] = np.nan
    assert gate_pose(seen(corners)) is None
    assert gate_pose(seen(np.full((8, 2), np.nan))) is None


def test_forward_points_away_from_the_camera():
    fit = gate_pose(seen(outline(facing(0.0, 0.0, 8.0, yaw_deg=30.0))))
    forward: Vec[Optical] = fit.pose.rotation @ Vec[Gate](1.0, 0.0, 0.0)
    right: Vec[Optical] = fit.pose.rotation @ Vec[Gate](0.0, 1.0, 0.0)
    assert forward.z > 0.8
    assert right.x > 0.8
    assert forward.x > 0.0  # yawed to the right, it leads to the right


def test_bearing_is_far_sharper_than_range():
    pose, rng = facing(2.0, 1.0, 20.0, yaw_deg=15.0), stream(0, "test/corners")
    ray = pose.position * (1.0 / pose.position.norm())
    along, across = [], []
    for _ in range(100):
        fit = gate_pose(seen(outline(pose) + 0.3 * rng.standard_normal((8, 2))))
        error = fit.pose.position - pose.position
        along.append(error.dot(ray))
        across.append((error - ray * error.dot(ray)).norm())
    assert 0.05 < np.std(along) < 0.3
    assert np.mean(across) < 0.03


def test_far_gate_is_ambiguous_and_both_poses_are_told():
    pose, rng = facing(0.0, 0.0, 30.0, yaw_deg=25.0), stream(1, "test/corners")
    both = 0
    for _ in range(20):
        fit = gate_pose(seen(outline(pose) + 0.3 * rng.standard_normal((8, 2))))
        if fit.other is None:
            continue
        both += 1
        assert fit.rms_px <= fit.other_rms_px
        best = min(far_off(fit.pose, pose)[1], far_off(fit.other, pose)[1])
        assert best < 15.0
    assert both > 10


def sides_of(corners, lo=0.1, hi=0.9):
    after = corners[[1, 2, 3, 0, 5, 6, 7, 4]]
    return np.hstack((corners + lo * (after - corners), corners + hi * (after - corners)))


def test_sides_add_what_the_corners_of_a_cut_gate_lack():
    pose, rng = facing(0.4, 0.6, 9.0, yaw_deg=18.0), stream(2, "test/corners")
    cut = np.full((8, 2), np.nan)
    by_corners, by_sides = [], []
    for _ in range(60):
        noisy = outline(pose) + 0.2 * rng.standard_normal((8, 2))
        cut[[0, 1, 4, 5]] = noisy[[0, 1, 4, 5]]
        sides = sides_of(noisy, 0.1, 0.6)
        sides[[2, 6]] = np.nan
        sides[[3, 7]] = sides_of(noisy, 0.4, 0.9)[[3, 7]]
        view = seen(cut.copy(), sides=sides)
        by_sides.append(far_off(gate_pose(view).pose, pose)[0])
        by_corners.append(far_off(gate_pose(replace(view, sides=None)).pose, pose)[0])
    assert np.median(by_sides) < 0.9 * np.median(by_corners)


def test_five_scattered_corners_still_give_a_pose():
    pose = facing(1.0, 2.2, 5.0, yaw_deg=-10.0, roll_deg=-20.0)
    corners = outline(pose)
    sides = sides_of(corners)
    corners[[2, 3, 5]] = np.nan
    distance, angle = far_off(gate_pose(seen(corners, sides=sides)).pose, pose)
    assert distance < 0.01
    assert angle < 0.5


def test_nothing_is_projected_behind_the_lens():
    assert np.isnan(outline(facing(0.0, 0.0, -5.0))).all()

import math
from dataclasses import replace

import numpy as np
import pytest

from racewire.core.frames import Gate, Pose, Rot, Vec
from racewire.pilots.belief import Belief
from racewire.pilots.gate_map import GateMap, mirror
from racewire.sensors.camera import AIGP_CAMERA

HERE = Pose(Vec(0.0, 0.0, 0.0), Rot.from_euler(0.0, math.radians(-15.0), 0.0))


@pytest.fixture
def belief(params):
    belief = Belief(params.belief, AIGP_CAMERA)
    belief.place(HERE.rotation, Vec(0.0, 0.0, 0.0))
    return belief


@pytest.fixture
def map_(params):
    return GateMap(params.map, AIGP_CAMERA)


def gate_at(x, y=0.0, z=-1.0, yaw_deg=0.0, pitch_deg=0.0):
    return Pose(Vec(x, y, z), Rot.from_euler(0.0, math.radians(pitch_deg), math.radians(yaw_deg)))


def look(world, rng, *gates, pose=HERE, noise=0.4):
    views = []
    for gate in gates:
        corners = world.corners_of(gate, pose) + noise * rng.standard_normal((8, 2))
        views.append(world.view_of(corners))
    return views


def test_a_gate_is_placed_and_known_after_a_few_views(belief, map_, world, params):
    rng = np.random.default_rng(0)
    gate = gate_at(14.0, 1.0, -1.5, yaw_deg=10.0)
    for frame in range(12):
        map_.observe(belief, look(world, rng, gate))
        assert bool(map_.known()) == (frame + 1 >= params.map.views)
    (mark,) = map_.gates
    found = belief.gate(mark.slot)
    assert (found.position - gate.position).norm() < 0.25
    assert found.rotation.angle_to(gate.rotation) < math.radians(6.0)
    sd, yaw_sd = belief.gate_sd(mark.slot)
    assert sd < 0.3
    assert yaw_sd < math.radians(6.0)


def test_every_gate_in_view_has_its_own_place(belief, map_, world):
    rng = np.random.default_rng(1)
    gates = [gate_at(10.0), gate_at(25.0, -5.0, yaw_deg=-15.0), gate_at(40.0, 6.0, -3.0)]
    for _frame in range(8):
        views = look(world, rng, *gates)
        order = rng.permutation(3)
        map_.observe(belief, [views[i] for i in order])
    assert len(map_.gates) == 3
    places = sorted(belief.gate(mark.slot).position.x for mark in map_.gates)
    assert np.allclose(places, (10.0, 25.0, 40.0), rtol=0.06)


def test_gates_are_not_mixed_up_when_a_near_one_hides_the_far_one(belief, map_, world):
    rng = np.random.default_rng(2)
    near, far = gate_at(10.0), gate_at(24.0, 0.8)
    for frame in range(30):
        seen = (near, far) if frame % 3 == 0 else (near,)
        map_.observe(belief, look(world, rng, *seen))
    assert len(map_.gates) == 2
    by_range = sorted(map_.gates, key=lambda mark: belief.gate(mark.slot).position.x)
    assert [mark.views for mark in by_range] == [30, 10]


def test_the_mirrored_attitude_loses(belief, map_, world):
    # far off the axis a gate and its mirror image differ little: evidence has to gather on approach
    rng = np.random.default_rng(3)
    gate = gate_at(16.0, 5.0, -1.0, yaw_deg=-12.0)
    map_.observe(belief, look(world, rng, gate))
    (mark,) = map_.gates
    wrong = mirror(gate, HERE.position)
    assert wrong.angle_to(gate.rotation) > math.radians(20.0)
    belief.turn_gate(mark.slot, wrong)
    for frame in range(1, 40):
        pose = Pose(Vec(0.2 * frame, 0.0, 0.0), HERE.rotation)
        belief.x[7:10] = (pose.position.x, 0.0, 0.0)
        map_.observe(belief, look(world, rng, gate, pose=pose))
    assert belief.gate(mark.slot).rotation.angle_to(gate.rotation) < math.radians(6.0)


def test_a_mirror_image_looks_the_same_from_afar():
    far = gate_at(3000.0, 500.0, 200.0, yaw_deg=25.0, pitch_deg=10.0)
    wrong = Pose(far.position, mirror(far, HERE.position))
    for y, z in ((1.3, 1.3), (-1.3, 1.3), (0.7, -0.7)):
        a, b = far @ Vec[Gate](0.0, y, z), wrong @ Vec[Gate](0.0, y, z)
        assert math.hypot(a.y / a.x - b.y / b.x, a.z / a.x - b.z / b.x) < 1e-6


def test_a_gate_that_stays_away_is_forgotten(belief, map_, world, params):
    rng = np.random.default_rng(4)
    for _frame in range(5):
        map_.observe(belief, look(world, rng, gate_at(12.0)))
    for _frame in range(5, 6 + params.map.ghost_frames):
        assert len(map_.gates) == 1
        map_.observe(belief, [])
    assert not map_.gates
    assert belief.n == 15


def test_a_gate_out_of_the_image_is_kept(belief, map_, world):
    rng = np.random.default_rng(5)
    for _frame in range(5):
        map_.observe(belief, look(world, rng, gate_at(12.0)))
    turned = HERE.rotation @ Rot.from_euler(0.0, 0.0, math.pi / 2.0)
    belief.x[:4] = (turned.w, turned.x, turned.y, turned.z)
    for _frame in range(5, 80):
        map_.observe(belief, [])
    assert len(map_.gates) == 1


def test_one_passed_and_left_behind_is_forgotten_and_frees_its_slot(belief, map_, world, params):
    rng = np.random.default_rng(6)
    first, second = gate_at(8.0), gate_at(30.0, -2.0)
    for _frame in range(5):
        map_.observe(belief, look(world, rng, first, second))
    near = min(map_.gates, key=lambda mark: belief.gate(mark.slot).position.x)
    near.passed = True
    belief.x[7] = 8.0 + params.map.keep_behind + 0.5
    map_.observe(belief, [])
    (left,) = map_.gates
    assert left.slot == 0
    assert belief.gate(0).position.x == pytest.approx(30.0, abs=1.5)


def test_a_full_map_makes_room_for_a_nearer_gate(belief, map_, world, params):
    rng = np.random.default_rng(7)
    spread = [gate_at(30.0 + 4.0 * i, -12.0 + 6.0 * i, -2.0) for i in range(params.belief.most_gates)]
    for _frame in range(4):
        map_.observe(belief, look(world, rng, *spread, noise=0.1))
    assert belief.full
    map_.observe(belief, look(world, rng, gate_at(9.0), noise=0.1))
    places = [belief.gate(mark.slot).position.x for mark in map_.gates]
    assert len(places) == params.belief.most_gates
    assert min(places) == pytest.approx(9.0, abs=0.5)
    assert max(places) < 0.97 * (30.0 + 4.0 * (params.belief.most_gates - 1))
    # and a farther one does not push a nearer one out
    map_.observe(belief, look(world, rng, gate_at(60.0, 3.0), noise=0.1))
    assert max(belief.gate(mark.slot).position.x for mark in map_.gates) < 50.0


def test_views_that_contradict_the_filter_are_believed_after_a_few(belief, map_, world, params):
    rng = np.random.default_rng(8)
    gate = gate_at(12.0)
    for _frame in range(20):
        map_.observe(belief, look(world, rng, gate))
    elsewhere = Pose(Vec(0.0, 0.8, 0.0), HERE.rotation)  # where the body really is now
    for _frame in range(20, 22 + params.map.conflicts):
        map_.observe(belief, look(world, rng, gate, pose=elsewhere))
    assert len(map_.gates) == 1  # as seen from the body it is where it is; heading and place share the rest
    found = belief.pose.to_local(belief.gate(0).position)
    assert (found - elsewhere.to_local(gate.position)).norm() < 0.25


def test_what_lies_flat_is_no_gate(belief, map_, world):
    rng = np.random.default_rng(9)
    flat = Pose(Vec(12.0, 0.0, -1.0), Rot.from_euler(0.0, math.radians(60.0), 0.0))
    map_.observe(belief, look(world, rng, flat, noise=0.1))
    assert not map_.gates


def test_a_view_from_behind_is_matched_and_nothing_new(belief, map_, world):
    rng = np.random.default_rng(10)
    gate = gate_at(10.0)
    for _frame in range(6):
        map_.observe(belief, look(world, rng, gate))
    back = Pose(Vec(18.0, 0.5, 0.0), Rot.from_euler(0.0, math.radians(-15.0), math.pi))
    q = back.rotation
    belief.x[:4], belief.x[7:10] = (q.w, q.x, q.y, q.z), (18.0, 0.5, 0.0)
    assert map_.observe(belief, look(world, rng, gate, pose=back)) == 1
    assert len(map_.gates) == 1


def test_a_reversed_gate_faces_the_other_way(belief, map_, world):
    rng = np.random.default_rng(11)
    map_.observe(belief, look(world, rng, gate_at(10.0)))
    (mark,) = map_.gates
    forward = map_.facing(belief, mark).rotation @ Vec[Gate](1.0, 0.0, 0.0)
    mark.reversed = True
    assert (map_.facing(belief, mark).rotation @ Vec[Gate](1.0, 0.0, 0.0)).dot(forward) == pytest.approx(-1.0)


def test_a_wrong_corner_does_not_move_a_gate_far(belief, map_, world):
    rng = np.random.default_rng(12)
    gate = gate_at(12.0)
    for _frame in range(10):
        map_.observe(belief, look(world, rng, gate))
    before = belief.gate(0).position
    (view,) = look(world, rng, gate)
    outer = view.outer.copy()
    outer[1] += (30.0, -30.0)
    map_.observe(belief, [replace(view, outer=outer)])
    assert (belief.gate(0).position - before).norm() < 0.15
    assert len(map_.known()) == 1
    for _frame in range(12, 22):  # and what it was taken for is soon forgotten
        map_.observe(belief, look(world, rng, gate))
    assert len(map_.gates) == 1

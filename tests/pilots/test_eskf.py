import math
from functools import partial

import numpy as np
import pytest

from racewire.core.clock import NS_PER_MS, NS_PER_S
from racewire.core.frames import Pose, Rot, Vec
from racewire.core.seeds import stream
from racewire.pilots.eskf import Eskf, Mode
from racewire.pilots.gate_map import ALL_CORNERS, GateMap
from racewire.sensors.camera import AIGP_CAMERA

STILL = np.array((0.0, 0.0, -9.81, 0.0, 0.0, 0.0))
PERIOD = 8_000_000


@pytest.fixture
def make(params):
    def make():
        eskf = Eskf(params.filter, params.belief, params.airframe, AIGP_CAMERA)
        eskf.reset(Rot.identity(), Vec(0.0, 0.0, 0.0))
        return eskf

    return make


def samples(count, rng):
    return [(i * PERIOD, STILL + 0.05 * rng.standard_normal(6)) for i in range(count)]


def fuse_a_gate(eskf, off_px):
    """Take a gate 8 m ahead in, and see it `off_px` from where it should be."""
    if eskf.n == 15:
        eskf.add_gate(Pose(Vec(8.0, 0.3, -1.0), Rot.identity()))
    seen = eskf.look(0, ALL_CORNERS) + off_px
    eskf.see(0, ALL_CORNERS, seen, 0.5, fuse=True)


@pytest.mark.parametrize("mode", [Mode.COAST, Mode.AIR, Mode.REST])
def test_a_late_frame_has_the_effect_of_one_in_time(make, mode):
    log = samples(40, np.random.default_rng(1))
    in_order, late = make(), make()
    for i, (t_ns, sample) in enumerate(log):
        in_order.imu(t_ns, sample, mode)
        if i in (10, 20):
            assert in_order.at(t_ns, lambda: fuse_a_gate(in_order, 1.5))
    for i, (t_ns, sample) in enumerate(log):
        late.imu(t_ns, sample, mode)
        if i in (19, 39):  # 72 ms and 152 ms later
            at_ns = log[10 if i == 19 else 20][0]
            assert late.at(at_ns, lambda: fuse_a_gate(late, 1.5))
    assert np.array_equal(in_order.x, late.x)
    assert np.array_equal(in_order.P, late.P)
    assert late.n == 21


def test_a_frame_between_two_samples_costs_nothing_but_rounding(make):
    log = samples(20, np.random.default_rng(2))
    plain, split = make(), make()
    for t_ns, sample in log:
        plain.imu(t_ns, sample, Mode.COAST)
        split.imu(t_ns, sample, Mode.COAST)
    assert split.at(log[12][0] + PERIOD // 3, lambda: None)
    assert split.t_ns == plain.t_ns
    assert np.allclose(plain.x, split.x, atol=2e-5)


def test_a_frame_too_old_is_counted_and_changes_nothing(make):
    eskf = make()
    for t_ns, sample in samples(100, np.random.default_rng(3)):
        eskf.imu(t_ns, sample, Mode.COAST)
    before = eskf.x.copy()
    assert not eskf.at(10 * PERIOD, lambda: fuse_a_gate(eskf, 3.0))
    assert not eskf.at(eskf.t_ns + NS_PER_S, lambda: fuse_a_gate(eskf, 3.0))
    assert eskf.late == 2
    assert np.array_equal(before, eskf.x)


def test_samples_that_come_twice_or_late_are_ignored(make):
    eskf = make()
    for t_ns, sample in samples(10, np.random.default_rng(4)):
        eskf.imu(t_ns, sample, Mode.COAST)
        before = eskf.x.copy()
        eskf.imu(t_ns, 2.0 * sample, Mode.COAST)
        eskf.imu(t_ns - PERIOD, 3.0 * sample, Mode.COAST)
        assert np.array_equal(before, eskf.x)


def test_the_past_stays_bounded(make, params):
    eskf = make()
    for i in range(2000):
        eskf.imu(i * PERIOD, STILL, Mode.COAST)
    assert len(eskf._past) < 2.0 * params.filter.history_ms * NS_PER_MS / PERIOD


def test_a_jolt_survives_the_frame_that_was_taken_before_it(make):
    eskf = make()
    for t_ns, sample in samples(20, np.random.default_rng(5)):
        eskf.imu(t_ns, sample, Mode.COAST)
    eskf.jolt(2.0, 0.1, 0.1)
    assert eskf.P[3, 3] > 4.0
    assert eskf.at(10 * PERIOD, lambda: None)
    assert eskf.P[3, 3] > 4.0


def test_gates_come_and_go_without_touching_the_others(make):
    eskf = make()
    eskf.imu(0, STILL, Mode.COAST)
    places = [Pose(Vec(10.0 * i + 8.0, 0.5 * i, -1.0), Rot.exp(0.0, 0.0, 0.1 * i)) for i in range(3)]
    for i, place in enumerate(places):
        assert eskf.add_gate(place) == i
        eskf.see(i, ALL_CORNERS, eskf.look(i, ALL_CORNERS), 0.5, fuse=True)
    P = eskf.P[: eskf.n, : eskf.n].copy()
    eskf.drop_gate(1)
    keep = [*range(21), *range(27, 33)]
    assert np.array_equal(eskf.P[: eskf.n, : eskf.n], P[np.ix_(keep, keep)])
    assert (eskf.gate(0).position - places[0].position).norm() < 1e-6
    assert (eskf.gate(1).position - places[2].position).norm() < 1e-6


def test_an_impossible_state_is_told_and_restarted_from(make):
    eskf = make()
    eskf.imu(0, STILL, Mode.COAST)
    eskf.x[7:10] = (5.0, 6.0, 7.0)
    eskf.x[4] = 500.0
    assert not eskf.sane
    eskf.restart(Rot.exp(0.1, 0.2, 0.3), Vec(0.0, 0.01, 0.0))
    assert eskf.sane
    assert eskf.position == Vec(5.0, 6.0, 7.0)
    assert eskf.attitude.angle_to(Rot.exp(0.1, 0.2, 0.3)) < 1e-9
    assert eskf.P[3, 3] >= 25.0
    eskf.x[7] = math.nan
    eskf.restart(Rot.identity(), Vec(0.0, 0.0, 0.0))
    assert eskf.sane


def weave(t):
    """Return pose, velocity, force and rates of a flight that weaves towards gates ahead."""
    e = 1e-4

    def place(t):
        return np.array((6.0 * t, 0.8 * math.sin(1.4 * t), -0.4 * math.sin(0.9 * t)))

    def attitude(t):
        return Rot.from_euler(0.25 * math.sin(1.4 * t), -0.2 + 0.1 * math.sin(0.7 * t), 0.2 * math.sin(t))

    velocity = (place(t + e) - place(t - e)) / (2.0 * e)
    accel = (place(t + e) - 2.0 * place(t) + place(t - e)) / e**2
    turn = (attitude(t - e).inverse() @ attitude(t + e)).log()
    force = attitude(t).inverse() @ Vec(accel[0], accel[1], accel[2] - 9.81)
    rates = np.array(turn) / (2.0 * e)
    return Pose(Vec(*place(t).tolist()), attitude(t)), velocity, force.array(), rates


def test_the_filter_knows_how_wrong_it_is(params, world):
    # NEES of attitude, velocity and the place relative to the gate, over noise seeds: 9 if consistent
    gate = Pose(Vec(22.0, 0.5, -1.0), Rot.from_euler(0.0, 0.05, 0.15))
    nees, errors = [], []
    for seed in range(12):
        rng = stream(seed, "test/nees")
        eskf = Eskf(params.filter, params.belief, params.airframe, AIGP_CAMERA)
        eskf.reset(weave(0.0)[0].rotation, Vec(0.0, 0.0, 0.0))
        tilt, gyro_bias, accel_bias = (
            0.003 * rng.standard_normal(3),
            0.003 * rng.standard_normal(3),
            0.03 * rng.standard_normal(3),
        )
        eskf.x[4:7] = weave(0.0)[1] + 0.02 * rng.standard_normal(3)
        start = eskf.attitude @ Rot.exp(*tilt.tolist())
        eskf.x[:4] = (start.w, start.x, start.y, start.z)
        map_ = GateMap(params.map, AIGP_CAMERA)
        frame = 0
        for i in range(300):
            t_ns = i * NS_PER_S // 120
            pose, _, force, rates = weave(t_ns / NS_PER_S)
            sample = np.concatenate(
                (
                    force + accel_bias + 0.05 * rng.standard_normal(3),
                    rates + gyro_bias + 0.005 * rng.standard_normal(3),
                )
            )
            eskf.imu(t_ns, sample, Mode.COAST)
            if i % 4 == 3 and i > 10:
                frame += 1
                at_ns = t_ns - 25 * NS_PER_MS
                corners = world.corners_of(gate, weave(at_ns / NS_PER_S)[0])
                view = world.view_of(corners + 0.5 * rng.standard_normal((8, 2)))
                eskf.at(at_ns, partial(map_.observe, eskf, [view]))
        assert len(map_.gates) == 1
        pose, velocity, _, _ = weave(eskf.t_ns / NS_PER_S)
        e_turn = (eskf.attitude.inverse() @ pose.rotation).log()
        e_velocity = velocity - eskf.velocity.array()
        true_offset = (gate.position - pose.position).array()
        e_offset = true_offset - (eskf.gate(0).position - eskf.position).array()
        M = np.zeros((9, eskf.n))
        M[:6, :6] = np.eye(6)
        M[6:9, 6:9], M[6:9, 15:18] = -np.eye(3), np.eye(3)
        S = M @ eskf.P[: eskf.n, : eskf.n] @ M.T
        error = np.concatenate((e_turn, e_velocity, e_offset))
        nees.append(error @ np.linalg.solve(S, error))
        errors.append(np.abs(e_offset).max())
    assert 2.0 < np.mean(nees) < 16.0
    assert max(nees) < 40.0
    assert np.median(errors) < 0.08

import math

import numpy as np
import pytest

from racewire.core.config import load
from racewire.core.frames import Gate, Ned, Pose, Rot, Vec
from racewire.core.seeds import stream
from racewire.pilots import COMPLETION_CONFIG
from racewire.pilots.completion import CompletionParams
from racewire.pilots.sighting import Sighting
from racewire.sensors.camera import AIGP_CAMERA

SIGHT = load(CompletionParams, COMPLETION_CONFIG).sight
LEVEL = Rot.identity()
STILL = Vec(0.0, 0.0, 0.0)


@pytest.fixture
def sighting():
    return Sighting(SIGHT, AIGP_CAMERA)


def gate_at(x, y=0.0, z=-1.5, yaw_deg=0.0) -> Pose[Ned, Gate]:
    return Pose(Vec(x, y, z), Rot.from_euler(0.0, 0.0, math.radians(yaw_deg)))


def views(world, *gates, at=STILL, attitude=LEVEL, noise=0.1, seed=0):
    rng = stream(seed, "test/pixels")
    seen = [world.corners_of(gate, Pose(at, attitude)) for gate in gates]
    return [
        world.view_of(corners + noise * rng.standard_normal((8, 2)))
        for corners in seen
        if np.isfinite(corners[:, 0]).sum() >= 4
    ]


def test_place_of_a_gate_is_from_the_drone_along_ned(world, sighting):
    turned = Rot.from_euler(0.1, -0.2, 0.5)
    gate = gate_at(10.0, 5.0, -1.0, yaw_deg=20.0)
    for i in range(10):
        sighting.look(views(world, gate, attitude=turned, seed=i), turned, STILL, 0.0)
    assert sighting.target.place == pytest.approx((10.0, 5.0, -1.0), abs=0.1)
    assert sighting.target.normal == pytest.approx(math.radians(20.0), abs=0.05)


def test_velocity_is_learnt_from_sightings(world, sighting):
    gate, dt = gate_at(20.0), 1 / 120
    for i in range(240):
        sighting.move(Vec(0.0, 0.0, 0.0), dt)
        if i % 4 == 0:
            here = Vec(4.0 * i * dt, 0.5 * i * dt, 0.0)
            sighting.look(views(world, gate, at=here, seed=i), LEVEL, STILL, 0.0)
    assert sighting.velocity == pytest.approx((4.0, 0.5, 0.0), abs=0.25)


def test_the_nearest_gate_in_front_is_the_target(world, sighting):
    near, far = gate_at(10.0, -1.0), gate_at(30.0, 2.0)
    for i in range(3):
        sighting.look(views(world, far, near, seed=i), LEVEL, STILL, 0.0)
    assert sighting.target.distance == pytest.approx(10.2, abs=0.3)
    assert len(sighting.gates) == 2


def test_one_frame_never_shows_a_gate_twice(world, sighting):
    # two gates 5 m apart, far away, where the tolerance of a match is larger than that
    gates = [gate_at(50.0, -2.5), gate_at(53.0, 2.5)]
    sighting.look(views(world, *gates, noise=0.02), LEVEL, STILL, 0.0)
    assert [gate.views for gate in sighting.gates] == [1, 1]


def test_passing_a_gate_moves_on_to_the_next(world, sighting):
    near, far = gate_at(3.0, 0.0, -0.6), gate_at(25.0, 2.0)
    for i in range(3):
        sighting.look(views(world, near, far, seed=i), LEVEL, STILL, 0.0)
    sighting.velocity = np.array((6.0, 0.0, 0.0))
    for _ in range(70):
        sighting.move(Vec(0.0, 0.0, 0.0), 1 / 120)
    assert sighting.passed == 1
    assert sighting.target.place[0] == pytest.approx(25.0 - 3.5, abs=1.0)


def test_a_gate_much_farther_than_a_lost_one_is_not_taken(world, sighting):
    near, far = gate_at(10.0), gate_at(40.0, 8.0)
    for i in range(3):
        sighting.look(views(world, near, seed=i), LEVEL, STILL, 0.0)
    for i in range(40):
        sighting.look(views(world, far, seed=i), LEVEL, STILL, 0.0)
    assert sighting.target is None
    sighting.give_up()
    sighting.look(views(world, far), LEVEL, STILL, 0.0)
    assert sighting.target.distance > 35.0


def test_delay_of_frames_is_learnt_from_turning(world, sighting):
    gate, late = gate_at(15.0), 0.04
    for i in range(400):
        t = i / 30
        pitch, rate = 0.3 * math.sin(4.0 * t), 1.2 * math.cos(4.0 * t)
        shown = Rot.from_euler(0.0, pitch - 0.2, 0.0)
        assumed_t = t + late - sighting.delay  # the frame is dated `late` too young
        assumed = Rot.from_euler(0.0, 0.3 * math.sin(4.0 * assumed_t) - 0.2, 0.0)
        for _ in range(4):
            sighting.move(Vec(0.0, 0.0, 0.0), 1 / 120)
        sighting.look(views(world, gate, attitude=shown, seed=i), assumed, Vec(0.0, rate, 0.0), 0.0)
    assert sighting.delay == pytest.approx(late, abs=0.008)


def test_left_is_the_mirror_of_right(world):
    places = []
    for side in (1.0, -1.0):
        sighting = Sighting(SIGHT, AIGP_CAMERA)
        gate = gate_at(12.0, 3.0 * side, -1.0, yaw_deg=15.0 * side)
        for _ in range(5):
            sighting.look(views(world, gate, noise=0.0), LEVEL, STILL, 0.0)
        places.append((*sighting.target.place, sighting.target.normal))
    right, left = places
    assert left == pytest.approx((right[0], -right[1], right[2], -right[3]), abs=1e-3)

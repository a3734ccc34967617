import itertools
import math
from functools import cache

import pytest

from racewire.core.errors import ConfigError
from racewire.core.frames import Rot
from racewire.sensors.camera import AIGP_CAMERA
from racewire.world.checks import first_fault
from racewire.world.generate import CourseSpec, obstacle, random_course

SPEC = CourseSpec()
SEEDS = range(200)


@cache
def course(seed):
    return random_course(seed)


def pixel(place, rotation, point):
    optical = AIGP_CAMERA.frd_from_optical.inverse() @ (rotation.inverse() @ (point - place))
    return AIGP_CAMERA.project(optical)


def in_image(place, rotation, points):
    uv = [pixel(place, rotation, point) for point in points]
    return all(at is not None and AIGP_CAMERA.sees(*at) for at in uv)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_course_is_valid_and_has_what_the_spec_says(seed):
    made = course(seed)
    assert first_fault(made) is None
    assert obstacle(made, SPEC) is None
    assert len(made.gates) == 6
    for a, b in itertools.pairwise(made.gates):
        way = b.centre - a.centre
        assert 17.99 < way.norm() < 30.01
        assert abs(way.z) / math.hypot(way.x, way.y) < 0.201
    for a, b, c in zip(made.gates, made.gates[1:], made.gates[2:], strict=False):
        turn = bearing(c.centre - b.centre) - bearing(b.centre - a.centre)
        assert abs(math.remainder(turn, 2.0 * math.pi)) < math.radians(35.1)
    for gate in made.gates:
        roll, pitch, _ = gate.ned_from_gate.euler()
        assert max(abs(roll), abs(pitch)) <= math.radians(10.001)


def bearing(way):
    return math.atan2(way.y, way.x)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_camera_sees_gate_0_from_the_pad_and_each_gate_from_the_one_before(seed):
    made = course(seed)
    assert in_image(made.pad.position, made.pad.rotation, made.gates[0].corners(2.7))
    for a, b in itertools.pairwise(made.gates):
        yaw = bearing(a.forward)
        assert in_image(a.centre, Rot.from_euler(0.0, 0.0, yaw), [b.centre])
        assert in_image(a.centre, Rot.from_euler(0.0, math.radians(-20.0), yaw), b.corners(1.5))


def test_the_same_seed_gives_the_same_course_and_another_another():
    assert random_course(7) == random_course(7)
    assert random_course(7) != random_course(8)


def test_courses_climb_and_fall_and_turn_both_ways():
    ups, turns = set(), set()
    for seed in range(20):
        for a, b in itertools.pairwise(course(seed).gates):
            ups.add(b.centre.z < a.centre.z)
            turns.add(bearing(b.centre - a.centre) % (2.0 * math.pi) > math.pi)
    assert ups == turns == {True, False}


def test_a_spec_is_kept_to():
    spec = CourseSpec(
        gates=14, spacing_min=20.0, spacing_max=22.0, turn_max_deg=12.0, tilt_max_deg=0.0, lift=0.0
    )
    made = random_course(3, spec)
    assert len(made.gates) == 14
    assert all(gate.published == gate.centre for gate in made.gates)
    assert all(abs(gate.ned_from_gate.euler()[0]) < 1e-12 for gate in made.gates)


def test_a_spec_that_asks_too_much_is_refused():
    with pytest.raises(ConfigError, match="no flyable course"):
        random_course(1, CourseSpec(gates=4, turn_radius_min=1e9))
    with pytest.raises(ValueError, match="gates"):
        CourseSpec(gates=0)
    with pytest.raises(ValueError, match="spacing_min"):
        CourseSpec(spacing_min=40.0)


def test_an_obstacle_is_named():
    made = course(0)
    assert obstacle(made, CourseSpec(turn_radius_min=1e9)) is not None
    assert "too near" in str(obstacle(made, CourseSpec(leg_clearance=60.0)))
    blind = CourseSpec(lean_deg=80.0)
    assert "not in view" in str(obstacle(made, blind))

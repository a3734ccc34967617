import math
from dataclasses import replace

import pytest

from racewire.core.frames import Vec
from racewire.pilots.guidance import Waypoint, approach, go_round, hold

FORWARD = Vec(1.0, 0.0, 0.0)
STILL = Vec(0.0, 0.0, 0.0)


@pytest.fixture
def p(params):
    return params.guidance


def fly_through(way, p, position=STILL, velocity=STILL, dt=0.01, limit_s=20.0):
    """Follow the law as a point mass; return the crossings (right, down, velocity) and the time."""
    left, t, crossings, fastest, hardest = list(way), 0.0, [], 0.0, 0.0
    while left and t < limit_s:
        aim = approach(position, velocity, left[:2], p)
        hardest = max(hardest, aim.accel.norm())
        before = (position - left[0].centre).dot(left[0].forward)
        velocity += aim.accel * dt
        position += velocity * dt
        fastest = max(fastest, velocity.norm())
        after = (position - left[0].centre).dot(left[0].forward)
        if before < 0.0 <= after:
            off = position - left[0].centre
            crossings.append(((off - left[0].forward * after).norm(), velocity))
            left.pop(0)
        t += dt
    return crossings, t, fastest, hardest


def test_a_gate_ahead_is_hit_in_the_middle(p):
    crossings, t, fastest, _ = fly_through([Waypoint(Vec(23.0, 2.0, -1.5), FORWARD)], p)
    assert len(crossings) == 1
    assert crossings[0][0] < 0.05
    assert fastest < 1.1 * p.speed
    assert t < 5.0


def test_gates_in_a_row_are_taken_at_speed_and_near_the_middle(p):
    way = [
        Waypoint(Vec(23.0, 0.4, -1.1), FORWARD),
        Waypoint(Vec(47.0, 2.5, 4.0), FORWARD),
        Waypoint(Vec(75.0, -1.2, 12.6), FORWARD),
        Waypoint(Vec(111.0, 5.1, 23.5), FORWARD),
    ]
    crossings, t, fastest, _ = fly_through(way, p)
    assert len(crossings) == 4
    assert max(off for off, _ in crossings) < 0.12
    assert min(v.norm() for _, v in crossings[:-1]) > 0.7 * p.speed
    assert fastest < 1.15 * p.speed
    assert t < 16.0


def test_a_gate_to_the_right_is_reached_by_accelerating_right(p):
    aim = approach(STILL, FORWARD * 5.0, [Waypoint(Vec(15.0, 6.0, 0.0), FORWARD)], p)
    assert aim.accel.y > 0.5
    aim = approach(STILL, FORWARD * 5.0, [Waypoint(Vec(15.0, -6.0, 0.0), FORWARD)], p)
    assert aim.accel.y < -0.5
    aim = approach(STILL, FORWARD * 5.0, [Waypoint(Vec(15.0, 0.0, -6.0), FORWARD)], p)
    assert aim.accel.z < -0.5


def test_a_sharper_turn_is_taken_slower(p):
    def at_gate(turn_deg):
        a = math.radians(turn_deg)
        after = Vec(20.0 + 12.0 * math.cos(a), 12.0 * math.sin(a), 0.0)
        way = [Waypoint(Vec(20.0, 0.0, 0.0), FORWARD), Waypoint(after, Vec(math.cos(a), math.sin(a), 0.0))]
        return approach(STILL, FORWARD * 8.0, way, p).exit.norm()

    fast = replace(p, speed=20.0)
    p = fast
    assert at_gate(70.0) < at_gate(40.0) < at_gate(10.0)


def test_what_is_badly_known_is_approached_slower(p):
    way = Vec(20.0, 0.0, 0.0)
    sure = approach(STILL, FORWARD * 8.0, [Waypoint(way, FORWARD, 0.05, 0.05)], p).exit.norm()
    unsure = approach(STILL, FORWARD * 8.0, [Waypoint(way, FORWARD, 0.6, 0.05)], p).exit.norm()
    assert unsure < 0.6 * sure


def test_a_slanted_gate_is_crossed_near_its_normal(p):
    a = math.radians(50.0)
    normal = Vec(math.cos(a), math.sin(a), 0.0)
    crossings, _, _, _ = fly_through([Waypoint(Vec(20.0, 4.0, 0.0), normal)], p)
    off, velocity = crossings[0]
    angle = math.acos(velocity.dot(normal) / velocity.norm())
    assert off < 0.1
    assert angle < math.radians(p.steepest_crossing_deg + 8.0)


def test_accelerations_are_bounded_even_from_a_bad_start(p):
    for position in (Vec(19.9, 3.0, 0.0), Vec(20.5, 0.2, 0.0), Vec(20.0, 0.0, 0.0)):
        aim = approach(position, Vec(-9.0, 4.0, 3.0), [Waypoint(Vec(20.0, 0.0, 0.0), FORWARD)], p)
        assert math.isfinite(aim.accel.norm())
        assert aim.accel.norm() <= 1.5 * p.accel + 1e-9


def test_a_missed_gate_is_flown_round_over_its_top(p):
    gate = Waypoint(Vec(0.0, 0.0, 0.0), FORWARD)
    position, velocity, t = Vec(5.0, 0.3, 0.0), Vec(2.0, 0.0, 0.0), 0.0
    while position.x > -0.8 * p.detour_back and t < 20.0:
        before = position
        velocity += go_round(position, velocity, gate, p) * 0.01
        position += velocity * 0.01
        if before.x > 0.0 >= position.x:
            assert max(abs(position.y), abs(position.z)) > 1.35 + 0.3
        t += 0.01
    assert position.x <= -0.8 * p.detour_back


def test_hold_brings_the_velocity_where_it_is_wanted(p):
    velocity = Vec(6.0, -3.0, 1.0)
    for _ in range(400):
        velocity += hold(velocity, Vec(0.0, 2.0, 0.0), p) * 0.01
    assert (velocity - Vec(0.0, 2.0, 0.0)).norm() < 0.05

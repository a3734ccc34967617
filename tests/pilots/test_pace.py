import math

import pytest

from racewire.core.clock import nanos
from racewire.core.frames import Rot, Vec
from racewire.pilots.control import Kinematics
from racewire.pilots.guidance import Waypoint
from racewire.pilots.pace import Pace

ORIGIN, CRUISE = Vec(0.0, 0.0, 0.0), Vec(5.0, 0.0, 0.0)
FORWARD = Vec(1.0, 0.0, 0.0)


@pytest.fixture
def pace(params):
    return Pace(params.pace, params.guidance)


def state(t=0.0, position=ORIGIN, velocity=CRUISE):
    return Kinematics(nanos(t), position, velocity, Rot.from_euler(0.0, 0.0, 0.0), ORIGIN, ORIGIN)


def test_the_nose_is_on_the_gate_and_then_on_the_next(pace):
    way = [Waypoint(Vec(20.0, 4.0, 0.0), FORWARD), Waypoint(Vec(40.0, -10.0, 0.0), FORWARD)]
    assert pace.fly(state(), way, FORWARD).heading == pytest.approx(math.atan2(4.0, 20.0))
    near = state(position=Vec(18.5, 3.8, 0.0), velocity=Vec(9.0, 1.0, 0.0))
    assert pace.fly(near, way, FORWARD).heading == pytest.approx(math.atan2(-13.8, 21.5))


def test_with_no_gate_known_it_flies_on_the_way_it_came_out(pace, params):
    exit_ = Vec(0.6, 0.8, 0.0)
    wish = pace.fly(state(velocity=Vec(0.0, 0.0, 0.0)), [], exit_)
    assert wish.heading == pytest.approx(math.atan2(0.8, 0.6))
    assert wish.accel.dot(exit_) > 0.0


def test_a_gate_missed_by_its_side_is_gone_back_to(pace):
    gate = [Waypoint(Vec(10.0, 0.0, 0.0), FORWARD)]
    beside = state(position=Vec(10.8, 2.5, 0.0), velocity=Vec(3.0, 0.0, 0.0))
    wish = pace.fly(beside, gate, FORWARD)
    assert wish.accel.x < 0.0
    assert wish.accel.z < 0.0
    assert math.cos(wish.heading - math.atan2(-2.5, -0.8)) == pytest.approx(1.0)


def test_searching_brakes_holds_height_sweeps_and_nods(pace, params):
    first = pace.search(state(), [], FORWARD)
    assert first.accel.x < 0.0
    headings, pushes = [], []
    for i in range(1, 600):
        at = state(t=i / 100.0, velocity=Vec(params.pace.creep, 0.0, 0.0))
        wish = pace.search(at, [], FORWARD)
        headings.append(math.degrees(wish.heading))
        pushes.append(wish.accel.x)
    assert max(headings) == pytest.approx(params.pace.sweep_deg, abs=1.0)
    assert min(headings) == pytest.approx(-params.pace.sweep_deg, abs=1.0)
    assert max(pushes) > 0.7 * params.pace.nod
    assert min(pushes) < -0.7 * params.pace.nod
    low = pace.search(state(t=6.0, position=Vec(0.0, 0.0, 1.0), velocity=Vec(0.0, 0.0, 0.0)), [], FORWARD)
    assert low.accel.z < 0.0


def test_the_search_starts_about_the_gate_that_was_expected(pace):
    way = [Waypoint(Vec(0.0, 30.0, 0.0), FORWARD, position_sd=5.0)]
    assert pace.search(state(), way, FORWARD).heading == pytest.approx(math.pi / 2.0)


def test_a_vehicle_that_hangs_backs_off_and_then_tries_again(pace, params):
    way = [Waypoint(Vec(3.0, 0.0, 0.0), FORWARD)]
    pushes = []
    for i in range(400):
        hanging = state(t=i / 100.0, velocity=Vec(0.0, 0.0, 0.0))
        pushes.append(pace.fly(hanging, way, FORWARD).accel.x)
    on = round(100 * params.pace.stuck_s)
    assert min(pushes[: on - 1]) > 0.0
    assert pushes[on + 5] < 0.0
    assert pushes[on + round(100 * params.pace.escape_s) + 10] > 0.0


def test_rest_is_a_hover_where_it_is(pace):
    assert pace.rest(state()).accel.x < 0.0
    still = pace.rest(state(velocity=Vec(0.0, 0.0, 0.0), position=Vec(3.0, 0.0, 0.5)))
    assert still.accel.z < 0.0

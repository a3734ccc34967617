import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Pose, Vec
from racewire.race.events import (
    Collided,
    Disqualified,
    Finished,
    GateMissed,
    GatePassed,
    OutOfBounds,
    Started,
    TimedOut,
)
from racewire.race.geometry import geometry
from racewire.race.referee import (
    Phase,
    RaceState,
    Sample,
    Touch,
    judge,
    start_countdown,
    status,
    verdict,
)
from racewire.race.rules import load_rules
from racewire.world.course_file import rotation_deg
from racewire.world.layout import Course, CourseGate

MS = 10**6
S = 10**9
BOOT = 5 * S
GO = BOOT + 3 * S
RULES = load_rules()
PAD = Vec(0.0, 0.0, 0.0)

# Three gates due north of the pad, every 10 m; openings of 1.5 m.
COURSE = Course(
    name="straight",
    look="vq1",
    gates=tuple(
        CourseGate(i, Vec(10.0 * (i + 1), 0.0, 0.0), rotation_deg(0.0, 0.0, 0.0), 0.0) for i in range(3)
    ),
    pad=Pose(PAD, rotation_deg(0.0, -17.8, 0.0)),
    floor=5.0,
    low=Vec(-50.0, -30.0, -20.0),
    high=Vec(80.0, 30.0, 5.0),
)
RACE = geometry(COURSE)
COUNTDOWN = start_countdown(RaceState(), BOOT, RULES)
RACING = replace(COUNTDOWN, phase=Phase.RACING)


def at(t_ns, north=0.0, east=0.0, down=0.0, thrust=0.0):
    return Sample(t_ns, Vec(north, east, down), thrust)


def fly(state, samples, touches=()):
    """Fold the referee over consecutive samples; return the state and all events."""
    seen = []
    for before, after in itertools.pairwise(samples):
        state, events = judge(state, RACE, RULES, before, after, touches)
        seen += events
    return state, seen


def kinds(events):
    return [type(event) for event in events]


# the countdown


def test_the_countdown_sets_go_three_seconds_ahead():
    assert COUNTDOWN.phase is Phase.COUNTDOWN
    assert COUNTDOWN.start_ns == BOOT + 3 * S


def test_a_race_is_reset_before_it_starts_again():
    for phase in set(Phase) - {Phase.WAITING}:
        with pytest.raises(ValueError, match="reset it first"):
            start_countdown(RaceState(phase), BOOT, RULES)


def test_waiting_for_go_on_the_pad_starts_the_race_at_go():
    times = range(BOOT, GO + 2 * MS, MS)
    state, events = fly(COUNTDOWN, [at(t) for t in times])
    assert state.phase is Phase.RACING
    assert events == [Started(GO)]


@pytest.mark.parametrize(
    ("early_ns", "north", "thrust", "reason"),
    [
        (412 * MS, 0.0, 0.021, "Early Start 412 ms"),
        (3 * S, 0.0, 0.3, "Early Start 3000 ms"),
        (1500 * MS, 0.051, 0.0, "Early Start 1500 ms"),
        (1, -0.06, 0.0, "Early Start 0 ms"),
        (1_999_999, 0.0, 1.0, "Early Start 1 ms"),
    ],
)
def test_motion_or_thrust_before_go_disqualifies(early_ns, north, thrust, reason):
    t = GO - early_ns
    state, events = judge(COUNTDOWN, RACE, RULES, at(t - MS), at(t, north, thrust=thrust))
    assert events == (Disqualified(t, reason),)
    result = verdict(state, RACE)
    assert (result.disqualified, result.finished, result.reason) == (True, False, reason)


def test_a_little_motion_and_idle_thrust_are_no_early_start():
    t = GO - 100 * MS
    state, events = judge(COUNTDOWN, RACE, RULES, at(t - MS), at(t, 0.049, thrust=0.02))
    assert (state, events) == (COUNTDOWN, ())


def test_thrust_at_go_itself_is_in_time():
    state, _ = judge(COUNTDOWN, RACE, RULES, at(GO - MS), at(GO, thrust=1.0))
    assert state.phase is Phase.RACING


def test_nothing_is_an_early_start_before_the_countdown():
    state, events = judge(RaceState(), RACE, RULES, at(BOOT), at(BOOT + MS, 3.0, thrust=1.0))
    assert (state, events) == (RaceState(), ())


def test_a_disqualified_run_stays_so():
    state, _ = judge(COUNTDOWN, RACE, RULES, at(BOOT), at(BOOT + MS, thrust=1.0))
    after, events = fly(state, [at(GO + MS, 5.0), at(GO + S, 35.0)])
    assert (after, events) == (state, [])


# gates


@given(
    st.integers(1, 400),
    st.floats(2.0, 40.0),
    st.floats(-0.7, 0.7),
    st.floats(-0.7, 0.7),
    st.integers(0, 10**9),
)
def test_a_crossing_is_found_at_any_step_size_at_its_analytic_time(steps, speed, east, down, offset):
    begin, end = GO + offset, GO + offset + round(9.0 / speed * S)  # from 5 m to 14 m north

    def position(t):
        return at(t, 5.0 + speed * (t - begin) / S, east, down)

    times = [begin + (end - begin) * k // steps for k in range(steps + 1)]
    state, events = fly(RACING, [position(t) for t in times])
    assert state.gates_passed == 1
    (event,) = events
    assert isinstance(event, GatePassed)
    assert abs(event.t_ns - (begin + 5.0 / speed * S)) <= 2
    assert event.race_ns == event.t_ns - GO == state.last_gate_ns
    assert (event.right, event.down) == pytest.approx((east, down), abs=1e-9)


@given(st.lists(st.floats(0.001, 0.999), min_size=0, max_size=12, unique=True))
def test_cutting_a_straight_step_anywhere_changes_nothing(cuts):
    first, last = at(GO + S, 4.0, 0.3, -0.2), at(GO + 2 * S, 29.0, -0.4, 0.5)
    way = last.position - first.position

    def between(share):
        t = first.t_ns + round(share * S)
        return Sample(t, first.position + way * ((t - first.t_ns) / S))

    whole, once = fly(RACING, [first, last])
    pieces, events = fly(RACING, [first, *map(between, sorted(cuts)), last])
    assert pieces.gates_passed == whole.gates_passed == 2
    for a, b in zip(once, events, strict=True):
        assert (a.gate, a.right, a.down) == pytest.approx((b.gate, b.right, b.down), abs=1e-6)
        assert abs(a.t_ns - b.t_ns) <= 2


def test_a_sample_on_the_plane_is_one_pass():
    state, events = fly(RACING, [at(GO, 9.0), at(GO + MS, 10.0), at(GO + 2 * MS, 11.0)])
    assert events == [GatePassed(GO + MS, 0, MS, 0.0, 0.0)]
    assert state.gates_passed == 1


def test_several_gates_in_one_step_are_passed_in_order():
    state, events = fly(RACING, [at(GO, 0.0), at(GO + 4 * S, 40.0)])
    assert [(e.gate, e.race_ns) for e in events[:3]] == [(0, S), (1, 2 * S), (2, 3 * S)]
    assert events[3] == Finished(GO + 3 * S, 3 * S)
    assert state.phase is Phase.FINISHED


def test_gates_count_only_in_order():
    state, events = fly(RACING, [at(GO, 15.0), at(GO + S, 25.0), at(GO + 2 * S, 35.0)])
    assert (state.gates_passed, events) == (0, [])


def test_one_step_does_not_take_a_gate_that_lies_before_the_last_one():
    a, b = (replace(gate, gate_id=i) for i, gate in enumerate((COURSE.gates[1], COURSE.gates[0])))
    race = geometry(replace(COURSE, gates=(a, b)))
    state, events = judge(RACING, race, RULES, at(GO, 0.0), at(GO + S, 30.0))
    assert kinds(events) == [GatePassed]
    assert state.gates_passed == 1


def test_flying_backwards_through_a_gate_does_not_count():
    state, events = fly(RACING, [at(GO, 11.0), at(GO + S, 9.0)])
    assert (state, events) == (RACING, [])


def test_after_going_back_the_gate_still_counts_once_forwards():
    there_and_back = [at(GO + i * S, north) for i, north in enumerate((9.0, 11.0, 9.0, 11.0, 9.0, 11.0))]
    state, events = fly(RACING, there_and_back)
    assert kinds(events) == [GatePassed]
    assert state.gates_passed == 1


@pytest.mark.parametrize(
    ("east", "down", "passes"),
    [
        (0.75, 0.0, True),
        (-0.75, 0.75, True),
        (0.7501, 0.0, False),
        (0.0, -0.7501, False),
        (-0.7501, 0.0, False),
        (0.0, 0.7501, False),
        (1.34, 0.0, False),
        (9.0, -3.0, False),
    ],
)
def test_the_opening_has_sharp_edges(east, down, passes):
    state, events = fly(RACING, [at(GO, 9.0, east, down), at(GO + 2 * S, 11.0, east, down)])
    assert kinds(events) == [GatePassed if passes else GateMissed]
    assert (events[0].t_ns, events[0].right, events[0].down) == (GO + S, east, down)
    assert state.gates_passed == passes


def test_a_margin_makes_the_opening_smaller():
    strict = replace(RULES, opening_margin=0.14)
    for east, passed in ((0.60, 1), (0.62, 0)):
        state, _ = judge(RACING, RACE, strict, at(GO, 9.0, east), at(GO + S, 11.0, east))
        assert state.gates_passed == passed


def test_a_missed_gate_can_be_flown_again():
    way = [(9.0, 2.0), (11.0, 2.0), (9.0, 2.0), (9.0, 0.0), (11.0, 0.0)]
    state, events = fly(RACING, [at(GO + i * S, n, e) for i, (n, e) in enumerate(way)])
    assert kinds(events) == [GateMissed, GatePassed]
    assert state.gates_passed == 1


def test_what_was_flown_before_go_does_not_count():
    """One long step over GO: at GO the vehicle is already at 15 m, beyond gate 0."""
    state, events = judge(COUNTDOWN, RACE, RULES, at(GO - S, 5.0), at(GO + S, 25.0))
    assert events == (Started(GO),)
    assert state.gates_passed == 0


# the end


def test_a_finish_has_its_time_and_stays():
    state, _ = fly(RACING, [at(GO, 0.0), at(GO + 4 * S, 40.0)])
    again, events = fly(state, [at(GO + 5 * S, 0.0), at(GO + 6 * S, 90.0), at(GO + 999 * S, 0.0)])
    assert (again, events) == (state, [])
    result = verdict(state, RACE)
    assert (result.finished, result.gates_passed, result.gates_total) == (True, 3, 3)
    assert result.race_time_s == 3.0
    assert (result.disqualified, result.reason) == (False, "")
    assert state.over


def test_the_race_ends_at_the_time_limit():
    limit = GO + 480 * S
    state, events = fly(RACING, [at(limit - 2 * MS), at(limit - MS)])
    assert (state, events) == (RACING, [])
    state, events = fly(RACING, [at(limit - MS), at(limit)])
    assert events == [TimedOut(limit)]
    result = verdict(state, RACE)
    assert (result.finished, result.disqualified, result.race_time_s) == (False, False, None)
    assert result.reason == "Time limit 480 s"
    assert state.over


@pytest.mark.parametrize(("late_ms", "finished"), [(-1, True), (0, True), (1, False)])
def test_a_finish_counts_up_to_the_limit_even_within_a_step(late_ms, finished):
    limit = GO + 480 * S
    last = replace(RACING, gates_passed=2, last_gate_ns=S)
    crossing = limit + late_ms * MS  # 30 m is reached then, at 10 m/s
    state, events = fly(last, [at(crossing - 100 * MS, 29.0), at(crossing + 100 * MS, 31.0)])
    assert verdict(state, RACE).finished == finished
    assert kinds(events) == ([GatePassed, Finished] if finished else [TimedOut])


def test_leaving_the_flight_volume_is_told_once_and_costs_the_gates():
    state = replace(RACING, gates_passed=2, last_gate_ns=S)
    state, events = fly(state, [at(GO + 2 * S, 5.0, 29.0), at(GO + 3 * S, 5.0, 31.0)])
    assert events == [OutOfBounds(GO + 3 * S)]
    assert (state.gates_passed, state.last_gate_ns, state.phase) == (0, None, Phase.RACING)
    state, events = fly(state, [at(GO + 3 * S, 5.0, 31.0), at(GO + 4 * S, 5.0, 35.0)])
    assert events == []
    state, events = fly(state, [at(GO + 4 * S), at(GO + 5 * S), at(GO + 6 * S, 0.0, 31.0)])
    assert kinds(events) == [OutOfBounds]


# contacts


def episodes(times_ms, place=(5.0, 0.0, 0.0), state=RACING, gate=0):
    touches = (Touch(gate, 0.5),)
    for t in times_ms:
        state, _ = judge(state, RACE, RULES, at(GO + (t - 1) * MS, *place), at(GO + t * MS, *place), touches)
    return state.collisions


def test_a_contact_that_lasts_is_one_collision():
    assert episodes(range(1, 400)) == 1


def test_a_new_collision_needs_a_quarter_second_without_contact():
    assert episodes([10, 250, 500]) == 1
    assert episodes([10, 260]) == 1
    assert episodes([10, 261]) == 2
    assert episodes([10, 261, 800, 801, 1300]) == 4


def test_resting_on_the_pad_is_no_collision():
    assert episodes([10, 600], place=(0.1, 0.0, 0.0), gate=None) == 0
    assert episodes(range(-500, 20), state=COUNTDOWN, place=(0.0, 0.0, 0.0), gate=None) == 0


def test_contacts_after_the_end_do_not_count():
    finished = replace(RACING, phase=Phase.FINISHED)
    assert episodes([10, 600], state=finished) == 0


def test_every_step_of_contact_is_reported_with_its_impulse():
    touches = (Touch(2, 1.25), Touch(None, 0.5))
    _, events = judge(RACING, RACE, RULES, at(GO, 5.0), at(GO + MS, 5.0), touches)
    assert events == (Collided(GO + MS, 2, 1.25), Collided(GO + MS, None, 0.5))
    _, events = judge(RaceState(), RACE, RULES, at(0), at(MS), (Touch(None, 0.1),))
    assert events == (Collided(MS, None, 0.1),)


# what the pilot is told


def test_status_before_during_and_after_a_race():
    told = status(RaceState(), 7)
    assert (told.t_ns, told.start_ns, told.finish_ns, told.active_gate, told.last_gate_ns) == (
        7,
        None,
        None,
        0,
        None,
    )
    told = status(COUNTDOWN, BOOT + MS)
    assert (told.start_ns, told.finish_ns, told.active_gate, told.last_gate_ns) == (GO, None, 0, None)
    state, _ = fly(RACING, [at(GO, 0.0), at(GO + 2 * S, 15.0)])
    told = status(state, GO + 2 * S)
    assert (told.start_ns, told.finish_ns, told.active_gate) == (GO, None, 1)
    assert told.last_gate_ns == math.floor(2 * S * 10 / 15 + 0.5)
    state, _ = fly(state, [at(GO + 2 * S, 15.0), at(GO + 3 * S, 35.0)])
    told = status(state, GO + 90 * S)
    assert (told.start_ns, told.active_gate) == (GO, 3)
    assert told.finish_ns == told.last_gate_ns == 2 * S + 750 * MS
    assert status(RaceState(), GO + 91 * S).start_ns is None


def test_a_step_without_news_gives_the_same_state_object():
    state, events = judge(RACING, RACE, RULES, at(GO, 1.0), at(GO + MS, 1.01))
    assert state is RACING
    assert events == ()


@given(st.lists(st.tuples(*[st.floats(-40.0, 60.0)] * 2), min_size=2, max_size=30))
def test_progress_never_goes_back_within_bounds(points):
    state, last = RACING, 0
    inside = [at(GO + i * MS, n, e / 3.0) for i, (n, e) in enumerate(points)]
    for before, after in itertools.pairwise(inside):
        state, _ = judge(state, RACE, RULES, before, after)
        assert state.gates_passed >= last
        last = state.gates_passed

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.clock import NS_PER_MS
from racewire.core.messages import Heartbeat, RaceStatus
from racewire.pilots.phases import Phase, PhaseParams, Phases

PARAMS = PhaseParams(arm_ms=1000, guard_ms=20, lost_frames=30)


def ms(t):
    return t * NS_PER_MS


def status(t_ms, start_ms, *, finish_ms=None, gate=0):
    return RaceStatus(
        t_ns=ms(t_ms),
        start_ns=None if start_ms is None else ms(start_ms),
        finish_ns=None if finish_ms is None else ms(finish_ms),
        active_gate=gate,
        last_gate_ns=None,
    )


def waiting(t_ms=1000):
    """Return phases that have just begun to wait for the start at this boot time."""
    phases = Phases(PARAMS)
    phases.imu(ms(t_ms))
    phases.heartbeat(Heartbeat(t_ns=ms(t_ms), armed=True))
    phases.step(ms(t_ms), 0)
    assert phases.phase is Phase.WAIT_FOR_START
    return phases


def flying():
    phases = waiting()
    phases.race(status(1250, 4000))
    phases.step(ms(4100), 0)
    assert phases.phase is Phase.FLYING
    return phases


def test_arming_is_asked_for_once_a_second_until_confirmed():
    phases = Phases(PARAMS)
    asked = []
    for t in range(0, 3600, 10):
        if t == 3000:
            phases.heartbeat(Heartbeat(t_ns=ms(t), armed=True))
        if phases.step(ms(t), 0):
            asked.append(t)
    assert asked == [0, 1000, 2000]


def test_armed_without_an_imu_is_not_enough():
    phases = Phases(PARAMS)
    phases.heartbeat(Heartbeat(t_ns=ms(10), armed=True))
    phases.step(ms(20), 0)
    assert phases.phase is Phase.WAIT_FOR_DATA
    phases.imu(ms(30))
    phases.step(ms(30), 0)
    assert phases.phase is Phase.WAIT_FOR_START


def test_a_start_of_an_earlier_race_is_stale():
    # the log of seed 001: boot clock 1157.476 s when the wait began, a start of long ago on the wire
    phases = waiting(1_157_476)
    phases.race(status(1_157_500, 900_000))
    phases.step(ms(1_157_520), 0)
    assert phases.phase is Phase.WAIT_FOR_START
    # the same moment it began to wait is not newer either
    phases.race(status(1_157_750, 1_157_476))
    phases.step(ms(1_157_800), 0)
    assert phases.phase is Phase.WAIT_FOR_START
    # the countdown of this race
    phases.race(status(1_158_000, 1_161_000))
    phases.step(ms(1_160_999), 0)
    assert phases.phase is Phase.WAIT_FOR_START
    phases.step(ms(1_161_020), 0)
    assert phases.phase is Phase.FLYING


def test_a_countdown_that_runs_already_when_it_connects_counts():
    phases = waiting(1000)
    phases.race(status(1010, 2500))
    phases.step(ms(2519), 0)
    assert phases.phase is Phase.WAIT_FOR_START
    phases.step(ms(2520), 0)
    assert phases.phase is Phase.FLYING


def test_no_start_is_no_start():
    phases = waiting()
    for t in range(1000, 9000, 250):
        phases.race(status(t, None))
        phases.step(ms(t), 0)
    assert phases.phase is Phase.WAIT_FOR_START


def test_a_countdown_called_off_is_forgotten():
    phases = waiting()
    phases.race(status(1250, 4000))
    phases.race(status(1500, None))
    phases.step(ms(5000), 0)
    assert phases.phase is Phase.WAIT_FOR_START


def test_a_race_that_is_over_is_not_started_into():
    phases = waiting()
    phases.race(status(1250, 1100, finish_ms=50))
    phases.step(ms(1300), 0)
    assert phases.phase is Phase.WAIT_FOR_START


@given(st.integers(1001, 9000), st.integers(1, 249), st.integers(1, 40))
def test_it_never_leaves_early_and_leaves_within_a_step_of_the_guard(start_ms, offset, step_ms):
    phases = waiting(1000)
    left = None
    for t in range(1000, start_ms + 600, step_ms):
        if (t - offset) // 250 != (t - step_ms - offset) // 250:
            phases.race(status(t, start_ms))
        phases.step(ms(t), 0)
        if phases.phase is Phase.FLYING:
            left = t
            break
    assert left is not None
    assert left >= start_ms + PARAMS.guard_ms
    assert left <= max(start_ms + PARAMS.guard_ms, 1000 + 250 + step_ms) + step_ms


def test_lost_after_thirty_frames_and_found_again():
    phases = flying()
    phases.step(ms(4200), 30)
    assert phases.phase is Phase.FLYING
    phases.step(ms(4300), 31)
    assert phases.phase is Phase.LOST
    phases.step(ms(4400), 0)
    assert phases.phase is Phase.FLYING


def test_the_finish_ends_it():
    phases = flying()
    phases.race(status(20_000, 4000, finish_ms=15_900, gate=6))
    phases.step(ms(20_010), 0)
    assert phases.phase is Phase.FINISHED
    phases.step(ms(21_000), 100)
    assert phases.phase is Phase.FINISHED


def test_a_vehicle_found_disarmed_starts_over_and_goes_on_in_its_race():
    phases = flying()
    phases.heartbeat(Heartbeat(t_ns=ms(6000), armed=False))
    assert phases.step(ms(6000), 0)
    assert phases.phase is Phase.WAIT_FOR_DATA
    phases.imu(ms(6100))
    phases.heartbeat(Heartbeat(t_ns=ms(6100), armed=True))
    phases.step(ms(6100), 0)
    assert phases.phase is Phase.WAIT_FOR_START
    phases.race(status(6250, 4000))
    phases.step(ms(6250), 0)
    assert phases.phase is Phase.FLYING


def test_once_its_race_is_gone_the_old_start_is_stale():
    phases = flying()
    phases.heartbeat(Heartbeat(t_ns=ms(6000), armed=False))
    phases.step(ms(6000), 0)
    phases.imu(ms(6100))
    phases.heartbeat(Heartbeat(t_ns=ms(6100), armed=True))
    phases.step(ms(6100), 0)
    phases.race(status(6250, None))
    phases.race(status(6500, 4000))
    phases.step(ms(6500), 0)
    assert phases.phase is Phase.WAIT_FOR_START


@pytest.mark.parametrize("phase", [Phase.WAIT_FOR_DATA, Phase.WAIT_FOR_START])
def test_motors_are_for_flight_only(phase):
    phases = Phases(PARAMS) if phase is Phase.WAIT_FOR_DATA else waiting()
    assert phases.phase is phase
    assert not phases.flying
    assert flying().flying

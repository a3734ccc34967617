"""The referee: a pure fold over consecutive states of one vehicle, in order of time.

A gate is passed when the straight line between two states crosses its plane forwards inside the
opening; place and time of the crossing come from that line, so no step is too long and several
gates may fall in one. Gates count in order. Moving or pushing during the countdown disqualifies.
Leaving the flight volume sends the vehicle back to the start: it has to take all gates again while
the clock runs on. Times are on the boot clock in integer ns; a race starts at `start_ns` and what is
counted from there says so. Source: spec aigp.md 1.5 (race status), 4.5 (rules).
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

from racewire.core.clock import NS_PER_MS, Nanos, nanos, seconds
from racewire.core.frames import Ned, Vec
from racewire.core.messages import RaceStatus
from racewire.race.events import (
    Collided,
    Disqualified,
    Finished,
    GateMissed,
    GatePassed,
    OutOfBounds,
    RaceEvent,
    Started,
    TimedOut,
)
from racewire.race.geometry import RaceGeometry
from racewire.race.rules import Rules


class Phase(enum.Enum):
    """Where a race stands. The last three stay until the race is reset."""

    WAITING = "waiting"
    COUNTDOWN = "countdown"
    RACING = "racing"
    FINISHED = "finished"
    DISQUALIFIED = "disqualified"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class Sample:
    """One state of the vehicle: time on the boot clock, centre (m), commanded collective thrust 0 to 1."""

    t_ns: Nanos
    position: Vec[Ned]
    thrust: float = 0.0


@dataclass(frozen=True, slots=True)
class Touch:
    """Contact during a step: the gate's index, or None for the environment; impulse (kg m/s)."""

    gate: int | None
    impulse: float


@dataclass(frozen=True, slots=True)
class RaceState:
    """A race so far; the default is one that waits.

    `start_ns` is GO on the boot clock. `last_gate_ns` and `finish_ns` are counted from GO.
    `contact_ns` is when the vehicle last touched anything.
    """

    phase: Phase = Phase.WAITING
    start_ns: Nanos | None = None
    gates_passed: int = 0
    last_gate_ns: Nanos | None = None
    finish_ns: Nanos | None = None
    collisions: int = 0
    contact_ns: Nanos | None = None
    outside: bool = False
    reason: str = ""

    @property
    def over(self) -> bool:
        """Whether the race has ended, one way or another."""
        return self.phase in (Phase.FINISHED, Phase.DISQUALIFIED, Phase.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a race; `race_time_s` is None unless it finished, `reason` says why it did not."""

    finished: bool
    gates_passed: int
    gates_total: int
    race_time_s: float | None
    disqualified: bool
    reason: str
    collisions: int


def start_countdown(state: RaceState, now: Nanos, rules: Rules) -> RaceState:
    """Return the race that counts down from `now`.

    Raises
    ------
    ValueError
        If `state` does not wait: a race is reset (to a new `RaceState`) before it starts again.
    """
    if state.phase is not Phase.WAITING:
        message = f"cannot start a race that is {state.phase.value}: reset it first"
        raise ValueError(message)
    return RaceState(Phase.COUNTDOWN, start_ns=now + nanos(rules.countdown_s))


def judge(
    state: RaceState,
    course: RaceGeometry,
    rules: Rules,
    before: Sample,
    after: Sample,
    touches: Sequence[Touch] = (),
) -> tuple[RaceState, tuple[RaceEvent, ...]]:
    """Return the race after one step of the vehicle, and what happened in it.

    Parameters
    ----------
    state
        The race before the step. It comes back itself where nothing changed.
    course, rules
        The course and what counts.
    before, after
        The vehicle at the step's ends, `before` not later. Where the vehicle was put back to the start in
        between, `before` is the state after that.
    touches
        What the vehicle touched in the step.
    """
    events: list[RaceEvent] = []
    if touches:
        state = _touched(state, course, rules, after, touches, events)
    if state.phase is Phase.COUNTDOWN:
        state = _count_down(state, course, rules, after, events)
    if state.phase is Phase.RACING:
        state = _race(state, course, rules, before, after, events)
    return state, tuple(events)


def status(state: RaceState, now: Nanos) -> RaceStatus:
    """Return the race as the pilot is told, at `now`."""
    return RaceStatus(
        t_ns=now,
        start_ns=state.start_ns,
        finish_ns=state.finish_ns,
        active_gate=state.gates_passed,
        last_gate_ns=state.last_gate_ns,
    )


def verdict(state: RaceState, course: RaceGeometry) -> Verdict:
    """Return the result of the race as it stands."""
    return Verdict(
        finished=state.phase is Phase.FINISHED,
        gates_passed=state.gates_passed,
        gates_total=len(course.planes),
        race_time_s=None if state.finish_ns is None else seconds(state.finish_ns),
        disqualified=state.phase is Phase.DISQUALIFIED,
        reason=state.reason,
        collisions=state.collisions,
    )


def _touched(
    state: RaceState,
    course: RaceGeometry,
    rules: Rules,
    after: Sample,
    touches: Sequence[Touch],
    events: list[RaceEvent],
) -> RaceState:
    """Report every contact; count one collision for contacts that follow one another closely."""
    events += [Collided(after.t_ns, touch.gate, touch.impulse) for touch in touches]
    last = state.contact_ns
    fresh = last is None or after.t_ns - last > nanos(rules.contact_gap_s)
    on_pad = (after.position - course.pad).norm() < rules.pad_zone
    counts = fresh and not on_pad and state.phase is Phase.RACING
    return replace(state, contact_ns=after.t_ns, collisions=state.collisions + counts)


def _count_down(
    state: RaceState, course: RaceGeometry, rules: Rules, after: Sample, events: list[RaceEvent]
) -> RaceState:
    start = state.start_ns
    assert start is not None
    if after.t_ns >= start:
        events.append(Started(start))
        return replace(state, phase=Phase.RACING)
    moved = (after.position - course.pad).norm() > rules.early_distance
    if moved or after.thrust > rules.early_thrust:
        reason = f"Early Start {(start - after.t_ns) // NS_PER_MS} ms"
        events.append(Disqualified(after.t_ns, reason))
        return replace(state, phase=Phase.DISQUALIFIED, reason=reason)
    return state


def _race(
    state: RaceState,
    course: RaceGeometry,
    rules: Rules,
    before: Sample,
    after: Sample,
    events: list[RaceEvent],
) -> RaceState:
    start = state.start_ns
    assert start is not None
    deadline = start + course.limit_ns
    if before.t_ns < start:
        before = _between(before, after, start)
    if after.t_ns > deadline:
        state = _fly(state, course, rules, before, _between(before, after, deadline), events)
    else:
        state = _fly(state, course, rules, before, after, events)
    if state.phase is Phase.RACING and after.t_ns >= deadline:
        events.append(TimedOut(deadline))
        reason = f"Time limit {seconds(course.limit_ns):g} s"
        return replace(state, phase=Phase.TIMED_OUT, reason=reason)
    return state


def _fly(
    state: RaceState,
    course: RaceGeometry,
    rules: Rules,
    before: Sample,
    after: Sample,
    events: list[RaceEvent],
) -> RaceState:
    """Judge a step that lies wholly within the race."""
    start, passed, last = state.start_ns or 0, state.gates_passed, state.last_gate_ns
    while passed < len(course.planes):
        plane = course.planes[passed]
        near, far = plane.ahead(before.position), plane.ahead(after.position)
        if not near < 0.0 <= far:
            break
        t_ns = before.t_ns + round((after.t_ns - before.t_ns) * (near / (near - far)))
        at = before.position + (after.position - before.position) * (near / (near - far))
        right, down = plane.right(at), plane.down(at)
        if max(abs(right), abs(down)) > plane.half - rules.opening_margin:
            events.append(GateMissed(t_ns, passed, right, down))
            break
        last = t_ns - start
        events.append(GatePassed(t_ns, passed, last, right, down))
        passed += 1
        before = Sample(t_ns, at, before.thrust)
    if passed == len(course.planes):
        assert last is not None
        events.append(Finished(start + last, last))
        return replace(state, phase=Phase.FINISHED, gates_passed=passed, last_gate_ns=last, finish_ns=last)
    outside = not course.inside(after.position)
    if outside and not state.outside:
        events.append(OutOfBounds(after.t_ns))
        return replace(state, gates_passed=0, last_gate_ns=None, outside=True)
    if passed != state.gates_passed or outside != state.outside:
        return replace(state, gates_passed=passed, last_gate_ns=last, outside=outside)
    return state


def _between(before: Sample, after: Sample, t_ns: Nanos) -> Sample:
    """Return the state at `t_ns` on the line between two others."""
    share = (t_ns - before.t_ns) / (after.t_ns - before.t_ns)
    return Sample(t_ns, before.position + (after.position - before.position) * share, after.thrust)

"""A session's lives repeat; its clock pauses, steps and starts over."""

import time

import pytest
from pymavlink.dialects.v20 import common

from racewire.core.frames import Vec
from racewire.core.messages import Arm, RateCommand
from racewire.run.assembly import load_world, make_darkroom, make_simulator, make_wire
from racewire.run.camera import InlineCamera
from racewire.run.conditions import load_conditions, simulated_links
from racewire.run.linked import LinkedNode
from racewire.run.record import RunHash
from racewire.run.session import Life, Session
from racewire.run.sim_node import SimNode
from racewire.sim.simulator import RaceStart
from racewire.wires import WIRES
from racewire.wires.base import Role

UNIX = 1_780_000_000_000_000_000
MS = 1_000_000
S = 1000 * MS


def unused(_stage, _duration):
    pass


@pytest.fixture(scope="module")
def world():
    return load_world("vq1", "3364-vq1", "aigp", None)


@pytest.fixture(scope="module")
def develop(world):
    return make_darkroom(world, unused)


@pytest.fixture
def session(world, develop):
    return make_session(world, develop)


def make_session(world, develop, faults=None, **options):
    conditions = load_conditions(faults)  # by default noise, latency and loss: all that must repeat

    def begin(unix_ns):
        run_hash = RunHash()
        sim = SimNode(
            make_simulator(world, conditions, RaceStart(), 5),
            make_wire(world, Role.SIM, unix_ns),
            InlineCamera(develop, 0),
            [run_hash],
            timed=unused,
            frames=conditions.frames,
            run_seed=5,
        )
        down, up = simulated_links(conditions, [port.channel for port in WIRES["aigp"].ports], 5)
        return Life(sim, LinkedNode(sim, down, up), run_hash)

    return Session(begin, UNIX, **options)


class Script:
    """A pilot that sends the same bytes at the same boot times, in every life."""

    def __init__(self, world):
        self.wire = make_wire(world, Role.PILOT)

    def fly(self, session, until):
        """Arm at 0.2 s, take off at GO, through the first gate's frame; return what the session sent."""
        sent = []
        for t in range(0, until, 20 * MS):
            messages = [Arm(t_ns=t, arm=True)] if t == 200 * MS else []
            racing = t >= 4300 * MS
            rates = Vec(0.0, -0.3 if racing and t < 5000 * MS else 0.0, 0.0)
            messages.append(RateCommand(t_ns=t, thrust=0.4 if racing else 0.0, rates=rates))
            for message in messages:
                for channel, data in self.wire.send(message, t):
                    sent += session.receive(channel, data, 0)
            session.step(20 * MS)
            sent += session.wake(0)
        return sent


ENDS = {"in contact": 7 * S, "in the race": 5 * S, "in the countdown": 2 * S, "on the pad": 20 * MS}


@pytest.fixture(scope="module")
def fresh(world, develop):
    """Return what the script's first 5 s are in a session that has just begun."""
    session = make_session(world, develop, simulated=True)
    return Script(world).fly(session, 5 * S), session.life.hash.hexdigest()


@pytest.mark.parametrize("end_ns", ENDS.values(), ids=ENDS.keys())
def test_a_life_after_another_is_as_the_first(world, develop, fresh, end_ns):
    session = make_session(world, develop, simulated=True)
    Script(world).fly(session, end_ns)
    session.restart(0)
    assert Script(world).fly(session, 5 * S) == fresh[0]
    assert session.life.hash.hexdigest() == fresh[1]
    assert session.lives == 2


def test_time_stands_still_while_paused_and_the_pilot_is_answered(world, develop):
    session = make_session(world, develop, "none")
    session.wake(S)
    session.pause(S)
    assert session.due() is None
    assert session.boot(9 * S) == S
    mav = common.MAVLink(None)
    session.receive("mavlink", common.MAVLink_timesync_message(77, 0).pack(mav), 5 * S)
    assert session.due() <= 9 * S
    (reply,) = (mav.decode(bytearray(data)) for _, data in session.wake(9 * S))
    assert (reply.tc1, reply.ts1) == (UNIX + S, 77)
    session.resume(10 * S)
    assert session.boot(10 * S) == S
    assert 10 * S < session.due() < 10 * S + S // 50


def test_a_step_needs_a_pause(session):
    with pytest.raises(ValueError, match="pause first"):
        session.step(MS)


def test_a_step_sends_what_running_on_would(world, develop):
    running, stepped = make_session(world, develop), make_session(world, develop)
    expected = []
    while running.due() <= S:
        expected += running.wake(running.due())
    stepped.pause(0)
    stepped.step(300 * MS)
    stepped.step(700 * MS)
    assert stepped.wake(0) == expected


def unix_times(session, times):
    """Return the UNIX times that TIMESYNC shows at the loop's `times`."""
    mav = common.MAVLink(None)
    shown = []
    for t in times:
        while session.due() is not None and session.due() <= t:
            session.wake(session.due())
        session.receive("mavlink", common.MAVLink_timesync_message(t + 1, 0).pack(mav), t)
        heard = []
        while not heard:
            heard = [mav.decode(bytearray(d)) for c, d in session.wake(session.due()) if c == "mavlink"]
            heard = [m for m in heard if m.get_type() == "TIMESYNC"]
        shown.append(heard[0].tc1)
    return shown


def test_the_unix_clock_never_goes_back_with_the_hosts_or_with_a_new_life(session, monkeypatch):
    before = unix_times(session, [MS, 100 * MS])
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    session.restart(S)
    after = unix_times(session, [S + MS, S + 100 * MS])
    assert sorted([*before, *after]) == [*before, *after]
    assert after[1] - before[0] == pytest.approx(S + 99 * MS, abs=5 * MS)

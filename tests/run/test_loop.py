"""The real-time loop over real sockets; where time itself is the point, the clock is a counter."""

import socket
from itertools import pairwise
from types import SimpleNamespace

import pytest

from racewire.run import loop as loop_module
from racewire.run.loop import STALL_NS, Endpoint, Loop
from racewire.run.sockets import Port, UdpChannel

MS = 10**6
S = 10**9
HERE = "127.0.0.1"


@pytest.fixture
def pair():
    """Return the channels of a simulator and a pilot that speak to one another over UDP."""
    pilot = UdpChannel(Port("a", (HERE, 0), None, follow=True), "pilot")
    sim = UdpChannel(Port("a", (HERE, 0), (HERE, pilot.socket.getsockname()[1])), "simulator")
    yield {"a": sim}, {"a": pilot}
    sim.close()
    pilot.close()


@pytest.fixture
def clock(monkeypatch):
    """Replace the machine's clock by one that goes on 5 ms at each look, and jumps as told."""
    state = SimpleNamespace(now=1_000 * S, step=5 * MS, jumps={}, looks=0)

    def look():
        state.looks += 1
        state.now += state.step + state.jumps.pop(state.looks, 0)
        return state.now

    monkeypatch.setattr(loop_module, "time", SimpleNamespace(perf_counter_ns=look))
    return state


@pytest.fixture
def busy():
    """Return a socket that is always readable, so that no wait takes long."""
    ours, theirs = socket.socketpair()
    theirs.send(b"!")
    yield ours
    ours.close()
    theirs.close()


def test_two_ends_speak_over_udp(toy, pair):
    log = []
    sim = toy("sim", log, [0, 20 * MS], {0: [b"one", b"two"], b"re: two": [b"over"]})
    pilot = toy("pilot", log, [30 * MS], {b"one": [b"re: one"], b"two": [b"re: two"]})
    loop = Loop([Endpoint(sim, pair[0]), Endpoint(pilot, pair[1])])
    loop.run(lambda now: now > 10 * S or len(log) == 8)
    loop.close()
    heard = {
        end: [said for _, name, said in log if name == end and said != "wake"] for end in ("sim", "pilot")
    }
    assert heard == {"sim": [b"re: one", b"re: two"], "pilot": [b"one", b"two", b"over"]}
    stamps = [now for now, _, _ in log]
    assert stamps == sorted(stamps)


def test_a_node_is_woken_when_it_is_due_not_before(toy, pair):
    log = []
    times = [0, 15 * MS, 40 * MS, 41 * MS]
    loop = Loop([Endpoint(toy("sim", log, times), pair[0])])
    loop.run(lambda now: now > 10 * S or len(log) == 4)
    loop.close()
    assert len(log) == 4
    assert all(now >= due for (now, _, _), due in zip(log, times, strict=True))


def test_its_clock_starts_at_zero_and_follows_the_machines(toy, pair, clock, busy):
    loop = Loop([Endpoint(toy("sim", []), pair[0])])
    loop.watch(busy)
    assert loop.now == 0
    seen = []
    loop.run(lambda now: seen.append(now) or now > S)
    loop.close()
    assert seen[0] == clock.step
    assert all(0 < b - a <= 4 * clock.step for a, b in pairwise(seen))
    assert loop.stalls == 0


@pytest.mark.parametrize("stall", [STALL_NS + 100 * MS, 3 * S, 3600 * S])
def test_a_stall_is_taken_out_of_the_clock_and_brings_no_burst(toy, pair, clock, busy, stall):
    log = []
    times = [k * 100 * MS for k in range(1, 20)]
    loop = Loop([Endpoint(toy("sim", log, times), pair[0])])
    loop.watch(busy)
    clock.jumps[150] = stall
    seen = []
    loop.run(lambda now: seen.append(now) or not log or len(log) == 19)
    seen.clear()
    loop.run(lambda now: seen.append(now) or now > 100 * S or len(log) == 19)
    loop.close()
    assert loop.stalls == 1
    woken = [now for now, _, _ in log]
    assert all(now - due < 50 * MS for now, due in zip(woken, times, strict=True))
    assert all(b - a <= 50 * MS for a, b in pairwise(seen))


def test_a_short_hiccup_is_time_that_has_passed(toy, pair, clock, busy):
    loop = Loop([Endpoint(toy("sim", []), pair[0])])
    loop.watch(busy)
    clock.jumps[20] = 100 * MS
    began = clock.now
    loop.run(lambda now: now > S)
    loop.close()
    assert loop.stalls == 0
    assert loop.now == pytest.approx(clock.now - began, abs=5 * clock.step)


def test_a_bell_wakes_it_long_before_anything_is_due(toy, pair, busy):
    log = []
    rung = []
    loop = Loop([Endpoint(toy("sim", log, [3600 * S]), pair[0])])
    loop.watch(busy, rung.append)
    loop.run(lambda _: len(rung) == 3)
    loop.forget(busy)
    turns = iter(range(3))
    loop.run(lambda _: next(turns) == 2)
    loop.close()
    assert len(rung) == 3
    assert log == []


def test_a_peer_that_is_not_there_stops_nothing(toy):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
        gone.bind((HERE, 0))
        nobody = gone.getsockname()
    channel = UdpChannel(Port("a", (HERE, 0), nobody), "simulator")
    log = []
    times = [k * MS for k in range(20)]
    loop = Loop([Endpoint(toy("sim", log, times, {t: [b"x"] for t in times}), {"a": channel})])
    loop.run(lambda now: now > 10 * S or len(log) == 20)
    loop.close()
    channel.close()
    assert len(log) == 20

"""Lockstep: which event comes when, with toy nodes."""

from racewire.run.link import LinkConfig, SimulatedLink
from racewire.run.lockstep import Lockstep

MS = 10**6


def links(config=None):
    return {"a": SimulatedLink(config or LinkConfig(), 0, "test")}


def fly(simulator, pilot, until=10**9, down=None, up=None):
    loop = Lockstep(simulator, pilot, down or links(), up or links())
    loop.run(lambda now: now >= until)
    return loop


def test_events_come_in_order_of_time(toy):
    log = []
    sim = toy("sim", log, [0, 7, 30], {7: [b"x"]})
    pilot = toy("pilot", log, [3, 20], {b"x": [b"y"]})
    loop = fly(sim, pilot, down=links(LinkConfig(latency_ms=10e-6)), up=links(LinkConfig(latency_ms=5e-6)))
    assert log == [
        (0, "sim", "wake"),
        (3, "pilot", "wake"),
        (7, "sim", "wake"),
        (17, "pilot", b"x"),
        (20, "pilot", "wake"),
        (22, "sim", b"y"),
        (30, "sim", "wake"),
    ]
    assert loop.now == 30


def test_at_one_time_deliveries_come_first_then_the_simulator_then_the_pilot(toy):
    log = []
    sim = toy("sim", log, [0, 10], {0: [b"one"], 10: [b"two"]})
    pilot = toy("pilot", log, [10], {b"one": [b"reply"]})
    fly(sim, pilot, down=links(LinkConfig(latency_ms=10e-6)))
    assert log == [
        (0, "sim", "wake"),
        (10, "pilot", b"one"),
        (10, "sim", b"reply"),
        (10, "sim", "wake"),
        (10, "pilot", "wake"),
        (20, "pilot", b"two"),
    ]


def test_datagrams_that_arrive_together_keep_the_order_they_were_sent_in(toy):
    log = []
    many = [bytes([k]) for k in range(20)]
    fly(toy("sim", log, [0], {0: many}), toy("pilot", log))
    assert [said for _, _, said in log[1:]] == many


def test_each_way_has_its_links(toy):
    log = []
    sim = toy("sim", log, [0], {0: [b"x"]})
    pilot = toy("pilot", log, says={b"x": [b"y"]})
    fly(sim, pilot, down=links(LinkConfig(latency_ms=1.0)), up=links(LinkConfig(latency_ms=2.0)))
    assert log == [(0, "sim", "wake"), (MS, "pilot", b"x"), (3 * MS, "sim", b"y")]


def test_what_a_link_loses_never_arrives_and_what_it_doubles_comes_twice(toy):
    log = []
    sim = toy("sim", log, [0], {0: [b"x"]})
    fly(sim, toy("pilot", log), down=links(LinkConfig(loss=1.0)))
    assert log == [(0, "sim", "wake")]
    log.clear()
    fly(toy("sim", log, [0], {0: [b"x"]}), toy("pilot", log), down=links(LinkConfig(duplicate=1.0)))
    assert log == [(0, "sim", "wake"), (0, "pilot", b"x"), (0, "pilot", b"x")]


def test_time_never_goes_back_for_a_wake_up_that_is_past(toy):
    log = []
    sim = toy("sim", log, [50, 20, 60])
    fly(sim, toy("pilot", log))
    assert [now for now, _, _ in log] == [50, 50, 60]


def test_it_ends_when_told_to_or_when_nothing_will_ever_happen(toy):
    log = []
    loop = fly(toy("sim", log, [1, 2, 3, 4]), toy("pilot", log), until=3)
    assert loop.now == 3
    assert [now for now, _, _ in log] == [1, 2, 3]
    loop = fly(toy("sim", log), toy("pilot", log))
    assert loop.now == 0


def test_done_is_asked_after_every_event(toy):
    log, asked = [], []
    loop = Lockstep(toy("sim", log, [1, 2]), toy("pilot", log, [2]), links(), links())
    loop.run(lambda now: asked.append(now) or False)
    assert asked == [0, 1, 2, 2]

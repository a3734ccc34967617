"""A node behind links, for real time: nothing arrives before its link lets it."""

from racewire.run.link import LinkConfig, SimulatedLink
from racewire.run.linked import LinkedNode
from racewire.wires.base import Datagram

MS = 10**6


def links(**config):
    return {"a": SimulatedLink(LinkConfig(**config), 0, "test")}


def test_without_latency_it_is_the_node_itself(toy):
    log = []
    node = LinkedNode(toy("n", log, [5], {5: [b"x"], b"in": [b"out"]}), links(), links())
    assert node.due() == 5
    assert node.wake(5) == [Datagram("a", b"x")]
    assert node.receive("a", b"in", 6) == [Datagram("a", b"out")]
    assert node.due() is None
    assert log == [(5, "n", "wake"), (6, "n", b"in")]


def test_what_it_sends_waits_for_the_link(toy):
    node = LinkedNode(toy("n", [], [5], {5: [b"x"]}), links(latency_ms=2.0), links())
    assert node.wake(5) == []
    assert node.due() == 5 + 2 * MS
    assert node.wake(4 + 2 * MS) == []
    assert node.wake(5 + 2 * MS) == [Datagram("a", b"x")]
    assert node.due() is None


def test_what_it_receives_waits_too_and_its_answer_once_more(toy):
    log = []
    node = LinkedNode(toy("n", log, says={b"in": [b"out"]}), links(latency_ms=2.0), links(latency_ms=3.0))
    assert node.receive("a", b"in", 0) == []
    assert log == []
    assert node.due() == 3 * MS
    assert node.wake(3 * MS) == []
    assert log == [(3 * MS, "n", b"in")]
    assert node.due() == 5 * MS
    assert node.wake(5 * MS) == [Datagram("a", b"out")]


def test_a_late_wake_up_brings_everything_that_is_due_in_order(toy):
    log = []
    node = LinkedNode(toy("n", log), links(), links(latency_ms=1.0))
    for k in range(5):
        node.receive("a", bytes([k]), k)
    node.wake(10 * MS)
    assert [said for _, _, said in log] == [bytes([k]) for k in range(5)]
    assert {now for now, _, _ in log} == {10 * MS}


def test_lost_is_lost(toy):
    log = []
    node = LinkedNode(toy("n", log, [5], {5: [b"x"]}), links(loss=1.0), links(loss=1.0))
    assert node.wake(5) == []
    assert node.receive("a", b"in", 6) == []
    assert node.due() is None
    assert log == [(5, "n", "wake")]


def test_the_node_is_not_woken_before_it_is_due(toy):
    log = []
    node = LinkedNode(toy("n", log, [50]), links(latency_ms=1e-5), links())
    node.wake(20)
    assert log == []
    assert node.due() == 50

"""Simulated links: what arrives, when, how often, in which order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.run.link import LinkConfig, SimulatedLink

MS = 10**6


def run(config, seed=0, count=5000, every=MS, name="down/video"):
    """Send `count` datagrams, one every `every` ns; return (sent at, arrivals) of each."""
    link = SimulatedLink(config, seed, name)
    return [(k * every, link.arrivals(k * every)) for k in range(count)]


def test_a_clean_link_delivers_at_once_and_once():
    assert all(arrivals == [at] for at, arrivals in run(LinkConfig()))


def test_latency_is_added_exactly():
    assert all(arrivals == [at + 20_500_000] for at, arrivals in run(LinkConfig(latency_ms=20.5)))


def test_jitter_is_uniform_on_top_of_the_latency():
    late = [(a[0] - at) / MS for at, a in run(LinkConfig(latency_ms=5.0, jitter_ms=2.0), every=10 * MS)]
    assert min(late) >= 5.0
    assert max(late) <= 7.0
    assert np.mean(late) == pytest.approx(6.0, abs=0.05)
    assert np.std(late) == pytest.approx(2.0 / np.sqrt(12.0), rel=0.05)


@given(st.floats(0.0, 30.0), st.floats(0.0, 50.0), st.integers(0, 5), st.integers(1, 20 * MS))
def test_jitter_keeps_the_order(latency, jitter, seed, every):
    config = LinkConfig(latency_ms=latency, jitter_ms=jitter)
    sent = run(config, seed, 200, every)
    arrivals = [a[0] for _, a in sent]
    assert arrivals == sorted(arrivals)
    assert all(a >= at + round(latency * MS) for (at, _), a in zip(sent, arrivals, strict=True))


@pytest.mark.parametrize("rate", [0.02, 0.3])
def test_the_configured_share_is_lost_and_counted(rate):
    link = SimulatedLink(LinkConfig(loss=rate), 0, "up/mavlink")
    arrived = [link.arrivals(k) for k in range(20_000)]
    lost = arrived.count([])
    assert lost == pytest.approx(rate * 20_000, abs=4.0 * np.sqrt(20_000 * rate * (1.0 - rate)))
    assert (link.sent, link.lost) == (20_000, lost)


def test_losses_are_independent():
    lost = np.array([not a for _, a in run(LinkConfig(loss=0.3), count=20_000)], float)
    assert abs(np.corrcoef(lost[1:], lost[:-1])[0, 1]) < 0.03


def test_everything_is_lost_at_one():
    assert all(arrivals == [] for _, arrivals in run(LinkConfig(loss=1.0)))


def test_the_configured_share_comes_twice():
    sent = run(LinkConfig(duplicate=0.1, latency_ms=3.0), count=20_000)
    assert sum(len(a) == 2 for _, a in sent) == pytest.approx(2000, abs=170)
    assert all(set(a) == {at + 3 * MS} for at, a in sent)


def test_held_back_datagrams_are_overtaken_and_the_others_keep_their_order():
    sent = run(LinkConfig(reorder=0.1, reorder_hold_ms=5.0, latency_ms=1.0), count=20_000)
    held = [at for at, a in sent if a[0] - at == 6 * MS]
    prompt = [a[0] for at, a in sent if a[0] - at == MS]
    assert len(held) + len(prompt) == 20_000
    assert len(held) == pytest.approx(2000, abs=170)
    assert prompt == sorted(prompt)
    order = sorted(range(20_000), key=lambda k: sent[k][1][0])
    assert order != list(range(20_000))


def test_a_held_back_datagram_does_not_hold_back_the_next():
    sent = run(LinkConfig(reorder=0.5, reorder_hold_ms=50.0), count=200)
    assert {a[0] - at for at, a in sent} == {0, 50 * MS}


def test_same_seed_and_name_same_fate_another_of_either_another():
    config = LinkConfig(latency_ms=1.0, jitter_ms=5.0, loss=0.1, duplicate=0.1, reorder=0.1)
    assert run(config) == run(config)
    assert run(config) != run(config, seed=1)
    assert run(config) != run(config, name="up/video")


def test_switching_one_fault_off_leaves_the_draws_of_the_others_alone():
    whole = run(LinkConfig(jitter_ms=5.0, loss=0.1, duplicate=0.1))
    calm = run(LinkConfig(loss=0.1, duplicate=0.1))
    assert [len(a) for _, a in whole] == [len(a) for _, a in calm]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"loss": 1.1}, "loss must be a probability, 0 to 1, not 1.1"),
        ({"duplicate": -0.1}, "duplicate must be a probability"),
        ({"reorder": 2.0}, "reorder must be a probability"),
        ({"latency_ms": -1.0}, "latency_ms must not be negative"),
        ({"jitter_ms": -1.0}, "jitter_ms must not be negative"),
        ({"reorder_hold_ms": -1.0}, "reorder_hold_ms must not be negative"),
    ],
)
def test_a_value_out_of_range_is_refused(values, says):
    with pytest.raises(ValueError, match=says):
        LinkConfig(**values)

import numpy as np
import pytest

from racewire.core.budget import Budget
from racewire.core.clock import NS_PER_MS


def test_every_configured_stage_is_reported_measured_or_not():
    budget = Budget({"render": 4.0, "never": 1.0})
    budget.add("render", 3 * NS_PER_MS)
    report = budget.report()
    assert set(report) == {"render", "never"}
    assert report["never"]["samples"] == 0
    assert report["never"]["mean"] == 0.0


def test_last_mean_worst_and_misses_accumulate():
    budget = Budget({"render": 4.0})
    for ms in (2, 6, 4):
        budget.add("render", ms * NS_PER_MS)
    report = budget.report()["render"]
    assert (report["last"], report["mean"], report["worst"]) == (4.0, 4.0, 6.0)
    assert report["misses"] == 1  # 4 ms is within the limit, 6 is not


def test_p99_is_within_two_percent():
    budget = Budget({"stage": 1.0})
    durations = np.random.default_rng(1).lognormal(15.0, 0.5, 5000).astype(int)
    for duration in durations.tolist():
        budget.add("stage", duration)
    exact = float(np.percentile(durations, 99.0)) / NS_PER_MS
    assert budget.report()["stage"]["p99"] == pytest.approx(exact, rel=0.025)


def test_extreme_durations_are_counted():
    budget = Budget({"stage": 1.0})
    budget.add("stage", 0)
    budget.add("stage", 10**15)
    assert budget.report()["stage"]["samples"] == 2


def test_an_unknown_stage_is_our_bug():
    with pytest.raises(KeyError):
        Budget({"a": 1.0}).add("b", 1)

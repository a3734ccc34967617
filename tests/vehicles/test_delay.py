import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.vehicles.delay import SLOTS, due, empty_line, line_size, push, take

DELAY = 15e6
BASE = 3


def line(values=(0.0,)):
    return np.concatenate((np.full(BASE, 7.0), empty_line(values), np.full(2, 9.0)))


def drain(vector, width=1):
    out = []
    while due(vector, BASE) < math.inf:
        when = due(vector, BASE)
        first = take(vector, BASE, width, DELAY)
        out.append((when, tuple(vector[first : first + width])))
    return out


def test_a_command_acts_after_the_delay():
    vector = line()
    assert due(vector, BASE) == math.inf
    push(vector, BASE, 4e6, DELAY, (0.5,))
    assert drain(vector) == [(19e6, (0.5,))]


def test_a_held_command_makes_no_entry():
    vector = line((0.25,))
    push(vector, BASE, 1e6, DELAY, (0.25,))
    assert due(vector, BASE) == math.inf
    push(vector, BASE, 2e6, DELAY, (0.5,))
    push(vector, BASE, 9e6, DELAY, (0.5,))
    assert drain(vector) == [(17e6, (0.5,))]


@given(st.integers(1_000_000, 20_000_000), st.integers(1, 60))
def test_changes_a_fifteenth_of_the_delay_apart_all_act_on_time(gap, count):
    vector = line((0.0, 0.0, 0.0))
    seen = []
    for k in range(count):
        now = float(k * gap)
        while due(vector, BASE) < now:  # what a step that ends at `now` has let take effect
            when = due(vector, BASE)
            first = take(vector, BASE, 3, DELAY)
            seen.append((when, tuple(vector[first : first + 3])))
        push(vector, BASE, now, DELAY, (float(k + 1), -float(k), 0.5 * k))
    seen += drain(vector, 3)
    assert seen == [(k * gap + DELAY, (k + 1.0, -float(k), 0.5 * k)) for k in range(count)]


@given(st.lists(st.integers(1, 3_000_000), min_size=1, max_size=200))
def test_faster_changes_act_early_by_less_than_a_fifteenth_and_never_late(gaps):
    vector = line()
    history = [(-math.inf, 0.0)]
    acting = [(-math.inf, 0.0)]
    now = 0.0
    for k, gap in enumerate(gaps):
        while due(vector, BASE) < now:
            when = due(vector, BASE)
            acting.append((when, vector[take(vector, BASE, 1, DELAY)]))
        push(vector, BASE, now, DELAY, (k + 1.0,))
        history.append((now, k + 1.0))
        now += gap
    acting += [(when, values[0]) for when, values in drain(vector)]
    assert acting[-1][1] == history[-1][1]
    given_at = {value: when for when, value in history}
    for when, value in acting[1:]:
        assert -DELAY / (SLOTS - 1) < when - DELAY - given_at[value] <= 0.0


def test_neighbours_in_the_vector_are_left_alone():
    vector = line((0.0, 0.0, 0.0))
    for k in range(100):
        push(vector, BASE, k * 1e6, DELAY, (k + 1.0, 0.0, 0.0))
        while due(vector, BASE) <= k * 1e6:
            take(vector, BASE, 3, DELAY)
    assert vector.size == BASE + line_size(3) + 2
    assert set(vector[:BASE]) == {7.0}
    assert set(vector[-2:]) == {9.0}


def test_without_a_delay_it_acts_at_once():
    vector = line()
    for k in range(40):
        push(vector, BASE, float(k), 0.0, (k + 1.0,))
        assert due(vector, BASE) == k
        assert vector[take(vector, BASE, 1, 0.0)] == pytest.approx(k + 1.0)

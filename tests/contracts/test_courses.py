"""What every course of the registry, and every generated one, must do."""

import itertools

import pytest

from racewire.core.frames import Vec
from racewire.race.events import Finished, GatePassed
from racewire.race.geometry import geometry
from racewire.race.referee import RaceState, Sample, judge, start_countdown, verdict
from racewire.race.rules import load_rules
from racewire.world import COURSES
from racewire.world.checks import faults
from racewire.world.contact import ContactWorld
from racewire.world.course import load_course
from racewire.world.course_file import read_course, save_course

NAMES = [*COURSES, "random:0", "random:1"]
S = 10**9


@pytest.fixture(params=NAMES)
def course(request):
    return load_course(request.param)


def line(course):
    """A flyable polyline: straight into, through and out of every opening."""
    points = [course.pad.position]
    for gate in course.gates:
        points += [gate.centre - gate.forward * 0.5, gate.centre + gate.forward * 0.5]
    return points


def test_it_has_no_fault(course):
    assert list(faults(course)) == []


def test_its_name_is_the_one_it_was_asked_by(request, course):
    assert course.name == request.node.callspec.params["course"]


def test_it_is_saved_and_read_back_bit_for_bit(course, tmp_path):
    save_course(course, tmp_path / "copy.toml")
    assert read_course(tmp_path / "copy.toml") == course


def test_it_is_published_in_flying_order(course):
    track = course.track(5)
    assert track.t_ns == 5
    assert [gate.gate_id for gate in track.gates] == list(range(len(course.gates)))
    for sent, gate in zip(track.gates, course.gates, strict=True):
        assert (sent.position, sent.ned_from_gate) == (gate.published, gate.ned_from_gate)
        assert sent.width == sent.height == 2.72


def test_a_line_through_the_openings_finishes_it(course):
    rules, race = load_rules(), geometry(course)
    state = start_countdown(RaceState(), 0, rules)
    go = state.start_ns or 0
    points = line(course)
    samples = [Sample(go + i * S, point) for i, point in enumerate([points[0], *points])]
    seen = []
    for before, after in itertools.pairwise([Sample(go - S, points[0]), *samples]):
        state, events = judge(state, race, rules, before, after)
        seen += [event for event in events if isinstance(event, GatePassed | Finished)]
    assert [event.gate for event in seen[:-1]] == list(range(len(course.gates)))
    assert verdict(state, race).finished


def test_a_line_through_the_openings_touches_nothing(course):
    world = ContactWorld.of(course, 0.14)
    up = Vec(0.0, 0.0, -0.01)
    for a, b in itertools.pairwise(line(course)):
        for k in range(101):
            assert world.touching(a + (b - a) * (k / 100.0) + up) is None


def test_every_bar_of_every_gate_can_be_hit(course):
    world = ContactWorld.of(course, 0.14)
    for gate in course.gates:
        for side in (Vec(0.0, 1.0, 0.0), Vec(0.0, -1.0, 0.0), Vec(0.0, 0.0, 1.0), Vec(0.0, 0.0, -1.0)):
            contact = world.touching(gate.pose @ (side * 1.05))
            assert contact is not None
            assert contact.gate == gate.gate_id

import math

import pytest

from racewire.core.clock import NS_PER_MS
from racewire.core.frames import Pose, Rot, Vec
from racewire.core.messages import RaceStatus
from racewire.pilots.belief import Belief
from racewire.pilots.gate_map import GateMap, Landmark
from racewire.pilots.progress import Progress
from racewire.sensors.camera import AIGP_CAMERA


class Run:
    """A progress with a map of gates that are simply known, and a body that is moved by hand."""

    def __init__(self, params, *gates):
        self.belief = Belief(params.belief, AIGP_CAMERA)
        self.map = GateMap(params.map, AIGP_CAMERA)
        self.progress = Progress(params.progress)
        self.t_ns = 0
        for i, (x, y, z, yaw_deg) in enumerate(gates):
            pose = Pose(Vec(x, y, z), Rot.from_euler(0.0, 0.0, math.radians(yaw_deg)))
            self.map.gates.append(Landmark(i, self.belief.add_gate(pose), views=10))
            self.know(i, 0.05)

    def know(self, slot, sd):
        """Give a gate's place this standard deviation."""
        at = range(15 + 6 * slot, 18 + 6 * slot)
        self.belief.P[at, at] = sd * sd

    def go(self, *places, velocity=(8.0, 0.0, 0.0)):
        for place in places:
            self.t_ns += 20 * NS_PER_MS
            self.belief.x[4:7], self.belief.x[7:10] = velocity, place
            self.progress.advance(self.belief, self.map, self.t_ns)

    def hear(self, active_gate, after_ms=0):
        self.t_ns += after_ms * NS_PER_MS
        status = RaceStatus(
            t_ns=self.t_ns, start_ns=0, finish_ns=None, active_gate=active_gate, last_gate_ns=None
        )
        self.progress.race(status, self.belief.position)
        self.progress.advance(self.belief, self.map, self.t_ns)

    @property
    def target(self):
        return None if self.progress.target is None else self.progress.target.number


@pytest.fixture
def run(params):
    return lambda *gates: Run(params, *gates)


def test_the_nearest_gate_on_the_way_is_next_and_the_one_behind_it_follows(run):
    r = run((40.0, 3.0, 0.0, 0.0), (20.0, 0.0, 0.0, 0.0), (60.0, 0.0, 0.0, 0.0))
    r.go((0.0, 0.0, 0.0))
    assert r.target == 1
    first, second = r.progress.way(r.belief, r.map)
    assert first.centre.x == pytest.approx(20.0)
    assert second.centre.x == pytest.approx(40.0)


def test_a_gate_seen_once_is_not_flown_to(run):
    r = run((20.0, 0.0, 0.0, 0.0))
    r.map.gates[0].views = 1
    r.go((0.0, 0.0, 0.0))
    assert r.target is None
    assert r.progress.way(r.belief, r.map) == []


def test_a_crossing_inside_counts_and_the_next_is_the_target(run):
    r = run((20.0, 0.0, 0.0, 0.0), (40.0, 0.0, 0.0, 0.0))
    r.go((19.0, 0.1, 0.0), (19.9, 0.3, -0.2))
    assert r.progress.passed == 0
    r.go((20.1, 0.3, -0.2))
    assert r.progress.passed == 1
    assert r.target == 1
    r.go((19.8, 0.0, 0.0), (20.2, 0.0, 0.0))  # a jump of the estimate does not count twice
    assert r.progress.passed == 1


@pytest.mark.parametrize(("y", "z"), [(1.6, 0.0), (0.0, 1.6), (-5.0, 0.0)])
def test_a_crossing_beside_the_frame_does_not_count_and_is_owed(run, y, z):
    r = run((20.0, 0.0, 0.0, 0.0), (40.0, 0.0, 0.0, 0.0))
    r.go((19.0, y, z), (19.9, y, z), (20.1, y, z), (22.0, y, z))
    assert r.progress.passed == 0
    assert r.target == 0


def test_a_crossing_backwards_does_not_count(run):
    r = run((20.0, 0.0, 0.0, 0.0))
    r.go((21.0, 0.0, 0.0), (20.1, 0.0, 0.0), (19.9, 0.0, 0.0))
    assert r.progress.passed == 0


def test_a_crossing_that_is_confirmed_stays(run):
    r = run((20.0, 0.0, 0.0, 0.0), (40.0, 0.0, 0.0, 0.0))
    r.go((19.0, 0.0, 0.0), (20.1, 0.0, 0.0))
    r.hear(0, after_ms=50)  # a status from before the crossing
    r.hear(1, after_ms=300)
    r.hear(1, after_ms=1000)
    assert r.progress.passed == 1
    assert r.target == 1


def test_one_that_is_not_counted_is_flown_at_again(run, params):
    r = run((20.0, 0.0, 0.0, 0.0), (40.0, 0.0, 0.0, 0.0))
    r.go((19.0, 1.0, 0.0), (20.1, 1.0, 0.0), (24.0, 1.0, 0.0))
    assert r.target == 1
    r.hear(0, after_ms=params.progress.confirm_ms + 10)
    assert r.progress.passed == 0
    assert r.target == 0
    assert not r.map.gates[0].reversed


def test_a_clean_crossing_that_is_not_counted_was_backwards(run, params):
    r = run((20.0, 0.0, 0.0, 0.0), (40.0, 0.0, 0.0, 0.0))
    r.go((19.0, 0.1, 0.0), (20.1, 0.1, 0.0), (24.0, 0.1, 0.0))
    r.hear(0, after_ms=params.progress.confirm_ms + 10)
    assert r.target == 0
    (first, *_) = r.progress.way(r.belief, r.map)
    assert first.forward.x == pytest.approx(-1.0)
    # neither way counts: it is another gate's turn
    r.go((21.0, 0.1, 0.0), (19.9, 0.1, 0.0), (16.0, 0.1, 0.0), velocity=(-8.0, 0.0, 0.0))
    r.hear(0, after_ms=params.progress.confirm_ms + 10)
    r.go((16.0, 0.0, 0.0), velocity=(8.0, 0.0, 0.0))
    assert r.target == 1


def test_a_crossing_that_is_not_surely_clean_is_tried_again_the_same_way(run, params):
    r = run((20.0, 0.0, 0.0, 0.0))
    r.know(0, 0.6)
    r.go((19.0, 0.1, 0.0), (20.1, 0.1, 0.0), (24.0, 0.1, 0.0))
    r.hear(0, after_ms=params.progress.confirm_ms + 10)
    assert r.target == 0
    assert not r.map.gates[0].reversed


def test_a_gate_is_given_up_after_a_few_failures(run, params):
    r = run((20.0, 0.0, 0.0, 0.0), (40.0, 0.0, 0.0, 0.0))
    for _ in range(params.progress.most_retries + 1):
        r.go((19.0, 3.0, 0.0), (20.1, 3.0, 0.0))
    assert r.target == 1


def test_a_gate_passed_out_of_turn_is_next_when_its_turn_comes(run, params):
    r = run((20.0, 0.0, 0.0, 0.0), (40.0, 0.0, 0.0, 0.0), (60.0, 0.0, 0.0, 0.0))
    r.map.gates[1].retries, r.map.gates[1].reversed = 2, True
    r.go((19.0, 0.0, 0.0), (20.1, 0.0, 0.0))
    r.hear(1, after_ms=100)
    assert r.target == 1
    assert r.progress.way(r.belief, r.map)[0].forward.x == pytest.approx(1.0)


def test_a_gate_that_the_referee_counted_first_is_passed(run):
    r = run((20.0, 0.0, 0.0, 0.0), (40.0, 0.0, 0.0, 0.0))
    r.go((19.9, 0.2, 0.0))
    r.hear(1)
    assert r.progress.passed == 1
    assert r.target == 1


def test_a_counted_gate_that_is_found_again_is_not_flown_to(run):
    r = run((20.0, 0.0, 0.0, 0.0), (40.0, 0.0, 0.0, 0.0))
    r.go((19.0, 0.0, 0.0), (20.1, 0.0, 0.0))
    r.hear(1, after_ms=200)
    pose = Pose(Vec(20.5, 0.5, 0.0), Rot.from_euler(0.0, 0.0, math.pi))  # seen from behind, a little off
    r.map.gates[:] = [Landmark(7, r.belief.add_gate(pose), views=10)]
    r.go((25.0, 0.0, 0.0))
    assert r.target is None


def test_the_exit_is_along_the_gates_normal(run):
    r = run((20.0, 0.0, 0.0, 30.0))
    r.go((19.0, 0.0, 0.0), (20.5, 0.0, 0.0))
    assert r.progress.passed == 1
    assert r.progress.exit.y == pytest.approx(0.5)
    assert r.target is None


def test_a_race_begun_again_starts_from_nothing(run):
    r = run((20.0, 0.0, 0.0, 0.0))
    r.go((19.0, 0.0, 0.0), (20.5, 0.0, 0.0))
    r.progress.restart()
    assert r.progress.passed == 0
    assert r.progress.exit == Vec(1.0, 0.0, 0.0)

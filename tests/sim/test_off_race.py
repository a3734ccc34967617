"""What happens while no race is on, and when the track is told."""

import pytest

from racewire.core.frames import Vec
from racewire.core.messages import Arm, Collision, LocalPosition, RateCommand, Track
from racewire.race.rules import load_rules
from racewire.run.assembly import load_world, make_simulator
from racewire.run.conditions import Conditions
from racewire.sim.simulator import RaceStart, SimConfig, Simulator
from racewire.vehicles import load_vehicle
from racewire.wires.profile import load_profile
from racewire.world.course import load_course

S = 10**9


ON_ARM = RaceStart()


def simulator(start=ON_ARM, *, pauses=True):
    rates = load_profile("3391-vq1").topic_rates()
    config = SimConfig(rules=load_rules(), rates=rates, start=start, pauses=pauses)
    return Simulator(load_course("vq1"), load_vehicle("racer"), config, 0)


def of(kind, outputs):
    return [output for output in outputs if isinstance(output, kind)]


def test_physics_rests_until_a_race_is_on_and_the_pad_is_flooded_from_then_on():
    sim = simulator()
    waiting = sim.advance(S)
    assert of(Collision, waiting) == []
    assert len(of(LocalPosition, waiting)) == 93
    sim.command(Arm(t_ns=0, arm=True))
    assert len(of(Collision, sim.advance(2 * S))) > 200


def test_after_a_disqualification_telemetry_is_frozen_until_the_reset():
    sim = simulator()
    sim.command(Arm(t_ns=0, arm=True))
    sim.command(RateCommand(t_ns=0, thrust=0.6, rates=Vec(0.0, 2.0, 0.0)))
    sim.advance(S + S // 2)
    assert sim.over
    frozen = of(LocalPosition, sim.advance(3 * S))
    assert len({(p.position, p.velocity) for p in frozen}) == 1
    assert frozen[0].velocity.norm() > 1.0
    assert len({p.t_ns for p in frozen}) == len(frozen)
    sim.reset()
    assert {p.velocity.norm() for p in of(LocalPosition, sim.advance(4 * S))} == {0.0}


def test_physics_that_does_not_pause_lets_it_fly_without_a_race():
    for pauses in (False, True):
        sim = simulator(RaceStart(on_arm=False), pauses=pauses)
        sim.command(Arm(t_ns=0, arm=True))
        sim.command(RateCommand(t_ns=0, thrust=0.6, rates=Vec(0.0, 0.0, 0.0)))
        sim.advance(S)
        assert (sim.speed > 1.0) is not pauses


@pytest.mark.parametrize(
    ("build", "wire", "pauses"),
    [("3364-vq1", "aigp", True), ("general", "aigp", False), (None, "raw", False)],
)
def test_the_builds_pause_and_general_tools_fly(build, wire, pauses):
    world = load_world("vq1", build, wire, None)
    sim = make_simulator(world, Conditions(), RaceStart(on_arm=False), 0)
    sim.command(Arm(t_ns=0, arm=True))
    sim.command(RateCommand(t_ns=0, thrust=0.6, rates=Vec(0.0, 0.0, 0.0)))
    sim.advance(S)
    assert (sim.speed > 1.0) is not pauses


@pytest.mark.parametrize(
    ("start", "told"), [(RaceStart(), 0), (RaceStart(on_arm=False, after_s=2.5), 1.5 * S)]
)
def test_the_track_is_told_once_four_seconds_before_go(start, told):
    sim = simulator(start)
    sim.command(Arm(t_ns=0, arm=True))
    (track,) = of(Track, sim.advance(8 * S))
    assert track.t_ns == told
    assert sim.race.start_ns - track.t_ns == pytest.approx(4 * S, abs=2_000_000)

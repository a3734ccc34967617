"""What names and defaults mean, and the stages of a run."""

from fractions import Fraction

import pytest

from racewire.core.errors import ConfigError
from racewire.run.assembly import (
    LIMITS_MS,
    default_pilot,
    full_budget,
    load_world,
    make_simulator,
    make_wire,
    sim_budget,
)
from racewire.run.conditions import Conditions
from racewire.run.trace import STAGES
from racewire.sim.simulator import RaceStart
from racewire.wires import WIRES
from racewire.wires.base import Role


@pytest.mark.parametrize(
    ("course", "wire", "build", "vehicle", "pilot"),
    [
        ("vq1", "aigp", "3391-vq1", "racer", "gate"),
        ("vq2", "aigp", "3391-vq2", "racer", "gate"),
        ("random:3", "aigp", "3391-vq2", "racer", "gate"),
        ("vq1", "raw", "3391-vq1", "simdrone", "completion"),
    ],
)
def test_defaults_follow_the_course_and_the_wire(course, wire, build, vehicle, pilot):
    world = load_world(course, None, wire, None)
    assert (world.build_name, world.vehicle, world.wire) == (build, vehicle, wire)
    assert default_pilot(wire) == pilot


def test_what_is_named_is_taken():
    world = load_world("vq1", "3364-vq1", "aigp", "simdrone", 12.5)
    assert (world.build_name, world.vehicle, world.course.time_limit_s) == ("3364-vq1", "simdrone", 12.5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("vq9", None, "aigp", None), "no course 'vq9'"),
        (("vq1", "9999", "aigp", None), "no build profile '9999'"),
        (("vq1", None, "smoke", None), "no wire 'smoke'"),
        (("vq1", None, "aigp", None, float("inf")), "--time-limit inf"),
        (("vq1", None, "aigp", None, 0.0), "--time-limit 0"),
    ],
)
def test_what_does_not_exist_is_named(arguments, says):
    with pytest.raises(ConfigError, match=says):
        load_world(*arguments)


def test_an_unknown_vehicle_or_wire_is_named():
    world = load_world("vq1", None, "aigp", "tank")
    with pytest.raises(ConfigError, match="'tank'"):
        make_simulator(world, Conditions(), RaceStart(), 0)
    with pytest.raises(ConfigError, match="no wire 'smoke'"):
        default_pilot("smoke")


@pytest.mark.parametrize("wire", WIRES)
def test_the_simulator_measures_what_the_wire_carries_and_the_truth(wire):
    world = load_world("vq1", None, wire, None)
    simulator = make_simulator(world, Conditions(), RaceStart(), 0)
    rates = simulator._config.rates
    assert rates["truth"] == Fraction(100)
    assert rates["image"] == Fraction(30)
    assert simulator.armed is (wire == "raw")
    assert make_wire(world, Role.SIM).boot_from_local_ns == 0


def test_a_budget_reports_every_stage_measured_or_not():
    budget = full_budget()
    budget.add("render", 4_000_000)
    report = budget.report()
    assert set(report) == set(LIMITS_MS) >= set(STAGES)
    assert (report["render"]["samples"], report["pilot_image"]["samples"]) == (1, 0)
    assert set(sim_budget().report()) == {"physics", "render", "encode"}

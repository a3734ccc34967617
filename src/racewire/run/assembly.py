"""Putting a run together: course, vehicle, wire ends, pilot and budget from their names.

What is named here decides the run; `race`, `sim` and `fly` differ only in which ends they build and
which loop drives them.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from racewire.core.budget import Budget
from racewire.core.clock import Nanos
from racewire.core.errors import ConfigError
from racewire.race.rules import load_rules
from racewire.render.renderer import Renderer
from racewire.run.camera import Bands, darkroom, shrink
from racewire.run.conditions import Conditions
from racewire.run.trace import STAGES
from racewire.sensors.camera import AIGP_CAMERA
from racewire.sim.simulator import Exposure, RaceStart, SimConfig, Simulator
from racewire.vehicles import load_vehicle
from racewire.wires import WIRES
from racewire.wires.base import Role, Wire, WireSetup
from racewire.wires.profile import BuildProfile, load_profile
from racewire.world.course import Course, load_course

LIMITS_MS = {
    "physics": 2.0,
    "render": 8.0,
    "encode": 3.0,
    "pilot_image": 10.0,
    "pilot_tick": 3.0,
    "exposure_to_sent": 20.0,
    "sent_to_pilot": 25.0,
    "pilot_to_command": 15.0,
    "command_to_motors": 5.0,
}
"""The stages of a run and what each may take, ms. The last four are the parts of photon to command."""

assert set(STAGES) < set(LIMITS_MS)

_TRUTH_HZ = 100
_LONGEST_S = 1e6
_SIM_STAGES = ("physics", "render", "encode")
_DEFAULT_BUILD = {"vq1": "3391-vq1"}
_OTHER_BUILD = "3391-vq2"
_DEFAULTS = {"aigp": ("racer", "gate"), "raw": ("simdrone", "completion")}


@dataclass(frozen=True, slots=True)
class World:
    """Everything behind the simulator's end but the wire: the course, the build, and the vehicle's name."""

    course: Course
    build: BuildProfile
    build_name: str
    wire: str
    vehicle: str


def default_pilot(wire: str) -> str:
    """Return the name of the pilot that flies `wire` by default.

    Raises
    ------
    ConfigError
        If there is no such wire.
    """
    _check_wire(wire)
    return _DEFAULTS[wire][1]


def load_world(
    course: str, build: str | None, wire: str, vehicle: str | None, time_limit_s: float | None = None
) -> World:
    """Read what the names say; None takes the default.

    Raises
    ------
    ConfigError
        If one of them does not exist or cannot be used.
    """
    _check_wire(wire)
    name = build or _DEFAULT_BUILD.get(course, _OTHER_BUILD)
    loaded = load_course(course)
    if time_limit_s is not None:
        if not 0.0 < time_limit_s < _LONGEST_S:
            raise ConfigError(f"--time-limit {time_limit_s:g}: must be over 0 and less than {_LONGEST_S:g} s")
        loaded = replace(loaded, time_limit_s=time_limit_s)
    return World(loaded, load_profile(name), name, wire, vehicle or _DEFAULTS[wire][0])


def make_simulator(world: World, conditions: Conditions, start: RaceStart, run_seed: int) -> Simulator:
    """Return the simulator, its vehicle on the pad.

    Raises
    ------
    ConfigError
        If there is no vehicle of that name.
    """
    rates = WIRES[world.wire].rates(WireSetup(profile=world.build))
    config = SimConfig(
        rules=load_rules(),
        rates={**rates, "truth": Fraction(_TRUTH_HZ)},
        imu=conditions.imu,
        start=start,
        always_armed=world.wire == "raw",
        pauses=world.wire == "aigp" and world.build.off_race == "paused",
        faults=conditions.world,
    )
    return Simulator(world.course, load_vehicle(world.vehicle), config, run_seed)


def make_wire(
    world: World,
    role: Role,
    unix_from_boot_ns: Nanos = 0,
    unix_steps: tuple[tuple[Nanos, Nanos], ...] = (),
) -> Wire:
    """Return one end of the wire."""
    setup = WireSetup(
        profile=world.build, unix_from_boot_ns=unix_from_boot_ns, unix_steps=unix_steps, reencode=shrink
    )
    return WIRES[world.wire].make(role, setup)


def make_darkroom(
    world: World, timed: Callable[[str, Nanos], None], threads: int = 1
) -> Callable[[Exposure], bytes]:
    """Return what turns an exposure into a JPEG, drawing on that many threads."""
    bands = Bands(Renderer(world.course, AIGP_CAMERA), threads)
    return darkroom(bands, world.build.jpeg_quality, timed)


def resolved(world: World, conditions: Conditions, seed: int) -> dict[str, Any]:
    """Return what decides the simulator's end of a run, as a log keeps it."""
    return {
        "seed": seed,
        "course": world.course.name,
        "build": world.build_name,
        "wire": world.wire,
        "vehicle": world.vehicle,
        "conditions": asdict(conditions),
    }


def full_budget() -> Budget:
    """Return the budget of a whole race: every stage."""
    return Budget(LIMITS_MS)


def sim_budget() -> Budget:
    """Return the budget of the simulator alone."""
    return Budget({name: LIMITS_MS[name] for name in _SIM_STAGES})


def _check_wire(wire: str) -> None:
    if wire not in WIRES:
        raise ConfigError(f"no wire '{wire}': choose {', '.join(WIRES)}")

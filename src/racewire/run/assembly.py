"""Putting a run together: course, vehicle, wire ends, pilot and budget from their names.

What is named here decides the run; `race`, `sim` and `fly` differ only in which ends they build and
which loop drives them.
"""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from racewire.core.budget import Budget
from racewire.core.clock import Nanos
from racewire.core.errors import ConfigError
from racewire.pilots import load_pilot
from racewire.pilots.base import Pilot
from racewire.render.renderer import Renderer
from racewire.run.conditions import Conditions
from racewire.run.trace import STAGES
from racewire.sensors.camera import AIGP_CAMERA
from racewire.sim.simulator import RaceStart, SimConfig, Simulator
from racewire.vehicles import load_vehicle
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
"""The stages of a run and what each may take, ms; the last four are the parts of photon to command."""

assert set(STAGES) < set(LIMITS_MS)

TRUTH_HZ = 100
CAMERA_HZ = 30
_VEHICLE_OF_WIRE = {"aigp": "racer", "raw": "simdrone"}
_PILOT_OF_WIRE = {"aigp": "gate", "raw": "completion"}


@dataclass(frozen=True, slots=True)
class Setup:
    """The named parts of a race, defaults filled in."""

    course: Course
    build: BuildProfile
    wire: str
    vehicle: str
    pilot: str

"""An open workbench for autonomous racing: the simulator, the pilot, and the wire between them.

The names below are what a script needs; each is loaded when it is first asked for, so that `import
racewire` costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from racewire.core.errors import ConfigError, RunError
    from racewire.core.frames import Pose, Rot, Vec
    from racewire.pilots import load_pilot
    from racewire.render.renderer import Renderer
    from racewire.run.race import RaceConfig, fly_race
    from racewire.run.result import RaceResult
    from racewire.sensors.camera import AIGP_CAMERA, Camera
    from racewire.sim.simulator import RaceStart, SimConfig, Simulator
    from racewire.vehicles import load_vehicle
    from racewire.world.course import Course, load_course
    from racewire.world.generate import random_course

    __version__: str

__all__ = [
    "AIGP_CAMERA",
    "Camera",
    "ConfigError",
    "Course",
    "Pose",
    "RaceConfig",
    "RaceResult",
    "RaceStart",
    "Renderer",
    "Rot",
    "RunError",
    "SimConfig",
    "Simulator",
    "Vec",
    "__version__",
    "fly_race",
    "load_course",
    "load_pilot",
    "load_vehicle",
    "random_course",
]

_HOME = {
    "AIGP_CAMERA": "sensors.camera",
    "Camera": "sensors.camera",
    "ConfigError": "core.errors",
    "Course": "world.course",
    "Pose": "core.frames",
    "RaceConfig": "run.race",
    "RaceResult": "run.result",
    "RaceStart": "sim.simulator",
    "Renderer": "render.renderer",
    "Rot": "core.frames",
    "RunError": "core.errors",
    "SimConfig": "sim.simulator",
    "Simulator": "sim.simulator",
    "Vec": "core.frames",
    "fly_race": "run.race",
    "load_course": "world.course",
    "load_pilot": "pilots",
    "load_vehicle": "vehicles",
    "random_course": "world.generate",
}


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name == "__version__":
        return version("racewire")
    if name not in _HOME:
        raise AttributeError(f"module 'racewire' has no attribute '{name}'")
    return getattr(import_module(f"racewire.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted({*globals(), *__all__})

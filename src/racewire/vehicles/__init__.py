"""Physics of single bodies: pure step functions with named state."""

from collections.abc import Callable
from functools import partial

from racewire.core.errors import ConfigError
from racewire.vehicles.base import Vehicle
from racewire.vehicles.quadrotor import Quadrotor

VEHICLES: dict[str, Callable[[], Vehicle]] = {
    "racer": partial(Quadrotor.named, "racer"),
    "simdrone": partial(Quadrotor.named, "simdrone"),
    "racer_quadratic": partial(Quadrotor.named, "racer_quadratic"),
}
"""Every vehicle by name, each with the call that makes it."""


def load_vehicle(name: str) -> Vehicle:
    """Return the vehicle called `name`.

    Raises
    ------
    ConfigError
        If there is none; the text names those there are.
    """
    if name not in VEHICLES:
        raise ConfigError(f"vehicle '{name}' is unknown; there are: {', '.join(VEHICLES)}")
    return VEHICLES[name]()

"""Programs that fly: messages in, messages out.

`load_pilot` finds one by its name in `PILOTS`, or a user's own class in a file.
"""

import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from racewire.core.config import load
from racewire.core.errors import ConfigError
from racewire.pilots.base import Pilot
from racewire.pilots.completion import CompletionParams, CompletionPilot
from racewire.pilots.gate_pilot import GateParams, GatePilot

_DATA = Path(__file__).parent / "data"
GATE_CONFIG = _DATA / "gate.toml"
"""The gate pilot's parameters in the package."""
COMPLETION_CONFIG = _DATA / "completion.toml"
"""The completion pilot's parameters in the package."""


def _gate(config: Path | None) -> Pilot:
    return GatePilot(load(GateParams, config or GATE_CONFIG))


def _completion(config: Path | None) -> Pilot:
    return CompletionPilot(load(CompletionParams, config or COMPLETION_CONFIG))


PILOTS: dict[str, Callable[[Path | None], Pilot]] = {"gate": _gate, "completion": _completion}
"""Every pilot by name, with what makes one from a config file (None: the one in the package)."""


def load_pilot(name_or_path: str, config_path: Path | None = None) -> Pilot:
    """Return the pilot called so in `PILOTS`, or an object of the class that "FILE.py:Class" names.

    A user's class is made with its config's path if one is given, else without arguments.

    Raises
    ------
    ConfigError
        If there is no such pilot, file or class, or it cannot be made.
    """
    if name_or_path in PILOTS:
        return PILOTS[name_or_path](config_path)
    file, colon, name = name_or_path.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise ConfigError(f"no pilot '{name_or_path}': choose {', '.join(PILOTS)} or FILE.py:Class")
    made = _class_in(Path(file), name)
    try:
        pilot = made(config_path) if config_path is not None else made()
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"{file}: {name} could not be made: {error!r}") from error
    for method in ("step", "due", "status"):
        if not callable(getattr(pilot, method, None)):
            raise ConfigError(f"{file}: {name} is no pilot: it has no method '{method}'")
    return cast("Pilot", pilot)


def _class_in(path: Path, name: str) -> Callable[..., Any]:
    if not path.is_file():
        raise ConfigError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(f"racewire_user_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConfigError(f"{path}: cannot be imported: {error!r}") from error
    found = getattr(module, name, None)
    if not inspect.isclass(found):
        raise ConfigError(f"{path}: no class '{name}'")
    return cast("Callable[..., Any]", found)

"""Configs as data: TOML on disk, one tree of frozen dataclasses in memory.

A key the dataclass does not have is an error that names the file, the key and the nearest valid
name; so is a missing key without a default, and a value of the wrong type.
"""

import dataclasses
import difflib
import math
import tomllib
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from racewire.core.errors import ConfigError

Config = TypeVar("Config")


def load(cls: type[Config], path: Path) -> Config:
    """Read the TOML file at `path` into `cls`.

    Raises
    ------
    ConfigError
        If the file cannot be read, is not TOML, or does not fit `cls`.
    """
    return parse(cls, read_toml(path), str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Read the TOML file at `path`.

    Raises
    ------
    ConfigError
        If the file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise ConfigError(message) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{path}: not TOML: {error}"
        raise ConfigError(message) from error


def parse(cls: type[Config], data: Mapping[str, Any], where: str) -> Config:
    """Build the dataclass `cls` from `data`; `where` names the source in errors.

    Raises
    ------
    ConfigError
        If a key is unknown or missing, or a value has the wrong type.
    """
    fields = {f.name: f for f in dataclasses.fields(cast("Any", cls)) if f.init}
    for key in data:
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=1, cutoff=0.0)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            message = f"{where}: unknown key '{key}'{hint}"
            raise ConfigError(message)
    hints = get_type_hints(cls)
    values: dict[str, Any] = {}
    for name, field in fields.items():
        if name in data:
            values[name] = _convert(hints[name], data[name], f"{where}: {name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            message = f"{where}: missing key '{name}'"
            raise ConfigError(message)
    try:
        return cls(**values)
    except ValueError as error:
        message = f"{where}: {error}"
        raise ConfigError(message) from error


def _convert(hint: Any, value: Any, where: str) -> Any:  # noqa: ANN401 - any TOML value
    if dataclasses.is_dataclass(hint):
        if isinstance(value, Mapping):
            return parse(cast("type[Any]", hint), cast("Mapping[str, Any]", value), where)
        raise _wrong(where, "a table", value)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
        return _convert(options[0], value, where)
    if origin is tuple:
        return _convert_tuple(get_args(hint), value, where)
    if origin is dict and isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        return {key: _convert(get_args(hint)[1], item, f"{where}.{key}") for key, item in table.items()}
    return _convert_scalar(hint, value, where)


def _convert_tuple(items: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:  # noqa: ANN401
    if not isinstance(value, list | tuple):
        raise _wrong(where, "a list", value)
    values = cast("Sequence[Any]", value)
    hints = [items[0]] * len(values) if len(items) == 2 and items[1] is Ellipsis else list(items)
    if len(hints) != len(values):
        raise _wrong(where, f"a list of {len(hints)}", value)
    pairs = zip(hints, values, strict=True)
    return tuple(_convert(hint, item, f"{where}[{i}]") for i, (hint, item) in enumerate(pairs))


def _convert_scalar(hint: Any, value: Any, where: str) -> Any:  # noqa: ANN401
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise _wrong(where, "a finite number", value)
        return float(value)
    if hint is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    if hint in (bool, str) and isinstance(value, hint):
        return value
    wanted: dict[Any, str] = {float: "a number", int: "an integer", bool: "true or false"}
    raise _wrong(where, wanted.get(hint, "a string"), value)


def _wrong(where: str, wanted: str, value: Any) -> ConfigError:  # noqa: ANN401
    return ConfigError(f"{where}: must be {wanted}, not {value!r}")

"""The parameter protocol: read one, read all, change one; typed, with ranges.

A value travels in a float32 field: a real as it is, an integer as the bytes of an int32, which is PX4's
way and what the capability bit 16 of AUTOPILOT_VERSION says. Whatever is asked for, the answer is the
value in force, so a client sees a change that was refused. Source: spec firmware.md, section 5.1.
"""

import math
import struct

from racewire.wires.mavlink import Codec, Packet
from racewire.wires.vehicle_config import TYPES, Parameter

_REAL, _INTEGER = struct.Struct("<f"), struct.Struct("<i")
_BY_NAME = -1


class Parameters:
    """The parameters of one vehicle and their values."""

    def __init__(self, parameters: tuple[Parameter, ...], codec: Codec) -> None:
        """Begin with the values of `parameters`, which are numbered in their order."""
        self._parameters = {parameter.name: parameter for parameter in parameters}
        self._names = [parameter.name for parameter in parameters]
        self._values = {parameter.name: parameter.value for parameter in parameters}
        self._codec = codec

    def __getitem__(self, name: str) -> float:
        """Return the value in force of the parameter called `name`."""
        return self._values[name]

    def answer(self, m: Packet) -> list[bytes] | None:
        """Return the packets that answer a request, None if it is no request about parameters."""
        match m.get_type():
            case "PARAM_REQUEST_LIST":
                return [self._value(name) for name in self._names]
            case "PARAM_REQUEST_READ":
                name = self._asked(m)
            case "PARAM_SET":
                name = str(m.param_id)
                if name not in self._parameters:
                    return []
                self._set(self._parameters[name], m.param_type, m.param_value)
            case _:
                return None
        return [] if name is None else [self._value(name)]

    def _asked(self, m: Packet) -> str | None:
        index = int(m.param_index)
        if index == _BY_NAME:
            name = str(m.param_id)
            return name if name in self._parameters else None
        return self._names[index] if 0 <= index < len(self._names) else None

    def _set(self, parameter: Parameter, number: int, field: float) -> None:
        if number != TYPES[parameter.type]:
            return
        value = float(_INTEGER.unpack(_REAL.pack(field))[0]) if parameter.type == "int32" else field
        if math.isfinite(value) and parameter.allows(value):
            self._values[parameter.name] = value

    def _value(self, name: str) -> bytes:
        parameter, value = self._parameters[name], self._values[name]
        packed = _INTEGER.pack(int(value)) if parameter.type == "int32" else _REAL.pack(value)
        return self._codec.encode(
            "param_value",
            param_id=name.encode(),
            param_value=_REAL.unpack(packed)[0],
            param_type=TYPES[parameter.type],
            param_count=len(self._names),
            param_index=self._names.index(name),
        )

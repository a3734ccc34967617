"""The record of a run: its hash, and its log.

`RunHash` folds the deterministic topics - truth at 100 Hz, every datagram both ways, the referee's
events - into SHA-256, with boot-clock times only: no wall time, path or version. Same config and
seed, same hash. `RunLog` writes the same to one MCAP file, readable by any MCAP reader; it is
complete after Ctrl-C, and readable up to the last chunk after a kill.

Topics of the log: `truth` and `event` as JSON; `wire/down/CHANNEL` and `wire/up/CHANNEL` as
the datagrams' bytes; `run/config` and `run/result` once, as JSON.
"""

import dataclasses
import hashlib
import json
import struct
from pathlib import Path
from typing import Any

from mcap.writer import CompressionType, Writer

from racewire.core.clock import Nanos
from racewire.core.errors import ConfigError
from racewire.race.events import RaceEvent
from racewire.run.interrupt import Shield
from racewire.sim.simulator import Truth

_DATAGRAM = struct.Struct("<qcI")
_TRUTH = struct.Struct("<q17d")
_CHUNK = 1 << 20


class RunHash:
    """SHA-256 over what happened."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()

    def truth(self, truth: Truth) -> None:
        """Fold in a state."""
        self._sha.update(_TRUTH.pack(truth.t_ns, *_numbers(truth)))

    def event(self, event: RaceEvent) -> None:
        """Fold in what the referee saw."""
        self._sha.update(json.dumps(_event(event), sort_keys=True).encode())

    def received(self, channel: str, data: bytes, now: Nanos) -> None:
        """Fold in a datagram from the pilot."""
        self._datagram(b"<", channel, data, now)

    def sent(self, channel: str, data: bytes, now: Nanos) -> None:
        """Fold in a datagram to the pilot."""
        self._datagram(b">", channel, data, now)

    def hexdigest(self) -> str:
        """Return the hash so far."""
        return self._sha.hexdigest()

    def _datagram(self, way: bytes, channel: str, data: bytes, now: Nanos) -> None:
        self._sha.update(_DATAGRAM.pack(now, way, len(data)))
        self._sha.update(channel.encode())
        self._sha.update(data)


class RunLog:
    """One MCAP file."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises
        ------
        ConfigError
            If the file cannot be written.
        """
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}") from error
        self._writer = Writer(self._file, chunk_size=_CHUNK, compression=CompressionType.ZSTD)
        self._writer.start(profile="", library="racewire")
        self._shield = Shield()
        self._channels: dict[str, int] = {}
        self._last: Nanos = 0
        self._zero: Nanos = 0

    def begin(self) -> None:
        """Go on with a simulator whose boot clock starts over; the file's times rise all the same."""
        self._zero += self._last
        self._last = 0

    def config(self, config: dict[str, Any]) -> None:
        """Write the resolved configuration."""
        self._json("run/config", config, 0)

    def truth(self, truth: Truth) -> None:
        """Write a state."""
        self._json("truth", truth_record(truth), truth.t_ns)

    def event(self, event: RaceEvent) -> None:
        """Write what the referee saw."""
        self._json("event", _event(event), event.t_ns)

    def received(self, channel: str, data: bytes, now: Nanos) -> None:
        """Write a datagram from the pilot."""
        self._bytes(f"wire/up/{channel}", data, now)

    def sent(self, channel: str, data: bytes, now: Nanos) -> None:
        """Write a datagram to the pilot."""
        self._bytes(f"wire/down/{channel}", data, now)

    def result(self, result: dict[str, Any]) -> None:
        """Write the result."""
        self._json("run/result", result, self._last)

    def close(self) -> None:
        """Finish the file."""
        with self._shield:
            try:
                self._writer.finish()
            finally:
                self._file.close()
                self._shield.drop()

    def _json(self, topic: str, record: dict[str, Any], now: Nanos) -> None:
        self._write(topic, "json", json.dumps(record).encode(), now)

    def _bytes(self, topic: str, data: bytes, now: Nanos) -> None:
        self._write(topic, "application/octet-stream", data, now)

    def _write(self, topic: str, encoding: str, data: bytes, now: Nanos) -> None:
        self._last = max(self._last, now)
        stamp = self._zero + now
        with self._shield:
            channel = self._channels.get(topic) or self._register(topic, encoding)
            self._writer.add_message(channel, log_time=stamp, publish_time=stamp, data=data)

    def _register(self, topic: str, encoding: str) -> int:
        schema = (
            self._writer.register_schema(topic, "jsonschema", b'{"type":"object"}')
            if encoding == "json"
            else 0
        )
        self._channels[topic] = self._writer.register_channel(topic, encoding, schema)
        return self._channels[topic]


def truth_record(truth: Truth) -> dict[str, Any]:
    """Return a state as JSON types, in SI units."""
    m = truth.motion
    q = m.ned_from_frd
    return {
        "t_ns": truth.t_ns,
        "position_ned": dataclasses.astuple(m.position),
        "velocity_ned": dataclasses.astuple(m.velocity),
        "ned_from_frd_wxyz": (q.w, q.x, q.y, q.z),
        "rates_frd": dataclasses.astuple(m.rates),
        "command_thrust_rates": truth.command,
    }


def _numbers(truth: Truth) -> tuple[float, ...]:
    m = truth.motion
    p, v, q, w = m.position, m.velocity, m.ned_from_frd, m.rates
    return (p.x, p.y, p.z, v.x, v.y, v.z, q.w, q.x, q.y, q.z, w.x, w.y, w.z, *truth.command)


def _event(event: RaceEvent) -> dict[str, Any]:
    return {"kind": type(event).__name__, **dataclasses.asdict(event)}

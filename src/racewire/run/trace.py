"""Photon to command: follow a frame from its exposure to the command it caused.

Both ends of a link tell the trace what they did, in one clock; frames are recognised by their JPEG
and commands by their datagram, so nothing is added to the wire. Each frame counts once, with the
first command sent after the pilot took it; a lost frame or command counts nowhere.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable

import numpy as np

from racewire.core.clock import NS_PER_MS, Nanos

STAGES = ("exposure_to_sent", "sent_to_pilot", "pilot_to_command", "command_to_motors")
"""The parts of photon-to-command, in order."""

_DEPTH = 64


class Trace:
    """The life of each frame. Times in nanoseconds of one clock."""

    def __init__(self, add: Callable[[str, Nanos], None]) -> None:
        """Report each part's duration to `add` (stage name, duration)."""
        self._add = add
        self._sent: OrderedDict[int, tuple[Nanos, Nanos]] = OrderedDict()
        self._taken: tuple[Nanos, Nanos] | None = None
        self._commands: OrderedDict[bytes, tuple[Nanos, Nanos]] = OrderedDict()
        self.totals_ns: list[Nanos] = []

    def frame_sent(self, jpeg: bytes, exposed: Nanos, now: Nanos) -> None:
        """Note that the simulator sent a frame."""
        self._add("exposure_to_sent", now - exposed)
        _put(self._sent, hash(jpeg), (exposed, now))

    def frame_taken(self, jpeg: bytes, now: Nanos) -> None:
        """Note that the frame reached the pilot."""
        times = self._sent.pop(hash(jpeg), None)
        if times is not None:
            exposed, sent = times
            self._add("sent_to_pilot", now - sent)
            self._taken = (exposed, now)

    def command_sent(self, datagrams: Iterable[bytes], now: Nanos) -> None:
        """Note that the pilot sent a command."""
        if self._taken is None:
            return
        exposed, taken = self._taken
        self._taken = None
        self._add("pilot_to_command", now - taken)
        for data in datagrams:
            _put(self._commands, data, (exposed, now))

    def command_arrived(self, data: bytes, now: Nanos) -> None:
        """Note that a datagram reached the motors."""
        times = self._commands.pop(data, None)
        if times is not None:
            exposed, sent = times
            self._add("command_to_motors", now - sent)
            self.totals_ns.append(now - exposed)

    def report(self) -> dict[str, float | None]:
        """Return p50, p99 and max of photon to command in ms; None without a sample."""
        if not self.totals_ns:
            return {"p50": None, "p99": None, "max": None}
        total = np.array(self.totals_ns) / NS_PER_MS
        return {
            "p50": float(np.percentile(total, 50)),
            "p99": float(np.percentile(total, 99)),
            "max": float(total.max()),
        }


def _put(
    table: "OrderedDict[int, tuple[Nanos, Nanos]] | OrderedDict[bytes, tuple[Nanos, Nanos]]",
    key: object,
    value: tuple[Nanos, Nanos],
) -> None:
    table[key] = value  # type: ignore[index]
    while len(table) > _DEPTH:
        table.popitem(last=False)

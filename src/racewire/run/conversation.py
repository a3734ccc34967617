"""A recorded conversation: the datagrams of a log, in order, whatever kind of file holds them.

Reads our MCAP logs (`race --log`, `record`) and `.tlog` files. A file may break off anywhere, after a
kill or a full disk: what can be read comes out, and `broken` then says where it broke. Times are the
log's: the boot clock in a race's log, UNIX time in a recording.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mcap.records import Channel, Message
from mcap.stream_reader import StreamReader

from racewire.core.clock import Nanos
from racewire.core.errors import ConfigError
from racewire.run.tlog import TlogWriter, read_tlog
from racewire.wires.mavlink import Codec

DOWN, UP = "down", "up"

_MCAP = b"\x89MCAP0\r\n"
_TOPIC = "wire"
_ASKED_BY_THEN = 10_000  # datagrams, of which one is a time request if the pilot makes any


class Spoken(NamedTuple):
    """One datagram: when, which way ("down" to the pilot, "up" to the simulator), its channel, its bytes."""

    t_ns: Nanos
    way: str
    channel: str
    data: bytes


class Conversation:
    """The datagrams of one file; iterate over it as often as you like."""

    def __init__(self, path: Path) -> None:
        """Look what kind of file it is.

        Raises
        ------
        ConfigError
            If it cannot be read, or is neither MCAP nor `.tlog`.
        """
        self.path = path
        self.broken: str | None = None
        try:
            with path.open("rb") as file:
                self._is_mcap = file.read(len(_MCAP)) == _MCAP
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}") from error
        if not self._is_mcap and path.suffix.lower() != ".tlog":
            raise ConfigError(f"{path}: neither an MCAP log nor a .tlog file")

    def __iter__(self) -> Iterator[Spoken]:
        """Yield the datagrams; `broken` is right once they are all out."""
        self.broken = None
        return self._mcap() if self._is_mcap else self._tlog()

    def _tlog(self) -> Iterator[Spoken]:
        with self.path.open("rb") as file:
            records = read_tlog(file)
            while True:
                try:
                    record = next(records)
                except StopIteration as end:
                    self.broken = end.value
                    return
                yield Spoken(record.unix_ns, DOWN if record.from_vehicle else UP, "mavlink", record.packet)

    def _mcap(self) -> Iterator[Spoken]:
        topics: dict[int, list[str]] = {}
        with self.path.open("rb") as file:
            records = StreamReader(file, validate_crcs=True).records
            whole = 0
            while True:
                try:
                    record = next(records)
                except StopIteration:
                    return
                except Exception as error:  # noqa: BLE001 - each layer of the reader has its own errors for torn bytes
                    self.broken = f"broken off after byte {whole}: {str(error) or 'cut off'}"
                    return
                whole = file.tell()
                if isinstance(record, Channel):
                    topics[record.id] = record.topic.split("/")
                elif isinstance(record, Message):
                    match topics.get(record.channel_id):
                        case [str(first), "down" | "up" as way, str(channel)] if first == _TOPIC:
                            yield Spoken(record.log_time, way, channel, record.data)
                        case _:
                            pass


def unix_from_log(conversation: Conversation) -> Nanos:
    """Return UNIX time minus the log's time: what the simulator's first TIMESYNC reply says, else 0.

    In a recording the log's time is UNIX already: the two agree, and the recorder's clock is kept.
    """
    codec = Codec(0, 0)
    for index, (t_ns, way, channel, data) in enumerate(conversation):
        if index == _ASKED_BY_THEN:
            break
        if way == DOWN and channel == "mavlink":
            for packet in codec.decode(data).messages:
                if packet.get_type() == "TIMESYNC" and packet.tc1:
                    offset = int(packet.tc1) - t_ns
                    return offset if t_ns < offset else 0
    return 0


def export_tlog(conversation: Conversation, path: Path) -> int:
    """Write the MAVLink packets of a conversation to a `.tlog` file; return how many.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    offset = unix_from_log(conversation)
    writer = TlogWriter(path)
    try:
        for t_ns, _, channel, data in conversation:
            if channel == "mavlink":
                writer.datagram(data, t_ns + offset)
    finally:
        writer.close()
    return writer.packets

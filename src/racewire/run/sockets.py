"""UDP sockets of one end of a wire, by channel.

Every socket is bound before anything runs, without address reuse, so a port that is taken is an
error that names it, never a silent share. Sending never blocks and never raises: a full buffer or a
peer that is not there is counted. Nothing is bound beyond 127.0.0.1 unless told so.
"""

import socket
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from racewire.core.errors import ConfigError

_MAX_DATAGRAM = 65_535
_BUFFER = 4 << 20


@dataclass(frozen=True, slots=True)
class Port:
    """One channel's addresses: where to bind, where to send; answering the sender if `follow`."""

    channel: str
    bind: tuple[str, int]
    peer: tuple[str, int] | None
    follow: bool = False


class UdpChannel:
    """One bound socket."""

    def __init__(self, port: Port, role: str) -> None:
        """Bind it.

        Raises
        ------
        ConfigError
            If the port is taken or the address is not this machine's; it names both. If there is no
            host of the peer's name.
        """
        self.port = port
        self.counters: Counter[str] = Counter()
        self._peer = None if port.peer is None else (_address(port.peer[0], role), port.peer[1])
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        exclusive = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
        if exclusive is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, exclusive, 1)
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            self.socket.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
        try:
            self.socket.bind(port.bind)
        except (OSError, OverflowError, UnicodeError) as error:
            self.socket.close()
            host, number = port.bind
            reason = getattr(error, "strerror", None) or str(error)
            raise ConfigError(
                f"{role}: cannot bind UDP {host}:{number} for {port.channel}: {reason}"
            ) from error

    def send(self, data: bytes) -> None:
        """Send one datagram, or count why not."""
        if self._peer is None:
            self.counters["no_peer"] += 1
            return
        try:
            self.socket.sendto(data, self._peer)
        except BlockingIOError:
            self.counters["buffer_full"] += 1
        except OSError:
            self.counters["refused"] += 1

    def receive(self, limit: int) -> list[bytes]:
        """Return at most `limit` datagrams that are waiting."""
        waiting: list[bytes] = []
        for _ in range(limit):
            try:
                data, sender = self.socket.recvfrom(_MAX_DATAGRAM)
            except BlockingIOError:
                break
            except OSError:  # an earlier send was refused: Windows says so here
                self.counters["refused"] += 1
                continue
            if self.port.follow:
                self._peer = sender
            waiting.append(data)
        return waiting

    def close(self) -> None:
        """Release the port."""
        self.socket.close()


def open_channels(ports: list[Port], role: str) -> dict[str, UdpChannel]:
    """Bind every port of one end, or none.

    Raises
    ------
    ConfigError
        If one cannot be bound.
    """
    channels: dict[str, UdpChannel] = {}
    try:
        for port in ports:
            channels[port.channel] = UdpChannel(port, role)
    except ConfigError:
        close_channels(channels)
        raise
    return channels


def close_channels(channels: Mapping[str, UdpChannel]) -> None:
    """Release every port."""
    for channel in channels.values():
        channel.close()


def _address(host: str, role: str) -> str:
    """Look a name up once, so that no sending waits for it."""
    try:
        return socket.gethostbyname(host)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{role}: no host '{host}'") from error

"""Lockstep for pilots in other processes: simulated time advances when the pilot asks for it.

Our extension, after the frame counter of ArduPilot's JSON interface; `docs/lockstep.md` is the manual.
A request and its reply are 16 bytes, little-endian, `<4sIQ`: "RWL1", a counter, a boot time (ns). Request
n + 1 after n advances the simulator to its time; a repeated n is answered again, so that a lost
datagram does no harm; 0 begins anew. What the pilot sent before is taken in first, and everything the
step sends leaves before the reply.
"""

import struct
from collections import Counter

from racewire.core.clock import NS_PER_MS, Nanos
from racewire.run.loop import Endpoint
from racewire.run.ports import LOCALHOST
from racewire.run.session import Session
from racewire.run.sockets import Port, UdpChannel

MAGIC = b"RWL1"
LONGEST_STEP_NS = 100 * NS_PER_MS
"""A request for more gets this much; the reply says how far time has come."""

_FORMAT = struct.Struct("<4sIQ")
_MOST_WAITING = 4096


class LockstepServer:
    """The channel, and the simulator's sockets, which are read at the steps alone."""

    def __init__(self, port: int, session: Session, endpoint: Endpoint) -> None:
        """Bind UDP `port`.

        Raises
        ------
        ConfigError
            If it is taken.
        """
        self.counters: Counter[str] = Counter()
        self._session = session
        self._endpoint = endpoint
        self._count = 0
        self._channel = UdpChannel(Port("lockstep", (LOCALHOST, port), None, follow=True), "simulator")
        self.socket = self._channel.socket

    def close(self) -> None:
        """Release the port."""
        self._channel.close()

    def serve(self, now: Nanos) -> None:
        """Answer the requests that wait; `now` is the loop's clock."""
        while requests := self._channel.receive(1):  # one at a time: the reply goes to its sender
            reply = self._answer(requests[0], now)
            if reply is None:
                self.counters["malformed"] += 1
            else:
                self._channel.send(reply)

    def _answer(self, request: bytes, now: Nanos) -> bytes | None:
        if len(request) != _FORMAT.size or not request.startswith(MAGIC):
            return None
        _, count, until = _FORMAT.unpack(request)
        self._take_in(now)
        if count == 0:
            self._session.restart(now)
            self._count = 0
        elif count == self._count + 1:
            by = max(0, min(until - self._session.boot(now), LONGEST_STEP_NS))
            self._session.step(by)
            self._count = count
        elif count != self._count:
            self.counters["out of order"] += 1
        self._send(now)
        return _FORMAT.pack(MAGIC, self._count, self._session.boot(now))

    def _take_in(self, now: Nanos) -> None:
        for name, channel in self._endpoint.channels.items():
            for data in channel.receive(_MOST_WAITING):
                for to, answer in self._session.receive(name, data, now):
                    self._endpoint.channels[to].send(answer)

    def _send(self, now: Nanos) -> None:
        for name, data in self._session.wake(now):
            self._endpoint.channels[name].send(data)

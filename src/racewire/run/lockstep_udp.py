"""Lockstep for pilots in other processes: simulated time advances when the pilot asks for it.

Our extension, after the frame counter of ArduPilot's JSON interface; `docs/lockstep.md` is the manual.
A request and its reply are 20 bytes, little-endian, `<4sIQI`: "RWL1", a counter, a boot time (ns), and how
many datagrams the sender has sent on the wire's channels since the request or reply before. Request
n + 1 after n advances the simulator to its time; a repeated n is answered again, so that a lost
datagram does no harm; 0 begins anew. The numbers of datagrams make the order certain: the kernel may
deliver what was sent last first.
"""

import select
import struct
from collections import Counter

from racewire.core.clock import NS_PER_MS, Nanos
from racewire.run.loop import Endpoint
from racewire.run.ports import LOCALHOST
from racewire.run.session import Session
from racewire.run.sockets import Port, UdpChannel
from racewire.wires.base import Datagram

MAGIC = b"RWL1"
LONGEST_STEP_NS = 100 * NS_PER_MS
"""A request for more gets this much; the reply says how far time has come."""

_FORMAT = struct.Struct("<4sIQI")
_MOST_WAITING = 4096
_PATIENCE_S = 1.0  # for datagrams that were announced


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
        self._sent = 0
        self._reply = b""
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
        _, count, until, announced = _FORMAT.unpack(request)
        if count == self._count != 0:
            return self._reply
        if count not in (0, self._count + 1):
            self.counters["out of order"] += 1
            return self._reply or self._say(now)
        self._take_in(announced, now)
        if count == 0:
            self._session.restart(now)
        else:
            self._session.step(max(0, min(until - self._session.boot(now), LONGEST_STEP_NS)))
        self._count = count
        self._send(self._session.wake(now))
        self._reply = self._say(now)
        return self._reply

    def _say(self, now: Nanos) -> bytes:
        sent, self._sent = self._sent, 0
        return _FORMAT.pack(MAGIC, self._count, self._session.boot(now), sent)

    def _take_in(self, announced: int, now: Nanos) -> None:
        """Give the simulator what the pilot sent; wait for what it announced, but not for ever."""
        channels = self._endpoint.channels
        taken = 0
        while True:
            for name, channel in channels.items():
                for data in channel.receive(_MOST_WAITING):
                    taken += 1
                    self._send(self._session.receive(name, data, now))
            sockets = [channel.socket for channel in channels.values()]
            if taken >= announced or not select.select(sockets, [], [], _PATIENCE_S)[0]:
                break
        self.counters["missing"] += max(0, announced - taken)

    def _send(self, datagrams: list[Datagram]) -> None:
        self._sent += len(datagrams)
        for name, data in datagrams:
            self._endpoint.channels[name].send(data)

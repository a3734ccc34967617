"""The control channel's sockets: TCP on 127.0.0.1, in the simulator's own loop.

A client that sends a line too long, or does not read its replies, is dropped; one too many is turned
away. Reading is a kilobyte a turn, so that no client delays telemetry.
"""

import socket
from functools import partial

from racewire.core.clock import Nanos
from racewire.core.errors import ConfigError
from racewire.run.control import LONGEST, Interpreter
from racewire.run.loop import Loop
from racewire.run.ports import LOCALHOST

CLIENTS = 8
"""The most clients at a time."""

_READ = 1 << 10


class ControlServer:
    """The listening socket and its clients."""

    def __init__(self, port: int, interpreter: Interpreter) -> None:
        """Bind it.

        Raises
        ------
        ConfigError
            If the port is taken.
        """
        self._interpreter = interpreter
        self._clients: dict[socket.socket, bytearray] = {}
        self._loop: Loop | None = None
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.setblocking(False)
        exclusive = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
        reuse = socket.SO_REUSEADDR if exclusive is None else exclusive
        self._listener.setsockopt(socket.SOL_SOCKET, reuse, 1)
        try:
            self._listener.bind((LOCALHOST, port))
            self._listener.listen(CLIENTS)
        except OSError as error:
            self._listener.close()
            raise ConfigError(f"control: cannot bind TCP {LOCALHOST}:{port}: {error.strerror}") from error

    def join(self, loop: Loop) -> None:
        """Have `loop` serve it."""
        self._loop = loop
        loop.watch(self._listener, self._accept)

    def close(self) -> None:
        """Hang up on everyone and release the port."""
        for client in [*self._clients]:
            self._drop(client)
        self._listener.close()

    def _accept(self, _: Nanos) -> None:
        try:
            client, _address = self._listener.accept()
        except OSError:
            return
        if len(self._clients) >= CLIENTS:
            self._interpreter.counters["turned away"] += 1
            client.close()
            return
        client.setblocking(False)
        self._clients[client] = bytearray()
        assert self._loop is not None
        self._loop.watch(client, partial(self._read, client))

    def _read(self, client: socket.socket, _: Nanos) -> None:
        try:
            data = client.recv(_READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        held = self._clients[client]
        held += data
        *lines, rest = held.split(b"\n")
        self._clients[client] = rest
        too_long = len(rest) > LONGEST
        for line in [*lines, rest] if too_long else lines:
            if not self._reply(client, self._interpreter.answer(bytes(line))):
                return
        if too_long or not data:
            self._drop(client)

    def _reply(self, client: socket.socket, reply: bytes) -> bool:
        """Send a reply whole, or drop the client."""
        try:
            whole = client.send(reply) == len(reply)
        except OSError:
            whole = False
        if not whole:
            self._interpreter.counters["dropped"] += 1
            self._drop(client)
        return whole

    def _drop(self, client: socket.socket) -> None:
        del self._clients[client]
        assert self._loop is not None
        self._loop.forget(client)
        client.close()

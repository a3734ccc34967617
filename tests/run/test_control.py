"""The control channel: its language, its sockets, and its manual."""

import contextlib
import json
import re
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.errors import ConfigError
from racewire.run.control import LONGEST, VERBS, Interpreter
from racewire.run.control_server import CLIENTS, ControlServer
from racewire.run.loop import Loop

MANUAL = Path(__file__).parents[2] / "docs/control.md"


def refuse():
    raise ValueError("not now")


def interpreter():
    handlers = {name: lambda *given, name=name: {"did": name, "given": given} for name in VERBS}
    return Interpreter({**handlers, "stop": refuse})


def ask(line, on=None):
    return json.loads((on or interpreter()).answer(line))


def test_the_manual_has_every_verb_and_no_other():
    rows = re.findall(
        r"^\| `(\w+)` \| (?:`(\w+)` )?\| (.*) \|$", MANUAL.read_text(encoding="utf-8"), re.MULTILINE
    )
    documented = {name: ((argument,) if argument else (), says) for name, argument, says in rows}
    assert documented == {name: (verb.arguments, verb.says) for name, verb in VERBS.items()}


def test_a_request_is_done_and_its_id_comes_back():
    assert ask(b'{"v":1,"id":"a","do":"state"}') == {
        "v": 1,
        "id": "a",
        "ok": True,
        "did": "state",
        "given": [],
    }
    assert ask(b'{"v":1,"id":2,"do":"step","ms":5}')["given"] == [5.0]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 50_000, "not JSON"),
        (b'{"v":1,"do":"step","ms":NaN}', "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"do":"state"}', "v must be 1"),
        (b'{"v":2,"do":"state"}', "v must be 1"),
        (b'{"v":1,"do":"fly"}', "do must be one of"),
        (b'{"v":1,"do":["state"]}', "do must be one of"),
        (b'{"v":1,"do":"state","ms":1}', "state takes no 'ms'"),
        (b'{"v":1,"do":"step"}', "ms must be a number"),
        (b'{"v":1,"do":"step","ms":true}', "ms must be a number"),
        (b'{"v":1,"do":"step","ms":1' + b"0" * 400 + b"}", "ms must be a number"),
        (b'{"v":1,"do":"stop"}', "not now"),
        (b" " * (LONGEST + 1), "at most"),
    ],
)
def test_what_cannot_be_done_is_answered_with_why(line, why):
    on = interpreter()
    reply = ask(line, on)
    assert not reply["ok"]
    assert why in reply["error"]
    assert on.counters == {"refused": 1}


@given(
    st.one_of(st.binary(max_size=200), st.text(max_size=50).map(lambda s: f'{{"v":1,"do":"{s}"}}'.encode()))
)
def test_any_line_has_a_reply_of_one_line(line):
    reply = interpreter().answer(line)
    assert reply.count(b"\n") == 1
    assert reply.endswith(b"\n")
    assert json.loads(reply)["v"] == 1


class Served:
    """A server on a free port, turned by hand."""

    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.interpreter = interpreter()
        self.server = ControlServer(self.port, self.interpreter)
        self.loop = Loop([])
        self.server.join(self.loop)
        self.clients = []

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port))
        client.settimeout(5.0)
        self.clients.append(client)
        self.turn()
        return client

    def turn(self, turns=3):
        left = iter(range(turns))
        self.loop.run(lambda _: next(left, None) is None)


@pytest.fixture
def served():
    served = Served()
    yield served
    served.server.close()
    served.loop.close()
    for client in served.clients:
        client.close()


def test_lines_may_come_in_pieces_and_together(served):
    client = served.connect()
    client.sendall(b'{"v":1,"id":1,"do":"st')
    served.turn()
    client.sendall(b'ate"}\n{"v":1,"id":2,"do":"truth"}\n')
    served.turn()
    replies = [json.loads(line) for line in client.recv(4096).splitlines()]
    assert [(r["id"], r["did"]) for r in replies] == [(1, "state"), (2, "truth")]


def test_a_line_too_long_is_answered_and_the_client_dropped(served):
    client = served.connect()
    client.sendall(b"x" * (LONGEST + 2000))
    served.turn(100)
    assert b"at most" in client.recv(4096)
    with contextlib.suppress(ConnectionResetError):  # what it sent and nobody read
        assert client.recv(4096) == b""
    assert json.loads(_ask(served, served.connect()))["ok"]


def _ask(served, client):
    client.sendall(b'{"v":1,"id":1,"do":"state"}\n')
    served.turn()
    return client.recv(4096)


def test_one_client_too_many_is_turned_away_and_a_gone_one_makes_room(served):
    clients = [served.connect() for _ in range(CLIENTS)]
    late = served.connect()
    assert late.recv(10) == b""
    assert served.interpreter.counters["turned away"] == 1
    clients[0].close()
    served.turn()
    assert json.loads(_ask(served, served.connect()))["ok"]


def test_a_client_that_does_not_read_is_dropped(served):
    client = served.connect()
    client.setblocking(False)
    for _ in range(200_000):
        with contextlib.suppress(OSError):
            client.send(b'{"v":1,"do":"state"}\n' * 40)
        served.turn(1)
        if served.interpreter.counters["dropped"]:
            break
    assert served.interpreter.counters["dropped"] == 1
    assert json.loads(_ask(served, served.connect()))["ok"]


def test_a_port_that_is_taken_is_an_error_that_names_it(served):
    with pytest.raises(ConfigError, match=rf"cannot bind TCP 127\.0\.0\.1:{served.port}"):
        ControlServer(served.port, interpreter())

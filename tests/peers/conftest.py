"""A simulator in a process of its own, on ports of its own, with a control channel."""

import json
import os
import socket
import subprocess
import sys
import time

import pytest

READY_S = 240.0  # the first run of a machine compiles


class Server:
    """A running `racewire sim`."""

    def __init__(self, base, process):
        self.base = base
        self.process = process
        self.socket = None

    def ask(self, do, **arguments):
        self.file.write(json.dumps({"v": 1, "id": do, "do": do, **arguments}).encode() + b"\n")
        self.file.flush()
        reply = json.loads(self.file.readline())
        assert reply["id"] == do
        return reply

    def connect(self):
        deadline = time.monotonic() + READY_S
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", 14570 + self.base), timeout=60.0)
                break
            except OSError:
                assert self.process.poll() is None, "the simulator ended"
                assert time.monotonic() < deadline, "the simulator never came up"
                time.sleep(0.05)
        self.file = self.socket.makefile("rwb")

    def close(self):
        if self.socket is not None:
            self.file.close()
            self.socket.close()
        self.process.terminate()
        self.process.wait(20.0)


def free_base():
    """Return a port base whose ports are free, other than those of tests that run beside this one."""
    start = 2000 + os.getpid() * 20 % 10_000
    for base in range(start, start + 4000, 20):
        ports = [(14560, socket.SOCK_DGRAM), (5601, socket.SOCK_DGRAM), (14550, socket.SOCK_DGRAM)]
        ports += [(5600, socket.SOCK_DGRAM), (14571, socket.SOCK_DGRAM), (14570, socket.SOCK_STREAM)]
        try:
            for port, kind in ports:
                with socket.socket(socket.AF_INET, kind) as probe:
                    probe.bind(("127.0.0.1", port + base))
        except OSError:
            continue
        return base
    raise AssertionError("no free ports")


@pytest.fixture(scope="module")
def serve_sim(tmp_path_factory):
    """Return the call that starts `racewire sim` with more arguments."""
    servers = []
    tmp_path = tmp_path_factory.mktemp("sim")

    def start(*arguments):
        base = free_base()
        command = [sys.executable, "-m", "racewire", "sim", "--port-base", str(base), "--control"]
        with (tmp_path / f"sim-{len(servers)}.txt").open("wb") as out:
            process = subprocess.Popen([*command, *arguments], stdout=out, stderr=out)
        servers.append(Server(base, process))
        servers[-1].connect()
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="module")
def one_sim(serve_sim):
    return serve_sim("--build", "3364-vq1")


@pytest.fixture
def sim(one_sim):
    """Return a simulator that is as if it had just been started."""
    assert one_sim.ask("reset")["ok"]
    yield one_sim
    assert one_sim.process.poll() is None

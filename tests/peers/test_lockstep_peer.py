"""Lockstep over UDP with a pilot in another process: the same race twice, and in a fresh process."""

import json
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

PILOT = Path(__file__).with_name("lockstep_pilot.py")


def fly(server, lives):
    flown = subprocess.run(
        [sys.executable, str(PILOT), "--port-base", str(server.base), "--lives", str(lives)],
        capture_output=True,
        timeout=280,
        check=False,
    )
    assert flown.returncode == 0, flown.stderr
    return json.loads(flown.stdout)["lives"]


@pytest.fixture(scope="module")
def stepped(serve_sim):
    return serve_sim("--build", "3364-vq1", "--lockstep")


def test_races_repeat_in_one_process_and_in_a_fresh_one(stepped, serve_sim):
    lives = fly(stepped, 3)  # each begins in mid-air of the one before
    state = stepped.ask("state")
    assert state["phase"] == "racing"
    assert lives[0] == lives[1] == lives[2]
    assert lives[0]["packets"] > 1000
    assert lives[0]["frames"] > 100
    fresh = serve_sim("--build", "3364-vq1", "--lockstep")
    assert fly(fresh, 1) == lives[:1]
    assert fresh.ask("state")["log_hash"] == state["log_hash"]


def test_time_moves_by_requests_alone_and_a_repeated_one_moves_nothing(stepped):
    to = ("127.0.0.1", 14571 + stepped.base)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(30.0)

        def ask(count, until_ns, announced=0):
            sock.sendto(struct.pack("<4sIQI", b"RWL1", count, until_ns, announced), to)
            magic, answered, boot, coming = struct.unpack("<4sIQI", sock.recv(64))
            assert magic == b"RWL1"
            return answered, boot, coming

        at_boot = ask(0, 5)
        assert at_boot[:2] == (0, 0)
        first = ask(1, 30_000_000)
        assert first[:2] == (1, 30_000_000)
        assert first[2] > 5
        assert ask(1, 90_000_000) == first
        assert ask(5, 90_000_000) == first  # out of order: the reply says what comes next
        assert ask(2, 10_000_000) == (2, 30_000_000, 0)  # time never goes back
        assert ask(3, 9_000_000_000)[:2] == (3, 130_000_000)  # nor on by more than 100 ms
        assert ask(4, 131_000_000, 1)[:2] == (4, 131_000_000)  # what never comes is not waited for for ever
        sock.sendto(b"garbage", to)
        assert ask(0, 0) == at_boot
    assert stepped.ask("state")["boot_ns"] == 0
    reply = stepped.ask("resume")
    assert (reply["ok"], "lockstep" in reply["error"]) == (False, True)

"""Peers in other processes and on other sockets: one that is right, and all the ways to be wrong."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from pymavlink.dialects.v20 import common

PILOT = Path(__file__).with_name("spec_pilot.py")


class Client:
    """A MAVLink client of few manners: one socket that listens, others that send."""

    def __init__(self, base):
        self.base = base
        self.mav = common.MAVLink(None, srcSystem=255, srcComponent=190)
        self.listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.listening.bind(("127.0.0.1", 14550 + base))
        self.listening.settimeout(1.0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listening.close()

    def send(self, message, sock=None):
        data = message if isinstance(message, bytes) else message.pack(self.mav)
        (sock or self.listening).sendto(data, ("127.0.0.1", 14560 + self.base))

    def messages(self, seconds):
        """Yield what arrives within so many seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                data = self.listening.recv(4096)
            except TimeoutError:
                return
            yield self.mav.decode(bytearray(data))

    def stamps(self, seconds):
        """Return the IMU's stamps (us) within so many seconds."""
        return [m.time_usec for m in self.messages(seconds) if m.get_type() == "HIGHRES_IMU"]


def sticks(thrust=0.0, roll=0.0):
    return common.MAVLink_set_attitude_target_message(0, 1, 200, 128, [1, 0, 0, 0], roll, 0.0, 0.0, thrust)


def arm(on=1.0):
    return common.MAVLink_command_long_message(1, 200, 400, 0, on, 0, 0, 0, 0, 0, 0)


def rise(stamps):
    return all(a < b for a, b in pairwise(stamps))


def unique(stamps):
    """Drop what the build sends twice."""
    return [b for a, b in pairwise([-1, *stamps]) if a != b]


def test_a_pilot_written_from_the_description_finishes_the_race(serve_sim, tmp_path):
    result = tmp_path / "result.json"
    sim = serve_sim("--build", "3364-vq1", "--once", "--result", str(result))
    flown = subprocess.run(
        [sys.executable, str(PILOT), "--port-base", str(sim.base)],
        capture_output=True,
        timeout=200,
        check=False,
    )
    assert flown.returncode == 0, flown.stdout + flown.stderr
    said = json.loads(flown.stdout)
    assert said["gates"] == said["gates_told"] == 6
    assert said["stamps_rise"]
    assert [400, 0] in said["acks"]
    assert said["decoded"] > 10
    sim.process.wait(30.0)
    judged = json.loads(result.read_text())
    assert judged["finished"]
    assert judged["race_time_s"] == pytest.approx(said["time_s"], abs=1e-6)


def test_nobody_listening_stops_nothing(sim):
    before = sim.ask("state")["boot_ns"]
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.sendto(b"hello?", ("127.0.0.1", 14560 + sim.base))
    sender.close()
    time.sleep(0.5)  # every datagram meets a closed port meanwhile
    assert sim.ask("state")["boot_ns"] > before
    with Client(sim.base) as client:
        assert len(client.stamps(0.5)) > 10


def test_a_flood_at_1_khz_and_garbage_leave_telemetry_and_race_alone(sim):
    with Client(sim.base) as client:
        client.send(arm())
        stamps = []
        for i in range(1000):
            client.send(sticks())
            client.send(bytes((0xFD, i % 256, 0, 0)) + os.urandom(i % 60))
            if i % 50 == 0:
                stamps += client.stamps(0.01)
            time.sleep(0.001)
        stamps += client.stamps(0.3)
        state = sim.ask("state")
    assert rise(unique(stamps))
    assert len(stamps) > 50
    assert state["phase"] in ("waiting", "countdown")
    assert state["armed"]
    assert sum(n for name, n in state["counters"].items() if name.startswith("malformed")) >= 1000


def test_the_example_clients_250_hz_without_heartbeat_and_with_swapped_motors(sim):
    motors = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    with Client(sim.base) as client:
        client.send(arm())
        for _ in range(250):  # the published order of arguments: target, component, then the group
            client.send(common.MAVLink_set_actuator_control_target_message(0, 1, 200, 0, motors))
            time.sleep(0.004)
        acks = [m for m in client.messages(0.3) if m.get_type() == "COMMAND_ACK"]
        state = sim.ask("state")
    assert [(m.command, m.result) for m in acks] == [(400, 0)]
    assert state["armed"]
    assert state["phase"] in ("countdown", "disqualified")  # one motor at full thrust is an early start


def test_a_pilot_may_restart_from_another_port_in_mid_race(sim):
    with Client(sim.base) as client:
        first, second = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        client.send(arm(), first)
        for _ in range(10):
            client.send(sticks(), first)
            time.sleep(0.01)
        first.close()
        client.listening.close()
    with Client(sim.base) as client:
        for _ in range(10):
            client.send(sticks(), second)
            time.sleep(0.01)
        client.send(common.MAVLink_timesync_message(12345, 0), second)
        replies = [m for m in client.messages(0.5) if m.get_type() == "TIMESYNC"]
        assert [m.ts1 for m in replies] == [12345]  # to the fixed destination, whoever asked
        assert sim.ask("state")["armed"]
        second.close()


def test_a_client_that_stops_reading_delays_nobody(sim):
    with Client(sim.base) as client:
        client.listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        begun = sim.ask("state")["boot_ns"]
        time.sleep(2.0)
        frames = sim.ask("state")
        assert frames["boot_ns"] - begun > 1_000_000_000
        assert frames["frames"] > 10


def test_a_simulator_stopped_for_3_s_goes_on_where_it_was(sim):
    with Client(sim.base) as client:
        before = client.stamps(1.0)
        os.kill(sim.process.pid, signal.SIGSTOP)
        time.sleep(3.0)
        while client.stamps(0.05):
            pass  # what was under way
        os.kill(sim.process.pid, signal.SIGCONT)
        after = unique(client.stamps(1.0))
    assert rise([*unique(before), *after])
    assert after[0] - before[-1] < 1_000_000  # us: time stood still for it
    assert max(b - a for a, b in pairwise(after)) < 500_000
    assert len(after) < 260  # 120 Hz for a second, and not the three before as well


def test_two_simulators_with_their_own_ports_know_nothing_of_each_other(sim, serve_sim):
    one, other = sim, serve_sim()
    with Client(one.base) as first, Client(other.base) as second:
        first.send(arm())
        assert first.stamps(0.3)
        assert second.stamps(0.3)
        assert (one.ask("state")["armed"], other.ask("state")["armed"]) == (True, False)

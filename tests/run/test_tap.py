"""The tap: passes everything on as it is, writes it down, and ends with files that can be read."""

import json
import signal
import socket
import subprocess
import sys
import time

import pytest

from racewire.core.errors import ConfigError
from racewire.run.conversation import Conversation
from racewire.run.tap import Tap, TapConfig

SIM_BASE, PILOT_BASE = 21_300, 22_300


def bound(port):
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.bind(("127.0.0.1", port))
    end.settimeout(5.0)
    return end


@pytest.fixture
def ends():
    """Return the sockets of a simulator behind the tap and of a pilot before it, by name."""
    sockets = {
        "sim": bound(14560 + SIM_BASE),
        "sim_video": bound(5601 + SIM_BASE),
        "pilot": bound(14550 + PILOT_BASE),
        "pilot_video": bound(5600 + PILOT_BASE),
    }
    yield sockets
    for end in sockets.values():
        end.close()


def say(end, data, port):
    end.sendto(data, ("127.0.0.1", port))


def test_datagrams_pass_both_ways_unchanged_and_are_logged(tmp_path, ends):
    config = TapConfig(
        sim_base=SIM_BASE,
        pilot_base=PILOT_BASE,
        log=tmp_path / "a.mcap",
        tlog=tmp_path / "a.tlog",
        duration_s=0.3,
    )
    before = time.time_ns()
    with Tap(config) as tap:
        say(ends["sim"], b"telemetry", 14550 + SIM_BASE)
        say(ends["sim_video"], b"v" * 1400, 5600 + SIM_BASE)
        say(ends["pilot"], b"command", 14560 + PILOT_BASE)
        tap.run(None)
        recorded = tap.result()
    assert ends["pilot"].recvfrom(2000) == (b"telemetry", ("127.0.0.1", 14560 + PILOT_BASE))
    assert ends["pilot_video"].recvfrom(2000) == (b"v" * 1400, ("127.0.0.1", 5601 + PILOT_BASE))
    assert ends["sim"].recvfrom(2000) == (b"command", ("127.0.0.1", 14550 + SIM_BASE))
    assert recorded.datagrams == {"wire/down/mavlink": 1, "wire/down/video": 1, "wire/up/mavlink": 1}
    assert recorded.not_passed_on == {}
    logged = list(Conversation(config.log))
    assert {(s.way, s.channel, s.data) for s in logged} == {
        ("down", "mavlink", b"telemetry"),
        ("down", "video", b"v" * 1400),
        ("up", "mavlink", b"command"),
    }
    assert all(before <= s.t_ns <= time.time_ns() for s in logged)
    assert config.tlog.read_bytes() == b""


def test_nobody_listening_is_counted(tmp_path):
    config = TapConfig(sim_base=SIM_BASE, pilot_base=PILOT_BASE, log=tmp_path / "a.mcap", duration_s=0.3)
    with Tap(config) as tap, bound(14560 + SIM_BASE) as sim:
        for _ in range(3):
            say(sim, b"x", 14550 + SIM_BASE)
        tap.run(None)
        assert tap.result().datagrams == {"wire/down/mavlink": 3}
    assert len(list(Conversation(config.log))) == 3


def test_a_tap_that_would_hear_itself_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="would hear itself"):
        Tap(TapConfig(sim_base=7, pilot_base=7, log=tmp_path / "a.mcap"))


def test_a_taken_port_is_named_and_the_others_are_released(tmp_path):
    config = TapConfig(sim_base=SIM_BASE, pilot_base=PILOT_BASE, log=tmp_path / "a.mcap")
    with (
        bound(5601 + PILOT_BASE),
        pytest.raises(ConfigError, match=f"cannot bind UDP 127.0.0.1:{5601 + PILOT_BASE}"),
    ):
        Tap(config)
    with Tap(config):
        pass


def test_ctrl_c_ends_with_130_and_files_that_can_be_read(tmp_path, ends):
    log, tlog = tmp_path / "a.mcap", tmp_path / "a.tlog"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "racewire", "record", "--sim-base", str(SIM_BASE)),
            *("--pilot-base", str(PILOT_BASE), "--log", str(log), "--tlog", str(tlog), "--json"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "recording to" in process.stderr.readline()
    say(ends["sim"], b"telemetry", 14550 + SIM_BASE)
    assert ends["pilot"].recv(100) == b"telemetry"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "racewire: interrupted"
    assert json.loads(out.splitlines()[-1])["datagrams"] == {"wire/down/mavlink": 1}
    conversation = Conversation(log)
    assert [s.data for s in conversation] == [b"telemetry"]
    assert conversation.broken is None

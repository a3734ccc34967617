"""What every verb of the command line must do: help, exit codes, one line of reason, JSON at the end."""

import json
import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from racewire import cli
from racewire.core.errors import ConfigError, RunError
from racewire.run.ports import pilot_ports, sim_ports

VERBS = [command.name or command.callback.__name__ for command in cli.app.registered_commands]
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
SHIFT, OTHER = 16_000 + 100 * WORKER, 17_000 + 100 * WORKER
"""Ports of this test process's own, below those that the system gives away."""
BASE = f"--port-base={SHIFT}"


@pytest.fixture
def call(monkeypatch, capsys):
    """Return a function that runs `racewire` in this process: exit code, lines out, lines of error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["racewire", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            cli.main()
        said = capsys.readouterr()
        return done.value.code, said.out.splitlines(), said.err.splitlines()

    return run


@pytest.mark.parametrize("verb", VERBS)
def test_it_has_help_worth_reading(call, verb):
    code, out, err = call(verb, "--help")
    assert (code, err) == (0, [])
    text = " ".join(line.strip(" │╭╮╰╯─") for line in out)
    command = next(c for c in cli.app.registered_commands if verb in (c.name, c.callback.__name__))
    assert " ".join(command.callback.__doc__.split())[:40] in text
    assert "Usage:" in text


def test_help_lists_every_verb(call):
    code, out, _ = call("--help")
    assert code == 0
    assert all(any(verb in line.split() for line in out) for verb in VERBS)
    assert call()[0] == 2


BAD = [
    (["fly away"], "No such command 'fly away'"),
    (["race", "--sped", "3"], "No such option: --sped"),
    (["race", "vq1"], "unexpected extra argument"),
    (["race", "--course"], "requires an argument"),
    (["race", "--seed", "one"], "--seed"),
    (["race", "--seed", "-1"], "--seed"),
    (["race", "--course", "vq9"], "no course 'vq9'"),
    (["race", "--course", "random:x"], "random:x"),
    (["race", "--course", "nowhere.toml"], "nowhere.toml: No such file"),
    (["race", "--build", "1234"], "no build profile '1234'"),
    (["race", "--wire", "smoke"], "no wire 'smoke'"),
    (["race", "--pilot", "ace"], "no pilot 'ace'"),
    (["race", "--pilot", "nowhere.py:Ace"], "nowhere.py: no such file"),
    (["race", "--pilot-config", "nowhere.toml"], "nowhere.toml: No such file"),
    (["race", "--vehicle", "tank"], "'tank'"),
    (["race", "--faults", "nowhere.toml"], "nowhere.toml: No such file"),
    (["race", "--log", "nowhere/run.mcap"], "nowhere/run.mcap: No such file"),
    (["race", "--realtime", "--port-base", "60000"], "--port-base 60000"),
    (["sim", "--course", "vq9"], "no course 'vq9'"),
    (["sim", "--build", "1234"], "no build profile '1234'"),
    (["sim", "--wire", "smoke"], "no wire 'smoke'"),
    (["sim", "--vehicle", "tank", BASE], "'tank'"),
    (["sim", "--start", "now"], "--start now"),
    (["sim", "--time-limit", "0"], "--time-limit"),
    (["sim", "--time-limit", "inf"], "--time-limit"),
    (["sim", "--time-limit", "nan"], "--time-limit"),
    (["sim", "--port-base", "60000"], "--port-base 60000"),
    (["sim", "--faults", "nowhere.toml"], "nowhere.toml: No such file"),
    (["sim", "--result", "nowhere/result.json"], "nowhere/result.json: No such file"),
    (["sim", "--log", "nowhere/run.mcap", BASE], "nowhere/run.mcap: No such file"),
    (["sim", "--bind", "192.0.2.1"], "cannot bind UDP 192.0.2.1"),
    (["sim", "--peer", "no-such-host.invalid", BASE], "no host 'no-such-host.invalid'"),
    (["fly", "--pilot", "ace"], "no pilot 'ace'"),
    (["fly", "--pilot-config", "nowhere.toml"], "nowhere.toml: No such file"),
    (["fly", "--wire", "smoke"], "no wire 'smoke'"),
    (["fly", "--build", "1234"], "no build profile '1234'"),
    (["fly", "--host", "no-such-host.invalid", BASE], "no host 'no-such-host.invalid'"),
    (["fly", "--host", "a" * 70 + ".b", BASE], "no host"),
    (["fly", "--bind", "192.0.2.1"], "cannot bind UDP 192.0.2.1"),
    (["fly", "--port-base", "-20000"], "--port-base -20000"),
    (["fly", "--wait", "inf"], "--wait"),
    (["fly", "--wait", "0"], "--wait"),
    (["record", "--wire", "smoke"], "no wire 'smoke'"),
    (
        ["record", "--log", "nowhere/run.mcap", f"--pilot-base={SHIFT}", f"--sim-base={OTHER}"],
        "nowhere/run.mcap",
    ),
    (["record", "--duration", "0"], "--duration"),
    (["decode"], "Missing argument"),
    (["decode", "nowhere.mcap"], "nowhere.mcap: No such file"),
    (["conformance", "--build", "1234"], "no build profile '1234'"),
    (["conformance", "--host", "no-such-host.invalid", BASE], "no host 'no-such-host.invalid'"),
    (["bench", "--only", "zzz"], "--only zzz: no figure begins so; there are quad_single"),
    (["bench", "--repeats", "0"], "--repeats"),
    (["doctor", "--warmly"], "No such option: --warmly"),
]


@pytest.mark.parametrize(
    ("arguments", "says"),
    BAD,
    ids=[" ".join(a for a in arguments if "-base=" not in a)[:60] for arguments, _ in BAD],
)
def test_a_bad_argument_is_one_line_and_exit_code_2(call, monkeypatch, tmp_path, arguments, says):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*arguments)
    assert code == 2
    assert out == []
    assert len(err) == 1
    assert err[0].startswith("racewire: ")
    assert says in err[0]
    assert list(tmp_path.iterdir()) == []


def test_every_verb_has_a_bad_argument():
    assert {arguments[0] for arguments, _ in BAD} >= set(VERBS)


@pytest.mark.parametrize("content", ["name = [", "sped = 3\n", "\x00", "imu = 3\n"])
def test_a_bad_faults_file_names_itself(call, tmp_path, content):
    path = tmp_path / "faults.toml"
    path.write_text(content, encoding="utf-8")
    code, _, err = call("race", "--faults", path)
    assert code == 2
    assert len(err) == 1
    assert str(path) in err[0]


PORTS = [
    (["sim", BASE], sim_ports("aigp", SHIFT), "simulator"),
    (["sim", "--wire", "raw", BASE], sim_ports("raw", SHIFT), "simulator"),
    (["fly", BASE], pilot_ports("aigp", SHIFT), "pilot"),
    (["fly", "--wire", "raw", BASE], pilot_ports("raw", SHIFT), "pilot"),
    (["race", "--realtime", BASE], sim_ports("aigp", SHIFT), "simulator"),
    (["race", "--realtime", BASE], pilot_ports("aigp", SHIFT), "pilot"),
    (["record", f"--sim-base={OTHER}", f"--pilot-base={SHIFT}"], sim_ports("aigp", SHIFT), "record"),
    (["record", f"--sim-base={SHIFT}", f"--pilot-base={OTHER}"], pilot_ports("aigp", SHIFT), "record"),
]
TAKEN = [(arguments, role, port) for arguments, ports, role in PORTS for port in ports]


@pytest.mark.parametrize(
    ("arguments", "role", "port"), TAKEN, ids=[f"{a[0]} {r} {p.channel} {len(a)}" for a, r, p in TAKEN]
)
def test_a_taken_port_is_named(call, monkeypatch, tmp_path, arguments, role, port):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(port.bind)
        code, out, err = call(*arguments)
    assert (code, out) == (2, [])
    address = f"{port.bind[0]}:{port.bind[1]}"
    (line,) = err
    assert line.startswith(f"racewire: {role}: cannot bind UDP {address} for {port.channel}: ")
    assert "in use" in line


def raising(error):
    def work(*_arguments, **_more):
        raise error

    return work


WORK = {"race": "fly_race", "sim": "serve", "fly": "fly_pilot", "doctor": "diagnose", "bench": "run_bench"}


@pytest.mark.parametrize("verb", WORK)
@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (RunError("the simulator fell silent"), 1, "racewire: the simulator fell silent"),
        (ConfigError("no such thing"), 2, "racewire: no such thing"),
        (KeyboardInterrupt(), 130, "racewire: interrupted"),
    ],
)
def test_errors_are_one_line_and_their_exit_code(call, monkeypatch, verb, error, code, says):
    monkeypatch.setattr(cli, WORK[verb], raising(error))
    assert call(verb) == (code, [], [says])


@pytest.mark.parametrize(("finished", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_says_whether_the_race_was_finished(call, monkeypatch, finished, code):
    result = SimpleNamespace(finished=finished, as_json=lambda: {"finished": finished})
    monkeypatch.setattr(cli, "fly_race", lambda *_: result)
    monkeypatch.setattr(cli, "serve", lambda *_: result)
    assert call("race", "--json") == (code, [json.dumps({"finished": finished})], [])
    assert call("sim")[0] == code
    monkeypatch.setattr(cli, "serve", lambda *_: None)
    assert call("sim")[0] == 1


def test_our_own_bugs_keep_their_traceback(monkeypatch):
    monkeypatch.setattr(cli, "fly_race", raising(ZeroDivisionError()))
    monkeypatch.setattr(sys, "argv", ["racewire", "race"])
    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_a_verb_that_reports_ends_with_one_json_object(call):
    code, out, _ = call("bench", "--only", "jpeg_encode", "--repeats", "1", "--json")
    assert code == 0
    assert set(json.loads(out[-1])) == {"machine", "figures"}
    code, out, _ = call("doctor", "--json")
    assert code in (0, 1)
    record = json.loads(out[-1])
    assert record["healthy"] is (code == 0)


def test_the_program_itself_keeps_to_that():
    done = subprocess.run(
        [sys.executable, "-m", "racewire", "race", "--course", "vq9"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "racewire: no course 'vq9': choose vq1, vq2, random:SEED or a .toml file"
    ]

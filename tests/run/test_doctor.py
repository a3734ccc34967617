"""The doctor: a healthy machine is healthy, and what is wrong is named."""

import io
import json
import socket
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest
from rich.console import Console

from racewire.core.errors import RunError
from racewire.run import doctor
from racewire.run.doctor import Finding, Report, diagnose
from racewire.wires.base import ChannelPorts

CONSOLE = Console(quiet=True)


@pytest.fixture
def port():
    """Return a free port's number."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(autouse=True)
def wire(monkeypatch, port):
    """Have the doctor look at one free port, so that other runs on this machine do not matter."""
    kind = SimpleNamespace(ports=(ChannelPorts("a", sim=port, pilot=port),))
    monkeypatch.setattr(doctor, "WIRES", {"toy": kind})


def found(name, warm=False):
    return {f.name: f for f in diagnose(warm=warm, console=CONSOLE).findings}[name]


def test_a_healthy_machine():
    report = diagnose(warm=False, console=CONSOLE)
    assert report.healthy, report
    assert [f.name for f in report.findings] == ["python", "libraries", "kernel cache", "ports of toy"]
    record = json.loads(json.dumps(report.as_json()))
    assert record["healthy"] is True
    assert record["findings"]["ports of toy"] == {"ok": True, "seen": "free"}
    assert "numba" in record["findings"]["libraries"]["seen"]


def test_a_taken_port_is_named(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", port))
        finding = found("ports of toy")
    assert not finding.ok
    assert finding.seen == f"taken: UDP {port}; use --port-base"
    assert found("ports of toy").ok


def test_a_missing_library_is_named(monkeypatch):
    def version(name):
        if name == "mcap":
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(doctor, "version", version)
    assert found("libraries") == Finding("libraries", ok=False, seen="missing: mcap")


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new" / "cache"))
    assert found("kernel cache").ok
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert not found("kernel cache").ok
    assert "NUMBA_CACHE_DIR" in found("kernel cache").seen


def test_warming_flies_on_both_wires_and_says_why_it_cannot(monkeypatch):
    flown = []
    monkeypatch.setattr(doctor, "warm_up", lambda config: flown.append(config.wire))
    assert found("kernels", warm=True).ok
    assert flown == ["aigp", "raw"]

    def broken(_config):
        message = "no kernel"
        raise RunError(message)

    monkeypatch.setattr(doctor, "warm_up", broken)
    assert found("kernels", warm=True) == Finding("kernels", ok=False, seen="no kernel")


def test_one_thing_wrong_is_a_sick_machine():
    report = Report((Finding("a", ok=True, seen=""), Finding("b", ok=False, seen="broken")))
    assert not report.healthy
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(report.render())
    assert "wrong" in console.export_text()

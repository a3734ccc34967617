"""Ports: the published ones by default, all of them shifted together."""

import pytest

from racewire.core.errors import ConfigError
from racewire.run.ports import pilot_ports, sim_ports
from racewire.run.sockets import Port
from racewire.wires import WIRES

HERE = "127.0.0.1"


def test_the_simulator_binds_and_sends_where_the_original_does():
    assert sim_ports("aigp", 0) == [
        Port("mavlink", (HERE, 14560), (HERE, 14550)),
        Port("video", (HERE, 5601), (HERE, 5600)),
    ]


def test_the_pilot_binds_there_and_answers_whoever_speaks():
    assert pilot_ports("aigp", 0) == [
        Port("mavlink", (HERE, 14550), (HERE, 14560), follow=True),
        Port("video", (HERE, 5600), (HERE, 5601), follow=True),
    ]


def test_frames_of_the_raw_wire_go_to_the_published_port():
    video = {p.channel: p for p in sim_ports("raw", 0)}["video"]
    assert video.peer == (HERE, 5600)


@pytest.mark.parametrize("wire", WIRES)
def test_the_base_shifts_every_port_and_the_ends_still_meet(wire):
    sim, pilot = sim_ports(wire, 1000), pilot_ports(wire, 1000)
    assert [p.channel for p in sim] == [p.channel for p in pilot]
    for mine, theirs, unshifted in zip(sim, pilot, sim_ports(wire, 0), strict=True):
        assert mine.bind[1] == unshifted.bind[1] + 1000
        assert (mine.peer, theirs.peer) == (theirs.bind, mine.bind)


@pytest.mark.parametrize("wire", WIRES)
def test_no_port_is_bound_twice(wire):
    numbers = [p.bind[1] for p in (*sim_ports(wire, 0), *pilot_ports(wire, 0))]
    assert len(set(numbers)) == len(numbers)


def test_addresses_are_taken_over():
    assert sim_ports("aigp", 0, "0.0.0.0", "10.0.0.7")[0] == Port(  # noqa: S104
        "mavlink",
        ("0.0.0.0", 14560),  # noqa: S104
        ("10.0.0.7", 14550),
    )
    assert pilot_ports("aigp", 0, "10.0.0.7", "10.0.0.8")[1] == Port(
        "video", ("10.0.0.7", 5600), ("10.0.0.8", 5601), follow=True
    )


@pytest.mark.parametrize(
    ("base", "port"), [(60_000, 14560), (-14_560, 14560), (-5601, 5601), (10**12, 14560)]
)
def test_a_base_out_of_range_is_refused_with_the_port(base, port):
    with pytest.raises(ConfigError, match=f"--port-base {base} moves port {port} out of range"):
        sim_ports("aigp", base)

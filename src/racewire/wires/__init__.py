"""Wires: datagrams in, messages out, for both ends of each link. No I/O; see `base`."""

from racewire.wires.aigp_pilot import AigpPilot
from racewire.wires.aigp_sim import AigpSim
from racewire.wires.base import ChannelPorts, WireKind
from racewire.wires.general import GeneralSim
from racewire.wires.raw import RawPilot, RawSim

WIRES: dict[str, WireKind] = {
    "aigp": WireKind(
        sim=lambda setup: AigpSim(setup) if setup.profile.vehicle is None else GeneralSim(setup),
        pilot=AigpPilot,
        rates=lambda setup: setup.profile.topic_rates(),
        ports=(ChannelPorts("mavlink", sim=14560, pilot=14550), ChannelPorts("video", sim=5601, pilot=5600)),
    ),
    "raw": WireKind(
        sim=RawSim,
        pilot=RawPilot,
        rates=lambda setup: setup.raw.topic_rates(),
        ports=(
            ChannelPorts("video", sim=5601, pilot=5600),
            ChannelPorts("telemetry", sim=5611, pilot=5610),
            ChannelPorts("command", sim=5620, pilot=5621),
        ),
    ),
}
"""Every wire, by the name that `--wire` takes. Of the raw ports only 5600 is given, the rest is ours."""

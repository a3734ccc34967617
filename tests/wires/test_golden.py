"""The wires' bytes against files that were made from the specification without racewire (make.py)."""

import math
import runpy
from pathlib import Path

import pytest
from pymavlink.dialects.v20 import common

from racewire.core.frames import Rot, Vec
from racewire.core.messages import (
    Arm,
    Attitude,
    AttitudeCommand,
    Collision,
    Heartbeat,
    Image,
    Imu,
    LocalPosition,
    MotionCommand,
    MotorCommand,
    MotorOutput,
    Odometry,
    RaceStatus,
    RateCommand,
    Reset,
    StickCommand,
    Track,
    TrackGate,
)
from racewire.wires import WIRES
from racewire.wires.base import Role, WireSetup
from racewire.wires.profile import load_profile, profile_names

BUILDS = [name for name in profile_names() if name != "general"]
GOLDEN = Path(__file__).parents[1] / "golden" / "wires"
T = 12_345_678_901
UNIX = 1_780_000_000_000_000_000
RATES = Vec(0.1, 0.2, -0.3)
EAST = Rot.from_euler(0.0, 0.0, math.pi / 2)
GATE = TrackGate(
    gate_id=0,
    position=Vec(-23.298, -0.4, -0.032),
    ned_from_gate=Rot.from_euler(0.0, 0.0, math.pi),
    width=2.72,
    height=2.72,
)

TELEMETRY = {
    "heartbeat-armed": Heartbeat(t_ns=T, armed=True),
    "heartbeat-disarmed": Heartbeat(t_ns=T, armed=False),
    "imu": Imu(t_ns=T, specific_force=Vec(-2.999, -0.002, -9.34), rates=RATES),
    "motors": MotorOutput(t_ns=T, front_left=0.1, front_right=0.2, back_left=0.3, back_right=0.4),
    "collision-gate": Collision(t_ns=T, with_gate=True, impulse=2.5),
    "collision-ground": Collision(t_ns=T, with_gate=False, impulse=0.25),
    "race-waiting": RaceStatus(t_ns=T, start_ns=None, finish_ns=None, active_gate=0, last_gate_ns=None),
    "race-finished": RaceStatus(
        t_ns=65_000_000_000,
        start_ns=12_000_000_000,
        finish_ns=52_349_807_739,
        active_gate=6,
        last_gate_ns=52_349_807_739,
    ),
    "attitude": Attitude(t_ns=T, ned_from_frd=Rot.from_euler(0.5, -0.25, 1.5), rates=RATES),
    "local_position": LocalPosition(t_ns=T, position=Vec(1.5, -2.5, 3.5), velocity=Vec(4.5, -5.5, 6.5)),
    "odometry": Odometry(
        t_ns=T,
        position=Vec(1.5, -2.5, 3.5),
        ned_from_frd=EAST,
        velocity=Vec(8.0, 4.0, 2.0),
        rates=RATES,
        resets=2,
    ),
    "track": Track(t_ns=T, gates=(GATE,)),
    "image": Image(t_ns=T, frame_id=7, jpeg=bytes(range(256)) * 6),
}
WANTED = Vec(1.5, -2.5, 3.5)
COMMANDS = {
    "heartbeat": Heartbeat(t_ns=T),
    "arm": Arm(t_ns=T, arm=True),
    "disarm": Arm(t_ns=T, arm=False),
    "reset-hard": Reset(t_ns=T, hard=True),
    "reset-soft": Reset(t_ns=T, hard=False),
    "rates": RateCommand(t_ns=T, thrust=0.265, rates=Vec(2.55, 0.96, -0.85)),
    "motors": MotorCommand(t_ns=T, front_left=0.1, front_right=0.2, back_left=0.3, back_right=0.4),
    "attitude": AttitudeCommand(t_ns=T, ned_from_frd=Rot.from_euler(0.5, -0.25, 1.5), thrust=0.265),
    "position": MotionCommand(t_ns=T, position=WANTED),
    "velocity": MotionCommand(t_ns=T, velocity=WANTED),
    "acceleration": MotionCommand(t_ns=T, acceleration=WANTED),
    "force": MotionCommand(t_ns=T, force=WANTED),
    "velocity_yaw": MotionCommand(t_ns=T, velocity=WANTED, yaw=0.5),
    "velocity_turning": MotionCommand(t_ns=T, velocity=WANTED, yaw_rate=0.25),
}
RAW = {
    "telemetry": (
        Role.SIM,
        [
            Attitude(t_ns=1_250_000_000, ned_from_frd=EAST, rates=RATES),
            Imu(t_ns=1_250_000_000, specific_force=Vec(0.0, 0.0, -9.81), rates=RATES),
        ],
    ),
    "command": (Role.PILOT, [StickCommand(t_ns=T, throttle=0.55, roll=-1.0, pitch=-1.0, yaw=-1.0)]),
}


def golden(name):
    lines = (GOLDEN / f"{name}.txt").read_text(encoding="ascii").splitlines()
    return {label: bytes.fromhex(data) for label, data in map(str.split, lines)}


def end(role, profile="3364-vq1", wire="aigp"):
    return WIRES[wire].make(role, WireSetup(profile=load_profile(profile), unix_from_boot_ns=UNIX))


def test_the_files_are_what_their_maker_makes():
    made = runpy.run_path(str(GOLDEN / "make.py"))["files"]()
    assert made == {path.name: path.read_text(encoding="ascii") for path in GOLDEN.glob("*.txt")}


@pytest.mark.parametrize("profile", BUILDS)
def test_telemetry_is_byte_for_byte_what_the_specification_says(profile):
    files = golden(profile)
    for name, message in TELEMETRY.items():
        wire = end(Role.SIM, profile)
        sent = [data for _, data in wire.send(message, T)]
        expected = [data for label, data in files.items() if label == name or label.startswith(f"{name}-")]
        if name == "track":
            first_packets = [sent[0], end_with_sequence_0(sent[2])] if sent else []
            assert first_packets == expected, name
        else:
            assert sent == expected, name


def end_with_sequence_0(packet):
    """The packet as it would have been the first: the sequence number is under the checksum."""
    message = common.MAVLink(None).decode(bytearray(packet))
    link = common.MAVLink(None, srcSystem=message.get_srcSystem(), srcComponent=message.get_srcComponent())
    return message.pack(link)


@pytest.mark.parametrize("profile", BUILDS)
def test_answers_are_byte_for_byte_what_the_specification_says(profile):
    files = golden(profile)
    for name, command in (("ack-arm", 400), ("ack-unsupported", 511)):
        wire = end(Role.SIM, profile)
        link = common.MAVLink(None, srcSystem=255)
        request = common.MAVLink_command_long_message(1, 200, command, 0, 1, 0, 0, 0, 0, 0, 0)
        wire.receive("mavlink", request.pack(link), 0)
        assert [data for _, data in wire.wake(83_000_000)] == [files[name]]
    wire = end(Role.SIM, profile)
    wire.receive("mavlink", files_of_pilot(profile)["timesync-request"], T)
    assert [data for _, data in wire.wake(T)] == [files["timesync-reply"]]


def files_of_pilot(profile):
    return golden(f"{profile}-pilot")


@pytest.mark.parametrize("profile", BUILDS)
def test_commands_are_byte_for_byte_what_the_specification_says(profile):
    files = files_of_pilot(profile)
    for name, message in COMMANDS.items():
        expected = [files[name]] if name in files else []
        assert [data for _, data in end(Role.PILOT, profile).send(message, 0)] == expected, name
    pilot = end(Role.PILOT, profile)
    request = [data for _, data in pilot.wake(987_654_321)][1]
    assert end_with_sequence_0(request) == files["timesync-request"]


def test_raw_datagrams_are_byte_for_byte_what_the_seed_says():
    files = golden("raw")
    for name, (role, messages) in RAW.items():
        wire = end(role, wire="raw")
        sent = [datagram for message in messages for datagram in wire.send(message, T)]
        assert sent == [(name, files[name])], name


@pytest.mark.parametrize("profile", BUILDS)
def test_a_client_with_plain_pymavlink_reads_the_documented_numbers(profile):
    files = golden(profile)
    link = common.MAVLink(None)

    def read(name):
        return link.decode(bytearray(files[name]))

    assert (read("heartbeat-armed").base_mode, read("heartbeat-armed").system_status) == (193, 4)
    assert not read("heartbeat-disarmed").base_mode & 128
    imu = read("imu")
    assert (imu.time_usec, imu.fields_updated, imu.id) == (12_345_678, 63, 0)
    assert (imu.xgyro, imu.ygyro, imu.zgyro) == pytest.approx((-0.1, -0.2, 0.3))
    assert (imu.xacc, imu.yacc, imu.zacc) == pytest.approx((-2.999, -0.002, -9.34))
    assert all(math.isnan(v) for v in (imu.xmag, imu.ymag, imu.zmag, imu.abs_pressure, imu.temperature))
    assert len(files["imu"]) == 10 + 61 + 2
    assert read("motors").actuator[:4] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert read("collision-gate").id == 1001
    assert read("collision-ground").id == 1002
    assert read("collision-gate").horizontal_minimum_delta == 2.5
    assert read("timesync-reply").ts1 == 987_654_321
    assert (read("ack-arm").command, read("ack-arm").result) == (400, 0)
    for name, data in files.items():
        if not name.startswith("image"):
            assert (read(name).get_srcSystem(), read(name).get_srcComponent()) == (1, 200)
            assert data[0] == 0xFD

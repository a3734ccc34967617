"""The vehicle for general MAVLink tools, asked by plain pymavlink."""

import math
import struct

import pytest
from pymavlink.dialects.v20 import common

from racewire.core.frames import Rot, Vec
from racewire.core.messages import (
    Arm,
    Attitude,
    AttitudeCommand,
    Heartbeat,
    Imu,
    LocalPosition,
    MotionCommand,
    RateCommand,
)
from racewire.wires.base import Malformed, WireSetup
from racewire.wires.general import GeneralSim
from racewire.wires.profile import load_profile

S = 10**9
UNIX = 1_780_000_000 * S
ZERO = Vec(0.0, 0.0, 0.0)
OFFBOARD, HOLD = 6 << 16, 4 << 16 | 3 << 24


def vehicle():
    return GeneralSim(WireSetup(profile=load_profile("general"), unix_from_boot_ns=UNIX))


def asked(message):
    return message.pack(common.MAVLink(None, srcSystem=245, srcComponent=190))


def command(number, *params):
    return asked(common.MAVLink_command_long_message(1, 1, number, 0, *(*params, *[0] * 7)[:7]))


def read(datagrams):
    link = common.MAVLink(None)
    return [link.decode(bytearray(data)) for channel, data in datagrams if channel == "mavlink"]


def answers(wire, data, now=0):
    """Return what the wire answers to a datagram, and check that it says nothing to the simulator."""
    assert wire.receive("mavlink", data, now) == []
    assert wire.due() is not None
    return read(wire.wake(now + 10**7))


def told(wire, message, now=0):
    return {m.get_type(): m for m in read(wire.send(message, now))}


def value_of(m):
    if m.param_type == common.MAV_PARAM_TYPE_INT32:
        return struct.unpack("<i", struct.pack("<f", m.param_value))[0]
    return m.param_value


def fetch(wire, name):
    (m,) = answers(wire, asked(common.MAVLink_param_request_read_message(1, 1, name, -1)))
    return value_of(m)


def put(wire, name, value, kind):
    field = value if kind == 9 else struct.unpack("<f", struct.pack("<i", value))[0]
    (m,) = answers(wire, asked(common.MAVLink_param_set_message(1, 1, name, field, kind)))
    return value_of(m)


def test_all_parameters_come_in_order_and_typed():
    got = answers(vehicle(), asked(common.MAVLink_param_request_list_message(1, 1)))
    assert [m.param_index for m in got] == list(range(len(got)))
    assert {m.param_count for m in got} == {len(got)}
    values = {m.param_id: value_of(m) for m in got}
    assert values["MAV_SYS_ID"] == 1
    assert values["RW_IMU_EVERY"] == 1
    assert values["MPC_THR_MAX"] == 1.0
    assert {m.param_id for m in got if m.param_type == 6} >= {"MAV_TYPE", "RW_IMU_EVERY"}


def test_a_parameter_is_read_by_name_and_by_number():
    wire = vehicle()
    (by_name,) = answers(wire, asked(common.MAVLink_param_request_read_message(1, 1, b"MPC_THR_MAX", -1)))
    request = common.MAVLink_param_request_read_message(1, 1, b"", by_name.param_index)
    assert answers(wire, asked(request))[0].param_id == "MPC_THR_MAX"


@pytest.mark.parametrize("index", [-2, 99])
def test_a_parameter_that_is_not_there_is_not_answered(index):
    wire = vehicle()
    assert (
        wire.receive("mavlink", asked(common.MAVLink_param_request_read_message(1, 1, b"", index)), 0) == []
    )
    assert wire.receive("mavlink", asked(common.MAVLink_param_set_message(1, 1, b"NO", 1.0, 9)), 0) == []
    assert wire.due() is None


@pytest.mark.parametrize(
    ("name", "kind", "value", "then"),
    [
        (b"MC_YAWRATE_MAX", 9, 90.0, 90.0),
        (b"MC_YAWRATE_MAX", 9, -1.0, 1117.0),
        (b"MC_YAWRATE_MAX", 9, math.nan, 1117.0),
        (b"MC_YAWRATE_MAX", 6, 90, 1117.0),
        (b"RW_IMU_EVERY", 6, 5, 5),
        (b"RW_IMU_EVERY", 6, 0, 1),
        (b"RW_IMU_EVERY", 9, 5.0, 1),
        (b"MAV_SYS_ID", 6, 2, 1),
    ],
)
def test_a_change_is_answered_with_the_value_in_force(name, kind, value, then):
    wire = vehicle()
    assert put(wire, name, value, kind) == then
    assert fetch(wire, name) == then


def rates(roll, pitch, yaw, thrust, mask=128, q=(0.0, 0.0, 0.0, 0.0)):
    return asked(common.MAVLink_set_attitude_target_message(0, 1, 1, mask, q, roll, pitch, yaw, thrust))


def test_rates_are_true_ones_within_the_limits_of_the_parameters():
    wire = vehicle()
    (flown,) = wire.receive("mavlink", rates(1.0, -2.0, 3.0, 0.9), 5)
    assert (flown.t_ns, flown.rates) == (5, Vec(1.0, -2.0, 3.0))
    assert flown.thrust == pytest.approx(0.9)
    put(wire, b"MC_ROLLRATE_MAX", 30.0, 9)
    put(wire, b"MC_PITCHRATE_MAX", 60.0, 9)
    put(wire, b"MC_YAWRATE_MAX", 90.0, 9)
    put(wire, b"MPC_THR_MAX", 0.5, 9)
    (held,) = wire.receive("mavlink", rates(1.0, -2.0, 3.0, 0.9), 5)
    turned = [math.degrees(r) for r in (held.rates.x, held.rates.y, held.rates.z)]
    assert turned == pytest.approx([30.0, -60.0, 90.0])
    assert held.thrust == 0.5


def test_an_attitude_is_held_as_mavlink_has_it():
    wire = vehicle()
    put(wire, b"MPC_THR_MAX", 0.25, 9)
    q = Rot.from_euler(0.3, -0.2, 2.0)
    (held,) = wire.receive("mavlink", rates(9.0, 9.0, 9.0, 0.5, 7, (q.w, q.x, q.y, q.z)), 0)
    assert isinstance(held, AttitudeCommand)
    assert held.ned_from_frd.euler() == pytest.approx((0.3, -0.2, 2.0), abs=1e-6)
    assert held.thrust == 0.25


def test_imu_samples_are_thinned_by_the_parameter():
    wire = vehicle()
    imu = Imu(t_ns=0, specific_force=ZERO, rates=Vec(0.1, 0.2, 0.3))
    (first,) = read(wire.send(imu, 0))
    assert (first.xgyro, first.ygyro, first.zgyro) == pytest.approx((0.1, 0.2, 0.3))
    put(wire, b"RW_IMU_EVERY", 4, 6)
    assert sum(len(wire.send(imu, 0)) for _ in range(40)) == 10


@pytest.mark.parametrize(
    ("number", "params", "result", "then"),
    [
        (512, (148,), 0, "AUTOPILOT_VERSION"),
        (520, (1,), 0, "AUTOPILOT_VERSION"),
        (512, (242,), 0, "HOME_POSITION"),
        (410, (), 0, "HOME_POSITION"),
        (512, (245,), 0, "EXTENDED_SYS_STATE"),
        (512, (1,), 0, "SYS_STATUS"),
        (512, (49,), 0, "GPS_GLOBAL_ORIGIN"),
        (512, (9999,), 3, None),
        (512, (math.nan,), 3, None),
        (22, (), 3, None),
        (176, (1, 6), 0, None),
        (176, (1, 2), 2, None),
        (176, (1, math.nan), 2, None),
        (511, (245, 1e6), 3, None),
    ],
)
def test_commands_are_acknowledged_for_what_they_are(number, params, result, then):
    ack, *rest = answers(vehicle(), command(number, *params))
    assert (ack.get_type(), ack.command, ack.result) == ("COMMAND_ACK", number, result)
    assert [m.get_type() for m in rest] == ([then] if then else [])


def test_the_version_says_how_integers_travel():
    _, version = answers(vehicle(), command(512, 148))
    assert version.capabilities & common.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE
    assert version.capabilities & common.MAV_PROTOCOL_CAPABILITY_SET_ATTITUDE_TARGET
    assert not version.capabilities & common.MAV_PROTOCOL_CAPABILITY_FTP
    assert version.flight_sw_version >> 24 == 1


def test_arming_reaches_the_simulator():
    wire = vehicle()
    assert wire.receive("mavlink", command(400, 1.0), 3) == [Arm(t_ns=3, arm=True)]
    (ack,) = read(wire.wake(S))
    assert (ack.command, ack.result) == (400, 0)


def test_a_command_for_another_vehicle_is_left_alone():
    wire = vehicle()
    other = common.MAVLink_command_long_message(7, 1, 400, 0, 1.0, 0, 0, 0, 0, 0, 0)
    assert wire.receive("mavlink", asked(other), 3) == []
    assert wire.due() is None


def test_the_mode_asked_for_is_the_mode_told():
    wire = vehicle()
    beat = Heartbeat(t_ns=0, armed=True)
    assert told(wire, beat)["HEARTBEAT"].custom_mode == 5 << 16
    answers(wire, command(176, 1, 6))
    heartbeat = told(wire, beat)["HEARTBEAT"]
    assert (heartbeat.custom_mode, heartbeat.base_mode & 129) == (OFFBOARD, 129)
    wire.receive("mavlink", asked(common.MAVLink_set_mode_message(1, 1, HOLD)), 0)
    assert told(wire, beat)["HEARTBEAT"].custom_mode == HOLD


def test_hold_stops_the_vehicle():
    wire = vehicle()
    (stop,) = wire.receive("mavlink", command(176, 1, 4, 3), 9)
    assert stop == MotionCommand(t_ns=9, velocity=ZERO)
    assert read(wire.wake(9))[0].result == 0


def test_the_vehicle_looks_healthy_and_knows_its_home():
    said = told(vehicle(), Heartbeat(t_ns=0))
    assert said["SYS_STATUS"].onboard_control_sensors_health & 0x27 == 0x27
    assert said["GPS_RAW_INT"].fix_type == 3
    home = said["HOME_POSITION"]
    assert (home.latitude, home.longitude, home.altitude) == (473_977_420, 85_455_940, 488_000)


def test_the_local_position_has_a_global_one_beside_it():
    moved = LocalPosition(t_ns=S, position=Vec(100.0, -50.0, -20.0), velocity=Vec(1.0, 2.0, -3.0))
    said = told(vehicle(), moved)
    assert (said["LOCAL_POSITION_NED"].x, said["LOCAL_POSITION_NED"].vz) == (100.0, -3.0)
    there = said["GLOBAL_POSITION_INT"]
    degree = math.pi / 180.0 * 6_378_137.0
    assert there.lat - 473_977_420 == pytest.approx(1e7 * 100.0 / degree, abs=1.0)
    east = 1e7 * -50.0 / (degree * math.cos(math.radians(47.397742)))
    assert there.lon - 85_455_940 == pytest.approx(east, abs=1.0)
    assert (there.alt, there.relative_alt, there.vx, there.vz) == (508_000, 20_000, 100, -300)


def test_it_is_in_the_air_once_it_left_the_place_where_it_was_armed():
    wire = vehicle()

    def landed(height, armed):
        wire.send(LocalPosition(t_ns=0, position=Vec(0.0, 0.0, -height), velocity=ZERO), 0)
        return told(wire, Heartbeat(t_ns=0, armed=armed))["EXTENDED_SYS_STATE"].landed_state

    assert [landed(0.0, False), landed(0.1, True), landed(5.0, True), landed(5.0, False)] == [1, 1, 2, 1]


def test_attitude_has_canonical_signs():
    attitude = Attitude(t_ns=0, ned_from_frd=Rot.from_euler(0.1, -0.2, 0.3), rates=Vec(1.0, 2.0, 3.0))
    m = told(vehicle(), attitude)["ATTITUDE"]
    assert (m.roll, m.pitch, m.yaw) == pytest.approx((0.1, -0.2, 0.3), abs=1e-6)
    assert (m.rollspeed, m.pitchspeed, m.yawspeed) == (1.0, 2.0, 3.0)


def test_missions_files_and_pings_are_answered():
    wire = vehicle()
    (count,) = answers(wire, asked(common.MAVLink_mission_request_list_message(1, 1)))
    assert (count.get_type(), count.count, count.target_system) == ("MISSION_COUNT", 0, 245)
    (refused,) = answers(wire, asked(common.MAVLink_mission_count_message(1, 1, 3)))
    assert (refused.get_type(), refused.type) == ("MISSION_ACK", common.MAV_MISSION_UNSUPPORTED)
    (cleared,) = answers(wire, asked(common.MAVLink_mission_clear_all_message(1, 1)))
    assert (cleared.get_type(), cleared.type) == ("MISSION_ACK", common.MAV_MISSION_ACCEPTED)
    request = [255, 255, 3, 4, 0, 0, 0, 0] + [0] * 243
    (nak,) = answers(wire, asked(common.MAVLink_file_transfer_protocol_message(0, 1, 1, request)))
    assert list(nak.payload[:6]) == [0, 0, 3, 129, 1, 4]
    assert nak.payload[12] == 10
    (pong,) = answers(wire, asked(common.MAVLink_ping_message(77, 5, 0, 0)))
    assert (pong.time_usec, pong.seq, pong.target_system, pong.target_component) == (77, 5, 245, 190)


def test_both_ways_of_asking_for_the_time_are_understood():
    wire = vehicle()
    (usual,) = answers(wire, asked(common.MAVLink_timesync_message(0, 42)), 2 * S)
    assert (usual.tc1, usual.ts1) == (UNIX + 2 * S, 42)
    (original,) = answers(wire, asked(common.MAVLink_timesync_message(42, 0)), 2 * S)
    assert original.ts1 == 42


def test_questions_and_commands_in_one_datagram_are_all_heard():
    wire = vehicle()
    data = command(520, 1) + rates(0.1, 0.0, 0.0, 0.2) + command(410) + b"\xfdrest"
    out = wire.receive("mavlink", data, 0)
    assert [type(m) for m in out] == [RateCommand, Malformed]
    assert [m.get_type() for m in read(wire.wake(0))] == [
        "COMMAND_ACK",
        "AUTOPILOT_VERSION",
        "COMMAND_ACK",
        "HOME_POSITION",
    ]


def test_the_sequence_has_no_gap_between_answers_and_telemetry():
    wire = vehicle()
    wire.receive("mavlink", command(520, 1), 0)
    packets = read(wire.send(Heartbeat(t_ns=0), 0)) + read(wire.wake(0))
    packets += read(wire.send(Imu(t_ns=0, specific_force=ZERO, rates=ZERO), 0))
    numbers = sorted(m.get_seq() for m in packets)
    assert numbers == list(range(len(packets)))


def test_answers_waiting_are_bounded():
    wire = vehicle()
    for _ in range(1000):
        wire.receive("mavlink", asked(common.MAVLink_param_request_list_message(1, 1)), 0)
    assert len(wire.wake(0)) == 256
    assert wire.counters["answers dropped"] == 8000 - 256


def test_another_profile_has_no_such_vehicle():
    with pytest.raises(ValueError, match="no vehicle"):
        GeneralSim(WireSetup(profile=load_profile("3364-vq1")))

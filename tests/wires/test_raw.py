"""The raw wire of seed 000: byte maps, literal signs, and what is refused."""

import math
import struct

import pytest

from racewire.core.frames import Rot, Vec
from racewire.core.messages import Arm, Attitude, Heartbeat, Image, Imu, StickCommand
from racewire.wires.base import Malformed, WireSetup
from racewire.wires.profile import load_profile
from racewire.wires.raw import MOST_BYTES, RawPilot, RawSim
from racewire.wires.raw_config import load_raw_config

S = 10**9
ZERO = Vec(0.0, 0.0, 0.0)
NAN, INF = math.nan, math.inf


def setup(reencode=None):
    return WireSetup(profile=load_profile("3364-vq1"), reencode=reencode)


def telemetry(rotation=None, rates=ZERO, force=ZERO, t_ns=S):
    sim = RawSim(setup())
    rotation = rotation or Rot.identity()
    assert sim.send(Imu(t_ns=t_ns, specific_force=force, rates=rates), 0) == []
    ((channel, data),) = sim.send(Attitude(t_ns=t_ns, ned_from_frd=rotation, rates=rates), 0)
    assert channel == "telemetry"
    return data


def numbers(data):
    return struct.unpack("<4f3f3fd", data)


def test_telemetry_is_48_bytes():
    assert len(telemetry()) == 48


def test_the_time_is_seconds_since_the_start():
    assert numbers(telemetry(t_ns=1_250_000_000))[-1] == 1.25


def test_nose_up_is_plus_y_and_turned_right_is_plus_z_in_the_quaternion():
    assert numbers(telemetry(Rot.from_euler(0.0, 0.4, 0.0)))[2] == pytest.approx(math.sin(0.2))
    assert numbers(telemetry(Rot.from_euler(0.0, 0.0, 0.4)))[3] == pytest.approx(math.sin(0.2))
    assert numbers(telemetry(Rot.from_euler(0.4, 0.0, 0.0)))[1] == pytest.approx(math.sin(0.2))


def test_rolling_right_nose_rising_turning_right_are_plus_rates():
    assert numbers(telemetry(rates=Vec(0.5, 0.25, 0.125)))[4:7] == (0.5, 0.25, 0.125)


def test_at_rest_the_specific_force_is_minus_g_down():
    assert numbers(telemetry(force=Vec(0.0, 0.0, -9.8125)))[7:10] == (0.0, 0.0, -9.8125)


@pytest.mark.parametrize(
    ("field", "packed"),
    [
        ("roll", (0.55, -1.0, 0.0, 0.0)),  # max left
        ("pitch", (0.55, 0.0, -1.0, 0.0)),  # max nose-down
        ("yaw", (0.55, 0.0, 0.0, -1.0)),  # max counter-clockwise
    ],
)
def test_minus_one_is_left_nose_down_counter_clockwise(field, packed):
    data = struct.pack("<ffff", *packed)
    (read,) = RawSim(setup()).receive("command", data, 7)
    assert getattr(read, field) == -1.0
    assert read.throttle == pytest.approx(0.55)
    sticks = {"roll": 0.0, "pitch": 0.0, "yaw": 0.0, field: -1.0}
    sent = RawPilot(setup()).send(StickCommand(t_ns=0, throttle=0.55, **sticks), 0)
    assert sent == [("command", data)]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((NAN, 0, 0, 0), "command not finite"),
        ((0, INF, 0, 0), "command not finite"),
        ((1.2, 0, 0, 0), "command absurd"),
        ((-0.2, 0, 0, 0), "command absurd"),
        ((0, -1.2, 0, 0), "command absurd"),
        ((0, 0, 0, 1e30), "command absurd"),
    ],
)
def test_a_command_that_cannot_be_flown_is_a_counted_value(values, reason):
    sim = RawSim(setup())
    (refused,) = sim.receive("command", struct.pack("<ffff", *values), 3)
    assert refused == Malformed(t_ns=3, channel="command", reason=reason, size=16)
    assert sim.counters == {f"malformed: {reason}": 1}


def test_a_stick_slightly_beyond_its_end_is_at_its_end():
    (read,) = RawSim(setup()).receive("command", struct.pack("<ffff", 1.05, 1.05, -1.05, 0.0), 3)
    assert (read.throttle, read.roll, read.pitch) == (1.0, 1.0, -1.0)


@pytest.mark.parametrize("size", [0, 15, 17, 48])
def test_a_command_of_another_size_is_refused(size):
    (refused,) = RawSim(setup()).receive("command", bytes(size), 0)
    assert refused.reason == "command size"


def test_both_halves_of_telemetry_must_be_of_one_instant():
    sim = RawSim(setup())
    level = Rot.identity()
    sim.send(Imu(t_ns=1, specific_force=ZERO, rates=ZERO), 0)
    assert sim.send(Attitude(t_ns=2, ned_from_frd=level, rates=ZERO), 0) == []
    assert len(sim.send(Imu(t_ns=2, specific_force=ZERO, rates=ZERO), 0)) == 1


def test_the_simulator_is_asked_for_both_halves_at_one_rate():
    rates = load_raw_config().topic_rates()
    assert rates["imu"] == rates["attitude"] == 120
    assert rates["image"] == 30


def test_telemetry_reads_as_attitude_and_imu():
    turned = Rot.from_euler(0.1, 0.2, 0.3)
    data = telemetry(turned, Vec(0.5, 0.25, 0.125), Vec(1.0, 2.0, -9.5), 3 * S)
    attitude, imu = RawPilot(setup()).receive("telemetry", data, 0)
    assert attitude.ned_from_frd.angle_to(turned) < 1e-6
    assert attitude.rates == imu.rates == Vec(0.5, 0.25, 0.125)
    assert imu.specific_force == Vec(1.0, 2.0, -9.5)
    assert attitude.t_ns == imu.t_ns == 3 * S


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((0, 0, 0, 0, *[0] * 6, 1.0), "not a rotation"),
        ((NAN, 0, 0, 0, *[0] * 6, 1.0), "not a rotation"),
        ((1, 0, 0, 0, NAN, *[0] * 5, 1.0), "telemetry not finite"),
        ((1, 0, 0, 0, *[0] * 6, NAN), "telemetry not finite"),
        ((1, 0, 0, 0, *[0] * 6, INF), "telemetry not finite"),
        ((1, 0, 0, 0, *[0] * 6, 1e300), "stamp out of range"),
        ((1, 0, 0, 0, *[0] * 6, -1.0), "stamp out of range"),
    ],
)
def test_telemetry_that_cannot_be_is_refused(values, reason):
    pilot = RawPilot(setup())
    (refused,) = pilot.receive("telemetry", struct.pack("<4f3f3fd", *values), 0)
    assert refused.reason == reason
    assert pilot.boot_from_local_ns is None


def test_the_boot_clock_is_the_telemetrys():
    pilot = RawPilot(setup())
    assert pilot.boot_from_local_ns is None
    pilot.receive("telemetry", telemetry(t_ns=3 * S), 10 * S)
    assert pilot.boot_from_local_ns == -7 * S


def test_one_whole_jpeg_a_datagram_dated_by_the_newest_telemetry():
    jpeg = b"\xff\xd8" + bytes(1000)
    sim, pilot = RawSim(setup()), RawPilot(setup())
    assert sim.send(Image(t_ns=S, frame_id=9, jpeg=jpeg), 0) == [("video", jpeg)]
    pilot.receive("telemetry", telemetry(t_ns=3 * S), 0)
    pilot.receive("telemetry", telemetry(t_ns=3 * S - 10**7), 0)  # overtaken on the way
    assert pilot.receive("video", jpeg, 0) == [Image(t_ns=3 * S, frame_id=0, jpeg=jpeg)]
    pilot.receive("telemetry", telemetry(t_ns=S), 0)  # a new run
    assert pilot.receive("video", jpeg, 0) == [Image(t_ns=S, frame_id=1, jpeg=jpeg)]


def test_a_frame_that_fits_is_sent_as_it_is():
    jpeg = b"\xff\xd8" + bytes(MOST_BYTES - 2)
    sim = RawSim(setup(reencode=lambda *_: pytest.fail("not needed")))
    assert sim.send(Image(t_ns=0, frame_id=0, jpeg=jpeg), 0) == [("video", jpeg)]


def test_a_frame_that_is_too_large_is_re_encoded():
    asked = []

    def reencode(jpeg, limit):
        asked.append((len(jpeg), limit))
        return jpeg[:limit]

    sim = RawSim(setup(reencode))
    ((_, data),) = sim.send(Image(t_ns=0, frame_id=0, jpeg=b"\xff\xd8" + bytes(MOST_BYTES)), 0)
    assert asked == [(MOST_BYTES + 2, 65_507)]
    assert len(data) == 65_507
    assert sim.counters["frames re-encoded"] == 1


@pytest.mark.parametrize("reencode", [None, lambda *_: b"", lambda jpeg, _: jpeg])
def test_a_frame_that_stays_too_large_is_dropped_and_counted(reencode):
    sim = RawSim(setup(reencode))
    assert sim.send(Image(t_ns=0, frame_id=0, jpeg=bytes(MOST_BYTES + 1)), 0) == []
    assert sim.counters["frames too large"] == 1


def test_what_is_no_jpeg_is_refused():
    (refused,) = RawPilot(setup()).receive("video", b"GIF89a", 0)
    assert refused.reason == "not a JPEG"


def test_arming_and_heartbeats_are_not_carried():
    assert RawPilot(setup()).send(Arm(t_ns=0, arm=True), 0) == []
    assert RawSim(setup()).send(Heartbeat(t_ns=0, armed=True), 0) == []
    assert RawSim(setup()).due() is None
    assert RawPilot(setup()).due() is None

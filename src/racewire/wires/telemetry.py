"""Telemetry of the AIGP simulator: each message to its MAVLink packet and back, field by field.

Stamps are the boot clock, in us (HIGHRES_IMU, ODOMETRY, ACTUATOR_OUTPUT_STATUS) or ms (ATTITUDE,
LOCAL_POSITION_NED), rounded down. HEARTBEAT, COLLISION and COMMAND_ACK carry no time: what is read
from them is stamped with the reader's time. Signs are `signs`'. Source: spec aigp.md, section 1.3.
"""

import math
from collections.abc import Callable

from racewire.core.clock import NS_PER_MS, NS_PER_US, Nanos
from racewire.core.frames import Ned, Rot, Vec
from racewire.core.messages import (
    Ack,
    Attitude,
    Collision,
    Heartbeat,
    Imu,
    LocalPosition,
    Message,
    MotorOutput,
    Odometry,
)
from racewire.wires.base import LATEST_NS, Rejected
from racewire.wires.mavlink import Codec, Packet
from racewire.wires.profile import BuildProfile
from racewire.wires.signs import WireBody

ARM, RESET, TAKEOFF = 400, 31000, 22  # commands of COMMAND_LONG
ARMED = 128
GATE, ENVIRONMENT = 1001, 1002
ACCEPTED, REFUSED_FOR_NOW, DENIED, UNSUPPORTED = 0, 1, 2, 3  # MAV_RESULT

_NAN = math.nan
_FIELDS_UPDATED = 63  # accelerometer and gyro
_FOUR_MOTORS = 0b1111
_HARD_HIT = 1.0  # kg m/s from which the threat level is 2: a guess, the levels were seen but not their rule
_UNKNOWN_COVARIANCE = [0.0] * 21


def write(message: Message, profile: BuildProfile, codec: Codec) -> bytes | None:
    """Return the packet of a telemetry message, None if it is not one of those here."""
    match message:
        case Heartbeat():
            return _write_heartbeat(message, profile, codec)
        case Imu():
            return _write_imu(message, profile, codec)
        case Attitude():
            roll, pitch, yaw = profile.signs.attitude_to_wire(message.ned_from_frd)
            p, q, r = profile.signs.attitude_rates_to_wire(message.rates)
            return codec.encode(
                "attitude",
                time_boot_ms=stamp_ms(message.t_ns),
                roll=roll,
                pitch=pitch,
                yaw=yaw,
                rollspeed=p,
                pitchspeed=q,
                yawspeed=r,
            )
        case LocalPosition(t_ns=t_ns, position=at, velocity=v):
            return codec.encode(
                "local_position_ned",
                time_boot_ms=stamp_ms(t_ns),
                x=at.x,
                y=at.y,
                z=at.z,
                vx=v.x,
                vy=v.y,
                vz=v.z,
            )
        case Odometry():
            return _write_odometry(message, profile, codec)
        case MotorOutput():
            motors = [message.front_left, message.front_right, message.back_left, message.back_right]
            return codec.encode(
                "actuator_output_status",
                time_usec=message.t_ns // NS_PER_US,
                active=_FOUR_MOTORS,
                actuator=[*motors, *[0.0] * 28],
            )
        case Collision():
            return codec.encode(
                "collision",
                src=0,
                id=GATE if message.with_gate else ENVIRONMENT,
                action=0,
                threat_level=2 if message.impulse >= _HARD_HIT else 1,
                time_to_minimum_delta=0.0,
                altitude_minimum_delta=0.0,
                horizontal_minimum_delta=message.impulse,
            )
        case _:
            return None


def stamp_ms(t_ns: Nanos) -> int:
    """Return a 32-bit time in ms; it wraps after 49 days."""
    return t_ns // NS_PER_MS % (1 << 32)


def _write_heartbeat(message: Heartbeat, profile: BuildProfile, codec: Codec) -> bytes:
    identity = profile.identity
    return codec.encode(
        "heartbeat",
        type=identity.vehicle_type,
        autopilot=identity.autopilot,
        base_mode=identity.armed_mode if message.armed else identity.disarmed_mode,
        custom_mode=0,
        system_status=identity.armed_status if message.armed else identity.disarmed_status,
        mavlink_version=3,
    )


def _write_imu(message: Imu, profile: BuildProfile, codec: Codec) -> bytes:
    ax, ay, az = profile.signs.specific_force_to_wire(message.specific_force)
    p, q, r = profile.signs.gyro_to_wire(message.rates)
    return codec.encode(
        "highres_imu",
        time_usec=message.t_ns // NS_PER_US,
        xacc=ax,
        yacc=ay,
        zacc=az,
        xgyro=p,
        ygyro=q,
        zgyro=r,
        xmag=_NAN,
        ymag=_NAN,
        zmag=_NAN,
        abs_pressure=_NAN,
        diff_pressure=_NAN,
        pressure_alt=_NAN,
        temperature=_NAN,
        fields_updated=_FIELDS_UPDATED,
        id=0,
    )


def _write_odometry(message: Odometry, profile: BuildProfile, codec: Codec) -> bytes:
    q = profile.signs.quaternion_to_wire(message.ned_from_frd)
    v = profile.signs.velocity_to_wire(message.velocity, message.ned_from_frd)
    roll, pitch, yaw = profile.signs.odometry_rates_to_wire(message.rates)
    at = message.position
    return codec.encode(
        "odometry",
        time_usec=message.t_ns // NS_PER_US,
        frame_id=profile.identity.odometry_frame,
        child_frame_id=profile.identity.odometry_child_frame,
        x=at.x,
        y=at.y,
        z=at.z,
        q=[q.w, q.x, q.y, q.z],
        vx=v.x,
        vy=v.y,
        vz=v.z,
        rollspeed=roll,
        pitchspeed=pitch,
        yawspeed=yaw,
        pose_covariance=_UNKNOWN_COVARIANCE,
        velocity_covariance=_UNKNOWN_COVARIANCE,
        reset_counter=message.resets % 256,
    )


def read(packet: Packet, profile: BuildProfile, now: Nanos) -> Message | None:
    """Return what a telemetry packet says, None if it is not one of those here.

    `now` is the reader's time on the boot clock, for packets without a time.

    Raises
    ------
    Rejected
        If a number is not finite, a quaternion is none, or a stamp is out of range.
    """
    reader = _READERS.get(packet.get_type())
    return reader(packet, profile, now) if reader else None


def _read_heartbeat(m: Packet, _: BuildProfile, now: Nanos) -> Message:
    return Heartbeat(t_ns=now, armed=bool(m.base_mode & ARMED))


def _read_imu(m: Packet, profile: BuildProfile, _: Nanos) -> Message:
    finite(m.xacc, m.yacc, m.zacc, m.xgyro, m.ygyro, m.zgyro)
    return Imu(
        t_ns=in_range(m.time_usec * NS_PER_US),
        specific_force=profile.signs.specific_force_from_wire(m.xacc, m.yacc, m.zacc),
        rates=profile.signs.gyro_from_wire(m.xgyro, m.ygyro, m.zgyro),
    )


def _read_attitude(m: Packet, profile: BuildProfile, _: Nanos) -> Message:
    finite(m.roll, m.pitch, m.yaw, m.rollspeed, m.pitchspeed, m.yawspeed)
    return Attitude(
        t_ns=m.time_boot_ms * NS_PER_MS,
        ned_from_frd=profile.signs.attitude_from_wire(m.roll, m.pitch, m.yaw),
        rates=profile.signs.attitude_rates_from_wire(m.rollspeed, m.pitchspeed, m.yawspeed),
    )


def _read_local_position(m: Packet, _: BuildProfile, __: Nanos) -> Message:
    finite(m.x, m.y, m.z, m.vx, m.vy, m.vz)
    return LocalPosition(
        t_ns=m.time_boot_ms * NS_PER_MS, position=Vec(m.x, m.y, m.z), velocity=Vec(m.vx, m.vy, m.vz)
    )


def _read_odometry(m: Packet, profile: BuildProfile, _: Nanos) -> Message:
    finite(m.x, m.y, m.z, m.vx, m.vy, m.vz, m.rollspeed, m.pitchspeed, m.yawspeed)
    try:
        q: Rot[Ned, WireBody] = Rot.from_quaternion(*m.q)
    except ValueError as error:
        raise Rejected("not a rotation") from error
    return Odometry(
        t_ns=in_range(m.time_usec * NS_PER_US),
        position=Vec(m.x, m.y, m.z),
        ned_from_frd=profile.signs.quaternion_from_wire(q),
        velocity=profile.signs.velocity_from_wire(Vec(m.vx, m.vy, m.vz), q),
        rates=profile.signs.odometry_rates_from_wire(m.rollspeed, m.pitchspeed, m.yawspeed),
        resets=m.reset_counter,
    )


def _read_motors(m: Packet, _: BuildProfile, __: Nanos) -> Message:
    fl, fr, bl, br = m.actuator[:4]
    finite(fl, fr, bl, br)
    return MotorOutput(
        t_ns=in_range(m.time_usec * NS_PER_US), front_left=fl, front_right=fr, back_left=bl, back_right=br
    )


def _read_collision(m: Packet, _: BuildProfile, now: Nanos) -> Message:
    finite(m.horizontal_minimum_delta)
    return Collision(t_ns=now, with_gate=m.id == GATE, impulse=m.horizontal_minimum_delta)


def _read_ack(m: Packet, _: BuildProfile, now: Nanos) -> Message:
    return Ack(t_ns=now, command=m.command, accepted=m.result == ACCEPTED)


_READERS: dict[str, Callable[[Packet, BuildProfile, Nanos], Message]] = {
    "HEARTBEAT": _read_heartbeat,
    "HIGHRES_IMU": _read_imu,
    "ATTITUDE": _read_attitude,
    "LOCAL_POSITION_NED": _read_local_position,
    "ODOMETRY": _read_odometry,
    "ACTUATOR_OUTPUT_STATUS": _read_motors,
    "COLLISION": _read_collision,
    "COMMAND_ACK": _read_ack,
}


def finite(*values: float) -> None:
    """Check received numbers.

    Raises
    ------
    Rejected
        If one is not finite.
    """
    if not all(map(math.isfinite, values)):
        raise Rejected("telemetry not finite")


def in_range(t_ns: Nanos) -> Nanos:
    """Return a received stamp.

    Raises
    ------
    Rejected
        If it is negative or absurdly late.
    """
    if not 0 <= t_ns <= LATEST_NS:
        raise Rejected("stamp out of range")
    return t_ns

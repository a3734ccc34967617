"""SET_POSITION_TARGET_LOCAL_NED and SET_ACTUATOR_CONTROL_TARGET: to commands and back.

Of a position target the bits of type_mask say which numbers count. Known are the masks 3576 (position),
3527 (velocity), 3135 (acceleration) and 3647 (force). All others are read by their bits, which is a guess:
a kind of number counts if none of its three bits is set, and the first kind that counts is flown.
coordinate_frame is ignored, everything is NED. Builds whose position targets do not work fly them without
thrust. Of the actuator controls the first four are front left, front right, back left, back right; the
other four and the group are ignored. Source: spec aigp.md, section 1.7.
"""

import math
from dataclasses import replace

from racewire.core.clock import NS_PER_US, Nanos
from racewire.core.frames import Ned, Vec
from racewire.core.messages import MotionCommand, MotorCommand
from racewire.wires import telemetry
from racewire.wires.base import Rejected
from racewire.wires.mavlink import Codec, Packet
from racewire.wires.profile import BuildProfile
from racewire.wires.setpoint import read_thrust, single
from racewire.wires.signs import Triple

_POSITION, _VELOCITY, _ACCELERATION = 0b111, 0b111_000, 0b111_000_000
_IS_FORCE, _NO_YAW, _NO_YAW_RATE = 1 << 9, 1 << 10, 1 << 11
_LOCAL_NED = 1


def read_motion(profile: BuildProfile, m: Packet, now: Nanos) -> MotionCommand:
    """Return the command of a SET_POSITION_TARGET_LOCAL_NED that arrived at `now`.

    Raises
    ------
    Rejected
        If the build does not fly it, the mask ignores everything, or numbers that count are not finite or
        absurd.
    """
    commands = profile.commands
    limit, sign, mask = commands.target_limit, commands.target_yaw_sign, m.type_mask
    if commands.position_target == "refused":
        raise Rejected("position target not supported")
    command = MotionCommand(
        t_ns=now,
        yaw=None if mask & _NO_YAW else sign * _counting(m.yaw, limit),
        yaw_rate=0.0 if mask & _NO_YAW_RATE else sign * _counting(m.yaw_rate, limit),
        thrust=0.0 if commands.position_target == "unpowered" else None,
    )
    if not mask & _POSITION:
        return replace(command, position=_vector(m.x, m.y, m.z, limit))
    if not mask & _VELOCITY:
        return replace(command, velocity=_vector(m.vx, m.vy, m.vz, limit))
    if mask & _ACCELERATION:
        raise Rejected("type_mask not supported")
    pushed = _vector(m.afx, m.afy, m.afz, limit)
    return replace(command, force=pushed) if mask & _IS_FORCE else replace(command, acceleration=pushed)


def write_motion(profile: BuildProfile, command: MotionCommand, codec: Codec) -> bytes | None:
    """Return the packet of a command, None if this build does not fly it or it wants nothing."""
    if profile.commands.position_target != "flown":
        return None
    mask = _POSITION | _VELOCITY | _ACCELERATION
    position, velocity, pushed = command.position, command.velocity, command.acceleration
    if position is not None:
        mask &= ~_POSITION
    elif velocity is not None:
        mask &= ~_VELOCITY
    elif pushed is not None or command.force is not None:
        mask &= ~_ACCELERATION
        mask |= _IS_FORCE if pushed is None else 0
        pushed = command.force if pushed is None else pushed
    else:
        return None
    mask |= (_NO_YAW if command.yaw is None else 0) | (0 if command.yaw_rate else _NO_YAW_RATE)
    sign = profile.commands.target_yaw_sign
    x, y, z = _numbers(position)
    vx, vy, vz = _numbers(velocity)
    ax, ay, az = _numbers(pushed)
    return codec.encode(
        "set_position_target_local_ned",
        time_boot_ms=telemetry.stamp_ms(command.t_ns),
        target_system=profile.identity.system,
        target_component=profile.identity.component,
        coordinate_frame=_LOCAL_NED,
        type_mask=mask,
        x=x,
        y=y,
        z=z,
        vx=vx,
        vy=vy,
        vz=vz,
        afx=ax,
        afy=ay,
        afz=az,
        yaw=single(sign * (command.yaw or 0.0) + 0.0),
        yaw_rate=single(sign * command.yaw_rate + 0.0),
    )


def read_motors(profile: BuildProfile, m: Packet, now: Nanos) -> MotorCommand:
    """Return the command of a SET_ACTUATOR_CONTROL_TARGET that arrived at `now`.

    Raises
    ------
    Rejected
        If one of the first four controls is not finite or absurd.
    """
    fl, fr, bl, br = (read_thrust(control, profile.commands.thrust_slack) for control in m.controls[:4])
    return MotorCommand(t_ns=now, front_left=fl, front_right=fr, back_left=bl, back_right=br)


def write_motors(profile: BuildProfile, command: MotorCommand, codec: Codec) -> bytes:
    """Return the packet of a command."""
    motors = (command.front_left, command.front_right, command.back_left, command.back_right)
    return codec.encode(
        "set_actuator_control_target",
        time_usec=command.t_ns // NS_PER_US % (1 << 64),
        group_mlx=0,
        target_system=profile.identity.system,
        target_component=profile.identity.component,
        controls=[*map(single, motors), 0.0, 0.0, 0.0, 0.0],
    )


def _counting(value: float, limit: float) -> float:
    if not math.isfinite(value):
        raise Rejected("command not finite")
    if abs(value) > limit:
        raise Rejected("command absurd")
    return value


def _vector(x: float, y: float, z: float, limit: float) -> Vec[Ned]:
    return Vec(_counting(x, limit), _counting(y, limit), _counting(z, limit))


def _numbers(v: Vec[Ned] | None) -> Triple:
    return (0.0, 0.0, 0.0) if v is None else (single(v.x), single(v.y), single(v.z))

"""SET_ATTITUDE_TARGET: what a pilot's numbers mean as a command, and the numbers for a wanted command.

What the message means depends on its type_mask and on the build (`commands`). Results are true FRD rad/s,
as the vehicle will settle on them, true attitudes, and thrust 0..1. Source: spec aigp.md, section 1.7.
"""

import math
from collections.abc import Sequence

from racewire.core.clock import Nanos
from racewire.core.frames import Frd, Ned, Rot, Vec
from racewire.core.messages import AttitudeCommand, MotorCommand, RateCommand
from racewire.wires.base import Rejected
from racewire.wires.profile import BuildProfile
from racewire.wires.signs import Quadruple, Triple, WireBody, attitude_from_target, target_from_attitude

_LARGEST = 3.4e38  # float32


def read_thrust(thrust: float, slack: float) -> float:
    """Return a thrust clamped to 0..1.

    Raises
    ------
    Rejected
        If it is not finite, or more than `slack` outside 0..1.
    """
    if not math.isfinite(thrust):
        raise Rejected("command not finite")
    if not -slack <= thrust <= 1.0 + slack:
        raise Rejected("command absurd")
    return max(0.0, min(1.0, thrust))


def read_setpoint(
    profile: BuildProfile,
    type_mask: int,
    quaternion: Sequence[float],
    body_rates: Triple,
    thrust: float,
    now: Nanos,
) -> RateCommand | AttitudeCommand | MotorCommand:
    """Return the command of a message that arrived at `now`; `quaternion` is (w, x, y, z).

    Fields that this meaning ignores may hold anything.

    Raises
    ------
    Rejected
        If the build does not fly this type_mask, or the numbers are not finite or absurd.
    """
    commands = profile.commands
    meaning = commands.meaning(type_mask)
    if meaning == "refused":
        raise Rejected("type_mask not supported")
    u = read_thrust(thrust, commands.thrust_slack)
    if meaning == "unstabilised":
        return MotorCommand(t_ns=now, front_left=u, front_right=u, back_left=u, back_right=u)
    if meaning == "attitude":
        attitude = attitude_from_target(_rotation(quaternion))
        return AttitudeCommand(t_ns=now, ned_from_frd=attitude, thrust=u)
    if meaning == "plain_attitude":
        q = _rotation(quaternion)
        return AttitudeCommand(t_ns=now, ned_from_frd=Rot(q.w, q.x, q.y, q.z), thrust=u)
    return RateCommand(t_ns=now, thrust=u, rates=_rates(profile, meaning, quaternion, body_rates))


def _rates(profile: BuildProfile, meaning: str, quaternion: Sequence[float], body_rates: Triple) -> Vec[Frd]:
    commands = profile.commands
    if meaning == "euler_stick":
        return _saturated(profile, _scaled(commands.euler_gains, _rotation(quaternion).euler()))
    if not all(math.isfinite(rate) for rate in body_rates):
        raise Rejected("command not finite")
    if any(abs(rate) > commands.rate_limit for rate in body_rates):
        raise Rejected("command absurd")
    if meaning == "stick":
        sticks = profile.signs.stick_from_wire(*body_rates)
        roll, pitch, yaw = (c.rate(s) for c, s in zip(commands.curves, sticks, strict=True))
        return Vec(roll, pitch, yaw)
    rates = profile.signs.physical_from_wire(*body_rates)
    return _saturated(profile, _scaled(commands.physical_gains, (rates.x, rates.y, rates.z)))


def write_setpoint(profile: BuildProfile, rates: Vec[Frd]) -> tuple[int, Triple]:
    """Return (type_mask, body rates) of the message that asks this build for true `rates` (rad/s).

    What is not finite stays so: it is the vehicle's end that judges commands.
    """
    commands = profile.commands
    mask = commands.pilot_type_mask
    wanted = (rates.x, rates.y, rates.z)
    if commands.meaning(mask) == "stick":
        roll, pitch, yaw = (
            curve.stick(rate) if math.isfinite(rate) else rate
            for curve, rate in zip(commands.curves, wanted, strict=True)
        )
        return mask, profile.signs.stick_to_wire((roll, pitch, yaw))
    roll, pitch, yaw = (rate / gain for rate, gain in zip(wanted, commands.physical_gains, strict=True))
    turned = profile.signs.physical_to_wire(Vec(roll, pitch, yaw))
    return mask, (single(turned[0]), single(turned[1]), single(turned[2]))


def write_attitude(profile: BuildProfile, ned_from_frd: Rot[Ned, Frd]) -> tuple[int, Quadruple] | None:
    """Return (type_mask, quaternion) that asks this build to hold an attitude, None if it holds none."""
    plain = profile.commands.mask_of("plain_attitude")
    if plain is not None:
        q = ned_from_frd
        return plain, (q.w, q.x, q.y, q.z)
    mask = profile.commands.mask_of("attitude")
    if mask is None:
        return None
    q = target_from_attitude(ned_from_frd)
    return mask, (q.w, q.x, q.y, q.z)


def single(value: float) -> float:
    """Return `value` within what a float32 holds; NaN stays NaN."""
    return min(max(value, -_LARGEST), _LARGEST)


def _rotation(quaternion: Sequence[float]) -> Rot[Ned, WireBody]:
    try:
        return Rot.from_quaternion(*quaternion)
    except ValueError as error:
        raise Rejected("not a rotation") from error


def _scaled(gains: Triple, values: Triple) -> Triple:
    return gains[0] * values[0], gains[1] * values[1], gains[2] * values[2]


def _saturated(profile: BuildProfile, rates: Triple) -> Vec[Frd]:
    roll, pitch, yaw = (
        max(-curve.saturation, min(curve.saturation, rate))
        for curve, rate in zip(profile.commands.curves, rates, strict=True)
    )
    return Vec(roll, pitch, yaw)

"""SET_ATTITUDE_TARGET: what a pilot's numbers mean as body rates, and the numbers for wanted rates.

What the message means depends on its type_mask and on the build (spec aigp.md, section 1.7): its body
rates are stick values (`stick`) or rad/s (`physical`), or its quaternion's Euler angles are stick
values (`euler_stick`). Results are true FRD rad/s, as the vehicle will settle on them, and thrust 0..1.
"""

import math
from collections.abc import Sequence

from racewire.core.frames import Frd, Ned, Rot, Vec
from racewire.wires.base import Rejected
from racewire.wires.profile import BuildProfile
from racewire.wires.signs import Triple

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
    profile: BuildProfile, type_mask: int, quaternion: Sequence[float], body_rates: Triple
) -> Vec[Frd]:
    """Return the true body rates (rad/s) that a message asks for; `quaternion` is (w, x, y, z).

    Fields that this meaning ignores may hold anything.

    Raises
    ------
    Rejected
        If the build does not fly this type_mask, or the numbers are not finite or absurd.
    """
    commands = profile.commands
    meaning = commands.meaning(type_mask)
    if meaning is None:
        raise Rejected("type_mask not supported")
    if meaning == "euler_stick":
        assert commands.euler_gains is not None
        try:
            attitude: Rot[Ned, Frd] = Rot.from_quaternion(*quaternion)
        except ValueError as error:
            raise Rejected("not a rotation") from error
        return _saturated(profile, _scaled(commands.euler_gains, attitude.euler()))
    if not all(math.isfinite(rate) for rate in body_rates):
        raise Rejected("command not finite")
    if any(abs(rate) > commands.rate_limit for rate in body_rates):
        raise Rejected("command absurd")
    if meaning == "stick":
        sticks = profile.signs.stick_from_wire(*body_rates)
        roll, pitch, yaw = (c.rate(s) for c, s in zip(commands.curves, sticks, strict=True))
        return Vec(roll, pitch, yaw)
    assert commands.physical_gains is not None
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
    assert commands.physical_gains is not None
    roll, pitch, yaw = (rate / gain for rate, gain in zip(wanted, commands.physical_gains, strict=True))
    turned = profile.signs.physical_to_wire(Vec(roll, pitch, yaw))
    return mask, (single(turned[0]), single(turned[1]), single(turned[2]))


def single(value: float) -> float:
    """Return `value` within what a float32 holds; NaN stays NaN."""
    return min(max(value, -_LARGEST), _LARGEST)


def _scaled(gains: Triple, values: Triple) -> Triple:
    return gains[0] * values[0], gains[1] * values[1], gains[2] * values[2]


def _saturated(profile: BuildProfile, rates: Triple) -> Vec[Frd]:
    roll, pitch, yaw = (
        max(-curve.saturation, min(curve.saturation, rate))
        for curve, rate in zip(profile.commands.curves, rates, strict=True)
    )
    return Vec(roll, pitch, yaw)

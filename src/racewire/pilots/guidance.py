"""Where to accelerate: the least-effort way through the next gates.

To be at a point with a given velocity after a time T, the acceleration of least mean square is linear
in time; its first value, computed anew for every command from the present estimate, is the guidance
law. Its gains grow as T shrinks, so T is held at a least value and the aim slides beyond the gate
along the exit velocity. The velocity at a gate is that of the spline of least effort through it and the
gate after it, drawn towards the gate's normal; its size is limited by the turn there, by what is
known of the next gate and by how well the gate is known. World NED, SI. Source: Bryson & Ho (1975),
section 5.4; the cubic spline is its chain.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from racewire.core.frames import Ned, Vec
from racewire.core.jit import kernel

_GROWTH = 1.06
_TRIALS = 60


@dataclass(frozen=True, slots=True)
class GuidanceParams:
    """Speeds (m/s), accelerations (m/s^2), times (s); `data/gate.toml` says what each is."""

    speed: float
    last_speed: float
    turn_accel: float
    accel: float
    least_time: float
    ease: float
    normal_share: float
    steepest_crossing_deg: float
    clearance: float
    velocity_gain: float
    cruise_speed: float
    search_speed: float
    detour_height: float
    detour_back: float


@dataclass(frozen=True, slots=True)
class Waypoint:
    """A gate to fly through: centre, forward normal, sd of its position (m) and of its normal (rad)."""

    centre: Vec[Ned]
    forward: Vec[Ned]
    position_sd: float = 0.0
    normal_sd: float = 0.0


@dataclass(frozen=True, slots=True)
class Aim:
    """What the law wants: the acceleration now, and the velocity at the gate."""

    accel: Vec[Ned]
    exit: Vec[Ned]


def _travel_time(
    dx: float,
    dy: float,
    dz: float,
    ux: float,
    uy: float,
    uz: float,
    wx: float,
    wy: float,
    wz: float,
    most_accel: float,
    most_speed: float,
) -> float:
    """Least time for the way d, from velocity u to w, within an acceleration and a speed; see the head."""
    t = max(math.sqrt(dx * dx + dy * dy + dz * dz) / most_speed, 1e-3)
    for _ in range(_TRIALS):
        i, j = 6.0 / (t * t), 1.0 / t
        ax, ay, az = (
            i * dx - j * (4.0 * ux + 2.0 * wx),
            i * dy - j * (4.0 * uy + 2.0 * wy),
            i * dz - j * (4.0 * uz + 2.0 * wz),
        )
        bx, by, bz = (
            -i * dx + j * (2.0 * ux + 4.0 * wx),
            -i * dy + j * (2.0 * uy + 4.0 * wy),
            -i * dz + j * (2.0 * uz + 4.0 * wz),
        )
        # speed half-way
        mx, my, mz = (
            1.5 * j * dx - 0.25 * (ux + wx),
            1.5 * j * dy - 0.25 * (uy + wy),
            1.5 * j * dz - 0.25 * (uz + wz),
        )
        if (
            ax * ax + ay * ay + az * az <= most_accel * most_accel
            and bx * bx + by * by + bz * bz <= most_accel * most_accel
            and mx * mx + my * my + mz * mz <= 1.05 * most_speed * most_speed
        ):
            break
        t *= _GROWTH
    return t


travel_time = kernel(_travel_time)


def approach(position: Vec[Ned], velocity: Vec[Ned], way: Sequence[Waypoint], p: GuidanceParams) -> Aim:
    """Return the acceleration that leads through the first gates of `way` (one or more)."""
    target = way[0]
    exit_ = _exit_velocity(position, velocity, way, p)
    d = target.centre - position
    # what there is no time left to change of the velocity is no aim any more
    change = _at_most(exit_ - velocity, p.accel * p.ease * d.norm() / p.speed)
    exit_ = velocity + change
    time = travel_time(
        d.x, d.y, d.z, velocity.x, velocity.y, velocity.z, exit_.x, exit_.y, exit_.z, p.accel, p.speed
    )
    held = max(time, p.least_time)
    d += exit_ * (held - time)
    accel = d * (6.0 / (held * held)) - (velocity * 4.0 + exit_ * 2.0) * (1.0 / held)
    return Aim(_at_most(accel, 1.5 * p.accel), exit_)


def go_round(position: Vec[Ned], velocity: Vec[Ned], gate: Waypoint, p: GuidanceParams) -> Vec[Ned]:
    """Return the acceleration that leads back before a gate, over its top."""
    start = gate.centre - gate.forward * p.detour_back
    beyond = (position - gate.centre).dot(gate.forward)
    if beyond > -0.5 * p.detour_back:
        start += Vec(0.0, 0.0, -p.detour_height)
    way = start - position
    return hold(velocity, way * min(1.0, p.search_speed / max(way.norm(), 1e-3)), p)


def hold(velocity: Vec[Ned], wanted: Vec[Ned], p: GuidanceParams) -> Vec[Ned]:
    """Return the acceleration that brings the velocity to `wanted`."""
    return _at_most((wanted - velocity) * p.velocity_gain, p.accel)


def _exit_velocity(
    position: Vec[Ned], velocity: Vec[Ned], way: Sequence[Waypoint], p: GuidanceParams
) -> Vec[Ned]:
    target = way[0]
    first = target.centre - position
    span = max(first.norm(), 1e-3)
    inward = first * (1.0 / span)
    if len(way) == 1:
        natural, speed = inward, p.last_speed
    else:
        second = way[1].centre - target.centre
        length = max(second.norm(), 1e-3)
        outward = second * (1.0 / length)
        # the last velocity of the spline: along the way on, or straight through the gate after next
        after = way[1].forward if way[1].normal_sd < math.radians(15.0) else outward
        mean = 0.5 * p.speed + 0.5 * min(velocity.norm(), p.speed)
        t1, t2 = span / max(mean, 1.0), length / p.speed
        spline = (
            second * (6.0 / (t2 * t2))
            + first * (6.0 / (t1 * t1))
            - velocity * (2.0 / t1)
            - after * (2.0 * p.speed / t2)
        ) * (1.0 / (4.0 / t1 + 4.0 / t2))
        natural = spline * (1.0 / max(spline.norm(), 1e-6))
        turn = math.acos(max(-1.0, min(1.0, target.forward.dot(outward))))
        speed = min(p.speed, math.sqrt(p.turn_accel * length / max(turn, 1e-3)))
    speed *= min(1.0, max(0.4, p.clearance / max(3.0 * target.position_sd, 1e-6)))
    share = p.normal_share / (1.0 + (target.normal_sd / math.radians(15.0)) ** 2)
    way_through = _unit(target.forward * share + natural * (1.0 - share))
    return _lean(way_through, target, p) * speed


def _lean(direction: Vec[Ned], target: Waypoint, p: GuidanceParams) -> Vec[Ned]:
    """Turn a direction of crossing towards the normal until it is no steeper than allowed."""
    if target.normal_sd > math.radians(12.0):
        return direction
    cosine = direction.dot(target.forward)
    limit = math.radians(p.steepest_crossing_deg)
    if cosine >= math.cos(limit):
        return direction
    across = direction - target.forward * cosine
    size = across.norm()
    if size < 1e-6:
        return target.forward
    return target.forward * math.cos(limit) + across * (math.sin(limit) / size)


def _unit(v: Vec[Ned]) -> Vec[Ned]:
    return v * (1.0 / max(v.norm(), 1e-9))


def _at_most(v: Vec[Ned], size: float) -> Vec[Ned]:
    norm = v.norm()
    return v * (size / norm) if norm > size else v

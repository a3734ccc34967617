"""Flight of a quadrotor as accelerations: thrust along body up, drag and lift per body axis, rate loop.

World NED, body FRD, SI units. Source: spec aigp.md, section 5. The thrust acceleration and the rate
set-points acting now are part of the state and constant through a step (`delay.py` changes them between
steps), so the thrust curve is evaluated once per change of command. The rate loop is a first-order lag
whose slope is clipped to the angular-acceleration limits; it is integrated by the same RK4 as the rest.
With steps of a quarter of the lag the rates are right to 2e-5 of a change of command, to 1e-3 where the
limits clip. Nothing here calls a trigonometric function, and the square root is correctly rounded on
every machine.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import (
    matrix_apply,
    matrix_apply_inverse,
    quat_derivative,
    quat_matrix,
    quat_normalise,
)
from racewire.core.jit import kernel
from racewire.vehicles.base import GRAVITY
from racewire.vehicles.quad_params import Plant


class QuadState(NamedTuple):
    """The state's named scalars, in the order of the state vector."""

    north: float
    """Position, m."""
    east: float
    down: float
    vn: float
    """Velocity along north, east, down, m/s."""
    ve: float
    vd: float
    qw: float
    """Attitude `ned_from_frd`."""
    qx: float
    qy: float
    qz: float
    p: float
    """Body rates, rad/s."""
    q: float
    r: float
    thrust: float
    """Thrust acceleration acting now, m/s^2."""
    p_set: float
    """Body rates the rate loop works towards now, rad/s."""
    q_set: float
    r_set: float


class Slope(NamedTuple):
    """Time derivatives of the first thirteen fields of `QuadState`."""

    north: float
    east: float
    down: float
    vn: float
    ve: float
    vd: float
    qw: float
    qx: float
    qy: float
    qz: float
    p: float
    q: float
    r: float


STATE_SIZE = len(QuadState._fields)
"""How much of the state vector `QuadState` takes."""


@kernel
def load_state(v: NDArray[np.float64]) -> QuadState:
    """Return the named scalars of a state vector."""
    return QuadState(
        v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8],
        v[9], v[10], v[11], v[12], v[13], v[14], v[15], v[16],
    )  # fmt: skip


@kernel
def store_state(v: NDArray[np.float64], s: QuadState) -> None:
    """Write the named scalars into a state vector."""
    v[0], v[1], v[2], v[3], v[4], v[5] = s.north, s.east, s.down, s.vn, s.ve, s.vd
    v[6], v[7], v[8], v[9], v[10], v[11], v[12] = s.qw, s.qx, s.qy, s.qz, s.p, s.q, s.r
    v[13], v[14], v[15], v[16] = s.thrust, s.p_set, s.q_set, s.r_set


@kernel
def specific_force(u: float, v: float, w: float, thrust: float, plant: Plant) -> tuple[float, float, float]:
    """Return what an IMU feels in free flight (body, m/s^2) at the body velocity (u, v, w)."""
    drag_z = plant.drag_sinking if w > 0.0 else plant.drag_rising
    return (
        -plant.drag_x * u * abs(u),
        -plant.drag_y * v * abs(v),
        -drag_z * w * abs(w) - plant.lift * u * u - thrust,
    )


@kernel
def acceleration(s: QuadState, plant: Plant) -> tuple[float, float, float]:
    """Return the acceleration in free flight (NED, m/s^2)."""
    ned_from_frd = quat_matrix(s.qw, s.qx, s.qy, s.qz)
    u, v, w = matrix_apply_inverse(ned_from_frd, s.vn, s.ve, s.vd)
    fx, fy, fz = specific_force(u, v, w, s.thrust, plant)
    an, ae, ad = matrix_apply(ned_from_frd, fx, fy, fz)
    return an, ae, ad + GRAVITY


@kernel
def rk4(s: QuadState, h: float, plant: Plant) -> QuadState:
    """Return the state one classical Runge-Kutta step of `h` seconds later in free flight.

    `slope` is a local function because Numba puts it in line: a called one costs a third more.
    """

    def slope(s: QuadState) -> Slope:
        an, ae, ad = acceleration(s, plant)
        qw, qx, qy, qz = quat_derivative(s.qw, s.qx, s.qy, s.qz, s.p, s.q, s.r)
        p = clip((s.p_set - s.p) * plant.rate_bandwidth, plant.accel_p)
        q = clip((s.q_set - s.q) * plant.rate_bandwidth, plant.accel_q)
        r = clip((s.r_set - s.r) * plant.rate_bandwidth, plant.accel_r)
        return Slope(s.vn, s.ve, s.vd, an, ae, ad, qw, qx, qy, qz, p, q, r)

    k1 = slope(s)
    k2 = slope(_moved(s, k1, 0.5 * h))
    k3 = slope(_moved(s, k2, 0.5 * h))
    k4 = slope(_moved(s, k3, h))
    return _renormalised(_moved(s, _mean(k1, k2, k3, k4), h))


@kernel
def placed(
    s: QuadState, north: float, east: float, down: float, vn: float, ve: float, vd: float
) -> QuadState:
    """Return `s` with another position and velocity."""
    return QuadState(
        north, east, down, vn, ve, vd, s.qw, s.qx, s.qy, s.qz,
        s.p, s.q, s.r, s.thrust, s.p_set, s.q_set, s.r_set,
    )  # fmt: skip


@kernel
def stilled(s: QuadState) -> QuadState:
    """Return `s` with neither velocity nor body rates."""
    return QuadState(
        s.north, s.east, s.down, 0.0, 0.0, 0.0, s.qw, s.qx, s.qy, s.qz,
        0.0, 0.0, 0.0, s.thrust, s.p_set, s.q_set, s.r_set,
    )  # fmt: skip


@kernel
def clip(x: float, limit: float) -> float:
    """Return `x` kept within -limit to +limit."""
    return limit if x > limit else max(x, -limit)


@kernel
def _moved(s: QuadState, k: Slope, h: float) -> QuadState:
    return QuadState(
        s.north + h * k.north,
        s.east + h * k.east,
        s.down + h * k.down,
        s.vn + h * k.vn,
        s.ve + h * k.ve,
        s.vd + h * k.vd,
        s.qw + h * k.qw,
        s.qx + h * k.qx,
        s.qy + h * k.qy,
        s.qz + h * k.qz,
        s.p + h * k.p,
        s.q + h * k.q,
        s.r + h * k.r,
        s.thrust,
        s.p_set,
        s.q_set,
        s.r_set,
    )


@kernel
def _mean(k1: Slope, k2: Slope, k3: Slope, k4: Slope) -> Slope:
    return Slope(
        _weigh(k1.north, k2.north, k3.north, k4.north),
        _weigh(k1.east, k2.east, k3.east, k4.east),
        _weigh(k1.down, k2.down, k3.down, k4.down),
        _weigh(k1.vn, k2.vn, k3.vn, k4.vn),
        _weigh(k1.ve, k2.ve, k3.ve, k4.ve),
        _weigh(k1.vd, k2.vd, k3.vd, k4.vd),
        _weigh(k1.qw, k2.qw, k3.qw, k4.qw),
        _weigh(k1.qx, k2.qx, k3.qx, k4.qx),
        _weigh(k1.qy, k2.qy, k3.qy, k4.qy),
        _weigh(k1.qz, k2.qz, k3.qz, k4.qz),
        _weigh(k1.p, k2.p, k3.p, k4.p),
        _weigh(k1.q, k2.q, k3.q, k4.q),
        _weigh(k1.r, k2.r, k3.r, k4.r),
    )


@kernel
def _weigh(a: float, b: float, c: float, d: float) -> float:
    return (a + 2.0 * (b + c) + d) * (1.0 / 6.0)


@kernel
def _renormalised(s: QuadState) -> QuadState:
    qw, qx, qy, qz = quat_normalise(s.qw, s.qx, s.qy, s.qz)
    return QuadState(
        s.north, s.east, s.down, s.vn, s.ve, s.vd, qw, qx, qy, qz,
        s.p, s.q, s.r, s.thrust, s.p_set, s.q_set, s.r_set,
    )  # fmt: skip

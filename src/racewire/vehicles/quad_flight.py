"""The flight of a quadrotor in time: commands that act late, steps between, contact with a surface.

World NED, body FRD, SI units. A state vector is the fields of `QuadState`, the clock, and two delay lines
of past commands, one for the thrust and one for the rates (`delay.py`). A step ends where a delayed
command takes effect, and each stretch between is cut into equal RK4 steps of at most `dt_max`. One
kernel, `_fly`, serves the single step, the loop and the batch, so their results agree bit for bit.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.clock import NS_PER_S
from racewire.core.frames import Frd, Ned, Pose, quat_rotate
from racewire.core.jit import batch_kernel, kernel, prange
from racewire.vehicles.delay import due, empty_line, line_size, push, take
from racewire.vehicles.ground import leaves, stopped_at, supported_velocity
from racewire.vehicles.integrate import plan_substeps
from racewire.vehicles.quad_dynamics import (
    STATE_SIZE,
    QuadState,
    acceleration,
    clip,
    load_state,
    placed,
    rk4,
    specific_force,
    stilled,
    store_state,
)
from racewire.vehicles.quad_params import Plant, load_plant, thrust_of

CLOCK = STATE_SIZE
"""Where the time since `initial` stands in a state vector, whole nanoseconds."""

THRUST_LINE = CLOCK + 1
RATE_LINE = THRUST_LINE + line_size(1)
VECTOR_SIZE = RATE_LINE + line_size(3)
"""Length of a state vector."""


def at_rest(pose: Pose[Ned, Frd], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the state vector at rest at `pose`, its command zero for ever before."""
    x, a = pose.position, pose.rotation
    idle = thrust_of(numbers, 0.0)
    fields = QuadState(x.x, x.y, x.z, 0.0, 0.0, 0.0, a.w, a.x, a.y, a.z, 0.0, 0.0, 0.0, idle, 0.0, 0.0, 0.0)
    clock = np.zeros(1)
    return np.concatenate((np.array(fields), clock, empty_line((0.0,)), empty_line((0.0, 0.0, 0.0))))


@kernel
def _hear(
    v: NDArray[np.float64], thrust: float, p: float, q: float, r: float, numbers: NDArray[np.float64]
) -> None:
    """Put a command given now on the delay lines, unless it is not finite."""
    if math.isfinite(thrust) and math.isfinite(p) and math.isfinite(q) and math.isfinite(r):
        plant = load_plant(numbers)
        push(v, THRUST_LINE, v[CLOCK], plant.thrust_delay_ns, (thrust,))
        push(v, RATE_LINE, v[CLOCK], plant.rate_delay_ns, (p, q, r))


@kernel
def _obey(s: QuadState, v: NDArray[np.float64], numbers: NDArray[np.float64]) -> QuadState:
    """Return the state with the commands that are due now in effect."""
    plant = load_plant(numbers)
    thrust, p, q, r = s.thrust, s.p_set, s.q_set, s.r_set
    while due(v, THRUST_LINE) <= v[CLOCK]:
        i = take(v, THRUST_LINE, 1, plant.thrust_delay_ns)
        thrust = thrust_of(numbers, min(1.0, max(0.0, v[i])))
    while due(v, RATE_LINE) <= v[CLOCK]:
        i = take(v, RATE_LINE, 3, plant.rate_delay_ns)
        p = clip(plant.gain_p * v[i], plant.limit_p)
        q = clip(plant.gain_q * v[i + 1], plant.limit_q)
        r = clip(plant.gain_r * v[i + 2], plant.limit_r)
    return QuadState(
        s.north, s.east, s.down, s.vn, s.ve, s.vd, s.qw, s.qx, s.qy, s.qz, s.p, s.q, s.r, thrust, p, q, r
    )


@kernel
def _stretch(v: NDArray[np.float64], end_ns: float, left: float) -> tuple[float, float]:
    """Return how long (s) no further command takes effect, at most `left`, and the clock then."""
    until_ns = min(due(v, THRUST_LINE), due(v, RATE_LINE))
    if until_ns >= end_ns:
        return left, end_ns
    return (until_ns - v[CLOCK]) / NS_PER_S, until_ns


@kernel
def _fly(
    v: NDArray[np.float64],
    thrust: float,
    p: float,
    q: float,
    r: float,
    dt: float,
    steps: int,
    carried: bool,
    nn: float,
    ne: float,
    nd: float,
    numbers: NDArray[np.float64],
) -> None:
    """Advance `v` by `steps` steps of `dt` with one command held, on a surface with the normal n or not.

    The loops stand in one function on purpose: Numba counts references to an array, atomically, in
    every function that passes one through a loop, and a step is no longer than a few such counts.
    """
    _hear(v, thrust, p, q, r, numbers)
    plant = load_plant(numbers)
    s = load_state(v)
    for _ in range(steps):
        end_ns = v[CLOCK] + math.floor(dt * NS_PER_S + 0.5)
        left = dt
        while left > 0.0:
            if min(due(v, THRUST_LINE), due(v, RATE_LINE)) <= v[CLOCK]:
                s = _obey(s, v, numbers)
            span, v[CLOCK] = _stretch(v, end_ns, left)
            n = plan_substeps(span, plant.dt_max)
            for _ in range(n):
                s = _carried(s, nn, ne, nd, span / n, plant) if carried else rk4(s, span / n, plant)
            left -= span
    store_state(v, s)


@kernel
def _carried(s: QuadState, nn: float, ne: float, nd: float, h: float, plant: Plant) -> QuadState:
    """Return the state one step of `h` seconds later on a surface with the normal n."""
    vn, ve, vd = stopped_at(s.vn, s.ve, s.vd, nn, ne, nd)
    s = placed(s, s.north, s.east, s.down, vn, ve, vd)
    an, ae, ad = acceleration(s, plant)
    free = rk4(s, h, plant)
    if leaves(vn, ve, vd, an, ae, ad, nn, ne, nd, h):
        return free
    vn, ve, vd, still = supported_velocity(vn, ve, vd, an, ae, ad, nn, ne, nd, plant.friction, plant.slow, h)
    if still:
        return stilled(s)
    return placed(free, s.north + h * vn, s.east + h * ve, s.down + h * vd, vn, ve, vd)


@kernel
def step(
    v: NDArray[np.float64], command: NDArray[np.float64], dt: float, numbers: NDArray[np.float64]
) -> None:
    """Advance one vehicle by one step of free flight."""
    _fly(v, command[0], command[1], command[2], command[3], dt, 1, False, 0.0, 0.0, 0.0, numbers)


@kernel
def step_supported(
    v: NDArray[np.float64],
    command: NDArray[np.float64],
    dt: float,
    nn: float,
    ne: float,
    nd: float,
    numbers: NDArray[np.float64],
) -> None:
    """Advance one vehicle by one step on a surface with the normal n."""
    _fly(v, command[0], command[1], command[2], command[3], dt, 1, True, nn, ne, nd, numbers)


@kernel
def run(
    v: NDArray[np.float64],
    commands: NDArray[np.float64],
    dt: float,
    steps: int,
    numbers: NDArray[np.float64],
) -> None:
    """Fly each row of `commands`, shape (M, 4), for `steps` steps."""
    for i in range(commands.shape[0]):
        thrust, p, q, r = commands[i, 0], commands[i, 1], commands[i, 2], commands[i, 3]
        _fly(v, thrust, p, q, r, dt, steps, False, 0.0, 0.0, 0.0, numbers)


@batch_kernel
def step_batch(
    states: NDArray[np.float64],
    commands: NDArray[np.float64],
    dt: float,
    steps: int,
    numbers: NDArray[np.float64],
) -> None:
    """Advance each row of `states`, shape (N, VECTOR_SIZE), with its row of `commands`, shape (N, 4)."""
    for i in prange(states.shape[0]):
        thrust, p, q, r = commands[i, 0], commands[i, 1], commands[i, 2], commands[i, 3]
        _fly(states[i], thrust, p, q, r, dt, steps, False, 0.0, 0.0, 0.0, numbers)


@kernel
def felt(state: NDArray[np.float64], numbers: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the specific force of free flight (body, m/s^2)."""
    s = load_state(state)
    u, v, w = quat_rotate(s.qw, -s.qx, -s.qy, -s.qz, s.vn, s.ve, s.vd)
    return specific_force(u, v, w, s.thrust, load_plant(numbers))

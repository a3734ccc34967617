"""A quadrotor flown by thrust and body rates: one vehicle, a loop of steps, or a batch on all cores.

World NED, body FRD, SI units; source: spec aigp.md, sections 3 and 5. A state is one float64 vector:
the fields of `QuadState`, the clock, then two delay lines of past commands, one for the thrust and one for the
rates (`delay.py`). A step ends where a delayed command takes effect, and each stretch between is cut
into equal RK4 steps of at most `dt_max`. One kernel, `_advance`, serves the single step, the loop and
the batch, so their results agree bit for bit.

A command with a component that is not finite is ignored: the one before it stays in force. Finite
commands are clipped: thrust to 0..1, rates (after the gain) to the rate limits.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.clock import NS_PER_S
from racewire.core.frames import Frd, Ned, Pose, Rot, Vec, quat_rotate
from racewire.core.jit import batch_kernel, kernel, prange
from racewire.vehicles.base import Motion, State
from racewire.vehicles.delay import due, empty_line, line_size, push, take
from racewire.vehicles.ground import leaves, supported_velocity
from racewire.vehicles.integrate import plan_substeps
from racewire.vehicles.quad_dynamics import (
    STATE_SIZE,
    QuadState,
    acceleration,
    clip,
    load_state,
    rk4,
    specific_force,
    store_state,
)
from racewire.vehicles.quad_params import Plant, QuadParams, load_plant, pack, read_params, thrust_of

CLOCK = STATE_SIZE
"""Where the time since `initial` stands in a state vector, whole nanoseconds."""

THRUST_LINE = CLOCK + 1
RATE_LINE = THRUST_LINE + line_size(1)
VECTOR_SIZE = RATE_LINE + line_size(3)
"""Length of a state vector."""

DT_LIMIT = 1.0
"""Longest step accepted, s."""


class Quadrotor:
    """A quadrotor with its parameters bound; implements `Vehicle`."""

    def __init__(self, params: QuadParams) -> None:
        """Bind `params`."""
        self.params = params
        self.radius = params.radius
        self.mass = params.mass
        self._plant = pack(params)

    @classmethod
    def named(cls, name: str) -> "Quadrotor":
        """Return the quadrotor of the parameter file `name` of `vehicles/data`.

        Raises
        ------
        ConfigError
            If there is no such file or it does not fit.
        """
        return cls(read_params(name))

    def initial(self, pose: Pose[Ned, Frd]) -> State:
        """Return the state at rest at `pose`, its command zero for ever before; shape (VECTOR_SIZE,)."""
        x, q = pose.position, pose.rotation
        idle = thrust_of(self._plant, 0.0)
        fields = QuadState(
            x.x, x.y, x.z, 0.0, 0.0, 0.0, q.w, q.x, q.y, q.z, 0.0, 0.0, 0.0, idle, 0.0, 0.0, 0.0
        )
        return np.concatenate(
            (np.array(fields), np.zeros(1), empty_line((0.0,)), empty_line((0.0, 0.0, 0.0)))
        )

    def step(self, state: State, command: NDArray[np.float64], dt: float) -> None:
        """Advance `state` in place by `dt` seconds of free flight with `command` (thrust, p, q, r) held.

        Raises
        ------
        ValueError
            If `dt` is not within 0 to `DT_LIMIT`.
        """
        _check_dt(dt)
        _step(state, command, dt, self._plant)

    def step_supported(self, state: State, command: NDArray[np.float64], dt: float, normal: Vec[Ned]) -> None:
        """Advance `state` in place by `dt` seconds, lying on a surface with the unit `normal`.

        Friction may hold it: then velocity and body rates are zero and the attitude stays. A thrust that
        overcomes gravity along the normal lifts it off, in free flight.

        Raises
        ------
        ValueError
            If `dt` is not within 0 to `DT_LIMIT`.
        """
        _check_dt(dt)
        _step_supported(state, command, dt, normal.x, normal.y, normal.z, self._plant)

    def run(self, state: State, commands: NDArray[np.float64], dt: float, steps: int) -> None:
        """Fly a whole sequence in place, in one compiled loop.

        Parameters
        ----------
        state
            Shape (VECTOR_SIZE,).
        commands
            Shape (M, 4); each row is held for `steps` steps.
        dt
            Length of a step, s.
        steps
            Steps for each command.

        Raises
        ------
        ValueError
            If a shape is wrong, or `dt` is not within 0 to `DT_LIMIT`.
        """
        _check_dt(dt)
        _check_shape("state", state, (VECTOR_SIZE,))
        _check_shape("commands", commands, (len(commands), 4))
        _run(state, commands, dt, steps, self._plant)

    def step_batch(
        self, states: NDArray[np.float64], commands: NDArray[np.float64], dt: float, steps: int
    ) -> None:
        """Advance many vehicles in place on all cores, row by row as `step` would.

        Parameters
        ----------
        states
            Shape (N, VECTOR_SIZE).
        commands
            Shape (N, 4); row i is held for the `steps` steps of vehicle i.
        dt
            Length of a step, s.
        steps
            Steps to take.

        Raises
        ------
        ValueError
            If a shape is wrong, or `dt` is not within 0 to `DT_LIMIT`.
        """
        _check_dt(dt)
        _check_shape("states", states, (len(states), VECTOR_SIZE))
        _check_shape("commands", commands, (len(states), 4))
        _step_batch(states, commands, dt, steps, self._plant)

    def sticks_to_rates(self, roll: float, pitch: float, yaw: float) -> Vec[Frd]:
        """Return the body rates (rad/s) of sticks within -1 to 1: + right, nose up, clockwise."""
        p, q, r = self.params.stick_rates
        return Vec(p * _stick(roll), q * _stick(pitch), r * _stick(yaw))

    def motion(self, state: State) -> Motion:
        """Return the kinematic truth of `state`, with the specific force of free flight."""
        s = QuadState(*state[:STATE_SIZE].tolist())
        return Motion(
            position=Vec(s.north, s.east, s.down),
            velocity=Vec(s.vn, s.ve, s.vd),
            ned_from_frd=Rot(s.qw, s.qx, s.qy, s.qz),
            rates=Vec(s.p, s.q, s.r),
            specific_force=Vec(*_specific_force(state, self._plant)),
        )


def _check_dt(dt: float) -> None:
    if not 0.0 < dt <= DT_LIMIT:
        raise ValueError(f"dt must be within 0 to {DT_LIMIT} s, not {dt}")


def _check_shape(name: str, array: NDArray[np.float64], shape: tuple[int, ...]) -> None:
    if array.shape != shape or array.dtype != np.float64:
        raise ValueError(f"{name} must be float64 of shape {shape}, not {array.dtype} of {array.shape}")


def _stick(x: float) -> float:
    """Clip to -1..1; a NaN stays one, for the vehicle to refuse."""
    return 1.0 if x > 1.0 else max(x, -1.0)


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
    an, ae, ad = acceleration(s, plant)
    free = rk4(s, h, plant)
    if leaves(s.vn, s.ve, s.vd, an, ae, ad, nn, ne, nd):
        return free
    vn, ve, vd, still = supported_velocity(
        s.vn, s.ve, s.vd, an, ae, ad, nn, ne, nd, plant.friction, plant.slow, h
    )
    north, east, down = s.north + h * vn, s.east + h * ve, s.down + h * vd
    if still:
        return QuadState(
            north, east, down, vn, ve, vd, s.qw, s.qx, s.qy, s.qz,
            0.0, 0.0, 0.0, s.thrust, s.p_set, s.q_set, s.r_set,
        )  # fmt: skip
    return QuadState(
        north, east, down, vn, ve, vd, free.qw, free.qx, free.qy, free.qz,
        free.p, free.q, free.r, s.thrust, s.p_set, s.q_set, s.r_set,
    )  # fmt: skip


@kernel
def _step(
    v: NDArray[np.float64], command: NDArray[np.float64], dt: float, numbers: NDArray[np.float64]
) -> None:
    _fly(v, command[0], command[1], command[2], command[3], dt, 1, False, 0.0, 0.0, 0.0, numbers)


@kernel
def _step_supported(
    v: NDArray[np.float64],
    command: NDArray[np.float64],
    dt: float,
    nn: float,
    ne: float,
    nd: float,
    numbers: NDArray[np.float64],
) -> None:
    _fly(v, command[0], command[1], command[2], command[3], dt, 1, True, nn, ne, nd, numbers)


@kernel
def _run(
    v: NDArray[np.float64],
    commands: NDArray[np.float64],
    dt: float,
    steps: int,
    numbers: NDArray[np.float64],
) -> None:
    for i in range(commands.shape[0]):
        thrust, p, q, r = commands[i, 0], commands[i, 1], commands[i, 2], commands[i, 3]
        _fly(v, thrust, p, q, r, dt, steps, False, 0.0, 0.0, 0.0, numbers)


@batch_kernel
def _step_batch(
    states: NDArray[np.float64],
    commands: NDArray[np.float64],
    dt: float,
    steps: int,
    numbers: NDArray[np.float64],
) -> None:
    for i in prange(states.shape[0]):
        thrust, p, q, r = commands[i, 0], commands[i, 1], commands[i, 2], commands[i, 3]
        _fly(states[i], thrust, p, q, r, dt, steps, False, 0.0, 0.0, 0.0, numbers)


@kernel
def _specific_force(state: NDArray[np.float64], numbers: NDArray[np.float64]) -> tuple[float, float, float]:
    s = load_state(state)
    u, v, w = quat_rotate(s.qw, -s.qx, -s.qy, -s.qz, s.vn, s.ve, s.vd)
    return specific_force(u, v, w, s.thrust, load_plant(numbers))

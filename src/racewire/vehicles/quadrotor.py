"""A quadrotor flown by thrust and body rates: one vehicle, a loop of steps, or a batch on all cores.

World NED, body FRD, SI units; source: spec aigp.md, sections 3 and 5. The layout of a state vector and
the kernels are in `quad_flight.py`. A command (thrust, p, q, r) with a component that is not finite is
ignored: the one before it stays in force. Finite commands are clipped: thrust to 0..1, rates (after the
gain) to the rate limits.
"""

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Frd, Ned, Pose, Rot, Vec
from racewire.vehicles import quad_flight
from racewire.vehicles.base import Motion, State
from racewire.vehicles.quad_dynamics import STATE_SIZE, QuadState
from racewire.vehicles.quad_flight import VECTOR_SIZE
from racewire.vehicles.quad_params import QuadParams, pack, read_params

DT_LIMIT = 1.0
"""Longest step accepted, s."""


class Quadrotor:
    """A quadrotor with its parameters bound; implements `Vehicle`."""

    def __init__(self, params: QuadParams) -> None:
        """Bind `params`."""
        self.params = params
        self.radius = params.radius
        self.mass = params.mass
        self._numbers = pack(params)

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
        return quad_flight.at_rest(pose, self._numbers)

    def step(self, state: State, command: NDArray[np.float64], dt: float) -> None:
        """Advance `state` in place by `dt` seconds of free flight with `command` (thrust, p, q, r) held.

        Raises
        ------
        ValueError
            If `dt` is not within 0 to `DT_LIMIT`.
        """
        _check_dt(dt)
        quad_flight.step(state, command, dt, self._numbers)

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
        quad_flight.step_supported(state, command, dt, normal.x, normal.y, normal.z, self._numbers)

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
        quad_flight.run(state, commands, dt, steps, self._numbers)

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
        quad_flight.step_batch(states, commands, dt, steps, self._numbers)

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
            specific_force=Vec(*quad_flight.felt(state, self._numbers)),
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

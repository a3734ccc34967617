"""Where the gates are, seen from the drone: sightings, and dead reckoning between them.

Positions are relative to the drone and in NED directions, so the attitude on the wire turns every
sighting into the same axes. Between frames the accelerometer moves the velocity and the velocity the
gates (lost-sight propagation, seed 000 section 4.3); a sighting of the target corrects both, by a Kalman
filter over its position, the velocity and the frames' delay, weighing the sharp bearing above the
coarse range. SI.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Frd, Gate, Ned, Pose, Rot, Vec, wrap_angle
from racewire.pilots.gate_model import GATE_SIZE, GateView
from racewire.pilots.gate_pose import gate_pose
from racewire.sensors.camera import Camera

_PLACE_SD = 0.5  # of a gate that becomes the target, m


@dataclass(frozen=True, slots=True)
class SightParams:
    """Tolerances and noise; `data/completion.toml` says what each is."""

    most_gates: int
    patience: int
    patience_s: float
    views: int
    apart: float
    apart_share: float
    corner_px: float
    aim_sd: float
    delay_sd: float
    jitter_sd: float
    longest_delay: float
    accel_sd: float
    start_speed_sd: float
    normal_gain: float
    passed: float


@dataclass(slots=True)
class SeenGate:
    """One gate: where it is from the drone, the heading of its forward axis (rad), how well it is known.

    `unseen` counts the frames since it was last seen; `fresh`: this frame showed it.
    """

    place: NDArray[np.float64]
    normal: float
    views: int = 1
    unseen: int = 0
    fresh: bool = True

    @property
    def ahead(self) -> float:
        """Distance to the gate's plane, along its normal; negative once passed, m."""
        return math.cos(self.normal) * float(self.place[0]) + math.sin(self.normal) * float(self.place[1])

    @property
    def distance(self) -> float:
        """Distance to the middle of its opening, m."""
        return float(np.linalg.norm(self.place))


@dataclass(slots=True)
class Sighting:
    """The gates known, the one flown to, the velocity; `delay` is how much older frames are than dated, s.

    The wire does not date frames. A frame dated too young shows every gate turned by what the drone
    turned meanwhile; so the delay is a seventh state of the filter.
    """

    params: SightParams
    camera: Camera
    velocity: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    gates: list[SeenGate] = field(default_factory=list[SeenGate])
    target: SeenGate | None = None
    passed: int = 0
    delay: float = 0.0
    _lost: SeenGate | None = None
    _dark: float = 0.0
    _cov: NDArray[np.float64] = field(default_factory=lambda: np.zeros((7, 7)))

    def __post_init__(self) -> None:
        """Start at rest, as well as that is known."""
        self._cov[3:6, 3:6] = self.params.start_speed_sd**2 * np.eye(3)
        self._cov[6, 6] = self.params.delay_sd**2

    def move(self, accel: Vec[Ned], dt: float) -> None:
        """Carry velocity and gates `dt` seconds on with the acceleration `accel`."""
        step = (self.velocity + 0.5 * dt * accel.array()) * dt
        self.velocity = self.velocity + dt * accel.array()
        for gate in self.gates:
            gate.place = gate.place - step
        if self._lost is not None:
            self._lost.place = self._lost.place - step
        F = np.eye(7)
        F[:3, 3:6] = -dt * np.eye(3)
        self._cov = F @ self._cov @ F.T
        self._cov[3:6, 3:6] += self.params.accel_sd**2 * dt * np.eye(3)
        self._pass()
        self._dark += dt
        if self._dark > self.params.patience_s:
            self._lose()

    def look(
        self, views: Sequence[GateView], ned_from_frd: Rot[Ned, Frd], rates: Vec[Frd], age: float
    ) -> None:
        """Take in the gates of a frame exposed `age` seconds ago with this attitude and body rates."""
        self._dark = 0.0
        for gate in self.gates:
            gate.unseen += 1
            gate.fresh = False
        for view in views:
            fit = gate_pose(view, self.camera)
            if fit is None:
                continue
            mount = self.camera.frd_from_optical
            places: list[Pose[Ned, Gate]] = [
                Pose(
                    ned_from_frd @ (mount @ pose.position + self.camera.position),
                    ned_from_frd @ mount @ pose.rotation,
                )
                for pose in (fit.pose, fit.other)
                if pose is not None
            ]
            # of two poses that fit, the gate stands upright in one
            place = min(places, key=lambda p: abs(_lean(p.rotation)))
            turning = (ned_from_frd @ rates).cross(place.position).array()
            self._take(place, view, turning, age)
        self.gates = [g for g in self.gates if g is self.target or g.unseen <= 4 * self.params.patience]
        if self.target is not None and self.target.unseen > self.params.patience:
            self._lose()
        self._choose()

    def _take(self, place: Pose[Ned, Gate], view: GateView, turning: NDArray[np.float64], age: float) -> None:
        # where the sighted point was at exposure, less what the drone has flown since
        point = place.position.array() - age * self.velocity
        forward = place.rotation @ Vec(1.0, 0.0, 0.0)
        heading = math.atan2(forward.y, forward.x)
        gate = self._known(point)
        if gate is None:
            if len(self.gates) < self.params.most_gates:
                self.gates.append(SeenGate(point, heading))
            return
        gate.views += 1
        gate.unseen, gate.fresh = 0, True
        gate.normal = wrap_angle(gate.normal + self.params.normal_gain * wrap_angle(heading - gate.normal))
        if gate is self.target:
            self._correct(gate, place.position.array(), view, turning, age)
        else:
            gate.place = gate.place + 0.3 * (point - gate.place)

    def _known(self, point: NDArray[np.float64]) -> SeenGate | None:
        reach = self.params.apart + self.params.apart_share * float(np.linalg.norm(point))
        near = [
            (float(np.linalg.norm(gate.place - point)), i)
            for i, gate in enumerate(self.gates)
            if not gate.fresh  # one frame shows a gate once
        ]
        best = min(near, default=(math.inf, 0))
        return self.gates[best[1]] if best[0] < reach else None

    def _correct(
        self,
        gate: SeenGate,
        point: NDArray[np.float64],
        view: GateView,
        turning: NDArray[np.float64],
        age: float,
    ) -> None:
        """Correct the target's place and the velocity; `turning` is how fast the point goes round, m/s."""
        p = self.params
        distance = max(float(np.linalg.norm(point)), 0.1)
        ray = point / distance
        pixel = max(view.sigma_px, p.corner_px) / self.camera.fx
        along = distance * distance * pixel / GATE_SIZE.outer
        across = distance * math.hypot(pixel, p.aim_sd)
        R = (
            across**2 * np.eye(3)
            + (along**2 + 1e-4) * np.outer(ray, ray)
            + p.jitter_sd**2 * np.outer(turning, turning)
        )
        # were the frame older than dated, the place would show turned and as it was earlier
        H = np.hstack((np.eye(3), age * np.eye(3), (turning + self.velocity)[:, None]))
        K = self._cov @ H.T @ np.linalg.inv(H @ self._cov @ H.T + R)
        change = K @ (point - (gate.place + age * self.velocity))
        gate.place = gate.place + change[:3]
        self.velocity = self.velocity + change[3:6]
        self.delay = max(0.0, min(p.longest_delay, self.delay + float(change[6])))
        self._cov = (np.eye(7) - K @ H) @ self._cov
        self._cov = 0.5 * (self._cov + self._cov.T)

    def _pass(self) -> None:
        if self.target is not None and self.target.ahead < -self.params.passed:
            self.passed += 1
            self.gates = [gate for gate in self.gates if gate is not self.target]
            self._aim_at(None)
            self._choose()

    def _lose(self) -> None:
        """Give the target up, but remember where it was."""
        if self.target is not None:
            self._lost = self.target
            self.gates = [gate for gate in self.gates if gate is not self.target]
            self._aim_at(None)

    def _choose(self) -> None:
        """Fly to the nearest gate in front; keep a target unless one stands well before it.

        Of those beyond a gate that was lost, none is taken that is much farther.
        """
        if self.target is not None:
            reach = 0.6 * self.target.distance
        elif self._lost is not None:
            reach = 1.3 * self._lost.distance + 3.0
        else:
            reach = math.inf
        front = [
            gate
            for gate in self.gates
            if gate.views >= self.params.views and gate.ahead > 1.0 and gate.distance < reach
        ]
        if front:
            self._aim_at(min(front, key=lambda gate: gate.distance))
            self._lost = None

    def give_up(self) -> None:
        """Forget the gate that was lost: any will do."""
        self._lost = None

    def _aim_at(self, gate: SeenGate | None) -> None:
        self.target = gate
        self._cov[:3, :] = 0.0
        self._cov[:, :3] = 0.0
        if gate is not None:
            gate.unseen = 0
            sd = _PLACE_SD + 0.05 * gate.distance
            self._cov[:3, :3] = sd * sd * np.eye(3)


def _lean(ned_from_gate: Rot[Ned, Gate]) -> float:
    """How far the gate's forward axis points up or down, rad."""
    forward = ned_from_gate @ Vec(1.0, 0.0, 0.0)
    return math.atan2(forward.z, math.hypot(forward.x, forward.y))

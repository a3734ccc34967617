"""Which gate is which: views of a frame matched to the gates in the filter, new ones taken in.

A gate enters the filter with its first good view, at the pose that its corners give there, and serves
for guidance once it was seen a few times. From few pixels a square fits two attitudes, mirrored about
the line of sight; both stay in play: each view adds to the evidence for the mirrored one, and the gate
is turned when that wins. Matching is by Mahalanobis distance of the corners, which includes all that
the filter does not know. Frames: Ned, Frd, Optical, Gate; px in continuous image coordinates.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Gate, Ned, Optical, Pose, Rot, Vec
from racewire.pilots.belief import Belief, Which
from racewire.pilots.gate_model import GATE_SIZE, GateView
from racewire.pilots.gate_pose import gate_pose
from racewire.sensors.camera import Camera

Array = NDArray[np.float64]

ALL_CORNERS: Which = np.arange(8)
_HALF_TURN: Rot[Gate, Gate] = Rot(0.0, 1.0, 0.0, 0.0)
_TURN_ROUND: Rot[Gate, Gate] = Rot(0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class MapParams:
    """Thresholds of the map; `data/gate.toml` says what each is."""

    floor_px: float
    doubt: float
    views: int
    farthest: float
    steepest_deg: float
    tilt_deg: float
    apart: float
    conflicts: int
    flip: float
    flip_step: float
    ghost_frames: int
    keep_behind: float


@dataclass(slots=True)
class Landmark:
    """A gate in the map. `slot` is its place in the filter.

    Forward is away from where it was first seen, until `reversed` says that this was its back.
    """

    number: int
    slot: int
    views: int = 0
    missed: int = 0
    conflicts: int = 0
    flip: float = 0.0
    passed: bool = False
    retries: int = 0
    reversed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Sight:
    """The known corners of a view."""

    view: GateView
    which: Which
    pixels: Array
    sd_px: float


class GateMap:
    """The gates known now."""

    def __init__(self, params: MapParams, camera: Camera) -> None:
        self._p = params
        self._camera = camera
        self.gates: list[Landmark] = []
        self._made = 0

    def clear(self) -> None:
        """Forget every gate, as the filter does when it is reset."""
        self.gates.clear()

    def known(self) -> list[Landmark]:
        """Return the gates seen often enough to fly to."""
        return [gate for gate in self.gates if gate.views >= self._p.views]

    @staticmethod
    def facing(belief: Belief, gate: Landmark) -> Pose[Ned, Gate]:
        """Return a gate's pose, its forward axis in the direction in which it is to be passed."""
        pose = belief.gate(gate.slot)
        return Pose(pose.position, pose.rotation @ _TURN_ROUND) if gate.reversed else pose

    def observe(self, belief: Belief, views: Sequence[GateView]) -> int:
        """Fuse the views of one frame at the filter's present state; return how many were a known gate's."""
        belief.age_gates()
        sights = [self._sight(view) for view in views]
        matches, left = self._match(belief, sights)
        for gate, sight in matches:
            belief.see(gate.slot, sight.which, sight.pixels, sight.sd_px, fuse=True)
            gate.views += 1
            gate.missed, gate.conflicts = 0, 0
            if gate.flip > -2.0 * self._p.flip:  # the question is still open
                self._weigh_mirror(belief, gate, sight)
        known = len(matches)
        for sight in left:
            known += self._take_in(belief, sight, {id(gate) for gate, _ in matches})
        self._forget(belief, {id(gate) for gate, _ in matches})
        return known

    def _sight(self, view: GateView) -> _Sight:
        corners = view.corners()
        which = np.flatnonzero(np.isfinite(corners).all(axis=1))
        return _Sight(
            view, which, np.ascontiguousarray(corners[which]), math.hypot(view.sigma_px, self._p.floor_px)
        )

    def _match(
        self, belief: Belief, sights: list[_Sight]
    ) -> tuple[list[tuple[Landmark, _Sight]], list[_Sight]]:
        pairs: list[tuple[float, int, int]] = []
        for i, gate in enumerate(self.gates):
            for j, sight in enumerate(sights):
                dof = 2 * len(sight.which)
                distance = belief.see(gate.slot, sight.which, sight.pixels, sight.sd_px, fuse=False)
                if distance <= dof + self._p.doubt * math.sqrt(2.0 * dof):
                    pairs.append((distance / dof, i, j))
        matches: list[tuple[Landmark, _Sight]] = []
        gates_left, sights_left = set(range(len(self.gates))), set(range(len(sights)))
        for _, i, j in sorted(pairs):
            if i in gates_left and j in sights_left:
                gates_left.remove(i)
                sights_left.remove(j)
                matches.append((self.gates[i], sights[j]))
        return matches, [sights[j] for j in sorted(sights_left)]

    def _take_in(self, belief: Belief, sight: _Sight, matched: set[int]) -> int:
        """Start a gate from a view that is no known one's; return 1 if the view was one's after all."""
        about = self._about(sight)
        if about > self._p.farthest or (belief.full and about > 1.2 * self._reach(belief)):
            return 0
        pose = self._pose_of(belief, sight)
        if pose is None:
            return 0
        away = (pose.position - belief.position).norm()
        for gate in self.gates:
            apart = (belief.gate(gate.slot).position - pose.position).norm()
            if apart < self._p.apart + 0.1 * away:
                return 0 if id(gate) in matched else self._disagree(belief, gate, sight)
        if belief.full and not self._make_room(belief, away):
            return 0
        self._made += 1
        gate = Landmark(self._made, belief.add_gate(pose), views=1)
        self.gates.append(gate)
        belief.see(gate.slot, sight.which, sight.pixels, sight.sd_px, fuse=True)
        return 0

    def _about(self, sight: _Sight) -> float:
        """Return a view's range by its area, m."""
        return GATE_SIZE.outer * self._camera.fx / math.sqrt(max(sight.view.area_px, 1.0))

    def _reach(self, belief: Belief) -> float:
        """Return how far away the farthest gate is, or nothing if one is not needed any more."""
        here = belief.position
        if any(gate.passed for gate in self.gates):
            return math.inf
        return max((belief.gate(gate.slot).position - here).norm() for gate in self.gates)

    def _pose_of(self, belief: Belief, sight: _Sight) -> Pose[Ned, Gate] | None:
        fit = gate_pose(sight.view, self._camera)
        if fit is None:
            return None
        scale = len(sight.which) / (sight.sd_px * sight.sd_px)
        placed = [
            (rms, self._in_world(belief, pose))
            for pose, rms in ((fit.pose, fit.rms_px), (fit.other, fit.other_rms_px))
            if pose is not None
        ]
        costs = [
            (rms * rms * scale + (_tilt(pose.rotation) / math.radians(self._p.tilt_deg)) ** 2, pose)
            for rms, pose in placed
            if _tilt(pose.rotation) < math.radians(self._p.steepest_deg)
        ]
        if not costs:
            return None
        best = min(costs, key=lambda cost: cost[0])[1]
        if (best.position - belief.position).norm() > self._p.farthest:
            return None
        forward = best.rotation @ Vec[Gate](1.0, 0.0, 0.0)
        upright: Rot[Ned, Gate] = Rot.from_euler(0.0, 0.0, math.atan2(forward.y, forward.x))
        return Pose(best.position, upright)

    def _in_world(self, belief: Belief, pose: Pose[Optical, Gate]) -> Pose[Ned, Gate]:
        body, camera = belief.pose, self._camera
        return Pose(
            body @ (camera.position + camera.frd_from_optical @ pose.position),
            body.rotation @ camera.frd_from_optical @ pose.rotation,
        )

    def _disagree(self, belief: Belief, gate: Landmark, sight: _Sight) -> int:
        """Take a view that is near a gate and yet not where the filter has it: believe it after a few."""
        if self._weigh_mirror(belief, gate, sight):
            return 1
        gate.conflicts += 1
        if gate.conflicts < self._p.conflicts:
            return 0
        gate.conflicts, gate.missed = 0, 0
        belief.soften(1.0, 0.5, math.radians(2.0))
        belief.move_gate(gate.slot, 1.0)
        belief.see(gate.slot, sight.which, sight.pixels, sight.sd_px, fuse=True, robust=False)
        return 1

    def _weigh_mirror(self, belief: Belief, gate: Landmark, sight: _Sight) -> bool:
        """Add a view to the evidence for a gate's other attitude; return whether that has won now."""
        pose = belief.gate(gate.slot)
        mirrored = mirror(pose, belief.position)
        here = belief.look(gate.slot, sight.which)
        there = belief.look(gate.slot, sight.which, mirrored)
        if here is None or there is None:
            return False
        gain = _misfit(here - sight.pixels) - _misfit(there - sight.pixels)
        gain = max(-self._p.flip_step, min(self._p.flip_step, 0.5 * gain / (sight.sd_px * sight.sd_px)))
        gate.flip = max(gate.flip + gain, -2.0 * self._p.flip)
        scale = math.radians(self._p.tilt_deg)
        prior = (_tilt(pose.rotation) / scale) ** 2 - (_tilt(mirrored) / scale) ** 2
        if gate.flip + 0.5 * prior < self._p.flip:
            return False
        belief.turn_gate(gate.slot, mirrored)
        belief.see(gate.slot, sight.which, sight.pixels, sight.sd_px, fuse=True)
        gate.flip = 0.0
        return True

    def _make_room(self, belief: Belief, away: float) -> bool:
        """Drop a gate passed, or hardly seen, or the farthest; none that is nearer than `away`."""
        here = belief.position
        ranked = sorted(
            self.gates,
            key=lambda gate: (
                not gate.passed,
                gate.views >= self._p.views,
                -(belief.gate(gate.slot).position - here).norm(),
            ),
        )
        worst = ranked[0]
        if not worst.passed and (belief.gate(worst.slot).position - here).norm() <= away:
            return False
        self._drop(belief, worst)
        return True

    def _forget(self, belief: Belief, matched: set[int]) -> None:
        """Drop gates passed and left behind, and those that should be in view and are not."""
        for gate in list(self.gates):
            pose = self.facing(belief, gate)
            if gate.passed and pose.to_local(belief.position).x > self._p.keep_behind:
                self._drop(belief, gate)
            elif id(gate) not in matched and self._should_show(belief, gate):
                gate.missed += 1
                if gate.missed > (self._p.ghost_frames if gate.views >= self._p.views else 5):
                    self._drop(belief, gate)

    def _should_show(self, belief: Belief, gate: Landmark) -> bool:
        pixels = belief.look(gate.slot, ALL_CORNERS)
        if pixels is None:
            return False
        width, height = self._camera.width, self._camera.height
        low, high = pixels.min(axis=0), pixels.max(axis=0)
        inside = low[0] > 10 and low[1] > 10 and high[0] < width - 10 and high[1] < height - 10
        return bool(inside and min(high - low) > 25.0)

    def _drop(self, belief: Belief, gate: Landmark) -> None:
        belief.drop_gate(gate.slot)
        self.gates.remove(gate)
        for other in self.gates:
            other.slot -= other.slot > gate.slot


def mirror(pose: Pose[Ned, Gate], eye: Vec[Ned]) -> Rot[Ned, Gate]:
    """Return the other attitude in which a far gate looks the same from `eye`.

    A half turn about the line of sight and one about the gate's own axis: all corners come back to where
    they were in the image, and the plane leans the other way.
    """
    sight = pose.position - eye
    unit = sight * (1.0 / max(sight.norm(), 1e-9))
    half: Rot[Ned, Ned] = Rot(0.0, unit.x, unit.y, unit.z)
    return half @ pose.rotation @ _HALF_TURN


def _tilt(rotation: Rot[Ned, Gate]) -> float:
    """Angle between a gate's own down and the world's."""
    return math.acos(max(-1.0, min(1.0, (rotation @ Vec[Gate](0.0, 0.0, 1.0)).z)))


def _misfit(errors: Array) -> float:
    """Sum of squares about the mean: what a shift of the whole gate cannot explain."""
    centred = errors - errors.mean(axis=0)
    return float((centred * centred).sum())

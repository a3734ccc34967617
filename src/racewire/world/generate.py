"""Courses grown from a seed, of which only the flyable ones are given out.

A course grows leg by leg from the pad: turn, slope and length are drawn, and a leg is kept if the
next gate lies in view of a camera that has just passed the last one along its direction, with the
body level and with it leaning into the flight. What grows is then checked whole: turn radius, room
between the legs, and every check of `checks`. NED, metres; the same seed and spec give the same bits.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from racewire.core.errors import ConfigError
from racewire.core.frames import Frd, Gate, Ned, Pose, Rot, Vec
from racewire.core.seeds import stream
from racewire.world.checks import box_corners, first_fault, gate_box
from racewire.world.course_file import rotation_deg
from racewire.world.layout import Course, CourseGate, heading_of
from racewire.world.scenery import scatter
from racewire.world.sight import Sight

PAD_PITCH_DEG = -17.8
"""Pitch of the ramp at the start (spec aigp.md 1.3)."""

ATTEMPTS = 200
DRAWS = 60


@dataclass(frozen=True, slots=True)
class CourseSpec:
    """What a generated course may be like. Lengths in m; slope is rise over run."""

    gates: int = 6
    first_turn_max_deg: float = 10.0
    first_min: float = 14.0
    first_max: float = 24.0
    spacing_min: float = 18.0
    spacing_max: float = 30.0
    turn_max_deg: float = 35.0
    climb_max: float = 0.2
    tilt_max_deg: float = 10.0
    yaw_offset_max_deg: float = 8.0
    turn_radius_min: float = 12.0
    lean_deg: float = 20.0
    leg_clearance: float = 6.0
    ground_clearance: float = 3.0
    headroom: float = 15.0
    margin: float = 25.0
    heading_deg: float = 180.0
    lift: float = 1.1
    outer: float = 2.7
    inner: float = 1.5
    blocks: int = 24
    block_clearance: float = 8.0
    sight: Sight = Sight()

    def __post_init__(self) -> None:
        """Refuse what no course can satisfy.

        Raises
        ------
        ValueError
            If there is no gate, or a least value exceeds the greatest.
        """
        if self.gates < 1:
            message = f"gates: must be at least 1, not {self.gates}"
            raise ValueError(message)
        for low, high in (("first_min", "first_max"), ("spacing_min", "spacing_max")):
            if not 0.0 < getattr(self, low) <= getattr(self, high):
                message = f"{low}: must be positive and at most {high}"
                raise ValueError(message)


_DEFAULT = CourseSpec()


def random_course(seed: int, spec: CourseSpec = _DEFAULT) -> Course:
    """Return the flyable course that `seed` (any integer from 0) grows under `spec`.

    Raises
    ------
    ConfigError
        If no flyable course was found: the spec asks too much.
    """
    for attempt in range(ATTEMPTS):
        rng = stream(seed, f"course/{attempt}")
        stands = _grow(rng, spec)
        if stands is None:
            continue
        course = _course(rng, f"random:{seed}", stands, spec)
        if obstacle(course, spec) is None:
            return course
    message = f"random:{seed}: no flyable course in {ATTEMPTS} attempts: ask for less turn, climb or tilt"
    raise ConfigError(message)


def obstacle(course: Course, spec: CourseSpec) -> str | None:
    """Return why a vehicle that sees and turns as `spec` says could not fly `course`, or None."""
    fault = first_fault(course)
    if fault is not None:
        return fault
    first = course.gates[0]
    if not _seen_from_pad(spec, course.pad, first.centre, first.outer):
        return "gate 0: not in view from the pad"
    for a, b in itertools.pairwise(course.gates):
        if not _seen_from_gate(spec, a.centre, heading_of(a.forward), b.centre, b.inner):
            return f"gate {b.gate_id}: not in view from gate {a.gate_id}"
        if min(_radius(b.centre - a.centre, gate.forward) for gate in (a, b)) < spec.turn_radius_min:
            return f"gate {b.gate_id}: the turn from gate {a.gate_id} is too tight"
    stops = [course.pad.position, *(gate.centre for gate in course.gates)]
    for i, (a, b) in enumerate(itertools.pairwise(stops)):
        for j, stop in enumerate(stops):
            if j not in (i, i + 1) and _distance(stop, a, b) < spec.leg_clearance:
                return f"gate {i}: the leg to it leads too near to another gate or the pad"
    return None


@dataclass(frozen=True, slots=True)
class _Stand:
    """Where a gate will stand: the opening's centre, and its yaw (deg)."""

    centre: Vec[Ned]
    yaw_deg: float


def _grow(rng: np.random.Generator, spec: CourseSpec) -> list[_Stand] | None:
    """Return the gates' places, or None where a leg found no place in view."""
    pad = _pad(spec)
    place, bearing = pad.position, spec.heading_deg
    stands: list[_Stand] = []
    for k in range(spec.gates):
        for _ in range(DRAWS):
            turn = _within(rng, spec.turn_max_deg if k else spec.first_turn_max_deg)
            slope, offset = _within(rng, spec.climb_max), _within(rng, spec.yaw_offset_max_deg)
            low, high = (spec.spacing_min, spec.spacing_max) if k else (spec.first_min, spec.first_max)
            centre = place + _leg(float(rng.uniform(low, high)), bearing + turn, slope)
            yaw_deg = bearing + 0.5 * turn + offset
            if k == 0:
                seen = _seen_from_pad(spec, pad, centre, spec.outer)
            else:
                seen = _seen_from_gate(spec, place, math.radians(yaw_deg), centre, spec.inner)
            if seen:
                break
        else:
            return None
        if k:
            stands.append(_Stand(place, yaw_deg))
        place, bearing = centre, bearing + turn
    stands.append(_Stand(place, bearing + _within(rng, spec.yaw_offset_max_deg)))
    return stands


def _course(rng: np.random.Generator, name: str, stands: list[_Stand], spec: CourseSpec) -> Course:
    gates = tuple(_gate(rng, i, stand, spec) for i, stand in enumerate(stands))
    pad = _pad(spec)
    corners = np.concatenate([box_corners(gate_box(gate)) for gate in gates] + [pad.position.array()[None]])
    low: list[float] = corners.min(axis=0).tolist()
    high: list[float] = corners.max(axis=0).tolist()
    floor = float(math.ceil(high[2] + spec.ground_clearance))
    ahead = gates[-1].centre + gates[-1].forward * spec.spacing_min
    line = (pad.position, *(gate.centre for gate in gates), ahead)
    return Course(
        name=name,
        look="vq1",
        gates=gates,
        pad=pad,
        floor=floor,
        low=Vec(
            float(math.floor(low[0] - spec.margin)),
            float(math.floor(low[1] - spec.margin)),
            float(math.floor(low[2] - spec.headroom)),
        ),
        high=Vec(float(math.ceil(high[0] + spec.margin)), float(math.ceil(high[1] + spec.margin)), floor),
        blocks=scatter(rng, line, spec.blocks, spec.block_clearance, 12.0, floor),
    )


def _gate(rng: np.random.Generator, index: int, stand: _Stand, spec: CourseSpec) -> CourseGate:
    pitch, roll = (round(_within(rng, spec.tilt_max_deg), 3) for _ in range(2))
    ned_from_gate: Rot[Ned, Gate] = rotation_deg(roll, pitch, round(stand.yaw_deg, 3))
    published = stand.centre + ned_from_gate @ Vec(0.0, 0.0, spec.lift)
    return CourseGate(
        gate_id=index,
        published=Vec(round(published.x, 3), round(published.y, 3), round(published.z, 3)),
        ned_from_gate=ned_from_gate,
        lift=spec.lift,
        outer=spec.outer,
        inner=spec.inner,
    )


def _pad(spec: CourseSpec) -> Pose[Ned, Frd]:
    return Pose(Vec(0.0, 0.0, 0.0), rotation_deg(0.0, PAD_PITCH_DEG, spec.heading_deg))


def _within(rng: np.random.Generator, greatest: float) -> float:
    return float(rng.uniform(-greatest, greatest))


def _leg(length: float, bearing_deg: float, slope: float) -> Vec[Ned]:
    run = length / math.hypot(1.0, slope)
    bearing = math.radians(bearing_deg)
    return Vec(run * math.cos(bearing), run * math.sin(bearing), -run * slope)


def _seen_from_pad(spec: CourseSpec, pad: Pose[Ned, Frd], centre: Vec[Ned], outer: float) -> bool:
    _, pitch, yaw = pad.rotation.euler()
    return spec.sight.sees(pad.position, pitch, yaw, centre, outer * math.sqrt(0.5))


def _seen_from_gate(spec: CourseSpec, place: Vec[Ned], yaw: float, centre: Vec[Ned], inner: float) -> bool:
    """Level, the centre of the next opening must be in view; leaning forward, the whole opening."""
    lean = -math.radians(spec.lean_deg)
    return spec.sight.sees(place, 0.0, yaw, centre, 0.0) and spec.sight.sees(
        place, lean, yaw, centre, inner * math.sqrt(0.5)
    )


def _radius(chord: Vec[Ned], tangent: Vec[Ned]) -> float:
    """Radius of the level circle through both ends of `chord` that runs along `tangent` at one of them."""
    across = abs(chord.x * tangent.y - chord.y * tangent.x)
    run = math.hypot(tangent.x, tangent.y)
    length = math.hypot(chord.x, chord.y)
    return 0.5 * length * length * run / across if across > 1e-12 else math.inf


def _distance(point: Vec[Ned], a: Vec[Ned], b: Vec[Ned]) -> float:
    """Distance of `point` to the straight leg from `a` to `b`."""
    way = b - a
    share = min(1.0, max(0.0, (point - a).dot(way) / way.dot(way)))
    return (point - (a + way * share)).norm()

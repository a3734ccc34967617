"""What a course is: gates, grey blocks, the pad, the floor and the flight volume, as frozen data.

Frames: world NED in metres, body FRD; the gate frame looks forward through the opening, right, down,
with its origin in the opening's centre. A gate's *published* point is the one the track message
sends; the opening's centre lies `lift` above it along the gate's own up axis (spec aigp.md 4.2,
conflict C3). Reading a course from a file is in `course_file`, finding it by name in `course`.
"""

import math
from dataclasses import dataclass

from racewire.core.clock import Nanos
from racewire.core.frames import Frd, Gate, Ned, Pose, Rot, Vec
from racewire.core.messages import Track, TrackGate


@dataclass(frozen=True, slots=True)
class CourseGate:
    """A square gate: outer and inner edge length, depth along the flight, published size (all m)."""

    gate_id: int
    published: Vec[Ned]
    ned_from_gate: Rot[Ned, Gate]
    lift: float
    outer: float = 2.7
    inner: float = 1.5
    depth: float = 0.26
    published_size: float = 2.72

    @property
    def centre(self) -> Vec[Ned]:
        """Centre of the opening."""
        return self.published + self.ned_from_gate @ Vec(0.0, 0.0, -self.lift)

    @property
    def pose(self) -> Pose[Ned, Gate]:
        """Where the gate frame stands: the opening's centre, and the gate's attitude."""
        return Pose(self.centre, self.ned_from_gate)

    @property
    def forward(self) -> Vec[Ned]:
        """Unit vector of the direction in which the gate is to be passed."""
        return self.ned_from_gate @ Vec(1.0, 0.0, 0.0)

    def corners(self, edge: float) -> tuple[Vec[Ned], Vec[Ned], Vec[Ned], Vec[Ned]]:
        """Return the corners of the centred square of this edge length (m): TL, TR, BR, BL from the front."""
        h, pose = 0.5 * edge, self.pose
        return (
            pose @ Vec(0.0, -h, -h),
            pose @ Vec(0.0, h, -h),
            pose @ Vec(0.0, h, h),
            pose @ Vec(0.0, -h, h),
        )


@dataclass(frozen=True, slots=True)
class Block:
    """A grey building: full extents (m) along its own axes, which are NED turned by `yaw` (rad)."""

    centre: Vec[Ned]
    size: Vec[Ned]
    yaw: float = 0.0

    @property
    def pose(self) -> Pose[Ned, Ned]:
        """Centre, and the turn from the block's axes to the world's."""
        return Pose(self.centre, Rot.from_euler(0.0, 0.0, self.yaw))


@dataclass(frozen=True, slots=True)
class Course:
    """A course.

    `look` names the renderer's style, `floor` is the ground's D, and `low` to `high` is the box that
    may be flown in. `pad` is the pose of the vehicle at the start; under it lies the ramp, a box of
    `pad_size` (full extents along the body axes) with its top face `pad_drop` below the vehicle's centre.
    `limit_s` is the least time in which the course can be flown, where somebody has worked it out.
    """

    name: str
    look: str
    gates: tuple[CourseGate, ...]
    pad: Pose[Ned, Frd]
    floor: float
    low: Vec[Ned]
    high: Vec[Ned]
    blocks: tuple[Block, ...] = ()
    time_limit_s: float = 480.0
    limit_s: float | None = None
    pad_size: Vec[Frd] = Vec(3.0, 2.2, 0.5)
    pad_drop: float = 0.1

    @property
    def ramp(self) -> Pose[Ned, Frd]:
        """Centre and attitude of the ramp under the vehicle."""
        return self.ramp_below(self.pad_drop)

    def ramp_below(self, drop: float) -> Pose[Ned, Frd]:
        """Return the ramp's pose with its top face `drop` (m) below the vehicle's centre at the start."""
        return Pose(self.pad @ Vec(0.0, 0.0, drop + 0.5 * self.pad_size.z), self.pad.rotation)

    def track(self, t_ns: Nanos) -> Track:
        """Return the gate list as the organisers publish it, valid at `t_ns` on the boot clock."""
        return Track(
            t_ns=t_ns,
            gates=tuple(
                TrackGate(
                    gate_id=gate.gate_id,
                    position=gate.published,
                    ned_from_gate=gate.ned_from_gate,
                    width=gate.published_size,
                    height=gate.published_size,
                )
                for gate in self.gates
            ),
        )


def heading_of(direction: Vec[Ned]) -> float:
    """Return the yaw (rad, from north towards east) of a horizontal direction."""
    return math.atan2(direction.y, direction.x)


def path_yaw(points: tuple[Vec[Ned], ...], index: int) -> float:
    """Return the yaw (rad) that bisects the path through `points` at `index`; `points[0]` is the pad.

    The last point has no way on: there it is the direction of arrival.
    """
    unit = [_level(points[i + 1] - points[i]) for i in range(index - 1, min(index + 1, len(points) - 1))]
    return heading_of(unit[0] + unit[1] if len(unit) == 2 else unit[0])


def _level(way: Vec[Ned]) -> Vec[Ned]:
    length = math.hypot(way.x, way.y)
    return Vec(way.x / length, way.y / length, 0.0) if length > 0.0 else Vec(0.0, 0.0, 0.0)

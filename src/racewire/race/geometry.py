"""A course as the referee looks at it: one plane with a square opening a gate, and the limits.

Plain floats, computed once a course, because the referee looks at them in every step. NED, m.
"""

from dataclasses import dataclass

from racewire.core.clock import Nanos, nanos
from racewire.core.frames import Gate, Ned, Vec
from racewire.world.layout import Course, CourseGate


@dataclass(frozen=True, slots=True)
class GatePlane:
    """A gate's opening: centre (cx, cy, cz), and its unit vectors forward f, right r and down d."""

    cx: float
    cy: float
    cz: float
    fx: float
    fy: float
    fz: float
    rx: float
    ry: float
    rz: float
    dx: float
    dy: float
    dz: float
    half: float

    def ahead(self, p: Vec[Ned]) -> float:
        """Return how far `p` is behind the plane, seen in the direction of flight: negative before it."""
        return self.fx * (p.x - self.cx) + self.fy * (p.y - self.cy) + self.fz * (p.z - self.cz)

    def right(self, p: Vec[Ned]) -> float:
        """Return how far `p` is to the right of the opening's centre."""
        return self.rx * (p.x - self.cx) + self.ry * (p.y - self.cy) + self.rz * (p.z - self.cz)

    def down(self, p: Vec[Ned]) -> float:
        """Return how far `p` is below the opening's centre."""
        return self.dx * (p.x - self.cx) + self.dy * (p.y - self.cy) + self.dz * (p.z - self.cz)


@dataclass(frozen=True, slots=True)
class RaceGeometry:
    """Gate planes in flying order, flight volume, the vehicle's place on the pad, time limit."""

    planes: tuple[GatePlane, ...]
    low: Vec[Ned]
    high: Vec[Ned]
    pad: Vec[Ned]
    limit_ns: Nanos

    def inside(self, p: Vec[Ned]) -> bool:
        """Tell whether `p` lies in the flight volume."""
        low, high = self.low, self.high
        return low.x <= p.x <= high.x and low.y <= p.y <= high.y and low.z <= p.z <= high.z


def geometry(course: Course) -> RaceGeometry:
    """Return `course` as the referee looks at it."""
    return RaceGeometry(
        planes=tuple(_plane(gate) for gate in course.gates),
        low=course.low,
        high=course.high,
        pad=course.pad.position,
        limit_ns=nanos(course.time_limit_s),
    )


def _plane(gate: CourseGate) -> GatePlane:
    c, q = gate.centre, gate.ned_from_gate
    axes: list[Vec[Gate]] = [Vec(1.0, 0.0, 0.0), Vec(0.0, 1.0, 0.0), Vec(0.0, 0.0, 1.0)]
    f, r, d = (q @ axis for axis in axes)
    return GatePlane(c.x, c.y, c.z, f.x, f.y, f.z, r.x, r.y, r.z, d.x, d.y, d.z, 0.5 * gate.inner)

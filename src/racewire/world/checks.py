"""What makes a course flyable: the checks that every course passes, from a file or from a seed.

A fault is one line of text that starts with the place (`gate 3: position: ...`). Boxes (gates, ramp,
blocks) are tested against one another with the separating-axis theorem (Gottschalk, Lin, Manocha,
"OBBTree", 1996). NED, metres.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Ned, Vec
from racewire.world.layout import Block, Course, CourseGate

Box = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Centre (3,), axes as columns (3, 3), half extents (3,)."""


def first_fault(course: Course) -> str | None:
    """Return what is wrong with `course`, or None."""
    return next(faults(course), None)


def faults(course: Course) -> Iterator[str]:
    """Yield everything that is wrong with `course`."""
    if not course.gates:
        yield "gates: there must be at least one gate"
    if not course.time_limit_s > 0.0:
        yield f"time_limit_s: must be positive, not {course.time_limit_s}"
    for axis in "xyz":
        if not getattr(course.low, axis) < getattr(course.high, axis):
            yield f"low: must be less than high along {axis}"
    if min(course.pad_size.x, course.pad_size.y, course.pad_size.z) <= 0.0 or course.pad_drop <= 0.0:
        yield "pad: size and drop must be positive"
    if not _inside(course, course.pad.position) or course.pad.position.z >= course.floor:
        yield "pad: position: must be inside the flight volume and above the floor"
    for i, gate in enumerate(course.gates):
        yield from (f"gate {i}: {fault}" for fault in _gate_faults(course, gate, i))
    for i, block in enumerate(course.blocks):
        if min(block.size.x, block.size.y, block.size.z) <= 0.0:
            yield f"blocks[{i}]: size: must be positive"
    yield from _overlaps(course)


def _gate_faults(course: Course, gate: CourseGate, index: int) -> Iterator[str]:
    if gate.gate_id != index:
        yield f"id: must be {index}, not {gate.gate_id}: gates stand in flying order from 0"
    if not all(math.isfinite(c) for c in (gate.published.x, gate.published.y, gate.published.z, gate.lift)):
        yield "position: must be finite"
    for key in ("outer", "inner", "depth", "published_size"):
        if not getattr(gate, key) > 0.0:
            yield f"{key}: must be positive, not {getattr(gate, key)}"
    if not gate.inner < gate.outer:
        yield f"inner: must be less than outer ({gate.outer}), not {gate.inner}"
    corners = box_corners(gate_box(gate))
    if float(corners[:, 2].max()) >= course.floor:
        yield f"position: its frame reaches below the floor (D = {course.floor})"
    elif not all(_inside(course, Vec(*corner)) for corner in corners.tolist()):
        yield "position: its frame reaches out of the flight volume (low to high)"


def _overlaps(course: Course) -> Iterator[str]:
    gates = [gate_box(gate) for gate in course.gates]
    for i, j in itertools.combinations(range(len(gates)), 2):
        if boxes_overlap(gates[i], gates[j]):
            yield f"gate {j}: position: overlaps gate {i}"
    airframe: Box = (course.pad.position.array(), np.eye(3), np.full(3, 0.5))
    for box in (airframe, _ramp_box(course)):
        for i, gate in enumerate(gates):
            if boxes_overlap(box, gate):
                yield f"gate {i}: position: overlaps the pad"
    for b, block in enumerate(course.blocks):
        box = block_box(block)
        for i, gate in enumerate(gates):
            if boxes_overlap(box, gate):
                yield f"blocks[{b}]: overlaps gate {i}"
        if boxes_overlap(box, airframe):
            yield f"blocks[{b}]: overlaps the pad"


def _inside(course: Course, point: Vec[Ned]) -> bool:
    low, high = course.low, course.high
    return low.x <= point.x <= high.x and low.y <= point.y <= high.y and low.z <= point.z <= high.z


def gate_box(gate: CourseGate) -> Box:
    """Return the box around a gate's frame, its opening included."""
    half = np.array((gate.depth, gate.outer, gate.outer)) * 0.5
    return gate.centre.array(), gate.ned_from_gate.matrix(), half


def block_box(block: Block) -> Box:
    """Return the box of a block."""
    return block.centre.array(), block.pose.rotation.matrix(), 0.5 * block.size.array()


def _ramp_box(course: Course) -> Box:
    return course.ramp.position.array(), course.ramp.rotation.matrix(), 0.5 * course.pad_size.array()


def box_corners(box: Box) -> NDArray[np.float64]:
    """Return the corners of a box, shape (8, 3)."""
    centre, axes, half = box
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    return centre + (signs * half) @ axes.T


def boxes_overlap(a: Box, b: Box) -> bool:
    """Tell whether two boxes share a point: no axis of the fifteen candidates separates them."""
    between = b[0] - a[0]
    if float(np.linalg.norm(between)) > float(np.linalg.norm(a[2]) + np.linalg.norm(b[2])):
        return False
    crossed = [np.cross(u, v) for u in a[1].T for v in b[1].T]
    for axis in (*a[1].T, *b[1].T, *crossed):
        length = float(np.linalg.norm(axis))
        if length < 1e-9:
            continue
        reach = np.abs(axis @ a[1]) @ a[2] + np.abs(axis @ b[1]) @ b[2]
        if abs(float(axis @ between)) > reach:
            return False
    return True

"""Courses on disk: TOML read into a `Course`, and a `Course` written back.

Lengths in metres, angles in degrees, points in NED. `yaw_deg` is the direction in which a gate is
passed, from north towards east; a missing one is the bisector of the path. A file with a `[map]`
table gives its gates in surveyed axes instead: x, y, z up, `origin` being the map's zero in NED, and
yaw counter-clockwise from x modulo 180, of which the direction along the path is taken (spec
aigp.md 4.4). Angles are kept to a billionth of a degree, so that writing and reading give the same bits.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from racewire.core.config import parse, read_toml
from racewire.core.errors import ConfigError
from racewire.core.frames import Frd, Gate, Ned, Pose, Rot, Vec
from racewire.world.checks import first_fault
from racewire.world.layout import Block, Course, CourseGate, path_yaw

Triple: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class PadEntry:
    """The `[pad]` table: the vehicle's pose at the start, and the ramp under it."""

    position: Triple
    roll_deg: float = 0.0
    pitch_deg: float = 0.0
    yaw_deg: float = 0.0
    size: Triple = (3.0, 2.2, 0.5)
    drop: float = 0.1


@dataclass(frozen=True, slots=True)
class GateDefaults:
    """The `[gate]` table: what the gates have in common."""

    lift: float = 0.0
    outer: float = 2.7
    inner: float = 1.5
    depth: float = 0.26
    published_size: float = 2.72


@dataclass(frozen=True, slots=True)
class GateEntry:
    """One `[[gates]]` table; a size given here goes before the one in `[gate]`."""

    id: int
    position: Triple
    yaw_deg: float | None = None
    pitch_deg: float = 0.0
    roll_deg: float = 0.0
    lift: float | None = None
    outer: float | None = None
    inner: float | None = None
    depth: float | None = None
    published_size: float | None = None


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """One entry of `blocks`."""

    centre: Triple
    size: Triple
    yaw_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class MapEntry:
    """The `[map]` table: where the zero of the surveyed axes lies in NED."""

    origin: Triple


@dataclass(frozen=True, slots=True)
class CourseTable:
    """The whole file but its gates, which are read one by one so that an error can name the gate."""

    name: str
    look: str
    floor: float
    low: Triple
    high: Triple
    pad: PadEntry
    gate: GateDefaults = GateDefaults()
    map: MapEntry | None = None
    blocks: tuple[BlockEntry, ...] = ()
    time_limit_s: float = 480.0
    limit_s: float | None = None


def read_course(path: Path, where: str | None = None) -> Course:
    """Read and check the course file at `path`; errors call it `where`, by default its path.

    Raises
    ------
    ConfigError
        If the file cannot be read or describes no course that can be flown; the text names the file,
        the gate and the field.
    """
    where = where or str(path)
    data = read_toml(path)
    entries = data.pop("gates", None)
    if not isinstance(entries, list) or not entries:
        message = f"{where}: gates: there must be at least one [[gates]] table"
        raise ConfigError(message)
    table = parse(CourseTable, data, where)
    gates = [
        _gate_entry(entry, f"{where}: gate {i}", i) for i, entry in enumerate(cast("list[Any]", entries))
    ]
    course = _build(table, gates)
    fault = first_fault(course)
    if fault is not None:
        message = f"{where}: {fault}"
        raise ConfigError(message)
    return course


def save_course(course: Course, path: Path) -> None:
    """Write `course` to the TOML file at `path`, from which `read_course` gives it back.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    try:
        path.write_text("\n".join(_lines(course)) + "\n", encoding="utf-8")
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise ConfigError(message) from error


def _gate_entry(entry: Any, where: str, index: int) -> GateEntry:  # noqa: ANN401 - any TOML value
    if not isinstance(entry, Mapping):
        message = f"{where}: must be a table, not {entry!r}"
        raise ConfigError(message)
    gate = parse(GateEntry, cast("Mapping[str, Any]", entry), where)
    if gate.id != index:
        message = f"{where}: id: must be {index}, not {gate.id}: gates stand in flying order from 0"
        raise ConfigError(message)
    return gate


def _build(table: CourseTable, entries: list[GateEntry]) -> Course:
    pad = Pose(Vec(*table.pad.position), _rotation(table.pad))
    points = tuple(_point(entry.position, table.map) for entry in entries)
    path = (pad.position, *points)
    gates = tuple(
        _gate(entry, table, points[i], math.degrees(path_yaw(path, i + 1))) for i, entry in enumerate(entries)
    )
    return Course(
        name=table.name,
        look=table.look,
        gates=gates,
        pad=pad,
        floor=table.floor,
        low=Vec(*table.low),
        high=Vec(*table.high),
        blocks=tuple(
            Block(Vec(*block.centre), Vec(*block.size), math.radians(_turn(block.yaw_deg)))
            for block in table.blocks
        ),
        time_limit_s=table.time_limit_s,
        limit_s=table.limit_s,
        pad_size=Vec(*table.pad.size),
        pad_drop=table.pad.drop,
    )


def _gate(entry: GateEntry, table: CourseTable, point: Vec[Ned], bisector_deg: float) -> CourseGate:
    common = table.gate
    if entry.yaw_deg is None:
        yaw_deg = bisector_deg
    elif table.map is None:
        yaw_deg = entry.yaw_deg
    else:
        away = abs(_turn(-entry.yaw_deg - bisector_deg)) > 90.0
        yaw_deg = 180.0 - entry.yaw_deg if away else -entry.yaw_deg
    return CourseGate(
        gate_id=entry.id,
        published=point,
        ned_from_gate=rotation_deg(entry.roll_deg, entry.pitch_deg, yaw_deg),
        lift=common.lift if entry.lift is None else entry.lift,
        outer=common.outer if entry.outer is None else entry.outer,
        inner=common.inner if entry.inner is None else entry.inner,
        depth=common.depth if entry.depth is None else entry.depth,
        published_size=common.published_size if entry.published_size is None else entry.published_size,
    )


def _point(position: Triple, axes: MapEntry | None) -> Vec[Ned]:
    if axes is None:
        return Vec(*position)
    north, east, down = axes.origin
    x, y, up = position
    return Vec(north + x, east - y, down - up)


def rotation_deg(roll: float, pitch: float, yaw: float) -> Rot[Ned, Any]:
    """Return the rotation of these Euler angles (deg), each kept to a billionth of a degree."""
    return Rot.from_euler(*(math.radians(_turn(angle)) for angle in (roll, pitch, yaw)))


def _rotation(pad: PadEntry) -> Rot[Ned, Frd]:
    return rotation_deg(pad.roll_deg, pad.pitch_deg, pad.yaw_deg)


def _turn(angle_deg: float) -> float:
    """Return the angle within (-180, 180], to a billionth of a degree."""
    angle = round(math.remainder(angle_deg, 360.0), 9)
    return 180.0 if angle == -180.0 else angle


def _lines(course: Course) -> list[str]:
    first = course.gates[0]
    sizes = ("lift", "outer", "inner", "depth", "published_size")
    lines = [
        f"name = {_text(course.name)}",
        f"look = {_text(course.look)}",
        f"time_limit_s = {course.time_limit_s!r}",
        *([] if course.limit_s is None else [f"limit_s = {course.limit_s!r}"]),
        f"floor = {course.floor!r}",
        f"low = {_triple(course.low)}",
        f"high = {_triple(course.high)}",
        "blocks = [",
        *(
            f"  {{ centre = {_triple(b.centre)}, size = {_triple(b.size)}, yaw_deg = {_degrees(b.yaw)!r} }},"
            for b in course.blocks
        ),
        "]",
        "",
        "[pad]",
        f"position = {_triple(course.pad.position)}",
        *_angles(course.pad.rotation),
        f"size = {_triple(course.pad_size)}",
        f"drop = {course.pad_drop!r}",
        "",
        "[gate]",
        *(f"{key} = {getattr(first, key)!r}" for key in sizes),
    ]
    for gate in course.gates:
        lines += [
            "",
            "[[gates]]",
            f"id = {gate.gate_id}",
            f"position = {_triple(gate.published)}",
            *_angles(gate.ned_from_gate),
            *(f"{k} = {getattr(gate, k)!r}" for k in sizes if getattr(gate, k) != getattr(first, k)),
        ]
    return lines


def _angles(rotation: Rot[Ned, Frd] | Rot[Ned, Gate]) -> list[str]:
    angles = zip(("roll_deg", "pitch_deg", "yaw_deg"), rotation.euler(), strict=True)
    return [f"{key} = {_degrees(angle)!r}" for key, angle in angles]


def _degrees(angle: float) -> float:
    return _turn(math.degrees(angle)) + 0.0


def _triple(v: Vec[Ned] | Vec[Frd]) -> str:
    return f"[{v.x!r}, {v.y!r}, {v.z!r}]"


def _text(text: str) -> str:
    escaped = "".join(c if c >= " " and c not in '\\"' else f"\\u{ord(c):04x}" for c in text)
    return f'"{escaped}"'

"""The rules of the wire that `racewire conformance` judges, each by what the probe heard.

A rule gives one or more `Point`s: what is wanted, what was seen, and whether that passes; "not seen" if
it never came up. What is wanted is the build's profile and the numbers of the spec. Rates have a wide
tolerance, since those of the original followed the load. Source: spec aigp.md, sections 1 and 2.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from racewire.core.clock import NS_PER_MS, NS_PER_S
from racewire.run.conformance_probe import AXES, STATUS, Heard, Hearing
from racewire.wires.profile import BuildProfile

RATE_TOLERANCE = 0.15
_PAD_FORCE = (-2.999, 0.0, -9.340)  # m/s^2, spec 1.3
_PAD_PITCH = -0.3107  # rad, true
_NAMES = {
    "imu": "HIGHRES_IMU",
    "attitude": "ATTITUDE",
    "local_position": "LOCAL_POSITION_NED",
    "odometry": "ODOMETRY",
    "motors": "ACTUATOR_OUTPUT_STATUS",
    "heartbeat": "HEARTBEAT",
    "race_status": "RACE_STATUS",
}
_GATE_BYTES = 38


@dataclass(frozen=True, slots=True)
class Point:
    """One point: section of the spec, what is wanted, what was seen; `passed` is None if not seen."""

    name: str
    section: str
    wanted: str
    seen: str
    passed: bool | None

    @property
    def verdict(self) -> str:
        """The word for it."""
        return "not seen" if self.passed is None else ("pass" if self.passed else "FAIL")


def unseen(name: str, section: str, wanted: str) -> Point:
    """Return the point of something that never came up."""
    return Point(name, section, wanted, "-", None)


def sender(h: Hearing, p: BuildProfile) -> Iterator[Point]:
    """Check framing, the sender's ids, and the heartbeat before and after arming."""
    yield Point(
        "MAVLink 2 framing", "1.1", "0xFD", _listed(f"0x{f:02X}" for f in h.framing), h.framing == {0xFD}
    )
    ids = {(x.message.get_srcSystem(), x.message.get_srcComponent()) for x in h.messages.get("HEARTBEAT", [])}
    wanted = (p.identity.system, p.identity.component)
    seen = _listed(f"{a}/{b}" for a, b in ids)
    yield Point("sender", "1.1", "{}/{}".format(*wanted), seen, ids == {wanted} if ids else None)
    before = {x.message.base_mode & 128 for x in h.of("HEARTBEAT", "listen", "arm")}
    yield Point(
        "disarmed on the pad", "1.3", "bit 128 clear", _listed(before), before == {0} if before else None
    )
    armed = [x.message for x in h.of("HEARTBEAT", "arm", "flown") if x.message.base_mode & 128]
    modes = {(m.base_mode, m.system_status) for m in armed}
    want = (p.identity.armed_mode, p.identity.armed_status)
    yield Point(
        "armed: base_mode, system_status",
        "1.3",
        str(want),
        _listed(modes),
        modes == {want} if modes else None,
    )


def rates(h: Hearing, p: BuildProfile) -> Iterator[Point]:
    """Check what comes how often, and that what is blocked does not come."""
    for topic, name in _NAMES.items():
        heard = h.of(name, "listen", "arm")
        if topic in p.blocked:
            got = h.messages.get(name, [])
            yield Point(f"{name} blocked", "1.2", "none", str(len(got)), not got)
            continue
        wanted = p.rates[topic]
        span = h.seconds("listen", "arm")
        rate = len(heard) / span
        slack = max(RATE_TOLERANCE * wanted, 1.5 / span)
        yield Point(f"{name} rate", "1.2", f"{wanted:g} Hz", f"{rate:.1f} Hz", abs(rate - wanted) <= slack)


def imu(h: Hearing, p: BuildProfile) -> Iterator[Point]:
    """Check the inertial sensor at rest, its unused fields and its stamps."""
    heard = h.of("HIGHRES_IMU", "listen", "arm")
    if not heard:
        yield unseen("IMU at rest", "1.3", str(_PAD_FORCE))
        return
    m = [x.message for x in heard]
    force = tuple(statistics.fmean(getattr(x, name) for x in m) for name in ("xacc", "yacc", "zacc"))
    signed = tuple(s * f for s, f in zip(p.signs.specific_force, force, strict=True))
    near = all(abs(a - b) < 0.02 for a, b in zip(signed, _PAD_FORCE, strict=True))
    yield Point("IMU at rest on the pad", "1.3", _numbers(_PAD_FORCE), _numbers(force), near)
    turning = max(max(abs(x.xgyro), abs(x.ygyro), abs(x.zgyro)) for x in m)
    yield Point("gyro at rest", "1.3", "< 0.001 rad/s", f"{turning:.2g}", turning < 1e-3)
    unused = ("xmag", "ymag", "zmag", "abs_pressure", "diff_pressure", "pressure_alt", "temperature")
    empty = all(math.isnan(getattr(x, name)) for x in m for name in unused)
    yield Point("magnetometer, pressures, temperature", "1.3", "NaN", "NaN" if empty else "numbers", empty)
    flags = {(x.fields_updated, x.id) for x in m}
    yield Point("fields_updated, id", "1.3", "(63, 0)", _listed(flags), flags == {(63, 0)})
    stamps = [x.time_usec for x in m]
    rising = all(b >= a for a, b in itertools.pairwise(stamps))
    yield Point("IMU stamps", "1.3", "never back", "never back" if rising else "back", rising)
    statuses = h.of("RACE_STATUS", "listen", "arm")
    if statuses:
        apart = (heard[-1].message.time_usec / 1e3 - STATUS.unpack_from(statuses[-1].message)[1]) / 1e3
        late = (heard[-1].t_ns - statuses[-1].t_ns) / NS_PER_S
        yield Point(
            "one boot clock for IMU and race",
            "1.3",
            "within 0.1 s",
            f"{apart - late:+.3f} s",
            abs(apart - late) < 0.1,
        )


def pose(h: Hearing, p: BuildProfile) -> Iterator[Point]:
    """Check the streamed pose on the pad, mirrored as the build mirrors it."""
    attitude = [x.message for x in h.of("ATTITUDE", "listen", "arm")]
    if attitude:
        m = attitude[-1]
        wanted = p.signs.euler[1] * _PAD_PITCH
        yield Point(
            "ATTITUDE pitch on the pad",
            "1.3",
            f"{wanted:+.3f}",
            f"{m.pitch:+.3f}",
            abs(m.pitch - wanted) < 0.01,
        )
    odometry = [x.message for x in h.of("ODOMETRY", "listen", "arm")]
    if odometry and attitude:
        w, x, y, z = odometry[-1].q
        sx, sy, sz = p.signs.quaternion
        pitch = math.asin(max(-1.0, min(1.0, 2.0 * (w * sy * y - sx * x * sz * z))))
        yield Point(
            "ODOMETRY q, un-mirrored: pitch",
            "1.3",
            f"{_PAD_PITCH:+.3f}",
            f"{pitch:+.3f}",
            abs(pitch - _PAD_PITCH) < 0.01,
        )


def motors(h: Hearing, _: BuildProfile) -> Iterator[Point]:
    """Check the idle outputs once armed."""
    heard = [x.message for x in h.of("ACTUATOR_OUTPUT_STATUS", "arm", "go")]
    idle = {tuple(round(a, 3) for a in m.actuator[:4]) for m in heard[len(heard) // 2 :]}
    yield Point(
        "motors idle when armed", "1.3", "0.05 each", _listed(idle), idle == {(0.05,) * 4} if idle else None
    )


def timesync(h: Hearing, _: BuildProfile) -> Iterator[Point]:
    """Check that the echo is ours, that the time is UNIX, and how much the offset spreads."""
    replies = h.messages.get("TIMESYNC", [])
    if not replies:
        yield unseen("TIMESYNC", "1.4", "a reply to each request")
        return
    trips = [(x.t_ns - x.message.ts1) / NS_PER_MS for x in replies]
    yield Point(
        "TIMESYNC ts1",
        "1.4",
        "our own tc1",
        f"{min(trips):.2f} ms ago at best",
        all(0 <= t < 5e3 for t in trips),
    )
    offsets = [(x.message.tc1 - (x.message.ts1 + x.t_ns) / 2) / NS_PER_MS for x in replies]
    middle = statistics.median(offsets)
    yield Point("TIMESYNC tc1", "1.4", "UNIX ns", f"{middle / 1e3:+.3f} s from ours", abs(middle) < 86_400e3)
    spread = statistics.pstdev(offsets)
    yield Point("TIMESYNC offset spread", "1.4", "std < 5 ms", f"{spread:.2f} ms", spread < 5.0)


def arming(h: Hearing, p: BuildProfile) -> Iterator[Point]:
    """Check the acknowledgement of arming, and of the reset."""
    for name, number, mark, end in (("arm", 400, "arm", "flown"), ("reset", 31000, "flown", "end")):
        acks = [x for x in h.of("COMMAND_ACK", mark, end) if x.message.command == number]
        wanted = f"accepted after {p.ack_delay_ms:g} ms"
        if not acks:
            yield unseen(f"{name} acknowledged", "1.7", wanted)
            continue
        delay = (acks[0].t_ns - h.marks[mark]) / NS_PER_MS
        seen = f"result {acks[0].message.result} after {delay:.0f} ms"
        close = abs(delay - p.ack_delay_ms) < 40.0
        yield Point(f"{name} acknowledged", "1.7", wanted, seen, acks[0].message.result == 0 and close)


def race(h: Hearing, _: BuildProfile) -> Iterator[Point]:
    """Check the layout of the race status, and the countdown."""
    heard = h.messages.get("RACE_STATUS", [])
    if not heard:
        yield unseen("race status", "1.5", "type 1, 37 bytes, zeros to 253")
        return
    padded = all(len(x.message) == 253 and not any(x.message[STATUS.size :]) for x in heard)
    yield Point("race status layout", "1.5", "37 bytes, zeros to 253", "so" if padded else "not so", padded)
    before = [STATUS.unpack_from(x.message) for x in h.of("RACE_STATUS", "listen", "arm")]
    idle = {(start, finish, gate, last) for _, _, start, finish, gate, last in before}
    wanted = (-1, -1, 0, -1)
    yield Point(
        "before a race: start, finish, gate, last",
        "1.5",
        str(wanted),
        _listed(idle),
        idle == {wanted} if idle else None,
    )
    after = [STATUS.unpack_from(x.message) for x in h.of("RACE_STATUS", "arm", "flown")]
    begun = [(boot, start) for _, boot, start, *_ in after if start >= 0]
    if not begun:
        yield unseen("countdown", "1.5", "GO 2 to 4 s ahead")
        return
    ahead = (begun[0][1] - begun[0][0]) / 1e3
    yield Point("GO lies ahead when first told", "1.5", "2 to 4 s", f"{ahead:.2f} s", 2.0 <= ahead <= 4.0)
    starts = {start for _, start in begun}
    yield Point("start is sticky", "1.5", "one value", f"{len(starts)}", len(starts) == 1)


def track(h: Hearing, p: BuildProfile) -> Iterator[Point]:
    """Check the burst that publishes the gates, or that there is none."""
    shakes = [x.message for x in h.messages.get("DATA_TRANSMISSION_HANDSHAKE", [])]
    if p.track == "absent":
        yield Point("no track", "1.6", "none", f"{len(shakes)} handshakes", not shakes)
        return
    if not shakes:
        yield unseen("track burst", "1.6", "transfers 0 and 1, each packet twice")
        return
    first = shakes[0]
    transfers = [m.width for m in shakes]
    twice = all(transfers.count(t) % 2 == 0 for t in (0, 1)) and set(transfers) == {0, 1}
    yield Point("track transfers", "1.6", "0 and 1, each twice", _listed(transfers), twice)
    constant = {(m.type, m.height, m.payload, m.jpg_quality) for m in shakes}
    yield Point(
        "handshake constants", "1.6", "(0, 0, 253, 1)", _listed(constant), constant == {(0, 0, 253, 1)}
    )
    whole = (first.size - 2) % _GATE_BYTES == 0 and first.packets == math.ceil(first.size / 250)
    yield Point("track size", "1.6", "2 + 38 a gate, 250 a packet", f"{first.size} in {first.packets}", whole)
    chunks = [x for x in h.messages.get("ENCAPSULATED_DATA", []) if x.message.data[0] == 2]
    yield Point(
        "track packets",
        "1.6",
        f"{len(shakes) * first.packets}",
        str(len(chunks)),
        len(chunks) == len(shakes) * first.packets,
    )
    if "go" in h.marks and chunks:
        early = (h.marks["go"] - chunks[0].t_ns) / NS_PER_S
        yield Point("track before GO", "1.6", "about 4 s", f"{early:.1f} s", 2.5 <= early <= 6.0)


def flight(h: Hearing, p: BuildProfile) -> Iterator[Point]:
    """Check that what is not finite is refused, and the sign of the gyro for commanded rates."""
    calm = [x.message for x in h.of("HIGHRES_IMU", "go", "fly")]
    if not calm:
        yield unseen("a command that is not finite", "1.7", "changes nothing")
    else:
        still = all(max(abs(m.xgyro), abs(m.ygyro), abs(m.zgyro), abs(m.yacc)) < 0.05 for m in calm)
        yield Point(
            "a command that is not finite",
            "1.7",
            "changes nothing",
            "nothing" if still else "it moved",
            still,
        )
    for index, (axis, field, end) in enumerate(
        zip(AXES, ("xgyro", "ygyro", "zgyro"), (*AXES[1:], "flown"), strict=True)
    ):
        heard = h.of("HIGHRES_IMU", axis, end)
        sign = p.signs.gyro[index]
        wanted = f"{'+' if sign > 0 else '-'} for a positive rate"
        if not heard:
            yield unseen(f"gyro sign, {axis}", "1.3", wanted)
            continue
        rate = _last(heard, field)
        yield Point(f"gyro sign, {axis}", "1.3", wanted, f"{rate:+.2f} rad/s", sign * rate > 0.1)
    rest = [x.message for x in h.of("HIGHRES_IMU", "rest", "end")]
    if rest and calm:
        back = abs(statistics.fmean(m.xacc for m in rest) - _PAD_FORCE[0]) < 0.05
        yield Point("reset puts it back on the pad", "1.7", "at rest there", "so" if back else "not so", back)


def _last(heard: list[Heard], field: str) -> float:
    """Return the mean of the last fifth, when the rate has settled."""
    return statistics.fmean(getattr(x.message, field) for x in heard[-max(1, len(heard) // 5) :])


def _listed(values: Iterable[object]) -> str:
    words = [str(v) for v in values]
    return ", ".join(sorted(words)[:4]) + (" .." if len(words) > 4 else "") or "-"


def _numbers(values: tuple[float, ...]) -> str:
    return "(" + ", ".join(f"{v:.3f}" for v in values) + ")"


RULES: tuple[Callable[[Hearing, BuildProfile], Iterator[Point]], ...] = (
    sender,
    rates,
    imu,
    pose,
    motors,
    timesync,
    arming,
    race,
    track,
    flight,
)
"""All rules but those of the video, in the order of the table."""

"""The raw wire of seed 000: fixed datagrams without headers, true FRD signs.

Telemetry, 48 bytes `<4f3f3fd`: quaternion (w, x, y, z) of ned_from_frd, body rates (rad/s), specific
force (m/s^2), time since the start of the run (s). Command, 16 bytes `<ffff`: throttle 0..1, roll, pitch,
yaw -1..1 (+ right, nose up, clockwise). Video: one whole JPEG a datagram. A frame carries no time, so
the pilot's end dates it with the newest telemetry. Source: spec aigp.md, section 3.
"""

import math
import struct
from collections import Counter

from racewire.core.clock import NS_PER_S, Nanos, nanos, seconds
from racewire.core.frames import Frd, Ned, Rot, Vec
from racewire.core.messages import Attitude, Image, Imu, Message, StickCommand
from racewire.wires.base import LATEST_NS, Datagram, Faults, Malformed, Rejected, WireSetup
from racewire.wires.setpoint import single
from racewire.wires.sync import PilotClock

MOST_BYTES = 65_507
"""The largest UDP payload, and so the largest frame."""

_TELEMETRY = struct.Struct("<4f3f3fd")
_COMMAND = struct.Struct("<ffff")
_JPEG_START = b"\xff\xd8"
_RESTART_NS = NS_PER_S


class RawSim:
    """The simulator's end.

    A telemetry datagram leaves when an `Imu` and an `Attitude` of one stamp are there, so the
    simulator makes both at one rate.
    """

    def __init__(self, setup: WireSetup) -> None:
        """Shrink frames with `setup.reencode` where they are too large for a datagram."""
        self._slack = setup.raw.stick_slack
        self._reencode = setup.reencode
        self._faults = Faults()
        self._imu: Imu | None = None
        self._attitude: Attitude | None = None

    @property
    def counters(self) -> Counter[str]:
        """What was dropped and why."""
        return self._faults.counters

    @property
    def boot_from_local_ns(self) -> Nanos:
        """0: the local clock is the boot clock."""
        return 0

    def receive(self, channel: str, data: bytes, now: Nanos) -> list[Message | Malformed]:
        """Take one datagram from a pilot."""
        if channel != "command":
            return [self._faults.malformed("nothing is expected here", channel, data, now)]
        try:
            return [self._read_command(data, now)]
        except Rejected as rejected:
            return [self._faults.malformed(str(rejected), channel, data, now)]

    def send(self, message: Message, now: Nanos) -> list[Datagram]:
        """Return the datagrams of a message to the pilot."""
        del now
        match message:
            case Imu():
                self._imu = message
            case Attitude():
                self._attitude = message
            case Image(jpeg=jpeg):
                return self._frame(jpeg)
            case _:
                return []
        return self._pair(self._imu, self._attitude)

    def due(self) -> None:
        """Nothing ever leaves by itself."""
        return

    def wake(self, now: Nanos) -> list[Datagram]:
        """Nothing ever leaves by itself."""
        del now
        return []

    def _pair(self, imu: Imu | None, attitude: Attitude | None) -> list[Datagram]:
        if imu is None or attitude is None or imu.t_ns != attitude.t_ns:
            return []
        q, w, f = attitude.ned_from_frd, imu.rates, imu.specific_force
        t = seconds(imu.t_ns)
        packet = _TELEMETRY.pack(q.w, q.x, q.y, q.z, w.x, w.y, w.z, f.x, f.y, f.z, t)
        return [Datagram("telemetry", packet)]

    def _frame(self, jpeg: bytes) -> list[Datagram]:
        if len(jpeg) > MOST_BYTES:
            jpeg = self._reencode(jpeg, MOST_BYTES) if self._reencode else b""
            self.counters["frames re-encoded"] += 1
        if not 0 < len(jpeg) <= MOST_BYTES:
            self.counters["frames too large"] += 1
            return []
        return [Datagram("video", jpeg)]

    def _read_command(self, data: bytes, now: Nanos) -> StickCommand:
        if len(data) != _COMMAND.size:
            raise Rejected("command size")
        values: tuple[float, ...] = _COMMAND.unpack(data)
        if not all(map(math.isfinite, values)):
            raise Rejected("command not finite")
        throttle, roll, pitch, yaw = values
        return StickCommand(
            t_ns=now,
            throttle=self._clamped(throttle, 0.0),
            roll=self._clamped(roll, -1.0),
            pitch=self._clamped(pitch, -1.0),
            yaw=self._clamped(yaw, -1.0),
        )

    def _clamped(self, value: float, lowest: float) -> float:
        if not lowest - self._slack <= value <= 1.0 + self._slack:
            raise Rejected("command absurd")
        return max(lowest, min(1.0, value))


class RawPilot:
    """The pilot's end. There is no time request on this wire: latency counts as boot time."""

    def __init__(self, setup: WireSetup) -> None:
        """Start without telemetry; nothing of `setup` is needed at this end."""
        del setup
        self._faults = Faults()
        self._clock = PilotClock()
        self._newest: Nanos | None = None
        self._frames = 0

    @property
    def counters(self) -> Counter[str]:
        """What was dropped and why."""
        return self._faults.counters

    @property
    def boot_from_local_ns(self) -> Nanos | None:
        """Boot time minus local time, None before the first telemetry."""
        return self._clock.boot_from_local_ns

    def receive(self, channel: str, data: bytes, now: Nanos) -> list[Message | Malformed]:
        """Take one datagram from the simulator."""
        if channel not in ("telemetry", "video"):
            return [self._faults.malformed("nothing is expected here", channel, data, now)]
        try:
            if channel == "video":
                return [self._read_frame(data, now)]
            return self._read_telemetry(data, now)
        except Rejected as rejected:
            return [self._faults.malformed(str(rejected), channel, data, now)]

    def send(self, message: Message, now: Nanos) -> list[Datagram]:
        """Return the datagrams of a message to the simulator."""
        del now
        if not isinstance(message, StickCommand):
            return []
        sticks = (message.throttle, message.roll, message.pitch, message.yaw)
        return [Datagram("command", _COMMAND.pack(*map(single, sticks)))]

    def due(self) -> None:
        """Nothing ever leaves by itself."""
        return

    def wake(self, now: Nanos) -> list[Datagram]:
        """Nothing ever leaves by itself."""
        del now
        return []

    def _read_telemetry(self, data: bytes, now: Nanos) -> list[Message | Malformed]:
        if len(data) != _TELEMETRY.size:
            raise Rejected("telemetry size")
        qw, qx, qy, qz, p, q, r, ax, ay, az, t = _TELEMETRY.unpack(data)
        if not all(map(math.isfinite, (p, q, r, ax, ay, az, t))):
            raise Rejected("telemetry not finite")
        if not 0.0 <= t <= seconds(LATEST_NS):
            raise Rejected("stamp out of range")
        try:
            ned_from_frd: Rot[Ned, Frd] = Rot.from_quaternion(qw, qx, qy, qz)
        except ValueError as error:
            raise Rejected("not a rotation") from error
        t_ns = nanos(t)
        rates: Vec[Frd] = Vec(p, q, r)
        if self._newest is None or not self._newest - _RESTART_NS < t_ns < self._newest:
            self._newest = t_ns
        self._clock.stamped(t_ns, now)
        return [
            Attitude(t_ns=t_ns, ned_from_frd=ned_from_frd, rates=rates),
            Imu(t_ns=t_ns, specific_force=Vec(ax, ay, az), rates=rates),
        ]

    def _read_frame(self, data: bytes, now: Nanos) -> Image:
        if not data.startswith(_JPEG_START):
            raise Rejected("not a JPEG")
        self._frames += 1
        exposed = self._newest if self._newest is not None else self._clock.boot(now)
        return Image(t_ns=exposed, frame_id=self._frames - 1, jpeg=data)

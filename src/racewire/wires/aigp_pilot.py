"""The pilot's end of the AIGP wire: what the simulator sends, back in true FRD/NED and boot time.

Sends a heartbeat 5 times and a TIMESYNC request 10 times a second. Video is dated on the boot clock
through TIMESYNC; while no request was answered, by its arrival less an assumed latency. `now` is any
monotonic clock of the pilot's host. Source: spec aigp.md, sections 1 and 2.
"""

from collections import Counter

from racewire.core.clock import NS_PER_S, Nanos, Ticker
from racewire.core.messages import (
    Arm,
    Attitude,
    AttitudeCommand,
    Heartbeat,
    Image,
    Imu,
    LocalPosition,
    Message,
    MotionCommand,
    MotorCommand,
    MotorOutput,
    Odometry,
    RaceStatus,
    RateCommand,
    Reset,
)
from racewire.wires import telemetry
from racewire.wires.base import AT_ONCE, Datagram, Faults, Malformed, Rejected, WireSetup
from racewire.wires.mavlink import Codec, Packet
from racewire.wires.motion_target import write_motion, write_motors
from racewire.wires.race_data import STATUS, TRACK, TrackReceiver, is_nulled, read_status, read_track
from racewire.wires.setpoint import single, write_attitude, write_setpoint
from racewire.wires.signs import Quadruple, Triple
from racewire.wires.sync import PilotClock
from racewire.wires.video import Reassembler

HEARTBEAT_HZ = 5
TIMESYNC_HZ = 10
_SYSTEM, _COMPONENT = 255, 190  # a ground station
_GROUND_STATION, _NO_AUTOPILOT = 6, 8
_STAMPED = Imu | Attitude | LocalPosition | Odometry | MotorOutput | RaceStatus
_SAME_TRACK_NS = NS_PER_S
_NO_ROTATION: Quadruple = (1.0, 0.0, 0.0, 0.0)
_NO_RATES: Triple = (0.0, 0.0, 0.0)


class AigpPilot:
    """One session."""

    def __init__(self, setup: WireSetup) -> None:
        """Listen to, and command, a simulator of the build `setup.profile`."""
        self._profile = setup.profile
        self._codec = Codec(_SYSTEM, _COMPONENT)
        self._faults = Faults()
        self._clock = PilotClock(self._profile.video_latency_ns)
        self._video = Reassembler(self._faults.counters)
        self._track = TrackReceiver()
        self._last_track: tuple[bytes, Nanos] = (b"", AT_ONCE)
        self._tickers: dict[str, Ticker] = {}

    @property
    def counters(self) -> Counter[str]:
        """What was dropped and why."""
        return self._faults.counters

    @property
    def boot_from_local_ns(self) -> Nanos | None:
        """Boot time minus local time, None before the first telemetry with a stamp."""
        return self._clock.boot_from_local_ns

    def receive(self, channel: str, data: bytes, now: Nanos) -> list[Message | Malformed]:
        """Take one datagram from the simulator."""
        out: list[Message | Malformed] = []
        if channel == "video":
            try:
                frame = self._video.receive(data)
            except Rejected as rejected:
                return [self._faults.malformed(str(rejected), channel, data, now)]
            if frame is not None:
                exposed = self._clock.exposed(frame.unix_ns, now)
                out.append(Image(t_ns=exposed, frame_id=frame.frame_id, jpeg=frame.jpeg))
            return out
        if channel != "mavlink":
            return [self._faults.malformed("nothing is expected here", channel, data, now)]
        packets, fault = self._codec.decode(data)
        for packet in packets:
            try:
                message = self._read(packet, now)
            except Rejected as rejected:
                out.append(self._faults.malformed(str(rejected), channel, data, now))
                continue
            if message is None:
                continue
            if isinstance(message, _STAMPED):
                self._clock.stamped(message.t_ns, now)
            out.append(message)
        if fault:
            out.append(self._faults.malformed(fault, channel, data, now))
        return out

    def send(self, message: Message, now: Nanos) -> list[Datagram]:
        """Return the datagrams of a message to the simulator."""
        del now
        match message:
            case RateCommand(t_ns=t_ns, thrust=thrust, rates=rates):
                mask, wire_rates = write_setpoint(self._profile, rates)
                packet = self._attitude_target(t_ns, mask, _NO_ROTATION, wire_rates, thrust)
            case AttitudeCommand(t_ns=t_ns, ned_from_frd=attitude, thrust=thrust):
                target = write_attitude(self._profile, attitude)
                packet = target and self._attitude_target(t_ns, *target, _NO_RATES, thrust)
            case MotionCommand():
                packet = write_motion(self._profile, message, self._codec)
            case MotorCommand():
                packet = write_motors(self._profile, message, self._codec)
            case Arm(arm=arm):
                packet = self._command_long(telemetry.ARM, float(arm))
            case Reset(hard=hard):
                packet = self._command_long(telemetry.RESET, float(hard))
            case Heartbeat():
                packet = self._write_heartbeat()
            case _:
                return []
        return [Datagram("mavlink", packet)] if packet else []

    def due(self) -> Nanos | None:
        """Return when the next heartbeat or TIMESYNC request is due: at once at the start."""
        return min((ticker.due for ticker in self._tickers.values()), default=AT_ONCE)

    def wake(self, now: Nanos) -> list[Datagram]:
        """Return the heartbeat and the TIMESYNC request if due; one each, however late."""
        if not self._tickers:
            self._tickers = {"heartbeat": Ticker(HEARTBEAT_HZ, now), "timesync": Ticker(TIMESYNC_HZ, now)}
        out: list[Datagram] = []
        for name, ticker in self._tickers.items():
            if ticker.due <= now:
                ticker.skip_to(now)
                ticker.advance()
                packet = self._write_heartbeat() if name == "heartbeat" else self._write_timesync(now)
                out.append(Datagram("mavlink", packet))
        return out

    def _read(self, m: Packet, now: Nanos) -> Message | None:
        match m.get_type():
            case "TIMESYNC":
                if not self._clock.replied(m.tc1, m.ts1, now):
                    self.counters["timesync not ours"] += 1
                return None
            case "DATA_TRANSMISSION_HANDSHAKE":
                self._track.announce(m.width, m.size, m.packets, now)
                return None
            case "ENCAPSULATED_DATA":
                return self._read_race_data(m.seqnr, bytes(m.data), now)
            case _:
                message = telemetry.read(m, self._profile, self._clock.boot(now))
                if message is None:
                    self.counters["messages ignored"] += 1
                return message

    def _read_race_data(self, index: int, data: bytes, now: Nanos) -> Message | None:
        if data[0] == STATUS:
            return read_status(data)
        if data[0] != TRACK:
            self.counters["messages ignored"] += 1
            return None
        body = self._track.chunk(index, data)
        last_body, last_time = self._last_track
        if body is None or (body == last_body and now < last_time + _SAME_TRACK_NS):
            return None
        if is_nulled(body):
            self.counters["tracks nulled"] += 1
            return None
        track = read_track(body, self._clock.boot(now))
        self._last_track = (body, now)
        return track

    def _attitude_target(self, t_ns: Nanos, mask: int, q: Quadruple, rates: Triple, thrust: float) -> bytes:
        return self._codec.encode(
            "set_attitude_target",
            time_boot_ms=telemetry.stamp_ms(t_ns),
            target_system=self._profile.identity.system,
            target_component=self._profile.identity.component,
            type_mask=mask,
            q=q,
            body_roll_rate=rates[0],
            body_pitch_rate=rates[1],
            body_yaw_rate=rates[2],
            thrust=single(thrust),
        )

    def _command_long(self, command: int, param1: float) -> bytes:
        return self._codec.encode(
            "command_long",
            target_system=self._profile.identity.system,
            target_component=self._profile.identity.component,
            command=command,
            confirmation=0,
            param1=param1,
            param2=0.0,
            param3=0.0,
            param4=0.0,
            param5=0.0,
            param6=0.0,
            param7=0.0,
        )

    def _write_heartbeat(self) -> bytes:
        return self._codec.encode(
            "heartbeat",
            type=_GROUND_STATION,
            autopilot=_NO_AUTOPILOT,
            base_mode=0,
            custom_mode=0,
            system_status=0,
            mavlink_version=3,
        )

    def _write_timesync(self, now: Nanos) -> bytes:
        self._clock.requested(now)
        return self._codec.encode("timesync", tc1=now, ts1=0)

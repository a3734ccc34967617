"""The simulator's end of the AIGP wire: MAVLink session and video, unprompted to the pilot.

The simulator decides when each telemetry message is made (at the profile's rates); this end writes it
as the build would, or drops it where the build blocks it. Video frames are sent several times. TIMESYNC
requests are answered at once with UNIX time; every command is acked after the build's delay. `now` is
the boot clock. Source: spec aigp.md, sections 1 and 2.
"""

import math
from collections import Counter, deque
from fractions import Fraction
from typing import NamedTuple

from racewire.core.clock import Nanos, nanos
from racewire.core.messages import Ack, Arm, Heartbeat, Image, Message, RaceStatus, Reset, Track
from racewire.core.topics import TOPIC_OF
from racewire.wires import telemetry, video
from racewire.wires.base import Datagram, Faults, Malformed, Rejected, WireSetup
from racewire.wires.mavlink import Codec, Packet
from racewire.wires.motion_target import read_motion, read_motors
from racewire.wires.race_data import DATA, write_chunks, write_nulled_track, write_status, write_track
from racewire.wires.resend import Resend
from racewire.wires.setpoint import read_setpoint
from racewire.wires.unix_clock import UnixClock

_TRANSFERS = (0, 1)
_MOST_PENDING = 64


class _Pending(NamedTuple):
    """An answer and when it leaves: an ack (command, result) or a TIMESYNC reply (echo)."""

    at: Nanos
    ack: tuple[int, int] | None
    echo: int = 0


class AigpSim:
    """One session. It has no connection state: any pilot may speak, and all hear."""

    def __init__(self, setup: WireSetup, codec: Codec | None = None) -> None:
        """Speak as the build `setup.profile`, whose UNIX clock reads `setup.unix_from_boot_ns` at boot.

        Who speaks as the same vehicle shares its `codec`, so that the sequence has no gaps.
        """
        self._profile = setup.profile
        self._unix = UnixClock(setup.unix_from_boot_ns, setup.unix_steps)
        self._codec = codec or Codec(self._profile.identity.system, self._profile.identity.component)
        self._faults = Faults()
        self._acks: deque[_Pending] = deque()
        self._replies: deque[_Pending] = deque()
        image_rate = self._profile.topic_rates().get("image", Fraction(1))
        self._resend = Resend(self._profile.video_copies, image_rate)
        self._written = 0
        self._heartbeat_at: Nanos | None = None

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
        if channel != "mavlink":
            return [self._faults.malformed("nothing is expected here", channel, data, now)]
        packets, fault = self._codec.decode(data)
        out: list[Message | Malformed] = []
        for packet in packets:
            try:
                message = self._read(packet, now)
            except Rejected as rejected:
                out.append(self._faults.malformed(str(rejected), channel, data, now))
            else:
                out += [message] if message is not None else []
        if fault:
            out.append(self._faults.malformed(fault, channel, data, now))
        return out

    def send(self, message: Message, now: Nanos) -> list[Datagram]:
        """Return the datagrams of a message to the pilot; an `Ack` leaves after the build's delay."""
        topic = TOPIC_OF[type(message)]
        if not self._profile.sends(topic):
            return []
        match message:
            case Ack(command=command, accepted=accepted):
                self._acknowledge(command, telemetry.ACCEPTED if accepted else telemetry.DENIED, now)
                return []
            case Image(t_ns=t_ns, frame_id=frame_id, jpeg=jpeg):
                frame = video.split(video.Frame(frame_id, self._unix.at(t_ns), jpeg))
                self._resend.began(frame, now)
                return [Datagram("video", data) for data in frame]
            case RaceStatus():
                return [self._encapsulated(0, write_status(message))]
            case Track():
                return self._track_burst(message)
            case _:
                return self._telemetry(message)

    def due(self) -> Nanos | None:
        """Return when the next answer or copy of a frame leaves."""
        times = [queue[0].at for queue in (self._acks, self._replies) if queue]
        copy = self._resend.due()
        return min(times if copy is None else [*times, copy], default=None)

    def wake(self, now: Nanos) -> list[Datagram]:
        """Return the answers and the copy of a frame that are due."""
        out = [Datagram("video", data) for data in self._resend.wake(now)]
        for queue in (self._replies, self._acks):
            while queue and queue[0].at <= now:
                out.append(Datagram("mavlink", self._answer(queue.popleft(), now)))
        return out

    def _read(self, m: Packet, now: Nanos) -> Message | None:
        match m.get_type():
            case "SET_ATTITUDE_TARGET":
                self._check_heartbeat(now)
                rates = (m.body_roll_rate, m.body_pitch_rate, m.body_yaw_rate)
                return read_setpoint(self._profile, m.type_mask, m.q, rates, m.thrust, now)
            case "SET_POSITION_TARGET_LOCAL_NED":
                self._check_heartbeat(now)
                return read_motion(self._profile, m, now)
            case "SET_ACTUATOR_CONTROL_TARGET":
                self._check_heartbeat(now)
                return read_motors(self._profile, m, now)
            case "COMMAND_LONG":
                return self._command(m.command, m.param1, now)
            case "HEARTBEAT":
                self._heartbeat_at = now
                return Heartbeat(t_ns=now)
            case "TIMESYNC" if m.ts1 == 0:
                self._queue(self._replies, _Pending(now, None, m.tc1))
            case _:
                self.counters["messages ignored"] += 1
        return None

    def _check_heartbeat(self, now: Nanos) -> None:
        """Refuse a command of a client without heartbeats, where the build wants them."""
        commands = self._profile.commands
        at = self._heartbeat_at
        if commands.heartbeat_required and (at is None or now - at > nanos(commands.heartbeat_s)):
            raise Rejected("no client heartbeat")

    def _command(self, command: int, param1: float, now: Nanos) -> Message | None:
        if command in (telemetry.ARM, telemetry.RESET) and not math.isfinite(param1):
            raise Rejected("command not finite")
        try:
            self._check_heartbeat(now)
        except Rejected:
            self._acknowledge(command, telemetry.REFUSED_FOR_NOW, now)
            raise
        known = command in (telemetry.ARM, telemetry.RESET, telemetry.TAKEOFF)
        self._acknowledge(command, telemetry.ACCEPTED if known else telemetry.UNSUPPORTED, now)
        if command == telemetry.ARM:
            return Arm(t_ns=now, arm=param1 >= 0.5)
        if command == telemetry.RESET and self._profile.commands.reset == "resets":
            return Reset(t_ns=now, hard=param1 >= 0.5)
        return None

    def _acknowledge(self, command: int, result: int, now: Nanos) -> None:
        self._queue(self._acks, _Pending(now + self._profile.ack_delay_ns, (command, result)))

    def _queue(self, queue: deque[_Pending], answer: _Pending) -> None:
        if len(queue) < _MOST_PENDING:
            queue.append(answer)
        else:
            self.counters["answers dropped"] += 1

    def _answer(self, answer: _Pending, now: Nanos) -> bytes:
        if answer.ack is None:
            return self._codec.encode("timesync", tc1=self._unix.at(now), ts1=answer.echo)
        command, result = answer.ack
        return self._codec.encode("command_ack", command=command, result=result)

    def _telemetry(self, message: Message) -> list[Datagram]:
        """Return the packet of a message; twice, with sequence numbers of their own, where it is its turn."""
        packet = telemetry.write(message, self._profile, self._codec)
        if packet is None:
            return []
        out = [Datagram("mavlink", packet)]
        self._written += 1
        every = self._profile.duplicate_every
        if every and self._written % every == 0:
            again = telemetry.write(message, self._profile, self._codec)
            out += [Datagram("mavlink", again)] if again else []
        return out

    def _encapsulated(self, index: int, data: bytes) -> Datagram:
        return Datagram("mavlink", self._codec.encode("encapsulated_data", seqnr=index, data=data))

    def _track_burst(self, track: Track) -> list[Datagram]:
        """Return both transfers of the track, every packet twice, as the original sends it."""
        body = write_nulled_track(track) if self._profile.track == "nulled" else write_track(track)
        out: list[Datagram] = []
        for transfer in _TRANSFERS:
            chunks = write_chunks(body, transfer)
            for _ in range(2):
                handshake = self._codec.encode(
                    "data_transmission_handshake",
                    type=0,
                    size=len(body),
                    width=transfer,
                    height=0,
                    packets=len(chunks),
                    payload=DATA,
                    jpg_quality=1,
                )
                out.append(Datagram("mavlink", handshake))
            for index, chunk in enumerate(chunks):
                out += [self._encapsulated(index, chunk) for _ in range(2)]
        return out

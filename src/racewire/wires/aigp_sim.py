"""The simulator's end of the AIGP wire: MAVLink session and video, unprompted to the pilot.

The simulator decides when each telemetry message is made (at the profile's rates); this end writes it
as the build would, or drops it where the build blocks it. TIMESYNC requests are answered at once with
UNIX time; every command is acked after the build's delay. `now` is the boot clock. Source: spec
aigp.md, sections 1 and 2.
"""

import math
from collections import Counter, deque
from typing import NamedTuple

from racewire.core.clock import Nanos
from racewire.core.messages import Ack, Arm, Heartbeat, Image, Message, RaceStatus, RateCommand, Reset, Track
from racewire.core.topics import TOPIC_OF
from racewire.wires import telemetry, video
from racewire.wires.base import Datagram, Faults, Malformed, Rejected, WireSetup
from racewire.wires.mavlink import Codec, Packet
from racewire.wires.race_data import DATA, write_chunks, write_status, write_track
from racewire.wires.setpoint import read_setpoint, read_thrust

_TRANSFERS = (0, 1)
_MOST_PENDING = 64


class _Pending(NamedTuple):
    """An answer and when it leaves: an ack (command, result) or a TIMESYNC reply (echo)."""

    at: Nanos
    ack: tuple[int, int] | None
    echo: int = 0


class AigpSim:
    """One session. It has no connection state: any pilot may speak, and all hear."""

    def __init__(self, setup: WireSetup) -> None:
        """Speak as the build `setup.profile`, whose UNIX clock reads `setup.unix_from_boot_ns` at boot."""
        self._profile = setup.profile
        self._unix_from_boot = setup.unix_from_boot_ns
        self._codec = Codec(self._profile.identity.system, self._profile.identity.component)
        self._faults = Faults()
        self._acks: deque[_Pending] = deque()
        self._replies: deque[_Pending] = deque()

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
                frame = video.Frame(frame_id, t_ns + self._unix_from_boot, jpeg)
                return [Datagram("video", data) for data in video.split(frame)]
            case RaceStatus():
                return [self._encapsulated(0, write_status(message))]
            case Track():
                return self._track_burst(message)
            case _:
                packet = telemetry.write(message, self._profile, self._codec)
                return [Datagram("mavlink", packet)] if packet else []

    def due(self) -> Nanos | None:
        """Return when the next answer leaves."""
        return min((queue[0].at for queue in (self._acks, self._replies) if queue), default=None)

    def wake(self, now: Nanos) -> list[Datagram]:
        """Return the answers that are due."""
        out: list[Datagram] = []
        for queue in (self._replies, self._acks):
            while queue and queue[0].at <= now:
                out.append(Datagram("mavlink", self._answer(queue.popleft(), now)))
        return out

    def _read(self, m: Packet, now: Nanos) -> Message | None:
        match m.get_type():
            case "SET_ATTITUDE_TARGET":
                rates = (m.body_roll_rate, m.body_pitch_rate, m.body_yaw_rate)
                thrust = read_thrust(m.thrust, self._profile.commands.thrust_slack)
                true_rates = read_setpoint(self._profile, m.type_mask, m.q, rates)
                return RateCommand(t_ns=now, thrust=thrust, rates=true_rates)
            case "COMMAND_LONG":
                return self._command(m.command, m.param1, now)
            case "HEARTBEAT":
                return Heartbeat(t_ns=now)
            case "TIMESYNC" if m.ts1 == 0:
                self._queue(self._replies, _Pending(now, None, m.tc1))
            case _:
                self.counters["messages ignored"] += 1
        return None

    def _command(self, command: int, param1: float, now: Nanos) -> Message | None:
        if command in (telemetry.ARM, telemetry.RESET) and not math.isfinite(param1):
            raise Rejected("command not finite")
        known = command in (telemetry.ARM, telemetry.RESET, telemetry.TAKEOFF)
        self._acknowledge(command, telemetry.ACCEPTED if known else telemetry.UNSUPPORTED, now)
        if command == telemetry.ARM:
            return Arm(t_ns=now, arm=param1 >= 0.5)
        if command == telemetry.RESET:
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
            return self._codec.encode("timesync", tc1=now + self._unix_from_boot, ts1=answer.echo)
        command, result = answer.ack
        return self._codec.encode("command_ack", command=command, result=result)

    def _encapsulated(self, index: int, data: bytes) -> Datagram:
        return Datagram("mavlink", self._codec.encode("encapsulated_data", seqnr=index, data=data))

    def _track_burst(self, track: Track) -> list[Datagram]:
        """Return both transfers of the track, every packet twice, as the original sends it."""
        body = write_track(track)
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

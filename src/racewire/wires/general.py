"""The simulator's end of the AIGP wire for general MAVLink tools: the session, and a vehicle that answers.

MAVSDK, MAVProxy and ground stations ask a vehicle for its version, parameters, missions, files, home and
mode before they do anything. Those questions are answered here, at once; all else is the session's
(`aigp_sim`). The modes are told, and only one has an effect: hold stops the vehicle where it is. Setpoints
count in every mode. Source: spec firmware.md, section 5.1.
"""

import math
from collections import Counter
from dataclasses import replace

from racewire.core.clock import Nanos
from racewire.core.frames import Frd, Vec
from racewire.core.messages import (
    AttitudeCommand,
    Heartbeat,
    Imu,
    LocalPosition,
    Message,
    MotionCommand,
    RateCommand,
)
from racewire.wires import telemetry
from racewire.wires.aigp_sim import AigpSim
from racewire.wires.base import AT_ONCE, Datagram, Malformed, WireSetup
from racewire.wires.mavlink import Codec, Packet
from racewire.wires.parameters import Parameters
from racewire.wires.unix_clock import UnixClock
from racewire.wires.vehicle_config import Parameter, VehicleConfig
from racewire.wires.vehicle_status import AUTOPILOT_VERSION, HOME_POSITION, VehicleStatus

_LONG_ONLY = 7
_NAK, _NO_FILE = 129, 10
_NO_MISSIONS, _MISSION_DONE = 3, 0
_MOST_ANSWERS = 256


class GeneralSim:
    """One session."""

    def __init__(self, setup: WireSetup) -> None:
        """Be the vehicle that `setup.profile` describes.

        Raises
        ------
        ValueError
            If the profile describes none.
        """
        config = setup.profile.vehicle
        if config is None:
            message = "the profile has no vehicle for general tools"
            raise ValueError(message)
        self._identity = setup.profile.identity
        self._config = config
        self._codec = Codec(self._identity.system, self._identity.component)
        self._session = AigpSim(setup, self._codec)
        self._parameters = Parameters(_all_parameters(setup, config), self._codec)
        self._status = VehicleStatus(setup.profile, config, self._codec)
        self._unix = UnixClock(setup.unix_from_boot_ns, setup.unix_steps)
        self._answers: list[bytes] = []
        self._imus = 0

    @property
    def counters(self) -> Counter[str]:
        """What was dropped and why."""
        return self._session.counters

    @property
    def boot_from_local_ns(self) -> Nanos:
        """0: the local clock is the boot clock."""
        return 0

    def receive(self, channel: str, data: bytes, now: Nanos) -> list[Message | Malformed]:
        """Take one datagram: answer the questions in it, and hand the rest to the session."""
        out: list[Message | Malformed] = []
        rest = data
        if channel == "mavlink":
            for packet in self._codec.decode(data).messages:
                answers = self._answer(packet, now, out)
                if answers is not None:
                    self._queue(answers)
                    rest = rest.replace(bytes(packet.get_msgbuf()), b"", 1)
        if rest or not data:
            out += [self._limited(message) for message in self._session.receive(channel, rest, now)]
        return out

    def send(self, message: Message, now: Nanos) -> list[Datagram]:
        """Return the datagrams of a message, and of what a vehicle says with it."""
        match message:
            case Heartbeat():
                packets = self._status.beat(message)
            case LocalPosition():
                packets = self._status.moved(message)
            case Imu():
                self._imus += 1
                if self._imus % int(self._parameters[self._config.imu_every]):
                    return []
                return self._session.send(message, now)
            case _:
                return self._session.send(message, now)
        return [Datagram("mavlink", packet) for packet in packets]

    def due(self) -> Nanos | None:
        """Return when the next answer leaves."""
        return AT_ONCE if self._answers else self._session.due()

    def wake(self, now: Nanos) -> list[Datagram]:
        """Return the answers that are due."""
        out = [Datagram("mavlink", packet) for packet in self._answers]
        self._answers = []
        return out + self._session.wake(now)

    def _queue(self, answers: list[bytes]) -> None:
        room = _MOST_ANSWERS - len(self._answers)
        self._answers += answers[:room]
        self.counters["answers dropped"] += max(0, len(answers) - room)

    def _limited(self, message: Message | Malformed) -> Message | Malformed:
        """Return a command within the limits that the parameters set."""
        p, names = self._parameters, self._config
        match message:
            case RateCommand(thrust=thrust, rates=rates):
                roll, pitch, yaw = (math.radians(p[name]) for name in names.rates_max)
                held = Vec[Frd](_within(rates.x, roll), _within(rates.y, pitch), _within(rates.z, yaw))
                return replace(message, thrust=min(thrust, p[names.thrust_max]), rates=held)
            case AttitudeCommand(thrust=thrust):
                return replace(message, thrust=min(thrust, p[names.thrust_max]))
            case _:
                return message

    def _answer(self, m: Packet, now: Nanos, out: list[Message | Malformed]) -> list[bytes] | None:
        """Return the answers to a question, None if it is the session's; what it commands goes to `out`."""
        to = {"target_system": m.get_srcSystem(), "target_component": m.get_srcComponent()}
        if getattr(m, "target_system", 0) not in (0, self._identity.system):
            return []
        match m.get_type():
            case "COMMAND_LONG":
                return self._command(m, to, now, out)
            case "COMMAND_INT":
                return [self._ack(m.command, _LONG_ONLY, to)]
            case "SET_MODE":
                self._set_mode(m.custom_mode, now, out)
                return []
            case "MISSION_REQUEST_LIST":
                return [self._codec.encode("mission_count", **to, count=0, mission_type=m.mission_type)]
            case "MISSION_COUNT":
                return [
                    self._codec.encode("mission_ack", **to, type=_NO_MISSIONS, mission_type=m.mission_type)
                ]
            case "MISSION_CLEAR_ALL":
                return [
                    self._codec.encode("mission_ack", **to, type=_MISSION_DONE, mission_type=m.mission_type)
                ]
            case "FILE_TRANSFER_PROTOCOL":
                return [
                    self._codec.encode(
                        "file_transfer_protocol", target_network=0, **to, payload=_nak(m.payload)
                    )
                ]
            case "PING" if m.target_system == 0:
                return [self._codec.encode("ping", time_usec=m.time_usec, seq=m.seq, **to)]
            case "TIMESYNC" if m.tc1 == 0:
                return [self._codec.encode("timesync", tc1=self._unix.at(now), ts1=m.ts1)]
            case _:
                return self._parameters.answer(m)

    def _command(
        self, m: Packet, to: dict[str, int], now: Nanos, out: list[Message | Malformed]
    ) -> list[bytes] | None:
        match m.command:
            case 176:  # DO_SET_MODE
                mode = _custom_mode(m.param2, m.param3)
                known = mode is not None and self._set_mode(mode, now, out)
                return [self._ack(m.command, telemetry.ACCEPTED if known else telemetry.DENIED, to)]
            case 22:  # TAKEOFF
                return [self._ack(m.command, telemetry.UNSUPPORTED, to)]
            case 512:  # REQUEST_MESSAGE
                asked = self._status.message(int(m.param1)) if math.isfinite(m.param1) else None
            case 520:  # REQUEST_AUTOPILOT_CAPABILITIES
                asked = self._status.message(AUTOPILOT_VERSION)
            case 410:  # GET_HOME_POSITION
                asked = self._status.message(HOME_POSITION)
            case _:
                return None
        if asked is None:
            return [self._ack(m.command, telemetry.UNSUPPORTED, to)]
        return [self._ack(m.command, telemetry.ACCEPTED, to), asked]

    def _set_mode(self, mode: int, now: Nanos, out: list[Message | Malformed]) -> bool:
        if mode not in self._config.modes:
            return False
        self._status.mode = mode
        if mode == self._config.hold_mode:
            out.append(MotionCommand(t_ns=now, velocity=Vec(0.0, 0.0, 0.0)))
        return True

    def _ack(self, command: int, result: int, to: dict[str, int]) -> bytes:
        return self._codec.encode("command_ack", command=command, result=result, **to)


def _all_parameters(setup: WireSetup, config: VehicleConfig) -> tuple[Parameter, ...]:
    """Return the profile's parameters after those that repeat the vehicle's identity, which are fixed."""
    identity = setup.profile.identity
    fixed = {
        "MAV_SYS_ID": identity.system,
        "MAV_COMP_ID": identity.component,
        "MAV_TYPE": identity.vehicle_type,
    }
    return (
        *(Parameter(name=n, type="int32", value=v, lowest=v, highest=v) for n, v in fixed.items()),
        *config.parameters,
    )


def _custom_mode(main: float, sub: float) -> int | None:
    """Return PX4's custom mode of a main mode and a sub mode, None if they are none."""
    if not (0.0 <= main <= 255.0 and 0.0 <= sub <= 255.0):
        return None
    return int(main) << 16 | int(sub) << 24


def _nak(request: list[int]) -> list[int]:
    """Return the MAVFTP payload that says that there is no such file, nor any."""
    number = (request[0] + 256 * request[1] + 1) % 65_536
    session, opcode = request[2], request[3]
    reply = [number % 256, number // 256, session, _NAK, 1, opcode, 0, 0, 0, 0, 0, 0, _NO_FILE]
    return reply + [0] * (251 - len(reply))


def _within(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))

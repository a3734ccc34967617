"""The messages: everything that simulator and pilot say to one another.

Frozen and small, in our frames (NED, FRD) and SI units whatever the bytes on the wire were. Every
message has `t_ns`: the time it is valid for, on the vehicle's boot clock. `core/topics.py` lists
them with their rates.
"""

from dataclasses import dataclass
from typing import TypeAlias

from racewire.core.clock import Nanos
from racewire.core.frames import Frd, Gate, Ned, Rot, Vec


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """The other end is alive; from a vehicle, whether its motors are armed."""

    t_ns: Nanos
    armed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Imu:
    """Inertial sample: specific force (m/s^2, at rest (0, 0, -9.81)) and body rates (rad/s)."""

    t_ns: Nanos
    specific_force: Vec[Frd]
    rates: Vec[Frd]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attitude:
    """Attitude and body rates (rad/s)."""

    t_ns: Nanos
    ned_from_frd: Rot[Ned, Frd]
    rates: Vec[Frd]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPosition:
    """Position (m) and velocity (m/s) in the world."""

    t_ns: Nanos
    position: Vec[Ned]
    velocity: Vec[Ned]


@dataclass(frozen=True, slots=True, kw_only=True)
class Odometry:
    """Full kinematic state; `resets` counts how often the vehicle was put back to the start."""

    t_ns: Nanos
    position: Vec[Ned]
    ned_from_frd: Rot[Ned, Frd]
    velocity: Vec[Ned]
    rates: Vec[Frd]
    resets: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MotorOutput:
    """Normalised motor commands, 0 to 1."""

    t_ns: Nanos
    front_left: float
    front_right: float
    back_left: float
    back_right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceStatus:
    """The race as the referee sees it. Times on the boot clock; `None` until they are known.

    `start_ns` is set when the countdown begins and lies in the future until GO. `finish_ns` and
    `last_gate_ns` are counted from GO. `active_gate` is the number of gates passed.
    """

    t_ns: Nanos
    start_ns: Nanos | None
    finish_ns: Nanos | None
    active_gate: int
    last_gate_ns: Nanos | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackGate:
    """One gate as published: the course's reference point (not the opening's centre), outer size (m)."""

    gate_id: int
    position: Vec[Ned]
    ned_from_gate: Rot[Ned, Gate]
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """The gate list, in flying order, where a build sends one."""

    t_ns: Nanos
    gates: tuple[TrackGate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """Contact with a gate or the environment; impulse in kg m/s."""

    t_ns: Nanos
    with_gate: bool
    impulse: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One camera frame as a JPEG; `t_ns` is its exposure on the boot clock."""

    t_ns: Nanos
    frame_id: int
    jpeg: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """The vehicle's answer to a command: its MAVLink number, and whether it was accepted."""

    t_ns: Nanos
    command: int
    accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Ask the vehicle to arm its motors, or to disarm them."""

    t_ns: Nanos
    arm: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """Ask the simulator to put the vehicle back; a hard reset also starts a new countdown."""

    t_ns: Nanos
    hard: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCommand:
    """Wanted body rates (rad/s) and collective thrust, 0 to 1."""

    t_ns: Nanos
    thrust: float
    rates: Vec[Frd]


@dataclass(frozen=True, slots=True, kw_only=True)
class StickCommand:
    """Normalised sticks: throttle 0 to 1; roll, pitch, yaw -1 to +1, + right, nose up, clockwise."""

    t_ns: Nanos
    throttle: float
    roll: float
    pitch: float
    yaw: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AttitudeCommand:
    """Wanted attitude, to be held, and collective thrust, 0 to 1."""

    t_ns: Nanos
    ned_from_frd: Rot[Ned, Frd]
    thrust: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionCommand:
    """Wanted motion in the world, for the vehicle's autopilot: the first that is given of four.

    Position (m), velocity (m/s), acceleration (m/s^2) or force (N), the last two on top of hovering.
    `yaw` (rad; None keeps the last one wanted) turns on at `yaw_rate` (rad/s). A `thrust` (0 to 1) takes
    the place of what the autopilot would give.
    """

    t_ns: Nanos
    position: Vec[Ned] | None = None
    velocity: Vec[Ned] | None = None
    acceleration: Vec[Ned] | None = None
    force: Vec[Ned] | None = None
    yaw: float | None = None
    yaw_rate: float = 0.0
    thrust: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MotorCommand:
    """Wanted output of each motor, 0 to 1, with nothing that holds the vehicle level."""

    t_ns: Nanos
    front_left: float
    front_right: float
    back_left: float
    back_right: float


FromVehicle: TypeAlias = (
    Heartbeat
    | Imu
    | Attitude
    | LocalPosition
    | Odometry
    | MotorOutput
    | RaceStatus
    | Track
    | Collision
    | Image
    | Ack
)
FlightCommand: TypeAlias = RateCommand | StickCommand | AttitudeCommand | MotionCommand | MotorCommand
ToVehicle: TypeAlias = Heartbeat | Arm | Reset | FlightCommand
Message: TypeAlias = FromVehicle | ToVehicle

"""The one table of topics: what each message is called, how often it comes, when it is stale.

Liveness checks, logging and the health display derive from this table instead of constants of
their own. A rate of 0 means the topic is an event. `logged` topics go into the run log.
"""

from dataclasses import dataclass

from racewire.core import messages
from racewire.core.clock import NS_PER_MS, NS_PER_S, Nanos


@dataclass(frozen=True, slots=True)
class Topic:
    """One row: message type, nominal rate (Hz), age at which it is stale (ns), whether it is logged."""

    type: type[messages.Message]
    rate_hz: float
    stale_ns: Nanos
    logged: bool = True


TOPICS: dict[str, Topic] = {
    "heartbeat": Topic(messages.Heartbeat, 10, 3 * NS_PER_S),
    "imu": Topic(messages.Imu, 120, 80 * NS_PER_MS),
    "attitude": Topic(messages.Attitude, 120, 80 * NS_PER_MS),
    "local_position": Topic(messages.LocalPosition, 97, 100 * NS_PER_MS),
    "odometry": Topic(messages.Odometry, 75, 100 * NS_PER_MS),
    "motors": Topic(messages.MotorOutput, 97, 100 * NS_PER_MS),
    "race_status": Topic(messages.RaceStatus, 4, NS_PER_S),
    "track": Topic(messages.Track, 0, 0),
    "collision": Topic(messages.Collision, 0, 0),
    "image": Topic(messages.Image, 30, 200 * NS_PER_MS),
    "ack": Topic(messages.Ack, 0, 0),
    "arm": Topic(messages.Arm, 0, 0),
    "reset": Topic(messages.Reset, 0, 0),
    "rate_command": Topic(messages.RateCommand, 60, 100 * NS_PER_MS),
    "stick_command": Topic(messages.StickCommand, 30, 100 * NS_PER_MS),
    "attitude_command": Topic(messages.AttitudeCommand, 60, 100 * NS_PER_MS),
    "motion_command": Topic(messages.MotionCommand, 30, 200 * NS_PER_MS),
    "motor_command": Topic(messages.MotorCommand, 250, 100 * NS_PER_MS),
}

TOPIC_OF: dict[type[messages.Message], str] = {topic.type: name for name, topic in TOPICS.items()}
"""The topic's name for each message type."""

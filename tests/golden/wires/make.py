"""Write the golden datagrams, from the specification alone: `struct` and MAVLink's framing by hand.

Nothing of racewire or pymavlink is used, so the files are a second opinion and not a snapshot.
Each line of a file is a name and a datagram in hex. Values are those of `tests/wires/test_golden.py`.
"""

import math
import struct
from pathlib import Path

HERE = Path(__file__).parent
NAN = math.nan

# message number and CRC seed, from MAVLink's common.xml
HEARTBEAT, ATTITUDE, LOCAL_POSITION, COMMAND_LONG = (0, 50), (30, 39), (32, 185), (76, 152)
COMMAND_ACK, SET_ATTITUDE, IMU, TIMESYNC = (77, 143), (82, 49), (105, 93), (111, 34)
SET_POSITION, SET_ACTUATORS = (84, 143), (139, 168)
HANDSHAKE, ENCAPSULATED, COLLISION = (130, 29), (131, 223), (247, 81)
ODOMETRY, ACTUATORS = (331, 91), (375, 251)


def checksum(data):
    """CRC-16/MCRF4XX."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return crc


def packet(kind, layout, *values, system=1, component=200):
    """A MAVLink 2 packet with sequence number 0, trailing zeros of the payload left out."""
    number, seed = kind
    payload = struct.pack("<" + layout, *values).rstrip(b"\0") or b"\0"
    body = (
        struct.pack("<BBBBBB", len(payload), 0, 0, 0, system, component)
        + number.to_bytes(3, "little")
        + payload
    )
    return b"\xfd" + body + struct.pack("<H", checksum(body + bytes([seed])))


def encapsulated(index, data):
    return packet(ENCAPSULATED, "H253s", index, data)


def chunked(frame_id, unix_ns, jpeg):
    pieces = [jpeg[i : i + 1376] for i in range(0, len(jpeg), 1376)]
    for i, piece in enumerate(pieces):
        yield struct.pack("<IHHIIQ", frame_id, i, len(pieces), len(jpeg), len(piece), unix_ns) + piece


HALF = math.sqrt(0.5)
TRACK = struct.pack("<H", 1) + struct.pack("<H9f", 0, -23.298, -0.4, -0.032, HALF, 0, 0, HALF, 2.72, 2.72)
JPEG = bytes(range(256)) * 6  # 1536 bytes: a full datagram and a rest

# Truth: t = 12.345678 s; rates (0.1, 0.2, -0.3) rad/s; at rest on the pad, nose 17.8 deg down.
STREAM = [
    ("heartbeat-armed", packet(HEARTBEAT, "IBBBBB", 0, 2, 12, 193, 4, 3)),
    ("heartbeat-disarmed", packet(HEARTBEAT, "IBBBBB", 0, 2, 12, 65, 3, 3)),
    (
        "imu",
        packet(IMU, "Q13fHB", 12345678, -2.999, -0.002, -9.34, -0.1, -0.2, 0.3, *[NAN] * 7, 63, 0),
    ),
    ("motors", packet(ACTUATORS, "QI32f", 12345678, 15, 0.1, 0.2, 0.3, 0.4, *[0.0] * 28)),
    ("collision-gate", packet(COLLISION, "IfffBBB", 1001, 0, 0, 2.5, 0, 0, 2)),
    ("collision-ground", packet(COLLISION, "IfffBBB", 1002, 0, 0, 0.25, 0, 0, 1)),
    ("race-waiting", encapsulated(0, struct.pack("<BQqqIq", 1, 12345, -1, -1, 0, -1))),
    ("race-finished", encapsulated(0, struct.pack("<BQqqIq", 1, 65000, 12000, 52349807739, 6, 52349807739))),
]
POSE = [
    # true roll 0.5 (right wing down), pitch -0.25 (nose down), yaw 1.5 rad (right of north)
    ("attitude", packet(ATTITUDE, "I6f", 12345, 0.5, 0.25, -1.5, -0.1, -0.2, 0.3)),
    ("local_position", packet(LOCAL_POSITION, "I6f", 12345, 1.5, -2.5, 3.5, 4.5, -5.5, 6.5)),
    # true yaw 90 deg right: q = (h, 0, 0, h), on the wire (h, 0, 0, -h), nose to the west. The velocity
    # (8, 4, 2) m/s north, east, down is, seen by a body that looks west, (-4, 8, 2): back, right, down.
    (
        "odometry",
        packet(
            ODOMETRY, "Q3f4f3f3f42fBBBBb",
            12345678, 1.5, -2.5, 3.5, HALF, 0, 0, -HALF, -4, 8, 2, -0.1, -0.2, 0.3,
            *[0.0] * 42, 1, 12, 2, 0, 0,
        ),
    ),
    ("track-handshake", packet(HANDSHAKE, "IHHHBBB", 40, 0, 0, 1, 0, 253, 1)),
    ("track-chunk", encapsulated(0, struct.pack("<BH", 2, 0) + TRACK)),
]  # fmt: skip
ANSWERS = [
    ("ack-arm", packet(COMMAND_ACK, "HB", 400, 0)),
    ("ack-unsupported", packet(COMMAND_ACK, "HB", 511, 3)),
    ("timesync-reply", packet(TIMESYNC, "qq", 1_780_000_000_000_000_000 + 12_345_678_901, 987_654_321)),
]
VIDEO = [
    (f"image-{i}", data)
    for i, data in enumerate(chunked(7, 1_780_000_000_000_000_000 + 12_345_678_901, JPEG))
]


def from_pilot(kind, layout, *values):
    return packet(kind, layout, *values, system=255, component=190)


def target(mask, roll, pitch, yaw, thrust, q=(1, 0, 0, 0)):
    return from_pilot(SET_ATTITUDE, "I8fBBB", 12345, *q, roll, pitch, yaw, thrust, 1, 200, mask)


def motion(mask, position=(0, 0, 0), velocity=(0, 0, 0), acceleration=(0, 0, 0), yaw=0, yaw_rate=0):
    numbers = (*position, *velocity, *acceleration, yaw, yaw_rate)
    return from_pilot(SET_POSITION, "I11fHBBB", 12345, *numbers, mask, 1, 200, 1)


def product(a, b):
    """The Hamilton product of two quaternions, w first."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def about(axis, angle):
    q = [math.cos(angle / 2), 0, 0, 0]
    q[axis] = math.sin(angle / 2)
    return q


PILOT = [
    ("heartbeat", from_pilot(HEARTBEAT, "IBBBBB", 0, 6, 8, 0, 0, 3)),
    ("arm", from_pilot(COMMAND_LONG, "7fHBBB", 1, 0, 0, 0, 0, 0, 0, 400, 1, 200, 0)),
    ("disarm", from_pilot(COMMAND_LONG, "7fHBBB", 0, 0, 0, 0, 0, 0, 0, 400, 1, 200, 0)),
    ("reset-hard", from_pilot(COMMAND_LONG, "7fHBBB", 1, 0, 0, 0, 0, 0, 0, 31000, 1, 200, 0)),
    ("reset-soft", from_pilot(COMMAND_LONG, "7fHBBB", 0, 0, 0, 0, 0, 0, 0, 31000, 1, 200, 0)),
    ("timesync-request", from_pilot(TIMESYNC, "qq", 987_654_321, 0)),
    ("motors", from_pilot(SET_ACTUATORS, "Q8fBBB", 12345678, 0.1, 0.2, 0.3, 0.4, 0, 0, 0, 0, 0, 1, 200)),
]
# roll right 2.55, nose up 0.96, turn left 0.85 rad/s: sticks 1, 0.4, -0.4 on the rate curve;
# physical: negated, over the gains 0.975, 0.972, 0.892
STICKS = [("rates", target(128, 1.0, 0.4, -0.4, 0.265))]
PHYSICAL = [("rates", target(144, -2.55 / 0.975, -0.96 / 0.972, 0.85 / 0.892, 0.265))]
# To hold the true roll 0.5, pitch -0.25, yaw 1.5: Rx(-0.5) Ry(-0.25) Rz(-1.5), the tilt before the yaw.
# Yaw 0.5 to the right is -0.5 in a position target.
LATE = [
    (
        "attitude",
        target(7, 0, 0, 0, 0.265, product(product(about(1, -0.5), about(2, -0.25)), about(3, -1.5))),
    ),
    ("position", motion(3576, position=(1.5, -2.5, 3.5))),
    ("velocity", motion(3527, velocity=(1.5, -2.5, 3.5))),
    ("acceleration", motion(3135, acceleration=(1.5, -2.5, 3.5))),
    ("force", motion(3647, acceleration=(1.5, -2.5, 3.5))),
    ("velocity_yaw", motion(3527 - 1024, velocity=(1.5, -2.5, 3.5), yaw=-0.5)),
    ("velocity_turning", motion(3527 - 2048, velocity=(1.5, -2.5, 3.5), yaw_rate=-0.25)),
]


def files():
    """The text of each file, by its name."""
    raw = [
        # facing east (yaw 90 deg), rolling right, nose rising, turning left; level; t = 1.25 s
        ("telemetry", struct.pack("<4f3f3fd", HALF, 0, 0, HALF, 0.1, 0.2, -0.3, 0, 0, -9.81, 1.25)),
        ("command", struct.pack("<ffff", 0.55, -1, -1, -1)),  # left, nose down, counter-clockwise
    ]
    round_one, round_two = STREAM + POSE + ANSWERS + VIDEO, STREAM + ANSWERS + VIDEO
    content = {
        "3364-vq1": round_one,
        "3379-vq2": round_two,
        "3385-vq2": round_two,
        "3390-vq2": round_two,
        "3391-vq1": round_one,
        "3391-vq2": round_two,
        "3364-vq1-pilot": PILOT + STICKS,
        "3379-vq2-pilot": PILOT + STICKS,
        "3385-vq2-pilot": PILOT + STICKS,
        "3390-vq2-pilot": PILOT + PHYSICAL + LATE,
        "3391-vq1-pilot": PILOT + STICKS + LATE,
        "3391-vq2-pilot": PILOT + PHYSICAL + LATE,
        "raw": raw,
    }
    return {
        f"{name}.txt": "".join(f"{label} {data.hex()}\n" for label, data in lines)
        for name, lines in content.items()
    }


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="ascii")

"""A pilot written from the interface's description alone: pymavlink, NumPy, OpenCV, and nothing of racewire.

It flies a build that streams the pose: position from LOCAL_POSITION_NED, attitude from ATTITUDE, gates from
the track burst, GO from the race status; it commands sticks (type_mask 128). It also reads the camera, to
show that the frames are whole. Prints one JSON object, and exits with 0 if it saw the finish.
"""

import argparse
import json
import os
import socket
import struct
import time

import cv2
import numpy as np

os.environ["MAVLINK20"] = "1"
from pymavlink import mavutil

GRAVITY = np.array((0.0, 0.0, 9.81))
THRUST = np.array((0.0, 0.05, 0.10, 0.15, 0.20, 0.265, 0.313, 0.362, 0.40, 0.50, 0.60, 0.66, 0.72, 0.80, 1.0))
ACCELERATION = np.array(
    (0.35, 0.76, 2.7, 4.24, 6.33, 9.45, 12.06, 14.8, 17.7, 25.8, 34.0, 38.8, 42.7, 46.8, 52.0)
)
CENTRE_ABOVE = 1.1  # of a gate, over its published point, m
DRAG = 0.049
SPEED = 7.0
PERIOD = 1.0 / 90.0


class Camera:
    """Joins the chunks of the video stream; counts frames and decodes some of them."""

    def __init__(self, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.chunks = {}
        self.frame = -1
        self.frames = self.decoded = 0

    def read(self):
        for _ in range(200):
            try:
                data = self.socket.recv(2048)
            except BlockingIOError:
                return
            frame, chunk, total, size, length, _ = struct.unpack_from("<IHHIIQ", data)
            assert length == len(data) - 24
            if frame <= self.frame:
                continue
            self.chunks = self.chunks if self.chunks.get("id") == frame else {"id": frame}
            self.chunks[chunk] = data[24:]
            if len(self.chunks) == total + 1:
                jpeg = b"".join(self.chunks[i] for i in range(total))
                assert len(jpeg) == size
                self.frame = frame
                self.frames += 1
                if self.frames % 15 == 1:
                    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
                    assert image.shape == (360, 640, 3)
                    self.decoded += 1


class Pilot:
    """One race."""

    def __init__(self, base):
        self.link = mavutil.mavlink_connection(f"udpin:127.0.0.1:{14550 + base}")
        self.camera = Camera(5600 + base)
        self.position = self.velocity = self.attitude = None
        self.gates = []
        self.chunks = {}
        self.transfer = None
        self.status = None
        self.armed = False
        self.acks = []
        self.imu_stamps = []

    def hear(self, m):
        kind = m.get_type()
        if kind == "LOCAL_POSITION_NED":
            self.position = np.array((m.x, m.y, m.z))
            self.velocity = np.array((m.vx, m.vy, m.vz))
        elif kind == "ATTITUDE":
            self.attitude = rotation(m.roll, -m.pitch, -m.yaw)  # pitch and yaw are inverted on the wire
        elif kind == "HEARTBEAT":
            self.armed = bool(m.base_mode & 128)
        elif kind == "HIGHRES_IMU":
            self.imu_stamps.append(m.time_usec)
        elif kind == "COMMAND_ACK":
            self.acks.append((m.command, m.result))
        elif kind == "DATA_TRANSMISSION_HANDSHAKE":
            self.transfer = (m.width, m.size, m.packets)
        elif kind == "ENCAPSULATED_DATA":
            data = bytes(m.data)
            if data[0] == 1:
                self.status = struct.unpack_from("<BQqqIq", data)
            elif data[0] == 2:
                self.hear_track(m.seqnr, data)

    def hear_track(self, index, data):
        _, transfer = struct.unpack_from("<BH", data)
        if self.transfer is None or transfer != self.transfer[0]:
            return
        self.chunks[index] = data[3:]
        _, size, packets = self.transfer
        if len(self.chunks) >= packets:
            body = b"".join(self.chunks[i] for i in range(packets))[:size]
            (count,) = struct.unpack_from("<H", body)
            rows = [struct.unpack_from("<H9f", body, 2 + 38 * i) for i in range(count)]
            self.gates = [np.array(row[1:4]) - (0.0, 0.0, CENTRE_ABOVE) for row in rows]

    def racing(self):
        return self.status is not None and 0 <= self.status[2] <= self.status[1]

    def command(self):
        """Return thrust and sticks."""
        if not self.racing() or not self.gates or self.position is None or self.attitude is None:
            return 0.0, (0.0, 0.0, 0.0)
        active = min(self.status[4], len(self.gates) - 1)
        before = self.gates[active - 1] if active else np.array((0.0, 0.0, -CENTRE_ABOVE))
        leg = self.gates[active] - before
        along = leg / np.linalg.norm(leg)
        done = np.clip((self.position - before) @ along, 0.0, None)
        aside = self.position - before - along * done
        wanted = SPEED * along - 1.5 * aside
        speed = np.linalg.norm(self.velocity)
        push = 2.0 * (wanted - self.velocity) + DRAG * speed * self.velocity - GRAVITY
        push *= min(1.0, 25.0 / np.linalg.norm(push))
        down = -push / np.linalg.norm(push)
        right = np.cross(down, (-1.0, 0.0, 0.0))  # the nose stays south, as on the pad
        right /= np.linalg.norm(right)
        attitude = np.column_stack((np.cross(right, down), right, down))
        turn = self.attitude.T @ attitude
        error = 0.5 * np.array((turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]))
        rates = np.clip(7.0 * error, -3.0, 3.0)
        felt = max(0.0, -push @ self.attitude[:, 2])
        return float(np.interp(felt, ACCELERATION, THRUST)), tuple(rates / (2.45, 2.45, 2.125))

    def send(self):
        thrust, (roll, pitch, yaw) = self.command()
        self.link.mav.set_attitude_target_send(0, 1, 200, 128, (1.0, 0.0, 0.0, 0.0), roll, pitch, yaw, thrust)

    def fly(self, patience):
        began = time.monotonic()
        sent = asked = beat = 0.0
        while time.monotonic() - began < patience:
            m = self.link.recv_match(blocking=True, timeout=0.005)
            while m is not None:
                self.hear(m)
                m = self.link.recv_match()
            self.camera.read()
            now = time.monotonic()
            if self.status is None:
                continue
            if now - sent >= PERIOD:
                sent = now
                self.send()
            if now - beat >= 0.5:
                beat = now
                self.link.mav.heartbeat_send(6, 8, 0, 0, 4)
            if not self.armed and now - asked >= 1.0:
                asked = now
                self.link.mav.command_long_send(1, 200, 400, 0, 1.0, 0, 0, 0, 0, 0, 0)
            if self.status[3] >= 0:
                return True
        return False


def rotation(roll, pitch, yaw):
    """Return the matrix from body to NED."""
    (cr, sr), (cp, sp), (cy, sy) = [(np.cos(a), np.sin(a)) for a in (roll, pitch, yaw)]
    return np.array(
        (
            (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            (-sp, cp * sr, cp * cr),
        )
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port-base", type=int, default=0)
    parser.add_argument("--patience", type=float, default=120.0)
    args = parser.parse_args()
    pilot = Pilot(args.port_base)
    finished = pilot.fly(args.patience)
    status = pilot.status or (1, 0, -1, -1, 0, -1)
    print(
        json.dumps(
            {
                "finished": finished,
                "gates": status[4],
                "time_s": status[3] / 1e9,
                "frames": pilot.camera.frames,
                "decoded": pilot.camera.decoded,
                "acks": sorted(set(pilot.acks)),
                "gates_told": len(pilot.gates),
                "stamps_rise": bool(np.all(np.diff(pilot.imu_stamps) >= 0)),
                "imu": len(pilot.imu_stamps),
            }
        )
    )
    return 0 if finished else 1


if __name__ == "__main__":
    raise SystemExit(main())

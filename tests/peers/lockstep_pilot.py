"""A toy pilot in lockstep: it moves the simulator's time itself, 10 ms a step. Nothing of racewire in it.

It arms, waits for GO, and pushes up and forwards, `--lives` times over; each life is a fresh start. Prints
one JSON object with a digest of every byte it received in each life.
"""

import argparse
import hashlib
import json
import os
import select
import socket
import struct
import time

os.environ["MAVLINK20"] = "1"
from pymavlink.dialects.v20 import common

STEP_NS = 10_000_000
REQUEST = struct.Struct("<4sIQI")


def bound(port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    sock.bind(("127.0.0.1", port))
    return sock


class Stepper:
    """The lockstep channel."""

    def __init__(self, base, ears):
        self.to = ("127.0.0.1", 14571 + base)
        self.ears = ears
        self.socket = bound(0)
        self.socket.settimeout(5.0)
        self.count = 0

    def ask(self, count, until_ns, sent):
        """Return the boot time that the simulator has come to, and what arrived at each ear on the way."""
        for _ in range(24):
            self.socket.sendto(REQUEST.pack(b"RWL1", count, until_ns, sent), self.to)
            try:
                magic, answered, boot, coming = REQUEST.unpack(self.socket.recv(64))
            except (TimeoutError, ConnectionRefusedError):
                continue
            if (magic, answered) == (b"RWL1", count):
                self.count = count
                return boot, self.collect(coming)
        raise SystemExit("no simulator in lockstep")

    def collect(self, coming):
        heard = {ear: [] for ear in self.ears}
        while coming:
            ready = select.select(self.ears, [], [], 5.0)[0]
            if not ready:
                raise SystemExit(f"{coming} datagrams of a step never came")
            for ear in ready:
                heard[ear].append(ear.recv(4096))
                coming -= 1
        return heard.values()


def fly(stepper, mavlink, video, base, seconds):
    """Fly one life; return the digest of what arrived, and the gates passed."""
    to = ("127.0.0.1", 14560 + base)
    mav = common.MAVLink(None, srcSystem=255, srcComponent=190)
    boot, _ = stepper.ask(0, 0, 0)
    digest = hashlib.sha256()
    racing, packets, frames = False, 0, 0
    while boot < seconds * 1e9:
        sent = 2 + (boot == 20 * STEP_NS)
        if boot == 20 * STEP_NS:
            mavlink.sendto(
                common.MAVLink_command_long_message(1, 200, 400, 0, 1, 0, 0, 0, 0, 0, 0).pack(mav), to
            )
        mavlink.sendto(common.MAVLink_timesync_message(boot + 1, 0).pack(mav), to)
        thrust = 0.35 if racing else 0.0
        command = common.MAVLink_set_attitude_target_message(0, 1, 200, 128, [1, 0, 0, 0], 0, 0, 0, thrust)
        mavlink.sendto(command.pack(mav), to)
        boot, (packets_now, frames_now) = stepper.ask(stepper.count + 1, boot + STEP_NS, sent)
        for data in packets_now:
            digest.update(data)
            packets += 1
            message = mav.decode(bytearray(data))
            if message.get_type() == "ENCAPSULATED_DATA" and message.data[0] == 1:
                _, now, start = struct.unpack_from("<BQq", bytes(message.data))
                racing = 0 <= start <= now
        for data in frames_now:
            digest.update(data)
            frames += struct.unpack_from("<H", data, 4)[0] == 0
    return {"digest": digest.hexdigest(), "packets": packets, "frames": frames, "boot_ns": boot}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port-base", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--lives", type=int, default=1)
    args = parser.parse_args()
    base = args.port_base
    mavlink, video = bound(14550 + base), bound(5600 + base)
    stepper = Stepper(base, (mavlink, video))
    began = time.monotonic()
    lives = [fly(stepper, mavlink, video, base, args.seconds) for _ in range(args.lives)]
    factor = args.seconds * args.lives / (time.monotonic() - began)
    print(json.dumps({"lives": lives, "realtime_factor": factor}))


if __name__ == "__main__":
    main()

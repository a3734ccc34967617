"""A closed loop without pixels: the simulator, links with delay and loss, and eyes that see corners.

An exposure's "JPEG" is the list of the gates' corners, projected with noise; `eyes` reads it back. So
the gate pilot flies whole races in a few seconds of computing.
"""

import heapq
import math
import struct
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from racewire.core.clock import NS_PER_MS, NS_PER_S
from racewire.core.config import load
from racewire.core.frames import Gate, Pose, Rot, Vec
from racewire.core.messages import Image, RateCommand
from racewire.core.seeds import stream
from racewire.pilots import GATE_CONFIG
from racewire.pilots.gate_model import GateView, silhouette
from racewire.pilots.gate_pilot import GateParams, GatePilot
from racewire.race.rules import load_rules
from racewire.sensors.camera import AIGP_CAMERA
from racewire.sensors.imu import ImuNoise
from racewire.sim.simulator import Exposure, SimConfig, Simulator
from racewire.vehicles import load_vehicle
from racewire.world.course import load_course

NOISE = ImuNoise(accel_noise=0.05, accel_bias=0.03, gyro_noise=0.005, gyro_bias=0.003)


def corners_of(place, pose, camera=AIGP_CAMERA):
    """Return where the outline of a gate at `place` is seen from `pose`, shape (8, 2), NaN outside."""
    if place.to_local(pose @ camera.position).x > 0.0:  # from behind it looks like one facing away
        place = Pose(place.position, place.rotation @ Rot.from_euler(0.0, 0.0, math.pi))
    corners = np.full((8, 2), np.nan)
    eye = place.to_local(pose @ camera.position)
    if eye.x > -0.2:
        return corners
    for i, (right, down) in enumerate(silhouette(eye)):
        world = place @ Vec[Gate](-0.13, right, down)
        seen = camera.project(camera.frd_from_optical.inverse() @ pose.to_local(world))
        if seen is not None and 2 < seen[0] < camera.width - 2 and 2 < seen[1] < camera.height - 2:
            corners[i] = seen
    return corners


def view_of(corners, sigma_px=0.3):
    """Return corners (8, 2) as a detector would give them."""
    known = np.isfinite(corners[:, 0])
    outer, inner = corners[:4], corners[4:]
    return GateView(
        outer=outer.copy() if known[:4].any() else None,
        inner=inner.copy() if known[4:].any() else None,
        complete=bool(known[:4].all()),
        area_px=float(np.prod(np.ptp(corners[known], axis=0))),
        sigma_px=sigma_px,
    )


def snapshot(course, pose, rng, noise_px=0.4, smallest_px=9.0):
    """Return the bytes of what the camera sees of every gate."""
    seen = []
    for gate in course.gates:
        corners = corners_of(gate.pose, pose)
        known = np.isfinite(corners[:, 0])
        if known.sum() >= 5 and np.nanmax(np.ptp(corners[known], axis=0)) >= smallest_px:
            seen.append(corners + noise_px * rng.standard_normal((8, 2)))
    return struct.pack("<I", len(seen)) + b"".join(corners.tobytes() for corners in seen)


def eyes(jpeg, roll):
    """Read `snapshot`'s bytes as the views of a detector."""
    (count,) = struct.unpack_from("<I", jpeg)
    seen = np.frombuffer(jpeg, np.float64, offset=4).reshape(count, 8, 2)
    return sorted((view_of(corners) for corners in seen), key=lambda view: -view.area_px)


def fly(
    course,
    pilot,
    seed=0,
    *,
    limit_s=60.0,
    imu_hz=Fraction(120),
    image_ms=26,
    loss=0.02,
    imu_noise=NOISE,
    observe=None,
    blind=None,
):
    """Fly one race in lockstep; `observe` after every step of the pilot, `blind(t_s)` hides frames."""
    rates = {
        "imu": imu_hz,
        "heartbeat": Fraction(10),
        "race_status": Fraction(4),
        "image": Fraction(30),
        "local_position": Fraction(20),
    }
    config = SimConfig(rules=load_rules(), rates=rates, imu=imu_noise)
    sim = Simulator(course, load_vehicle("racer"), config, seed)
    pixels, luck = stream(seed, "test/pixels"), stream(seed, "test/loss")
    events, commands, heap, count, now = [], [], [], 0, 0

    def send(t, to_pilot, message):
        nonlocal count
        count += 1
        heapq.heappush(heap, (t, count, to_pilot, message))

    while now < limit_s * NS_PER_S and not sim.over:
        now = max(now, min(sim.due(), pilot.due(), heap[0][0] if heap else sim.due()))
        for item in sim.advance(now):
            if isinstance(item, Exposure):
                if luck.random() >= loss and not (blind and blind(now / NS_PER_S)):
                    jpeg = snapshot(course, item.pose, pixels)
                    image = Image(t_ns=item.t_ns, frame_id=item.frame_id, jpeg=jpeg)
                    send(now + image_ms * NS_PER_MS, True, image)
            elif type(item).__module__ == Image.__module__:
                send(now + NS_PER_MS, True, item)
            else:
                events.append(item)
        inbox = []
        while heap and heap[0][0] <= now:
            _, _, to_pilot, message = heapq.heappop(heap)
            if to_pilot:
                inbox.append(message)
            else:
                sim.command(message)
        if inbox or pilot.due() <= now:
            out = pilot.step(now, inbox)
            for message in out:
                send(now + NS_PER_MS, False, message)
            commands += [(now, message) for message in out if isinstance(message, RateCommand)]
            if observe is not None:
                observe(now, sim, out)
    return SimpleNamespace(verdict=sim.verdict, events=events, commands=commands, sim=sim)


@pytest.fixture(scope="session")
def params():
    return load(GateParams, GATE_CONFIG)


@pytest.fixture
def pilot(params):
    return GatePilot(params, look=eyes)


@pytest.fixture(scope="session")
def world():
    """The functions above, for the tests of a folder that is no package."""
    return SimpleNamespace(
        fly=fly,
        eyes=eyes,
        corners_of=corners_of,
        view_of=view_of,
        snapshot=snapshot,
        course=load_course,
        make=lambda params: GatePilot(params, look=eyes),
    )

"""A closed loop without pixels: the simulator, links with delay and loss, and eyes that see corners.

An exposure's "JPEG" is the list of the gates' corners, projected with noise; `eyes` reads it back. So
the gate pilot flies whole races in about a second of computing.
"""

import heapq
import math
import struct
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from racewire.core.clock import NS_PER_MS, NS_PER_S
from racewire.core.frames import Gate, Pose, Rot, Vec
from racewire.core.messages import Image, RateCommand
from racewire.core.seeds import stream
from racewire.pilots.gate_model import GateView, silhouette
from racewire.race.rules import load_rules
from racewire.sensors.camera import AIGP_CAMERA
from racewire.sensors.imu import ImuNoise
from racewire.sim.simulator import Exposure, RaceStart, SimConfig, Simulator
from racewire.vehicles import load_vehicle

NOISE = ImuNoise(accel_noise=0.05, accel_bias=0.03, gyro_noise=0.005, gyro_bias=0.003)


def look_at(course, pose, rng, noise_px=0.4, smallest_px=9.0):
    """Return the bytes of what the camera sees of every gate, shape (k, 8, 2) corners."""
    camera = AIGP_CAMERA
    frames = []
    for gate in course.gates:
        place = gate.pose
        if place.to_local(pose @ camera.position).x > 0.0:  # from behind it looks like one facing away
            place = Pose(place.position, place.rotation @ Rot.from_euler(0.0, 0.0, math.pi))
        eye = place.to_local(pose @ camera.position)
        if eye.x > -0.2:
            continue
        outline = silhouette(eye)
        corners = np.full((8, 2), np.nan)
        for i, (right, down) in enumerate(outline):
            world = place @ Vec[Gate](-0.13, right, down)
            seen = camera.project(camera.frd_from_optical.inverse() @ pose.to_local(world))
            if seen is not None and 2 < seen[0] < 638 and 2 < seen[1] < 358:
                corners[i] = seen
        known = np.isfinite(corners[:, 0])
        if known.sum() >= 5 and np.nanmax(np.ptp(corners[known], axis=0)) >= smallest_px:
            frames.append(corners + noise_px * rng.standard_normal((8, 2)))
    return struct.pack("<I", len(frames)) + b"".join(f.tobytes() for f in frames)


def eyes(jpeg, roll):
    """Read `look_at`'s bytes as the views of a detector."""
    (count,) = struct.unpack_from("<I", jpeg)
    corners = np.frombuffer(jpeg, np.float64, offset=4).reshape(count, 8, 2)
    views = []
    for c in corners:
        known = np.isfinite(c[:, 0])
        outer, inner = c[:4], c[4:]
        views.append(
            GateView(
                outer=outer.copy() if known[:4].any() else None,
                inner=inner.copy() if known[4:].any() else None,
                complete=bool(known[:4].all()),
                area_px=float(np.prod(np.ptp(c[known], axis=0))),
                sigma_px=0.3,
            )
        )
    return sorted(views, key=lambda view: -view.area_px)


@dataclass
class Race:
    """What happened."""

    verdict: object
    events: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    trace: list = field(default_factory=list)


def fly(
    course,
    pilot,
    seed=0,
    *,
    limit_s=60.0,
    imu_hz=Fraction(120),
    image_ms=26,
    loss=0.02,
    noise_px=0.4,
    imu_noise=NOISE,
    observe=None,
    blind=lambda t: False,
    develop=None,
):
    """Fly one race in lockstep; `observe(now, sim, pilot)` after every step, `blind(t_s)` hides frames."""
    rules = load_rules()
    rates = {
        "imu": imu_hz,
        "heartbeat": Fraction(10),
        "race_status": Fraction(4),
        "image": Fraction(30),
    }
    sim = Simulator(
        course, load_vehicle("racer"), SimConfig(rules=rules, rates=rates, imu=imu_noise, start=RaceStart()), seed
    )
    rng, luck = stream(seed, "test/pixels"), stream(seed, "test/loss")
    race, heap, count = Race(None), [], 0

    def push(t, to_pilot, message):
        nonlocal count
        count += 1
        heapq.heappush(heap, (t, count, to_pilot, message))

    now = 0
    while now < limit_s * NS_PER_S and not sim.over:
        due = pilot.due()
        now = max(now, min(sim.due(), heap[0][0] if heap else sim.due(), due if due is not None else sim.due()))
        for item in sim.advance(now):
            if isinstance(item, Exposure):
                if luck.random() >= loss and not blind(now / NS_PER_S):
                    data = (
                        look_at(course, item.pose, rng, noise_px) if develop is None else develop(item)
                    )
                    message = Image(t_ns=item.t_ns, frame_id=item.frame_id, jpeg=data)
                    push(now + image_ms * NS_PER_MS, True, message)
            elif hasattr(item, "t_ns") and type(item).__module__.endswith("messages"):
                push(now + NS_PER_MS, True, item)
            else:
                race.events.append(item)
        inbox = []
        while heap and heap[0][0] <= now:
            _, _, to_pilot, message = heapq.heappop(heap)
            if to_pilot:
                inbox.append(message)
            else:
                sim.command(message)
        due = pilot.due()
        if inbox or (due is not None and due <= now):
            for message in pilot.step(now, inbox):
                if isinstance(message, RateCommand):
                    race.commands.append(message)
                push(now + NS_PER_MS, False, message)
            if observe is not None:
                observe(now, sim, pilot)
    race.verdict = sim.verdict
    return race


def speed_of(velocity):
    """Length of a velocity."""
    return math.sqrt(velocity.dot(velocity))

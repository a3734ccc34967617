"""Draw `docs/race.png`: a race that racewire flew, seen by its own renderer.

Above, the course from outside with the flown path, coloured by speed; below, what the pilot saw on the
way to each gate. Run it with `uv run python docs/race_picture.py`.
"""

import math
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from racewire.core.clock import Nanos
from racewire.core.frames import Frd, Ned, Pose, Rot, Vec
from racewire.race.events import GatePassed, RaceEvent
from racewire.render.renderer import Renderer
from racewire.run.race import RaceConfig, prepare
from racewire.sensors.camera import Camera, tilted_up
from racewire.sim.simulator import Truth

OUT = Path(__file__).with_name("race.png")
BEFORE_NS = 700_000_000  # how long before each gate the onboard picture is taken
VIEW = Camera(1280, 560, 760.0, 760.0, 640.0, 280.0, tilted_up(0.0))


class Spectator:
    """Keeps the truth and the gate times of a race."""

    def __init__(self) -> None:
        self.truths: list[Truth] = []
        self.passed: list[Nanos] = []

    def truth(self, truth: Truth) -> None:
        """Keep a state."""
        self.truths.append(truth)

    def event(self, event: RaceEvent) -> None:
        """Keep the time of a gate."""
        if isinstance(event, GatePassed):
            self.passed.append(event.t_ns)

    def received(self, channel: str, data: bytes, now: Nanos) -> None:
        """Datagrams are not drawn."""

    def sent(self, channel: str, data: bytes, now: Nanos) -> None:
        """Datagrams are not drawn."""


def main() -> None:
    """Fly the race and draw it."""
    loop, run = prepare(RaceConfig())
    spectator = Spectator()
    run.sim.observe(spectator)
    loop.run(run.over)
    course = run.world.course
    outside = _outside(Renderer(course, VIEW), spectator.truths)
    onboard = Renderer(course, Camera())
    strip = []
    for gate, t_ns in enumerate(spectator.passed):
        truth = min(spectator.truths, key=lambda s: abs(s.t_ns - (t_ns - BEFORE_NS)))
        frame = onboard.render(truth.motion.pose, gate)
        strip.append(cv2.resize(frame, (426, 240), interpolation=cv2.INTER_AREA))
    rows = [np.hstack(strip[i : i + 3]) for i in (0, 3)]
    below = cv2.resize(np.vstack(rows), (1280, 480), interpolation=cv2.INTER_AREA)
    result = run.result()
    text = f"{course.name}, seed {result.seed}: {result.headline()}"
    cv2.putText(outside, text, (24, 40), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (235, 235, 235), 1, cv2.LINE_AA)
    cv2.imwrite(str(OUT), np.vstack((outside, below)))


def _outside(renderer: Renderer, truths: list[Truth]) -> NDArray[np.uint8]:
    """Return the course from above and beside, with the path."""
    away: Rot[Ned, Frd] = Rot.from_euler(0.0, math.radians(-17.0), math.radians(196.0))
    eye: Pose[Ned, Frd] = Pose(Vec(26.0, 24.0, -17.0), away)
    picture = renderer.render(eye, 0)
    optical = renderer.camera.frd_from_optical.inverse()
    last = None
    for truth in truths:
        m = truth.motion
        at = renderer.camera.project(optical @ eye.to_local(m.position))
        if at is not None and last is not None:
            warm = min(1.0, m.velocity.norm() / 11.0)
            colour = (int(255 * (1 - warm)), 200, int(255 * warm))
            a, b = (tuple(round(16 * c) for c in p) for p in (last, at))
            cv2.line(picture, a, b, colour, 2, cv2.LINE_AA, shift=4)
        last = at
    return picture


if __name__ == "__main__":
    main()

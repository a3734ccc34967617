"""Figures of computing: physics, camera, JPEG, and a whole race in lockstep.

A sample runs long enough (0.1 s or more) for the clock; what is compiled is compiled before.
"""

import time
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from racewire.core.clock import NS_PER_S
from racewire.core.frames import Frd, Ned, Pose, Rot, Vec
from racewire.render.jpeg import decode, encode
from racewire.render.renderer import Renderer
from racewire.run.bench_measure import Measure
from racewire.run.camera import Bands
from racewire.run.race import RaceConfig, fly_race
from racewire.sensors.camera import AIGP_CAMERA
from racewire.vehicles.quadrotor import Quadrotor
from racewire.world.course import load_course

_DT = 1e-3
_HOVER = (0.27, 0.1, -0.05, 0.02)


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - started) / NS_PER_S


@cache
def _quad() -> Quadrotor:
    return Quadrotor.named("racer")


def _quad_single() -> Mapping[str, float]:
    quad, steps = _quad(), 1_000_000
    commands = np.array([_HOVER])
    start = quad.initial(Pose(Vec(0.0, 0.0, 0.0), Rot.identity()))
    quad.run(start.copy(), commands, _DT, 10)
    return {"quad_single": steps / _seconds(lambda: quad.run(start.copy(), commands, _DT, steps))}


def _quad_call() -> Mapping[str, float]:
    quad, steps = _quad(), 100_000
    state, command = quad.initial(Pose(Vec(0.0, 0.0, 0.0), Rot.identity())), np.array(_HOVER)

    def fly() -> None:
        for _ in range(steps):
            quad.step(state, command, _DT)

    quad.step(state, command, _DT)
    return {"quad_python_call": steps / _seconds(fly)}


def _quad_batch(rows: int) -> Mapping[str, float]:
    quad, steps = _quad(), 4_000_000 // rows
    start = quad.initial(Pose(Vec(0.0, 0.0, 0.0), Rot.identity()))
    states, commands = np.tile(start, (rows, 1)), np.tile(np.array(_HOVER), (rows, 1))
    quad.step_batch(states, commands, _DT, 2)
    took = _seconds(lambda: quad.step_batch(states, commands, _DT, steps))
    return {f"quad_batch_{rows}": rows * steps / took}


@cache
def _views() -> tuple[Renderer, list[Pose[Ned, Frd]]]:
    """Return the VQ1 renderer and poses along the course, looking down it, leaning and banking."""
    course = load_course("vq1")
    points = [course.pad.position, *(gate.centre for gate in course.gates)]
    poses: list[Pose[Ned, Frd]] = []
    for i, (a, b) in enumerate(pairwise(points)):
        for k in range(5):
            lean: Rot[Ned, Frd] = Rot.from_euler(0.2 * (k - 2), -0.4, np.pi + 0.05 * (i - 2))
            poses.append(Pose(a + (b - a) * (k / 5), lean))
    return Renderer(course, AIGP_CAMERA), poses


def _camera(threads: int) -> Mapping[str, float]:
    renderer, poses = _views()
    with Bands(renderer, threads) as bands:
        bands.render(poses[0], 0)
        took = _seconds(lambda: [bands.render(pose, i // 5) for i, pose in enumerate(poses)])
    return {f"camera_vq1_{threads}t": 1e3 * took / len(poses)}


@cache
def _pictures() -> list[NDArray[np.uint8]]:
    renderer, poses = _views()
    return [renderer.render(pose, i // 5) for i, pose in enumerate(poses)]


def _jpeg() -> Mapping[str, float]:
    pictures = _pictures()
    jpegs = [encode(picture) for picture in pictures]
    encoding = _seconds(lambda: [encode(picture) for picture in pictures])
    decoding = _seconds(lambda: [decode(jpeg) for jpeg in jpegs])
    return {"jpeg_encode": 1e3 * encoding / len(jpegs), "jpeg_decode": 1e3 * decoding / len(jpegs)}


def _race() -> Mapping[str, float]:
    return {"race_realtime_factor": fly_race(RaceConfig()).realtime_factor}


COMPUTE: tuple[Measure, ...] = (
    Measure({"quad_single": ("steps/s", ">= 4 M")}, _quad_single),
    Measure({"quad_python_call": ("steps/s", ">= 0.4 M")}, _quad_call),
    Measure({"quad_batch_1024": ("steps/s", ">= 12 M")}, lambda: _quad_batch(1024)),
    Measure({"quad_batch_16384": ("steps/s", ">= 12 M")}, lambda: _quad_batch(16_384)),
    Measure({"camera_vq1_1t": ("ms", "<= 4")}, lambda: _camera(1)),
    Measure({"camera_vq1_2t": ("ms", "")}, lambda: _camera(2)),
    Measure({"jpeg_encode": ("ms", "<= 1.3"), "jpeg_decode": ("ms", "<= 1.8")}, _jpeg),
    Measure({"race_realtime_factor": ("x real time", ">= 3")}, _race),
)
"""The measures, in order."""

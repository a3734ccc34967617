"""What the tests of vehicles share: poses, and flights under one held command."""

import math

import numpy as np
import pytest

from racewire.core.frames import Pose, Rot, Vec
from racewire.vehicles.quadrotor import Quadrotor


@pytest.fixture(scope="session")
def racer():
    return Quadrotor.named("racer")


@pytest.fixture(scope="session")
def simdrone():
    return Quadrotor.named("simdrone")


@pytest.fixture(scope="session")
def pose():
    def make(roll_deg=0.0, pitch_deg=0.0, yaw_deg=0.0, down=0.0):
        angles = (math.radians(roll_deg), math.radians(pitch_deg), math.radians(yaw_deg))
        return Pose(Vec(0.0, 0.0, down), Rot.from_euler(*angles))

    return make


@pytest.fixture(scope="session")
def fly():
    def run(vehicle, start, command, seconds):
        """The state `seconds` after `start` (a pose or a state), one command held, in steps of 1 ms."""
        state = start.copy() if isinstance(start, np.ndarray) else vehicle.initial(start)
        vehicle.run(state, np.array([command], dtype=float), 1e-3, round(seconds * 1000))
        return state

    return run

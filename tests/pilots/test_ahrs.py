import math

import numpy as np
import pytest

from racewire.core.clock import NS_PER_S
from racewire.core.frames import Rot, Vec
from racewire.core.messages import Imu
from racewire.pilots.ahrs import Ahrs

PAD = math.radians(-17.8)
HZ = 120
NO_BIAS = Vec(0.0, 0.0, 0.0)


def resting(attitude, gyro_bias=NO_BIAS, noise=0.0, count=200):
    rng = np.random.default_rng(0)
    force = attitude.inverse() @ Vec(0.0, 0.0, -9.81)
    for i in range(count):
        f, w = noise * 10.0 * rng.standard_normal(3), noise * rng.standard_normal(3)
        yield Imu(
            t_ns=i * NS_PER_S // HZ,
            specific_force=force + Vec(*f.tolist()),
            rates=gyro_bias + Vec(*w.tolist()),
        )


def test_it_starts_on_the_ramp(params):
    roll, pitch, yaw = Ahrs(params.ahrs).attitude.euler()
    assert pitch == pytest.approx(PAD)
    assert roll == pytest.approx(0.0)
    assert yaw == pytest.approx(0.0)


def test_a_force_like_the_ramps_is_the_ramps(params):
    ahrs = Ahrs(params.ahrs)
    for imu in resting(Rot.from_euler(0.004, PAD - 0.006, 0.0), noise=0.005):
        ahrs.rest(imu)
    assert ahrs.levelled
    assert ahrs.attitude.angle_to(Rot.from_euler(0.0, PAD, 0.0)) < 1e-12


def test_another_ground_is_levelled_from_the_force(params):
    ahrs = Ahrs(params.ahrs)
    for imu in resting(Rot.from_euler(0.1, 0.05, 0.0), noise=0.005):
        ahrs.rest(imu)
    roll, pitch, yaw = ahrs.attitude.euler()
    assert roll == pytest.approx(0.1, abs=0.005)
    assert pitch == pytest.approx(0.05, abs=0.005)
    assert yaw == pytest.approx(0.0, abs=1e-12)


def test_the_gyros_bias_is_learned_at_rest(params):
    ahrs = Ahrs(params.ahrs)
    bias = Vec(0.004, -0.003, 0.002)
    for imu in resting(Rot.from_euler(0.0, PAD, 0.0), bias, noise=0.005):
        ahrs.rest(imu)
    assert (ahrs.bias - bias).norm() < 0.002


def test_few_samples_are_not_enough(params):
    ahrs = Ahrs(params.ahrs)
    for imu in resting(Rot.from_euler(0.0, PAD, 0.0), count=5):
        ahrs.rest(imu)
    assert not ahrs.levelled


def test_a_turn_is_followed_less_the_bias(params):
    ahrs = Ahrs(params.ahrs)
    bias = Vec(0.01, 0.01, -0.01)
    for imu in resting(Rot.from_euler(0.0, PAD, 0.0), bias):
        ahrs.rest(imu)
    start = 200 * NS_PER_S // HZ
    for i in range(HZ + 1):
        ahrs.fly(
            Imu(
                t_ns=start + i * NS_PER_S // HZ,
                specific_force=Vec(9.0, 9.0, 9.0),
                rates=Vec(0.0, 0.0, 1.0) + bias,
            )
        )
    wanted = Rot.from_euler(0.0, PAD, 0.0) @ Rot.exp(0.0, 0.0, 1.0)
    assert ahrs.attitude.angle_to(wanted) < 0.01  # half a sample at the step onto the turn

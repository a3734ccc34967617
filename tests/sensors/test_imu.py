import dataclasses

import numpy as np
import pytest

from racewire.core.frames import Frd, Vec
from racewire.sensors.imu import ImuNoise, ImuSensor

STILL: Vec[Frd] = Vec(0.0, 0.0, 0.0)
FELT: Vec[Frd] = Vec(-2.999, 0.0, -9.340)
TURNED: Vec[Frd] = Vec(0.1, -0.2, 0.3)
NOISY = ImuNoise(accel_noise=0.05, accel_bias=0.03, gyro_noise=0.005, gyro_bias=0.003)


def errors(noise, seed=0, count=1000, name="imu/0"):
    """Return the errors of `count` samples: (count, 3) of force, (count, 3) of rates."""
    sensor = ImuSensor(noise, seed, name)
    samples = [sensor.sample(k, STILL, STILL) for k in range(count)]
    return (
        np.array([s.specific_force.array() for s in samples]),
        np.array([s.rates.array() for s in samples]),
    )


def test_without_noise_the_truth_comes_out_with_its_stamp():
    sample = ImuSensor(ImuNoise(), 3).sample(7, FELT, TURNED)
    assert (sample.t_ns, sample.specific_force, sample.rates) == (7, FELT, TURNED)


def test_errors_add_to_the_truth():
    plain = ImuSensor(NOISY, 5).sample(0, STILL, STILL)
    moving = ImuSensor(NOISY, 5).sample(0, FELT, TURNED)
    assert moving.specific_force == FELT + plain.specific_force
    assert moving.rates == TURNED + plain.rates


def test_the_noise_has_the_configured_deviation_and_no_mean():
    force, rates = errors(ImuNoise(accel_noise=0.05, gyro_noise=0.005), count=20_000)
    assert force.std(axis=0) == pytest.approx([0.05] * 3, rel=0.03)
    assert rates.std(axis=0) == pytest.approx([0.005] * 3, rel=0.03)
    assert abs(force.mean(axis=0)).max() < 4 * 0.05 / np.sqrt(20_000)
    assert abs(rates.mean(axis=0)).max() < 4 * 0.005 / np.sqrt(20_000)


def test_the_noise_is_white_and_its_axes_are_independent():
    force, rates = errors(ImuNoise(accel_noise=1.0, gyro_noise=1.0), count=20_000)
    both = np.hstack((force, rates))
    correlation = np.corrcoef(both.T) - np.eye(6)
    assert abs(correlation).max() < 0.03
    for axis in both.T:
        assert abs(np.corrcoef(axis[1:], axis[:-1])[0, 1]) < 0.03


def test_the_bias_is_constant_in_a_run_and_differs_between_runs():
    noise = ImuNoise(accel_bias=0.03, gyro_bias=0.003)
    force, rates = errors(noise, count=700)
    assert np.ptp(force, axis=0).tolist() == [0.0, 0.0, 0.0]
    assert np.ptp(rates, axis=0).tolist() == [0.0, 0.0, 0.0]
    first = np.array([np.hstack([e[0] for e in errors(noise, seed, 1)]) for seed in range(400)])
    assert first[:, :3].std(axis=0) == pytest.approx([0.03] * 3, rel=0.15)
    assert first[:, 3:].std(axis=0) == pytest.approx([0.003] * 3, rel=0.15)
    assert abs(np.corrcoef(first.T) - np.eye(6)).max() < 0.2


def test_same_seed_same_samples_another_seed_others():
    for one, two in zip(errors(NOISY, 4), errors(NOISY, 4), strict=True):
        assert one.tobytes() == two.tobytes()
    for one, two in zip(errors(NOISY, 4), errors(NOISY, 5), strict=True):
        assert not np.isclose(one, two).any()


def test_two_imus_of_a_run_have_their_own_errors():
    for one, two in zip(errors(NOISY), errors(NOISY, name="imu/1"), strict=True):
        assert not np.isclose(one, two).any()


@pytest.mark.parametrize("off", ["accel_noise", "accel_bias", "gyro_noise", "gyro_bias"])
def test_switching_one_error_off_leaves_the_other_draws_alone(off):
    full = dict(zip(("accel", "gyro"), errors(NOISY), strict=True))
    part = dict(zip(("accel", "gyro"), errors(dataclasses.replace(NOISY, **{off: 0.0})), strict=True))
    changed, kept = ("accel", "gyro") if off.startswith("accel") else ("gyro", "accel")
    assert part[kept].tobytes() == full[kept].tobytes()
    difference = full[changed] - part[changed]
    bias = errors(ImuNoise(**{f"{changed}_bias": getattr(NOISY, f"{changed}_bias")}), count=1)
    bias = bias[0 if changed == "accel" else 1][0]
    if off.endswith("bias"):
        assert difference == pytest.approx(np.tile(bias, (1000, 1)), abs=1e-12)
    else:
        assert part[changed] == pytest.approx(np.tile(bias, (1000, 1)), abs=1e-12)
        assert difference.std(axis=0) == pytest.approx([getattr(NOISY, off)] * 3, rel=0.1)


def test_a_frozen_yaw_gyro_reads_zero_and_the_rest_goes_on():
    whole, frozen = ImuSensor(NOISY, 1), ImuSensor(dataclasses.replace(NOISY, yaw_frozen=True), 1)
    for k in range(5):
        one, two = whole.sample(k, FELT, TURNED), frozen.sample(k, FELT, TURNED)
        assert two.rates == Vec(one.rates.x, one.rates.y, 0.0)
        assert two.specific_force == one.specific_force

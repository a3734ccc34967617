import numpy as np

from racewire.core.seeds import stream


def test_a_stream_repeats_itself():
    assert np.array_equal(stream(7, "imu/0/gyro").random(8), stream(7, "imu/0/gyro").random(8))


def test_names_and_seeds_make_independent_streams():
    a = stream(7, "imu/0/gyro").standard_normal(4000)
    for other in (stream(7, "imu/0/accel"), stream(8, "imu/0/gyro")):
        assert abs(float(np.corrcoef(a, other.standard_normal(4000))[0, 1])) < 0.06

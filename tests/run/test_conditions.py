"""Conditions as files: the default ones by their literal numbers, and what is refused."""

import dataclasses

import pytest

from racewire.core.errors import ConfigError
from racewire.run.conditions import Compute, Conditions, Frames, Links, load_conditions, simulated_links
from racewire.run.link import LinkConfig
from racewire.sensors.imu import ImuNoise

MS = 10**6


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "faults.toml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_the_default_conditions():
    assert load_conditions(None) == Conditions(
        imu=ImuNoise(accel_noise=0.05, accel_bias=0.03, gyro_noise=0.005, gyro_bias=0.003),
        links=Links(
            video=LinkConfig(latency_ms=20.0, jitter_ms=1.0),
            telemetry=LinkConfig(latency_ms=1.0, jitter_ms=0.5),
            command=LinkConfig(latency_ms=1.0, jitter_ms=0.5),
        ),
        frames=Frames(loss=0.02),
        compute=Compute(camera_ms=0.0, vision_ms=5.0),
    )


def test_none_is_the_clean_original():
    clean = load_conditions("none")
    assert clean == Conditions()
    for noise in dataclasses.astuple(clean.imu):
        assert not noise
    for link in (clean.links.video, clean.links.telemetry, clean.links.command):
        assert not any((link.latency_ms, link.jitter_ms, link.loss, link.duplicate, link.reorder))
    assert clean.frames == Frames(loss=0.0, no_start=0.0)
    assert not clean.world.wind.blows
    assert clean.world.motor.after_go_s is None
    assert clean.clock.steps == ()


def test_a_file_changes_what_it_says_and_leaves_the_rest_clean(file):
    path = file("[links.video]\nlatency_ms = 40.0\nloss = 0.1\n[compute]\nvision_ms = 8\n")
    assert load_conditions(path) == Conditions(
        links=Links(video=LinkConfig(latency_ms=40.0, loss=0.1)), compute=Compute(vision_ms=8.0)
    )


def test_declared_times_are_whole_nanoseconds():
    compute = Compute(camera_ms=1.5, vision_ms=0.1)
    assert (compute.camera_ns, compute.vision_ns) == (1_500_000, 100_000)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "[links.video]\nlatncy_ms = 3.0\n",
            r"faults\.toml: links: video: unknown key 'latncy_ms'.*latency_ms",
        ),
        ("[lins]\n", r"faults\.toml: unknown key 'lins'.*'links'"),
        ("[frames]\nloss = 1.5\n", r"faults\.toml: frames: loss must be a probability, 0 to 1, not 1\.5"),
        ("[frames]\nno_start = -1.0\n", "no_start must be a probability"),
        ("[links.command]\nloss = -0.1\n", "loss must be a probability"),
        ("[links.command]\njitter_ms = -1.0\n", "jitter_ms must not be negative"),
        ("[compute]\nvision_ms = -1.0\n", "vision_ms must not be negative"),
        ("[compute]\ncamera_ms = -1.0\n", "camera_ms must not be negative"),
        ("[imu]\naccel_noise = -0.1\n", "accel_noise must not be negative"),
        ("[imu]\ngyro_bias = -0.1\n", "gyro_bias must not be negative"),
        ("[imu]\naccel_noise = nan\n", "must be a finite number"),
        ("[imu]\naccel_noise = 'a lot'\n", r"imu: accel_noise: must be a number"),
        ("[frames\n", "not TOML"),
    ],
)
def test_a_file_that_cannot_be_says_where_and_why_in_one_line(file, text, says):
    with pytest.raises(ConfigError, match=says) as error:
        load_conditions(file(text))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match=r"nowhere/faults\.toml: No such file"):
        load_conditions("nowhere/faults.toml")


def test_each_channel_has_a_link_each_way_with_its_own_luck():
    conditions = Conditions(
        links=Links(
            video=LinkConfig(latency_ms=20.0, jitter_ms=5.0),
            telemetry=LinkConfig(latency_ms=2.0, jitter_ms=5.0),
            command=LinkConfig(latency_ms=1.0, jitter_ms=5.0),
        )
    )
    down, up = simulated_links(conditions, ["mavlink", "video"], 3)
    assert set(down) == set(up) == {"mavlink", "video"}
    arrivals = {
        (way, name): [link.arrivals(100 * k * MS)[0] - 100 * k * MS for k in range(50)]
        for way, links in (("down", down), ("up", up))
        for name, link in links.items()
    }
    least = {("down", "video"): 20, ("down", "mavlink"): 2, ("up", "video"): 1, ("up", "mavlink"): 1}
    draws = set()
    for key, latency in least.items():
        assert latency * MS <= min(arrivals[key]) < (latency + 1) * MS
        draws.add(tuple(at - latency * MS for at in arrivals[key]))
    assert len(draws) == 4

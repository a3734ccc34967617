"""Build profiles: the documented numbers, and errors that name the key."""

from fractions import Fraction
from pathlib import Path

import pytest

from racewire.core.config import load, parse, read_toml
from racewire.core.errors import ConfigError
from racewire.wires import profile as module
from racewire.wires.profile import BuildProfile, load_profile, profile_names

FOLDER = Path(module.__file__).parent / "profiles"


def test_the_rates_of_build_3364():
    rates = {name: float(rate) for name, rate in load_profile("3364-vq1").topic_rates().items()}
    assert rates == {
        "heartbeat": 10, "imu": 120, "attitude": 120, "local_position": 97,
        "odometry": 75, "motors": 97, "race_status": 4, "image": 30,
    }  # fmt: skip


def test_the_rates_of_build_3391_are_exact_and_have_no_pose():
    profile = load_profile("3391-vq2")
    assert profile.topic_rates() == {
        "heartbeat": Fraction(102, 10),
        "imu": Fraction(629, 10),
        "motors": Fraction(965, 10),
        "race_status": Fraction(41, 10),
        "image": Fraction(30),
    }
    assert not any(map(profile.sends, ("attitude", "local_position", "odometry", "track")))


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_has_the_documented_constants(name):
    profile = load_profile(name)
    assert profile.ack_delay_ns == 83_000_000
    assert profile.jpeg_quality == 85
    assert profile.video_latency_ns == 38_000_000
    assert (profile.identity.system, profile.identity.component) == (1, 200)
    assert (profile.identity.armed_mode, profile.identity.armed_status) == (193, 4)
    assert not profile.identity.disarmed_mode & 128


def test_an_unknown_profile_names_those_there_are():
    with pytest.raises(ConfigError, match=r"no build profile '3364'.*3364-vq1, 3391-vq2"):
        load_profile("3364")
    with pytest.raises(ConfigError, match="no build profile"):
        load_profile("../profiles/3364-vq1")


def edited(old, new, tmp_path):
    text = (FOLDER / "3364-vq1.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "edited.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return load(BuildProfile, path)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("jpeg_quality = 85", "jpeg_qualty = 85", r"edited.toml: unknown key 'jpeg_qualty'.*jpeg_quality"),
        ("jpeg_quality = 85", "jpeg_quality = 0", "jpeg_quality"),
        ("imu = 120.0", "imu = 0.0", "rates must be positive"),
        ("imu = 120.0", "imv = 120.0", "unknown topic 'imv'"),
        ("imu = 120.0\n", "", "topic 'imu' must either have a rate or be blocked"),
        ("blocked = []", 'blocked = ["imu"]', "topic 'imu' must either"),
        ("gyro = [-1, -1, -1]", "gyro = [-1, -1]", "gyro: must be a list of 3"),
        ("gyro = [-1, -1, -1]", "gyro = [-1, -1, -2]", "each sign must be 1 or -1"),
        ('"stick"', '"stik"', "'stik' is not one of"),
        ("type_mask = 3\n", "type_mask = 7\n", "a type_mask stands twice"),
        ("pilot_type_mask = 128", "pilot_type_mask = 7", "pilot_type_mask 7"),
        ("euler_gains = [-2.5, 2.4, -2.28]", "", "'euler_stick' and its gains"),
        ("saturation = 19.5", "saturation = -1.0", "rate curve"),
    ],
)
def test_a_bad_profile_is_refused_with_its_reason(old, new, says, tmp_path):
    with pytest.raises(ConfigError, match=says):
        edited(old, new, tmp_path)


def test_profiles_differ_only_where_the_builds_do():
    old, late = (read_toml(FOLDER / f"{name}.toml") for name in ("3364-vq1", "3391-vq2"))
    assert {key for key in old if old[key] != late[key]} == {"blocked", "rates", "commands"}
    assert parse(BuildProfile, old, "old").signs == parse(BuildProfile, late, "late").signs

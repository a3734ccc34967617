"""Build profiles: the documented numbers, and errors that name the key."""

import dataclasses
from fractions import Fraction
from pathlib import Path

import pytest

from racewire.core.config import read_toml
from racewire.core.errors import ConfigError
from racewire.wires import profile as module
from racewire.wires.profile import load_profile, profile_names

FOLDER = Path(module.__file__).parent / "profiles"


RATES = {  # spec aigp.md, table 1.2: Hz of imu, attitude, local_position, odometry, motors, race_status
    "3364-vq1": (120, 120, 97, 75, 97, 4),
    "3379-vq2": (114.5, None, None, None, 93, 4),
    "3385-vq2": (114.5, None, None, None, 93, 4),
    "3390-vq2": (62.9, None, None, None, 96.5, 4.1),
    "3391-vq2": (62.9, None, None, None, 96.5, 4.1),
    "3391-vq1": (47.7, 113.8, 92.8, 72.2, 92.8, 4),
}
TOPICS = ("imu", "attitude", "local_position", "odometry", "motors", "race_status")


def test_there_are_the_six_builds():
    assert set(RATES) <= set(profile_names())


@pytest.mark.parametrize("name", RATES)
def test_the_rates_and_the_blocked_topics_are_those_of_the_table(name):
    rates = load_profile(name).topic_rates()
    assert tuple(None if t not in rates else float(rates[t]) for t in TOPICS) == RATES[name]
    assert float(rates["image"]) == 30.0
    assert float(rates["heartbeat"]) == (10.2 if name in ("3390-vq2", "3391-vq2") else 10.0)


@pytest.mark.parametrize("name", RATES)
def test_round_two_tells_nothing_of_the_pose(name):
    sent = [t for t in ("attitude", "local_position", "odometry", "track") if load_profile(name).sends(t)]
    assert len(sent) == (4 if name.endswith("vq1") else 0)


@pytest.mark.parametrize(
    ("name", "copies"),
    [
        ("3364-vq1", 14),
        ("3379-vq2", 7.5),
        ("3385-vq2", 7.5),
        ("3390-vq2", 2),
        ("3391-vq2", 2),
        ("3391-vq1", 2),
    ],
)
def test_video_is_sent_as_many_times_as_was_counted(name, copies):
    assert load_profile(name).video_copies == copies


def test_rates_are_exact():
    assert load_profile("3391-vq2").topic_rates()["imu"] == Fraction(629, 10)


@pytest.mark.parametrize("name", RATES)
def test_open_points_have_the_proposed_values(name):
    profile = load_profile(name)
    assert profile.duplicate_every == 0
    assert profile.off_race == "paused"
    assert profile.commands.reset == "resets"
    assert not profile.commands.heartbeat_required
    assert profile.commands.other_rates == "stick"


@pytest.mark.parametrize("name", RATES)
def test_every_profile_has_the_documented_constants(name):
    profile = load_profile(name)
    assert profile.ack_delay_ns == 83_000_000
    assert profile.jpeg_quality == 85
    assert profile.video_latency_ns == 38_000_000
    assert (profile.identity.system, profile.identity.component) == (1, 200)
    assert (profile.identity.armed_mode, profile.identity.armed_status) == (193, 4)
    assert not profile.identity.disarmed_mode & 128


def test_an_unknown_profile_names_those_there_are():
    with pytest.raises(ConfigError, match=r"no build profile '3364'.*3364-vq1, 3379-vq2.*or a .toml file"):
        load_profile("3364")
    with pytest.raises(ConfigError, match="no build profile"):
        load_profile("../profiles/3364-vq1")
    with pytest.raises(ConfigError, match=r"nothing\.toml: No such file"):
        load_profile("nothing.toml")


def written(text, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return load_profile(str(path))


def test_a_file_of_ones_own_says_where_it_differs(tmp_path):
    mine = written('like = "3385-vq2"\ntrack = "nulled"\n[commands]\nheartbeat_required = true\n', tmp_path)
    theirs = load_profile("3385-vq2")
    assert (mine.track, mine.commands.heartbeat_required) == ("nulled", True)
    changed = dataclasses.replace(theirs.commands, heartbeat_required=True)
    assert mine == dataclasses.replace(theirs, track="nulled", commands=changed)


def test_a_file_may_block_what_its_build_sends(tmp_path):
    mine = written('like = "3364-vq1"\nblocked = ["imu"]\n', tmp_path)
    assert not mine.sends("imu")
    assert "imu" not in mine.topic_rates()


def test_a_file_like_no_build_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"no build profile '9999'"):
        written('like = "9999"\n', tmp_path)


def edited(old, new, tmp_path):
    text = (FOLDER / "3364-vq1.toml").read_text(encoding="utf-8")
    assert old in text
    return written(text.replace(old, new), tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("blocked = []", "bloked = []", r"mine.toml: unknown key 'bloked'.*blocked"),
        ("blocked = []", "blocked = []\njpeg_quality = 0", "jpeg_quality must be from 1"),
        ("imu = 120.0", "imu = 0.0", "rates must be positive"),
        ("imu = 120.0", "imv = 120.0", "unknown topic 'imv'"),
        ("imu = 120.0\n", "", "topic 'imu' must have a rate or be blocked"),
        ('track = "sent"', 'track = "shown"', "track: 'shown' is not one of"),
        ("blocked = []", 'blocked = []\noff_race = "sleeps"', "off_race: 'sleeps'"),
        ("video_copies = 14.0", "video_copies = 0.5", "video_copies must be from 1 to 100"),
        ("blocked = []", "blocked = []\nduplicate_every = -1", "duplicate_every"),
        ("[rates]", "[signs]\ngyro = [-1, -1]\n[rates]", "gyro: must be a list of 3"),
        ("[rates]", "[signs]\ngyro = [-1, -1, -2]\n[rates]", "each sign must be 1 or -1"),
        ('meaning = "stick"', 'meaning = "stik"', "'stik' is not one of"),
        ("type_mask = 3,", "type_mask = 7,", "a type_mask stands twice"),
        ("pilot_type_mask = 128", "pilot_type_mask = 7", "pilot_type_mask 7"),
        ('"unpowered"', '"broken"', "position_target: 'broken'"),
        ('other_quaternion = "euler_stick"', 'other_quaternion = "x"', "other_quaternion: 'x'"),
        ("[commands]", '[commands]\nother_rates = "x"', "other_rates: 'x'"),
        ("[commands]", '[commands]\nreset = "x"', "reset: 'x'"),
        ("[commands]", "[commands]\ntarget_yaw_sign = 2", "target_yaw_sign"),
        ("[commands]", "[commands]\nyaw = {knots = [[0.4, 2.0]], saturation = -1.0}", "rate curve"),
    ],
)
def test_a_bad_profile_is_refused_with_its_reason(old, new, says, tmp_path):
    with pytest.raises(ConfigError, match=says):
        edited(old, new, tmp_path)


@pytest.mark.parametrize("name", RATES)
def test_a_profile_says_nothing_that_all_builds_share(name):
    own = read_toml(FOLDER / f"{name}.toml")
    assert set(own) == {"blocked", "track", "video_copies", "rates", "commands"}
    assert load_profile(name).signs == load_profile("3364-vq1").signs

from pathlib import Path

import pytest

from racewire.core.errors import ConfigError
from racewire.pilots import GATE_CONFIG, PILOTS, load_pilot

MINE = """
class Mine:
    def __init__(self, config=None):
        self.config = config
    def step(self, now, inbox):
        return []
    def due(self):
        return None
    def status(self):
        return None

class Half:
    def step(self, now, inbox):
        return []

class Broken:
    def __init__(self):
        raise RuntimeError("no")
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", PILOTS)
def test_every_pilot_by_name_steps_from_nothing(name):
    pilot = load_pilot(name)
    pilot.step(0, [])
    assert pilot.status().phase
    assert pilot.due() is None or isinstance(pilot.due(), int)


def test_a_users_class_is_loaded_with_or_without_a_config(file):
    assert load_pilot(f"{file}:Mine").config is None
    assert load_pilot(f"{file}:Mine", Path("some.toml")).config == Path("some.toml")


def test_a_config_of_ones_own_is_used(tmp_path):
    text = GATE_CONFIG.read_text(encoding="utf-8").replace("speed = 10.0\n", "speed = 6.5\n", 1)
    path = tmp_path / "slow.toml"
    path.write_text(text, encoding="utf-8")
    assert load_pilot("gate", path)._params.guidance.speed == 6.5


def test_a_key_that_does_not_exist_is_named(tmp_path):
    text = GATE_CONFIG.read_text(encoding="utf-8").replace("tilt_gain", "tilt_gian", 1)
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"tilt_gian.*tilt_gain"):
        load_pilot("gate", path)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ace", "no pilot 'ace'"),
        ("nowhere.py:Mine", "no such file"),
        ("{file}:Other", "no class 'Other'"),
        ("{file}:Half", "no method 'due'"),
        ("{file}:Broken", "could not be made"),
        ("{file}", "FILE.py:Class"),
    ],
)
def test_what_cannot_be_loaded_says_why_in_one_line(file, name, says):
    with pytest.raises(ConfigError) as error:
        load_pilot(name.format(file=file))
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_does_not_import_says_why(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("import nothing_like_this\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be imported"):
        load_pilot(f"{path}:Mine")

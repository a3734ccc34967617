import pytest

from racewire.core.errors import ConfigError
from racewire.race.rules import load_rules


def test_the_bundled_rules_say_what_the_spec_says():
    rules = load_rules("aigp")
    assert rules.countdown_s == 3.0
    assert (rules.early_distance, rules.early_thrust) == (0.05, 0.02)
    assert rules.opening_margin == 0.0


def test_unknown_rules_list_the_known():
    with pytest.raises(ConfigError, match=r"no rules 'fs': choose aigp or a \.toml file"):
        load_rules("fs")


def test_a_file_of_rules_is_read_and_checked(tmp_path):
    path = tmp_path / "mine.toml"
    text = (
        "countdown_s = 1.0\nopening_margin = 0.1\nearly_distance = 0.1\n"
        "early_thrust = 0.1\ncontact_gap_s = 1.0\npad_zone = {}\n"
    )
    path.write_text(text.format("2.0"))
    assert load_rules(str(path)).pad_zone == 2.0
    path.write_text(text.format("-2.0"))
    with pytest.raises(ConfigError, match=r"mine\.toml: pad_zone: must not be negative"):
        load_rules(str(path))

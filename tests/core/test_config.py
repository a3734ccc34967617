from dataclasses import dataclass
from pathlib import Path

import pytest

from racewire.core.config import load, parse
from racewire.core.errors import ConfigError


@dataclass(frozen=True)
class Inner:
    gain: float = 1.0
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    count: int
    inner: Inner = Inner()
    triple: tuple[float, float, float] = (0.0, 0.0, 0.0)
    table: dict[str, float] | None = None
    on: bool = False

    def __post_init__(self):
        if self.count < 0:
            raise ValueError("count must not be negative")


def test_a_tree_is_read(tmp_path: Path):
    path = tmp_path / "a.toml"
    path.write_text(
        'count = 3\ntriple = [1, 2, 3.5]\non = true\n[inner]\ngain = 2\nnames = ["a", "b"]\n[table]\nx = 1\n'
    )
    config = load(Outer, path)
    assert config == Outer(3, Inner(2.0, ("a", "b")), (1.0, 2.0, 3.5), {"x": 1.0}, on=True)
    assert isinstance(config.inner.gain, float)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"count": 1, "inner": {"gian": 1}}, "inner: unknown key 'gian'; did you mean 'gain'?"),
        ({}, "missing key 'count'"),
        ({"count": 1.5}, "count: must be an integer, not 1.5"),
        ({"count": True}, "count: must be an integer"),
        ({"count": 1, "inner": 3}, "inner: must be a table"),
        ({"count": 1, "inner": {"gain": float("nan")}}, "gain: must be a finite number"),
        ({"count": 1, "inner": {"gain": "x"}}, "gain: must be a number, not 'x'"),
        ({"count": 1, "triple": [1, 2]}, "triple: must be a list of 3"),
        ({"count": 1, "triple": "abc"}, "triple: must be a list, not"),
        ({"count": 1, "on": 1}, "on: must be true or false"),
        ({"count": -1}, "count must not be negative"),
        ({"count": 1, "inner": {"names": ["a", 3]}}, "names[1]: must be a string"),
    ],
)
def test_errors_name_source_key_and_reason(data, reason):
    with pytest.raises(ConfigError) as error:
        parse(Outer, data, "file.toml")
    assert str(error.value).startswith("file.toml: ")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_unreadable_files_are_one_line(tmp_path: Path):
    with pytest.raises(ConfigError, match="No such file"):
        load(Outer, tmp_path / "none.toml")
    bad = tmp_path / "bad.toml"
    bad.write_bytes(b"\xff\xfe = 3")
    with pytest.raises(ConfigError, match="not TOML"):
        load(Outer, bad)

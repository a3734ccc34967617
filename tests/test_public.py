"""The public names, and what importing costs and does."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

import racewire
from racewire.core.errors import ConfigError

SAID = """
import json, sys, threading, signal, socket
before = (threading.active_count(), signal.getsignal(signal.SIGINT), sys.excepthook, list(sys.argv))
opened = []
sys.addaudithook(lambda event, args: opened.append([event, str(args[:2])]) if event in WATCHED else None)
"""
WATCHED = ("socket.bind", "socket.connect", "subprocess.Popen", "shutil.rmtree")
EVERYTHING = """
import importlib, pkgutil, racewire
names = [m.name for m in pkgutil.walk_packages(racewire.__path__, "racewire.")]
names.remove("racewire.__main__")  # the program itself
for name in names:
    importlib.import_module(name)
after = (threading.active_count(), signal.getsignal(signal.SIGINT), sys.excepthook, list(sys.argv))
print(json.dumps({"names": names, "same": before == after, "opened": opened}))
"""


def bare(program):
    """Run a program in a bare interpreter, in an empty place; return what it says."""
    return subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)


@pytest.mark.parametrize("name", racewire.__all__)
def test_a_public_name_is_there_and_is_the_same_every_time(name):
    assert getattr(racewire, name) is not None
    assert getattr(racewire, name) == getattr(racewire, name)
    assert name in dir(racewire)


def test_they_are_about_twenty_and_sorted():
    assert 15 <= len(racewire.__all__) <= 25
    assert sorted(racewire.__all__) == racewire.__all__


def test_they_are_what_the_package_itself_uses():
    assert racewire.ConfigError is ConfigError
    assert racewire.__version__ == version("racewire")
    with pytest.raises(racewire.ConfigError, match="no course 'vq9'"):
        racewire.load_course("vq9")


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'racewire' has no attribute 'magic'"):
        racewire.magic  # noqa: B018 - the look-up is the point


def test_importing_the_package_loads_nothing_else():
    said = bare(
        "import sys, racewire\n"
        "print([m for m in sys.modules if m.startswith(('racewire.', 'numpy', 'numba', 'cv2'))])"
    )
    assert said.stdout.strip() == "[]"


def test_a_light_name_does_not_load_the_heavy_ones():
    said = bare(
        "import sys; from racewire import Camera; print('racewire.run' in sys.modules, 'cv2' in sys.modules)"
    )
    assert said.stdout.split() == ["False", "False"]


def test_every_module_imports_without_side_effects(tmp_path):
    program = SAID.replace("WATCHED", repr(WATCHED)) + EVERYTHING
    said = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert said.stderr == ""
    (line,) = said.stdout.splitlines()
    record = json.loads(line)
    assert len(record["names"]) > 100
    assert record["same"] is True
    assert record["opened"] == []
    assert list(tmp_path.iterdir()) == []

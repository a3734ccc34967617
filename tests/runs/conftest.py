"""Programs in processes of their own, watched through what they print; patience for a loaded machine."""

import signal
import subprocess
import sys
import time

import pytest

PATIENCE_S = 240.0
"""A bound for what never ends, not a bar for how fast it should be."""


class Program:
    """One `racewire` process; its output, both streams, goes to a file."""

    def __init__(self, path, arguments):
        self.path = path
        with path.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "racewire", *map(str, arguments)],
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    @property
    def output(self):
        return self.path.read_text(encoding="utf-8")

    @property
    def lines(self):
        return self.output.splitlines()

    def until(self, text):
        """Wait until it has printed `text`."""
        self._wait(lambda: text in self.output, text)

    def until_file(self, path, size):
        """Wait until the file at `path` has more than `size` bytes."""
        self._wait(lambda: path.exists() and path.stat().st_size > size, path)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ended(self):
        """Wait for its end; return the exit code."""
        return self.process.wait(timeout=PATIENCE_S)

    def _wait(self, happened, what):
        deadline = time.monotonic() + PATIENCE_S
        while not happened():
            ended = self.process.poll()
            assert ended is None or happened(), f"ended with {ended} before '{what}':\n{self.output}"
            assert time.monotonic() < deadline, f"no '{what}' in:\n{self.output}"
            time.sleep(0.05)


@pytest.fixture
def program(tmp_path):
    """Return a function that starts `racewire` with the given arguments; all end with the test."""
    started = []

    def start(*arguments):
        started.append(Program(tmp_path / f"out{len(started)}.txt", arguments))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()

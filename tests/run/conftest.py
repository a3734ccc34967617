"""Toy nodes for the loops."""

from collections import defaultdict

import pytest

from racewire.wires.base import Datagram


class Toy:
    """Wakes at the given times; on each wake and each datagram it sends what `says` holds for it."""

    def __init__(self, name, log, wakes=(), says=None):
        self.name = name
        self.log = log
        self.wakes = list(wakes)
        self.says = defaultdict(list, says or {})

    def due(self):
        return self.wakes[0] if self.wakes else None

    def wake(self, now):
        at = self.wakes.pop(0)
        self.log.append((now, self.name, "wake"))
        return [Datagram("a", data) for data in self.says[at]]

    def receive(self, channel, data, now):
        self.log.append((now, self.name, data))
        return [Datagram(channel, said) for said in self.says[data]]


@pytest.fixture
def toy():
    """Return the class of toy nodes."""
    return Toy

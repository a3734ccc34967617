"""What `racewire sim` says and keeps: pilots that come and go, refused bytes, the last race's result."""

import io
import json

import pytest
from rich.console import Console

from racewire.core.frames import Vec
from racewire.core.messages import Arm, RateCommand
from racewire.run.assembly import load_world, make_wire, sim_budget
from racewire.run.camera import InlineCamera
from racewire.run.conditions import Conditions
from racewire.run.service import Service, ServicePlan
from racewire.sim.simulator import RaceStart
from racewire.wires.base import Role

MS = 10**6
S = 10**9
WORLD = load_world("vq1", None, "aigp", None)


class Stage:
    """A service without sockets: time goes on as told, and a pilot speaks when told."""

    def __init__(self, folder, *, once=False, world=WORLD):
        self.file = folder / "result.json"
        self.screen = io.StringIO()
        plan = ServicePlan(
            seed=0,
            start=RaceStart(settle_s=0.1),
            on_key=False,
            once=once,
            result=self.file,
            log=None,
            lockstep=False,
        )
        self.service = Service(
            plan,
            world,
            Conditions(),
            lambda: InlineCamera(lambda _shot: b"\xff\xd8", 0),
            sim_budget(),
            0,
            Console(file=self.screen, width=120),
        )
        self.pilot = make_wire(world, Role.PILOT)
        self.now = 0
        self.ended = False

    def run(self, seconds):
        end = self.now + round(seconds * S)
        session = self.service.session
        while (due := session.due()) is not None and due <= end:
            self.now = max(due, self.now)
            session.wake(self.now)
            self.ended |= self.service.done(self.now)
        self.now = end

    def say(self, message):
        for channel, data in self.pilot.send(message, self.now):
            self.hear(data, channel)

    def hear(self, data, channel="mavlink"):
        self.service.session.receive(channel, data, self.now)

    @property
    def lines(self):
        return self.screen.getvalue().splitlines()

    @property
    def result(self):
        return json.loads(self.file.read_text(encoding="utf-8"))


def spoil(stage):
    """Have a pilot come, arm, and push before GO."""
    stage.say(Arm(t_ns=0, arm=True))
    stage.run(0.3)
    stage.say(RateCommand(t_ns=0, thrust=0.5, rates=Vec(0.0, 0.0, 0.0)))
    stage.run(0.5)


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path)


def test_it_tells_the_story(stage):
    stage.run(0.2)
    spoil(stage)
    assert stage.lines[:2] == ["pilot connected", "armed"]
    assert stage.lines[2].startswith("disqualified: Early Start 2")
    stage.run(4.0)
    assert stage.lines[3:] == ["pilot silent for 3 s: back on the pad, ready for the next"]
    assert not stage.ended


def test_the_next_pilot_finds_a_race_that_waits(stage):
    spoil(stage)
    stage.run(4.0)
    assert not stage.service.simulator.armed
    assert not stage.service.simulator.over
    for _ in range(2):
        stage.say(Arm(t_ns=0, arm=True))
        stage.run(2.0)
    assert stage.lines[-3:] == ["pilot connected", "armed", "GO"]


def test_the_result_is_the_last_races_whatever_comes_after(stage):
    spoil(stage)
    assert stage.result["disqualified"] is True
    stage.run(4.0)
    stage.service.keep_result()
    assert stage.result["disqualified"] is True
    assert stage.service.last.disqualified
    stage.say(Arm(t_ns=0, arm=True))
    stage.run(0.05)
    stage.service.keep_result()
    assert stage.result["disqualified"] is True
    stage.run(0.2)
    stage.service.keep_result()
    assert stage.result["disqualified"] is False


def test_without_any_race_the_result_says_that(stage):
    stage.run(0.5)
    stage.service.keep_result()
    assert (stage.result["finished"], stage.result["gates_passed"], stage.result["reason"]) == (False, 0, "")


def test_once_ends_a_second_after_the_race_and_not_because_a_pilot_left(tmp_path):
    stage = Stage(tmp_path, once=True)
    stage.say(Arm(t_ns=0, arm=True))
    stage.run(5.0)
    assert "pilot silent for 3 s: back on the pad, ready for the next" in stage.lines
    assert not stage.ended
    spoil(stage)
    assert not stage.ended
    stage.run(1.0)
    assert stage.ended


def test_refused_bytes_are_told_at_most_once_a_second(stage):
    for _ in range(30):
        stage.hear(b"garbage")
        stage.run(0.1)
    told = [line for line in stage.lines if line.startswith("refused: ")]
    assert len(told) in (3, 4)
    counts = [int(line.removeprefix("refused: ").split(" x ")[0]) for line in told]
    assert counts[0] == 1
    assert sum(counts) <= 30

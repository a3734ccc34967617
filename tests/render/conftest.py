"""A small course that does not change with the real ones, and looks to see single things by."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from racewire.core.frames import Pose, Rot, Vec
from racewire.render import LOOKS
from racewire.render.renderer import Renderer
from racewire.sensors.camera import AIGP_CAMERA
from racewire.world.layout import Block, Course, CourseGate

PLAIN = """
[grid]
ground = [0, 0, 0]
line = [0, 0, 0]
haze = [0, 0, 0]
fade = 20.0
spacing = 5.0
line_width = 0.1
ceiling = 9.0
reach = 400.0
[block]
dark = [0, 0, 120]
light = [0, 0, 120]
haze = [0, 0, 60]
fade = 40.0
tile = 8.0
top = 1.0
bottom = 1.0
north = 1.0
east = 1.0
[gate]
dark = [240, 0, 0]
light = [240, 0, 0]
face = 1.0
inside = 0.5
outside = 0.5
[pad]
dark = [0, 0, 0]
light = [0, 0, 0]
haze = [0, 0, 0]
fade = 40.0
tile = 5.0
base = [5.6, 4.6, 6.0]
base_ahead = 1.4
base_below = 1.3
[ribbon]
sheet = [0, 100, 0]
line = [0, 200, 0]
half_width = 0.5
wide = 1.5
rise = 0.3
drop = 0.4
low = 1.0
line_width = 0.05
dim = 0.1
steps = 8
legs = 2
near = 1.0
full = 2.0
"""
"""Black; gates red, 240 from the front, half of it from the sides; blue blocks, green ribbon; vq1's pad."""


def gate(number, n, e, d, yaw_deg=0.0, pitch_deg=0.0, depth=0.26):
    attitude = Rot.from_euler(0.0, math.radians(pitch_deg), math.radians(yaw_deg))
    return CourseGate(number, Vec(n, e, d), attitude, 0.0, depth=depth)


def course_of(gates, blocks=(), look="vq1", floor=12.0):
    return Course(
        name="test",
        look=look,
        gates=tuple(gates),
        pad=Pose(Vec(0.0, 0.0, 0.0), Rot.from_euler(0.0, math.radians(-17.8), 0.0)),
        floor=floor,
        low=Vec(-20.0, -30.0, -15.0),
        high=Vec(80.0, 30.0, floor),
        blocks=tuple(blocks),
    )


def pose_at(n, e, d, roll_deg=0.0, pitch_deg=0.0, yaw_deg=0.0):
    """The body's pose; the camera looks 20 degrees above the body's x axis."""
    return Pose(Vec(n, e, d), Rot.from_euler(*(math.radians(a) for a in (roll_deg, pitch_deg, yaw_deg))))


def small_course(look="vq1"):
    gates = [gate(0, 15.0, 0.5, -1.0), gate(1, 32.0, -4.0, 2.0, yaw_deg=-15.0), gate(2, 50.0, 3.0, 0.0, 20.0)]
    gates.append(gate(3, 61.0, 9.0, 1.0, 60.0, pitch_deg=20.0))
    blocks = [
        Block(Vec(25.0, 9.0, 3.0), Vec(9.0, 6.0, 8.0)),
        Block(Vec(28.0, -10.0, -2.0), Vec(6.0, 5.0, 10.0), 0.4),
        Block(Vec(55.0, -8.0, 5.0), Vec(14.0, 8.0, 5.0), -0.2),
    ]
    return course_of(gates, blocks, look)


@pytest.fixture
def plain(tmp_path, monkeypatch):
    """The look PLAIN, registered as "plain"."""
    path = Path(tmp_path) / "plain.toml"
    path.write_text(PLAIN)
    monkeypatch.setitem(LOOKS, "plain", str(path))
    return "plain"


@pytest.fixture
def draw(plain):
    """Draw gates and blocks in the plain look, without the ribbon."""

    def draw(gates, pose, blocks=(), camera=AIGP_CAMERA):
        course = course_of(gates, blocks, plain)
        return Renderer(course, camera).render(pose, len(course.gates))

    return draw


@pytest.fixture(scope="session")
def make():
    """What tests build their scenes from: gate, course_of, pose_at, small_course."""
    return SimpleNamespace(gate=gate, course_of=course_of, pose_at=pose_at, small_course=small_course)

"""The renderer as its callers know it: bytes, bands, bad poses, looks."""

import hashlib
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racewire.core.errors import ConfigError
from racewire.core.frames import Pose, Rot, Vec
from racewire.render import LOOKS
from racewire.render.look import load_look
from racewire.render.renderer import Renderer
from racewire.sensors.camera import AIGP_CAMERA

GOLDEN = Path(__file__).parent.parent / "golden" / "render"
VIEWS = {
    "start": ((0.0, 0.0, 0.0, 0.0, -17.8, 0.0), 0),
    "banked": ((8.0, 1.5, -1.6, 28.0, -25.0, -8.0), 0),
    "through": ((14.95, 0.3, -0.8, -12.0, -18.0, -14.0), 0),
}
"""Poses in the small course, and the active gate."""


@pytest.fixture(scope="module")
def renderer(make):
    return Renderer(make.small_course(), AIGP_CAMERA)


def test_picture_is_a_fresh_bgr_array(renderer, make):
    pose = make.pose_at(0.0, 0.0, 0.0)
    first, second = renderer.render(pose, 0), renderer.render(pose, 0)
    assert first.shape == (360, 640, 3)
    assert first.dtype == np.uint8
    assert first.flags.c_contiguous
    assert not np.shares_memory(first, second)
    assert np.array_equal(first, second)


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_golden(renderer, make, name):
    """RACEWIRE_GOLDEN=write makes them anew: look at them before you commit them."""
    view, active = VIEWS[name]
    image = renderer.render(make.pose_at(*view), active)
    path = GOLDEN / f"{name}.png"
    if os.environ.get("RACEWIRE_GOLDEN") == "write":
        cv2.imwrite(str(path), image, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    golden = cv2.imread(str(path), cv2.IMREAD_COLOR)
    assert golden is not None, f"no {path}"
    different = np.any(golden != image, axis=2)
    assert not different.any(), (
        f"{different.sum()} pixels differ, by {np.abs(golden.astype(int) - image).max()}"
    )


@settings(max_examples=15)
@given(
    cuts=st.lists(st.integers(0, 360), max_size=12),
    view=st.sampled_from(sorted(VIEWS)),
)
def test_any_bands_in_any_order_give_the_same_bytes(renderer, make, cuts, view):
    pose = make.pose_at(*VIEWS[view][0])
    whole = renderer.render(pose, 0)
    bounds = [0, *sorted(cuts), 360]
    picture = renderer.blank()
    renderer.look_from(pose, 0)
    for top, bottom in reversed(list(pairwise(bounds))):
        renderer.draw(top, bottom, picture)
    assert np.array_equal(picture, whole)


def test_bands_on_threads_give_the_same_bytes(renderer, make):
    pose = make.pose_at(*VIEWS["banked"][0])
    whole = renderer.render(pose, 0)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            picture = renderer.blank()
            renderer.look_from(pose, 0)
            list(pool.map(renderer.draw, range(0, 360, 30), range(30, 390, 30), [picture] * 12))
            assert np.array_equal(picture, whole)


def test_renderers_share_nothing(renderer, make):
    other = Renderer(make.small_course(), AIGP_CAMERA)
    pose = make.pose_at(*VIEWS["start"][0])
    renderer.look_from(pose, 0)
    other.look_from(make.pose_at(*VIEWS["through"][0]), 2)
    picture = renderer.blank()
    renderer.draw(0, 360, picture)
    assert np.array_equal(picture, other.render(pose, 0))


PROGRAM = """
import hashlib, math
from racewire.core.frames import Pose, Rot, Vec
from racewire.render.renderer import Renderer
from racewire.sensors.camera import AIGP_CAMERA
from racewire.world.layout import Block, Course, CourseGate
gates = tuple(CourseGate(i, Vec(9.0 * i + 12.0, i - 1.0, 0.5 * i), Rot.from_euler(0.0, 0.1, 0.3 * i), 0.0)
              for i in range(3))
blocks = (Block(Vec(20.0, 8.0, 2.0), Vec(9.0, 6.0, 8.0), 0.3),)
course = Course("x", "vq1", gates, Pose(Vec(0.0, 0.0, 0.0), Rot.identity()), 9.0,
                Vec(-9.0, -9.0, -9.0), Vec(60.0, 9.0, 9.0), blocks)
renderer = Renderer(course, AIGP_CAMERA)
for k in range(4):
    pose = Pose(Vec(3.0 * k, 0.2 * k, -0.3), Rot.from_euler(0.2 * k, -0.3, 0.05 * k))
    print(hashlib.sha256(renderer.render(pose, k).tobytes()).hexdigest())
"""


def test_same_bytes_in_other_processes_and_on_a_plainer_processor():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | extra,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for extra in ({}, {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""})
    ]
    assert outputs[0].count("\n") == 4
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["x", "w"])
def test_a_pose_that_is_not_finite_is_refused(renderer, bad, field):
    position = Vec(bad, 0.0, 0.0) if field == "x" else Vec(0.0, 0.0, 0.0)
    rotation = Rot(bad, 0.0, 0.0, 0.0) if field == "w" else Rot.identity()
    with pytest.raises(ValueError, match="not finite"):
        renderer.render(Pose(position, rotation), 0)


def test_where_there_is_nothing_the_void_is_even(renderer, make):
    image = renderer.render(make.pose_at(9000.0, 9000.0, -500.0, pitch_deg=60.0), 0)
    assert np.all(image == image[0, 0])
    assert np.array_equal(image[0, 0], np.rint(load_look("vq1").grid.haze[::-1]))


@settings(max_examples=40)
@given(
    st.tuples(*[st.floats(-30.0, 70.0)] * 2, st.floats(-12.0, 12.0)),
    st.tuples(*[st.floats(-180.0, 180.0)] * 3),
)
def test_no_pose_breaks_it(renderer, make, place, angles):
    image = renderer.render(make.pose_at(*place, *angles), 1)
    assert image.shape == (360, 640, 3)


def test_course_without_gates_is_drawn(make):
    image = Renderer(make.course_of([]), AIGP_CAMERA).render(make.pose_at(0.0, 0.0, 0.0), 0)
    assert image.std() > 0.0


def test_ribbon_shows_the_next_legs_only(plain, make):
    course = make.small_course(plain)
    renderer = Renderer(course, AIGP_CAMERA)
    pose = make.pose_at(-4.0, 0.0, -4.0, pitch_deg=-35.0)

    def green(active):
        return int((renderer.render(pose, active)[:, :, 1] > 0).sum())

    assert green(len(course.gates)) == 0
    last, both = green(len(course.gates) - 1), green(len(course.gates) - 2)
    assert 0 < last < both
    assert green(0) > 0


def test_every_look_can_be_read_and_an_unknown_one_names_its_fellows():
    for name in LOOKS:
        assert load_look(name).gate.dark[0] > load_look(name).gate.dark[2]
    with pytest.raises(ConfigError, match=r"look 'neon'.*vq1.*vq2"):
        load_look("neon")


def test_a_look_with_a_wrong_key_is_refused(plain, monkeypatch):
    path = Path(LOOKS[plain])
    path.write_text(path.read_text().replace("fade = 20.0", "fade = 20.0\nfog = 1.0"))
    with pytest.raises(ConfigError, match="fog"):
        load_look(plain)


def test_scene_cannot_be_changed(renderer):
    with pytest.raises(ValueError, match="read-only"):
        renderer.scene.corners[0, 0, 0] = 1.0


def test_hash_of_a_frame_depends_on_the_pose(renderer, make):
    digests = {hashlib.sha256(renderer.render(make.pose_at(0.01 * k, 0, 0), 0)).digest() for k in range(3)}
    assert len(digests) == 3

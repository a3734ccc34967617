import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from racewire.core.frames import Vec
from racewire.core.jit import plain
from racewire.world.contact import NOTHING, ContactWorld, solid_distance, touch
from racewire.world.course import load_course
from racewire.world.generate import random_course

HALF = (0.13, 1.35, 0.75)
BARS = [  # centre, half extents of the four bars of a gate frame
    ((0.0, 0.0, -1.05), (0.13, 1.35, 0.3)),
    ((0.0, 0.0, 1.05), (0.13, 1.35, 0.3)),
    ((0.0, -1.05, 0.0), (0.13, 0.3, 1.35)),
    ((0.0, 1.05, 0.0), (0.13, 0.3, 1.35)),
]
metre = st.floats(-3.0, 3.0)


def outside_distance(point):
    """Distance to the union of the four bars, zero inside: clamp to each bar."""
    gaps = []
    for centre, half in BARS:
        over = np.maximum(np.abs(np.array(point) - centre) - half, 0.0)
        gaps.append(float(np.linalg.norm(over)))
    return min(gaps)


def frame(x, y, z):
    return solid_distance(x, y, z, HALF[0], HALF[1], HALF[1], HALF[2])


@settings(max_examples=200)
@given(st.floats(-1.0, 1.0), metre, metre)
def test_the_frame_is_the_union_of_its_four_bars(x, y, z):
    brute = outside_distance((x, y, z))
    distance = frame(x, y, z)[0]
    if brute > 1e-9:
        assert distance == pytest.approx(brute, abs=1e-9)
    else:
        assert distance <= 1e-9


def surface_gap(x, y, z):
    """Distance from inside the frame to its skin by brute force: the planes and the hole's edges."""
    a, b = max(abs(y), abs(z)), min(abs(y), abs(z))
    hole = math.hypot(max(a - 0.75, 0.0), max(b - 0.75, 0.0))
    return min(0.13 - abs(x), 1.35 - a, hole)


@settings(max_examples=200)
@given(st.floats(-0.13, 0.13), st.floats(-1.35, 1.35), st.floats(-1.35, 1.35))
def test_inside_the_frame_the_distance_is_to_the_nearest_face(x, y, z):
    assume(max(abs(y), abs(z)) > 0.75)
    assert frame(x, y, z)[0] == pytest.approx(-surface_gap(x, y, z), abs=1e-12)


@settings(max_examples=200)
@given(st.floats(-1.0, 1.0), metre, metre, st.booleans())
def test_the_normal_is_the_unit_gradient_of_the_distance(x, y, z, ring):
    inner = HALF[2] if ring else -1.0
    d, gx, gy, gz = solid_distance(x, y, z, 0.13, 1.35, 1.35, inner)
    assert math.hypot(gx, gy, gz) == pytest.approx(1.0)
    step = 1e-4  # moving along the normal gains as much distance, except across a crease
    there = solid_distance(x + step * gx, y + step * gy, z + step * gz, 0.13, 1.35, 1.35, inner)[0]
    assert there - d <= step * (1.0 + 1e-6)
    if d > 1e-3 and not (ring and max(abs(y), abs(z)) <= 0.75):
        assert there - d == pytest.approx(step, rel=1e-3)


@pytest.mark.parametrize(
    ("point", "normal"),
    [
        ((-0.05, 0.0, 1.0), (-1.0, 0.0, 0.0)),
        ((0.05, 0.0, 1.0), (1.0, 0.0, 0.0)),
        ((0.01, 1.30, 0.2), (0.0, 1.0, 0.0)),
        ((0.01, 0.0, -0.78), (0.0, 0.0, 1.0)),
        ((0.01, -0.78, 0.1), (0.0, 1.0, 0.0)),
    ],
)
def test_a_deep_sphere_is_pushed_out_by_the_near_side(point, normal):
    assert frame(*point)[0] < 0.0
    assert frame(*point)[1:] == pytest.approx(normal)


RADIUS = 0.14
COURSE = random_course(5)
WORLD = ContactWorld.of(COURSE, RADIUS)


def brute_force(position):
    """Depth of the deepest contact from the distances to every bar, block, ramp and the floor."""
    gaps = [COURSE.floor - position.z]
    for gate in COURSE.gates:
        local = gate.pose.to_local(position)
        gaps.append(outside_distance((local.x, local.y, local.z)))
    ramp = COURSE.ramp_below(RADIUS)
    for pose, size in [*((b.pose, b.size) for b in COURSE.blocks), (ramp, COURSE.pad_size)]:
        over = np.abs(pose.to_local(position).array()) - 0.5 * size.array()
        gaps.append(float(np.linalg.norm(np.maximum(over, 0.0))))
    return max(RADIUS - min(gaps), 0.0)


@settings(max_examples=150)
@given(st.data())
def test_the_deepest_contact_is_that_of_a_search_through_everything(data):
    near = data.draw(
        st.sampled_from([*(g.centre for g in COURSE.gates), COURSE.pad.position, COURSE.blocks[0].centre])
    )
    position = near + Vec(*(data.draw(st.floats(-2.0, 2.0)) for _ in range(3)))
    depth = touch(WORLD.solids, WORLD.floor, RADIUS, position.x, position.y, position.z)[0]
    wanted = brute_force(position)
    if wanted < RADIUS - 1e-9:
        assert depth == pytest.approx(wanted, abs=1e-9)
    else:
        assert depth >= RADIUS - 1e-9


def test_what_was_hit_is_named():
    gate = COURSE.gates[3]
    edge = gate.pose @ Vec(0.0, 0.0, -1.0)
    contact = WORLD.touching(edge)
    assert contact is not None
    assert contact.gate == 3
    assert abs((gate.ned_from_gate.inverse() @ contact.normal).y) < 1e-9
    below = WORLD.touching(Vec(3.0, 3.0, COURSE.floor - 0.1))
    assert below is not None
    assert (below.gate, below.depth, below.normal) == (None, pytest.approx(0.04), Vec(0.0, 0.0, -1.0))
    block = WORLD.touching(COURSE.blocks[0].centre)
    assert block is not None
    assert block.gate is None
    assert block.depth == pytest.approx(RADIUS + 0.5 * min(COURSE.blocks[0].size.array()))


def test_nothing_is_touched_in_the_open():
    assert WORLD.touching(COURSE.gates[2].centre) is None
    high = COURSE.low
    assert touch(WORLD.solids, WORLD.floor, RADIUS, high.x, high.y, high.z) == (0.0, 0.0, 0.0, 0.0, NOTHING)


@pytest.mark.parametrize("radius", [0.1, 0.14, 0.3])
def test_the_vehicle_rests_on_the_ramp_whatever_its_size(radius):
    course = load_course("vq1")
    world = ContactWorld.of(course, radius)
    down = course.pad.rotation @ Vec(0.0, 0.0, 1.0)
    assert world.touching(course.pad.position - down * 1e-6) is None
    pressed = world.touching(course.pad.position + down * 0.01)
    assert pressed is not None
    assert pressed.depth == pytest.approx(0.01)
    assert pressed.gate is None
    assert (pressed.normal + down).norm() < 1e-9


@given(metre, metre, metre)
def test_compiled_and_plain_kernel_agree_bit_for_bit(x, y, z):
    p = COURSE.gates[0].centre + Vec(x, y, z)
    args = (WORLD.solids, WORLD.floor, RADIUS, p.x, p.y, p.z)
    assert touch(*args) == plain(touch)(*args)


@pytest.mark.parametrize(
    ("place", "normal"),
    [
        ((0.2, 0.0, 1.0), (1.0, 0.0, 0.0)),
        ((0.0, 1.42, 0.0), (0.0, 1.0, 0.0)),
        ((0.0, 0.1, -1.42), (0.0, 0.0, -1.0)),
    ],
)
def test_a_turned_gate_turns_its_normal(place, normal):
    for gate in COURSE.gates:
        contact = WORLD.touching(gate.pose @ Vec(*place))
        assert contact is not None
        assert (contact.normal - gate.ned_from_gate @ Vec(*normal)).norm() < 1e-9
        assert contact.depth == pytest.approx(RADIUS - 0.07)

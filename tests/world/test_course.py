import itertools
import math

import pytest

from racewire.core.errors import ConfigError
from racewire.core.frames import Rot, Vec
from racewire.world.course import load_course
from racewire.world.layout import path_yaw

VQ1 = [
    (-23.298, -0.400, -0.032),
    (-46.894, -2.500, 5.068),
    (-74.594, 1.200, 13.668),
    (-111.494, -5.100, 24.568),
    (-135.494, -0.800, 25.356),
    (-159.194, -4.400, 25.968),
]
VQ2 = [
    (0, 0, 0, 173.6),
    (-16.3, 11.6, 3.2, 150.6),
    (-23.9, 15.0, 2.6, 165.6),
    (-35.2, 8.0, 1.2, 36.4),
    (-51.6, -6.0, 0.4, 39.9),
    (-73.3, -12.3, 0.6, 173.7),
    (-88.2, -10.4, 5.6, 169.0),
    (-103.6, -8.4, 10.9, 87.9),
    (-105.5, 2.6, 10.1, None),
    (-112.1, 15.3, 9.7, 132.4),
    (-122.2, 14.6, 8.8, 11.4),
    (-138.3, 11.3, 5.1, 51.5),
    (-153.8, -0.3, 7.1, None),
    (-163.8, -9.0, 7.9, None),
    (-173.9, -1.9, 8.0, 134.6),
    (-181.9, 9.2, 6.1, 171.0),
    (-202.6, 13.1, 5.5, 174.7),
]


def test_vq1_publishes_the_points_of_the_spec_and_opens_one_metre_ten_above_them():
    gates = load_course("vq1").gates
    assert [(g.published.x, g.published.y, g.published.z) for g in gates] == VQ1
    for gate, (north, east, down) in zip(gates, VQ1, strict=True):
        assert (gate.centre - Vec(north, east, down - 1.1)).norm() < 1e-9


def test_a_gates_sizes_are_those_of_the_spec():
    for gate in (*load_course("vq1").gates, *load_course("vq2").gates):
        assert (gate.outer, gate.inner, gate.depth, gate.published_size) == (2.7, 1.5, 0.26, 2.72)


def test_vq1_is_flown_towards_the_south_from_a_ramp_that_points_down():
    course = load_course("vq1")
    assert (course.pad.position.x, course.pad.position.y, course.pad.position.z) == (-0.0005, 0.0001, 0.0205)
    roll, pitch, yaw = (math.degrees(a) for a in course.pad.rotation.euler())
    assert (roll, pitch, abs(yaw)) == pytest.approx((0.0, -17.8, 180.0), abs=1e-9)
    for gate in course.gates:
        assert (gate.forward - Vec(-1.0, 0.0, 0.0)).norm() < 1e-12


def test_the_published_attitude_is_a_quarter_turn_from_our_pass_direction():
    published = Rot.from_quaternion(0.7071, 0.0, 0.0, 0.7071)
    ours = published @ Rot.from_euler(0.0, 0.0, math.pi / 2.0)
    assert load_course("vq1").gates[0].ned_from_gate.angle_to(ours) < 1e-4


def test_vq2_keeps_the_surveyed_distances_between_opening_centres():
    gates = load_course("vq2").gates
    assert len(gates) == len(VQ2)
    for i, a in enumerate(VQ2):
        for j, b in enumerate(VQ2):
            assert (gates[i].centre - gates[j].centre).norm() == pytest.approx(
                math.dist(a[:3], b[:3]), abs=1e-9
            )
    legs = [math.dist(a[:3], b[:3]) for a, b in itertools.pairwise(VQ2)]
    assert sum(legs) == pytest.approx(250.9, abs=0.5)


def test_vq2_maps_y_to_west_and_z_to_up():
    first, second = load_course("vq2").gates[:2]
    away = second.centre - first.centre
    assert (away.x, away.y, away.z) == pytest.approx((-16.3, -11.6, -3.2))


def test_vq2_gates_have_the_surveyed_yaw_modulo_a_half_turn_and_face_along_the_path():
    course = load_course("vq2")
    path = [course.pad.position, *(gate.centre for gate in course.gates)]
    for i, (gate, (_, _, _, yaw)) in enumerate(zip(course.gates, VQ2, strict=True)):
        level = Vec(gate.forward.x, gate.forward.y, 0.0)
        if yaw is not None:
            surveyed = math.degrees(math.atan2(-level.y, level.x))
            assert math.remainder(surveyed - yaw, 180.0) == pytest.approx(0.0, abs=1e-6)
        assert level.dot(path[i + 1] - path[i]) > 0.0
        if i + 2 < len(path):
            assert level.dot(path[i + 2] - path[i + 1]) > 0.0


def test_a_missing_yaw_is_the_bisector_of_the_path():
    gate = load_course("vq2").gates[8]  # in along (-1.9, 11.0), out along (-6.6, 12.7)
    bearing = 0.5 * (math.atan2(11.0, -1.9) + math.atan2(12.7, -6.6))
    assert math.remainder(gate.ned_from_gate.euler()[2] + bearing, 2.0 * math.pi) == pytest.approx(
        0.0, abs=1e-9
    )


def test_only_gate_nine_of_vq2_is_tilted():
    for gate in load_course("vq2").gates:
        up = gate.ned_from_gate @ Vec(0.0, 0.0, -1.0)
        tilt = math.degrees(math.acos(max(-1.0, up.z) * -1.0))
        assert tilt == pytest.approx(21.0 if gate.gate_id == 9 else 0.0, abs=1e-5)


def test_vq2_starts_ten_metres_seventy_before_gate_0_which_it_faces():
    course = load_course("vq2")
    way = course.gates[0].centre - course.pad.position
    assert math.hypot(way.x, way.y) == pytest.approx(10.7)
    ahead = course.pad.rotation @ Vec(1.0, 0.0, 0.0)
    assert math.atan2(ahead.y, ahead.x) == pytest.approx(math.atan2(way.y, way.x) % (2 * math.pi), abs=1e-9)


def test_both_have_the_time_limit_of_the_rules():
    assert load_course("vq1").time_limit_s == load_course("vq2").time_limit_s == 8 * 60


def test_the_last_point_of_a_path_faces_the_way_it_was_reached():
    points = (Vec(0.0, 0.0, 0.0), Vec(1.0, 0.0, 0.0), Vec(1.0, 2.0, 5.0))
    assert path_yaw(points, 1) == pytest.approx(math.radians(45.0))
    assert path_yaw(points, 2) == pytest.approx(math.radians(90.0))


def test_a_seed_names_a_random_course():
    assert load_course("random:12").name == "random:12"
    with pytest.raises(ConfigError, match="seed must be a whole number"):
        load_course("random:-1")


def test_an_unknown_name_lists_the_names():
    with pytest.raises(ConfigError, match=r"no course 'vq3': choose vq1, vq2, random:SEED or a \.toml file"):
        load_course("vq3")


def test_a_missing_file_is_named():
    with pytest.raises(ConfigError, match=r"nowhere\.toml: No such file"):
        load_course("nowhere.toml")

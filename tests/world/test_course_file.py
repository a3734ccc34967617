import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racewire.core.errors import ConfigError
from racewire.core.frames import Pose, Rot, Vec
from racewire.world.course_file import read_course, rotation_deg, save_course
from racewire.world.layout import Block, Course, CourseGate

HEAD = """
name = "mine"
look = "vq1"
floor = 10.0
low = [-100.0, -50.0, -20.0]
high = [20.0, 50.0, 10.0]

[pad]
position = [0.0, 0.0, 0.0]
pitch_deg = -17.8
yaw_deg = 180.0

[gate]
lift = 1.1
"""
GATES = [
    "id = 0\nposition = [-20.0, 0.0, 0.0]\nyaw_deg = 180.0",
    "id = 1\nposition = [-40.0, 3.0, 1.0]\nyaw_deg = 175.0",
    "id = 2\nposition = [-60.0, 0.0, 2.0]",
]


def written(tmp_path, head=HEAD, gates=GATES):
    path = tmp_path / "mine.toml"
    path.write_text(head + "".join(f"\n[[gates]]\n{gate}\n" for gate in gates))
    return path


def replaced(index, old, new):
    return [gate.replace(old, new) if i == index else gate for i, gate in enumerate(GATES)]


def fault(tmp_path, **kwargs):
    with pytest.raises(ConfigError) as caught:
        read_course(written(tmp_path, **kwargs), where="mine.toml")
    return str(caught.value)


def test_a_course_is_read(tmp_path):
    course = read_course(written(tmp_path))
    assert [gate.lift for gate in course.gates] == [1.1] * 3
    assert course.gates[2].ned_from_gate.euler()[2] == pytest.approx(math.atan2(-3.0, -20.0))


def test_errors_name_file_gate_and_field(tmp_path):
    gates = replaced(1, "175.0", "'x'")
    assert fault(tmp_path, gates=gates) == "mine.toml: gate 1: yaw_deg: must be a number, not 'x'"
    gates = replaced(2, "[-60.0, 0.0, 2.0]", "[-60.0, 0.0]")
    assert (
        fault(tmp_path, gates=gates) == "mine.toml: gate 2: position: must be a list of 3, not [-60.0, 0.0]"
    )
    gates = replaced(0, "0.0, 0.0]", "nan, 0.0]")
    assert fault(tmp_path, gates=gates) == "mine.toml: gate 0: position[1]: must be a finite number, not nan"


def test_an_unknown_key_names_the_nearest_valid_one(tmp_path):
    gates = replaced(1, "yaw_deg", "yaw_degs")
    assert (
        fault(tmp_path, gates=gates) == "mine.toml: gate 1: unknown key 'yaw_degs'; did you mean 'yaw_deg'?"
    )
    head = HEAD.replace("floor", "flor")
    assert fault(tmp_path, head=head) == "mine.toml: unknown key 'flor'; did you mean 'floor'?"


def test_gates_stand_in_order(tmp_path):
    gates = [GATES[0], GATES[2], GATES[1]]
    assert fault(tmp_path, gates=gates).startswith("mine.toml: gate 1: id: must be 1, not 2")


def test_there_is_a_gate(tmp_path):
    assert "at least one" in fault(tmp_path, gates=[])
    assert "at least one" in fault(tmp_path, head="gates = 3\n" + HEAD, gates=[])
    assert "gate 0: must be a table" in fault(tmp_path, head="gates = [3]\n" + HEAD, gates=[])


def test_what_cannot_be_flown_is_refused(tmp_path):
    assert "gate 0: outer" in fault(tmp_path, gates=replaced(0, "yaw_deg", "outer = -1.0\nyaw_deg"))
    said = fault(tmp_path, gates=replaced(0, "yaw_deg", "inner = 2.7\nyaw_deg"))
    assert said == "mine.toml: gate 0: inner: must be less than outer (2.7), not 2.7"
    assert "gate 1: position: its frame reaches below the floor" in fault(
        tmp_path, gates=replaced(1, "3.0, 1.0", "3.0, 9.8")
    )
    assert "gate 1: position: its frame reaches out of the flight volume" in fault(
        tmp_path, gates=replaced(1, "3.0, 1.0", "49.0, 1.0")
    )
    assert fault(tmp_path, gates=replaced(1, "-40.0, 3.0, 1.0", "-20.1, 1.0, 0.0")) == (
        "mine.toml: gate 1: position: overlaps gate 0"
    )
    assert "gate 0: position: overlaps the pad" in fault(tmp_path, gates=replaced(0, "-20.0", "-0.4"))
    assert "pad: position" in fault(tmp_path, head=HEAD.replace("[0.0, 0.0, 0.0]", "[0.0, 0.0, 11.0]"))
    assert "low: must be less than high along y" in fault(tmp_path, head=HEAD.replace("-50.0", "50.0"))
    block = "blocks = [ { centre = [-40.0, 4.0, 0.0], size = [1.0, 1.0, 1.0] } ]\n"
    assert "blocks[0]: overlaps gate 1" in fault(tmp_path, head=block + HEAD)


def test_a_gate_may_differ_from_the_rest(tmp_path):
    gate = read_course(written(tmp_path, gates=replaced(1, "id", "lift = 0.0\ninner = 1.2\nid"))).gates[1]
    assert (gate.lift, gate.inner, gate.outer) == (0.0, 1.2, 2.7)


def test_a_map_turns_its_axes_and_takes_the_direction_along_the_path(tmp_path):
    head = HEAD.replace("1.1", "0.0") + "\n[map]\norigin = [-1.0, 2.0, 3.0]\n"
    gates = ["id = 0\nposition = [-20.0, 1.0, 4.0]\nyaw_deg = 10.0"]
    gate = read_course(written(tmp_path, head=head, gates=gates)).gates[0]
    assert gate.centre == Vec(-21.0, 1.0, -1.0)
    assert math.degrees(gate.ned_from_gate.euler()[2]) == pytest.approx(170.0)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    course = read_course(written(tmp_path))
    with pytest.raises(ConfigError, match=r"none/x\.toml"):
        save_course(course, tmp_path / "none" / "x.toml")


angle = st.integers(-179_999, 180_000).map(lambda millidegrees: millidegrees / 1000.0)
slant = st.integers(-80_000, 80_000).map(lambda millidegrees: millidegrees / 1000.0)
metre = st.floats(-40.0, 40.0)


@settings(max_examples=40)
@given(st.text(), angle, slant, angle, metre, metre, st.floats(0.0, 2.0), angle)
def test_saving_and_reading_gives_the_same_bits(tmp_path_factory, name, yaw, pitch, roll, x, y, lift, turn):
    gates = (
        CourseGate(0, Vec(x + 100.0, y, 0.0), rotation_deg(0.0, 0.0, yaw), lift),
        CourseGate(1, Vec(x - 100.0, y, 0.1), rotation_deg(roll, pitch, yaw), 1.1, inner=1.3),
    )
    course = Course(
        name=name,
        look='a "quoted" \\ look',
        gates=gates,
        pad=Pose(Vec(0.5, 90.0, 0.0), rotation_deg(0.0, -17.8, yaw)),
        floor=20.0,
        low=Vec(-200.0, -100.0, -20.0),
        high=Vec(200.0, 100.0, 20.0),
        blocks=(Block(Vec(0.0, y, 10.0), Vec(1.0, 2.0, 0.1), math.radians(turn)),),
        time_limit_s=33.3,
        limit_s=5.25,
    )
    path = tmp_path_factory.mktemp("courses") / "c.toml"
    save_course(course, path)
    assert read_course(path) == course


def test_any_attitude_is_kept_to_a_billionth_of_a_degree(tmp_path):
    course = read_course(written(tmp_path))
    odd = Rot.from_quaternion(0.3, -0.1, 0.2, 0.9)
    gates = (*course.gates[:2], CourseGate(2, Vec(-60.0, 0.0, 2.0), odd, 0.0))
    path = tmp_path / "odd.toml"
    save_course(Course("odd", "vq1", gates, course.pad, course.floor, course.low, course.high), path)
    assert read_course(path).gates[2].ned_from_gate.angle_to(odd) < 1e-10

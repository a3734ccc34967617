"""A short straight course over a floor, for every test of the simulator."""

import pytest

from racewire.core.frames import Pose, Vec
from racewire.world.course_file import rotation_deg
from racewire.world.layout import Course, CourseGate

FLOOR = 8.0


@pytest.fixture(scope="session")
def course():
    """Three gates due north of a pad with the published tilt, 10 m apart, over a floor 8 m down."""
    level = rotation_deg(0.0, 0.0, 0.0)
    return Course(
        name="straight",
        look="vq1",
        gates=tuple(CourseGate(i, Vec(10.0 * (i + 1), 0.0, 0.0), level, 0.0) for i in range(3)),
        pad=Pose(Vec(0.0, 0.0, 0.0), rotation_deg(0.0, -17.8, 0.0)),
        floor=FLOOR,
        low=Vec(-50.0, -30.0, -20.0),
        high=Vec(80.0, 30.0, FLOOR),
        time_limit_s=30.0,
    )

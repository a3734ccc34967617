import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Vec
from racewire.pilots.airframe import Airframe


def airframe(**changed):
    values = {
        "thrust_command": (0.0, 0.2, 1.0),
        "thrust_accel": (0.5, 6.0, 50.0),
        "drag": (0.05, 0.04, 0.03),
        "lift": 0.01,
        "rate_delay_ms": 10.0,
        "largest_rate": 10.0,
        "largest_force": 100.0,
    }
    return Airframe(**{**values, **changed})


@given(st.floats(0.35, 52.0))
def test_the_thrust_curve_is_inverted(params, accel):
    frame = params.airframe
    command = frame.thrust_for(accel)
    assert np.interp(command, frame.thrust_command, frame.thrust_accel) == pytest.approx(accel, abs=1e-9)


def test_thrust_beyond_the_curve_is_its_end():
    assert airframe().thrust_for(-5.0) == 0.0
    assert airframe().thrust_for(500.0) == 1.0


def test_the_air_pushes_back_and_lifts():
    force = airframe().air_force(Vec(10.0, -10.0, 10.0))
    assert force.x == pytest.approx(-5.0)
    assert force.y == pytest.approx(4.0)
    assert force.z == pytest.approx(-3.0 - 1.0)


@pytest.mark.parametrize(
    "changed",
    [
        {"thrust_accel": (0.5, 6.0)},
        {"thrust_accel": (0.5, 0.5, 1.0)},
        {"thrust_command": (0.0, 0.0, 1.0)},
        {"thrust_command": (0.0,), "thrust_accel": (1.0,)},
    ],
)
def test_a_table_that_cannot_be_inverted_is_refused(changed):
    with pytest.raises(ValueError, match="thrust"):
        airframe(**changed)

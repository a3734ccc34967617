"""The rate curve: the published points, and its inverse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.wires.profile import load_profile
from racewire.wires.rate_curve import RateCurve

COMMANDS = load_profile("3364-vq1").commands
curves = st.sampled_from(COMMANDS.curves)


@pytest.mark.parametrize(
    ("stick", "rate"), [(0.4, 0.96), (1.0, 2.55), (1.5, 4.005), (0.1, 0.24), (0.7, 0.7 * 2.475), (4.0, 10.68)]
)
def test_roll_and_pitch_have_the_measured_gains(stick, rate):
    assert COMMANDS.roll.rate(stick) == pytest.approx(rate)
    assert COMMANDS.pitch.rate(-stick) == pytest.approx(-rate)


def test_yaw_turns_085_for_040():
    assert COMMANDS.yaw.rate(0.4) == pytest.approx(0.85)


def test_rates_saturate():
    assert [curve.rate(50.0) for curve in COMMANDS.curves] == [29.2, 29.2, 19.5]
    assert [curve.rate(-50.0) for curve in COMMANDS.curves] == [-29.2, -29.2, -19.5]
    assert COMMANDS.roll.rate(COMMANDS.roll.stick(1000.0)) == pytest.approx(29.2)


@given(curve=curves, rate=st.floats(-19.4, 19.4))
def test_the_stick_for_a_rate_asks_for_that_rate(curve, rate):
    assert curve.rate(curve.stick(rate)) == pytest.approx(rate, abs=1e-12)


@given(curve=curves, a=st.floats(-60.0, 60.0), b=st.floats(-60.0, 60.0))
def test_more_stick_is_never_less_rate(curve, a, b):
    assert (a - b) * (curve.rate(a) - curve.rate(b)) >= 0.0


@pytest.mark.parametrize(
    ("knots", "saturation"),
    [((), 1.0), (((0.4, 2.4),), 0.0), (((1.0, 2.0), (0.5, 3.0)), 9.0), (((1.0, 9.0), (1.1, 1.0)), 9.0)],
)
def test_a_curve_that_does_not_rise_is_refused(knots, saturation):
    with pytest.raises(ValueError, match="rate"):
        RateCurve(knots, saturation)


def test_a_curve_with_a_falling_gain_still_has_its_inverse():
    curve = RateCurve(((1.0, 3.0), (2.0, 2.2)), 9.0)
    assert curve.rate(curve.stick(3.6)) == pytest.approx(3.6)

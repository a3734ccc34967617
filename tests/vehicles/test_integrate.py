from hypothesis import given
from hypothesis import strategies as st

from racewire.vehicles.integrate import plan_substeps


@given(st.floats(1e-6, 1.0), st.floats(1e-4, 0.1))
def test_parts_are_the_fewest_that_are_short_enough(dt, dt_max):
    n = plan_substeps(dt, dt_max)
    assert n >= 1
    assert dt / n <= dt_max * (1.0 + 1e-8)
    assert n == 1 or dt / (n - 1) > dt_max


def test_a_quotient_off_by_a_bit_makes_no_extra_part():
    assert plan_substeps(0.3, 0.1) == 3  # 0.3 / 0.1 is just below 3
    assert plan_substeps(0.7, 0.1) == 7  # and 0.7 / 0.1 just below 7
    assert plan_substeps(0.07, 0.01) == 7  # but 0.07 / 0.01 just above 7
    assert plan_substeps(1.0 / 120.0, 0.002) == 5

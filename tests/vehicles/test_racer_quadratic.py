"""The thrust law of seed 001, a_T = 139.7 command^2, as a vehicle of its own."""

import dataclasses

import numpy as np
import pytest

from racewire.vehicles.quad_params import pack, read_params, thrust_of


@pytest.mark.parametrize("command", [0.0, 0.05, 0.1, 0.265, 0.333, 0.5, 0.777, 1.0])
def test_the_thrust_is_quadratic(command):
    thrust = thrust_of(pack(read_params("racer_quadratic")), command)
    assert thrust == pytest.approx(139.7 * command**2, abs=0.004)


def test_it_hovers_at_0_265():
    numbers = pack(read_params("racer_quadratic"))
    hover = np.interp(9.81, [thrust_of(numbers, c) for c in (0.26, 0.265, 0.27)], (0.26, 0.265, 0.27))
    assert hover == pytest.approx(0.265, abs=0.0005)


def test_all_else_is_the_racers():
    quadratic, racer = (dataclasses.asdict(read_params(name)) for name in ("racer_quadratic", "racer"))
    assert {key for key in racer if racer[key] != quadratic[key]} == {"thrust_curve"}

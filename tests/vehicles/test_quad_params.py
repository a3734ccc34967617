import dataclasses
import itertools
import math

import numpy as np
import pytest

from racewire.core.config import parse
from racewire.core.errors import ConfigError
from racewire.vehicles.quad_params import PLANT_SIZE, QuadParams, load_plant, pack, read_params, thrust_of

MEASURED = [  # spec aigp.md, section 5: command, lowest and highest published T/m
    (0.0, 0.35, 0.35), (0.05, 0.76, 0.76), (0.10, 2.3, 3.2), (0.15, 4.24, 4.24), (0.20, 6.33, 6.33),
    (0.265, 9.4, 9.5), (0.313, 12.06, 12.06), (0.362, 14.8, 14.8), (0.40, 17.7, 17.7), (0.50, 25.8, 25.8),
    (0.60, 34.0, 34.0), (0.66, 38.8, 38.8), (0.72, 42.7, 42.7), (0.80, 46.0, 47.5), (1.0, 52.0, 52.0),
]  # fmt: skip


@pytest.fixture(scope="module")
def params():
    return read_params("racer")


@pytest.mark.parametrize(("command", "low", "high"), MEASURED)
def test_thrust_curve_is_the_measured_one(params, command, low, high):
    # 0.265 excepted: its 9.4 to 9.5 contradict the measured hover at 0.266, by 3 %
    slack = 0.04 * high if command == 0.265 else 1e-9
    assert low - slack <= thrust_of(pack(params), command) <= high + slack


def test_thrust_curve_is_straight_between_its_knots_and_rises(params):
    numbers = pack(params)
    assert thrust_of(numbers, 0.45) == pytest.approx(0.5 * (17.7 + 25.8))
    assert thrust_of(numbers, 0.9) == pytest.approx(0.5 * (47.0 + 52.0))
    values = [thrust_of(numbers, c) for c in np.linspace(0.0, 1.0, 1001)]
    assert all(a < b for a, b in itertools.pairwise(values))


def test_local_slope_at_hover_is_as_published(params):
    numbers = pack(params)
    slope = (thrust_of(numbers, 0.29) - thrust_of(numbers, 0.24)) / 0.05
    assert slope == pytest.approx(53.0, rel=0.07)


def test_the_kernels_get_the_numbers_of_the_file(params):
    plant = load_plant(pack(params))
    assert len(plant) == PLANT_SIZE
    assert (plant.drag_x, plant.drag_y, plant.drag_rising) == params.drag
    assert (plant.drag_sinking, plant.lift) == (params.drag_sinking, params.lift)
    assert plant.rate_bandwidth == 1.0 / params.rate_lag
    assert (plant.accel_p, plant.accel_q, plant.accel_r) == params.angular_acceleration_limit
    assert (plant.thrust_delay_ns, plant.rate_delay_ns) == (15e6, 10e6)
    assert (plant.gain_p, plant.gain_q, plant.gain_r) == params.rate_gain
    assert (plant.limit_p, plant.limit_q, plant.limit_r) == params.rate_limit
    assert (plant.friction, plant.slow, plant.dt_max) == (params.friction, params.slow, params.dt_max)


def test_the_file_has_the_published_limits(params):
    assert params.angular_acceleration_limit == (902.0, 946.0, 398.0)
    assert params.rate_limit == (29.2, 29.2, 19.5)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"mass": 0.0}, "mass"),
        ({"drag": (-0.1, 0.05, 0.05)}, "drag"),
        ({"drag": (0.05, 0.05, 0.0)}, "drag"),
        ({"rate_limit": (1.0, 0.0, 1.0)}, "limits"),
        ({"dt_max": 0.1}, "dt_max"),
        ({"thrust_curve": ((0.0, 0.0), (0.5, 9.81))}, "thrust_curve"),
        ({"thrust_curve": ((0.0, 0.0), (0.6, 9.0), (0.5, 8.0), (1.0, 20.0))}, "thrust_curve"),
        ({"thrust_curve": ((0.0, -1.0), (1.0, 20.0))}, "thrust_curve"),
        ({"lift": 0.5}, "lift"),
    ],
)
def test_what_cannot_fly_is_refused_by_name(params, change, says):
    with pytest.raises(ValueError, match=says):
        dataclasses.replace(params, **change)


def test_a_bad_file_names_itself_and_the_key(params):
    data = dataclasses.asdict(params)
    with pytest.raises(ConfigError, match=r"my\.toml: unknown key 'masss'"):
        parse(QuadParams, data | {"masss": 1.0}, "my.toml")
    with pytest.raises(ConfigError, match=r"my\.toml: dt_max must not exceed"):
        parse(QuadParams, data | {"dt_max": 1.0}, "my.toml")
    with pytest.raises(ConfigError, match=r"nothing\.toml"):
        read_params("nothing")


def test_lift_at_its_bound_is_the_worst_that_drag_dissipates(params):
    # at body velocity (u, 0, -w) the power of lift is lift u^2 w, of drag -kx u^3 - kz w^3
    kx, kz = params.drag[0], params.drag[2]
    bound = (1.5 * kx * math.sqrt(3.0 * kz)) ** (2.0 / 3.0)
    dataclasses.replace(params, lift=0.999 * bound)
    with pytest.raises(ValueError, match="lift"):
        dataclasses.replace(params, lift=1.001 * bound)
    power = [bound * w - kx - kz * w**3 for w in np.linspace(0.0, 5.0, 10001)]
    assert max(power) == pytest.approx(0.0, abs=1e-6)

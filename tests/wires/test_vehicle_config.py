"""What a profile may say about its vehicle."""

import dataclasses

import pytest

from racewire.wires.profile import load_profile
from racewire.wires.vehicle_config import Parameter

GOOD = {"name": "A", "type": "int32", "value": 2.0, "lowest": 0.0, "highest": 9.0}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"name": ""}, "1 to 16 ASCII letters"),
        ({"name": "A" * 17}, "1 to 16 ASCII letters"),
        ({"type": "int64"}, "not one of"),
        ({"value": 2.5}, "not a int32"),
        ({"value": 10.0}, "in its range"),
        ({"value": float("nan"), "type": "real32"}, "in its range"),
        ({"value": 2.0**31, "highest": 1e12}, "not a int32"),
    ],
)
def test_a_parameter_that_cannot_be_sent_is_refused(change, text):
    Parameter(**GOOD)
    with pytest.raises(ValueError, match=text):
        Parameter(**{**GOOD, **change})


def test_the_profile_for_tools_names_the_parameters_that_act():
    config = load_profile("general").vehicle
    names = [parameter.name for parameter in config.parameters]
    assert {*config.rates_max, config.thrust_max, config.imu_every} == set(names)
    with pytest.raises(ValueError, match=f"{names[0]} is missing"):
        dataclasses.replace(config, parameters=config.parameters[1:])
    with pytest.raises(ValueError, match="stands twice"):
        dataclasses.replace(config, parameters=config.parameters * 2)
    with pytest.raises(ValueError, match="hold_mode"):
        dataclasses.replace(config, hold_mode=7)

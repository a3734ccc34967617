"""What a vehicle tells general MAVLink tools about itself, as data of a build profile.

Parameters have PX4's names where PX4 has one that means the same. Source: spec firmware.md, section 5.1.
"""

from dataclasses import dataclass

TYPES = {"int32": 6, "real32": 9}
"""MAV_PARAM_TYPE of each type of parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter: its name, type, value at the start, and range; equal ends make it read-only."""

    name: str
    type: str
    value: float
    lowest: float
    highest: float

    def __post_init__(self) -> None:
        """Check that it can be sent.

        Raises
        ------
        ValueError
            If the name is longer than 16 letters, the type unknown, or the value not of it or out of range.
        """
        if not 1 <= len(self.name) <= 16 or not self.name.isascii():
            message = f"parameter '{self.name}': a name has 1 to 16 ASCII letters"
            raise ValueError(message)
        if self.type not in TYPES:
            message = f"parameter {self.name}: type '{self.type}' is not one of {tuple(TYPES)}"
            raise ValueError(message)
        if not self.allows(self.value):
            message = f"parameter {self.name}: {self.value} is not a {self.type} in its range"
            raise ValueError(message)

    def allows(self, value: float) -> bool:
        """Say whether `value` is of the type and in the range; NaN never is."""
        if not self.lowest <= value <= self.highest:
            return False
        return self.type == "real32" or (float(value).is_integer() and abs(value) < 2**31)


@dataclass(frozen=True, slots=True, kw_only=True)
class VehicleConfig:
    """The vehicle: where its local origin lies on the globe, versions, modes and parameters.

    Angles in degrees, WGS84; altitude above mean sea level, m. `version` is major, minor, patch and 255
    for a release. Modes are PX4's custom modes; the vehicle begins in the first. `rates_max` (roll, pitch,
    yaw; deg/s), `thrust_max` and `imu_every` name the parameters that have an effect here.
    """

    latitude_deg: float
    longitude_deg: float
    altitude: float
    satellites: int
    capabilities: int
    version: tuple[int, int, int, int]
    vendor: int
    product: int
    uid: int
    modes: tuple[int, ...]
    hold_mode: int
    rates_max: tuple[str, str, str]
    thrust_max: str
    imu_every: str
    parameters: tuple[Parameter, ...]

    def __post_init__(self) -> None:
        """Check that the parameters fit.

        Raises
        ------
        ValueError
            If a name stands twice, or a parameter or mode that has an effect is missing.
        """
        if self.hold_mode not in self.modes:
            message = f"hold_mode {self.hold_mode} is not one of the modes"
            raise ValueError(message)
        names = [parameter.name for parameter in self.parameters]
        if len(set(names)) != len(names):
            message = "parameters: a name stands twice"
            raise ValueError(message)
        for name in (*self.rates_max, self.thrust_max, self.imu_every):
            if name not in names:
                message = f"parameters: {name} is missing"
                raise ValueError(message)

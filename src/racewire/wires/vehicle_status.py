"""What a vehicle says of itself to general MAVLink tools, beside its telemetry.

With every heartbeat: health, landed state, home and the receiver's fix; with every local position the
global one. There is no receiver and no globe here: the local origin is given a place on it, and
positions are projected on the tangent plane, which is a millimetre off at 100 m. Units of the fields
are MAVLink's (1e-7 deg, mm, cm/s). Source: spec firmware.md, section 5.1.
"""

import math

from racewire.core.clock import NS_PER_US
from racewire.core.messages import Heartbeat, LocalPosition
from racewire.wires import telemetry
from racewire.wires.mavlink import Codec
from racewire.wires.profile import BuildProfile
from racewire.wires.vehicle_config import VehicleConfig

AUTOPILOT_VERSION, HOME_POSITION, EXTENDED_SYS_STATE, SYS_STATUS = 148, 242, 245, 1

_EARTH_RADIUS = 6_378_137.0  # m
_HEALTHY = 0x01 | 0x02 | 0x04 | 0x20  # gyro, accelerometer, magnetometer, GPS: what tools wait for
_NO_FENCE = 1 << 20  # a geofence that is not there is not breached, whatever a tool thinks of it
_FIX_3D = 3
_ON_GROUND, _IN_AIR = 1, 2
_UNKNOWN_16, _UNKNOWN_SIGNED = 65_535, -1
_STANDING = 0.3  # m and m/s: nearer the place it was put, and slower, it has not taken off
_NO_HEADING = 65_535


class VehicleStatus:
    """The sentences; remembers where the vehicle is, where it was put, and its mode."""

    def __init__(self, profile: BuildProfile, config: VehicleConfig, codec: Codec) -> None:
        self._profile = profile
        self._config = config
        self._codec = codec
        self._at: LocalPosition | None = None
        self._put: LocalPosition | None = None
        self.mode = config.modes[0]

    def beat(self, message: Heartbeat) -> list[bytes]:
        """Return the heartbeat and what goes with it."""
        identity = self._profile.identity
        if not message.armed:
            self._put = self._at
        heartbeat = self._codec.encode(
            "heartbeat",
            type=identity.vehicle_type,
            autopilot=identity.autopilot,
            base_mode=identity.armed_mode if message.armed else identity.disarmed_mode,
            custom_mode=self.mode,
            system_status=identity.armed_status if message.armed else identity.disarmed_status,
            mavlink_version=3,
        )
        told = (SYS_STATUS, EXTENDED_SYS_STATE, HOME_POSITION)
        return [heartbeat, *(self.message(number) or b"" for number in told), self._receiver(message)]

    def moved(self, message: LocalPosition) -> list[bytes]:
        """Return the local position and the global one."""
        self._at = message
        latitude, longitude, altitude = self._globe(message)
        v = message.velocity
        position = self._codec.encode(
            "global_position_int",
            time_boot_ms=telemetry.stamp_ms(message.t_ns),
            lat=latitude,
            lon=longitude,
            alt=altitude,
            relative_alt=_clamped(-1e3 * message.position.z, 2**31),
            vx=_clamped(1e2 * v.x, 2**15),
            vy=_clamped(1e2 * v.y, 2**15),
            vz=_clamped(1e2 * v.z, 2**15),
            hdg=_NO_HEADING,
        )
        local = telemetry.write(message, self._profile, self._codec)
        return [*([local] if local else []), position]

    def message(self, number: int) -> bytes | None:
        """Return the message of that number as it stands now, None if it is not one on request."""
        match number:
            case 148:  # AUTOPILOT_VERSION
                return self._version()
            case 242:  # HOME_POSITION
                return self._home()
            case 245:  # EXTENDED_SYS_STATE
                landed = _ON_GROUND if self._standing() else _IN_AIR
                return self._codec.encode("extended_sys_state", vtol_state=0, landed_state=landed)
            case 1:  # SYS_STATUS
                return self._health()
            case 49:  # GPS_GLOBAL_ORIGIN
                latitude, longitude, altitude = self._globe(None)
                return self._codec.encode(
                    "gps_global_origin", latitude=latitude, longitude=longitude, altitude=altitude
                )
            case _:
                return None

    def _standing(self) -> bool:
        at, put = self._at, self._put
        if at is None or put is None:
            return True
        return max((at.position - put.position).norm(), at.velocity.norm()) < _STANDING

    def _version(self) -> bytes:
        c = self._config
        major, minor, patch, kind = c.version
        return self._codec.encode(
            "autopilot_version",
            capabilities=c.capabilities,
            flight_sw_version=major << 24 | minor << 16 | patch << 8 | kind,
            middleware_sw_version=0,
            os_sw_version=0,
            board_version=0,
            flight_custom_version=[0] * 8,
            middleware_custom_version=[0] * 8,
            os_custom_version=[0] * 8,
            vendor_id=c.vendor,
            product_id=c.product,
            uid=c.uid,
        )

    def _home(self) -> bytes:
        latitude, longitude, altitude = self._globe(None)
        return self._codec.encode(
            "home_position",
            latitude=latitude,
            longitude=longitude,
            altitude=altitude,
            x=0.0,
            y=0.0,
            z=0.0,
            q=[1.0, 0.0, 0.0, 0.0],
            approach_x=0.0,
            approach_y=0.0,
            approach_z=0.0,
        )

    def _health(self) -> bytes:
        return self._codec.encode(
            "sys_status",
            onboard_control_sensors_present=_HEALTHY,
            onboard_control_sensors_enabled=_HEALTHY,
            onboard_control_sensors_health=_HEALTHY | _NO_FENCE,
            load=0,
            voltage_battery=_UNKNOWN_16,
            current_battery=_UNKNOWN_SIGNED,
            battery_remaining=_UNKNOWN_SIGNED,
            drop_rate_comm=0,
            errors_comm=0,
            errors_count1=0,
            errors_count2=0,
            errors_count3=0,
            errors_count4=0,
        )

    def _receiver(self, message: Heartbeat) -> bytes:
        latitude, longitude, altitude = self._globe(self._at)
        return self._codec.encode(
            "gps_raw_int",
            time_usec=message.t_ns // NS_PER_US,
            fix_type=_FIX_3D,
            lat=latitude,
            lon=longitude,
            alt=altitude,
            eph=_UNKNOWN_16,
            epv=_UNKNOWN_16,
            vel=_UNKNOWN_16,
            cog=_UNKNOWN_16,
            satellites_visible=self._config.satellites,
        )

    def _globe(self, at: LocalPosition | None) -> tuple[int, int, int]:
        """Return latitude, longitude (1e-7 deg) and altitude (mm) of a position, or of the origin."""
        c = self._config
        north, east, down = (0.0, 0.0, 0.0) if at is None else (at.position.x, at.position.y, at.position.z)
        parallel = _EARTH_RADIUS * math.cos(math.radians(c.latitude_deg))
        latitude = c.latitude_deg + math.degrees(north / _EARTH_RADIUS)
        longitude = c.longitude_deg + math.degrees(east / parallel)
        return (
            _clamped(1e7 * latitude, 2**31),
            _clamped(1e7 * longitude, 2**31),
            _clamped(1e3 * (c.altitude - down), 2**31),
        )


def _clamped(value: float, limit: int) -> int:
    return max(-limit, min(limit - 1, round(value))) if math.isfinite(value) else 0

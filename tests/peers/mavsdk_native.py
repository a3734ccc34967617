"""A MAVSDK 4 client (native, no server): what it saw of a vehicle, as JSON on the last line.

Usage: python mavsdk_native.py URL. Reads versions and parameters, changes some, arms, and holds offboard
body rates; run by test_tools.py in a process of its own.
"""

import json
import sys
import time

from mavsdk import ComponentType, Configuration, Mavsdk
from mavsdk.plugins.action import Action
from mavsdk.plugins.info import Info
from mavsdk.plugins.offboard import Attitude, AttitudeRate, Offboard
from mavsdk.plugins.param import Param
from mavsdk.plugins.telemetry import Telemetry


def settled(read, wanted, seconds=10.0):
    """Return the first reading that is as wanted, or the last one."""
    end = time.monotonic() + seconds
    while not wanted(value := read()) and time.monotonic() < end:
        time.sleep(0.05)
    return value


def main(url):
    seen = {}
    with Mavsdk(Configuration.create_with_component_type(ComponentType.GROUND_STATION)) as mavsdk:
        mavsdk.add_any_connection(url)
        vehicle = mavsdk.first_autopilot(timeout_s=20.0)
        if vehicle is None:
            return {"connected": False}
        seen["connected"] = vehicle.is_connected()
        param, action = Param(vehicle), Action(vehicle)
        offboard, telemetry = Offboard(vehicle), Telemetry(vehicle)
        seen["version"] = str(Info(vehicle).get_version().flight_sw_major)
        every = param.get_all_params()
        seen["ints"] = {p.name: p.value for p in every.int_params}
        seen["floats"] = {p.name: p.value for p in every.float_params}
        param.set_param_float("MC_ROLLRATE_MAX", 30.0)
        param.set_param_int("RW_IMU_EVERY", 2)
        seen["changed"] = [param.get_param_float("MC_ROLLRATE_MAX"), param.get_param_int("RW_IMU_EVERY")]
        seen["healthy"] = settled(telemetry.health_all_ok, bool)
        home = settled(telemetry.home, lambda at: at.latitude_deg == at.latitude_deg)
        seen["home"] = [home.latitude_deg, home.longitude_deg]
        offboard.set_attitude_rate(AttitudeRate(0.0, 0.0, 0.0, 0.0))
        action.arm()
        seen["armed"] = settled(telemetry.armed, bool)
        offboard.start()
        seen["offboard"] = offboard.is_active()
        seen["mode"] = str(settled(telemetry.flight_mode, lambda mode: "OFFBOARD" in str(mode)))
        offboard.set_attitude_rate(AttitudeRate(0.0, 0.0, 0.0, 0.4))  # clear of the pad first
        time.sleep(0.5)
        offboard.set_attitude_rate(AttitudeRate(90.0, 0.0, -20.0, 0.27))
        time.sleep(0.4)
        rates = telemetry.attitude_angular_velocity_body()
        seen["rates"] = [rates.roll_rad_s, rates.pitch_rad_s, rates.yaw_rad_s]
        offboard.set_attitude(Attitude(-20.0, 10.0, 90.0, 0.27))
        time.sleep(1.2)
        angles = telemetry.attitude_euler()
        seen["angles"] = [angles.roll_deg, angles.pitch_deg, angles.yaw_deg]
        offboard.stop()
        action.disarm()
        seen["disarmed"] = not settled(telemetry.armed, lambda armed: not armed)
    return seen


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))

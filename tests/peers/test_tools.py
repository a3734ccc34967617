"""General MAVLink tools against the `general` profile: pymavlink, MAVSDK and MAVProxy.

The last two run from the Python that RACEWIRE_TOOLS_PYTHON names, or else from this one; without the
package there the test is skipped. MAVProxy is only ever run as a program (GPL).
"""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pymavlink import mavutil

TOOLS = os.environ.get("RACEWIRE_TOOLS_PYTHON", sys.executable)
NATIVE = Path(__file__).with_name("mavsdk_native.py")


def lacks(module, attribute="__name__"):
    """Say whether the tools' Python lacks a module, or an attribute of it."""
    probe = f"import {module}; {module}.{attribute}"
    return subprocess.run([TOOLS, "-c", probe], capture_output=True, check=False).returncode != 0


def test_pymavlink_connects_to_the_fixed_port_reads_parameters_and_flies(serve_sim):
    base = serve_sim("--build", "general").base
    link = mavutil.mavlink_connection(f"udpin:127.0.0.1:{14550 + base}", source_system=245)
    try:
        assert link.wait_heartbeat(timeout=20).autopilot == mavutil.mavlink.MAV_AUTOPILOT_PX4
        flies_with_pymavlink(link)
    finally:
        link.close()


def test_a_vehicle_answers_who_spoke_to_it(serve_sim):
    base = serve_sim("--build", "general").base
    link = mavutil.mavlink_connection(f"udpout:127.0.0.1:{14560 + base}", source_system=245)
    try:
        link.mav.heartbeat_send(6, 8, 0, 0, 0)
        assert link.wait_heartbeat(timeout=20) is not None
        flies_with_pymavlink(link)
    finally:
        link.close()


def first_parameter(link):
    """Ask for the parameters as tools do over UDP: again, until one comes."""
    for _ in range(10):
        link.mav.param_request_list_send(1, 1)
        first = link.recv_match(type="PARAM_VALUE", blocking=True, timeout=5)
        if first is not None:
            return first
    pytest.fail("no parameter came, however often they were asked for")


def flies_with_pymavlink(link):
    first = first_parameter(link)
    names = {first.param_id}
    while len(names) < first.param_count:
        names.add(link.recv_match(type="PARAM_VALUE", blocking=True, timeout=10).param_id)
    assert "MC_ROLLRATE_MAX" in names
    link.mav.command_long_send(1, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0)
    ack = link.recv_match(type="COMMAND_ACK", blocking=True, timeout=10)
    assert (ack.command, ack.result) == (400, 0)

    def hold(thrust, yaw_rate, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            link.mav.set_attitude_target_send(0, 1, 1, 128, [0, 0, 0, 0], 0, 0, yaw_rate, thrust)
            seen = link.recv_match(type="ATTITUDE", blocking=True, timeout=5)
        return seen

    hold(0.4, 0.0, 0.5)
    assert hold(0.27, 0.5, 0.5).yawspeed == pytest.approx(0.5, abs=0.05)


@pytest.mark.skipif(lacks("mavsdk", "Mavsdk"), reason="mavsdk 4 is not installed in the tools' Python")
def test_mavsdk_connects_changes_parameters_arms_and_holds_rates_and_attitude(serve_sim):
    base = serve_sim("--build", "general").base
    run = subprocess.run(
        [TOOLS, str(NATIVE), f"udpin://127.0.0.1:{14550 + base}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    seen = json.loads(run.stdout.splitlines()[-1])
    assert seen["connected"]
    assert seen["version"] == "1"
    assert (seen["ints"]["MAV_SYS_ID"], seen["floats"]["MPC_THR_MAX"]) == (1, 1.0)
    assert seen["changed"] == [30.0, 2]
    assert seen["healthy"]
    assert seen["home"] == pytest.approx([47.397742, 8.545594])
    assert seen["armed"]
    assert seen["offboard"]
    roll, pitch, yaw = seen["rates"]  # asked for 90, 0, -20 deg/s, with roll held to 30 by the parameter
    assert (roll, pitch, yaw) == pytest.approx((0.524, 0.0, -0.349), abs=0.03)
    assert seen["angles"] == pytest.approx([-20.0, 10.0, 90.0], abs=3.0)
    assert seen["disarmed"]


@pytest.mark.skipif(lacks("MAVProxy"), reason="MAVProxy is not installed in the tools' Python")
def test_mavproxy_shows_a_link_with_parameters_and_changes_one(serve_sim, tmp_path):
    base = serve_sim("--build", "general").base
    program = Path(TOOLS).with_name("mavproxy.py")
    terminal, inside = pty.openpty()
    process = subprocess.Popen(
        [program, f"--master=udpin:127.0.0.1:{14550 + base}", f"--state-basedir={tmp_path}"],
        stdin=inside,
        stdout=inside,
        stderr=inside,
        cwd=tmp_path,
    )
    os.close(inside)
    shown = ""

    def shows(pattern, command=b""):
        """Type a command, again now and then, until the terminal shows something."""
        nonlocal shown
        until = time.monotonic() + 60
        while not (found := re.search(pattern, shown)):
            assert time.monotonic() < until, shown
            os.write(terminal, command)
            readable, _, _ = select.select([terminal], [], [], 2.0)
            if readable:
                shown += os.read(terminal, 4096).decode(errors="replace")
        shown = shown[found.end() :]

    try:
        shows("Received [0-9]+ parameters")
        os.write(terminal, b"param set RW_IMU_EVERY 4\n")
        shows("RW_IMU_EVERY = 4", b"param fetch RW_IMU_EVERY\n")
        os.write(terminal, b"arm throttle\n")
        shows("ARMED")
    finally:
        process.kill()
        process.wait()
        os.close(terminal)

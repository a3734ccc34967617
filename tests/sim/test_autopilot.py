"""The autopilot in closed loop with the racer's plant, from the bytes of plain pymavlink on."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common

from racewire.core.frames import Pose, Rot, Vec
from racewire.core.messages import (
    Arm,
    AttitudeCommand,
    MotionCommand,
    MotorCommand,
    MotorOutput,
    RateCommand,
)
from racewire.race.rules import load_rules
from racewire.sim.autopilot import Autopilot
from racewire.sim.simulator import RaceStart, SimConfig, Simulator
from racewire.vehicles import load_vehicle
from racewire.wires import WIRES
from racewire.wires.base import Role, WireSetup
from racewire.wires.profile import load_profile
from racewire.world.course import load_course

DT = 1e-3
RACER = load_vehicle("racer")
HIGH = Vec(0.0, 0.0, -50.0)


def client(message):
    return message.pack(common.MAVLink(None, srcSystem=255))


def target(mask, roll=0.0, pitch=0.0, yaw=0.0, thrust=0.266):
    """SET_ATTITUDE_TARGET with the quaternion of ZYX angles (deg), as any client makes it."""
    q = Rot.from_euler(*map(math.radians, (roll, pitch, yaw)))
    return client(
        common.MAVLink_set_attitude_target_message(
            0, 1, 200, mask, (q.w, q.x, q.y, q.z), 0.0, 0.0, 0.0, thrust
        )
    )


def position_target(mask, *values):
    return client(common.MAVLink_set_position_target_local_ned_message(0, 1, 200, 1, mask, *values))


def read(build, data):
    (command,) = (
        WIRES["aigp"].make(Role.SIM, WireSetup(profile=load_profile(build))).receive("mavlink", data, 0)
    )
    return command


class Flight:
    """The racer in the air, flown by the autopilot."""

    def __init__(self, yaw_deg=0.0, vehicle=RACER):
        self.vehicle = vehicle
        self.autopilot = Autopilot(vehicle.mass)
        self.state = vehicle.initial(Pose(HIGH, Rot.from_euler(0.0, 0.0, math.radians(yaw_deg))))
        self.steepest = 0.0

    @property
    def motion(self):
        return self.vehicle.motion(self.state)

    @property
    def angles(self):
        return tuple(map(math.degrees, self.motion.ned_from_frd.euler()))

    def fly(self, command, seconds):
        self.autopilot.take(command, self.motion)
        for _ in range(round(seconds / DT)):
            wanted = np.array(self.autopilot.command(self.motion, DT))
            self.vehicle.step(self.state, wanted, DT)
            roll, pitch, _ = self.motion.ned_from_frd.euler()
            self.steepest = max(self.steepest, abs(roll), abs(pitch))
        return self


# attitude


LATE = ["3390-vq2", "3391-vq2", "3391-vq1"]


@pytest.mark.parametrize("build", LATE)
@pytest.mark.parametrize(
    ("commanded", "true"),
    [
        ((10.0, 0.0, 0.0), (-10.0, 0.0, 0.0)),  # + roll banks left
        ((0.0, -10.0, 0.0), (0.0, -10.0, 0.0)),  # - pitch is nose down
        ((0.0, 0.0, 40.0), (0.0, 0.0, -40.0)),  # + yaw turns left
    ],
)
def test_an_attitude_is_held_mirrored_at_quaternion_yaw_0(build, commanded, true):
    flown = Flight().fly(read(build, target(7, *commanded)), 2.0)
    assert flown.angles == pytest.approx(true, abs=0.3)
    assert flown.motion.rates.norm() < 0.02


@pytest.mark.parametrize("build", LATE)
def test_an_attitude_is_held_tilt_before_yaw_at_quaternion_yaw_180(build):
    pitched = Flight(180.0).fly(read(build, target(7, 0.0, 6.5, 180.0)), 2.0).angles
    assert pitched[:2] == pytest.approx((0.0, -6.4), abs=0.2)
    banked = Flight(180.0).fly(read(build, target(7, -18.0, 0.0, 180.0)), 2.0).angles
    assert banked[:2] == pytest.approx((-18.0, 0.0), abs=0.3)
    assert abs(banked[2]) == pytest.approx(180.0, abs=0.5)


@pytest.mark.parametrize("mask", [7, 3, 16, 19])
def test_on_old_builds_the_same_message_turns_without_end(mask):
    command = read("3364-vq1", target(mask, 10.0, 0.0, 0.0))
    assert isinstance(command, RateCommand)
    assert command.rates.x == pytest.approx(-2.5 * math.radians(10.0))


def test_the_thrust_of_an_attitude_is_the_pilots():
    climbed = Flight().fly(read("3391-vq1", target(7, thrust=0.35)), 1.0)
    assert climbed.motion.velocity.z < -2.0


# motion


def test_a_velocity_is_reached_to_0_915():
    for axis, speed in ((0, 4.0), (1, -3.0), (2, -2.0)):
        wanted = [0.0] * 3
        wanted[axis] = speed
        flown = Flight(70.0).fly(read("3391-vq1", position_target(3527, 0, 0, 0, *wanted, *[0] * 5)), 6.0)
        v = flown.motion.velocity.array()
        assert v[axis] / speed == pytest.approx(0.915, abs=0.015)
        assert abs(np.delete(v, axis)).max() < 0.1
        assert flown.angles[2] == pytest.approx(70.0, abs=0.5)


def test_the_tilt_of_a_wanted_motion_stays_within_0_4_rad():
    flown = Flight().fly(read("3391-vq1", position_target(3527, 0, 0, 0, 30.0, 30.0, 0.0, *[0] * 5)), 3.0)
    assert 0.38 < flown.steepest < 0.42


def test_a_position_is_arrived_at_and_held():
    command = read("3391-vq1", position_target(3576, 8.0, -5.0, -53.0, *[0] * 8))
    flown = Flight(-30.0).fly(command, 8.0)
    assert (flown.motion.position - Vec(8.0, -5.0, -53.0)).norm() < 0.25
    assert flown.motion.velocity.norm() < 0.1
    assert flown.angles[2] == pytest.approx(-30.0, abs=0.5)


def test_an_acceleration_pushes_that_way_and_a_force_is_mass_times_one():
    pushed = Flight().fly(read("3391-vq1", position_target(3135, *[0] * 6, 2.0, 0, 0, 0, 0)), 1.0)
    forced = Flight().fly(
        read("3391-vq1", position_target(3647, *[0] * 6, 2.0 * RACER.mass, 0, 0, 0, 0)), 1.0
    )
    assert pushed.motion.velocity.x == pytest.approx(1.7, abs=0.3)
    assert abs(pushed.motion.velocity.z) < 0.2
    assert forced.motion.velocity.x == pytest.approx(pushed.motion.velocity.x, abs=0.01)


def test_a_requested_yaw_is_kept_when_the_next_target_ignores_it():
    flight = Flight().fly(MotionCommand(t_ns=0, velocity=Vec(0.0, 0.0, 0.0), yaw=1.0), 2.0)
    flight.fly(MotionCommand(t_ns=0, velocity=Vec(1.0, 0.0, 0.0)), 2.0)
    assert math.radians(flight.angles[2]) == pytest.approx(1.0, abs=0.02)


def test_a_yaw_rate_turns():
    flight = Flight().fly(MotionCommand(t_ns=0, velocity=Vec(0.0, 0.0, 0.0), yaw_rate=0.5), 3.0)
    assert math.radians(flight.angles[2]) == pytest.approx(1.4, abs=0.15)


@pytest.mark.parametrize("build", ["3364-vq1", "3379-vq2", "3385-vq2"])
def test_on_old_builds_a_position_target_tilts_and_falls(build):
    flown = Flight().fly(read(build, position_target(3527, 0, 0, 0, 20.0, *[0] * 7)), 1.0)
    assert flown.angles[1] < -15.0
    assert flown.motion.velocity.z > 6.0


def test_the_quadratic_racer_holds_a_position_too():
    flight = Flight(vehicle=load_vehicle("racer_quadratic"))
    flight.fly(MotionCommand(t_ns=0, position=Vec(3.0, 0.0, -50.0)), 8.0)
    assert (flight.motion.position - Vec(3.0, 0.0, -50.0)).norm() < 0.3


# motors


@pytest.mark.parametrize(
    ("stronger", "axis", "sign"),
    [
        (("front_left", "back_left"), "x", 1),  # left motors roll right
        (("front_left", "front_right"), "y", 1),  # front motors raise the nose
        (("front_right", "back_left"), "z", 1),  # motors that turn counter-clockwise turn it clockwise
        (("front_left", "back_right"), "z", -1),
    ],
)
def test_stronger_motors_turn_it(stronger, axis, sign):
    outputs = dict.fromkeys(("front_left", "front_right", "back_left", "back_right"), 0.27)
    outputs |= dict.fromkeys(stronger, 0.29)
    rates = Flight().fly(MotorCommand(t_ns=0, **outputs), 0.1).motion.rates
    assert sign * getattr(rates, axis) > 0.4
    others = [abs(getattr(rates, other)) for other in "xz" if other != axis]
    assert max(others) < 0.05


def test_the_angular_acceleration_is_the_torque_times_the_difference():
    level, left = (Flight().fly(motors(*m), 0.2).motion.rates for m in ([0.25] * 4, [0.26, 0.24, 0.26, 0.24]))
    assert left.x - level.x == pytest.approx(902.0 * 0.02 * 0.2, rel=0.15)


def motors(fl, fr, bl, br):
    return MotorCommand(t_ns=0, front_left=fl, front_right=fr, back_left=bl, back_right=br)


def test_without_stabilisation_it_flips():
    flight = Flight()
    flight.autopilot.take(read("3391-vq1", target(135)), flight.motion)
    upside_down = False
    for _ in range(30):
        flight.fly(read("3391-vq1", target(135)), 0.1)
        upside_down |= (flight.motion.ned_from_frd @ Vec(0.0, 0.0, -1.0)).z > 0.9
    assert upside_down


number = st.floats(-1e4, 1e4)
unit = st.floats(0.0, 1.0)
vector = st.builds(Vec, number, number, number)
commands = st.one_of(
    st.builds(motors, unit, unit, unit, unit),
    st.builds(
        AttitudeCommand,
        t_ns=st.just(0),
        ned_from_frd=st.builds(Rot.from_euler, st.floats(-3, 3), st.floats(-1.5, 1.5), st.floats(-3, 3)),
        thrust=unit,
    ),
    *(
        st.builds(MotionCommand, t_ns=st.just(0), yaw=st.none() | number, yaw_rate=number, **{kind: vector})
        for kind in ("position", "velocity", "acceleration", "force")
    ),
)


@settings(max_examples=20)
@given(st.lists(commands, min_size=1, max_size=4))
def test_whatever_is_wanted_the_flight_is_finite_and_repeats(wanted):
    flights = [Flight(), Flight()]
    for flight in flights:
        for command in wanted:
            flight.fly(command, 0.05)
    motion = flights[0].motion
    seen = (motion.position, motion.velocity, motion.rates, motion.specific_force)
    assert all(np.isfinite(v.array()).all() for v in seen)
    assert flights[0].state.tobytes() == flights[1].state.tobytes()


def test_without_a_target_there_is_nothing_to_command():
    with pytest.raises(RuntimeError, match="no target"):
        Autopilot(1.0).command(RACER.motion(RACER.initial(Pose(HIGH, Rot.identity()))), DT)


# in the simulator


def simulator():
    profile = load_profile("3391-vq1")
    config = SimConfig(rules=load_rules(), rates=profile.topic_rates(), start=RaceStart(on_arm=False))
    return Simulator(load_course("vq1"), RACER, config, 0)


S = 10**9


def outputs(sim, until):
    return [m for m in sim.advance(until) if isinstance(m, MotorOutput)]


def test_a_simulated_vehicle_climbs_from_its_pad_to_a_wanted_position():
    sim = simulator()
    up = sim.course.pad.position + Vec(0.0, 0.0, -3.0)
    sim.command(Arm(t_ns=0, arm=True))
    sim.command(MotionCommand(t_ns=0, position=up))
    sim.advance(6 * S)
    assert abs(float(sim._world.state[2]) - up.z) < 0.2


def test_disarmed_it_follows_nothing():
    sim = simulator()
    sim.command(MotionCommand(t_ns=0, position=Vec(0.0, 0.0, -3.0)))
    sim.advance(S)
    assert sim.speed == 0.0
    sim.command(Arm(t_ns=0, arm=True))
    sim.command(motors(0.5, 0.5, 0.5, 0.5))
    assert [m.front_left for m in outputs(sim, int(1.2 * S))] == [0.5] * 19
    sim.command(Arm(t_ns=0, arm=False))
    assert {m.front_left for m in outputs(sim, int(1.4 * S))} == {0.0}


def test_motor_outputs_are_those_commanded_or_the_thrust_at_all_four():
    sim = simulator()
    sim.command(Arm(t_ns=0, arm=True))
    sim.command(motors(0.0, 0.1, 0.2, 0.15))
    told = outputs(sim, S // 10)[-1]
    assert (told.front_left, told.front_right, told.back_left, told.back_right) == (0.05, 0.1, 0.2, 0.15)
    sim.command(RateCommand(t_ns=0, thrust=0.12, rates=Vec(0.0, 0.0, 0.0)))
    told = outputs(sim, S // 5)[-1]
    assert (told.front_left, told.front_right, told.back_left, told.back_right) == (0.12,) * 4


def test_rates_take_over_from_the_autopilot_at_once():
    sim = simulator()
    sim.command(Arm(t_ns=0, arm=True))
    sim.command(MotionCommand(t_ns=0, position=Vec(0.0, 0.0, -30.0)))
    sim.advance(S // 2)
    sim.command(RateCommand(t_ns=0, thrust=0.0, rates=Vec(0.0, 0.0, 0.0)))
    sim.advance(S)
    assert sim._command.tolist() == [0.0] * 4


def test_what_is_not_finite_leaves_the_command_as_it_is():
    sim = simulator()
    sim.command(Arm(t_ns=0, arm=True))
    sim.command(RateCommand(t_ns=0, thrust=0.1, rates=Vec(0.0, 0.0, 0.0)))
    sim.command(MotionCommand(t_ns=0, velocity=Vec(math.nan, 0.0, 0.0)))
    sim.command(AttitudeCommand(t_ns=0, ned_from_frd=Rot(1.0, 0.0, 0.0, 0.0), thrust=math.inf))
    sim.command(motors(0.1, math.nan, 0.1, 0.1))
    sim.advance(S // 10)
    assert sim._command.tolist() == [0.1, 0.0, 0.0, 0.0]

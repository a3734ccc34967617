"""No topic is only a row: each is made by the simulator, or obeyed by it, and some wire carries it."""

from fractions import Fraction

import pytest

from racewire.core.frames import Rot, Vec
from racewire.core.messages import (
    Ack,
    Arm,
    Attitude,
    AttitudeCommand,
    Collision,
    Heartbeat,
    Image,
    Imu,
    LocalPosition,
    MotionCommand,
    MotorCommand,
    MotorOutput,
    Odometry,
    RaceStatus,
    RateCommand,
    Reset,
    StickCommand,
    Track,
    TrackGate,
)
from racewire.core.topics import TOPIC_OF, TOPICS
from racewire.race.rules import load_rules
from racewire.sim.simulator import Exposure, RaceStart, SimConfig, Simulator
from racewire.vehicles import load_vehicle
from racewire.wires import WIRES
from racewire.wires.base import Role, WireSetup
from racewire.wires.profile import load_profile, profile_names
from racewire.world.course import load_course

MS = 10**6
S = 10**9
ONE = Vec(0.1, 0.2, -0.3)
TILT = Rot.from_euler(0.1, -0.2, 0.3)
GATE = TrackGate(gate_id=0, position=ONE, ned_from_gate=TILT, width=2.72, height=2.72)

FROM_VEHICLE = [
    Heartbeat(t_ns=S, armed=True),
    Imu(t_ns=S, specific_force=ONE, rates=ONE),
    Attitude(t_ns=S, ned_from_frd=TILT, rates=ONE),
    LocalPosition(t_ns=S, position=ONE, velocity=ONE),
    Odometry(t_ns=S, position=ONE, ned_from_frd=TILT, velocity=ONE, rates=ONE),
    MotorOutput(t_ns=S, front_left=0.1, front_right=0.2, back_left=0.3, back_right=0.4),
    RaceStatus(t_ns=S, start_ns=2 * S, finish_ns=None, active_gate=0, last_gate_ns=None),
    Track(t_ns=S, gates=(GATE,)),
    Collision(t_ns=S, with_gate=True, impulse=1.0),
    Image(t_ns=S, frame_id=0, jpeg=b"\xff\xd8\xff\xd9"),
    Ack(t_ns=S, command=400, accepted=True),
]
TO_VEHICLE = [
    Heartbeat(t_ns=S),
    Arm(t_ns=S, arm=True),
    Reset(t_ns=S, hard=False),
    RateCommand(t_ns=S, thrust=0.4, rates=ONE),
    StickCommand(t_ns=S, throttle=0.4, roll=0.1, pitch=0.2, yaw=0.3),
    AttitudeCommand(t_ns=S, ned_from_frd=TILT, thrust=0.4),
    MotionCommand(t_ns=S, velocity=ONE),
    MotorCommand(t_ns=S, front_left=0.4, front_right=0.5, back_left=0.3, back_right=0.2),
]
FLIGHT = [m for m in TO_VEHICLE if not isinstance(m, Heartbeat | Arm | Reset)]


def name_of(message):
    return TOPIC_OF[type(message)]


def test_every_topic_is_looked_at_here():
    assert {name_of(m) for m in (*FROM_VEHICLE, *TO_VEHICLE)} == set(TOPICS)


def carried(message, role):
    """Tell whether some wire carries a message from that end, in some build."""
    for wire in WIRES.values():
        for build in profile_names():
            end = wire.make(role, WireSetup(profile=load_profile(build)))
            if end.send(message, S):
                return True
            session = end.due()
            if role is Role.SIM and session is not None and end.wake(session):
                return True
    return False


@pytest.mark.parametrize("message", FROM_VEHICLE, ids=name_of)
def test_some_wire_carries_it_to_the_pilot(message):
    # a raw telemetry datagram needs two messages; the other wire takes each alone
    assert carried(message, Role.SIM)


@pytest.mark.parametrize("message", TO_VEHICLE, ids=name_of)
def test_some_wire_carries_it_to_the_vehicle(message):
    assert carried(message, Role.PILOT)


PERIODIC = {name_of(m) for m in FROM_VEHICLE if TOPICS[name_of(m)].rate_hz}


def racing():
    """Return a simulator that races, every periodic topic switched on, and what it said on the way."""
    rates = {name: Fraction(20) for name in PERIODIC}
    config = SimConfig(load_rules(), rates, start=RaceStart(settle_s=0.1))
    sim = Simulator(load_course("vq1"), load_vehicle("racer"), config, 0)
    sim.command(Arm(t_ns=0, arm=True))
    return sim, sim.advance(3200 * MS)


def test_the_simulator_makes_every_topic_of_a_vehicle_but_acks():
    _, out = racing()
    made = {type(item) for item in out}
    exposed = made - {Exposure} | {Image}
    assert Exposure in made
    assert {type(m) for m in FROM_VEHICLE} - exposed == {Ack}


@pytest.mark.parametrize("message", FLIGHT, ids=name_of)
def test_the_simulator_flies_every_command(message):
    sim, _ = racing()
    before = sim.truth.command
    sim.command(message)
    sim.advance(3300 * MS)
    assert sim.truth.command != before
    assert sim.truth.command[0] > 0.0


def test_the_simulator_obeys_what_is_not_flight():
    sim, _ = racing()
    sim.command(Heartbeat(t_ns=S))
    assert sim.armed
    sim.command(Arm(t_ns=S, arm=False))
    assert not sim.armed
    sim.command(Reset(t_ns=S, hard=False))
    assert sim.resets == 1

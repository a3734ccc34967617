"""What every pilot of the registry must do, whatever it is told."""

import math

import numpy as np
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
    MotorOutput,
    Odometry,
    RaceStatus,
    RateCommand,
    Reset,
    StickCommand,
    Track,
    TrackGate,
)
from racewire.pilots import PILOTS, load_pilot
from racewire.render.jpeg import encode
from racewire.render.renderer import Renderer
from racewire.run.assembly import default_pilot, load_world, make_wire
from racewire.sensors.camera import AIGP_CAMERA
from racewire.wires import WIRES
from racewire.wires.base import Role
from racewire.world.course import load_course

MS = 10**6
S = 10**9
GO = 3 * S
PAD = load_course("vq1").pad
FELT = PAD.rotation.inverse() @ Vec(0.0, 0.0, -9.81)
STILL = Vec(0.0, 0.0, 0.0)
LONGEST_SILENCE = S // 30

WAITS_FOR_GO = {"gate": True, "completion": False}
"""Whether a pilot flies where there is a GO; the raw wire has none."""


@pytest.fixture(scope="module")
def view():
    """Return the JPEG that the camera sees on the pad of vq1."""
    return encode(Renderer(load_course("vq1"), AIGP_CAMERA).render(PAD, 0), 85)


@pytest.fixture(params=PILOTS)
def name(request):
    return request.param


def on_the_pad(t_ns, jpeg):
    """Return what a vehicle says at `t_ns` that stands on its pad, armed, in a race that goes at GO."""
    tick, out = t_ns // (S // 120), []
    out.append(Attitude(t_ns=t_ns, ned_from_frd=PAD.rotation, rates=STILL))
    out.append(Imu(t_ns=t_ns, specific_force=FELT, rates=STILL))
    if tick % 12 == 0:
        out.append(Heartbeat(t_ns=t_ns, armed=t_ns > S // 2))
    if tick % 30 == 0:
        start = GO if t_ns > S else None
        out.append(RaceStatus(t_ns=t_ns, start_ns=start, finish_ns=None, active_gate=0, last_gate_ns=None))
    if tick % 4 == 0 and jpeg is not None:
        out.append(Image(t_ns=t_ns, frame_id=tick // 4, jpeg=jpeg))
    return out


def drive(pilot, until, jpeg):
    """Step a pilot as a node would; return (time, message) of everything it sends."""
    sent, now, k = [], 0, 0
    while now < until:
        message_at = S * k // 120
        due = pilot.due()
        now = message_at if due is None else min(max(due, now), message_at)
        inbox = on_the_pad(now, jpeg) if now == message_at else []
        k += now == message_at
        sent += [(now, message) for message in pilot.step(now, inbox)]
        assert pilot.due() is None or pilot.due() > now, "it would be stepped for ever"
    return sent


def commands(sent):
    return [(t, m) for t, m in sent if isinstance(m, RateCommand | StickCommand | AttitudeCommand)]


def numbers(message):
    """Return every number of a command."""
    match message:
        case RateCommand(thrust=u, rates=w):
            return (u, w.x, w.y, w.z)
        case StickCommand(throttle=u, roll=a, pitch=b, yaw=c):
            return (u, a, b, c)
        case AttitudeCommand(thrust=u, ned_from_frd=q):
            return (u, q.w, q.x, q.y, q.z)
        case Arm() | Reset() | Heartbeat():
            return ()
    raise AssertionError(message)


def test_it_is_known_of_every_pilot_whether_it_waits_for_go():
    assert set(WAITS_FOR_GO) == set(PILOTS)


@pytest.mark.parametrize("sees", [True, False])
def test_it_is_never_silent(name, view, sees):
    sent = commands(drive(load_pilot(name), 5 * S, view if sees else None))
    times = [t for t, _ in sent if t > GO + 100 * MS]
    assert times[0] <= GO + 100 * MS + LONGEST_SILENCE
    assert max(np.diff(times)) <= LONGEST_SILENCE
    assert times[-1] >= 5 * S - LONGEST_SILENCE


def test_it_commands_at_once_on_every_frame(name, view):
    sent = {t for t, _ in commands(drive(load_pilot(name), 4 * S, view))}
    frames = {S * k // 120 for k in range(0, 480, 4) if S * k // 120 > GO + 100 * MS}
    assert frames <= sent


def test_it_goes_on_without_any_message(name, view):
    pilot = load_pilot(name)
    drive(pilot, 4 * S, view)
    times = [4 * S]
    while times[-1] < 5 * S:
        due = pilot.due()
        assert due is not None
        times += [due for m in pilot.step(due, []) if numbers(m)]
    assert max(np.diff(times)) <= LONGEST_SILENCE


@pytest.mark.parametrize("name", [name for name, waits in WAITS_FOR_GO.items() if waits])
def test_no_motor_turns_before_go(name, view):
    sent = drive(load_pilot(name), 4 * S, view)
    before = [numbers(m) for t, m in commands(sent) if t < GO]
    assert len(before) > 60
    assert set(before) == {(0.0, 0.0, 0.0, 0.0)}
    after = [numbers(m) for t, m in commands(sent) if t > GO + 500 * MS]
    assert max(u for u, *_ in after) > 0.2


@pytest.mark.parametrize("name", [name for name, waits in WAITS_FOR_GO.items() if waits])
def test_it_asks_to_arm_once_a_second_until_it_is(name, view):
    asked = [t for t, m in drive(load_pilot(name), 3 * S, view) if m == Arm(t_ns=t, arm=True)]
    assert len(asked) == 1
    pilot = load_pilot(name)
    asked = []
    for k in range(480):
        t = S * k // 120
        inbox = [m for m in on_the_pad(t, view) if not isinstance(m, Heartbeat | Image)]
        asked += [t for m in pilot.step(t, inbox) if isinstance(m, Arm)]
    assert len(asked) == 4
    assert all(S <= gap < S + 50 * MS for gap in np.diff(asked))


def vector(rng):
    return Vec(*(rng.choice((-1.0, 1.0), 3) * 10.0 ** rng.uniform(-6.0, 12.0, 3)).tolist())


def turn(rng):
    return Rot.from_quaternion(*rng.standard_normal(4).tolist())


def odd_gate(rng):
    return TrackGate(gate_id=7, position=vector(rng), ned_from_gate=turn(rng), width=1e9, height=0.0)


def whim(rng, t, view):
    """Return one message with finite, mostly absurd contents; every kind a vehicle can send."""
    far = int(rng.integers(0, 100 * S))
    kinds = {
        "heartbeat": lambda: Heartbeat(t_ns=t, armed=bool(rng.random() < 0.9)),
        "imu": lambda: Imu(t_ns=t, specific_force=vector(rng), rates=vector(rng)),
        "calm imu": lambda: Imu(t_ns=t, specific_force=FELT, rates=STILL),
        "attitude": lambda: Attitude(t_ns=t, ned_from_frd=turn(rng), rates=vector(rng)),
        "local_position": lambda: LocalPosition(t_ns=t, position=vector(rng), velocity=vector(rng)),
        "odometry": lambda: Odometry(
            t_ns=t, position=vector(rng), ned_from_frd=turn(rng), velocity=vector(rng), rates=vector(rng)
        ),
        "motors": lambda: MotorOutput(
            t_ns=t, front_left=0.0, front_right=9e9, back_left=-1.0, back_right=0.1
        ),
        "race_status": lambda: RaceStatus(
            t_ns=t,
            start_ns=None if rng.random() < 0.3 else t - far // 50,
            finish_ns=None if rng.random() < 0.9 else far,
            active_gate=int(rng.integers(0, 2**32)) if rng.random() < 0.1 else 0,
            last_gate_ns=None,
        ),
        "track": lambda: Track(t_ns=t, gates=(odd_gate(rng),)),
        "collision": lambda: Collision(t_ns=t, with_gate=True, impulse=float(10.0 ** rng.uniform(-9, 12))),
        "image": lambda: Image(t_ns=t, frame_id=int(rng.integers(0, 2**32)), jpeg=rng.bytes(200)),
        "torn image": lambda: Image(t_ns=t, frame_id=1, jpeg=view[: int(rng.integers(1, len(view)))]),
        "whole image": lambda: Image(t_ns=t, frame_id=2, jpeg=view),
        "ack": lambda: Ack(t_ns=t, command=int(rng.integers(0, 2**16)), accepted=bool(rng.random() < 0.5)),
    }
    return kinds[rng.choice(list(kinds))]()


def torment(name, seed, view, messages=400):
    """Return everything a pilot answers to a few hundred whims, at times that mostly rise."""
    rng = np.random.default_rng(seed)
    pilot, now, answers = load_pilot(name), 0, []
    for k in range(messages):
        now += int(rng.integers(0, 20 * MS)) if rng.random() < 0.98 else int(rng.integers(-2 * S, 5 * S))
        stamp = now + (int(rng.integers(-S, S)) if rng.random() < 0.05 else 0)
        inbox = on_the_pad(now, None) if k < 150 else []
        inbox += [whim(rng, stamp, view) for _ in range(int(rng.integers(0, 3)))]
        answers.append(tuple(pilot.step(now, inbox)))
        status = pilot.status()
        assert status.phase
        assert status.gate >= 0
        assert math.isfinite(status.speed)
    return answers


@pytest.mark.parametrize("seed", range(3))
def test_whatever_it_is_told_it_commands_what_can_be_flown(name, view, seed):
    answers = torment(name, seed, view)
    sent = [numbers(m) for answer in answers for m in answer if numbers(m)]
    assert len(sent) > 100
    for thrust, *rest in sent:
        assert 0.0 <= thrust <= 1.0
        assert all(abs(x) < 60.0 for x in rest)  # false for NaN: what a wire calls absurd


def test_same_inbox_same_outbox(name, view):
    assert torment(name, 7, view) == torment(name, 7, view)


def test_two_pilots_share_nothing(name, view):
    alone = torment(name, 5, view, 150)
    other = load_pilot(name)
    drive(other, S, view)
    assert torment(name, 5, view, 150) == alone


def test_some_wire_carries_what_it_sends(name, view):
    sent = [command for _, command in commands(drive(load_pilot(name), 4 * S, view))]
    assert len({type(command) for command in sent}) == 1
    wires = [wire for wire in WIRES if default_pilot(wire) == name]
    assert wires
    for wire in wires:
        assert make_wire(load_world("vq1", None, wire, None), Role.PILOT).send(sent[-1], 0)

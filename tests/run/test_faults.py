"""Faults that live at the simulator's end of the wire: video that never starts, a clock that steps."""

import struct

import pytest
from pymavlink.dialects.v20 import common

from racewire.core.messages import Image
from racewire.run.assembly import load_world, make_simulator, make_wire
from racewire.run.conditions import Clock, ClockStep, Conditions, Frames
from racewire.run.sim_node import SimNode
from racewire.sim.simulator import RaceStart
from racewire.wires.base import Role

UNIX = 1_780_000_000_000_000_000
MS = 10**6
S = 10**9


@pytest.fixture(scope="module")
def world():
    return load_world("vq1", "3364-vq1", "aigp", None)


class Camera:
    """Counts exposures and develops none."""

    dropped = 0

    def __init__(self):
        self.exposures = 0

    def expose(self, _exposure):
        self.exposures += 1

    def due(self):
        return None

    def ready(self, _now):
        return []


def exposures(world, no_start, seed):
    camera = Camera()
    frames = Frames(no_start=no_start)
    simulator = make_simulator(world, Conditions(frames=frames), RaceStart(), seed)
    wire = make_wire(world, Role.SIM, UNIX)
    node = SimNode(simulator, wire, camera, [], timed=lambda *_: None, frames=frames, run_seed=seed)
    node.wake(200 * MS)
    return camera.exposures


def test_video_fails_to_start_in_the_configured_share_of_runs_and_repeats(world):
    started = [exposures(world, 0.33, seed) for seed in range(40)]
    assert set(started) == {0, 7}
    assert 5 <= started.count(0) <= 22
    assert [exposures(world, 0.33, seed) for seed in range(6)] == started[:6]
    assert (exposures(world, 0.0, 1), exposures(world, 1.0, 1)) == (7, 0)


def test_a_clock_step_shows_in_timesync_and_video_and_not_in_boot_time(world):
    clock = Clock((ClockStep(after_boot_s=1.0, by_ms=-250.0),))
    wire = make_wire(world, Role.SIM, UNIX, clock.steps_ns())
    mav = common.MAVLink(None)
    shown = []
    for now in (S - 1, S):
        wire.receive("mavlink", common.MAVLink_timesync_message(now, 0).pack(mav), now)
        ((_, reply),) = wire.wake(now)
        frame = wire.send(Image(t_ns=now, frame_id=0, jpeg=b"\xff\xd8"), now)[0].data
        (stamp,) = struct.unpack_from("<Q", frame, 16)
        shown.append((mav.decode(bytearray(reply)).tc1 - now - UNIX, stamp - now - UNIX))
    assert shown == [(0, 0), (-250 * MS, -250 * MS)]


@pytest.mark.parametrize(("after_s", "by_ms"), [(-1.0, 0.0), (1.0, 2e9)])
def test_a_clock_step_that_cannot_be_is_refused(after_s, by_ms):
    with pytest.raises(ValueError, match="must"):
        ClockStep(after_s, by_ms)

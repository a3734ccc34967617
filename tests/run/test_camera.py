"""The camera services: declared time in lockstep, a thread with one place to wait in real time."""

import threading

import numpy as np
import pytest

from racewire.core.frames import Frd, Ned, Pose, Rot, Vec
from racewire.render.jpeg import decode, encode
from racewire.render.renderer import Renderer
from racewire.run.camera import Bands, Frame, InlineCamera, ThreadCamera, darkroom, shrink
from racewire.sensors.camera import AIGP_CAMERA
from racewire.sim.simulator import Exposure
from racewire.world.course import load_course

MS = 10**6
PATIENCE_S = 60.0


def exposure(number, t_ns=0):
    here: Pose[Ned, Frd] = Pose(Vec(-10.0, 0.0, -1.0), Rot.from_euler(0.0, -0.3, 3.14))
    return Exposure(t_ns, number, here, 0)


def develop(shot):
    return b"jpeg %d" % shot.frame_id


class Slow:
    """A darkroom that works only when it is let."""

    def __init__(self):
        self.began = threading.Semaphore(0)
        self.go_on = threading.Semaphore(0)

    def __call__(self, shot):
        self.began.release()
        assert self.go_on.acquire(timeout=PATIENCE_S)
        return develop(shot)


@pytest.fixture
def threaded():
    """Return a function that starts a camera; all are closed at the end."""
    cameras = []

    def start(work):
        cameras.append(ThreadCamera(work))
        return cameras[-1]

    yield start
    for camera in cameras:
        camera.close()


def rung(camera, count=1):
    """Wait until the bell has rung, and hear it `count` times."""
    camera.bell.setblocking(True)
    camera.bell.settimeout(PATIENCE_S)
    heard = b""
    while len(heard) < count:
        heard += camera.bell.recv(count - len(heard))
    camera.bell.setblocking(False)


def test_inline_a_frame_is_ready_the_declared_time_after_its_exposure():
    camera = InlineCamera(develop, 8 * MS)
    assert camera.due() is None
    camera.expose(exposure(0, 100 * MS))
    camera.expose(exposure(1, 133 * MS))
    assert camera.due() == 108 * MS
    assert camera.ready(108 * MS - 1) == []
    assert camera.ready(108 * MS) == [Frame(exposure(0, 100 * MS), b"jpeg 0")]
    assert camera.due() == 141 * MS
    assert [f.jpeg for f in camera.ready(200 * MS)] == [b"jpeg 1"]
    assert (camera.due(), camera.dropped) == (None, 0)


def test_inline_every_exposure_is_drawn_once_and_only_when_due():
    drawn = []
    camera = InlineCamera(lambda shot: drawn.append(shot.frame_id) or b"", 5 * MS)
    for k in range(4):
        camera.expose(exposure(k, k * MS))
    camera.ready(6 * MS)
    assert drawn == [0, 1]
    camera.ready(100 * MS)
    assert drawn == [0, 1, 2, 3]


def test_the_thread_draws_and_rings(threaded):
    camera = threaded(develop)
    assert camera.due() is None
    camera.expose(exposure(7))
    rung(camera)
    assert camera.due() is not None
    assert camera.ready(0) == [Frame(exposure(7), b"jpeg 7")]
    assert camera.ready(0) == []
    assert camera.dropped == 0


def test_one_exposure_waits_the_latest_and_the_others_are_counted(threaded):
    slow = Slow()
    camera = threaded(slow)
    camera.expose(exposure(0))
    assert slow.began.acquire(timeout=PATIENCE_S)
    for k in range(1, 5):
        camera.expose(exposure(k))
    slow.go_on.release(2)
    rung(camera, 2)
    assert [frame.exposure.frame_id for frame in camera.ready(0)] == [0, 4]
    assert camera.dropped == 3


def test_exposing_never_waits_for_the_drawing(threaded):
    slow = Slow()
    camera = threaded(slow)
    for k in range(100):
        camera.expose(exposure(k))
    assert camera.dropped >= 98
    slow.go_on.release(2)


def test_frames_nobody_fetches_do_not_pile_up(threaded):
    camera = threaded(develop)
    for k in range(20):
        camera.expose(exposure(k))
        rung(camera)
    frames = camera.ready(0)
    assert len(frames) <= 4
    assert frames[-1].exposure.frame_id == 19


def test_what_drawing_raises_is_handed_to_the_loop(threaded):
    def broken(_shot):
        message = "no film"
        raise RuntimeError(message)

    camera = threaded(broken)
    camera.expose(exposure(0))
    rung(camera)
    assert camera.due() is not None
    with pytest.raises(RuntimeError, match="no film"):
        camera.ready(0)


def test_after_a_restart_nothing_of_before_is_handed_over(threaded):
    slow = Slow()
    camera = threaded(slow)
    camera.expose(exposure(0))
    assert slow.began.acquire(timeout=PATIENCE_S)
    camera.expose(exposure(1))
    camera.restart()
    camera.expose(exposure(2))
    slow.go_on.release(2)
    rung(camera, 2)
    assert [frame.exposure.frame_id for frame in camera.ready(0)] == [2]


def test_closing_ends_the_thread_and_can_be_done_while_it_draws():
    slow = Slow()
    camera = ThreadCamera(slow)
    camera.expose(exposure(0))
    assert slow.began.acquire(timeout=PATIENCE_S)
    slow.go_on.release()
    camera.close()
    assert not camera._thread.is_alive()
    assert camera.bell.fileno() == -1


@pytest.fixture(scope="module")
def renderer():
    return Renderer(load_course("vq1"), AIGP_CAMERA)


def test_the_number_of_drawing_threads_changes_no_byte(renderer):
    shot = exposure(0)
    pictures = []
    for threads in (1, 2, 3):
        with Bands(renderer, threads) as bands:
            pictures.append(bands.render(shot.pose, 0).tobytes())
    assert pictures[0] == pictures[1] == pictures[2]


def test_the_darkroom_draws_encodes_and_times_both(renderer):
    stages = []
    work = darkroom(Bands(renderer, 1), 85, lambda stage, took: stages.append((stage, took)))
    image = decode(work(exposure(0)))
    assert image.shape == (360, 640, 3)
    assert np.ptp(image) > 100
    assert [stage for stage, _ in stages] == ["render", "encode"]
    assert all(took > 0 for _, took in stages)


def test_a_picture_shrinks_until_it_fits_or_is_given_up():
    noise = np.random.default_rng(0).integers(0, 255, (360, 640, 3), np.uint8)
    large = encode(noise, 95)
    assert len(large) > 200_000
    small = shrink(large, 65_507)
    assert 0 < len(small) <= 65_507
    assert decode(small).shape == noise.shape
    assert shrink(large, 100) == b""
    assert shrink(b"no jpeg", 65_507) == b""


def test_shrinking_takes_the_best_quality_that_fits():
    noise = np.random.default_rng(0).integers(0, 255, (360, 640, 3), np.uint8)
    best = encode(decode(encode(noise, 95)), 50)
    assert shrink(encode(noise, 95), len(best)) == best

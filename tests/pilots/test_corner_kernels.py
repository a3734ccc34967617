import numpy as np
import pytest

from racewire.core.frames import Pose, Rot, Vec
from racewire.pilots import corner_kernels as c
from racewire.pilots import eskf_kernels as k
from racewire.sensors.camera import AIGP_CAMERA

MOUNT = AIGP_CAMERA.frd_from_optical
LENS = np.array((320.0, 320.0, 320.0, 180.0, MOUNT.w, MOUNT.x, MOUNT.y, MOUNT.z, 0.02, -0.01, 0.03))
SIZE = np.array((1.35, 0.75, 0.26))
ALL = np.arange(8)
N = k.BODY + 6
CORRELATED = [*range(3), *range(6, 9), *range(15, 21)]


def state(body, gate):
    x = np.zeros(k.GATE0 + 7)
    p, q = body.position, body.rotation
    x[:4], x[7:10] = (q.w, q.x, q.y, q.z), (p.x, p.y, p.z)
    p, q = gate.position, gate.rotation
    x[16:] = (p.x, p.y, p.z, q.w, q.x, q.y, q.z)
    return x


BODY = Pose(Vec(1.0, 2.0, -3.0), Rot.from_euler(0.2, -0.3, 0.1))
GATE = Pose(Vec(11.0, 3.0, -3.5), Rot.from_euler(0.05, 0.1, 0.4))


def pixels_of(x, which=ALL, size=SIZE):
    pixels = np.empty((len(which), 2))
    assert c.look(x, 0, which, size, LENS, pixels, np.empty((2 * len(which), 12)))
    return pixels


@pytest.mark.parametrize("heading", [0.4, 0.4 + np.pi])
def test_corners_fall_where_the_camera_puts_them(world, heading):
    gate = Pose(GATE.position, Rot.from_euler(0.05, 0.1, heading))  # also from behind
    x = state(BODY, gate)
    lens = LENS.copy()
    lens[8:] = 0.0
    pixels = np.empty((8, 2))
    assert c.look(x, 0, ALL, SIZE, lens, pixels, np.empty((16, 12)))
    seen = world.corners_of(gate, BODY)
    known = np.isfinite(seen[:, 0])
    assert known.sum() >= 6
    assert np.allclose(pixels[known], seen[known], atol=1e-9)


def test_the_derivatives_are_right():
    x0 = state(BODY, GATE)
    flat = np.array((1.35, 0.75, 0.0))  # the outline of a deep gate moves with the point of view: left out
    pixels, H = np.empty((8, 2)), np.empty((16, 12))
    assert c.look(x0, 0, ALL, flat, LENS, pixels, H)
    for column, i in enumerate(CORRELATED):
        error = np.zeros(N)
        error[i] = 1e-6
        x = x0.copy()
        k.inject(x, N, error)
        slope = (pixels_of(x, size=flat) - pixels).reshape(-1) / 1e-6
        assert np.allclose(H[:, column], slope, rtol=1e-4, atol=1e-3)


def test_a_gate_behind_the_lens_is_not_seen():
    x = state(Pose(Vec(20.0, 2.0, -3.0), BODY.rotation), GATE)
    assert not c.look(x, 0, ALL, SIZE, LENS, np.empty((8, 2)), np.empty((16, 12)))
    seen = np.zeros((8, 2))
    assert c.see_gate(x, np.eye(N), N, 0, ALL, SIZE, LENS, seen, 1.0, 2.0, False) == np.inf


def test_the_distance_is_the_squared_mahalanobis_one():
    rng = np.random.default_rng(5)
    x = state(BODY, GATE)
    root = 0.05 * rng.standard_normal((N, N))
    P = root @ root.T
    pixels, H = np.empty((8, 2)), np.empty((16, 12))
    c.look(x, 0, ALL, SIZE, LENS, pixels, H)
    off = rng.standard_normal((8, 2))
    S = H @ P[np.ix_(CORRELATED, CORRELATED)] @ H.T + 0.25 * np.eye(16)
    r = off.reshape(-1)
    distance = c.see_gate(x, P, N, 0, ALL, SIZE, LENS, pixels + off, 0.25, 1e9, False)
    assert distance == pytest.approx(r @ np.linalg.solve(S, r), rel=1e-9)


def test_an_update_is_that_of_the_textbook():
    rng = np.random.default_rng(6)
    x = state(BODY, GATE)
    root = 0.03 * rng.standard_normal((N, N))
    P = root @ root.T
    pixels, H = np.empty((8, 2)), np.empty((16, 12))
    c.look(x, 0, ALL, SIZE, LENS, pixels, H)
    full = np.zeros((16, N))
    full[:, CORRELATED] = H
    off = 0.3 * rng.standard_normal((8, 2))
    S = full @ P @ full.T + 0.25 * np.eye(16)
    K = P @ full.T @ np.linalg.inv(S)
    wanted = x.copy()
    k.inject(wanted, N, K @ off.reshape(-1))
    P_wanted = P - K @ full @ P
    c.see_gate(x, P, N, 0, ALL, SIZE, LENS, pixels + off, 0.25, 1e9, True)
    assert np.allclose(x, wanted, atol=1e-10)
    assert np.allclose(P, P_wanted, atol=1e-9)


def test_a_wild_corner_weighs_less():
    prior = np.diag([1e-6] * 3 + [1e-8] * 3 + [0.04] * 3 + [1e-8] * 6 + [1e-4] * 6)
    moved = []
    for huber in (2.0, 1e9):
        x = state(BODY, GATE)
        seen = pixels_of(x)
        seen[2] += (25.0, 0.0)
        P = prior.copy()
        c.see_gate(x, P, N, 0, ALL, SIZE, LENS, seen, 0.25, huber, True)
        moved.append(np.linalg.norm(x[7:10] - (1.0, 2.0, -3.0)))
    assert moved[0] < 0.7 * moved[1]


def test_two_corners_are_enough_to_learn_from():
    x = state(BODY, GATE)
    which = np.array((1, 6))
    seen = pixels_of(x, which) + 4.0
    P = np.diag([1e-8] * 6 + [0.04] * 3 + [1e-8] * 12)
    before = np.abs(seen - pixels_of(x, which)).max()
    c.see_gate(x, P, N, 0, which, SIZE, LENS, seen, 0.25, 1e9, True)
    assert np.abs(seen - pixels_of(x, which)).max() < 0.5 * before

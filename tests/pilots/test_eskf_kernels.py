import numpy as np
import pytest

from racewire.core.frames import Rot, Vec
from racewire.pilots import eskf_kernels as k

NO_NOISE = np.zeros(5)


def state(attitude, velocity=(0.0, 0.0, 0.0), position=(0.0, 0.0, 0.0)):
    x = np.zeros(k.GATE0)
    x[:4] = (attitude.w, attitude.x, attitude.y, attitude.z)
    x[4:7], x[7:10] = velocity, position
    return x


def difference(a, b):
    turn = (Rot(*b[:4]).inverse() @ Rot(*a[:4])).log()
    return np.concatenate((turn, a[4:16] - b[4:16]))


def test_a_level_hover_stays():
    x, P = state(Rot.identity()), np.zeros((15, 15))
    hover = np.array((0.0, 0.0, -9.81, 0.0, 0.0, 0.0))
    for _ in range(100):
        k.propagate(x, P, 15, hover, hover, 0.01, NO_NOISE)
    assert np.allclose(x, state(Rot.identity()), atol=1e-12)


def test_free_propagation_follows_a_banked_circle():
    # a level circle of radius v / w, banked so that only thrust and gravity act; sampled at 120 Hz
    v, w = 8.0, 1.2
    bank, dt, steps = np.arctan(v * w / 9.81), 1.0 / 120.0, 480
    ned_from_frd = Rot.from_euler(bank, 0.0, 0.0)
    rates = ned_from_frd.inverse() @ Vec(0.0, 0.0, w)
    thrust = -np.hypot(9.81, v * w)
    sample = np.array((0.0, 0.0, thrust, rates.x, rates.y, rates.z))
    x, P = state(ned_from_frd, velocity=(v, 0.0, 0.0)), np.zeros((15, 15))
    for _ in range(steps):
        k.propagate(x, P, 15, sample, sample, dt, NO_NOISE)
    t = steps * dt
    radius = v / w
    place = (radius * np.sin(w * t), radius * (1.0 - np.cos(w * t)), 0.0)
    assert np.allclose(x[7:10], place, atol=2e-3)
    assert np.allclose(x[4:7], (v * np.cos(w * t), v * np.sin(w * t), 0.0), atol=2e-3)
    assert Rot(*x[:4]).angle_to(Rot.from_euler(bank, 0.0, w * t)) < 1e-6


def test_the_covariance_follows_the_derivative_of_the_motion():
    rng = np.random.default_rng(3)
    x0 = state(Rot.exp(0.2, -0.3, 1.0), (7.0, 1.0, -2.0), (3.0, 4.0, 5.0))
    x0[10:16] = 0.02 * rng.standard_normal(6)
    before = np.array((0.4, -0.2, -12.0, 0.5, -0.7, 0.3))
    after = before + 0.1 * rng.standard_normal(6)
    dt = 0.008

    def moved(x):
        y = x.copy()
        k.propagate(y, np.eye(15), 15, before, after, dt, NO_NOISE)
        return y

    F = np.empty((15, 15))
    for i in range(15):
        error = np.zeros(15)
        error[i] = 1e-6
        nudged = x0.copy()
        k.inject(nudged, 15, error)
        F[:, i] = difference(moved(nudged), moved(x0)) / 1e-6
    root = rng.standard_normal((15, 15))
    P = root @ root.T
    wanted = F @ P @ F.T
    x = x0.copy()
    k.propagate(x, P, 15, before, after, dt, NO_NOISE)
    # the half of the squared step that acceleration errors add to position is left out
    assert np.allclose(P, wanted, atol=2e-3 * np.abs(wanted).max())
    assert np.array_equal(P, P.T)


def test_noise_grows_the_right_variances():
    x, P = state(Rot.identity()), np.zeros((15, 15))
    still = np.array((0.0, 0.0, -9.81, 0.0, 0.0, 0.0))
    noise = np.array((0.04, 0.01, 0.0, 0.5, 0.25))
    k.propagate(x, P, 15, still, still, 0.01, noise)
    d = np.diagonal(P)
    assert np.allclose(d[:3], 1e-4 * 0.01)
    assert np.allclose(d[3:6], 1e-4 * 0.04)
    assert np.allclose(d[9:12], 0.01 * 0.25)
    assert np.allclose(d[12:15], 0.01 * 0.5)


def test_a_change_within_a_sample_is_not_fully_trusted():
    x, P = state(Rot.identity()), np.zeros((15, 15))
    before = np.array((0.0, 0.0, -9.81, 0.0, 0.0, 0.0))
    after = before + np.array((0.0, 0.0, 0.0, 2.0, 0.0, 0.0))
    k.propagate(x, P, 15, before, after, 0.01, np.array((0.0, 0.0, 0.5, 0.0, 0.0)))
    assert P[0, 0] == pytest.approx((0.01 * 0.5 * 2.0) ** 2)
    assert P[1, 1] == 0.0


def test_a_measurement_is_weighed_by_its_variance_and_gated():
    x, P = state(Rot.identity()), np.eye(15)
    H = np.zeros(15)
    H[6] = 1.0
    assert k.update(x, P, 15, H, 2.0, 1.0, 3.0)
    assert x[7] == pytest.approx(1.0)
    assert P[6, 6] == pytest.approx(0.5)
    assert not k.update(x, P, 15, H, 10.0, 1.0, 3.0)
    assert x[7] == pytest.approx(1.0)


def test_rest_finds_the_tilt_and_the_gyro_bias():
    true = Rot.from_euler(0.01, -0.31, 0.0)
    bias = (0.004, -0.003, 0.002)
    force = true.inverse() @ Vec(0.0, 0.0, -9.81)
    sample = np.array((force.x, force.y, force.z, *bias))
    x, P = state(Rot.from_euler(0.0, -0.3, 0.0)), np.diag([0.01**2] * 15)
    for _ in range(200):
        k.propagate(x, P, 15, sample, sample, 1 / 120, np.array((0.0064, 6.4e-5, 0.1, 1e-4, 2.5e-7)))
        k.rest(x, P, 15, sample, np.array((4e-4, 1e-4, 0.09, 4e-4)))
    assert np.allclose(x[10:13], bias, atol=5e-4)
    roll, pitch, _ = Rot(*x[:4]).euler()
    assert roll == pytest.approx(0.01, abs=2e-3)
    assert pitch == pytest.approx(-0.31, abs=2e-3)
    assert np.abs(x[4:10]).max() < 1e-3


@pytest.mark.parametrize("axis", [0, 1])
def test_drag_tells_the_velocity_through_the_air(axis):
    true = np.zeros(3)
    true[axis], true[1 - axis] = 8.0, -3.0
    drag = np.array((0.05, 0.0496))
    force = np.array((*(-drag * true[:2] * np.abs(true[:2])), -11.0))
    x, P = (
        state(Rot.identity(), velocity=true + np.array((0.8, -0.7, 0.0))),
        np.diag([1e-6] * 3 + [1.0] * 3 + [1e-6] * 9),
    )
    for _ in range(30):
        k.drag(x, P, 15, force, drag[0], drag[1], 0.2, 0.05)
    assert np.allclose(x[4:6], true[:2], atol=0.1)
    assert P[3 + axis, 3 + axis] < 0.05


def test_the_derivative_of_drag_is_right():
    x0 = state(Rot.exp(0.1, -0.4, 0.7), velocity=(7.0, 2.0, 1.0))

    def felt(x, axis):
        v = Rot(*x[:4]).inverse() @ Vec(*x[4:7].tolist())
        component = (v.x, v.y)[axis]
        return -0.05 * component * abs(component) + x[13 + axis]

    for axis in range(2):
        for i in range(15):
            # with a unit prior on one error alone, the gain is its derivative over (1 + its square)
            x, P = x0.copy(), np.zeros((15, 15))
            P[i, i] = 1e-6
            error = np.zeros(15)
            error[i] = 1e-6
            nudged = x0.copy()
            k.inject(nudged, 15, error)
            slope = (felt(nudged, axis) - felt(x0, axis)) / 1e-6
            force = np.array((felt(x0, 0), felt(x0, 1), -9.81))
            force[axis] += 1e-3
            k.drag(x, P, 15, force, 0.05, 0.05, 1.0, 0.0)
            assert difference(x, x0)[i] == pytest.approx(1e-6 * slope * 1e-3, rel=2e-2, abs=1e-13)


def test_states_that_no_vehicle_has_are_told():
    x, P = state(Rot.identity(), velocity=(30.0, 0.0, 0.0)), np.eye(15)
    assert k.sane(x, P, 15, 60.0)
    assert not k.sane(x, P, 15, 20.0)
    for at in (0, 5, 9, 12):
        bad = x.copy()
        bad[at] = np.nan
        assert not k.sane(bad, P, 15, 60.0)
    negative = P.copy()
    negative[3, 3] = -1.0
    assert not k.sane(x, negative, 15, 60.0)

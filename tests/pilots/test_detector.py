import math
from functools import cache

import cv2
import numpy as np
import pytest

from racewire.core.frames import Gate, Pose, Rot, Vec
from racewire.core.seeds import stream
from racewire.pilots.decode import decode
from racewire.pilots.detector import DETECTOR, detect
from racewire.pilots.gate_pose import gate_pose, outline
from racewire.render.jpeg import encode
from racewire.render.renderer import Renderer
from racewire.sensors.camera import AIGP_CAMERA
from racewire.world.course import load_course

RED = (60, 50, 240)
FINE = 4  # a picture is painted this much larger and averaged: exact antialiasing


def facing(x, y, z, yaw_deg=0.0, pitch_deg=0.0, roll_deg=0.0):
    """Return a gate at (x, y, z) in Optical, turned from facing the camera squarely."""
    upright = Rot.from_matrix(np.array(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))))
    turn = Rot.from_euler(math.radians(roll_deg), math.radians(pitch_deg), math.radians(yaw_deg))
    return Pose(Vec(x, y, z), upright @ turn)


def solid(pose):
    """Return the image of the ring's 8 outer corners, front then back, shape (8, 2)."""
    points = [
        pose @ Vec[Gate](x, y, z)
        for x in (-0.13, 0.13)
        for y, z in ((-1.35, -1.35), (1.35, -1.35), (1.35, 1.35), (-1.35, 1.35))
    ]
    return np.array([AIGP_CAMERA.project(point) for point in points])


@cache
def background():
    rng = stream(0, "test/background")
    return np.repeat(rng.integers(5, 30, (360 * FINE, 640 * FINE, 1), np.uint8), 3, axis=2)


def blank():
    return background().copy()


def fill(canvas, points, colour):
    """Paint the samples whose centre lies inside a convex polygon (cv2 would also paint its rim)."""
    points = np.asarray(points, float) * FINE
    lo = np.maximum(np.floor(points.min(axis=0)).astype(int), 0)
    hi = np.minimum(np.ceil(points.max(axis=0)).astype(int), (canvas.shape[1], canvas.shape[0]))
    if np.any(hi <= lo):
        return
    x, y = np.arange(lo[0], hi[0])[None] + 0.5, np.arange(lo[1], hi[1])[:, None] + 0.5
    sides = np.roll(points, -1, axis=0) - points
    turns = [
        dx * (y - py) - dy * (x - px)
        for (px, py), (dx, dy) in zip(points.tolist(), sides.tolist(), strict=True)
    ]
    inside = np.all([t >= 0 for t in turns], axis=0) | np.all([t <= 0 for t in turns], axis=0)
    canvas[lo[1] : hi[1], lo[0] : hi[0]][inside] = colour


def add(canvas, pose, colour=RED):
    """Paint a gate over what is there; what was seen through its opening stays."""
    hull = cv2.convexHull(solid(pose).astype(np.float32))[:, 0]
    lo = np.maximum((hull.min(axis=0) * FINE).astype(int) - 2, 0)
    hi = np.maximum((hull.max(axis=0) * FINE).astype(int) + 2, 0)
    part = canvas[lo[1] : hi[1], lo[0] : hi[0]]
    before = part.copy()
    hole = np.zeros(part.shape[:2], np.uint8)
    fill(canvas, hull, colour)
    fill(hole, outline(pose)[4:] - lo / FINE, 255)
    part[hole > 0] = before[hole > 0]


def picture(canvas, quality=85):
    """Return the canvas at camera size; through a JPEG of that quality, if any."""
    small = cv2.resize(canvas, (640, 360), interpolation=cv2.INTER_AREA)
    return small if quality is None else decode(encode(small, quality))


def photo(*poses, quality=85):
    canvas = blank()
    for pose in sorted(poses, key=lambda p: -p.position.z):
        add(canvas, pose)
    return picture(canvas, quality)


def off(view, pose):
    """Return the distance of each known corner from its true place, px."""
    gap = np.hypot(*(view.corners() - outline(pose)).T)
    return gap[~np.isnan(gap)]


def random_gates(count, seed=1):
    """Yield gates and how far each is rolled, rad."""
    rng = stream(seed, "test/gates")
    for _ in range(count):
        z = rng.uniform(3.5, 25.0)
        roll_deg = rng.uniform(-40, 40)
        pose = facing(
            rng.uniform(-0.7, 0.7) * z,
            rng.uniform(-0.4, 0.4) * z,
            z,
            yaw_deg=rng.uniform(-40, 40),
            pitch_deg=rng.uniform(-20, 20),
            roll_deg=roll_deg,
        )
        if whole(pose):
            yield pose, math.radians(roll_deg)


def whole(pose, margin=6.0):
    points = solid(pose)
    return bool(np.all((points > margin) & (points < (640 - margin, 360 - margin))))


@pytest.mark.parametrize(("quality", "median", "bias"), [(None, 0.03, 0.01), (85, 0.2, 0.03)])
def test_corners_are_found_to_a_fraction_of_a_pixel(quality, median, bias):
    errors, offsets, count = [], [], 0
    for pose, roll in random_gates(36):
        (view,) = detect(photo(pose, quality=quality), roll=roll)
        count += 1
        assert view.complete
        errors.extend(off(view, pose))
        outward = np.sign(outline(pose) - outline(pose)[:4].mean(axis=0))
        offsets.append((view.corners() - outline(pose)) * outward)
    assert count >= 18
    assert np.median(errors) < median
    assert np.percentile(errors, 95) < 4.0 * median
    for square in (slice(0, 4), slice(4, 8)):
        assert abs(np.nanmean([offset[square] for offset in offsets])) < bias


def test_sigma_tells_the_size_of_the_errors():
    ratios = []
    for pose, roll in random_gates(16, seed=2):
        (view,) = detect(photo(pose), roll=roll)
        ratios.append(np.sqrt(np.mean(off(view, pose) ** 2) / 2.0) / view.sigma_px)
    assert 0.4 < np.median(ratios) < 1.2


@pytest.mark.parametrize("roll_deg", [-44, -30, -10, 0, 10, 30, 44])
def test_order_is_top_left_top_right_bottom_right_bottom_left(roll_deg):
    pose = facing(1.0, -0.5, 9.0, yaw_deg=15.0, roll_deg=roll_deg)
    (view,) = detect(photo(pose))
    assert off(view, pose).max() < 1.0
    upright = facing(0.0, 0.0, 9.0)
    (view,) = detect(photo(upright))
    (tl, tr, br, bl) = view.outer
    assert tl[0] < tr[0]
    assert tl[1] < bl[1]
    assert br[0] > bl[0]
    assert br[1] > tr[1]


@pytest.mark.parametrize("roll_deg", [70.0, -110.0, 180.0])
def test_order_holds_at_any_bank_that_is_told(roll_deg):
    pose = facing(0.0, 0.0, 9.0, yaw_deg=10.0, roll_deg=roll_deg)
    (view,) = detect(photo(pose), roll=math.radians(roll_deg - 15.0))
    assert off(view, pose).max() < 1.0


def test_all_gates_in_view_are_found_nearest_first():
    poses = [facing(-3.0, 0.5, 8.0), facing(4.0, -1.0, 15.0, yaw_deg=20.0), facing(1.0, 2.0, 30.0)]
    views = detect(photo(*poses))
    assert len(views) == 3
    for view, pose in zip(views, poses, strict=True):
        assert view.complete
        assert off(view, pose).max() < 1.5


def test_gate_seen_through_another_is_found():
    near, far = facing(0.0, 0.0, 6.0), facing(0.3, 0.2, 25.0, yaw_deg=-10.0)
    views = detect(photo(near, far))
    assert len(views) == 2
    assert off(views[0], near).max() < 1.0
    assert off(views[1], far).max() < 1.5


def test_gates_grown_together_are_told_apart():
    near, far = facing(0.0, 0.0, 8.0), facing(5.2, 1.0, 24.0)
    gap = outline(near)[1, 0] - outline(far)[0, 0]
    assert 0.0 < gap < 8.0  # the far one's side is hidden a little
    views = detect(photo(near, far))
    assert views
    assert off(views[0], near).max() < 1.5
    for view in views[1:]:
        assert off(view, far).max() < 1.5


def test_hidden_corners_are_not_made_up():
    near, far = facing(0.0, 0.0, 7.0), facing(4.6, -2.0, 18.0)
    for view in detect(photo(near, far)):
        pose = min((near, far), key=lambda p: np.nanmedian(np.hypot(*(view.corners() - outline(p)).T)))
        assert off(view, pose).max() < 2.0


@pytest.mark.parametrize(("x", "y"), [(0.0, 2.0), (0.0, -2.0), (5.2, 0.0), (-5.2, 0.0), (0.0, 3.2)])
def test_gate_cut_by_the_border_gives_what_is_certain(x, y):
    pose = facing(x, y, 6.0, yaw_deg=5.0)
    true = outline(pose)
    inside = np.all((true > 1.0) & (true < (639.0, 359.0)), axis=1)
    assert 4 <= inside.sum() < 8
    (view,) = detect(photo(pose))
    assert not view.complete
    known = ~np.isnan(view.corners()[:, 0])
    assert not np.any(known & ~inside)
    assert known.sum() >= 4
    assert off(view, pose).max() < 1.0
    fit = gate_pose(view)
    assert (fit.pose.position - pose.position).norm() < 0.02 * pose.position.norm()


def test_near_gate_that_shows_only_its_opening_is_found():
    pose = facing(0.1, 0.3, 2.3, yaw_deg=4.0)
    (view,) = detect(photo(pose))
    assert not view.complete
    assert (~np.isnan(view.inner)).all()
    assert off(view, pose).max() < 1.0


def test_ribbon_across_a_gate_does_not_move_its_corners():
    pose = facing(0.0, 0.0, 10.0, yaw_deg=10.0)
    canvas = blank()
    add(canvas, pose)
    shine = np.zeros_like(canvas)
    fill(shine, [(300, 140), (306, 140), (380, 260), (372, 260)], (236, 190, 30))
    fill(shine, [(268, 120), (273, 120), (240, 360), (230, 360)], (236, 190, 30))
    (view,) = detect(picture(cv2.add(canvas, shine)))
    assert view.complete
    assert np.median(off(view, pose)) < 0.4


def test_lettering_does_not_hide_a_gate():
    pose = facing(0.0, 0.0, 8.0)
    canvas = blank()
    add(canvas, pose)
    left, top = outline(pose)[0]
    for i in range(6):
        x = left + 18 + 14 * i
        fill(canvas, [(x, top + 5), (x + 8, top + 5), (x + 8, top + 17), (x, top + 17)], (250, 250, 250))
    (view,) = detect(picture(canvas))
    assert view.complete
    assert off(view, pose).max() < 1.0


def test_nothing_is_found_where_there_is_no_gate():
    rng = stream(3, "test/noise")
    assert detect(np.zeros((360, 640, 3), np.uint8)) == []
    assert detect(np.full((360, 640, 3), RED, np.uint8)) == []
    speckle = (rng.random((360, 640, 1)) < 0.3) * np.array(RED, np.uint8)
    assert detect(speckle.astype(np.uint8)) == []


def test_static_makes_no_gate_of_any_size_that_matters():
    rng, strays = stream(4, "test/static"), 0
    for _ in range(12):
        for views in (
            detect(rng.integers(0, 256, (360, 640, 3)).astype(np.uint8)),
            detect(((rng.random((360, 640, 1)) < 0.4) * np.array(RED, np.uint8)).astype(np.uint8)),
        ):
            strays += len(views)
            assert all(view.area_px < 400.0 for view in views)
    assert strays <= 6


@pytest.mark.parametrize("hole", [0.0, 0.25, 0.85])
def test_square_with_a_wrong_opening_is_no_gate(hole):
    canvas = blank()
    for half, colour in ((60.0, RED), (60.0 * hole, (15, 15, 15))):
        fill(
            canvas,
            [(320 + sx * half, 180 + sy * half) for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))],
            colour,
        )
    assert detect(picture(canvas)) == []


def test_opening_off_centre_is_no_gate():
    canvas = blank()
    fill(canvas, [(240, 100), (400, 100), (400, 260), (240, 260)], RED)
    fill(canvas, [(250, 110), (339, 110), (339, 199), (250, 199)], (15, 15, 15))
    assert detect(picture(canvas)) == []


def test_red_ribbon_is_no_gate():
    canvas = blank()
    fill(canvas, [(100, 50), (112, 50), (420, 330), (400, 330)], RED)
    fill(canvas, [(420, 330), (400, 330), (600, 40), (608, 46)], RED)
    assert detect(picture(canvas)) == []


def test_gate_seen_edge_on_is_left_out():
    assert detect(photo(facing(0.0, 0.0, 8.0, yaw_deg=85.0))) == []


def test_mirrored_picture_gives_mirrored_views():
    poses = [facing(-3.0, 0.5, 8.0, yaw_deg=12.0, roll_deg=8.0), facing(5.0, -1.0, 17.0, yaw_deg=-20.0)]
    image = photo(*poses, quality=None)
    straight, mirrored = detect(image), detect(np.ascontiguousarray(image[:, ::-1]))
    assert len(straight) == len(mirrored) == 2
    for a, b in zip(straight, mirrored, strict=True):
        swapped = np.concatenate((b.outer[[1, 0, 3, 2]], b.inner[[1, 0, 3, 2]]))
        swapped[:, 0] = 640.0 - swapped[:, 0]
        assert np.nanmax(np.abs(swapped - a.corners())) < 0.1


def test_same_picture_gives_same_views_and_is_left_alone():
    image = photo(*(pose for pose, _ in random_gates(8, seed=4)))
    before = image.copy()
    first, second = detect(image), detect(image)
    assert np.array_equal(image, before)
    assert [v.corners().tobytes() for v in first] == [v.corners().tobytes() for v in second]


def test_far_gate_is_still_seen():
    pose = facing(2.0, 3.0, 60.0)  # 14 px wide
    (view,) = detect(photo(pose))
    assert view.complete
    assert off(view, pose).max() < 1.2


def test_parameters_come_from_the_file():
    assert DETECTOR.red.saturation == 110
    assert DETECTOR.red.value == 110


def test_next_gate_is_found_in_rendered_frames():
    course = load_course("vq1")
    renderer = Renderer(course, AIGP_CAMERA)
    rng = stream(5, "test/frames")
    wanted, seen, strays, errors = 0, 0, 0, []
    for _ in range(30):
        k = int(rng.integers(len(course.gates)))
        start = course.gates[k - 1].centre if k else course.pad.position
        here = start + (course.gates[k].centre - start) * rng.uniform(0.05, 0.9)
        to = course.gates[k].centre - here
        attitude = Rot.from_euler(
            0.2 * rng.standard_normal(), math.radians(rng.uniform(-25.0, -8.0)), math.atan2(to.y, to.x)
        )
        views = detect(decode(encode(renderer.render(Pose(here, attitude), k))))
        optical_from_ned = (attitude @ AIGP_CAMERA.frd_from_optical).inverse()
        poses = [
            Pose(optical_from_ned @ (gate.centre - here), optical_from_ned @ gate.ned_from_gate)
            for gate in course.gates
        ]
        ahead = [pose for pose in poses if pose.position.z > 0.5]
        for view in views:
            best = min(float(np.median(off(view, pose))) for pose in ahead)
            strays += best > 4.0
        known = outline(poses[k])
        if np.all((known > 2.0) & (known < (638.0, 358.0))):
            wanted += 1
            mine = [float(np.median(off(view, poses[k]))) for view in views]
            seen += min(mine, default=math.inf) < 2.0
            errors.append(min(mine, default=math.inf))
    assert wanted >= 12
    assert seen == wanted
    assert strays == 0
    assert np.median(errors) < 0.25

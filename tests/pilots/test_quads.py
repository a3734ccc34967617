import math

import cv2
import numpy as np
import pytest

from racewire.pilots.blobs import erase, find_blobs, hypotheses
from racewire.pilots.lines import line_corners
from racewire.pilots.quads import hull_corners

SQUARE = np.array(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)))


def turned(angle_deg, half=40.0, centre=(160.0, 120.0)):
    c, s = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    return half * SQUARE @ np.array(((c, s), (-s, c))) + centre


def painted(*polygons, size=(240, 320)):
    mask = np.zeros(size, np.uint8)
    for points, value in polygons:
        cv2.fillPoly(mask, [np.rint(np.asarray(points) - 0.5).astype(np.int32)], (value,))
    return mask


def contour_of(mask):
    (contour,), _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    return contour


@pytest.mark.parametrize("find", [hull_corners, line_corners])
@pytest.mark.parametrize("angle_deg", [-40, -15, 0, 20, 40])
def test_corners_of_a_square_are_named_from_top_left_clockwise(find, angle_deg):
    square = turned(angle_deg)
    corners = find(contour_of(painted((square, 255))), 320, 240, 0.0)
    assert np.abs(corners - square).max() < 2.0


@pytest.mark.parametrize("find", [hull_corners, line_corners])
def test_names_follow_the_expected_roll(find):
    square = turned(100.0)
    corners = find(contour_of(painted((square, 255))), 320, 240, math.radians(90.0))
    assert np.abs(corners - square).max() < 2.0


def test_sheared_quad_is_named_in_turn():
    quad = np.array([(87.0, 64.0), (122.0, 99.0), (122.0, 145.0), (90.0, 110.0)])
    corners = hull_corners(contour_of(painted((quad, 255))), 320, 240, math.radians(30.0))
    assert np.abs(corners - quad).max() < 2.0


@pytest.mark.parametrize("find", [hull_corners, line_corners])
def test_corner_at_the_border_is_no_corner(find):
    square = turned(0.0, centre=(160.0, 215.0))
    corners = find(contour_of(painted((square, 255))), 320, 240, 0.0)
    assert np.isnan(corners[2:]).all()
    assert np.abs(corners[:2] - square[:2]).max() < 2.0


def test_lines_see_through_what_has_grown_on():
    square = turned(8.0)
    blot = turned(20.0, half=9.0, centre=(207.0, 130.0))
    contour = contour_of(painted((square, 255), (blot, 255)))
    assert np.abs(line_corners(contour, 320, 240, 0.0) - square).max() < 2.5


def ring(centre=(160.0, 120.0), half=40.0):
    return (turned(5.0, half, centre), 255), (turned(5.0, half / 1.8, centre), 0)


def test_blob_proposes_its_outline_and_its_hole():
    mask = painted(*ring())
    (blob,) = find_blobs(mask, (0, 0, 320, 240), 7.0)
    proposed = list(hypotheses(mask, blob, 7.0, 0.0))
    outer = [p for p in proposed if not np.isnan(p[:4]).any()]
    inner = [p for p in proposed if not np.isnan(p[4:]).any()]
    assert np.abs(outer[0][:4] - turned(5.0)).max() < 2.0
    assert np.abs(inner[0][4:] - turned(5.0, 40.0 / 1.8)).max() < 2.5


def test_cut_ring_proposes_outline_and_gap_together():
    centre = (160.0, 222.0)
    mask = painted(*ring(centre))
    (blob,) = find_blobs(mask, (0, 0, 320, 240), 7.0)
    both = [p for p in hypotheses(mask, blob, 7.0, 0.0) if (~np.isnan(p[:, 0])).sum() == 4]
    known = ~np.isnan(both[0][:, 0])
    assert known.tolist() == [True, True, False, False, True, True, False, False]


def test_erasing_a_gate_leaves_what_is_seen_through_it():
    inside = turned(0.0, half=5.0)
    mask = painted(*ring(), (inside, 255), (turned(0.0, half=6.0, centre=(40.0, 40.0)), 255))
    outline = np.concatenate((turned(5.0), turned(5.0, 40.0 / 1.8)))
    erase(mask, outline, (0, 0, 320, 240))
    boxes = sorted(blob.box for blob in find_blobs(mask, (0, 0, 320, 240), 7.0))
    assert [box[:2] for box in boxes] == [(34, 34), (154, 114)]


def test_specks_are_no_blobs():
    mask = painted((turned(0.0, half=2.0), 255))
    assert find_blobs(mask, (0, 0, 320, 240), 7.0) == []

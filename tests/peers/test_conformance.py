"""`racewire conformance` against our own simulator, the right build and a wrong one; and its rules alone."""

import json
import re
import subprocess
import sys

import pytest

from racewire.run.conformance_probe import Chunk, Heard, Hearing
from racewire.run.conformance_rules import RULES, rates
from racewire.run.conformance_video import start_of_frame, video
from racewire.wires.profile import load_profile

S = 10**9
TIMED = re.compile("rate$|acknowledged|spread|frame ids|each frame|boot clock|TIMESYNC tc1|before GO|ahead")
"""Points that a machine with both cores busy may miss."""


def conform(base, build, *more):
    command = [sys.executable, "-m", "racewire", "conformance", "--build", build, "--port-base", str(base)]
    run = subprocess.run(
        [*command, "--json", *more], capture_output=True, text=True, check=False, timeout=120
    )
    return run, {p["name"]: p for p in json.loads(run.stdout)["points"]} if run.stdout else {}


@pytest.mark.parametrize(("build", "wrong"), [("3364-vq1", "3391-vq2"), ("3391-vq2", None)])
def test_our_simulator_keeps_the_rules_of_its_build(serve_sim, build, wrong):
    base = serve_sim("--build", build).base
    run, points = conform(base, build)
    broken = {name for name, p in points.items() if p["verdict"] != "pass"}
    assert {name for name in broken if not TIMED.search(name)} == set(), [points[b] for b in broken]
    assert run.returncode == (1 if any(points[name]["verdict"] == "fail" for name in broken) else 0)
    assert points["arm acknowledged"]["seen"].startswith("result 0")
    if wrong is None:
        return
    run, points = conform(base, wrong)
    assert run.returncode == 1
    failed = {name for name, p in points.items() if p["verdict"] == "fail"}
    assert failed >= {"ATTITUDE blocked", "ODOMETRY blocked", "no track"}


def test_nobody_there_is_one_line_and_exit_1():
    run, _ = conform(31_000, "3391-vq1", "--wait", "0.2")
    assert run.returncode == 1
    assert "no MAVLink on UDP port 45550" in run.stderr


def empty():
    marks = {"listen": 0, "arm": 4 * S, "flown": 9 * S, "rest": 10 * S, "end": 11 * S}
    return Hearing(marks=marks)


def test_what_never_came_is_not_seen_and_a_silent_stream_fails():
    profile = load_profile("3364-vq1")
    points = {p.name: p for rule in (*RULES, video) for p in rule(empty(), profile)}
    for name in ("TIMESYNC", "arm acknowledged", "race status", "track burst", "video", "gyro sign, yaw"):
        assert points[name].verdict == "not seen"
    assert points["HIGHRES_IMU rate"].verdict == "FAIL"


@pytest.mark.parametrize(("count", "verdict"), [(480, "pass"), (380, "FAIL"), (580, "FAIL")])
def test_a_rate_is_judged_within_its_tolerance(count, verdict):
    hearing = empty()
    hearing.messages["HIGHRES_IMU"] = [Heard(k * 4 * S // count, None) for k in range(count)]
    found = {p.name: p.verdict for p in rates(hearing, load_profile("3364-vq1"))}
    assert found["HIGHRES_IMU rate"] == verdict


def chunks(frames, copies, period_ns):
    return [
        Chunk(k * period_ns + c, 1400, k, i, 2, 2752, 1376, k * period_ns + 1)
        for k in range(frames)
        for c in range(copies)
        for i in range(2)
    ]


@pytest.mark.parametrize(
    ("heard", "failing"),
    [
        (chunks(60, 14, S // 30), set()),
        (chunks(60, 2, S // 30), {"each frame is sent"}),
        (chunks(60, 14, S // 20), {"frame rate"}),
        ([c._replace(size=1000, payload=976) for c in chunks(60, 14, S // 30)], {"datagrams"}),
        ([c._replace(total=3) for c in chunks(60, 14, S // 30)], {"headers", "datagrams"}),
        ([c._replace(frame_id=2 * c.frame_id) for c in chunks(60, 14, S // 30)], {"frame ids"}),
        ([c._replace(stamp_ns=7) for c in chunks(60, 14, S // 30)], {"stamps rise with the frame id"}),
        ([c._replace(stamp_ns=c.stamp_ns + 10**18) for c in chunks(60, 14, S // 30)], {"stamps"}),
    ],
)
def test_video_that_differs_fails_where_it_differs(heard, failing):
    hearing = empty()
    hearing.chunks = heard
    found = {p.name for p in video(hearing, load_profile("3364-vq1")) if p.verdict == "FAIL"}
    assert found - {"picture"} == failing - ({"datagrams"} if failing == {"headers", "datagrams"} else set())


@pytest.mark.parametrize(
    "jpeg", [b"", b"\xff\xd8", b"\xff\xd8\xff\xc0\x00\x02", b"\xff\xd8\xff\xe0\x00\x00" * 9]
)
def test_a_picture_that_is_none_has_no_size(jpeg):
    assert start_of_frame(jpeg) is None

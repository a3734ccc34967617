"""Whole races in lockstep: they finish, and the same seed gives the same bytes whatever the machine does."""

import json
import os
import subprocess
import sys

import pytest
from mcap.reader import make_reader

from racewire.core.errors import RunError
from racewire.core.messages import Ack, Collision, Heartbeat, Image, Imu, MotorOutput, RaceStatus
from racewire.run import race as race_module
from racewire.run.race import RaceConfig, fly_race, prepare

S = 10**9
CONTRACT = {
    *("finished", "gates_passed", "gates_total", "race_time_s", "limit_s", "disqualified", "collisions"),
    *("map", "log_hash", "realtime_factor", "frames", "photon_to_command_ms", "stages", "log"),
}
BEGINNING_S = 6
"""Long enough for the start, the first frames in flight, and every link's luck."""


def beginning(seed=0, **more):
    """Return the hash of a race's first seconds."""
    loop, run = prepare(RaceConfig(seed=seed, **more))
    loop.run(lambda now: now > BEGINNING_S * S)
    assert run.pilot.pilot.status().phase == "flying"
    return run.hash.hexdigest()


def finished(result):
    assert result.finished, result.headline()
    assert (result.gates_passed, result.gates_total) == (6, 6)
    assert not result.disqualified
    assert 0.0 < result.race_time_s < 60.0
    return True


def test_the_first_command_of_the_readme_finishes_and_logs_itself(program, tmp_path):
    log = tmp_path / "run.mcap"
    race = program("race", "--course", "vq1", "--json", "--log", log)
    assert race.ended() == 0, race.output
    record = json.loads(race.lines[-1])
    assert record["finished"] is True
    assert (record["gates_passed"], record["gates_total"]) == (6, 6)
    assert set(record) >= CONTRACT
    assert set(record["photon_to_command_ms"]) == {"p50", "p99", "max"}
    # 20 ms of video latency, 5 ms of declared vision, 1 ms of command latency, and jitter
    assert 26.0 <= record["photon_to_command_ms"]["p50"] <= record["photon_to_command_ms"]["max"] < 40.0
    for name, stage in record["stages"].items():
        assert set(stage) >= {"mean", "p99", "worst", "misses"}
        assert stage["samples"] > 0, name
    assert record["log"] == str(log)
    with log.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        topics = {c.topic for c in reader.get_summary().channels.values()}
        last = [json.loads(m.data) for _, _, m in reader.iter_messages(topics=["run/result"])]
        told = [json.loads(m.data)["kind"] for _, _, m in reader.iter_messages(topics=["event"])]
    assert topics >= {
        "run/config",
        "truth",
        "event",
        "wire/down/mavlink",
        "wire/down/video",
        "wire/up/mavlink",
    }
    assert last == [record]
    assert [kind for kind in told if kind != "Collided"] == ["Started", *["GatePassed"] * 6, "Finished"]


@pytest.mark.parametrize(("seed", "build"), [(7, None), (0, "3391-vq2")])
def test_it_finishes(seed, build):
    assert finished(fly_race(RaceConfig(seed=seed, build=build)))


def test_the_completion_pilot_finishes_on_the_raw_wire():
    result = fly_race(RaceConfig(wire="raw"))
    assert finished(result)
    assert (result.pilot, result.vehicle) == ("completion", "simdrone")


@pytest.fixture(scope="module")
def hash_of_seed_0():
    return beginning()


def test_same_seed_same_hash(hash_of_seed_0):
    assert beginning() == hash_of_seed_0


def test_another_seed_another_hash(hash_of_seed_0):
    assert beginning(seed=1) != hash_of_seed_0


BUSY = "while True: pass"
AGAIN = f"""
from racewire.run.race import RaceConfig, prepare
loop, run = prepare(RaceConfig())
loop.run(lambda now: now > {BEGINNING_S} * 10**9)
print(run.hash.hexdigest())
"""


def test_the_hash_is_the_same_in_another_process_while_every_core_is_busy(hash_of_seed_0):
    hogs = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(os.cpu_count() or 2)]
    try:
        again = subprocess.run(
            [sys.executable, "-c", AGAIN],
            env={**os.environ, "PYTHONHASHSEED": "7"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    assert again.stdout.strip() == hash_of_seed_0


def test_where_the_pose_is_blocked_the_pilot_hears_nothing_of_it():
    loop, run = prepare(RaceConfig(build="3391-vq2"))
    step, heard = run.pilot.pilot.step, set()

    def listen(now, inbox):
        heard.update(type(message) for message in inbox)
        return step(now, inbox)

    run.pilot.pilot.step = listen
    loop.run(lambda now: now > BEGINNING_S * S)
    assert run.pilot.pilot.status().phase == "flying"
    assert heard - {Ack, Collision} == {Heartbeat, Imu, MotorOutput, RaceStatus, Image}


IDLE = """
class Idle:
    steps = 0
    def step(self, now, inbox):
        self.steps += 1
        if self.steps == BREAKS_AT:
            raise RuntimeError("my own mistake")
        return []
    def due(self):
        return None
    def status(self):
        from racewire.pilots.base import PilotStatus
        return PilotStatus("idle", 0, 0.0)
"""


def idle(folder, breaks_at):
    path = folder / "idle.py"
    path.write_text(IDLE.replace("BREAKS_AT", str(breaks_at)), encoding="utf-8")
    return f"{path}:Idle"


def test_a_pilot_that_never_starts_is_a_reason_not_a_hang(monkeypatch, tmp_path):
    monkeypatch.setattr(race_module, "NO_START_S", 1.0)
    with pytest.raises(RunError, match="the pilot did not start the race within 1 s: its phase is idle"):
        fly_race(RaceConfig(pilot=idle(tmp_path, 0)))


def test_ctrl_c_ends_a_race_with_130_and_a_log_that_can_be_read(program, tmp_path):
    log = tmp_path / "run.mcap"
    race = program("race", "--json", "--log", log)
    race.until_file(log, 100_000)
    race.interrupt()
    assert race.ended() == 130
    assert race.lines[-1] == "racewire: interrupted"
    assert "Traceback" not in race.output
    with log.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_summary() is not None
        stamps = [m.log_time for _, _, m in reader.iter_messages(topics=["truth"])]
    assert len(stamps) > 50
    assert stamps == [k * S // 100 for k in range(len(stamps))]


def test_a_pilot_that_breaks_leaves_a_log_that_can_be_read(tmp_path):
    log = tmp_path / "run.mcap"
    with pytest.raises(RuntimeError, match="my own mistake"):
        fly_race(RaceConfig(pilot=idle(tmp_path, 200), log=log))
    with log.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert len([m for _, _, m in reader.iter_messages(topics=["truth"])]) > 20

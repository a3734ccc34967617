"""The hash of a run, and its log as any MCAP reader sees it - also of a run that was cut short."""

import json
import signal
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcap.reader import make_reader

from racewire.core.errors import ConfigError
from racewire.core.frames import Frd, Ned, Rot, Vec
from racewire.race.events import Collided, GatePassed, Started
from racewire.run.record import RunHash, RunLog
from racewire.sim.simulator import Truth
from racewire.vehicles.base import Motion

S = 10**9
MOTION = Motion(
    position=Vec[Ned](1.0, 2.0, 3.0),
    velocity=Vec[Ned](4.0, 5.0, 6.0),
    ned_from_frd=Rot.from_quaternion(1.0, 0.5, 0.25, 0.0),
    rates=Vec[Frd](0.1, 0.2, 0.3),
    specific_force=Vec[Frd](0.0, 0.0, -9.81),
)
TRUTH = Truth(10_000_000, MOTION, (0.3, 0.0, 0.1, 0.2))


def tell(observer, *, data=b"datagram", channel="mavlink", now=5, truth=TRUTH, gate=0):
    """Tell an observer a little story."""
    observer.truth(truth)
    observer.sent(channel, data, now)
    observer.received("mavlink", b"command", now + 1)
    observer.event(GatePassed(7, gate, 6, 0.1, -0.2))
    return observer


def digest(**story):
    return tell(RunHash(), **story).hexdigest()


def read(path):
    """Return (topic, log time, data) of every message, as the mcap library reads the whole file."""
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_summary() is not None
        return [(c.topic, m.log_time, m.data) for _, c, m in reader.iter_messages(log_time_order=False)]


def test_the_same_story_has_the_same_hash():
    assert digest() == digest()
    # the bytes are fixed, whatever the machine: a change of this line is a change of every log_hash
    assert digest() == "04fd759d50f0ec37c222f2a14ed48e1e8f08a2b0e75073d9b9b2cbfa02d5520e"


@pytest.mark.parametrize(
    "change",
    [
        {"data": b"datagraM"},
        {"channel": "video"},
        {"now": 6},
        {"gate": 1},
        {"truth": replace(TRUTH, t_ns=TRUTH.t_ns + 1)},
        {"truth": replace(TRUTH, command=(0.3, 0.0, 0.1, 0.2000000001))},
        {"truth": replace(TRUTH, motion=replace(MOTION, position=Vec(1.0, 2.0, 3.0000000000000004)))},
        {"truth": replace(TRUTH, motion=replace(MOTION, rates=Vec(0.1, 0.2, -0.3)))},
    ],
)
def test_any_difference_shows_in_the_hash(change):
    assert digest(**change) != digest()


def test_ways_and_order_show_in_the_hash():
    one, two, three = RunHash(), RunHash(), RunHash()
    one.sent("a", b"x", 0)
    two.received("a", b"x", 0)
    assert one.hexdigest() != two.hexdigest()
    one.received("a", b"x", 0)
    three.received("a", b"x", 0)
    three.sent("a", b"x", 0)
    assert one.hexdigest() != three.hexdigest()


@given(st.binary(max_size=6), st.binary(max_size=6))
def test_where_a_datagram_ends_shows_in_the_hash(one, two):
    cut, whole = RunHash(), RunHash()
    cut.sent("a", one, 0)
    cut.sent("a", two, 0)
    whole.sent("a", one + two, 0)
    assert cut.hexdigest() != whole.hexdigest()


def test_the_log_holds_the_story(tmp_path):
    path = tmp_path / "run.mcap"
    log = RunLog(path)
    log.config({"seed": 3})
    tell(log)
    log.event(Started(8))
    log.event(Collided(9, None, 0.5))
    log.result({"finished": True})
    log.close()
    messages = read(path)
    assert [(topic, at) for topic, at, _ in messages] == [
        ("run/config", 0),
        ("truth", 10_000_000),
        ("wire/down/mavlink", 5),
        ("wire/up/mavlink", 6),
        ("event", 7),
        ("event", 8),
        ("event", 9),
        ("run/result", 10_000_000),
    ]
    data = [data for _, _, data in messages]
    assert json.loads(data[0]) == {"seed": 3}
    q = MOTION.ned_from_frd
    assert json.loads(data[1]) == {
        "t_ns": 10_000_000,
        "position_ned": [1.0, 2.0, 3.0],
        "velocity_ned": [4.0, 5.0, 6.0],
        "ned_from_frd_wxyz": [q.w, q.x, q.y, q.z],
        "rates_frd": [0.1, 0.2, 0.3],
        "command_thrust_rates": [0.3, 0.0, 0.1, 0.2],
    }
    assert data[2:4] == [b"datagram", b"command"]
    passed = {"kind": "GatePassed", "t_ns": 7, "gate": 0, "race_ns": 6, "right": 0.1, "down": -0.2}
    assert json.loads(data[4]) == passed
    assert json.loads(data[5]) == {"kind": "Started", "t_ns": 8}
    assert json.loads(data[6]) == {"kind": "Collided", "t_ns": 9, "gate": None, "impulse": 0.5}
    assert json.loads(data[7]) == {"finished": True}


def test_a_log_of_many_chunks_is_read_whole(tmp_path):
    path = tmp_path / "run.mcap"
    log = RunLog(path)
    for k in range(3000):
        log.sent("video", k.to_bytes(2, "little") * 700, k)
    log.close()
    assert [data[:2] for _, _, data in read(path)] == [k.to_bytes(2, "little") for k in range(3000)]


def test_times_rise_when_the_boot_clock_starts_over(tmp_path):
    path = tmp_path / "run.mcap"
    log = RunLog(path)
    for _ in range(2):
        log.begin()
        for k in range(3):
            log.sent("a", b"x", k * S)
    log.close()
    assert [at for _, at, _ in read(path)] == [0, S, 2 * S, 2 * S, 3 * S, 4 * S]


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere/run\.mcap: No such file or directory"):
        RunLog(tmp_path / "nowhere" / "run.mcap")
    with pytest.raises(ConfigError, match="Is a directory"):
        RunLog(tmp_path)


def interrupted(log, inside):
    """Send Ctrl-C from within the `inside`-th write of a record of the library, as if it struck there."""
    stream = log._writer._Writer__chunk_builder.record_writer
    write, writes = stream.write, iter(range(1000))

    def struck(data):
        if next(writes) == inside:
            signal.raise_signal(signal.SIGINT)
        write(data)

    stream.write = struck


@pytest.mark.parametrize("inside", range(5))
def test_ctrl_c_in_the_middle_of_a_record_does_not_tear_it(tmp_path, inside):
    path = tmp_path / "run.mcap"
    log = RunLog(path)
    log.sent("a", b"before", 1)
    interrupted(log, inside)
    with pytest.raises(KeyboardInterrupt):
        log.sent("a", b"torn?", 2)
    log.sent("a", b"after", 3)
    log.close()
    assert [data for _, _, data in read(path)] == [b"before", b"torn?", b"after"]


def test_ctrl_c_while_the_file_is_finished_does_not_tear_it(tmp_path):
    path = tmp_path / "run.mcap"
    log = RunLog(path)
    log.sent("a", b"x", 1)
    interrupted(log, 0)
    finish = log._writer.finish

    def struck():
        signal.raise_signal(signal.SIGINT)
        finish()

    log._writer.finish = struck
    with pytest.raises(KeyboardInterrupt):
        log.close()
    assert len(read(path)) == 1


def test_ctrl_c_is_pythons_again_when_the_log_is_closed(tmp_path):
    before = signal.getsignal(signal.SIGINT)
    log = RunLog(tmp_path / "run.mcap")
    assert signal.getsignal(signal.SIGINT) is not before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    log.close()
    assert signal.getsignal(signal.SIGINT) is before

"""The command line: `racewire VERB`.

Exit code 0: done; 1: the run failed its purpose; 2: bad arguments or config, with one line on stderr;
130: Ctrl-C. With `--json` the last line of stdout is one JSON object.
"""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn, Protocol

import typer
from rich.console import Console, RenderableType

from racewire.core.errors import ConfigError, RunError
from racewire.run.bench import bench as run_bench
from racewire.run.conformance import ConformanceConfig
from racewire.run.conformance import check as check_conformance
from racewire.run.decode_view import DecodeConfig, show, show_json
from racewire.run.doctor import diagnose
from racewire.run.fly import FlyConfig
from racewire.run.fly import fly as fly_pilot
from racewire.run.race import RaceConfig, fly_race
from racewire.run.serve import ServeConfig, serve
from racewire.run.tap import Tap, TapConfig

app = typer.Typer(
    name="racewire",
    help="An open workbench for autonomous racing: the simulator, the pilot, and the wire between them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_UsageError: Any = typer.BadParameter.__base__
"""What typer raises for arguments that cannot be; where it stands depends on typer's version."""

Course = Annotated[str, typer.Option(help="vq1, vq2, random:SEED, or a course file (TOML).")]
Build = Annotated[
    str | None,
    typer.Option(help="Simulator build to imitate. Default: 3391-vq1 for vq1, 3391-vq2 for other courses."),
]
Wire = Annotated[str, typer.Option(help="aigp (MAVLink and chunked video) or raw (seed 000's datagrams).")]
Vehicle = Annotated[
    str | None, typer.Option(help="racer, racer_quadratic, simdrone. Default: racer; simdrone on raw.")
]
Seed = Annotated[int, typer.Option(min=0, help="Run seed: every random draw of the run derives from it.")]
PilotName = Annotated[
    str | None,
    typer.Option(help="gate, completion, or FILE.py:Class. Default: gate on aigp, completion on raw."),
]
PilotConfig = Annotated[Path | None, typer.Option(help="TOML file with the pilot's parameters.")]
Json = Annotated[bool, typer.Option("--json", help="End with the result as one JSON object on a line.")]
PortBase = Annotated[int, typer.Option(help="Add this to every port: several pairs on one machine.")]


@app.command()
def race(
    course: Course = "vq1",
    build: Build = None,
    wire: Wire = "aigp",
    pilot: PilotName = None,
    pilot_config: PilotConfig = None,
    vehicle: Vehicle = None,
    seed: Seed = 0,
    realtime: Annotated[bool, typer.Option("--realtime", help="In real time, over UDP sockets.")] = False,
    faults: Annotated[
        str | None,
        typer.Option(help="Conditions file (TOML), or none. Default: mild noise, 2 % frame loss, 20 ms."),
    ] = None,
    log: Annotated[Path | None, typer.Option(help="Write the run to this MCAP file.")] = None,
    port_base: PortBase = 0,
    as_json: Json = False,
) -> None:
    """Fly a race: simulator and pilot in one command, in lockstep unless --realtime."""
    config = RaceConfig(
        course=course,
        build=build,
        wire=wire,
        pilot=pilot,
        pilot_config=pilot_config,
        vehicle=vehicle,
        seed=seed,
        realtime=realtime,
        faults=faults,
        log=log,
        port_base=port_base,
    )
    result = fly_race(config, None if as_json else Console(stderr=True))
    _show(result, as_json=as_json)
    if not result.finished:
        raise typer.Exit(1)


@app.command()
def sim(
    course: Course = "vq1",
    build: Build = None,
    wire: Wire = "aigp",
    vehicle: Vehicle = None,
    seed: Seed = 0,
    bind: Annotated[
        str, typer.Option(help="Address to bind; 127.0.0.1 keeps it on this machine.")
    ] = "127.0.0.1",
    peer: Annotated[str, typer.Option(help="Address the pilot listens on.")] = "127.0.0.1",
    port_base: PortBase = 0,
    start: Annotated[
        str, typer.Option(help="When races start: on-arm, after:SECONDS or key (Enter).")
    ] = "on-arm",
    once: Annotated[bool, typer.Option("--once", help="End after one race.")] = False,
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, help="Time limit of a race, s. Default: the course's.")
    ] = None,
    faults: Annotated[
        str, typer.Option(help="Conditions file (TOML), or none: the clean original.")
    ] = "none",
    result: Annotated[
        Path | None, typer.Option(help="Write the last race's result to this JSON file.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Write truth, events and datagrams to this MCAP file.")
    ] = None,
    control: Annotated[
        bool, typer.Option("--control", help="Take JSON commands on TCP 127.0.0.1:14570 (docs/control.md).")
    ] = False,
    lockstep: Annotated[
        bool,
        typer.Option(
            "--lockstep", help="Advance only when the pilot says so, on UDP 14571 (docs/lockstep.md)."
        ),
    ] = False,
) -> None:
    """Serve the wire for any pilot, one race after another, in real time unless --lockstep."""
    config = ServeConfig(
        course=course,
        build=build,
        wire=wire,
        vehicle=vehicle,
        seed=seed,
        bind=bind,
        peer=peer,
        port_base=port_base,
        start=start,
        once=once,
        time_limit_s=time_limit,
        faults=faults,
        result=result,
        log=log,
        control=control,
        lockstep=lockstep,
    )
    last = serve(config, Console())
    if last is None or not last.finished:
        raise typer.Exit(1)


@app.command()
def fly(
    pilot: PilotName = None,
    pilot_config: PilotConfig = None,
    wire: Wire = "aigp",
    build: Annotated[
        str, typer.Option(help="Build whose commands to speak; the default's sticks fly every build.")
    ] = "3391-vq1",
    host: Annotated[str, typer.Option(help="Where the simulator is.")] = "127.0.0.1",
    bind: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port_base: PortBase = 0,
    wait: Annotated[float, typer.Option(min=0.1, help="How long to wait for a simulator, s.")] = 30.0,
    as_json: Json = False,
) -> None:
    """Fly our pilot against any simulator on the wire, in real time."""
    config = FlyConfig(
        pilot=pilot,
        pilot_config=pilot_config,
        wire=wire,
        build=build,
        host=host,
        bind=bind,
        port_base=port_base,
        wait_s=wait,
    )
    flown = fly_pilot(config, Console(stderr=True))
    if as_json:
        _print_json(dataclasses.asdict(flown))
    else:
        time_s = "" if flown.race_time_s is None else f" in {flown.race_time_s:.3f} s"
        Console().print(
            f"{'finished' if flown.finished else 'not finished'}: {flown.gates_passed} gates{time_s}"
        )
    if not flown.finished:
        raise typer.Exit(1)


@app.command()
def record(
    wire: Wire = "aigp",
    host: Annotated[str, typer.Option(help="Where the simulator is.")] = "127.0.0.1",
    bind: Annotated[str, typer.Option(help="Address to listen on, both sides.")] = "127.0.0.1",
    peer: Annotated[str, typer.Option(help="Address the pilot listens on.")] = "127.0.0.1",
    sim_base: Annotated[int, typer.Option(help="The simulator's --port-base.")] = 1000,
    pilot_base: Annotated[int, typer.Option(help="The pilot's --port-base; 0 for a foreign pilot.")] = 0,
    log: Annotated[
        Path | None, typer.Option(help="MCAP file to write. Default: racewire-DATE-TIME.mcap.")
    ] = None,
    tlog: Annotated[Path | None, typer.Option(help="Write the MAVLink packets to this .tlog too.")] = None,
    duration: Annotated[
        float | None, typer.Option(min=0.1, help="End after so many seconds. Default: on Ctrl-C.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Stand between a pilot and a simulator (run it with --port-base 1000) and write down what they say."""
    config = TapConfig(
        wire=wire,
        host=host,
        bind=bind,
        peer=peer,
        sim_base=sim_base,
        pilot_base=pilot_base,
        log=log,
        tlog=tlog,
        duration_s=duration,
    )
    console = Console(stderr=True)
    with Tap(config) as tap:
        console.print(f"recording to {tap.path}", highlight=False)
        try:
            tap.run(console)
        finally:
            recorded = tap.result()
            if as_json:
                _print_json(recorded.as_json())
            else:
                Console().print(recorded.text(), highlight=False)


@app.command()
def decode(
    log: Annotated[Path, typer.Argument(help="MCAP log of race or record, or a .tlog file.")],
    message: Annotated[list[str] | None, typer.Option(help="Only messages of this name; repeatable.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=0, help="Most rows to show, 0 for all. Default: 100; all with --json.")
    ] = None,
    tlog: Annotated[Path | None, typer.Option(help="Write the log's MAVLink packets to this .tlog.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="A JSON object a line for each message, and one about the log.")
    ] = False,
) -> None:
    """Show a recorded conversation message by message, field by field."""
    rows = limit if limit is not None else (0 if as_json else 100)
    config = DecodeConfig(log, tuple(message or ()), rows, tlog)
    if as_json:
        show_json(config, sys.stdout.write)
    else:
        show(config, Console(width=None if sys.stdout.isatty() else 200))


@app.command()
def conformance(
    build: Annotated[str, typer.Option(help="Build whose rules to check.")] = "3391-vq1",
    host: Annotated[str, typer.Option(help="Where the simulator is.")] = "127.0.0.1",
    bind: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port_base: PortBase = 0,
    wait: Annotated[float, typer.Option(min=0.1, help="How long to wait for a simulator, s.")] = 30.0,
    as_json: Json = False,
) -> None:
    """Check point by point which rules of the wire a simulator keeps: it is armed, flown and reset."""
    config = ConformanceConfig(build, host, bind, port_base, wait)
    found = check_conformance(config, Console(stderr=True))
    _show(found, as_json=as_json, piped_width=140)
    if not found.kept:
        raise typer.Exit(1)


@app.command()
def doctor(
    warm: Annotated[bool, typer.Option("--warm", help="Also compile and cache every kernel.")] = False,
    as_json: Json = False,
) -> None:
    """Check that this machine can run racewire, and say what is wrong if it cannot."""
    report = diagnose(warm=warm, console=Console(stderr=True))
    _show(report, as_json=as_json)
    if not report.healthy:
        raise typer.Exit(1)


@app.command()
def bench(
    only: Annotated[str | None, typer.Option(help="Only the figures whose names begin with this.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Repeats of each figure; the median is reported.")] = 5,
    as_json: Json = False,
) -> None:
    """Measure this machine: every figure of the design's table that exists so far."""
    report = run_bench(only=only, repeats=repeats, console=Console(stderr=True))
    _show(report, as_json=as_json)


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        code = app(standalone_mode=False)
    except _UsageError as error:
        reason = " ".join(error.format_message().split())
        if not reason:  # no arguments at all: the help is the answer
            sys.exit(2)
        _fail(reason, 2)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except ConfigError as error:
        _fail(str(error), 2)
    except RunError as error:
        _fail(str(error), 1)
    except BrokenPipeError:
        sys.exit(1)
    if code == 130:
        _fail("interrupted", 130)
    sys.exit(code or 0)


class _Report(Protocol):
    """What a verb found: as JSON types, and for a terminal."""

    def as_json(self) -> dict[str, Any]: ...

    def render(self) -> RenderableType: ...


def _show(report: _Report, *, as_json: bool, piped_width: int | None = None) -> None:
    """Print a report; `piped_width` is its width in columns where stdout is no terminal."""
    if as_json:
        _print_json(report.as_json())
    else:
        Console(width=None if sys.stdout.isatty() else piped_width).print(report.render())


def _print_json(record: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(record) + "\n")


def _fail(reason: str, code: int) -> NoReturn:
    sys.stderr.write(f"racewire: {reason}\n")
    sys.exit(code)

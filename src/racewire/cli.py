"""The command line: `racewire VERB`. Exit code 0 done, 1 the run failed its purpose, 2 bad arguments
or config (one line on stderr), 130 on Ctrl-C. With `--json` the last line of stdout is one JSON object.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from racewire.core.errors import ConfigError, RunError
from racewire.run.bench import FIGURES, run_bench
from racewire.run.doctor import diagnose
from racewire.run.fly import FlyConfig, fly
from racewire.run.race import RaceConfig, fly_race
from racewire.run.serve import ServeConfig, serve

app = typer.Typer(
    name="racewire",
    help="An open workbench for autonomous racing: the simulator, the pilot, and the wire between them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_err = Console(stderr=True)

Course = Annotated[str, typer.Option(help="vq1, vq2, random:SEED, or a course file.")]
Build = Annotated[
    str | None, typer.Option(help="Simulator build to imitate. Default: 3364-vq1 for vq1, 3391-vq2 for others.")
]
Wire = Annotated[str, typer.Option(help="aigp (MAVLink and chunked video) or raw (seed 000's datagrams).")]
Seed = Annotated[int, typer.Option(min=0, help="Run seed: every random draw of the run derives from it.")]
PilotName = Annotated[str, typer.Option(help="gate, completion, or FILE.py:Class.")]
PilotConfig = Annotated[Path | None, typer.Option(help="TOML file with the pilot's parameters.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object, on the last line.")]
PortBase = Annotated[int, typer.Option(help="Add this to every UDP port, for several instances on a machine.")]


@app.command()
def race(
    course: Course = "vq1",
    build: Build = None,
    wire: Wire = "aigp",
    pilot: PilotName = "gate",
    pilot_config: PilotConfig = None,
    vehicle: Annotated[str | None, typer.Option(help="racer or simdrone. Default: what the wire is for.")] = None,
    seed: Seed = 0,
    realtime: Annotated[bool, typer.Option("--realtime", help="Race over UDP sockets in real time.")] = False,
    faults: Annotated[
        str | None, typer.Option(help="Conditions file, or 'none' for the clean original. Default: mild noise and loss.")
    ] = None,
    log: Annotated[Path | None, typer.Option(help="Write the run to this MCAP file.")] = None,
    as_json: Json = False,
) -> None:
    """Fly a race: simulator and pilot in one command, in lockstep unless --realtime."""
    config = RaceConfig(
        course=course, build=build, wire=wire, pilot=pilot, pilot_config=pilot_config,
        vehicle=vehicle, seed=seed, realtime=realtime, faults=faults, log=log,
    )
    result = fly_race(config, None if as_json else _err)
    _report(result.as_json(), result.render(), as_json=as_json)
    if not result.finished:
        raise typer.Exit(1)

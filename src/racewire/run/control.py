"""The control channel's language: one JSON request a line, one JSON reply a line.

A request is `{"v": 1, "id": ANY, "do": VERB, ...}` with the verb's arguments; its reply has the same
`id`, `"ok"`, and either what the verb says or `"error"`. Whatever a line holds, the reply is a value and
nothing is raised. `docs/control.md` is the manual; a test holds it against `VERBS`.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

VERSION = 1

LONGEST = 64 << 10
"""The longest line, bytes."""


@dataclass(frozen=True, slots=True)
class Verb:
    """What a request can ask for: a line of the manual, and the arguments it must have, all numbers."""

    says: str
    arguments: tuple[str, ...] = ()


VERBS: Mapping[str, Verb] = {
    "start": Verb("Begin the countdown after the settling time; the race must be waiting."),
    "reset": Verb("Begin anew as a new process would: boot clock at 0, the same random draws."),
    "pause": Verb("Let the simulator's time stand still: nothing moves, no telemetry leaves."),
    "resume": Verb("Let it go on."),
    "step": Verb("While paused, advance by `ms` (over 0, at most 1000) at once.", ("ms",)),
    "state": Verb("The race, the vehicle and the counters."),
    "truth": Verb("The true motion, whatever the build blocks."),
    "stop": Verb("End `racewire sim`."),
}

Handler = Callable[..., dict[str, Any]]
"""Does what a verb asks, given its arguments; a `ValueError` says why it cannot."""


class Interpreter:
    """Answers lines by calling the handlers, one for each of `VERBS`."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self.counters: Counter[str] = Counter()
        self._handlers = handlers

    def answer(self, line: bytes) -> bytes:
        """Return the reply to one line, a line itself."""
        request: dict[str, Any] = {}
        try:
            request = _read(line)
            name, arguments = _check(request)
            said = {"ok": True, **self._handlers[name](*arguments)}
            self.counters["requests"] += 1
        except ValueError as error:
            self.counters["refused"] += 1
            said = {"ok": False, "error": str(error)}
        identity = request.get("id")
        known = identity if isinstance(identity, str | int | float) else None
        return json.dumps({"v": VERSION, "id": known, **said}).encode() + b"\n"


def _read(line: bytes) -> dict[str, Any]:
    if len(line) > LONGEST:
        raise ValueError(f"a line has at most {LONGEST} bytes")
    try:
        request = json.loads(line.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(request, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - it is the peer's value, not a type of ours
    return cast("dict[str, Any]", request)


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _check(request: dict[str, Any]) -> tuple[str, list[float]]:
    """Return the verb and its arguments."""
    if request.get("v") != VERSION:
        raise ValueError(f"v must be {VERSION}")
    name = request.get("do")
    if not isinstance(name, str) or name not in VERBS:
        raise ValueError(f"do must be one of {', '.join(VERBS)}")
    verb = VERBS[name]
    unknown = sorted(set(request) - {"v", "id", "do", *verb.arguments})
    if unknown:
        raise ValueError(f"{name} takes no '{unknown[0][:40]}'")
    return name, [_number(request.get(argument), argument) for argument in verb.arguments]


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e18:
        raise ValueError(f"{name} must be a number")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite")
    return float(value)

"""The long campaigns of "done when": 20 seeds on each build, 20 random courses, both wires; resumable.

`make acceptance` flies what `acceptance/results.json` does not hold yet for this version of the sources,
writes the file after every race, and says what is missing from a full mark.
"""

import argparse
import hashlib
import json
import os
import platform
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from racewire.run.race import RaceConfig, fly_race

ROOT = Path(__file__).parent.parent
OUT = ROOT / "acceptance" / "results.json"
KEPT = ("finished", "gates_passed", "gates_total", "race_time_s", "collisions", "reason", "log_hash")


def campaigns() -> dict[str, list[RaceConfig]]:
    """Return every race, by the name of its campaign."""
    seeds = range(20)
    return {
        "vq1 on 3391-vq1": [RaceConfig(seed=s) for s in seeds],
        "vq1 on 3364-vq1": [RaceConfig(seed=s, build="3364-vq1") for s in seeds],
        "vq1 on 3391-vq2": [RaceConfig(seed=s, build="3391-vq2") for s in seeds],
        "random courses": [RaceConfig(course=f"random:{s}", seed=s) for s in seeds],
        "vq1 on the raw wire": [RaceConfig(wire="raw", seed=s) for s in seeds],
    }


def name_of(config: RaceConfig) -> str:
    """Return a race's key in the file."""
    return f"{config.course} {config.build or 'default'} {config.wire} seed {config.seed}"


def fly(config: RaceConfig) -> dict[str, object]:
    """Fly one race; a crash is a result too."""
    try:
        result = fly_race(config).as_json()
    except Exception as error:  # noqa: BLE001 - recorded, whatever it was
        return {"finished": False, "reason": repr(error)}
    return {key: result[key] for key in KEPT}


def sources() -> str:
    """Return a digest of everything a race depends on."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".py", ".toml"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def main() -> int:
    """Fly what is missing; return 0 if every campaign reaches its mark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="only the campaigns whose names begin so")
    args = parser.parse_args()
    state = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    if state.get("sources") != sources():
        state = {"sources": sources(), "races": {}}
    state["machine"] = {
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    chosen = {name: races for name, races in campaigns().items() if name.startswith(args.only)}
    missing = [c for races in chosen.values() for c in races if name_of(c) not in state["races"]]
    OUT.parent.mkdir(exist_ok=True)
    with ProcessPoolExecutor(args.jobs) as pool:
        waiting = {pool.submit(fly, config): name_of(config) for config in missing}
        for done, future in enumerate(as_completed(waiting), 1):
            record = state["races"][waiting[future]] = future.result()
            print(f"{done}/{len(missing)} {waiting[future]}: {record}", flush=True)
            OUT.write_text(json.dumps(state, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    good = True
    for name, races in chosen.items():
        finished = sum(bool(state["races"][name_of(c)]["finished"]) for c in races)
        needed = 18 if name.startswith("random") else len(races)
        good &= finished >= needed
        print(f"{name}: {finished}/{len(races)} finished, {needed} needed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

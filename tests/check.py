"""Everything CI checks, in one visible order: format, lint, types, imports, sizes, tests.

Run it with `uv run --locked python tests/check.py`; words after it go to pytest.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONGEST = 350

STEPS = {
    "format": ["ruff", "format", "--check", "src", "tests"],
    "lint": ["ruff", "check", "src", "tests"],
    "types": ["pyright"],
    "imports": ["lint-imports"],
}


def sizes() -> bool:
    """Print the lines of each package; say whether every file is short enough to be one idea."""
    ok = True
    total: dict[str, int] = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        package = path.relative_to(ROOT / "src/racewire").parts[0]
        total[package] = total.get(package, 0) + lines
        if lines > LONGEST:
            print(f"{path.relative_to(ROOT)}: {lines} lines, over {LONGEST}: two ideas?")
            ok = False
    print(", ".join(f"{name} {lines}" for name, lines in total.items()))
    return ok


def main() -> int:
    """Run every step; stop at the first that fails."""
    for name, command in STEPS.items():
        print(f"== {name}", flush=True)
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            return 1
    print("== sizes", flush=True)
    if not sizes():
        return 1
    print("== tests", flush=True)
    tests = ["pytest", "-n", "2", "--dist", "worksteal", *sys.argv[1:]]
    return subprocess.run(tests, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

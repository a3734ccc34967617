"""What stands still: gates, blocks, floors, and touching them."""

from pathlib import Path

_DATA = Path(__file__).parent / "data"

COURSES: dict[str, Path] = {
    "vq1": _DATA / "vq1.toml",
    "vq2": _DATA / "vq2.toml",
}
"""The bundled courses by name; each is a file that `world.course_file` reads."""

"""Finding a course: by its name, by its file, or grown from a seed.

This is the front door of the package; the data classes are `layout`'s.
"""

from pathlib import Path

from racewire.core.errors import ConfigError
from racewire.world import COURSES
from racewire.world.course_file import read_course, save_course
from racewire.world.generate import random_course
from racewire.world.layout import Block, Course, CourseGate

__all__ = ["Block", "Course", "CourseGate", "load_course", "save_course"]

RANDOM = "random:"
"""What the name of a generated course begins with; its seed follows."""


def load_course(name_or_path: str) -> Course:
    """Return the course of that name ("vq1", "vq2", "random:SEED") or the one in that TOML file.

    Raises
    ------
    ConfigError
        If there is no such course, or the file is not a course that can be flown.
    """
    if name_or_path in COURSES:
        path = COURSES[name_or_path]
        return read_course(path, where=path.name)
    if name_or_path.startswith(RANDOM):
        seed = name_or_path.removeprefix(RANDOM)
        if not (seed.isascii() and seed.isdigit()):
            message = f"course '{name_or_path}': the seed must be a whole number from 0"
            raise ConfigError(message)
        return random_course(int(seed))
    path = Path(name_or_path)
    if path.suffix == ".toml" or path.exists():
        return read_course(path)
    message = f"no course '{name_or_path}': choose {', '.join(COURSES)}, random:SEED or a .toml file"
    raise ConfigError(message)

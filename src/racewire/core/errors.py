"""The errors racewire raises on purpose. Bad bytes on a wire are not among them: those are values.

`ConfigError` is the user's to mend (exit code 2); `RunError` says why a run failed its purpose
(exit code 1). Everything else is our bug and keeps its traceback.
"""


class RacewireError(Exception):
    """Base of both: its text is one line, fit to show a user."""


class ConfigError(RacewireError):
    """A file, option or environment that cannot work; the text names it and says why."""


class RunError(RacewireError):
    """A run that could not do what it was asked to."""

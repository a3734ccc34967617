"""Ctrl-C put off: what must not be torn is finished before the interrupt is felt.

Python runs signal handlers in the main thread, between two bytecodes of whatever runs there, so an
interrupt may cut any library call in half. Inside a shield it waits.
"""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class Shield:
    """A context that can be entered again and again; in another thread than the main one it does nothing."""

    def __init__(self) -> None:
        """Stand before the present handler of SIGINT, until `drop`."""
        self._inside = False
        self._waiting = False
        self._before = signal.getsignal(signal.SIGINT)
        self._up = threading.current_thread() is threading.main_thread()
        if self._up:
            signal.signal(signal.SIGINT, self._interrupted)

    def __enter__(self) -> Self:
        """Put interrupts off."""
        self._inside = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let an interrupt that waits be felt."""
        self._inside = False
        if self._waiting:
            self._waiting = False
            self._interrupted(signal.SIGINT, None)

    def drop(self) -> None:
        """Give SIGINT back to the handler before."""
        if self._up:
            signal.signal(signal.SIGINT, self._before)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._inside:
            self._waiting = True
        elif callable(self._before):
            self._before(number, frame)

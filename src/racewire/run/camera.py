"""From an exposure to a JPEG: at once in lockstep, in a thread of its own in real time.

Both offer the same three calls. The thread keeps one exposure waiting, the latest: a slow render
drops frames, counted, and never delays telemetry.
"""

import contextlib
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from types import TracebackType
from typing import Protocol, Self

from racewire.core.clock import Nanos
from racewire.core.frames import Frd, Ned, Pose
from racewire.render.jpeg import decode, encode
from racewire.render.renderer import Picture, Renderer
from racewire.sim.simulator import Exposure


@dataclass(frozen=True, slots=True)
class Frame:
    """A finished frame and the exposure it shows."""

    exposure: Exposure
    jpeg: bytes


class CameraService(Protocol):
    """Turns exposures into frames."""

    dropped: int
    """Exposures that were never drawn."""

    def expose(self, exposure: Exposure) -> None:
        """Take an exposure."""
        ...

    def due(self) -> Nanos | None:
        """Return when, on the boot clock, the next frame is ready; None if that cannot be told."""
        ...

    def ready(self, now: Nanos) -> list[Frame]:
        """Return the frames that are ready at `now` on the boot clock."""
        ...


class InlineCamera:
    """Draws when asked, and hands the frame over a declared time after its exposure."""

    def __init__(self, develop: Callable[[Exposure], bytes], declared_ns: Nanos) -> None:
        self.dropped = 0
        self._develop = develop
        self._declared = declared_ns
        self._waiting: deque[Exposure] = deque()

    def expose(self, exposure: Exposure) -> None:
        """Take an exposure."""
        self._waiting.append(exposure)

    def due(self) -> Nanos | None:
        """Return when the next frame is ready."""
        return self._waiting[0].t_ns + self._declared if self._waiting else None

    def ready(self, now: Nanos) -> list[Frame]:
        """Draw and return the frames that are due."""
        frames: list[Frame] = []
        while self._waiting and self._waiting[0].t_ns + self._declared <= now:
            exposure = self._waiting.popleft()
            frames.append(Frame(exposure, self._develop(exposure)))
        return frames


class ThreadCamera:
    """Draws in a worker thread; `bell` becomes readable when a frame is ready."""

    def __init__(self, develop: Callable[[Exposure], bytes]) -> None:
        self.dropped = 0
        self._develop = develop
        self._wanted: Exposure | None = None
        self._changed = threading.Condition()
        self._stop = False
        self._done: deque[Frame] = deque(maxlen=4)
        self._life = 0
        self.error: BaseException | None = None
        self.bell, self._ring = socket.socketpair()
        self.bell.setblocking(False)
        self._ring.setblocking(False)
        self._thread = threading.Thread(target=self._work, name="camera", daemon=True)
        self._thread.start()

    def expose(self, exposure: Exposure) -> None:
        """Take an exposure; an older one still waiting is dropped."""
        with self._changed:
            self.dropped += self._wanted is not None
            self._wanted = exposure
            self._changed.notify()

    def restart(self) -> None:
        """Forget every exposure taken so far, drawn or not."""
        with self._changed:
            self._wanted = None
            self._life += 1
            self._done.clear()

    def due(self) -> Nanos | None:
        """Return None until a frame, or an error, waits to be fetched; the bell rings when it does."""
        return 0 if self._done or self.error is not None else None

    def ready(self, now: Nanos) -> list[Frame]:  # noqa: ARG002 - frames are handed over when they are done
        """Return the frames finished since the last call.

        Raises
        ------
        BaseException
            What drawing raised, if it did.
        """
        with contextlib.suppress(BlockingIOError):
            self.bell.recv(4096)
        if self.error is not None:
            raise self.error
        frames: list[Frame] = []
        while self._done:
            frames.append(self._done.popleft())
        return frames

    def close(self) -> None:
        """Stop the thread."""
        with self._changed:
            self._stop = True
            self._changed.notify()
        self._thread.join()
        self.bell.close()
        self._ring.close()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stop or self._wanted is not None)
                if self._stop:
                    return
                exposure, self._wanted, life = self._wanted, None, self._life
            assert exposure is not None
            try:
                frame = Frame(exposure, self._develop(exposure))
                with self._changed:
                    if life == self._life:
                        self._done.append(frame)
            except BaseException as error:  # noqa: BLE001 - handed to the loop's thread
                self.error = error
            with contextlib.suppress(BlockingIOError):
                self._ring.send(b"!")


class Bands:
    """A renderer whose picture is drawn in bands of rows, one a thread; the bytes are always the same."""

    def __init__(self, renderer: Renderer, threads: int) -> None:
        self._renderer = renderer
        self._pool = ThreadPoolExecutor(threads, "band") if threads > 1 else None
        rows = renderer.camera.height
        self._cuts = [rows * i // threads for i in range(threads + 1)]

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()

    def render(self, pose: Pose[Ned, Frd], active_gate: int) -> Picture:
        """Return a fresh picture from `pose`."""
        if self._pool is None:
            return self._renderer.render(pose, active_gate)
        picture = self._renderer.blank()
        self._renderer.look_from(pose, active_gate)
        bands = [
            self._pool.submit(self._renderer.draw, top, bottom, picture)
            for top, bottom in pairwise(self._cuts)
        ]
        for band in bands:
            band.result()
        return picture


def darkroom(bands: Bands, quality: int, timed: Callable[[str, Nanos], None]) -> Callable[[Exposure], bytes]:
    """Return the function that draws and encodes one exposure, timing both stages."""

    def develop(exposure: Exposure) -> bytes:
        t0 = time.perf_counter_ns()
        image = bands.render(exposure.pose, exposure.active_gate)
        t1 = time.perf_counter_ns()
        jpeg = encode(image, quality)
        timed("render", t1 - t0)
        timed("encode", time.perf_counter_ns() - t1)
        return jpeg

    return develop


def shrink(jpeg: bytes, limit: int) -> bytes:
    """Return the same picture as a JPEG of at most `limit` bytes, or b"" if none is small enough."""
    image = decode(jpeg)
    if image is None:
        return b""
    for quality in range(80, 0, -10):
        smaller = encode(image, quality)
        if len(smaller) <= limit:
            return smaller
    return b""

"""The one door to Numba.

A kernel is plain scalar Python, compiled without fast-math, so that one vehicle, a batch and a
re-run on another machine agree bit for bit. Intel's SVML is switched off for the same reason: its
results depend on the width of the machine's vectors. Compiled code is cached on disk beside the
source, or in Numba's user-wide cache where that folder is read-only.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar, cast

os.environ.setdefault("NUMBA_DISABLE_INTEL_SVML", "1")

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

prange = numba.prange
"""Parallel range inside a `batch_kernel`; a plain range elsewhere."""


def kernel(function: Function) -> Function:
    """Compile `function` for one vehicle or one image: cached, releasing the GIL, no fast-math."""
    jit = cast("Any", numba.njit)
    return cast("Function", jit(cache=True, nogil=True, error_model="numpy")(function))


def batch_kernel(function: Function) -> Function:
    """Compile `function` for many rows: as `kernel`, with its `prange` loops on all threads."""
    jit = cast("Any", numba.njit)
    return cast("Function", jit(cache=True, nogil=True, error_model="numpy", parallel=True)(function))


def plain(function: Function) -> Function:
    """Return the uncompiled Python function behind a kernel."""
    return cast("Function", getattr(function, "py_func", function))


@contextmanager
def watching_compilation(started: Callable[[], None], ended: Callable[[], None]) -> Generator[None]:
    """Call `started` and `ended` around every compilation inside the block; loading from the cache is none.

    Compilations nest: only the outermost is told of. The calls come from the thread that compiles.
    """
    event = cast("Any", import_module("numba.core.event"))
    depth = 0

    class Listener(event.Listener):
        def on_start(self, event: object) -> None:  # noqa: ARG002 - Numba's signature
            nonlocal depth
            depth += 1
            if depth == 1:
                started()

        def on_end(self, event: object) -> None:  # noqa: ARG002
            nonlocal depth
            depth -= 1
            if depth == 0:
                ended()

    with event.install_listener("numba:compile", Listener()):
        yield

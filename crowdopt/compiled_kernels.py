"""The decorator of compiled kernels: kept on disk where numba finds a place for it, otherwise compiled in each process.

A read-only installation without a home folder has no such place, and numba's own decorator refuses to compile there.
While anything is compiled, wherever that happens, no time limit runs (``crowdopt.pauses``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from numba.core import event

from crowdopt import pauses

ADVICE = (
    "compiled code cannot be kept here, so every process compiles anew; "
    "set NUMBA_CACHE_DIR to a folder that can be written"
)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``numba.njit(**options)``, without the cache where there is no place for one."""

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return numba.njit(**options)(function)  # type: ignore[no-any-return]
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            _advise()
            return numba.njit(**{**options, "cache": False})(function)  # type: ignore[no-any-return]

    return compiled


@cache
def _advise() -> None:
    warnings.warn(ADVICE, RuntimeWarning, stacklevel=4)


class _Pausing(event.Listener):
    """Stops the clocks while numba compiles; what it finds in its cache it does not compile."""

    def on_start(self, event: event.Event) -> None:
        pauses.begin()

    def on_end(self, event: event.Event) -> None:
        pauses.end()


event.register("numba:compile", _Pausing())  # type: ignore[no-untyped-call]

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
    """``numba.njit(**options)``, without the cache where there is no place for one.

    What a kernel is called with from another one counts by its type alone: numba would compile a kernel once more
    where a constant is handed over. A helper that is called in one place is best ``inline="always"``: otherwise it is
    optimised by itself, and again with each kernel that calls it, or calls one that does.
    """
    options = {"no_cfunc_wrapper": True, **options}  # nobody takes a kernel's address

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return _by_type(numba.njit(**options)(function))
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            _advise()
            return _by_type(numba.njit(**{**options, "cache": False})(function))

    return compiled


def is_compiled(kernel: Any) -> bool:
    """Whether a kernel is there: in this process, or kept for this numba and this source, wherever numba keeps it."""
    if not hasattr(kernel, "signatures") or kernel.signatures:
        return True
    try:
        return bool(kernel._cache._cache_file._load_index())
    except (AttributeError, OSError):  # no place to keep anything, or a numba that keeps its index otherwise
        return False


def _by_type(kernel: Any) -> Any:
    """The kernel, for whose callers a constant is of its type and nothing more."""
    template = getattr(kernel, "get_call_template", None)  # not there where numba is told not to compile
    if template is not None:
        kernel.get_call_template = lambda args, named: template([_wide(one) for one in args], named)
    return kernel


def _wide(kind: Any) -> Any:
    return numba.types.unliteral(kind)  # type: ignore[no-untyped-call]


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

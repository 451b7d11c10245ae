"""Kernels as plain Python, for the little that a small campaign needs: ten labels wait for no compiler.

A kernel's Python says what its compiled loops do, operation by operation, so both give the same bits. Inside
:func:`plain` kernels that are not compiled run as they are written, for a few seconds at most; then they are compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from time import thread_time
from types import FunctionType
from typing import Any

import numpy as np


@dataclass
class _Allowance:
    """What is left of the seconds that kernels may run as plain Python."""

    seconds: float = 0.0
    kept: dict[int, bool] = field(default_factory=dict)  # of kernels met, whether compiled code is there

    def lets(self, kernel: Any) -> bool:
        if self.seconds <= 0:
            return False
        if id(kernel) not in self.kept:
            self.kept[id(kernel)] = is_kept(kernel)
        return not self.kept[id(kernel)]


FEW_TASKS, FEW_WORKERS = 200, 25  # of a small campaign: votes of so few are exact without long laws
MOMENT = 2.0  # seconds as plain Python; compiling takes several times as long

_allowed = _Allowance()
_written: dict[int, Any] = {}


def going_on() -> bool:
    """Whether kernels run as plain Python now."""
    return _allowed.seconds > 0


@contextmanager
def plain(seconds: float) -> Iterator[None]:
    """Run kernels that are not compiled as plain Python, so many seconds in all; then they are compiled."""
    before = _allowed.seconds
    _allowed.seconds, _allowed.kept = seconds, {}
    try:
        yield
    finally:
        _allowed.seconds = before


def for_small(tasks: int, workers: int) -> AbstractContextManager[None]:
    """:func:`plain` for a moment where there are few tasks and workers; otherwise all is compiled."""
    small = tasks <= FEW_TASKS and workers <= FEW_WORKERS
    return plain(MOMENT if small else 0.0)


def is_kept(kernel: Any) -> bool:
    """Whether a kernel's compiled code is there: in this process, or kept for this numba and this source."""
    if not hasattr(kernel, "signatures") or kernel.signatures:
        return True
    try:
        return bool(kernel._cache._cache_file._load_index())
    except (AttributeError, OSError):  # no place to keep anything, or a numba that keeps its index otherwise
        return False


@cache
def switched(kind: type[Any]) -> type[Any]:
    """The class of compiled kernels, whose calls heed :func:`plain`."""

    class Switched(kind):  # type: ignore[misc]
        def __call__(self, *given: Any) -> Any:
            if not _allowed.lets(self):
                try:
                    return super().__call__(*given)
                except SystemError as error:  # what Python makes of Ctrl-C that a compiled loop returns with
                    cause: BaseException | None = error
                    while isinstance(cause, SystemError):
                        cause = cause.__cause__
                    raise cause or error from None
            began = thread_time()
            try:
                with np.errstate(all="ignore"):  # as compiled loops, which warn of nothing
                    return as_written(self)(*given)
            finally:
                _allowed.seconds -= thread_time() - began

    return Switched


def as_written(kernel: Any) -> Any:
    """The kernel's own Python, which calls that of other kernels."""
    if id(kernel) not in _written:
        from numba.core.dispatcher import Dispatcher

        function = kernel.py_func
        names = dict(function.__globals__)
        _written[id(kernel)] = written = FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, function.__closure__
        )
        for name in _names_in(function.__code__):
            if isinstance(names.get(name), Dispatcher):
                names[name] = as_written(names[name])
        return written
    return _written[id(kernel)]


def _names_in(code: Any) -> set[str]:
    """Global names in the code, those of functions and comprehensions within included."""
    inner = [one for one in code.co_consts if hasattr(one, "co_names")]
    return set(code.co_names).union(*map(_names_in, inner))

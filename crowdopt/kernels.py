"""Kernels: loops that numba compiles when they are first called, keeps on disk, or runs as they are written.

A kernel's Python says what its compiled loop does, operation by operation, so both give the same bits. The exact
method's loops take two minutes of a processor to compile together. So in small campaigns a kernel is compiled only once
it has run about as long as compiling takes, in all processes together (:func:`for_small`), and no time limit runs
meanwhile (:func:`paused`). Loops in C would take all of it away, but an installation from source would then need a C
compiler.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import count
from math import inf
from pathlib import Path
from threading import Lock
from time import perf_counter, thread_time
from types import FunctionType
from typing import Any

ADVICE = (
    "compiled code cannot be kept here, so every process compiles anew; "
    "set NUMBA_CACHE_DIR to a folder that can be written"
)
FEW_TASKS, FEW_WORKERS = 1000, 40  # of a small campaign, in which no call of a kernel takes long as plain Python
MOMENT = 5.0  # seconds of a kernel as plain Python; compiling it takes about as long, or somewhat longer


@dataclass
class _State:
    """Of this process: whether kernels may run as plain Python, how long they did, how long clocks have stood still."""

    plain: bool = False
    spent: dict[Any, float] = field(default_factory=dict)  # seconds of a kernel as plain Python, by all processes
    ended: float = 0.0
    compiling: int = 0  # in several threads, or within one another
    since: float = 0.0
    lock: Lock = field(default_factory=Lock)


_state = _State()


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit(**options)``, without the cache where there is no place for one.

    What a kernel is called with from another one counts by its type alone: numba would compile a kernel once more
    where a constant is handed over. A helper that is called in one place is best ``inline="always"``: otherwise it is
    optimised by itself, and again with each kernel that calls it, or calls one that does.
    """
    numba = _numba()

    def kernel(function: Callable[..., Any], **more: Any) -> Any:
        made = numba.njit(**{"no_cfunc_wrapper": True, **options, **more})(function)
        if not isinstance(made, numba.core.dispatcher.Dispatcher):  # numba is told not to compile
            return made
        template = made.get_call_template
        made.get_call_template = lambda args, named: template([numba.types.unliteral(one) for one in args], named)
        made.__class__ = _switched(made.__class__)
        return _apart(made)

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return kernel(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            _advise()
            return kernel(function, cache=False)

    return compiled


@cache
def _numba() -> Any:
    """Numba, once it tells of compiling; what it finds in its cache it does not compile."""
    import numba
    from numba.core import bytecode, event

    def name_apart() -> None:
        # numba counts functions from 1 in each process, and the count tells apart helpers of one name, of which its
        # own sorts have many. Code that two processes kept and a third loads has then two helpers under one name and
        # count, and the linker takes the first for both: ``np.sort`` that did not sort, seen twice. So each process
        # counts from a place of its own.
        bytecode.FunctionIdentity._unique_ids = count(int.from_bytes(os.urandom(7)))

    class Pausing(event.Listener):
        def on_start(self, event: event.Event) -> None:
            pause()

        def on_end(self, event: event.Event) -> None:
            go_on()

    name_apart()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=name_apart)
    event.register("numba:compile", Pausing())  # type: ignore[no-untyped-call]
    return numba


@cache
def _advise() -> None:
    warnings.warn(ADVICE, RuntimeWarning, stacklevel=4)


def _apart(kernel: Any) -> Any:
    """The kernel, whose compiled versions are kept in files named after what they are compiled for."""
    # numba numbers them. Two processes that compile one kernel for different types at the same time may choose the
    # same number, and what is then read under one type is code for the other: wrong results without a word.
    try:
        kept = kernel._cache._cache_file
        load_index, save_index, save_data = kept._load_index, kept._save_index, kept._save_data
        name_of, dump = kept._data_name, kept._dump
    except AttributeError:  # nothing is kept, or by a numba that does it otherwise
        return kernel

    def known() -> dict[Any, str]:
        try:
            index: dict[Any, str] = load_index()
        except (AttributeError, ImportError):  # kept by another version, for types that have gone or moved since
            return {}
        return index

    def save(key: Any, data: Any) -> None:
        index = kept._load_index()
        if key not in index:
            index[key] = name_of(int(sha256(dump(key)).hexdigest()[:15], 16))
            save_index(index)
        save_data(index[key], data)

    kept._load_index, kept.save = known, save
    return kernel


@cache
def _switched(kind: Any) -> Any:
    """The class of compiled kernels, whose calls heed :func:`for_small`."""
    import numpy as np

    class Switched(kind):  # type: ignore[misc]
        def __call__(self, *given: Any) -> Any:
            if not _state.plain or _is_due(self):
                try:
                    return super().__call__(*given)
                except SystemError as error:  # what Python makes of Ctrl-C that a compiled loop returns with
                    cause: BaseException | None = error
                    while isinstance(cause, SystemError):
                        cause = cause.__cause__
                    raise cause or error from None
            began = thread_time()
            pause()
            try:
                with np.errstate(all="ignore"):  # as compiled loops, which warn of nothing
                    return _as_written(self)(*given)
            finally:
                go_on()
                _state.spent[self] += thread_time() - began

    return Switched


def is_kept(kernel: Any) -> bool:
    """Whether a kernel's compiled code is there: in this process, or kept for this numba and this source."""
    try:
        return bool(kernel.signatures or kernel._cache._cache_file._load_index())
    except (AttributeError, OSError):  # no place to keep anything, or a numba that keeps its index otherwise
        return False


@cache
def _as_written(kernel: Any) -> Any:
    """The kernel's own Python, which calls that of other kernels."""
    function = kernel.py_func
    names = dict(function.__globals__)
    for name in _names_in(function.__code__):
        if hasattr(names.get(name), "py_func"):
            names[name] = _as_written(names[name])
    code, defaults = function.__code__, function.__defaults__
    return FunctionType(code, names, function.__name__, defaults, function.__closure__)


def _names_in(code: Any) -> set[str]:
    """Global names in the code, those of functions and comprehensions within included."""
    inner = [one for one in code.co_consts if hasattr(one, "co_names")]
    return set(code.co_names).union(*map(_names_in, inner))


@contextmanager
def for_small(tasks: int, workers: int) -> Iterator[None]:
    """Run each kernel that is not compiled as plain Python for a moment, where there are few tasks and workers."""
    before, _state.plain = _state.plain, tasks <= FEW_TASKS and workers <= FEW_WORKERS
    try:
        yield
    finally:
        _state.plain = before
        for kernel, seconds in [*_state.spent.items()]:  # other threads may add kernels meanwhile
            with suppress(OSError, AttributeError):  # no place to keep anything
                if seconds < MOMENT:
                    _spent_at(kernel).write_text(f"{seconds:.6f}", encoding="ascii")


def _spent_at(kernel: Any) -> Path:
    """The file beside a kernel's compiled code that says how long it has run as plain Python."""
    place = Path(kernel._cache._cache_file._index_path)
    place.parent.mkdir(parents=True, exist_ok=True)
    return place.with_suffix(".plain")


def _is_due(kernel: Any) -> bool:
    """Whether a kernel's compiled code is there, or its moment as plain Python is over."""
    if kernel not in _state.spent:
        _state.spent[kernel] = inf if is_kept(kernel) else 0.0
        with suppress(OSError, AttributeError, ValueError):  # of earlier processes
            _state.spent[kernel] += float(_spent_at(kernel).read_text(encoding="ascii"))
    return _state.spent[kernel] >= MOMENT


def pause() -> None:
    """Stop every clock of this process; each call needs a :func:`go_on`."""
    with _state.lock:
        if _state.compiling == 0:
            _state.since = perf_counter()
        _state.compiling += 1


def go_on() -> None:
    """Let the clocks go on once every pause that was begun has ended."""
    with _state.lock:
        _state.compiling -= 1
        if _state.compiling == 0:
            _state.ended += perf_counter() - _state.since


def paused() -> float:
    """How long the clocks have stood still since the process began, in seconds."""
    with _state.lock:
        return _state.ended + (perf_counter() - _state.since if _state.compiling else 0.0)


def is_compiling() -> bool:
    """Whether the clocks stand still now."""
    return _state.compiling > 0

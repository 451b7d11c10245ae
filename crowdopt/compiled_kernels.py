"""The decorator of compiled kernels: kept on disk where numba finds a place for it, otherwise compiled in each process.

A read-only installation without a home folder has no such place, and numba's own decorator refuses to compile there.
While anything is compiled, wherever that happens, no time limit runs (``crowdopt.pauses``).

A kernel is compiled when it is first called, and kept: the exact method's loops take a minute or two of a processor,
most of it inference and lowering in Python. Two processes that shared them took longer. Loops in C would take all of
it away, but an installation from source would then need a C compiler.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from itertools import count
from typing import Any

import numba
from numba.core import bytecode, event

from crowdopt import pauses, plain_kernels

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
    options = {"no_cfunc_wrapper": True, **options}  # a kernel's address is never taken

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return _switched(_by_type(_apart(numba.njit(**options)(function))))
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            _advise()
            return _switched(_by_type(numba.njit(**{**options, "cache": False})(function)))

    return compiled


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


def _name_apart() -> None:
    """Number what this process compiles from a place of its own, which no other process is likely to use."""
    # numba counts functions from 1 in each process, and the count tells apart helpers of one name, of which its own
    # sorts have many. Code that two processes kept and a third loads has then two helpers under one name and count,
    # and the linker takes the first for both: ``np.sort`` that did not sort, seen twice.
    bytecode.FunctionIdentity._unique_ids = count(int.from_bytes(os.urandom(7)))


def _by_type(kernel: Any) -> Any:
    """The kernel, for whose callers a constant is of its type and nothing more."""
    template = getattr(kernel, "get_call_template", None)  # not there where numba is told not to compile
    if template is not None:
        kernel.get_call_template = lambda args, named: template([_wide(one) for one in args], named)
    return kernel


def _switched(kernel: Any) -> Any:
    """The kernel, which may run as plain Python."""
    if isinstance(kernel, numba.core.dispatcher.Dispatcher):  # a function where numba is told not to compile
        kernel.__class__ = plain_kernels.switched(type(kernel))
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


_name_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_name_apart)
event.register("numba:compile", _Pausing())  # type: ignore[no-untyped-call]

"""Solvers under one contract: ``solve_program(program, backend, options)`` gives a Solution, whoever made it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from os import cpu_count
from typing import TYPE_CHECKING

import numpy as np

from crowdopt.core.program import Program
from crowdopt.core.registry import others, own
from crowdopt.core.solution import Listener, Options, Settings, Solution, Status
from crowdopt.errors import InputError, meant, public
from crowdopt.solvers.claims import NoAnswer, taken_over
from crowdopt.solvers.lp_methods import played_by
from crowdopt.solvers.settings import taken_apart

if TYPE_CHECKING:
    from crowdopt.solvers.probe import Available

LONGEST = 300  # characters of an error that are passed on
_HERE = sys.modules[__name__]


class BackendMissing(RuntimeError):
    """The backend's library is not installed, or cannot be used here; the message says what to do about it."""


class BackendFailed(RuntimeError):
    """The backend broke down, or answered with something that is no answer; the message says how."""


@dataclass(frozen=True)
class Backend:
    """One way to solve programs."""

    name: str
    library: str  # import name of the solver library
    install: str  # what to type where the library is missing
    integers: bool  # whether it handles integer columns
    duals: bool  # whether it returns the multipliers of linear programs
    # ``run(program, options, listener) -> Solution``; raises ImportError without the library
    run: Callable[[Program, Options, Listener | None], Solution]
    continuous: bool = True  # whether it handles columns that need not be integers
    isolated: bool = False  # whether it runs in a process of its own, as those of third parties always do
    # ``warm(program, options)``: the library's objects, kept between the solves of a session


@cache
def registered() -> dict[str, Backend]:
    """Every backend that this package or another installed one offers, by name, whether or not its library is there."""
    ours = {backend.name: backend for several in own(_HERE, "BACKENDS") for backend in several}
    theirs = [
        replace(backend, isolated=True) for several in others(_HERE, "BACKENDS", "__iter__") for backend in several
    ]
    return ours | {backend.name: backend for backend in theirs if backend.name not in ours}


def named(name: str) -> Backend:
    """The backend of that name, ``highs`` or ``highs[presolve=off]``; BackendMissing names those there are."""
    base, settings = taken_apart(name)
    if base not in registered():
        near = meant(base, registered())
        hint = "" if near is None else f"did you mean {near!r}? "
        raise BackendMissing(f"there is no backend {base!r}; {hint}there are {', '.join(registered())}")
    found = registered()[base]
    return replace(found, name=name, run=partial(_with_settings, found.run, settings)) if settings else found


def _with_settings(
    run: Callable[[Program, Options, Listener | None], Solution],
    settings: Settings,
    program: Program,
    options: Options,
    listener: Listener | None,
) -> Solution:
    return run(program, replace(options, settings=(*options.settings, *settings)), listener)


def available(names: Sequence[str] = (), seconds: float = 60.0) -> list[Available]:
    """What each registered backend can do here, found out by solving, each in a process of its own."""
    from crowdopt.solvers.probe import probe

    chosen = [named(name) for name in names or registered()]
    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        return list(pool.map(lambda backend: probe(backend, seconds), chosen))


@public
def solve_program(
    program: Program,
    backend: str = "highs",
    options: Options | None = None,
    listener: Listener | None = None,
    *,
    isolated: bool | None = None,
) -> Solution:
    """Solve a program and report what the solver claims. Certify before you believe it.

    Whatever the backend does, the solution is one of this very program, in arrays of its own.

    Parameters
    ----------
    program : Program
    backend : str
        One of ``registered()``; or a role of :mod:`crowdopt.core.solution`, such as BY_SIZE.
    options : Options
        Limits; 60 seconds unless said.
    listener : callable, optional
        Hears of incumbents and bounds while a search runs, where the solver tells.
    isolated : bool, optional
        Whether to run it in a process of its own, which is stopped if it breaks the options' limits; third parties'
        backends always are unless this says no.

    Returns
    -------
    Solution
        Status, point and multipliers as the solver claims them, in the house's sign; what it does not say is None.

    Raises
    ------
    BackendMissing
        If there is no such backend, its library is missing or does not load, or it cannot handle such columns.
    InputError
        If the backend's library has no such option, or its value is of another kind.
    BackendFailed
        If the backend raises anything else, is stopped, or answers with something that is no answer.
    """
    backend = played_by(backend, program)
    chosen = named(backend)
    if program.integer.any() and not chosen.integers:
        raise BackendMissing(f"{backend} solves linear programs only; relax the program or choose another backend")
    if not program.integer.all() and not chosen.continuous:
        raise BackendMissing(f"{backend} solves programs in integers only; choose another backend")
    whole = program.with_whole_sides()
    plain = _plain(whole, backend)
    if plain is not None:
        return replace(plain, program=program)
    options = options or Options()
    if chosen.isolated if isolated is None else isolated:
        from crowdopt.solvers.isolated import run

        return held_to(program, backend, run(backend, whole, options, listener))
    with _in_sentences(backend, chosen):
        given = _to_write_in(whole) if chosen.isolated else whole
        return held_to(program, backend, chosen.run(given, options, listener))


@contextmanager
def _in_sentences(backend: str, chosen: Backend) -> Iterator[None]:
    """Whatever a backend raises as one of our errors."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != chosen.library:
            raise BackendFailed(f"{backend} failed: {_words(error)}") from error
        raise BackendMissing(f"{backend} needs the library {chosen.library}: {chosen.install}") from error
    except ImportError as error:
        raise BackendMissing(f"{backend}: {chosen.library} is installed but does not load here: {error}") from error
    except (BackendMissing, BackendFailed, InputError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # sys.exit in a backend must not end us as if all were well
        raise BackendFailed(f"{backend} failed: {_words(error)}") from error


def _to_write_in(program: Program) -> Program:
    """A copy whose matrix may be written into, as some libraries ask of what they only read."""
    copy = replace(program, matrix=program.matrix.copy())
    for array in (copy.matrix.data, copy.matrix.indices, copy.matrix.indptr):
        array.setflags(write=True)
    return copy


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".strip().split("\n")[0][:LONGEST]


def solve_whole(
    program: Program,
    backend: str = "highs",
    options: Options | None = None,
    listener: Listener | None = None,
) -> Solution:
    """Solve for a caller whose answer cannot say that it was cut short: Ctrl-C ends the caller too.

    Raises KeyboardInterrupt if the search was interrupted.
    """
    found = solve_program(program, backend, options, listener)
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def held_to(program: Program, backend: str, answer: object) -> Solution:
    """The answer as a solution of this program; BackendFailed where it is none."""
    try:
        return taken_over(program, backend, answer)
    except NoAnswer as error:
        raise BackendFailed(f"{backend} {error}; choose another backend") from None


def _plain(program: Program, backend: str) -> Solution | None:
    """What needs no solver, and what libraries do not agree on: crossed sides, rows without entries, no entries."""
    if program.has_crossed_sides:
        raw = "a lower side above its upper side"
        return Solution(program, backend, Status.INFEASIBLE, None, None, None, None, 0.0, raw)
    filled = np.bincount(program.matrix.indices, minlength=program.row_lower.size) > 0
    short, long = program.row_lower > 0, program.row_upper < 0
    ray = np.where(filled, 0.0, np.where(short, 1.0, np.where(long, -1.0, 0.0)))
    if ray.any():
        return Solution(program, backend, Status.INFEASIBLE, None, None, ray, None, 0.0, "a row without entries")
    return _without_entries(program, backend) if program.matrix.nnz == 0 else None


def _without_entries(program: Program, backend: str) -> Solution:
    """Columns that no row ties together: each goes where its cost pulls it."""
    raw, rest, cost = "no entries", np.clip(0.0, program.lower, program.upper), program.cost
    point = np.where(cost > 0, program.lower, np.where(cost < 0, program.upper, rest))
    if not np.isfinite(point).all():
        return Solution(program, backend, Status.UNBOUNDED, None, None, None, None, 0.0, raw)
    dual = None if program.integer.any() else np.zeros_like(program.row_lower)
    return Solution(program, backend, Status.OPTIMAL, point, dual, None, float(cost @ point), 0.0, raw)


@contextmanager
def alone(*others: str) -> Iterator[None]:
    """Keep other libraries out while one is imported.

    PuLP 4 and CVXPY import every solver they know. ortools and highspy carry two builds of HiGHS that cannot be in one
    process, so a caller that loads the modelling library for HiGHS must not get ortools as well.
    """
    kept_out = [name for name in others if name not in sys.modules]
    sys.modules.update(dict.fromkeys(kept_out))  # type: ignore[arg-type]  # None makes an import fail
    try:
        yield
    finally:
        for name in kept_out:
            sys.modules.pop(name, None)

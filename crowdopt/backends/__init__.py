"""Solvers under one contract: ``solve(program, backend, options)`` gives a Solution, whoever solved it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from crowdopt.core.program import Program
from crowdopt.core.registry import discover
from crowdopt.core.solution import Listener, Options, Solution, Status


class BackendMissing(RuntimeError):
    """The backend's library is not installed; the message says how to install it."""


@dataclass(frozen=True)
class Backend:
    """One way to solve programs.

    Parameters
    ----------
    name : str
    library : str
        Import name of the solver library.
    install : str
        What to type where the library is missing.
    integers, duals : bool
        Whether it handles integer columns; whether it returns the multipliers of linear programs.
    run : callable
        ``run(program, options, listener) -> Solution``; raises ImportError without the library.
    """

    name: str
    library: str
    install: str
    integers: bool
    duals: bool
    run: Callable[[Program, Options, Listener | None], Solution]


@cache
def registered() -> dict[str, Backend]:
    """Every backend that this package or another installed one offers, by name, whether or not its library is there."""
    found: dict[str, Backend] = {}
    for several in discover(sys.modules[__name__], "BACKENDS"):
        found.update({backend.name: backend for backend in several})
    return found


def named(name: str) -> Backend:
    """The backend of that name; BackendMissing names those there are."""
    if name not in registered():
        raise BackendMissing(f"there is no backend {name!r}; there are {', '.join(registered())}")
    return registered()[name]


def solve(
    program: Program,
    backend: str = "highs",
    options: Options | None = None,
    listener: Listener | None = None,
) -> Solution:
    """Solve a program and report what the solver claims. Certify before you believe it.

    Parameters
    ----------
    program : Program
    backend : str
        One of ``registered()``.
    options : Options
        Limits; 60 seconds unless said.
    listener : callable, optional
        Hears of incumbents and bounds while a search runs, where the solver tells.

    Raises
    ------
    BackendMissing
        If there is no such backend, its library is missing, or it cannot handle integer columns.
    """
    chosen = named(backend)
    if program.integer.any() and not chosen.integers:
        raise BackendMissing(f"{backend} solves linear programs only; relax the program or choose another backend")
    if program.cost.size == 0:
        return _without_columns(program, backend)
    try:
        return chosen.run(program, options or Options(), listener)
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != chosen.library:
            raise
        raise BackendMissing(f"{backend} needs the library {chosen.library}: {chosen.install}") from error


def _without_columns(program: Program, backend: str) -> Solution:
    """A program without columns, which no library likes: feasible exactly if every row admits 0."""
    short, long = program.row_lower > 0, program.row_upper < 0
    ray = np.where(short, 1.0, np.where(long, -1.0, 0.0))
    zero = np.zeros_like(program.row_lower)
    if not ray.any():
        return Solution(program, backend, Status.OPTIMAL, np.zeros(0), zero, None, 0.0, 0.0, "no columns")
    return Solution(program, backend, Status.INFEASIBLE, None, None, ray, None, 0.0, "no columns")

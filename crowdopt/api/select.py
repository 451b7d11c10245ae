"""The calls that say whom to hire."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt import backends
from crowdopt.api.binding import RELAXATIONS, SEARCH, options_of
from crowdopt.backends import BackendMissing, solve_whole
from crowdopt.crowd.candidates import SelectionInstance
from crowdopt.errors import InputError
from crowdopt.hire.by_program import TABLE, solve_program, solve_table
from crowdopt.hire.ranking import DRAWN, RANKINGS
from crowdopt.hire.selected import Selection

SELECTIONS = (*RANKINGS, *DRAWN, "program", TABLE)


def select(
    correct: Any,
    asked: Any,
    classes: int = 2,
    budget: int | None = None,
    method: str | None = None,
    backend: str = SEARCH,
    time_limit: float = 60.0,
    seed: int = 0,
    **limits: Any,
) -> Selection:
    """Decide whom to hire: ``max F(S) = |S|^(-1/2) sum of G_i over S  s.t.  |S| <= K`` (Li & Liu 2015, problem 11).

    Parameters
    ----------
    correct, asked : (workers,) int
        Control questions each worker answered correctly, and was asked; ``asked`` may be one number for all.
    classes : int
        L.
    budget : int, optional
        K, the most workers; default: all.
    method : str, optional
        ``algorithm1`` (the default, exact where there is no other limit), ``program`` (the default and exact under the
        limits below), ``dynamic-programming`` (exact and fast for prices on a grid), ``plug-in``,
        ``variance-normalised``, ``top-k``, ``random-k``.
    backend, time_limit
        For the program.
    seed : int
        For ``top-k`` (ties) and ``random-k``, and the solver's own.
    **limits
        ``price``, ``money``, ``required``, ``barred``, ``group``, ``fewest``, and the ids ``workers``, ``groups``, of
        :class:`crowdopt.crowd.candidates.SelectionInstance`.

    Returns
    -------
    Selection
        Its status says whether it is optimal, and its certificate by how much at most it is not.

    Raises
    ------
    InputError
        If anything is out of range or contradictory.
    """
    instance = SelectionInstance(correct, asked, classes, budget, **limits)  # type: ignore[arg-type]
    return hire(instance, method, backend, time_limit, seed)


def hire(
    instance: SelectionInstance,
    method: str | None = None,
    backend: str = SEARCH,
    time_limit: float = 60.0,
    seed: int = 0,
) -> Selection:
    """Decide whom of an instance to hire; arguments as for :func:`select`."""
    chosen = method or ("algorithm1" if instance.is_plain else "program")
    if chosen not in SELECTIONS:
        raise InputError(f"method must be one of {', '.join(SELECTIONS)}, not {chosen!r}")
    if chosen in RANKINGS:
        return RANKINGS[chosen](instance)
    if chosen in DRAWN:
        return replace(DRAWN[chosen](instance, np.random.default_rng(seed)), seed=seed)
    if chosen == TABLE:
        return solve_table(instance)
    if not backends.named(backend).integers:
        raise BackendMissing(f"{backend} solves linear programs only; choose another backend")
    return solve_program(instance, solve_whole, backend, options_of(time_limit, seed), RELAXATIONS)

"""The verb select: whom to hire, from arrays or from tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from crowdopt import backends
from crowdopt.api.binding import RELAXATIONS, SEARCH, AnyPath, options_of
from crowdopt.backends import BackendMissing, solve_whole
from crowdopt.crowd.candidates import SelectionInstance
from crowdopt.errors import InputError
from crowdopt.files import together
from crowdopt.hire.by_program import TABLE, solve_program, solve_table
from crowdopt.hire.frontier import cost_frontier
from crowdopt.hire.ranking import DRAWN, RANKINGS
from crowdopt.hire.selected import Frontier, Selection
from crowdopt.io.folder import check_target
from crowdopt.io.hiring_tables import read_candidates, write_frontier, write_hired
from crowdopt.report.charts import save
from crowdopt.report.hiring_chart import hiring_chart

SELECTIONS = (*RANKINGS, *DRAWN, "program", TABLE)


def select(
    correct: ArrayLike,
    asked: ArrayLike,
    *,
    classes: int = 2,
    budget: int | None = None,
    method: str | None = None,
    backend: str = SEARCH,
    time_limit: float = 60.0,
    seed: int = 0,
    price: ArrayLike | None = None,
    money: float | None = None,
    required: ArrayLike | None = None,
    barred: ArrayLike | None = None,
    group: ArrayLike | None = None,
    fewest: ArrayLike | None = None,
    most_each: ArrayLike | None = None,
    workers: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> Selection:
    """Decide whom to hire: ``max F(S) = |S|^(-1/2) sum of G_i over S  s.t.  |S| <= K`` (Li & Liu 2015, problem 11).

    Parameters
    ----------
    correct, asked : (workers,) int
        Control questions each worker answered correctly, and was asked; ``asked`` may be one number for all.
    classes : int
        L, classes a label chooses from.
    budget : int, optional
        K, the most workers; default: all.
    method : str, optional
        ``algorithm1`` (the default, exact where there is no other limit), ``program`` (the default and exact under the
        limits below), ``dynamic-programming`` (exact and fast for prices on a grid), ``plug-in``,
        ``variance-normalised``, ``top-k``, ``random-k``.
    backend : str
        Who solves the program.
    time_limit : float
        Seconds for it.
    seed : int
        For ``top-k`` (ties) and ``random-k``, and the solver's own.
    price : float or (workers,) float, optional
        What hiring a worker costs.
    money : float, optional
        The most the hired may cost together.
    required, barred : (k,) int, optional
        Workers who must be hired; who must not.
    group : (workers,) int, optional
        Each worker's group, counted from 0.
    fewest : int or (groups,) int, optional
        The fewest workers of each group.
    most_each : int or (groups,) int, optional
        The most workers of each group; 1 for families of workers who err together.
    workers, groups : sequence of str, optional
        Ids; default: 0, 1, 2, ...

    Returns
    -------
    Selection
        Its status says whether it is optimal, and its certificate by how much at most it is not. ``workers`` is
        (hired,) int, by gain, greatest first.

    Raises
    ------
    InputError
        If anything is out of range or contradictory.
    BackendMissing
        If the backend is not there, or solves no integer programs.
    """
    instance = SelectionInstance(
        correct,  # type: ignore[arg-type]  # lists become arrays there
        asked,  # type: ignore[arg-type]
        classes,
        budget,  # type: ignore[arg-type]
        price=price,  # type: ignore[arg-type]
        money=money,
        required=required,  # type: ignore[arg-type]
        barred=barred,  # type: ignore[arg-type]
        group=group,  # type: ignore[arg-type]
        fewest=fewest,  # type: ignore[arg-type]
        most_each=most_each,  # type: ignore[arg-type]
        workers=workers,
        groups=groups,
    )
    return hire(instance, method, backend=backend, time_limit=time_limit, seed=seed)


def select_from_tables(
    gold: AnyPath,
    *,
    classes: int = 2,
    budget: int | None = None,
    method: str | None = None,
    workers: AnyPath | None = None,
    kind: str | None = None,
    money: float | None = None,
    require: Sequence[str] = (),
    bar: Sequence[str] = (),
    at_least: Mapping[str, int] | None = None,
    at_most: Mapping[str, int] | None = None,
    backend: str = SEARCH,
    time_limit: float = 60.0,
    coverage: float = 0.95,
    seed: int = 0,
    output: AnyPath | None = None,
    chart: AnyPath | None = None,
    frontier: AnyPath | None = None,
    force: bool = False,
) -> Selection:
    """Decide whom to hire from tables on disk, with every file that is to be written.

    Parameters
    ----------
    gold : path
        Columns worker, correct, asked; with a column type, a worker's types are added up, unless ``kind`` names one.
    classes, budget, method, money, backend, time_limit, seed
        As for :func:`select`.
    workers : path, optional
        Columns worker, and price or group or both.
    kind : str, optional
        Go by the gold of this type alone.
    require, bar : sequence of str
        Ids of workers who must be hired; who must not.
    at_least : dict of str to int, optional
        The fewest workers of a group.
    at_most : dict of str to int, optional
        The most workers of a group; under ``*`` of every group that is not named.
    coverage : float
        Of the score's interval, ``selection.interval(coverage)``; out of (0, 1) nothing is written.
    output, chart, frontier : path, optional
        To write: a table of the hired; a picture, .png or .svg; a table of the sets that no smaller one (with prices:
        no cheaper one) scores as much as. Without a set only the frontier is written.
    force : bool
        Whether files that are there may be replaced.

    Returns
    -------
    Selection

    Raises
    ------
    InputError
        If a table cannot be used, limits contradict each other, or a file cannot be written.
    BackendMissing
        As for :func:`select`.
    """
    for path in (output, chart, frontier):
        if path is not None:
            check_target(Path(path), None, force)
    fewest = dict(at_least or {})
    instance = read_candidates(gold, classes, budget, workers, money, require, bar, fewest, kind, dict(at_most or {}))
    selection = hire(instance, method, backend=backend, time_limit=time_limit, seed=seed)
    selection.interval(coverage)
    with together():
        if output is not None and selection.found:
            write_hired(selection, Path(output), force)
        if chart is not None and selection.found:
            save(hiring_chart(selection, by_cost(selection)), Path(chart))
        if frontier is not None:
            write_frontier(by_cost(selection) or selection.frontier, instance, Path(frontier), force)
    return selection


def hire(
    instance: SelectionInstance,
    method: str | None = None,
    *,
    backend: str = SEARCH,
    time_limit: float = 60.0,
    seed: int = 0,
) -> Selection:
    """Decide whom of an instance to hire.

    Parameters
    ----------
    instance : SelectionInstance
    method, backend, time_limit, seed
        As for :func:`select`.

    Returns
    -------
    Selection

    Raises
    ------
    InputError
        If there is no such method, or it does not know the instance's limits.
    BackendMissing
        As for :func:`select`.
    """
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


def by_cost(selection: Selection) -> Frontier | None:
    """Score against cost, where there are prices and groups have no most."""
    instance = selection.instance
    return None if instance.price is None or instance.limits_groups else cost_frontier(instance)

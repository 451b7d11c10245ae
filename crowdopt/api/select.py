"""The verb select: whom to hire, from arrays or from tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.api.binding import RELAXATIONS, SEARCH, AnyPath, TableLike, options_of
from crowdopt.backends import BackendMissing, named, solve_whole
from crowdopt.crowd.gold.below_chance import against_chance, heed
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.errors import InputError
from crowdopt.files import together
from crowdopt.hire.by_program import TABLE, solve_program, solve_table
from crowdopt.hire.frontier import cost_frontier
from crowdopt.hire.ranking import DRAWN, RANKINGS
from crowdopt.hire.selected import Frontier, Selection
from crowdopt.io.hiring_tables import read_candidates, write_frontier, write_hired
from crowdopt.io.tables.folder import check_target
from crowdopt.io.tables.table_columns import find_table
from crowdopt.report.charts import save
from crowdopt.report.hiring_chart import hiring_chart

SELECTIONS = (*RANKINGS, *DRAWN, "program", TABLE)


@overload
def select(correct: ArrayLike, asked: ArrayLike, **options: Any) -> Selection: ...


@overload
def select(correct: TableLike, **options: Any) -> Selection: ...


def select(correct: Any, asked: ArrayLike | None = None, **options: Any) -> Selection:
    """Decide whom to hire: ``max F(S) = |S|^(-1/2) sum of G_i over S  s.t.  |S| <= K`` (Li & Liu 2015, problem 11).

    Parameters
    ----------
    correct : (workers,) array_like of int, path or frame
        How many control questions each worker answered correctly. Without ``asked`` a table of gold: worker, correct,
        asked, or worker, task, label, truth; or the folder of a campaign that has one.
    asked : int or (workers,) array_like of int, optional
        How many each was asked.
    **options
        ``classes``, ``most`` (K, workers to hire), ``method``, ``money``, ``seed``, ``trust_gold``, …: with numbers
        those of :func:`crowdopt.api.select.select_from_arrays`, with a table those of ``select_from_tables``.

    Returns
    -------
    Selection
        Its status says whether it is optimal, and its certificate by how much at most it is not. ``workers`` is
        (hired,) int, by gain, greatest first.

    Raises
    ------
    InputError
        If anything is out of range or contradictory, or the crowd as a whole is below chance.
    """
    if asked is not None:
        return select_from_arrays(correct, asked, **options)
    return select_from_tables(correct, **options)


def gold_of(given: TableLike) -> TableLike:
    """The table itself, or that of a campaign's folder."""
    if not (isinstance(given, str | Path) and Path(given).is_dir()):
        return given
    found = find_table(Path(given), "gold")
    if found is None:
        raise InputError(f"{given}: there is no gold.csv, and hiring goes by answers to questions of known answer")
    return found


def select_from_arrays(
    correct: ArrayLike,
    asked: ArrayLike,
    *,
    classes: int = 2,
    most: int | None = None,
    method: str | None = None,
    backend: str = SEARCH,
    time_limit: float = 60.0,
    seed: int = 0,
    trust_gold: bool = False,
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

    correct, asked (workers,): control questions each worker answered correctly, and was asked; ``asked`` may be one
    number for all.
    classes: L, classes a label chooses from.
    most: K, the most workers; default: all.
    method: ``algorithm1`` (the default, exact where there is no other limit), ``program`` (the default and exact under
    the limits below), ``dynamic-programming`` (exact and fast for prices on a grid), ``plug-in``,
    ``variance-normalised``, ``top-k``, ``random-k``.
    backend: who solves the program.
    time_limit: seconds for it.
    seed: for ``top-k`` (ties) and ``random-k``, and the solver's own.
    trust_gold: whether gold is taken as it is, even where workers are below chance.
    price float or (workers,) float: what hiring a worker costs.
    money: the most the hired may cost together.
    required, barred (k,): workers who must be hired; who must not.
    group (workers,): each worker's group, counted from 0.
    fewest int or (groups,) int: the fewest workers of each group.
    most_each int or (groups,) int: the most workers of each group; 1 for families of workers who err together.
    workers, groups: ids; default: 0, 1, 2, ....
    -> its status says whether it is optimal, and its certificate by how much at most it is not. ``workers`` is (hired,)
    int, by gain, greatest first.
    """
    instance = SelectionInstance(
        correct,  # type: ignore[arg-type]  # lists become arrays there
        asked,  # type: ignore[arg-type]
        classes,
        most,  # type: ignore[arg-type]
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
    return hire(instance, method, backend=backend, time_limit=time_limit, seed=seed, trust_gold=trust_gold)


def select_from_tables(
    gold: TableLike,
    *,
    classes: int = 2,
    most: int | None = None,
    method: str | None = None,
    workers: TableLike | None = None,
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
    trust_gold: bool = False,
    output: AnyPath | None = None,
    chart: AnyPath | None = None,
    frontier: AnyPath | None = None,
    force: bool = False,
) -> Selection:
    """Decide whom to hire from tables, with every file that is to be written.

    gold: columns worker, correct, asked, or worker, task, label, truth; with a column type, a worker's types are added
    up, unless ``kind`` names one; or the folder of a campaign that has one.
    classes, most, method, money, backend, time_limit, seed, trust_gold: as for :func:`select_from_arrays`.
    workers: columns worker, and price or group or both.
    kind: go by the gold of this type alone.
    require, bar: ids of workers who must be hired; who must not.
    at_least: the fewest workers of a group.
    at_most: the most workers of a group; under ``*`` of every group that is not named.
    coverage: of the score's interval, ``selection.interval(coverage)``; out of (0, 1) nothing is written.
    output, chart, frontier: to write: a table of the hired; a picture, .png or .svg; a table of the sets that no
    smaller one (with prices: no cheaper one) scores as much as. Without a set only the frontier is written.
    force: whether files that are there may be replaced.
    """
    for path in (output, chart, frontier):
        if path is not None:
            check_target(Path(path), None, force)
    fewest = dict(at_least or {})
    instance = read_candidates(
        gold_of(gold), classes, most, workers, money, require, bar, fewest, kind, dict(at_most or {})
    )
    selection = hire(instance, method, backend=backend, time_limit=time_limit, seed=seed, trust_gold=trust_gold)
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
    trust_gold: bool = False,
) -> Selection:
    """Decide whom of an instance to hire.

    method, backend, time_limit, seed, trust_gold: as for :func:`select_from_arrays`.
    """
    if not trust_gold:
        names = [instance.worker_id(j) for j in range(instance.n_workers)]
        heed(against_chance(instance.correct, instance.asked, instance.classes), names, "gold")
    chosen = method or ("algorithm1" if instance.is_plain else "program")
    if chosen not in SELECTIONS:
        raise InputError(f"method must be one of {', '.join(SELECTIONS)}, not {chosen!r}")
    if chosen in RANKINGS:
        return RANKINGS[chosen](instance)
    if chosen in DRAWN:
        return replace(DRAWN[chosen](instance, np.random.default_rng(seed)), seed=seed)
    if chosen == TABLE:
        return solve_table(instance)
    if not named(backend).integers:
        raise BackendMissing(f"{backend} solves linear programs only; choose another backend")
    return solve_program(instance, solve_whole, backend, options_of(time_limit, seed), RELAXATIONS)


def by_cost(selection: Selection) -> Frontier | None:
    """Score against cost, where there are prices and groups have no most."""
    instance = selection.instance
    return None if instance.price is None or instance.limits_groups else cost_frontier(instance)

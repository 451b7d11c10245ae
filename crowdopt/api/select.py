"""The verb select: whom to hire, from arrays or from tables."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, overload

from numpy.typing import ArrayLike

from crowdopt.api.binding import RELAXATIONS, SEARCH, AnyPath, TableLike, options_of
from crowdopt.backends import BackendMissing, named, solve_whole
from crowdopt.crowd.skills import heed
from crowdopt.errors import InputError, public
from crowdopt.files import together
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import TABLE, cost_frontier, solve_program, solve_table
from crowdopt.hire.ranking import RULES, Frontier, Selection, ranked
from crowdopt.io.folders import check_target
from crowdopt.io.hiring import CandidateLimits, read_candidates, write_frontier, write_hired
from crowdopt.io.tables import find_table
from crowdopt.report.charts import hiring_chart, save

SELECTIONS = (*RULES, "program", TABLE)


@public
@dataclass(frozen=True, kw_only=True)
class HireOptions:
    """Options of the search for the best set.

    Parameters
    ----------
    method : str, optional
        ``algorithm1`` (the default, exact where there is no limit but ``most``), ``program`` (the default and exact
        under other limits), ``dynamic-programming`` (exact and fast for prices on a grid), ``plug-in``,
        ``variance-normalised``, ``top-k``, ``random-k``.
    backend : str
        Who solves the program.
    time_limit : float
        Seconds for it.
    seed : int
        For ``top-k`` (ties) and ``random-k``, and the solver's own.
    trust_gold : bool
        Whether gold is taken as it is, even where workers are below chance.
    """

    method: str | None = None
    backend: str = SEARCH
    time_limit: float = 60.0
    seed: int = 0
    trust_gold: bool = False


@public
@dataclass(frozen=True, kw_only=True)
class SelectOptions(HireOptions, CandidateLimits):
    """Options of a selection from tables: who may be hired, the search, and what is written.

    Parameters
    ----------
    coverage : float
        Of the score's interval, ``selection.interval(coverage)``; out of (0, 1) nothing is written.
    output, chart, frontier : path, optional
        To write: a table of the hired; a picture, .png or .svg; a table of the sets that no smaller one (with prices:
        no cheaper one) scores as much as. Without a set only the frontier is written.
    force : bool
        Whether files that are there may be replaced.
    """

    coverage: float = 0.95
    output: AnyPath | None = None
    chart: AnyPath | None = None
    frontier: AnyPath | None = None
    force: bool = False


@overload
def select(correct: ArrayLike, asked: ArrayLike, **options: Any) -> Selection: ...


@overload
def select(correct: TableLike, **options: Any) -> Selection: ...


@public
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
        those of :class:`HireOptions` and :class:`~crowdopt.hire.candidates.SelectionInstance`, with a table
        those of :class:`SelectOptions`.

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
    return select_from_tables(correct, SelectOptions(**options))


def gold_of(given: TableLike) -> TableLike:
    """The table itself, or that of a campaign's folder."""
    if not (isinstance(given, str | Path) and Path(given).is_dir()):
        return given
    found = find_table(Path(given), "gold")
    if found is None:
        raise InputError(f"{given}: there is no gold.csv, and hiring needs answers to control questions")
    return found


def select_from_arrays(correct: ArrayLike, asked: ArrayLike, **options: Any) -> Selection:
    """Decide whom to hire from numbers.

    correct, asked (workers,): control questions each worker answered correctly, and was asked; ``asked`` may be one
    number for all; options: of :class:`HireOptions`, and what a SelectionInstance is made of.
    """
    how = {one.name: options.pop(one.name) for one in fields(HireOptions) if one.name in options}
    return hire(SelectionInstance(correct, asked, **options), HireOptions(**how))  # type: ignore[arg-type]  # lists


def select_from_tables(gold: TableLike, options: SelectOptions) -> Selection:
    """Decide whom to hire from tables, with every file that is to be written.

    gold: columns worker, correct, asked, or worker, task, label, truth; with a column type, a worker's types are added
    up, unless ``kind`` names one; or the folder of a campaign that has one.
    """
    for path in (options.output, options.chart, options.frontier):
        if path is not None:
            check_target(Path(path), None, options.force)
    instance = read_candidates(gold_of(gold), options)
    selection = hire(instance, options)
    selection.interval(options.coverage)
    with together():
        if options.output is not None and selection.found:
            write_hired(selection, Path(options.output), options.force)
        if options.chart is not None and selection.found:
            save(hiring_chart(selection, by_cost(selection)), Path(options.chart))
        if options.frontier is not None:
            frontier = by_cost(selection) or selection.frontier
            write_frontier(frontier, instance, Path(options.frontier), options.force)
    return selection


def hire(instance: SelectionInstance, how: HireOptions = HireOptions()) -> Selection:
    """Decide whom of an instance to hire."""
    if not how.trust_gold:
        names = instance.worker_ids
        heed(instance.correct, instance.asked, instance.classes, names, "gold")
    chosen = how.method or ("algorithm1" if instance.is_plain else "program")
    if chosen not in SELECTIONS:
        raise InputError(f"method must be one of {', '.join(SELECTIONS)}, not {chosen!r}")
    if chosen in RULES:
        return ranked(instance, chosen, how.seed)
    if chosen == TABLE:
        return solve_table(instance)
    if not named(how.backend).integers:
        raise BackendMissing(f"{how.backend} solves linear programs only; choose another backend")
    return solve_program(instance, solve_whole, how.backend, options_of(how.time_limit, how.seed), RELAXATIONS)


def by_cost(selection: Selection) -> Frontier | None:
    """Score against cost, where there are prices and groups have no most."""
    instance = selection.instance
    return None if instance.price is None or instance.limits_groups else cost_frontier(instance)

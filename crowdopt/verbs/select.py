"""The verb select: whom to hire, from arrays or from tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

from numpy.typing import ArrayLike

from crowdopt.core.solution import Status
from crowdopt.crowd.skills import heed
from crowdopt.errors import InputError
from crowdopt.files import together
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import TABLE, cost_frontier, solve_program, solve_table
from crowdopt.hire.ranking import RULES, Frontier, Selection, ranked
from crowdopt.io.folders import check_target
from crowdopt.io.hiring import CandidateLimits, read_candidates, write_frontier, write_hired
from crowdopt.io.tables import find_table
from crowdopt.pages.charts import hiring_chart, save
from crowdopt.said import Said, Seed, Verb, Word
from crowdopt.solvers import BackendMissing, named, solve_whole
from crowdopt.verbs.binding import RELAXATIONS, SEARCH, AnyPath, TableLike, keywords, options_of

SELECTIONS = (*RULES, "program", TABLE)


@dataclass(frozen=True, kw_only=True)
class SelectOptions:
    """Options of a selection: who may be hired, the search, and what is written.

    Parameters
    ----------
    asked : int or (workers,) array_like of int, optional
        How many questions each was asked; of a table its column.
    classes : int
        Number of classes of a label.
    most : int, optional
        The largest number of workers, K. Default: all.
    method : str, optional
        ``algorithm1`` (the default, exact where there is no limit but ``most``), ``program`` (the default and exact
        under other limits), ``dynamic-programming`` (exact and fast for prices on a grid), ``plug-in``,
        ``variance-normalised``, ``top-k``, ``random-k``.
    workers : path or frame, optional
        Table of workers: worker[,price][,group]. With numbers the names of the workers.
    kind : str, optional
        Use the gold of this type alone. Default: the sum over all types.
    money : float, optional
        The most that the hired workers may cost together.
    require : sequence of str or int, optional
        Hire this worker; may be repeated.
    bar : sequence of str or int, optional
        Do not hire this worker; may be repeated.
    at_least : mapping of str to int, optional
        The fewest workers of a group; may be repeated.
    at_most : mapping of str to int, optional
        The most workers of a group, or of each group not named: ``*=1``.
    price, group, fewest, most_each, groups : array_like, optional
        With numbers: what a worker costs, each worker's group, limits of the groups, and their names.
    backend : str
        Backend that solves the program.
    time_limit : float
        Seconds for the program.
    coverage : float
        Coverage of the score's interval.
    seed : int
        Seed of ties and draws, and the solver's own.
    require_proof : bool
        Exit with 1 unless the set is proven optimal; a call in Python says so in its answer.
    trust_gold : bool
        Take gold as it is, even where workers are below chance.
    output : path, optional
        Table of the hired workers to write.
    chart : path, optional
        Picture to write, .png or .svg (extra plots).
    frontier : path, optional
        Table to write: each set whose score no smaller one reaches (with prices: no cheaper one).
    force : bool
        Replace files that exist.
    """

    asked: ArrayLike | None = field(default=None, kw_only=False)
    classes: int = 2
    most: int | None = None
    method: str | None = None
    workers: TableLike | Sequence[str] | None = None
    kind: Annotated[str, Word("--type")] | None = None
    money: float | None = None
    require: Sequence[str] = ()
    bar: Sequence[str] = ()
    at_least: Annotated[Mapping[str, int], Word(place="GROUP=N")] | None = None
    at_most: Annotated[Mapping[str, int], Word(place="GROUP=N")] | None = None
    price: ArrayLike | None = None
    group: ArrayLike | None = None
    fewest: ArrayLike | None = None
    most_each: ArrayLike | None = None
    groups: ArrayLike | None = None
    backend: str = SEARCH
    time_limit: float = 60.0
    coverage: float = 0.95
    seed: Seed = 0
    require_proof: bool = False
    trust_gold: bool = False
    output: AnyPath | None = None
    chart: AnyPath | None = None
    frontier: AnyPath | None = None
    force: bool = False


OF_NUMBERS = ("price", "group", "fewest", "most_each", "groups")
OF_TABLES = ("kind", "at_least", "at_most", "output", "chart", "frontier")


@keywords(SelectOptions)
def select(correct: Annotated[ArrayLike | TableLike, Word(place="GOLD")], options: SelectOptions) -> Selection:
    """Decide whom to hire from their answers to control questions, with the proof.

    Parameters
    ----------
    correct : (workers,) array_like of int, path or frame
        How many control questions each worker answered correctly. Without ``asked`` a table of gold: worker, correct,
        asked, or worker, task, label, truth; or the folder of a campaign that has one.

    Returns
    -------
    Selection
        ``max F(S)  s.t.  |S| <= K``, ``F(S) = |S|^(-1/2) sum of G_i over S`` (Li & Liu 2015, problem 11). Its
        status says whether it is optimal, and its certificate by how much at most it is not. ``workers`` is (hired,)
        int, by gain, greatest first.

    Raises
    ------
    InputError
        If anything is out of range or contradictory, or the crowd as a whole is below chance.

    Reads
    -----
    gold worker[,type],correct,asked; workers worker,price,group, if given

    Writes
    ------
    with -o the hired workers, with --frontier every set worth having, with --chart a picture

    Examples
    --------
    ::

        crowdopt select my-campaign/gold.csv --type bird --most 8 -o hired.csv
    """
    by_table = options.asked is None
    strange = [name for name in (OF_NUMBERS if by_table else OF_TABLES) if getattr(options, name) is not None]
    if strange:
        raise InputError(
            f"{', '.join(strange)} belong to {'numbers' if by_table else 'a table of gold'}; leave them out"
        )
    if by_table:
        return _from_tables(correct, options)
    named = {name: getattr(options, name) for name in (*OF_NUMBERS, "classes", "most", "money", "workers")}
    own = {name: value for name, value in named.items() if value is not None}
    return hire(
        SelectionInstance(correct, options.asked, required=options.require, barred=options.bar, **own),  # type: ignore[arg-type]
        options,
    )


def gold_of(given: TableLike) -> TableLike:
    """The table itself, or that of a campaign's folder."""
    if not (isinstance(given, str | Path) and Path(given).is_dir()):
        return given
    found = find_table(Path(given), "gold")
    if found is None:
        raise InputError(f"{given}: there is no gold.csv, and hiring needs answers to control questions")
    return found


def _from_tables(gold: Any, options: SelectOptions) -> Selection:
    """Decide whom to hire from tables, with every file that is to be written.

    gold: columns worker, correct, asked, or worker, task, label, truth; with a column type, a worker's types are added
    up, unless ``kind`` names one; or the folder of a campaign that has one.
    """
    for path in (options.output, options.chart, options.frontier):
        if path is not None:
            check_target(Path(path), None, options.force)
    limits = {one.name: getattr(options, one.name) for one in fields(CandidateLimits)}
    instance = read_candidates(gold_of(gold), CandidateLimits(**limits))
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


def hire(instance: SelectionInstance, how: SelectOptions = SelectOptions()) -> Selection:
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


SHOWN = 12  # names on a line


def _facts(selection: Selection, interval: tuple[float, float]) -> dict[str, Any]:
    frontier, found = selection.frontier, selection.found
    return {
        "workers": [selection.instance.worker_id(i) for i in selection.members.tolist()],
        "status": selection.status.value,
        "method": selection.method,
        "backend": selection.backend,
        "score": selection.score,
        "plug_in_score": selection.plug_in_score,
        "best_score": selection.best_score if selection.best_score < float("inf") else None,
        "proven": selection.proven,
        "proof": selection.proof,
        "cost": selection.cost if found else None,
        "interval": list(interval) if found else None,
        "error_estimate": selection.error_estimate if found else None,
        "best_vote_estimate": selection.best_vote_estimate if found else None,
        "frontier": {"size": frontier.size.tolist(), "score": frontier.score.tolist()},
        "warnings": selection.warnings,
    }


def _lines(selection: Selection, interval: tuple[float, float], coverage: float) -> list[str]:
    instance = selection.instance
    if not selection.found:
        if selection.status is Status.INFEASIBLE:
            vouched = "proven" if selection.proof == "certificate" else f"on {selection.backend}'s word"
            return [f"no set of workers keeps all the limits ({vouched}); allow more money or workers, or ask for less"]
        return ["no set was found within the limits of the search; allow more time"]
    names = [instance.worker_id(i) for i in selection.members[:SHOWN].tolist()]
    more = f" and {selection.members.size - SHOWN} more" if selection.members.size > SHOWN else ""
    paid = "" if selection.cost is None else f", cost {selection.cost:.10g}"
    return [
        f"hire {selection.members.size} of {instance.n_workers} workers{paid}: {', '.join(names)}{more}",
        f"score {selection.score:.6g} (plug-in, biased: {selection.plug_in_score:.6g}); {selection.in_words}",
        f"{100 * coverage:g} % interval of the score: {interval[0]:.4g} to {interval[1]:.4g}",
        f"error of an answer, estimated bounds: {selection.error_estimate:.2g} by linear votes (Li & Liu, corrected), "
        f"{selection.best_vote_estimate:.2g} by log-odds votes (Bhattacharyya)",
        *(f"note: {warning}" for warning in selection.warnings),
    ]


def _written(*paths: AnyPath | None) -> list[str]:
    return [f"wrote {path}" for path in paths if path is not None and Path(path).exists()]


def _said(
    selection: Selection,
    coverage: float,
    require_proof: bool,
    output: AnyPath | None,
    chart: AnyPath | None,
    frontier: AnyPath | None,
) -> Said:
    interval = selection.interval(coverage)
    lines = [*_lines(selection, interval, coverage), *_written(output, chart, frontier)]
    return Said(
        _facts(selection, interval), lines, int(not selection.found or (require_proof and not selection.proven))
    )


VERBS = (Verb("select", select, _said),)

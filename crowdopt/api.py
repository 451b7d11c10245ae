"""The calls users make: the one place that binds solving to the methods."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from crowdopt import backends
from crowdopt.backends import BackendMissing, solve
from crowdopt.backends.highs import HighsMaster
from crowdopt.core.dual import dualize
from crowdopt.core.program import Program, relax
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.aggregation import FROM_ACCURACIES, FROM_LABELS, Answers
from crowdopt.crowd.checks import is_amount
from crowdopt.crowd.errors import InputError
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.selection import SelectionInstance
from crowdopt.io.answering import Answered, read_answers, write_answers
from crowdopt.io.campaign import read_campaign, write_campaign
from crowdopt.io.export import check_file, ids_of, write_program
from crowdopt.io.importing import import_labels
from crowdopt.io.plan_folder import write_plan
from crowdopt.io.rehearsing import write_rehearsal
from crowdopt.offline.budget.method import METHODS, Spent, least_wrong
from crowdopt.offline.budget.promise import Promised, smallest_promise
from crowdopt.offline.checked import refuse_shares, solve_checked
from crowdopt.offline.exact.method import solve_exact
from crowdopt.offline.exact.search import Solvers
from crowdopt.offline.explain.conflict import conflict as find_conflict
from crowdopt.offline.explain.curve import Curve
from crowdopt.offline.explain.curve import curve as find_curve
from crowdopt.offline.explain.margins import Margins
from crowdopt.offline.explain.margins import margins as find_margins
from crowdopt.offline.explain.probe import Probe
from crowdopt.offline.explain.remedies import Remedy
from crowdopt.offline.explain.remedies import remedies as find_remedies
from crowdopt.offline.explain.shortage import Shortage, shortage
from crowdopt.offline.frontier import cost_frontier
from crowdopt.offline.full import Clock, solve_full
from crowdopt.offline.hiring import TABLE, solve_program, solve_table
from crowdopt.offline.patterns.method import POOLS, solve_patterns
from crowdopt.offline.quick import quick_plan
from crowdopt.offline.ranking import DRAWN, RANKINGS
from crowdopt.plan import Plan
from crowdopt.programs import assignment, assignment_dual
from crowdopt.proofs import prove_patterns
from crowdopt.report.charts import save
from crowdopt.report.curve import cost_curve
from crowdopt.selection import Selection
from crowdopt.verify import verify

__all__ = [
    "Curve",
    "Margins",
    "aggregate",
    "answers",
    "assign",
    "conflict",
    "cost_frontier",
    "curve",
    "explain",
    "export",
    "hire",
    "import_labels",
    "margins",
    "promise",
    "read_campaign",
    "rehearse",
    "remedies",
    "select",
    "spend",
    "verify",
    "write_campaign",
    "write_plan",
]

PROGRAMS = ("ip", "lp")
PATTERNS = "patterns"
SEARCH = "highs"  # who searches the full program where the exact method needs it
SOLVERS = Solvers(solve, HighsMaster, SEARCH)
RELAXATIONS = "highs-ipm"  # solves auxiliary LPs: up to nine times as fast as simplex on elastic ones
EXPORTS = (*PROGRAMS, "dual")
SELECTIONS = (*RANKINGS, *DRAWN, "program", TABLE)
AGGREGATIONS = (*FROM_LABELS, *FROM_ACCURACIES)


def assign(
    instance: AssignmentInstance,
    method: str = "exact",
    program: str = "ip",
    time_limit: float = 60.0,
    gap: float = 0.0,
    nodes: int | None = None,
    threads: int = 1,
    seed: int = 0,
    listener: Listener | None = None,
) -> Plan:
    """Decide who labels what: ``min sum c_ij y_ij`` such that every task gets its evidence (Ho et al. 2013, 4.2).

    Parameters
    ----------
    instance : AssignmentInstance
    method : str
        ``exact``: over classes of interchangeable tasks and workers, with a proof that needs no solver's word where
        that is possible; ``patterns``, or ``patterns:pools=8``: the true minimum under the rules exact-error and
        mean-error where skills are few or rounded to few; or a backend (``crowdopt backends`` lists them), which gets
        the full program.
    program : str
        ``ip`` for whole labels, ``lp`` for the relaxation.
    time_limit : float
        Seconds in all.
    gap : float
        Relative gap at which a search may stop.
    nodes : int, optional
        Limit on the nodes of a search, for results that do not depend on the clock.
    threads, seed : int
        Handed to the solver.
    listener : callable, optional
        Hears of incumbents and bounds.

    Returns
    -------
    Plan
        Its status says whether it is optimal, feasible, or why there is none; nothing is raised for that.

    Raises
    ------
    InputError
        If an argument is out of range.
    BackendMissing
        If the method's library is not installed.
    """
    if program not in PROGRAMS:
        raise InputError(f"program must be one of {', '.join(PROGRAMS)}, not {program!r}")
    try:
        options = Options(time_limit=time_limit, gap=gap, nodes=nodes, threads=threads, seed=seed)
    except ValueError as error:
        raise InputError(str(error)) from None
    started, clock = datetime.now(UTC), perf_counter()
    if program == "lp":
        refuse_shares(instance)
    name, pools = _pools_asked(method)
    if name == PATTERNS:
        if program == "lp":
            raise InputError("method patterns plans whole labels; ask for the program ip")
        plan = solve_patterns(instance, solve, prove_patterns, options, pools, listener)
    elif instance.the_rule.average:
        raise InputError(
            "rule mean-error is for the average of all tasks; ask for --method patterns, or patterns:pools=8"
        )
    elif program == "ip" and instance.the_rule.checked:
        plan = solve_checked(instance, partial(_linear, method, program, None), options, listener)
    else:
        plan = _linear(method, program, listener, instance, options)
    return replace(plan, seconds=perf_counter() - clock, started=started.isoformat(timespec="seconds"))


def spend(
    instance: AssignmentInstance,
    money: float,
    method: str = "auto",
    time_limit: float = 60.0,
    seed: int = 0,
) -> Spent:
    """The least expected number of wrong answers for a sum of money: ``min sum_i e_i  s.t.  sum c_ij y_ij <= money``.

    Parameters
    ----------
    money : float
        With prices of 1 a number of labels.
    method : str
        ``greedy``, with its guarantee and a certified bound; ``patterns`` or ``patterns:pools=8``, the true minimum
        where skills are few or rounded to few; ``auto``: the better of both where skills are few, else greedy.

    Raises
    ------
    InputError
        If an argument is out of range, there are more than two classes, or limits that the method does not know.
    """
    name, pools = _pools_asked(method)
    if name not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, or patterns:pools=8, not {method!r}")
    if not is_amount(money):
        raise InputError(f"the sum to spend must be finite and at least 0, not {money}")
    started, clock = datetime.now(UTC), perf_counter()
    spent = least_wrong(instance, money, solve, prove_patterns, _options(time_limit, seed), name, pools)
    plan = replace(spent.plan, seconds=perf_counter() - clock, started=started.isoformat(timespec="seconds"))
    return replace(spent, plan=plan)


def promise(instance: AssignmentInstance, money: float, time_limit: float = 60.0, seed: int = 0) -> Promised:
    """The smallest error that a plan found for so much money keeps for every task, and one that none can."""
    if not is_amount(money):
        raise InputError(f"the sum to spend must be finite and at least 0, not {money}")
    options = _options(time_limit, seed)
    return smallest_promise(
        instance, money, solve, options, lambda one: quick_plan(one, SOLVERS, max(0.5, time_limit / 40))
    )


def _options(time_limit: float, seed: int) -> Options:
    try:
        return Options(time_limit=time_limit, seed=seed)
    except ValueError as error:
        raise InputError(str(error)) from None


def _pools_asked(method: str) -> tuple[str, int | None]:
    """``patterns:pools=8`` as a method and a number; others as they are."""
    name, colon, given = method.partition(":")
    if name != PATTERNS:
        return method, None
    key, _, number = given.partition("=")
    if colon and (key != "pools" or not number.isdigit() or not 1 <= int(number) <= POOLS):
        raise InputError(f"{method}: patterns takes pools=1 to pools={POOLS}, as in patterns:pools=8")
    return name, int(number) if colon else None


def _linear(
    method: str, program: str, listener: Listener | None, instance: AssignmentInstance, options: Options
) -> Plan:
    """The rule's linear program, by the method asked for."""
    if method == "exact":
        return solve_exact(instance, program, SOLVERS, options, listener)
    chosen = backends.named(method)
    if program == "ip" and not chosen.integers:
        raise BackendMissing(f"{method} solves linear programs only; ask for the program lp or choose another method")
    linear = method if program == "lp" or (chosen.duals and method != "highs") else RELAXATIONS
    return solve_full(instance, program, solve, method, options, listener, linear)


def explain(instance: AssignmentInstance, time_limit: float = 60.0) -> Shortage | None:
    """What an infeasible instance lacks, and which error target is within reach; None if time ran out."""
    return shortage(instance, _probe(time_limit))


def remedies(instance: AssignmentInstance, time_limit: float = 60.0, epsilon: float | None = None) -> list[Remedy]:
    """Ways to make an infeasible instance feasible, each with a plan of whole labels that proves it.

    A looser error target (``epsilon``, or the smallest found), more capacity, more workers, fewer tasks, more money.
    """
    probe = _probe(time_limit)
    if epsilon is None:
        found = shortage(instance, probe)
        epsilon = None if found is None else found.epsilon_within_reach
    return find_remedies(instance, probe, epsilon)


def conflict(instance: AssignmentInstance, time_limit: float = 60.0) -> list[int]:
    """An irreducible set of types whose needs cannot be met together; empty where shares of labels would do."""
    return find_conflict(instance, _probe(time_limit))


def has_plan(instance: AssignmentInstance, time_limit: float = 20.0) -> bool:
    """Whether a plan of whole labels was found within the time."""
    probe = _probe(time_limit)
    return probe.find(instance) is not None or assign(instance, time_limit=probe.clock.left, gap=1.0).found


def margins(instance: AssignmentInstance, time_limit: float = 60.0) -> Margins | None:
    """Prices of tasks and values of capacities by the LP, the steepest solved again; None where it has no point."""
    return find_margins(instance, _probe(time_limit))


def curve(instance: AssignmentInstance, time_limit: float = 60.0) -> Curve:
    """What each error target costs: the LP's optimum piece by piece, and plans that were found."""
    probe = _probe(time_limit)
    found = shortage(instance, probe)
    least = found.no_epsilon_below if found is not None and found.no_epsilon_below else instance.epsilon.min()
    return find_curve(instance, probe, max(1e-6, 1.001 * float(least)))


def can_draw() -> bool:
    """Whether the extra ``plots`` is installed."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def draw_curve(found: Curve, path: Path) -> None:
    """A picture of the curve; its name says the format."""
    save(cost_curve(found.epsilon, found.bound, found.plan), path)


def _probe(seconds: float) -> Probe:
    return Probe(solve, lambda instance, limit: quick_plan(instance, SOLVERS, limit), Clock(seconds, perf_counter()))


def answers(
    labels: str | Path, plan: str | Path, campaign: str | Path, folder: str | Path | None = None, force: bool = False
) -> Answered:
    """Answers from the labels of a plan: weighted votes, exact posteriors, what is missing; and the next campaign.

    Parameters
    ----------
    labels : path
        Columns task, worker, label: what came back.
    plan, campaign : path
        The plan's folder, and that of the campaign it was made for.
    folder : path, optional
        Where to write answers.csv, missing.csv and ``campaign/``, the campaign with these labels in, ready to solve.

    Raises
    ------
    InputError
        If something cannot be read, or the folder cannot be written.
    """
    found = read_answers(labels, plan, campaign)
    if folder is not None:
        write_answers(found, folder, force)
    return found


def rehearse(
    campaign: str | Path,
    plan: str | Path,
    output: str | Path,
    truth: str | Path | None = None,
    seed: int = 0,
    lost: float = 0.0,
    force: bool = False,
) -> int:
    """Simulate the labels of a plan by the campaign's own skills and write their table; returns their number."""
    return write_rehearsal(campaign, plan, output, truth, seed, lost, force)


def export(instance: AssignmentInstance, path: str | Path, program: str = "ip", force: bool = False) -> Program:
    """Write a program for any other solver, with readable names, whole or not at all.

    Parameters
    ----------
    instance : AssignmentInstance
    path : str or Path
        Ends in ``.mps`` (free MPS) or ``.lp`` (CPLEX LP).
    program : str
        ``ip``, ``lp``, or ``dual``: the paper's dual, or the mechanical dual of the LP where the instance has limits
        that the paper's does not know. Either is a minimum whose optimum is minus the LP's.
    force : bool
        Whether to replace a file that is there.

    Returns
    -------
    Program
        What was written; its name says which dual: ``assignment-dual`` or ``assignment-lp-dual``.

    Raises
    ------
    InputError
        If an argument is out of range, or the file exists and is not forced, or cannot be written.
    """
    if program not in EXPORTS:
        raise InputError(f"program must be one of {', '.join(EXPORTS)}, not {program!r}")
    check_file(Path(path), force)
    chosen = _exported(instance, program)
    write_program(chosen, Path(path), ids_of(chosen, instance), force)
    return chosen


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
        :class:`crowdopt.crowd.selection.SelectionInstance`.

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
    try:
        options = Options(time_limit=time_limit, seed=seed)
    except ValueError as error:
        raise InputError(str(error)) from None
    return solve_program(instance, solve, backend, options, RELAXATIONS)


def aggregate(labels: Labels, method: str = "one-coin", accuracy: Any = None, **settings: Any) -> Answers:
    """Answers from labels.

    Parameters
    ----------
    labels : Labels
    method : str
        ``majority``, ``one-coin``, ``dawid-skene``, ``kos``; with accuracies also ``wmv-linear``, ``wmv-log``.
    accuracy : (workers,) float, optional
        Each worker's chance to be right, for the weighted votes.
    **settings
        Of the method, in :mod:`crowdopt.crowd.aggregation`: ``iterations``, ``prior``, ``truth``, ``truncation``, …

    Raises
    ------
    InputError
        If the method is unknown, needs accuracies, or takes none.
    """
    if method not in AGGREGATIONS:
        raise InputError(f"method must be one of {', '.join(AGGREGATIONS)}, not {method!r}")
    if method in FROM_LABELS:
        if accuracy is not None:
            raise InputError(f"{method} takes no accuracies; leave them out, or choose {' or '.join(FROM_ACCURACIES)}")
        found: Answers = FROM_LABELS[method](labels, **settings)
        return found
    if accuracy is None:
        raise InputError(f"{method} weighs votes by the workers' accuracies; give gold, or choose one-coin")
    return FROM_ACCURACIES[method](labels, accuracy, **settings)


def _exported(instance: AssignmentInstance, program: str) -> Program:
    if program == "ip":
        return assignment.build(instance)
    if program == "lp":
        return relax(assignment.build(instance))
    try:
        return assignment_dual.build(instance)
    except InputError:  # limits that the paper's dual does not know
        return dualize(relax(assignment.build(instance)))

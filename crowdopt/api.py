"""The calls users make: the one place that binds solving to the methods."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
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
from crowdopt.crowd.errors import InputError
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.selection import SelectionInstance
from crowdopt.io.campaign import read_campaign, write_campaign
from crowdopt.io.export import check_file, ids_of, write_program
from crowdopt.io.importing import import_labels
from crowdopt.io.plan_folder import write_plan
from crowdopt.offline.exact.method import solve_exact
from crowdopt.offline.exact.search import Solvers
from crowdopt.offline.explain import Shortage, shortage
from crowdopt.offline.frontier import cost_frontier
from crowdopt.offline.full import solve_full
from crowdopt.offline.hiring import solve_program
from crowdopt.offline.ranking import DRAWN, RANKINGS
from crowdopt.plan import Plan
from crowdopt.programs import assignment, assignment_dual
from crowdopt.selection import Selection
from crowdopt.verify import verify

__all__ = [
    "aggregate",
    "assign",
    "cost_frontier",
    "explain",
    "export",
    "hire",
    "import_labels",
    "read_campaign",
    "select",
    "verify",
    "write_campaign",
    "write_plan",
]

PROGRAMS = ("ip", "lp")
SEARCH = "highs"  # who searches the full program where the exact method needs it
RELAXATIONS = "highs-ipm"  # solves auxiliary LPs: up to nine times as fast as simplex on elastic ones
EXPORTS = (*PROGRAMS, "dual")
SELECTIONS = (*RANKINGS, *DRAWN, "program")
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
        that is possible; or a backend (``crowdopt backends`` lists them), which gets the full program.
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
    if method == "exact":
        plan = solve_exact(instance, program, Solvers(solve, HighsMaster, SEARCH), options, listener)
        return replace(plan, seconds=perf_counter() - clock, started=started.isoformat(timespec="seconds"))
    chosen = backends.named(method)
    if program == "ip" and not chosen.integers:
        raise BackendMissing(f"{method} solves linear programs only; ask for the program lp or choose another method")
    linear = method if program == "lp" or (chosen.duals and method != "highs") else RELAXATIONS
    plan = solve_full(instance, program, solve, method, options, listener, linear)
    return replace(plan, seconds=perf_counter() - clock, started=started.isoformat(timespec="seconds"))


def explain(instance: AssignmentInstance, time_limit: float = 60.0) -> Shortage | None:
    """What an infeasible instance lacks, and which error target is within reach; None if time ran out."""
    return shortage(instance, solve, RELAXATIONS, Options(time_limit=time_limit))


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
        limits below), ``plug-in``, ``variance-normalised``, ``top-k``, ``random-k``.
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

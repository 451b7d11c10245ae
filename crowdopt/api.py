"""The calls users make: the one place that binds solving to the methods."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter

from crowdopt import backends
from crowdopt.backends import BackendMissing, solve
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.errors import InputError
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.campaign import read_campaign, write_campaign
from crowdopt.io.importing import import_labels
from crowdopt.io.plan_folder import write_plan
from crowdopt.offline.explain import Shortage, shortage
from crowdopt.offline.full import solve_full
from crowdopt.plan import Plan
from crowdopt.verify import verify

__all__ = ["assign", "explain", "import_labels", "read_campaign", "verify", "write_campaign", "write_plan"]

PROGRAMS = ("ip", "lp")
RELAXATIONS = "highs-ipm"  # solves auxiliary LPs: up to nine times as fast as simplex on elastic ones


def assign(
    instance: AssignmentInstance,
    method: str = "highs",
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
        A backend (``crowdopt backends`` lists them).
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
    chosen = backends.named(method)
    if program == "ip" and not chosen.integers:
        raise BackendMissing(f"{method} solves linear programs only; use program='lp' or another method")
    started, clock = datetime.now(UTC), perf_counter()
    linear = method if program == "lp" or (chosen.duals and method != "highs") else RELAXATIONS
    plan = solve_full(instance, program, solve, method, options, listener, linear)
    return replace(plan, seconds=perf_counter() - clock, started=started.isoformat(timespec="seconds"))


def explain(instance: AssignmentInstance, time_limit: float = 60.0) -> Shortage | None:
    """What an infeasible instance lacks, and which error target is within reach; None if time ran out."""
    return shortage(instance, solve, RELAXATIONS, Options(time_limit=time_limit))

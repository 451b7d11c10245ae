"""The verb solve: a plan by the method that was asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import inf

from crowdopt.api.binding import (
    RELAXATIONS,
    SEARCH,
    SOLVERS,
)
from crowdopt.arrays import Ints
from crowdopt.assign.approximation import METHOD as APPROXIMATION
from crowdopt.assign.approximation import TIES, approximate
from crowdopt.assign.average import solve_average
from crowdopt.assign.checked import solve_checked
from crowdopt.assign.direct import solve_full
from crowdopt.assign.linear_plan import solve_linearly
from crowdopt.assign.plan import Plan
from crowdopt.assign.search import solve_exact
from crowdopt.backends import BackendMissing, named, solve
from crowdopt.backends.settings import taken_apart
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError

PROGRAMS = IP, LP = "ip", "lp"
EXACT = "exact"
SEARCHED = "with such groups or own rows the whole program was searched by {}, in place of the exact method"
ROUGH, MOMENT = 0.05, 1.0  # a gap beyond which another try is worth while; seconds for it at least


@dataclass(frozen=True)
class MethodSearch:
    """A search for a plan: its method, its program and its limits."""

    method: str
    program: str
    options: Options
    listener: Listener | None
    clock: Clock
    isolated: bool = False

    def within(self, seconds: float) -> MethodSearch:
        """The same search for so many seconds."""
        return replace(self, options=replace(self.options, time_limit=seconds), clock=Clock(seconds))


def by_method(instance: AssignmentInstance, search: MethodSearch) -> Plan:
    """The plan by the method that was asked for."""
    name, options, listener = base_of(search.method), search.options, search.listener
    is_exact, is_whole = name == EXACT, search.program == IP
    if name == APPROXIMATION:
        if not is_whole:
            raise InputError(f"method {APPROXIMATION} plans whole labels; ask for the program ip")
        return approximate(instance, solve, options, ties_asked(search.method))
    if instance.the_rule.average:
        return _on_average(instance, search)
    if is_exact and is_whole:
        return solve_exact(instance, SOLVERS, options, listener)
    if is_exact and has_joint_limits(instance):
        handed = _linear(replace(search, method=SEARCH), listener, instance, options)
        return replace(handed, method=SEARCH, note=SEARCHED.format(SEARCH))
    if is_whole and instance.the_rule.checked:
        return solve_checked(instance, partial(_linear, search, None), options, listener)
    return _linear(search, listener, instance, options)


def _on_average(instance: AssignmentInstance, search: MethodSearch) -> Plan:
    """A plan that keeps the average; where that is far from its bound, one for each task if it is cheaper."""
    if search.method != EXACT:
        raise InputError(
            f"rule mean-error is for the average of all tasks, and {search.method} plans task by task; use exact"
        )
    plan = solve_average(instance, SOLVERS, search.options, search.listener)
    if plan.bound == inf or plan.interrupted:
        return plan
    if plan.gap > ROUGH:
        each = _of_each(instance, search.within(max(MOMENT, search.clock.left)))
        plan = replace(cheaper(plan, each.pairs), interrupted=each.interrupted)
    return plan


def _of_each(instance: AssignmentInstance, search: MethodSearch) -> Plan:
    return solve_exact(replace(instance, rule="exact-error"), SOLVERS, search.options)


def cheaper(plan: Plan, pairs: Ints | None) -> Plan:
    """The plan with these pairs if they cost less; what is known of the optimum stays."""
    value = inf if plan.objective is None else plan.objective
    if pairs is None or plan.instance.prices(pairs).sum() >= value:
        return plan
    known = plan.certificate, plan.certified_bound, plan.duals
    return Plan.of(plan.instance, "ip", *known, pairs, method=plan.method, backend=plan.backend, seed=plan.seed)


def base_of(method: str) -> str:
    """A method without its options, where it is the approximation; others as they are."""
    name = method.partition(":")[0]
    return name if name == APPROXIMATION else method


def ties_asked(method: str) -> str:
    """The ties of ``primal-approximation:ties=least-covered``; random ones, as printed, where nothing is said."""
    _, colon, given = method.partition(":")
    key, _, ties = given.partition("=")
    if colon and (key != "ties" or ties not in TIES):
        raise InputError(f"{method}: {APPROXIMATION} takes ties={' or ties='.join(TIES)}")
    return ties or TIES[0]


def _linear(search: MethodSearch, listener: Listener | None, instance: AssignmentInstance, options: Options) -> Plan:
    """The rule's linear program, by the method asked for; with the listener and the options of a stage of it."""
    method, program = search.method, search.program
    if method == EXACT:
        return (solve_exact if program == IP else solve_linearly)(instance, SOLVERS, options, listener)
    chosen = named(method)
    if program == IP and not chosen.integers:
        raise BackendMissing(f"{method} solves linear programs only; ask for the program lp or choose another method")
    linear = method if program != IP or (chosen.duals and taken_apart(method)[0] != "highs") else RELAXATIONS
    solver = partial(solve, isolated=True) if search.isolated else solve
    return solve_full(instance, program, solver, method, options, listener, linear)

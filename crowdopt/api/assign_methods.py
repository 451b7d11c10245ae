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
from crowdopt.assign.budget.greedy_spending import kept_on_average
from crowdopt.assign.checked import solve_checked
from crowdopt.assign.direct import solve_full
from crowdopt.assign.linear_plan import solve_linearly
from crowdopt.assign.methods.approximation import METHOD as APPROXIMATION
from crowdopt.assign.methods.approximation import TIES, approximate
from crowdopt.assign.patterns.true_minimum import POOLS, can_list, solve_patterns
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
EXACT, PATTERNS = "exact", "patterns"
ROUGH = 8  # skills told apart for each price where there are too many for patterns, and no number was asked for
SEARCHED = "with such groups or own rows the whole program was searched by {}, in place of the exact method"
ROUNDED, MOMENT = 0.05, 1.0  # a gap beyond which rounded skills may be to blame; seconds for another try at least


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
    (name, pools), options, listener = pools_asked(search.method), search.options, search.listener
    is_exact, is_whole = name == EXACT, search.program == IP
    if name == PATTERNS:
        return _by_patterns(instance, search, pools)
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
    """A plan that keeps the average: by patterns, of rounded skills where these are many."""
    if search.method != EXACT:
        raise InputError(
            f"rule mean-error is for the average of all tasks, and {search.method} plans task by task; use exact"
        )
    if can_list(instance):
        return _by_patterns(instance, search, None)
    plan = _by_patterns(instance, search, ROUGH)
    return replace(plan, note="; ".join(filter(None, [f"planned by {PATTERNS}:pools={ROUGH}", plan.note])))


def _by_patterns(instance: AssignmentInstance, search: MethodSearch, pools: int | None) -> Plan:
    """The true minimum; where skills were rounded and that cost much, a plan for each task if it is cheaper."""
    # Where there is no plan at all of an average: one that is bought label by label.
    if search.program != IP:
        raise InputError("method patterns plans whole labels; ask for the program ip")
    plan = solve_patterns(instance, solve, search.options, pools, search.listener)
    if pools is not None and instance.the_rule.average and _may_be_dear(plan):
        each = _of_each(instance, search.within(max(MOMENT, search.clock.left)))
        plan = replace(cheaper(plan, each.pairs), interrupted=each.interrupted)
    if plan.pairs is None and instance.the_rule.average and plan.bound < inf and not plan.interrupted:
        plan = cheaper(plan, kept_on_average(instance, search.clock))
    return plan


def _may_be_dear(plan: Plan) -> bool:
    """Whether rounding may have cost much: the gap is wide, though a plan is not ruled out."""
    return plan.gap > ROUNDED and plan.bound < inf and not plan.interrupted


def _of_each(instance: AssignmentInstance, search: MethodSearch) -> Plan:
    return solve_exact(replace(instance, rule="exact-error"), SOLVERS, search.options)


def cheaper(plan: Plan, pairs: Ints | None) -> Plan:
    """The plan with these pairs if they cost less; what is known of the optimum stays."""
    value = inf if plan.objective is None else plan.objective
    if pairs is None or plan.instance.prices(pairs).sum() >= value:
        return plan
    known = plan.certificate, plan.certified_bound, plan.duals
    return Plan.of(plan.instance, "ip", *known, pairs, method=plan.method, backend=plan.backend, seed=plan.seed)


def pools_asked(method: str) -> tuple[str, int | None]:
    """``patterns:pools=8`` as a method and a number; others as they are, without options."""
    name, colon, given = method.partition(":")
    if name == APPROXIMATION:
        return name, None
    if name != PATTERNS:
        return method, None
    key, _, number = given.partition("=")
    if colon and (key != "pools" or not number.isdigit() or not 1 <= int(number) <= POOLS):
        raise InputError(f"{method}: patterns takes pools=1 to pools={POOLS}, as in patterns:pools=8")
    return name, int(number) if colon else None


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

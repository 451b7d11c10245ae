"""The verb solve: the call that makes a plan, and says why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import inf, isfinite
from pathlib import Path
from time import perf_counter

import numpy as np

from crowdopt import backends
from crowdopt.answers.family_errors import family_errors
from crowdopt.api.binding import RELAXATIONS, SEARCH, SOLVERS, WHOLE, AnyPath, InstanceLike, instance_of, options_of
from crowdopt.assign.approximation import METHOD as APPROXIMATION
from crowdopt.assign.approximation import TIES, approximate
from crowdopt.assign.checked import Linear, refuse_shares, solve_checked
from crowdopt.assign.direct import solve_full
from crowdopt.assign.engine.prepared import accepts
from crowdopt.assign.engine.set_engine import solve_by_sets
from crowdopt.assign.every_set import by_every_set, has_few_sets
from crowdopt.assign.exact.levels.true_errors import by_levels, rounds_targets
from crowdopt.assign.exact.levels.true_errors import knows as knows_errors
from crowdopt.assign.exact.stages import solve_exact
from crowdopt.assign.explain.questions import Probe
from crowdopt.assign.explain.shortage import shortage
from crowdopt.assign.patterns.true_minimum import POOLS, can_list, solve_patterns
from crowdopt.assign.plan import Plan
from crowdopt.assign.presolve import presolved
from crowdopt.assign.quick import get_ready, quick_plan
from crowdopt.backends import BackendMissing, solve, solve_whole
from crowdopt.backends.session import Session
from crowdopt.backends.settings import pairs_of, taken_apart, with_settings
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options, Status
from crowdopt.crowd.exactness import CERTAIN, least_errors
from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.groups import OwnRows
from crowdopt.crowd.hard_needs import stated
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.folder import PLAN, check_target
from crowdopt.io.overrides import stating
from crowdopt.io.own_rows import read_rows
from crowdopt.io.plan_folder import write_plan

PROGRAMS = ("ip", "lp")
UNDECIDED = Status.UNDECIDED
PATTERNS = "patterns"
AUTO = "auto"  # whatever the measurements that the package carries say
HANDED_OVER = (
    f"with such groups or rows of one's own the whole program was searched by {SEARCH}, in place of the exact method"
)
FIRST, SOON = 0.8, 10.0  # of the time, at most, for what is tried first; seconds for a first plan
ANY, MANY_PAIRS = 1e9, 1_000_000  # a gap that every plan has; pairs with which levels may take a while
ROUNDED, MOMENT = 0.05, 1.0  # a gap beyond which rounded skills may be to blame; seconds for another try at least


def assign(
    instance: InstanceLike,
    method: str = "exact",
    *,
    program: str = "ip",
    rule: str | None = None,
    epsilon: float | None = None,
    difficulty: tuple[float, float] | None = None,
    rows: OwnRows | AnyPath | None = None,
    time_limit: float = 60.0,
    gap: float = 0.0,
    nodes: int | None = None,
    threads: int = 1,
    seed: int = 0,
    isolated: bool = False,
    solver_options: Sequence[str] = (),
    listener: Listener | None = None,
    output: AnyPath | None = None,
    force: bool = False,
) -> Plan:
    """Decide who labels what: ``min sum c_ij y_ij`` such that every task gets its evidence (Ho et al. 2013, 4.2).

    Parameters
    ----------
    instance : AssignmentInstance or path
        Tasks, workers and limits; or the folder of a campaign that has them.
    method : str
        ``exact``: over classes of interchangeable tasks and workers, with a proof that needs no solver's word where
        that is possible; ``patterns``, or ``patterns:pools=8``: the true minimum under the rules exact-error and
        mean-error where skills are few or rounded to few; ``primal-approximation``: Ho et al.'s Algorithm 1 at the
        LP's prices, repaired (``:ties=least-covered`` in place of random ones); or a backend (``crowdopt backends``
        lists them), perhaps with its own options, ``highs[presolve=off]``, which gets the full program. ``auto``: what
        measurements say (crowdopt.bench.advice); the plan's note names the row that was followed.
    program : str
        ``ip`` for whole labels, ``lp`` for the relaxation.
    rule, epsilon : str, float, optional
        Evidence rule, and error target of every task, in place of the instance's; the plan records them.
    difficulty : (float, float), optional
        In place of the instance's: the share of tasks that are hard, and how much of a worker's edge over guessing is
        left there (crowdopt.crowd.hard_needs). For the rule exact-error; skills then count as those on easy tasks.
    rows : OwnRows or path, optional
        Linear limits of one's own in place of the instance's, or a table of them: row, task, worker, coefficient,
        lower, upper (crowdopt.io.own_rows). The plan records them, and their multipliers are part of its proof.
    time_limit : float
        Seconds in all.
    gap : float
        Gap at which a search may stop.
    nodes : int, optional
        Limit on the nodes of a search, for results that do not depend on the clock.
    threads, seed : int
        Handed to the solver.
    isolated : bool
        Whether a backend runs in a process of its own, which is stopped if it does not keep the limit; third parties'
        backends always do.
    solver_options : sequence of str
        The solver's own options by its own names, ``["presolve=off"]``; or in the method's, ``highs[presolve=off]``.
    listener : callable, optional
        Hears of incumbents and bounds.
    output : path, optional
        Folder to write the plan to, as :func:`crowdopt.write_plan` does.
    force : bool
        Whether a plan that is there may be replaced.

    Returns
    -------
    Plan
        Its status says whether it is optimal, feasible, or why there is none; nothing is raised for that. Where there
        is none, nothing is written, and :func:`why_not` says why.

    Raises
    ------
    InputError
        If an argument is out of range, or the plan cannot be written.
    BackendMissing
        If the method's library is not installed.
    BackendFailed
        If the backend breaks down, is stopped, or gives no answer.
    """
    if output is not None:
        check_target(Path(output), PLAN, force)
    if program not in PROGRAMS:
        raise InputError(f"program must be one of {', '.join(PROGRAMS)}, not {program!r}")
    method = _with_options(method, solver_options)
    wanted = instance_of(instance, rule, epsilon, difficulty)
    if rows is not None:
        own = rows if isinstance(rows, OwnRows) else read_rows(Path(rows), wanted)
        wanted = stating(replace(wanted, own_rows=own), "rows")
    options = options_of(time_limit, seed, gap=gap, nodes=nodes, threads=threads)
    started, clock = datetime.now(UTC), Clock(time_limit)
    plan = presolved(wanted, lambda part: _by_method(part, method, program, options, listener, clock, isolated))
    if wanted.difficulty.share:
        plan = replace(plan, note="; ".join(filter(None, [plan.note, stated(wanted.difficulty)])))
    seconds = perf_counter() - clock.started
    plan = replace(plan, seconds=seconds, started=started.isoformat(timespec="seconds"), gave_up=not clock.over)
    if plan.pairs is not None and plan.amounts is None:
        plan = replace(plan, family_errors=family_errors(plan.instance, plan.pairs, solve))
    if output is not None and plan.found:
        write_plan(plan, output, force=force)
    return plan


def _with_options(method: str, solver_options: Sequence[str]) -> str:
    """The method with a solver's own options behind it."""
    base, own = taken_apart(method)
    if (own or solver_options) and pools_asked(base)[0] in ("exact", AUTO, PATTERNS, APPROXIMATION):
        raise InputError(f"method {base} is our own and takes no solver's options; name a backend such as highs")
    return with_settings(method, pairs_of(tuple(solver_options)))


def _by_method(
    instance: AssignmentInstance,
    method: str,
    program: str,
    options: Options,
    listener: Listener | None,
    clock: Clock,
    isolated: bool,
) -> Plan:
    """The plan by the method that was asked for, or by the one that measurements say."""
    method, why = _advised(instance, method, program)
    plan = _planned(instance, method, program, options, listener, clock, isolated)
    return replace(plan, note="; ".join(filter(None, [why, plan.note])))


def _advised(instance: AssignmentInstance, method: str, program: str) -> tuple[str, str]:
    """The method to take, and why where it was left open."""
    if method != AUTO:
        return method, ""
    from crowdopt.bench.advice import advised

    advice = advised(instance, program)
    return advice.method, advice.why


def why_not(plan: Plan, *, time_limit: float = 60.0) -> list[str]:
    """Why there is no plan, in sentences.

    Parameters
    ----------
    plan : Plan
        One without pairs.
    time_limit : float
        Seconds for finding out what an infeasible instance lacks.

    Returns
    -------
    list of str
    """
    if plan.interrupted:
        return ["interrupted before any plan was found"]
    if plan.repaired is not None:
        return [what_it_lacked(plan), "mending it did not cover every task; use the method exact"]
    if plan.status is not Status.INFEASIBLE:
        word = f" (on {plan.backend}'s word)" if plan.proof == "solver" else ""
        known = f"; no plan costs less than {plan.bound:.10g}{word}" if isfinite(plan.bound) else ""
        if plan.gave_up:
            return [f"no plan was found{known}; the search ended after {plan.seconds:.2g} s, so try another --method"]
        return [f"no plan was found within the limits{known}; allow more time"]
    vouched = "proven" if plan.proof == "certificate" else f"on {plan.backend}'s word"
    if plan.instance.the_rule.average:
        return [
            f"infeasible ({vouched}): no labels that can be had err so little on average; raise epsilon or add workers"
        ]
    lack = shortage(plan.instance, probe(time_limit))
    lines = _out_of_reach(plan.instance) + (lack.sentences(plan.instance) if lack else [])
    return [f"infeasible ({vouched}): there is no such plan", *lines]


def _out_of_reach(instance: AssignmentInstance) -> list[str]:
    """Where tasks may be hard: which targets nobody's labels reach, and what these err with."""
    if not instance.difficulty.share:
        return []
    floor = least_errors(instance)
    short = np.flatnonzero(floor > instance.epsilon + CERTAIN)
    if not short.size:
        return []
    task = int(short[0])
    return [
        f"{stated(instance.difficulty)}: even with the labels of everybody task {instance.task_id(task)} errs with "
        f"{floor[task]:.4g}, above its target {instance.epsilon[task]:.4g} ({short.size} such tasks)"
    ]


def what_it_lacked(plan: Plan) -> str:
    """What an approximation took and lacked, and what mending changed, in a sentence."""
    repaired = plan.repaired
    assert repaired is not None
    took = f"at the linear program's prices the workers take {repaired.labels} labels"
    if not repaired.short:
        return f"{took}, which leave no task short"
    left = f"{took}, which leave {repaired.short} of {plan.instance.n_tasks} tasks short, {repaired.lacking:.4g} in all"
    moved = f" and {len(repaired.removed)} taken away" if len(repaired.removed) else ""
    return f"{left}; mended by {len(repaired.added)} labels more{moved}"


WARM = "highs-simplex"  # goes on from its last basis


def probe(seconds: float) -> Probe:
    """Who answers questions about feasibility: the LP over classes, and a quick search for plans."""
    get_ready()
    return Probe(
        solve_whole,
        lambda instance, limit: quick_plan(instance, WHOLE, limit),
        Clock(seconds),
        lambda program, options: Session(program, WARM, options),
    )


def _planned(
    instance: AssignmentInstance,
    method: str,
    program: str,
    options: Options,
    listener: Listener | None,
    clock: Clock,
    isolated: bool,
) -> Plan:
    """The plan by a method that is named."""
    if program == "lp":
        refuse_shares(instance)
    name, pools = pools_asked(method)
    if has_joint_limits(instance) and method == "exact" and not instance.the_rule.average:
        if program == "ip" and accepts(instance):
            found = solve_by_sets(instance, SOLVERS, options, listener)
            if found is not None and (found.found or found.status is not UNDECIDED or clock.over or found.interrupted):
                return found
            options = clock.within(options, options.nodes)
        handed = _planned(instance, SEARCH, program, options, listener, clock, isolated)
        if program == "ip" and instance.the_rule.checked and handed.status is UNDECIDED:
            handed = _by_enumeration(handed, options, clock)
        return replace(handed, method=SEARCH, note=HANDED_OVER)
    if name == PATTERNS:
        return _by_patterns(instance, program, pools, options, listener, clock)
    if name == APPROXIMATION:
        if program == "lp":
            raise InputError(f"method {APPROXIMATION} plans whole labels; ask for the program ip")
        return approximate(instance, solve, options, ties_asked(method))
    if instance.the_rule.average:
        raise InputError(
            "rule mean-error is for the average of all tasks; ask for --method patterns, or patterns:pools=8"
        )
    linear = partial(_linear, method, program, isolated)
    if program == "ip" and instance.the_rule.checked:
        if method == "exact" and knows_errors(instance):
            return _by_errors(instance, partial(linear, None), options, listener, clock)
        plan = solve_checked(instance, partial(linear, None), options, listener)
        return _by_enumeration(plan, options, clock) if method == "exact" and plan.status is UNDECIDED else plan
    return linear(listener, instance, options)


def _by_errors(
    instance: AssignmentInstance, linear: Linear, options: Options, listener: Listener | None, clock: Clock
) -> Plan:
    """The true minimum by levels; plans that linear rules lead to as well, first where levels may take a while."""

    def by_linear_rules(gap: float, seconds: float) -> Plan:
        return solve_checked(instance, linear, replace(options, time_limit=seconds, gap=gap), listener)

    def by_errors(part: float) -> Plan:
        return by_levels(instance, SOLVERS, replace(options, time_limit=part * clock.left), listener)

    rounded, many = rounds_targets(instance), instance.n_tasks * instance.n_workers > MANY_PAIRS
    soon = clock.left if rounded else min(SOON, FIRST * clock.left)
    plan = by_linear_rules(ANY, soon) if rounded or many else by_errors(FIRST)
    if plan.proven or plan.interrupted or clock.over or plan.gap <= options.gap:
        return plan
    other = by_errors(1.0) if rounded or many else by_linear_rules(options.gap, clock.left)
    higher, lower = (plan, other) if plan.bound >= other.bound else (other, plan)
    return _by_enumeration(_cheaper(higher, lower), options, clock)


def _by_enumeration(plan: Plan, options: Options, clock: Clock) -> Plan:
    """Where mending found no plan, all patterns of labels, or all sets, are looked at before giving up, if few."""
    instance, free = plan.instance, not has_joint_limits(plan.instance)
    if free and not plan.interrupted and not clock.over and instance.rule == "exact-error" and can_list(instance):
        other = solve_patterns(instance, solve, clock.within(options, options.nodes), None, None)
        plan = plan if other.status is UNDECIDED else replace(other, method=plan.method)
    if plan.interrupted or clock.over or plan.status is not UNDECIDED or not has_few_sets(instance):
        return plan
    return by_every_set(plan, solve, clock.within(options, options.nodes))


def _by_patterns(
    instance: AssignmentInstance,
    program: str,
    pools: int | None,
    options: Options,
    listener: Listener | None,
    clock: Clock,
) -> Plan:
    """The true minimum; where skills were rounded and that cost much, a plan for each task if it is cheaper."""
    if program == "lp":
        raise InputError("method patterns plans whole labels; ask for the program ip")
    plan = solve_patterns(instance, solve, options, pools, listener)
    if pools is not None and instance.the_rule.average and _may_be_dear(plan):
        plan = _cheaper(plan, _of_each(instance, replace(options, time_limit=max(MOMENT, clock.left))))
    return plan


def _may_be_dear(plan: Plan) -> bool:
    """Whether rounding may have cost much: the gap is wide, though a plan is not ruled out."""
    return plan.gap > ROUNDED and plan.bound < inf and not plan.interrupted


def _of_each(instance: AssignmentInstance, options: Options) -> Plan:
    """A plan that keeps the target for every task, and so on average, by the skills as they are."""
    return solve_checked(replace(instance, rule="exact-error"), partial(_linear, "exact", "ip", False, None), options)


def _cheaper(plan: Plan, other: Plan) -> Plan:
    """The plan with the other's pairs if those cost less; what is known of the optimum stays."""
    value = inf if plan.objective is None else plan.objective
    if other.objective is None or other.objective >= value:
        return replace(plan, interrupted=other.interrupted)
    known = plan.certificate, plan.certified_bound, plan.duals
    found = Plan.of(plan.instance, "ip", *known, other.pairs, method=plan.method, backend=plan.backend, seed=plan.seed)
    return replace(found, interrupted=other.interrupted)


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


def _linear(
    method: str,
    program: str,
    isolated: bool,
    listener: Listener | None,
    instance: AssignmentInstance,
    options: Options,
) -> Plan:
    """The rule's linear program, by the method asked for."""
    if method == "exact":
        return solve_exact(instance, program, SOLVERS, options, listener)
    chosen = backends.named(method)
    if program == "ip" and not chosen.integers:
        raise BackendMissing(f"{method} solves linear programs only; ask for the program lp or choose another method")
    linear = method if program == "lp" or (chosen.duals and taken_apart(method)[0] != "highs") else RELAXATIONS
    solver = partial(solve, isolated=True) if isolated else solve
    return solve_full(instance, program, solver, method, options, listener, linear)

"""The verb solve: the call that makes a plan, and says why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Literal, overload

import numpy as np

from crowdopt.answers.family_errors import family_errors
from crowdopt.api.adaptive_plans import AdaptiveTerms, assign_adaptive, refuse_settings
from crowdopt.api.binding import (
    RELAXATIONS,
    SEARCH,
    SOLVERS,
    WHOLE,
    AnyPath,
    InstanceLike,
    TableLike,
    instance_of,
    options_of,
)
from crowdopt.api.watching import watched
from crowdopt.arrays import Ints
from crowdopt.assign.approximation import METHOD as APPROXIMATION
from crowdopt.assign.approximation import TIES, approximate
from crowdopt.assign.best_effort import best_effort
from crowdopt.assign.budget.greedy_spending import kept_on_average
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.checked import solve_checked
from crowdopt.assign.direct import solve_full
from crowdopt.assign.engine.vote_loops import as_needed
from crowdopt.assign.explain.questions import Probe
from crowdopt.assign.fixed_labels import with_fixed_labels
from crowdopt.assign.linear_rules import solve_linear
from crowdopt.assign.patterns.true_minimum import POOLS, can_list, solve_patterns
from crowdopt.assign.plan import Plan
from crowdopt.assign.portfolio import SEARCHED, solve_in_stages
from crowdopt.assign.presolve import presolved
from crowdopt.assign.price_units import in_units
from crowdopt.assign.quick import get_ready, quick_plan
from crowdopt.backends import BackendMissing, named, solve, solve_whole
from crowdopt.backends.session import Session
from crowdopt.backends.settings import pairs_of, taken_apart, with_settings
from crowdopt.core.certificate import Certificate
from crowdopt.core.clock import Clock
from crowdopt.core.solution import WARM, Listener, Options, Status
from crowdopt.crowd.exhausted import out_of_reach
from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.groups import OwnRows
from crowdopt.crowd.hard_needs import stated
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of, named_rule
from crowdopt.errors import InputError
from crowdopt.io.campaign.overrides import stating
from crowdopt.io.campaign.own_rows import read_rows
from crowdopt.io.plan.plan_folder import write_plan
from crowdopt.io.tables.folder import PLAN, check_target

PROGRAMS = ("ip", "lp")
EXACT, PATTERNS = "exact", "patterns"
AUTO = "auto"  # whatever the measurements that the package carries say
BY_PROMISE = "the linear program of rule {} gave no plan; these are whole labels by rule {} itself"
IN_WHOLE_LABELS = "the linear program gave no plan for every task; what can be handed out are whole labels"
LITTLE = 0.1  # seconds beyond the limit for handing out what can be
ROUGH = 8  # skills told apart for each price where there are too many for patterns, and no number was asked for
ROUNDED, MOMENT = 0.05, 1.0  # a gap beyond which rounded skills may be to blame; seconds for another try at least


@overload
def assign(
    instance: InstanceLike,
    *,
    adaptive: Literal[True],
    rounds: int | None = None,
    expert: float | None = None,
    rule: str | None = None,
    epsilon: float | None = None,
    difficulty: tuple[float, float] | None = None,
    trust_gold: bool = False,
    strict: bool = False,
    time_limit: float = 60.0,
    threads: int = 1,
    seed: int = 0,
    listener: Listener | None = None,
    output: AnyPath | None = None,
    force: bool = False,
) -> AdaptivePlan: ...


@overload
def assign(
    instance: InstanceLike,
    method: str = "exact",
    *,
    program: str = "ip",
    rule: str | None = None,
    epsilon: float | None = None,
    difficulty: tuple[float, float] | None = None,
    rows: OwnRows | TableLike | None = None,
    time_limit: float = 60.0,
    gap: float = 0.0,
    nodes: int | None = None,
    threads: int = 1,
    seed: int = 0,
    isolated: bool = False,
    solver_options: Sequence[str] = (),
    trust_gold: bool = False,
    strict: bool = False,
    listener: Listener | None = None,
    output: AnyPath | None = None,
    force: bool = False,
) -> Plan: ...


def assign(
    instance: InstanceLike,
    method: str = "exact",
    *,
    program: str = "ip",
    rule: str | None = None,
    epsilon: float | None = None,
    difficulty: tuple[float, float] | None = None,
    rows: OwnRows | TableLike | None = None,
    time_limit: float = 60.0,
    gap: float = 0.0,
    nodes: int | None = None,
    threads: int = 1,
    seed: int = 0,
    isolated: bool = False,
    solver_options: Sequence[str] = (),
    trust_gold: bool = False,
    strict: bool = False,
    listener: Listener | None = None,
    output: AnyPath | None = None,
    force: bool = False,
    adaptive: bool = False,
    rounds: int | None = None,
    expert: float | None = None,
) -> Plan | AdaptivePlan:
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
        measurements say (crowdopt.bench.figures.advice); the plan's note names the row that was followed.
    program : str
        ``ip`` for whole labels, ``lp`` for the relaxation. Of the rules exact-error and mean-error, which are no linear
        constraints, it is that of the rule bhattacharyya, which implies their promise: plan and note say so.
    rule, epsilon : str, float, optional
        Evidence rule, and error target of every task, in place of the instance's; the plan records them.
    difficulty : (float, float), optional
        In place of the instance's: the share of tasks that are hard, and how much of a worker's edge over guessing is
        left there (crowdopt.crowd.hard_needs). For the rule exact-error; skills then count as those on easy tasks.
    rows : OwnRows or path, optional
        Linear limits of one's own in place of the instance's, or a table of them: row, task, worker, coefficient,
        lower, upper (io.campaign.own_rows). The plan records them, and their multipliers are part of its proof.
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
    trust_gold : bool
        Whether a folder's gold is taken as it is, even where workers are below chance.
    strict : bool
        Whether there is a plan for every task or none; else, where some cannot be served, a plan for as many as can be
        and the best that is left for the others, which ``short`` names (crowdopt.assign.best_effort).
    listener : callable, optional
        Hears of incumbents and bounds, which only get better, and of the seconds so far. Where it returns True the
        search stops and answers with the best that it has; what it raises is raised here. In a notebook a bar does.
    output : path, optional
        Folder to write the plan to, as :func:`crowdopt.write_plan` does.
    force : bool
        Whether a plan that is there may be replaced.
    adaptive : bool
        Whether the plan looks at answers before it asks again: the cheapest policy, whose errors, loads and cost are
        expectations (crowdopt.assign.cascade). Method, program, rows, gap, nodes and solver's options then say nothing
        and are refused.
    rounds : int, optional
        Of an adaptive plan: in how many rounds it asks, each for a set of votes at once; default: one vote at a time.
    expert : float, optional
        Of an adaptive plan: the price of an answer that is right.

    Returns
    -------
    Plan, or AdaptivePlan
        Its status says whether it is optimal, feasible, or why there is none for all tasks; nothing is raised for that.
        Where there is none at all, nothing is written; crowdopt.api.no_plan says why.

    Raises
    ------
    InputError
        If an argument is out of range, or the plan cannot be written.
    BackendMissing
        If the method's library is not installed.
    BackendFailed
        If the backend breaks down, is stopped, or gives no answer.
    """
    if adaptive:
        refuse_settings(
            {
                "method": method,
                "program": program,
                "rows": rows,
                "gap": gap,
                "nodes": nodes,
                "isolated": isolated,
                "solver_options": tuple(solver_options),
            }
        )
        return assign_adaptive(
            instance,
            AdaptiveTerms(rounds, expert),
            rule=rule,
            epsilon=epsilon,
            difficulty=difficulty,
            trust_gold=trust_gold,
            time_limit=time_limit,
            strict=strict,
            threads=threads,
            seed=seed,
            listener=listener,
            output=output,
            force=force,
        )
    if rounds is not None or expert is not None:
        raise InputError("rounds and an expert belong to an adaptive plan; add adaptive=True, or --adaptive")
    if output is not None:
        check_target(Path(output), PLAN, force)
    if program not in PROGRAMS:
        raise InputError(f"program must be one of {', '.join(PROGRAMS)}, not {program!r}")
    method = _with_options(method, solver_options)
    wanted = instance_of(instance, rule, epsilon, difficulty, trust_gold=trust_gold)
    if rows is not None:
        own = rows if isinstance(rows, OwnRows) else read_rows(rows, wanted)
        wanted = stating(replace(wanted, own_rows=own), "rows")
    asked, wanted = wanted, _as_a_program(wanted, method, program)
    options = options_of(time_limit, seed, gap=gap, nodes=nodes, threads=threads)
    started, clock = datetime.now(UTC), Clock(time_limit)
    with watched(listener, time_limit) as told, as_needed(wanted, told):
        by_promise = wanted is not asked and program == PROGRAMS[1] and not strict
        plan = _for_all_or_most(wanted, strict or by_promise, method, program, options, told, clock, isolated)
        if by_promise and not (plan.found or plan.interrupted):
            note = BY_PROMISE.format(wanted.rule, asked.rule)
            plan = _for_all_or_most(asked, False, EXACT, PROGRAMS[0], options, told, clock, isolated)
            plan = replace(plan, note="; ".join(filter(None, [note, plan.note])))
        plan = _with_notes(plan, asked)
        seconds = perf_counter() - clock.started
        plan = replace(plan, seconds=seconds, started=started.isoformat(timespec="seconds"), gave_up=not clock.over)
        if plan.pairs is not None and plan.amounts is None:
            plan = replace(plan, family_errors=family_errors(plan.instance, plan.pairs, solve))
        if output is not None and plan.pairs is not None:
            write_plan(plan, output, force=force)
    return plan


def _as_a_program(instance: AssignmentInstance, method: str, program: str) -> AssignmentInstance:
    """The instance under a rule that has a linear program, where that is what the method needs."""
    name = pools_asked(method)[0]
    if not instance.the_rule.implied_by or name == PATTERNS or (program == "ip" and name != APPROXIMATION):
        return instance
    return stating(linear_of(instance), "rule")


def _with_notes(plan: Plan, asked: AssignmentInstance) -> Plan:
    """The plan, which says by which rule it is where that is not the one asked for, and what is taken for granted."""
    promise = asked.rule if plan.instance.rule != asked.rule else ""
    hard = stated(asked.difficulty) if asked.difficulty.share else ""
    notes = [f"by {named_rule(asked)}" if promise else "", plan.note, hard, _unheeded(asked)]
    return replace(plan, note="; ".join(filter(None, notes)), promise=promise)


def _unheeded(asked: AssignmentInstance) -> str:
    """That gold votes tell of dependence which fixed sets know nothing of."""
    if asked.vote_law is None:
        return ""
    return (
        f"gold votes are told best by the {asked.vote_law.name} law, which this plan does not heed: --adaptive does "
        "(with --rounds 1 as fixed sets)"
    )


def _for_all_or_most(
    instance: AssignmentInstance,
    strict: bool,
    method: str,
    program: str,
    options: Options,
    listener: Listener | None,
    clock: Clock,
    isolated: bool,
) -> Plan:
    """The plan for all tasks; where that cannot be, and is not insisted on, the one that serves the most."""

    def run(part: AssignmentInstance, seconds: float, method: str = method, program: str = program) -> Plan:
        limits, left = replace(options, time_limit=seconds), Clock(seconds)

        def solved(one: AssignmentInstance, told: Listener | None) -> Plan:
            return _by_method(one, method, program, limits, told, left, isolated)

        def whole(one: AssignmentInstance, told: Listener | None) -> Plan:
            return presolved(one, lambda left: in_units(left, told, solved))

        if program != PROGRAMS[0]:
            return presolved(part, lambda one: solved(one, listener))
        return with_fixed_labels(part, listener, whole) if method in (EXACT, AUTO) else whole(part, listener)

    hopeless = np.flatnonzero(out_of_reach(instance))
    if hopeless.size and program == PROGRAMS[0] and method in (EXACT, AUTO):
        known = Certificate(None, inf, "certificate", None, None)
        plan = Plan.of(instance, program, known, -inf, None, None, method=method, backend=SEARCH, seed=options.seed)
    else:
        plan = run(instance, clock.left)
    refuted = plan.status is Status.INFEASIBLE or bool(hopeless.size)
    if plan.found or plan.interrupted or strict or (plan.repaired is not None and not refuted):
        return plan
    if program != PROGRAMS[0]:  # a queue has no shares of labels
        run = partial(run, method=EXACT, program=PROGRAMS[0])
        plan = replace(plan, program=PROGRAMS[0], note=IN_WHOLE_LABELS)  # its multipliers bound whole labels too
    return best_effort(plan, hopeless, run, probe(max(LITTLE, clock.left)))


def _with_options(method: str, solver_options: Sequence[str]) -> str:
    """The method with a solver's own options behind it."""
    base, own = taken_apart(method)
    if (own or solver_options) and pools_asked(base)[0] in (EXACT, AUTO, PATTERNS, APPROXIMATION):
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
    from crowdopt.bench.figures.advice import advised

    advice = advised(instance, program)
    return advice.method, advice.why


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
    name, pools = pools_asked(method)
    if name == PATTERNS:
        return _by_patterns(instance, program, pools, options, listener, clock)
    if name == APPROXIMATION:
        if program == "lp":
            raise InputError(f"method {APPROXIMATION} plans whole labels; ask for the program ip")
        return approximate(instance, solve, options, ties_asked(method))
    if instance.the_rule.average:
        return _on_average(instance, method, program, options, listener, clock)
    if method == EXACT and program == "ip":
        return solve_in_stages(instance, SOLVERS, options, listener)
    if method == EXACT and has_joint_limits(instance):
        handed = _linear(SEARCH, program, isolated, listener, instance, options)
        return replace(handed, method=SEARCH, note=SEARCHED.format(SEARCH))
    linear = partial(_linear, method, program, isolated)
    if program == "ip" and instance.the_rule.checked:
        return solve_checked(instance, partial(linear, None), options, listener)
    return linear(listener, instance, options)


def _on_average(
    instance: AssignmentInstance,
    method: str,
    program: str,
    options: Options,
    listener: Listener | None,
    clock: Clock,
) -> Plan:
    """A plan that keeps the average: by patterns, of rounded skills where these are many."""
    if method != EXACT:
        raise InputError(f"rule mean-error is for the average of all tasks, and {method} plans task by task; use exact")
    if can_list(instance):
        return _by_patterns(instance, program, None, options, listener, clock)
    plan = _by_patterns(instance, program, ROUGH, options, listener, clock)
    return replace(plan, note="; ".join(filter(None, [f"planned by {PATTERNS}:pools={ROUGH}", plan.note])))


def _by_patterns(
    instance: AssignmentInstance,
    program: str,
    pools: int | None,
    options: Options,
    listener: Listener | None,
    clock: Clock,
) -> Plan:
    """The true minimum; where skills were rounded and that cost much, a plan for each task if it is cheaper.

    Where there is no plan at all of an average: one that is bought label by label.
    """
    if program == "lp":
        raise InputError("method patterns plans whole labels; ask for the program ip")
    plan = solve_patterns(instance, solve, options, pools, listener)
    if pools is not None and instance.the_rule.average and _may_be_dear(plan):
        each = _of_each(instance, replace(options, time_limit=max(MOMENT, clock.left)))
        plan = replace(_cheaper(plan, each.pairs), interrupted=each.interrupted)
    if plan.pairs is None and instance.the_rule.average and plan.bound < inf and not plan.interrupted:
        plan = _cheaper(plan, kept_on_average(instance, clock))
    return plan


def _may_be_dear(plan: Plan) -> bool:
    """Whether rounding may have cost much: the gap is wide, though a plan is not ruled out."""
    return plan.gap > ROUNDED and plan.bound < inf and not plan.interrupted


def _of_each(instance: AssignmentInstance, options: Options) -> Plan:
    """A plan that keeps the target for every task, and so on average, by the skills as they are."""
    return solve_checked(replace(instance, rule="exact-error"), partial(_linear, "exact", "ip", False, None), options)


def _cheaper(plan: Plan, pairs: Ints | None) -> Plan:
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


def _linear(
    method: str,
    program: str,
    isolated: bool,
    listener: Listener | None,
    instance: AssignmentInstance,
    options: Options,
) -> Plan:
    """The rule's linear program, by the method asked for."""
    if method == EXACT:
        return solve_linear(instance, program, SOLVERS, options, listener)
    chosen = named(method)
    if program == "ip" and not chosen.integers:
        raise BackendMissing(f"{method} solves linear programs only; ask for the program lp or choose another method")
    linear = method if program == "lp" or (chosen.duals and taken_apart(method)[0] != "highs") else RELAXATIONS
    solver = partial(solve, isolated=True) if isolated else solve
    return solve_full(instance, program, solver, method, options, listener, linear)

"""The verb solve: the call that makes a plan, and says why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from time import perf_counter

import numpy as np

from crowdopt.api.adaptive_plans import assign_adaptive
from crowdopt.api.assign_methods import (
    EXACT,
    IP,
    LP,
    PROGRAMS,
    MethodSearch,
    base_of,
    by_method,
)
from crowdopt.api.assign_options import AdaptiveOptions, AssignOptions
from crowdopt.api.binding import (
    SEARCH,
    SOLVERS,
    WHOLE,
    InstanceLike,
    instance_of,
    options_of,
)
from crowdopt.api.confident import confident
from crowdopt.api.verbs import two_ways
from crowdopt.api.watching import giving_way, watched
from crowdopt.arrays import Ints
from crowdopt.assign.approximation import METHOD as APPROXIMATION
from crowdopt.assign.best_effort import best_effort
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.plan import Plan, in_units, presolved
from crowdopt.assign.search import quick_plan
from crowdopt.assign.shortage import Probe
from crowdopt.assign.tied_tasks import with_tied_tasks
from crowdopt.backends import solve_whole
from crowdopt.backends.settings import pairs_of, taken_apart, with_settings
from crowdopt.core.certificate import Certificate
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Status
from crowdopt.crowd.doubt import gold_of, left_open
from crowdopt.crowd.groups import OwnRows
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of, named_rule
from crowdopt.crowd.reach import out_of_reach
from crowdopt.crowd.skills import AVERAGED
from crowdopt.crowd.vote_errors import errors_by
from crowdopt.errors import InputError
from crowdopt.io.campaign import read_rows
from crowdopt.io.folders import PLAN, check_target
from crowdopt.io.plan import write_plan
from crowdopt.io.settings import alone, stating
from crowdopt.kernels import for_small

BY_PROMISE = "the linear program of rule {} gave no plan; these are whole labels by rule {} itself"
IN_WHOLE_LABELS = "the linear program gave no plan for every task; what can be handed out are whole labels"
LITTLE = 0.1  # seconds beyond the limit for handing out what can be
FOR_ALL = 0.8  # of the time: without a plan for all tasks by then, the rest is for a plan for most of them


@two_ways(AdaptiveOptions, AdaptivePlan, AssignOptions, Plan)
def assign(instance: InstanceLike, asked: AssignOptions) -> Plan | AdaptivePlan:
    """Decide who labels what: ``min sum c_ij y_ij`` such that every task gets its evidence (Ho et al. 2013, 4.2).

    Parameters
    ----------
    instance : AssignmentInstance or path
        Tasks, workers and limits; or the folder of a campaign that has them.

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
    OwnFault
        If the plan that was found does not keep what was asked for.
    """
    if asked.adaptive:
        return assign_adaptive(instance, asked.of_adaptive())
    of_adaptive = asked.given_votes or asked.class_error or asked.each_task
    if asked.rounds is not None or asked.expert is not None or of_adaptive:
        raise InputError(
            "rounds, an expert, each_task, limits given the votes and limits by class belong to an adaptive plan; add "
            "adaptive=True, or --adaptive"
        )
    if asked.output is not None:
        check_target(Path(asked.output), PLAN, asked.force)
    if asked.program not in PROGRAMS:
        raise InputError(f"program must be one of {', '.join(PROGRAMS)}, not {asked.program!r}")
    method = _with_options(asked.method, asked.solver_options)
    as_stated = _instance(instance, asked)
    started, clock = datetime.now(UTC), Clock(asked.time_limit)

    def made(stated: AssignmentInstance, seconds: float) -> Plan:
        return _made(stated, asked, method, seconds)

    if asked.confidence is None:
        plan = made(as_stated, asked.time_limit)
        if plan.found and plan.pairs is not None and plan.amounts is None:
            plan = replace(plan, left_open=left_open(as_stated, plan.pairs))
    else:
        plan = confident(as_stated, asked.confidence, asked.time_limit, made)
    seconds = perf_counter() - clock.started
    plan = replace(plan, seconds=seconds, started=started.isoformat(timespec="seconds"))
    if asked.output is not None and plan.pairs is not None:
        write_plan(plan, asked.output, force=asked.force)
    return plan


def _made(stated: AssignmentInstance, asked: AssignOptions, method: str, seconds: float) -> Plan:
    """The plan of so many seconds, held against the instance as it was stated."""
    options = options_of(seconds, asked.seed, gap=asked.gap, nodes=asked.nodes, threads=asked.threads)
    clock, wanted = Clock(seconds), _as_a_program(stated, method, asked.program)
    with watched(asked.listener, seconds) as told, for_small(wanted.n_tasks, wanted.n_workers):
        search = MethodSearch(method, asked.program, options, told, clock, asked.isolated)
        plan = replace(_of_promise(stated, wanted, search, asked), gave_up=not clock.over)
        return plan.held_against(stated)


def _instance(given: InstanceLike, asked: AssignOptions) -> AssignmentInstance:
    instance = instance_of(
        given, asked.rule, asked.epsilon, asked.difficulty, skills=asked.skills, trust_gold=asked.trust_gold
    )
    if asked.program != IP or base_of(asked.method) == APPROXIMATION:
        instance = alone(instance)
    if asked.rows is None:
        return instance
    own = asked.rows if isinstance(asked.rows, OwnRows) else read_rows(asked.rows, instance)
    return stating(replace(instance, own_rows=own), "rows")


def _as_a_program(instance: AssignmentInstance, method: str, program: str) -> AssignmentInstance:
    if not instance.the_rule.implied_by or (program == IP and base_of(method) != APPROXIMATION):
        return instance
    return stating(linear_of(instance), "rule")


def _of_promise(
    stated: AssignmentInstance, wanted: AssignmentInstance, search: MethodSearch, asked: AssignOptions
) -> Plan:
    """The plan for all or most tasks by the linear rule that was wanted; where it has none, by the rule stated."""
    by_promise = wanted is not stated and search.program == LP and not asked.strict
    plan = _for_all_or_most(wanted, asked.strict or by_promise, search)
    if by_promise and not (plan.found or plan.interrupted):
        note = BY_PROMISE.format(wanted.rule, stated.rule)
        plan = _for_all_or_most(stated, False, replace(search, method=EXACT, program=IP))
        plan = replace(plan, note="; ".join(filter(None, [note, plan.note])))
    return _with_notes(plan, stated)


def _with_notes(plan: Plan, asked: AssignmentInstance) -> Plan:
    """The plan, which says by which rule it is where that is not the one asked for, and what is taken for granted."""
    promise = asked.rule if plan.instance.rule != asked.rule else ""
    hard = asked.difficulty.stated() if asked.difficulty.share else ""
    notes = [f"by {named_rule(asked)}" if promise else "", plan.note, hard, unheeded(asked, plan.pairs)]
    return replace(plan, note="; ".join(filter(None, notes)), promise=promise)


def unheeded(asked: AssignmentInstance, pairs: Ints | None) -> str:
    """That gold tells of dependence which this plan does not heed, and what its votes err with by it."""
    gold = gold_of(asked)
    law = asked.vote_law if gold is None else gold.law
    if law is None or (asked.difficulty.share and asked.vote_law is None):
        return ""
    by_it = ""
    if pairs is not None and len(pairs) and not len(asked.collected):
        errors = 100 * errors_by(asked, law, np.unique(pairs[:, 0]), pairs)
        most = f"up to {errors.max():.3g} %, " if asked.classes == 2 else ""  # of more each is simulated a few times
        by_it = f"by it this plan's answers err {most}{errors.mean():.3g} % in the mean; "
    remedy = "families in groups.csv would help"
    if asked.vote_law is not None:
        remedy = "--adaptive does, in sets that each keep their task's target with --rounds 1 --each-task"
    elif gold is not None and gold.heeds:
        remedy = "plans by exact errors" + " and averaged skills" * (gold.method != AVERAGED) + " do"
    heard = f"votes depend on one another by the {law.name} law of gold votes, which these sets do not heed"
    return f"{heard}: {by_it}{remedy}"


def _for_all_or_most(instance: AssignmentInstance, strict: bool, search: MethodSearch) -> Plan:
    """The plan for all tasks; where that cannot be, and is not insisted on, the one that serves the most."""
    hopeless = int(out_of_reach(instance).sum())
    if hopeless and search.program == IP and search.method == EXACT:
        known = Certificate(None, inf, "certificate", None, None)
        plan = Plan.of(
            instance, IP, known, -inf, None, None, method=search.method, backend=SEARCH, seed=search.options.seed
        )
    elif strict or search.program != IP:
        plan = _of_part(instance, search.within(search.clock.left))
    else:
        with giving_way(search.listener, FOR_ALL * search.clock.left) as told:
            plan = _of_part(instance, replace(search, listener=told).within(search.clock.left))
    refuted = plan.status is Status.INFEASIBLE or hopeless > 0
    if plan.found or plan.interrupted or strict or (plan.repaired is not None and not refuted):
        return plan
    if search.program != IP:  # a queue has no shares of labels
        search = replace(search, method=EXACT, program=IP)
        plan = replace(plan, program=IP, note=IN_WHOLE_LABELS)  # its multipliers bound whole labels too

    def run(part: AssignmentInstance, seconds: float) -> Plan:
        return _of_part(part, search.within(seconds))

    return best_effort(plan, hopeless, run, SOLVERS, Clock(max(LITTLE, search.clock.left)))


def _of_part(part: AssignmentInstance, search: MethodSearch) -> Plan:
    def solved(one: AssignmentInstance, told: Listener | None) -> Plan:
        return by_method(one, replace(search, listener=told))

    if search.program != IP:
        return presolved(part, lambda one: solved(one, search.listener))

    def whole(one: AssignmentInstance) -> Plan:
        return presolved(one, lambda left: in_units(left, search.listener, solved))

    return with_tied_tasks(part, SOLVERS, whole)


def _with_options(method: str, solver_options: Sequence[str]) -> str:
    base, own = taken_apart(method)
    if (own or solver_options) and base_of(base) in (EXACT, APPROXIMATION):
        raise InputError(f"method {base} is our own and takes no solver's options; name a backend such as highs")
    return with_settings(method, pairs_of(tuple(solver_options)))


def probe(seconds: float) -> Probe:
    """The probe for questions of feasibility: the LP over classes, and a quick search for plans."""
    return Probe(
        solve_whole,
        lambda instance, limit: quick_plan(instance, WHOLE, limit),
        Clock(seconds),
    )

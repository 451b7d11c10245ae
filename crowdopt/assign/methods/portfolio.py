"""The method ``exact``: which stages an instance goes through, in order, until the gap or the time is used up.

A linear rule has one (crowdopt.assign.search). Where exact errors decide, the engine over sets is asked first; where
tasks differ too much for it, compiled loops look at each task. Where neither has a plan, linear rules give starts that
exact errors mend, a solver searches the full program, and all sets are looked at where they are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from crowdopt.assign.checked import settled, solve_checked
from crowdopt.assign.direct import solve_full
from crowdopt.assign.engine import many_kinds
from crowdopt.assign.engine.prepared import accepts
from crowdopt.assign.engine.set_engine import solve_by_sets
from crowdopt.assign.every_set import by_every_set, has_few_sets
from crowdopt.assign.linear.own_tasks import is_individual
from crowdopt.assign.methods.best_effort import within_groups
from crowdopt.assign.methods.gates import are_many, has_linear_rule, is_flow, is_free, is_hopeless
from crowdopt.assign.plan import Plan, decide
from crowdopt.assign.search import solve_linear_rule
from crowdopt.assign.standing import UNKNOWN, Solvers, better
from crowdopt.core.clock import Clock
from crowdopt.core.solution import BY_SIZE, Listener, Options, Progress, Status
from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import short_tasks
from crowdopt.crowd.linear_rule import linear_of

PATIENCE = 0.8  # of the time: when the engine gives way to others without a plan
FULL_FIRST = 0.4  # of the time: for a small program that a general solver may settle by itself
SOONER = 0.6  # the same, where a linear rule's plan may stand in for one of exact errors
ALIKE_PART = 0.8  # of the time: for tasks told alike, where each can be taken by itself as well
SEARCHED = "with such groups or own rows the whole program was searched by {}, in place of the exact method"


@dataclass(frozen=True)
class Case:
    """An instance and what a stage may use."""

    instance: AssignmentInstance
    solvers: Solvers
    options: Options  # limits of the whole
    clock: Clock
    listener: Listener | None

    @property
    def left(self) -> Options:
        """The options with the time that is left."""
        return self.clock.within(self.options, self.options.nodes)


Run: TypeAlias = Callable[[Case, "Plan | None"], "Plan | None"]  # a plan, given the best one so far


@dataclass(frozen=True)
class Stage:
    """One way to a plan: who is let in, and what it does."""

    name: str
    accepts: Callable[[AssignmentInstance], bool]
    run: Run


def _by_sets(case: Case, known: Plan | None) -> Plan | None:
    return solve_by_sets(case.instance, case.solvers, case.left, case.listener, PATIENCE)


def _by_sets_alike(case: Case, known: Plan | None) -> Plan | None:
    patience, options = SOONER if has_linear_rule(case.instance) else PATIENCE, case.left
    if is_free(case.instance) and is_individual(case.instance):
        options = case.clock.part(ALIKE_PART).within(options, options.nodes)
    return solve_by_sets(case.instance, case.solvers, options, case.listener, patience, alike=True)


def _by_one_linear_rule(case: Case, known: Plan | None) -> Plan | None:
    """A plan of the linear rule that implies the promise, where there is none so far and half of the time is gone."""
    if known is None or known.found or case.clock.left > case.options.time_limit / 2:
        return None
    options = replace(case.left, gap=1.0)  # the first plan will do: it is dear anyway
    plan = solve_linear_rule(linear_of(case.instance), case.solvers, options)
    if plan.pairs is None:
        return None
    pairs = settled(case.instance, plan.pairs, case.clock)
    if pairs is None:
        return None
    backend, seed = case.solvers.backend, case.options.seed
    return Plan.of(case.instance, "ip", UNKNOWN, -np.inf, None, pairs, method="exact", backend=backend, seed=seed)


def _by_sets_at_last(case: Case, known: Plan | None) -> Plan | None:
    """The engine with all the time that is left, where no stage has a plan."""
    if known is not None and known.found:
        return None
    plan = solve_by_sets(case.instance, case.solvers, case.left, case.listener, alike=True)
    if plan is not None and (plan.found or plan.interrupted):
        return plan
    return solve_by_sets(case.instance, case.solvers, case.left, case.listener)


def _by_many_kinds(case: Case, known: Plan | None) -> Plan | None:
    if known is not None and known.found:
        return None
    return many_kinds.solve_many_kinds(case.instance, case.solvers, case.left, case.listener)


def _by_linear_rules(case: Case, known: Plan | None) -> Plan:
    def linear(instance: AssignmentInstance, options: Options) -> Plan:
        return solve_linear_rule(instance, case.solvers, options)

    return solve_checked(case.instance, linear, case.left, case.listener)


def _by_every_set(case: Case, known: Plan | None) -> Plan | None:
    return None if known is None else by_every_set(known, case.solvers.solve, case.left)


def _groups_left_out(case: Case, known: Plan | None) -> Plan | None:
    """Where no search of the whole program ends: a bound without groups and rows, and a plan that is then mended."""
    bounded = known is not None and known.found and np.isfinite(known.bound)
    if bounded or not is_hopeless(case.instance, case.clock.left):
        return None
    free, clock = replace(case.instance, groups=(), own_rows=None), case.clock.part(ALIKE_PART)
    plan = solve_in_stages(free, case.solvers, clock.within(case.options, case.options.nodes))
    pairs = None if plan.pairs is None else within_groups(case.instance, plan.pairs, case.clock)
    if case.listener is not None and pairs is not None:
        case.listener(Progress(case.clock.spent, float(case.instance.prices(pairs).sum()), plan.bound))
    seed, ended = case.options.seed, plan.interrupted
    known_of = plan.certificate, plan.certified_bound, plan.duals, pairs
    return Plan.of(
        case.instance, "ip", *known_of, method="exact", backend=case.solvers.backend, seed=seed, interrupted=ended
    )


def _in_full_first(case: Case, known: Plan | None) -> Plan | None:
    """Where loads and own rows are about who, and not about how much evidence, a general solver is soon done."""
    clock = case.clock.part(FULL_FIRST)
    plan = _in_full(replace(case, clock=clock), known)
    on_its_word = plan.status is Status.INFEASIBLE and plan.proof != "certificate"  # others prove that
    return None if on_its_word else replace(plan, note="")


def _in_full(case: Case, known: Plan | None) -> Plan:
    backend = case.solvers.backend

    def linear(instance: AssignmentInstance, given: Options) -> Plan:
        return solve_full(instance, "ip", case.solvers.solve, backend, given, None, BY_SIZE)

    plan = solve_checked(case.instance, linear, case.left, case.listener)
    return replace(plan, method=backend, note=SEARCHED.format(backend))


ALIKE = Stage("sets, workers alike", accepts, _by_sets_alike)
ONE_LINEAR_RULE = Stage("one linear rule", has_linear_rule, _by_one_linear_rule)
SETS = Stage("sets", accepts, _by_sets)
MANY_KINDS = Stage("many kinds", many_kinds.accepts, _by_many_kinds)
ALL_DIFFER = Stage("many kinds", are_many, _by_many_kinds)
LINEAR_RULES = Stage("linear rules", is_free, _by_linear_rules)
EVERY_SET = Stage("every set", has_few_sets, _by_every_set)
LEFT_OUT = Stage("groups left out", has_joint_limits, _groups_left_out)
FULL_FIRST_STAGE = Stage("in full first", is_flow, _in_full_first)
IN_FULL = Stage("in full", has_joint_limits, _in_full)
AT_LAST = Stage("sets at last", accepts, _by_sets_at_last)

BY_ERRORS = (ALIKE, ONE_LINEAR_RULE, ALL_DIFFER, SETS, MANY_KINDS)
STAGES = (FULL_FIRST_STAGE, *BY_ERRORS, LINEAR_RULES, LEFT_OUT, IN_FULL, EVERY_SET, AT_LAST)


def stages_for(instance: AssignmentInstance) -> Iterator[Stage]:
    """The stages where exact errors decide; whether one lets an instance in is asked when its turn comes."""
    return (stage for stage in STAGES if stage.accepts(instance))


def solve_in_stages(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None = None
) -> Plan:
    """The plan by the method ``exact``: stage by stage, until one leaves nothing to be done.

    instance: under a rule that promises something of each task; -> the cheapest of all stages' plans, with the highest
    of their bounds.
    """
    if not instance.the_rule.checked:
        return solve_linear_rule(instance, solvers, options, listener)
    case, best = Case(instance, solvers, options, Clock(options.time_limit), listener), None
    for stage in stages_for(instance):
        if stage is IN_FULL and best is not None and is_hopeless(instance, case.clock.left):
            continue
        found = stage.run(case, best)
        if found is not None:
            found = _with_targets_kept(found)
            best = found if best is None else better(best, found)
        if best is not None and (_is_settled(best, options) or best.interrupted or case.clock.over):
            break
    assert best is not None
    return best


def _with_targets_kept(plan: Plan) -> Plan:
    """The plan, or what is known of the optimum alone where some vote errs more than it may."""
    if plan.pairs is None or not short_tasks(plan.instance, plan.pairs).size:
        return plan
    known = replace(plan.certificate, value=None, violation=None, fraction=None)
    return replace(plan, pairs=None, certificate=known, status=decide(known, False))


def _is_settled(plan: Plan, options: Options) -> bool:
    """Whether there is proven to be no plan, or no better one than the gap allows."""
    if plan.proven or plan.status is Status.INFEASIBLE:
        return True
    return plan.found and plan.gap <= options.gap

"""The cheapest adaptive plan of an instance: the program solved, its policy walked, its bound recomputed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, PolicyProof
from crowdopt.assign.cascade.blank_plan import blank_plan
from crowdopt.assign.cascade.first_round import first_round
from crowdopt.assign.cascade.policy_walk import walked
from crowdopt.assign.cascade.stopping_bound import proven_bound
from crowdopt.assign.standing import Solvers
from crowdopt.core.certificate import certify
from crowdopt.core.clock import Clock
from crowdopt.core.program import find
from crowdopt.core.solution import BRANCHING, BY_SIZE, Listener, Options, Solution, Solve, Status
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.states.own_skills import own_skills
from crowdopt.crowd.states.told_tasks import ManyStates, told_tasks
from crowdopt.errors import InputError
from crowdopt.programs.cascade import ENTRIES, Cascade, least_excess

TINY = 1e-300
GROWING = 0.8  # of the time, for more and more askers
SOON = 20_000  # entries of a program that is solved at once
SPARE = 1e-9  # relative; above the least multiple of the targets, so that the next solve finds a plan


def cheapest_policy(
    instance: AssignmentInstance,
    labels: Ints | None,
    solvers: Solvers,
    options: Options,
    *,
    rounds: int | None = None,
    expert: float | None = None,
    given_votes: bool = False,
    class_error: tuple[float, ...] = (),
    each_task: bool = False,
    listener: Listener | None = None,
    strict: bool = False,
) -> AdaptivePlan:
    """``min expected cost`` over all policies that keep errors, capacities and money in expectation.

    labels (collected,): the class that each label already in says; solvers: of linear programs; rounds: sets of votes
    that are asked for at once, at most so many; expert: price of an answer that is right; given_votes: whether each
    answer's error given its votes keeps its target, not only the mean over votes; class_error: by true class, the share
    that may be answered otherwise, infinity where that is not limited; each_task: of one round, whether whole tasks get
    sets each of which keeps the target, against the bound of the relaxation; strict: whether there is a plan for
    these targets or none; else, where they are out of reach, the plan whose errors are the least multiple of all of
    them.
    """
    if each_task and instance.the_rule.average:
        raise InputError(
            f"each_task is about targets of tasks, and rule {instance.rule} is about their mean; leave it out"
        )

    def with_askers(most: int | None) -> Cascade:
        told = told_tasks(instance, labels, most)
        return Cascade(told, expert, rounds, 1.0, given_votes, class_error, each_task)

    def by_orders() -> AdaptivePlan:
        from crowdopt.assign.cascade.cheapest_orders import cheapest_orders  # its loops are compiled

        left = clock.within(options, None)
        return cheapest_orders(own_skills(instance, labels), expert, solvers, left, strict=strict)

    clock = Clock(options.time_limit)
    in_order = rounds is None and not (given_votes or class_error or each_task) and instance.classes == 2
    try:
        whole = cascade = with_askers(None)
    except ManyStates:
        if not in_order:
            raise
        return by_orders()
    if whole.most_entries > SOON:
        best, cascade = _by_askers(whole, with_askers, solvers.solve, options, clock.part(GROWING))
        if best is not None:
            return best
        if in_order:
            return by_orders()
    return _at_once(cascade, whole, solvers.solve, options, clock, listener, strict)


def _at_once(
    cascade: Cascade,
    whole: Cascade,
    solve: Solve,
    options: Options,
    clock: Clock,
    listener: Listener | None,
    strict: bool,
) -> AdaptivePlan:
    """The plan of one program; where targets are out of reach that of their least multiple. whole: all askers'."""
    found = solve(cascade.relaxed, BY_SIZE, clock.within(options, None), listener)
    none = _none(cascade, Status.INFEASIBLE if cascade is whole else Status.UNDECIDED, options)
    if found.status is not Status.INFEASIBLE or not certify(found).proves_infeasible():
        plan = _policy(cascade, found, solve, clock.within(options, None))
        if plan.objective is not None or not cascade.each_task:
            return plan
        none = plan  # shares of tasks keep the targets, and no whole ones were found
    times = None if strict else least_times(cascade, solve, options)
    if times is None:
        return none
    wider = replace(cascade, times=times * (1 + SPARE))
    best = _policy(wider, solve(wider.relaxed, BY_SIZE, options), solve, options)
    if best.objective is None or best.proof_of is None:
        return none
    if cascade is not whole:
        best = replace(best, bound=proven_bound(replace(_loose(whole), times=wider.times), best.proof_of))
    return replace(best, status=none.status)


def _by_askers(
    whole: Cascade, with_askers: Callable[[int | None], Cascade], solve: Solve, options: Options, clock: Clock
) -> tuple[AdaptivePlan | None, Cascade]:
    """The cheapest plan found that asks only some askers, more and more of them while there is time; None without one.

    Its bound is the whole's: multipliers of any part price all askers. -> and the first part.
    """
    askers, best = whole.told.capacity.size, None
    soon = next((most for most in range(1, askers) if with_askers(most + 1).most_entries > SOON), askers)
    first = whole if soon == askers else with_askers(soon)
    for most in range(soon, askers + 1):
        if most > soon and clock.over:
            break
        part, left = first if most == soon else with_askers(most), clock.within(options, None)
        try:
            plan = _policy(part, solve(part.relaxed, BY_SIZE, left), solve, left)
        except ManyStates:
            break
        if plan.proof_of is not None:
            plan = replace(plan, bound=proven_bound(_loose(whole), plan.proof_of))
            best = plan if best is None else _better(best, plan)
        if plan.interrupted or (best is not None and best.gap <= options.gap):
            break
    if best is not None:
        best = replace(best, status=Status.OPTIMAL if best.proven else Status.FEASIBLE)
    return best, first


def _loose(whole: Cascade) -> Cascade:
    """What no plan of the whole costs less than: where rounds have too many sets, votes one by one."""
    return whole if whole.most_entries <= ENTRIES else replace(whole, rounds=None, each_task=False)


def _better(plan: AdaptivePlan, other: AdaptivePlan) -> AdaptivePlan:
    """The cheaper of two plans under the higher of their bounds."""
    higher = max(plan, other, key=lambda one: one.bound)
    cheaper = min(plan, other, key=lambda one: np.inf if one.objective is None else one.objective)
    return replace(cheaper, bound=higher.bound, proof_of=higher.proof_of, interrupted=other.interrupted)


def least_times(cascade: Cascade, solve: Solve, options: Options) -> float | None:
    """The least multiple of all targets that a plan keeps, where these are out of reach; None where none is found."""
    if cascade.given_votes or cascade.each_task:
        return _least_limit(cascade, solve, options)
    excess = solve(least_excess(cascade), BY_SIZE, options)
    if excess.status is not Status.OPTIMAL or excess.primal is None:
        return None
    return 1 + float(excess.primal[-1])


def _least_limit(cascade: Cascade, solve: Solve, options: Options) -> float | None:
    """The same of limits of an answer or a set: a multiple matters where it allows one more, so these are halved."""
    every = np.concatenate(
        [error / limit for error, limit in zip(_limited(cascade), cascade.told.epsilon, strict=True)]
    )
    steps, low = np.unique(every[every > 1]).tolist(), 0
    high, backend = len(steps), BRANCHING if cascade.each_task else BY_SIZE
    while low < high:
        middle = (low + high) // 2
        found = solve(replace(cascade, times=steps[middle]).program, backend, options)
        low, high = (low, middle) if found.primal is not None else (middle + 1, high)
    return steps[low] if low < len(steps) else None


def _limited(cascade: Cascade) -> list[Floats]:
    """Of each kind: the errors that are held against its target one by one."""
    told = cascade.told
    if not cascade.each_task:
        return list(told.error)
    found = []
    for t, start in enumerate(told.start):
        places = [(votes, np.flatnonzero(told.may_ask(t, votes) & (start > 0))) for votes in cascade.asks(t)]
        sets = [cascade.set_errors(t, votes, where) for votes, where in places]
        found.append(np.concatenate([told.error[t][start > 0], *sets]))
    return found


def _policy(cascade: Cascade, found: Solution, solve: Solve, options: Options) -> AdaptivePlan:
    """The plan of a solution of the relaxation, where it is one, of whole tasks where that is asked for."""
    whole = solve(cascade.program, BRANCHING, options) if cascade.each_task else found
    none = _none(cascade, Status.UNDECIDED, options)
    none = replace(none, interrupted=found.interrupted or whole.interrupted)
    if found.status is not Status.OPTIMAL or whole.primal is None or found.dual is None:
        return none
    told, proof, whole_numbers = cascade.told, _proof(cascade, found.dual), cascade.program.integer
    walk = walked(cascade, np.where(whole_numbers, np.rint(whole.primal), whole.primal))
    tasks = told.tasks_in.astype(np.float64)
    plan = replace(
        none,
        status=Status.FEASIBLE,
        rows=tuple(walk.rows),
        objective=walk.cost,
        bound=proven_bound(cascade, proof),
        proof_of=proof,
        loads=walk.loads,
        errors=walk.wrong / tasks,
        to_expert=walk.expert / tasks,
        pairs=first_round(told, walk.rows, options.seed),
        missed=tuple((walk.missed / np.maximum(told.of_class, TINY)).tolist()) if cascade.class_error else (),
        times=cascade.times,
    )
    return replace(plan, status=Status.OPTIMAL) if plan.proven else plan


def _none(cascade: Cascade, status: Status, options: Options) -> AdaptivePlan:
    """No plan; INFEASIBLE is proven by the solver's ray."""
    return replace(
        blank_plan(cascade.told, status, options.seed),
        rounds=cascade.rounds,
        expert=cascade.expert,
        given_votes=cascade.given_votes,
        class_error=cascade.class_error,
        each_task=cascade.each_task,
    )


def _proof(cascade: Cascade, dual: Floats) -> PolicyProof:
    """The program's multipliers as prices: of errors at least 0, of capacities and money at most 0."""
    rows = cascade.program.rows
    error = np.maximum(0.0, -find(rows, "error").view(dual))[cascade.error_rows]
    budget = 0.0 if cascade.told.instance.budget is None else min(0.0, float(find(rows, "budget").view(dual)[0]))
    limits = cascade.told.label_rows
    prices = np.minimum(0.0, find(rows, "limit").view(dual)) + 0.0 if limits else np.zeros(0)
    named = tuple((row.limit, row.name, float(one)) for row, one in zip(limits, prices, strict=True))
    classes = np.zeros(len(cascade.class_error))
    if cascade.class_error:
        classes[cascade.class_limits[0]] = np.maximum(0.0, -find(rows, "class_error").view(dual))
    capacity = np.minimum(0.0, find(rows, "capacity").view(dual))
    return PolicyProof(error + 0.0, capacity + 0.0, budget + 0.0, named, tuple((classes + 0.0).tolist()))  # no -0

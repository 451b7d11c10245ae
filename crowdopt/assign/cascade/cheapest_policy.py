"""The cheapest adaptive plan of an instance: the program solved, its policy walked, its bound recomputed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, PolicyProof
from crowdopt.assign.cascade.blank_plan import askers_of, blank_plan
from crowdopt.assign.cascade.first_round import first_round
from crowdopt.assign.cascade.policy_walk import walked
from crowdopt.assign.cascade.stopping_bound import proven_bound
from crowdopt.assign.standing import Solvers
from crowdopt.core.certificate import certify
from crowdopt.core.program import find
from crowdopt.core.solution import BY_SIZE, Listener, Options, Solution, Solve, Status
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.states.own_skills import own_skills
from crowdopt.crowd.states.told_tasks import ManyStates, told_tasks
from crowdopt.programs.cascade import Cascade, least_excess

TINY = 1e-300
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
    listener: Listener | None = None,
    strict: bool = False,
) -> AdaptivePlan:
    """``min expected cost`` over all policies that keep errors, capacities and money in expectation.

    labels (collected,): the class that each label already in says; solvers: of linear programs; rounds: sets of votes
    that are asked for at once, at most so many; expert: price of an answer that is right; given_votes: whether each
    answer's error given its votes keeps its target, not only the mean over votes; class_error: by true class, the share
    that may be answered otherwise, infinity where that is not limited; strict: whether there is a plan for
    these targets or none; else, where they are out of reach, the plan whose errors are the least multiple of all of
    them.
    """
    try:
        told = told_tasks(instance, labels)
    except ManyStates:
        if rounds is not None or given_votes or class_error or instance.classes != 2:
            raise
        from crowdopt.assign.cascade.cheapest_orders import cheapest_orders  # its loops are compiled

        return cheapest_orders(own_skills(instance, labels), expert, solvers, options, strict=strict)
    cascade, solve = Cascade(told, expert, rounds, 1.0, given_votes, class_error), solvers.solve
    found = solve(cascade.program, BY_SIZE, options, listener)
    if found.status is not Status.INFEASIBLE or not certify(found).proves_infeasible():
        return _policy(cascade, found, options)
    none = _none(cascade, Status.INFEASIBLE, options)
    times = None if strict else least_times(cascade, solve, options)
    if times is None:
        return none
    wider = replace(cascade, times=times * (1 + SPARE))
    best = _policy(wider, solve(wider.program, BY_SIZE, options), options)
    return none if best.objective is None else replace(best, status=Status.INFEASIBLE)


def least_times(cascade: Cascade, solve: Solve, options: Options) -> float | None:
    """The least multiple of all targets that a plan keeps, where these are out of reach; None where none is found."""
    if cascade.given_votes:
        return _least_limit(cascade, solve, options)
    excess = solve(least_excess(cascade), BY_SIZE, options)
    if excess.status is not Status.OPTIMAL or excess.primal is None:
        return None
    return 1 + float(excess.primal[-1])


def _least_limit(cascade: Cascade, solve: Solve, options: Options) -> float | None:
    """The same of limits given the votes: a multiple matters where it lets one more state stop, so these are halved."""
    told = cascade.told
    every = np.concatenate([error / target for error, target in zip(told.error, told.epsilon, strict=True)])
    steps, low = np.unique(every[every > 1]).tolist(), 0
    high = len(steps)
    while low < high:
        middle = (low + high) // 2
        found = solve(replace(cascade, times=steps[middle]).program, BY_SIZE, options)
        low, high = (low, middle) if found.status is Status.OPTIMAL else (middle + 1, high)
    return steps[low] if low < len(steps) else None


def _policy(cascade: Cascade, found: Solution, options: Options) -> AdaptivePlan:
    """The plan of a solution, where it is one."""
    if found.status is not Status.OPTIMAL or found.primal is None or found.dual is None:
        return replace(_none(cascade, Status.UNDECIDED, options), interrupted=found.interrupted)
    told, proof, walk = cascade.told, _proof(cascade, found.dual), walked(cascade, found.primal)
    tasks = told.tasks_in.astype(np.float64)
    plan = AdaptivePlan(
        instance=told.instance,
        status=Status.FEASIBLE,
        askers=askers_of(told),
        rows=tuple(walk.rows),
        objective=walk.cost,
        bound=proven_bound(cascade, proof),
        proof_of=proof,
        loads=walk.loads,
        errors=walk.wrong / tasks,
        to_expert=walk.expert / tasks,
        pairs=first_round(told, walk.rows, options.seed),
        rounds=cascade.rounds,
        expert=cascade.expert,
        given_votes=cascade.given_votes,
        class_error=cascade.class_error,
        missed=tuple((walk.missed / np.maximum(told.of_class, TINY)).tolist()) if cascade.class_error else (),
        times=cascade.times,
        seed=options.seed,
        interrupted=found.interrupted,
    )
    return replace(plan, status=Status.OPTIMAL) if plan.proven else plan


def _none(cascade: Cascade, status: Status, options: Options) -> AdaptivePlan:
    """No plan; INFEASIBLE is proven by the solver's ray."""
    none = blank_plan(cascade.told, status, options.seed)
    return replace(
        none,
        rounds=cascade.rounds,
        expert=cascade.expert,
        given_votes=cascade.given_votes,
        class_error=cascade.class_error,
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

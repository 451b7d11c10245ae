"""The cheapest adaptive plan of an instance: the program solved, its policy walked, its bound recomputed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import inf

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, Askers, Proof
from crowdopt.assign.cascade.first_round import first_round
from crowdopt.assign.cascade.policy_walk import walked
from crowdopt.assign.cascade.stopping_bound import proven_bound
from crowdopt.core.certificate import certify
from crowdopt.core.program import find
from crowdopt.core.solution import BY_SIZE, Listener, Options, Solution, Solve, Status
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.told_tasks import ToldTasks, told_tasks
from crowdopt.programs.cascade import Cascade, least_excess


def cheapest_policy(
    instance: AssignmentInstance,
    labels: Ints | None,
    solve: Solve,
    options: Options,
    *,
    rounds: int | None = None,
    expert: float | None = None,
    listener: Listener | None = None,
) -> AdaptivePlan:
    """``min expected cost`` over all policies that keep errors, capacities and money in expectation.

    labels (collected,): the class that each label already in says; solve: of linear programs; rounds: sets of votes
    that are asked for at once, at most so many; expert: price of an answer that is right.
    """
    cascade = Cascade(told_tasks(instance, labels), expert, rounds)
    found = solve(cascade.program, BY_SIZE, options, listener)
    if found.status is not Status.OPTIMAL or found.primal is None or found.dual is None:
        return _without_policy(cascade, found, solve, options)
    proof = _proof(cascade, found.dual)
    walk = walked(cascade, found.primal)
    tasks = cascade.told.tasks_in.astype(np.float64)
    plan = AdaptivePlan(
        instance=instance,
        status=Status.FEASIBLE,
        askers=_askers(cascade.told),
        rows=tuple(walk.rows),
        objective=walk.cost,
        bound=proven_bound(cascade, proof),
        proof_of=proof,
        loads=walk.loads,
        errors=walk.wrong / tasks,
        to_expert=walk.expert / tasks,
        pairs=first_round(cascade.told, walk.rows, options.seed),
        rounds=rounds,
        expert=expert,
        seed=options.seed,
        interrupted=found.interrupted,
    )
    return replace(plan, status=Status.OPTIMAL) if plan.proven else plan


def _proof(cascade: Cascade, dual: Floats) -> Proof:
    """The program's multipliers as prices: of errors at least 0, of capacities and money at most 0."""
    rows = cascade.program.rows
    error = np.maximum(0.0, -find(rows, "error").view(dual))[cascade.error_rows]
    budget = 0.0 if cascade.told.instance.budget is None else min(0.0, float(find(rows, "budget").view(dual)[0]))
    return Proof(error + 0.0, np.minimum(0.0, find(rows, "capacity").view(dual)) + 0.0, budget + 0.0)  # no -0


def _without_policy(cascade: Cascade, found: Solution, solve: Solve, options: Options) -> AdaptivePlan:
    """No plan: proven where the solver's ray is one, and by how much errors would have to grow."""
    told, kinds = cascade.told, cascade.told.first.size
    refuted = found.status is Status.INFEASIBLE and certify(found).proves_infeasible()
    note = _least_errors(cascade, solve, options) if found.status is Status.INFEASIBLE else ""
    return AdaptivePlan(
        instance=told.instance,
        status=Status.INFEASIBLE if refuted else Status.UNDECIDED,
        askers=_askers(told),
        rows=(),
        objective=None,
        bound=inf if refuted else -inf,
        proof_of=None,
        loads=np.zeros(told.capacity.size),
        errors=np.zeros(kinds),
        to_expert=np.zeros(kinds),
        pairs=None,
        rounds=cascade.rounds,
        expert=cascade.expert,
        seed=options.seed,
        interrupted=found.interrupted,
        note=note,
    )


def _least_errors(cascade: Cascade, solve: Solve, options: Options) -> str:
    """The least factor on all targets that leaves a plan, in a sentence."""
    found = solve(least_excess(cascade), BY_SIZE, options)
    if found.status is not Status.OPTIMAL or found.primal is None:
        return ""
    return f"the least errors within the limits are {1 + float(found.primal[-1]):.4g} times the targets"


def _askers(told: ToldTasks) -> Askers:
    """Ids: a kind has its type's, numbered where a type has several; an asker its first worker's."""
    types = [told.instance.type_id(kind) for kind in told.of_type.tolist()]
    several, seen, kinds = Counter(types), Counter[str](), []
    for name in types:
        seen[name] += 1
        kinds.append(f"{name}/{seen[name]}" if several[name] > 1 else name)
    names = [told.instance.worker_id(int(some[0])) for some in told.workers]
    return Askers(tuple(kinds), told.kind, tuple(names), told.workers)

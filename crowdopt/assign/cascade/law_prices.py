"""What a belief about dependence costs: plans by one law of votes, followed under another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.cascade.adaptive_plan import PolicyRow
from crowdopt.assign.cascade.cheapest_policy import SPARE, least_times
from crowdopt.assign.cascade.policy_walk import walked
from crowdopt.core.solution import BY_SIZE, Options, Solve, Status
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import NONE, Law
from crowdopt.crowd.states.asking_orders import ASK, EXPERT
from crowdopt.crowd.states.told_tasks import ToldTasks, law_of
from crowdopt.programs.cascade import Cascade


@dataclass(frozen=True)
class LawPrice:
    """The cheapest adaptive plan by a law."""

    name: str
    promised: float  # cost that it expects
    cost: float  # cost that it comes to under the law that is true
    times: float  # largest error over its target, of all types, that it promises
    errs: float  # the same under the law that is true


def with_law(instance: AssignmentInstance, law: Law) -> AssignmentInstance:
    """The instance whose votes follow a law and nothing else."""
    return replace(instance, vote_law=law, difficulty=NONE)


def law_price(true: Cascade, law: Law, solve: Solve, options: Options) -> LawPrice | None:
    """Plan as if this law held, and follow the plan under the law of ``true``; None where the solver fails.

    true: of tasks without labels.

    Where the law's own plan cannot keep the targets it is the one of the least multiple of all of them.
    """
    told = true.told
    other = with_law(told.instance, law)
    tasks = told.first.tolist()
    laws = [states.joint(*law_of(other, i, told.workers)) for states, i in zip(told.states, tasks, strict=True)]
    believed = replace(true, told=replace(told, joint=tuple(laws)))
    found = solve(believed.program, BY_SIZE, options)
    if found.status is Status.INFEASIBLE:
        times = least_times(believed, solve, options)
        if times is None:
            return None
        believed = replace(believed, times=times * (1 + SPARE))
        found = solve(believed.program, BY_SIZE, options)
    if found.status is not Status.OPTIMAL or found.primal is None:
        return None
    allowed = told.epsilon * told.tasks_in
    walk = walked(believed, found.primal)
    cost, wrong = _followed(walk.rows, believed, told)
    return LawPrice(law.name, walk.cost, cost, float((walk.wrong / allowed).max()), float((wrong / allowed).max()))


def _followed(rows: list[PolicyRow], believed: Cascade, told: ToldTasks) -> tuple[float, Floats]:
    """Cost and wrong answers (kinds,) of a policy under the law of ``told``, from tasks without labels.

    Shares alone lead to a state: the tasks there are in the ratio of the laws' chances of its votes.
    """
    cost, wrong = 0.0, np.zeros(told.first.size)
    for row in rows:
        states, law = told.states[row.kind], told.joint[row.kind]
        counts = np.zeros((1, len(states.own), states.classes), np.int64)
        for asker, label, number in row.votes:
            counts[0, asker, label] = number
        state = int(states.number(counts)[0])
        tasks = row.tasks * float(law[state].sum() / believed.told.joint[row.kind][state].sum())
        if row.action == ASK:
            cost += tasks * float((told.price[row.kind] * np.array(row.what)).sum())
        elif row.action == EXPERT:
            cost += tasks * float(believed.expert or 0.0)
        else:
            wrong[row.kind] += tasks * float(1 - law[state, row.what[0]] / law[state].sum())
    return cost, wrong

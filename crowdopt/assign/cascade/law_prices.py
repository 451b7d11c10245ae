"""What a belief about dependence costs: plans by one law of votes, followed under another."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crowdopt.assign.cascade.cascade import Cascade
from crowdopt.assign.cascade.cheapest_policy import SPARE, least_times
from crowdopt.assign.cascade.panels import joint_laws
from crowdopt.assign.cascade.policy_walk import walked
from crowdopt.core.solution import BY_SIZE, Options, Solve, Status
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import NONE, Law


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
    panel, other = true.panel, with_law(true.panel.instance, law)
    joint = joint_laws(other, panel.first, panel.one, panel.states)
    believed = replace(true, panel=replace(panel, joint=joint))
    found = solve(believed.program, BY_SIZE, options)
    if found.status is Status.INFEASIBLE:
        times = least_times(believed, solve, options)
        if times is None:
            return None
        believed = replace(believed, times=times * (1 + SPARE))
        found = solve(believed.program, BY_SIZE, options)
    if found.status is not Status.OPTIMAL or found.primal is None:
        return None
    allowed = panel.epsilon * panel.tasks_in
    own, followed = walked(believed, found.primal), walked(believed, found.primal, panel)
    errors = (float((walk.wrong / allowed).max()) for walk in (own, followed))
    return LawPrice(law.name, own.cost, followed.cost, *errors)

"""Where the LP has an answer and whole labels have none: proven, and never said of an instance that has a plan."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Status, assign
from crowdopt.assign.exact.search import Search
from crowdopt.assign.methods import linear_rules
from crowdopt.recheck.bounds.proofs import prove_blocks
from tests.sampled import first_of
from tests.small import brute_force, three_by_four


def paid_at_most(instance: AssignmentInstance) -> float:
    """No plan costs more: every worker works all they may, at their highest price."""
    return float(instance.cost.max(axis=0) @ np.minimum(instance.capacity, instance.n_tasks))


@pytest.mark.parametrize(("tasks", "first"), first_of([(100, 15), (300, 43), (1000, 143)]))
def test_capacities_just_short_of_whole_labels_are_proven_too_small(tasks, first):
    """Nine of ten labels of .85 cover a task by themselves, but every task's last label is only needed in part.

    Below ``first`` labels each, evidence suffices in the mean, whole sets do not; from there on there is a plan. The
    multipliers prove it by verify's own knapsacks too: more than all workers could be paid.
    """
    skills = np.resize((0.85, 0.65), (1, 60))
    for capacity in (first - 1, first):
        instance = AssignmentInstance(skills, np.zeros(tasks, int), np.full(60, capacity), 0.1, rule="bhattacharyya")
        assert instance.evidence.sum() * capacity >= instance.need.sum()
        plan = assign(instance, time_limit=60, strict=True, gap=0.0)
        if capacity == first:
            assert plan.status is Status.OPTIMAL
            continue
        assert plan.status is Status.INFEASIBLE and plan.proof == "certificate" and plan.duals is not None
        proven = prove_blocks(instance, plan.duals.worker, plan.duals.labels, plan.duals.budget)
        assert proven > paid_at_most(instance)


def test_whoever_is_told_there_is_no_plan_has_none(monkeypatch):
    """By sets alone, without a search of the full program, against brute force.

    Most without a plan are found out before any set is priced; one of 20 is left to the multipliers, first seed 13.
    """
    monkeypatch.setattr(linear_rules, "SMALL", 0)
    monkeypatch.setattr(Search, "in_full", lambda *_: None)
    refuted = 0
    for seed in range(14):
        instance = three_by_four(seed, (0.85, 0.65, 0.75))
        plan, best = assign(instance, nodes=4, time_limit=60, strict=True), brute_force(instance)
        assert (plan.status is Status.INFEASIBLE) <= (best is None), seed
        if plan.status is Status.INFEASIBLE and plan.duals is not None and plan.duals.form == "sets":
            proven = prove_blocks(instance, plan.duals.worker, plan.duals.labels, plan.duals.budget)
            assert proven > paid_at_most(instance), seed
            refuted += 1
    assert refuted >= 1

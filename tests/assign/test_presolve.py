"""Tasks that ask nothing are in no program: cost, bound and proof stay those of all tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import crowdopt
from crowdopt import AssignmentInstance, solve
from crowdopt.assign.direct import solve_full
from crowdopt.assign.plan import presolved
from crowdopt.core.solution import Options
from crowdopt.crowd.groups import Group, OwnRows
from crowdopt.crowd.vote_errors import breaches, is_open
from crowdopt.recheck.bounds import JointPull, prove, prove_sets
from crowdopt.verbs.binding import SOLVERS
from tests.sampled import first_of
from tests.small import instances

SURE = (0.99, 0.01)  # what makes a task ask nothing


def second_round(**more):
    """Four tasks of which labels settled all but the last, six workers, the price of each above 0."""
    base = {"cost": [3.0, 2.0, 2.0, 1.0, 1.0, 1.0], "prior": [SURE, SURE, SURE, (0.5, 0.5)], "rule": "bhattacharyya"}
    return AssignmentInstance([[0.95, 0.9, 0.9, 0.8, 0.8, 0.6]], [0] * 4, [4] * 6, 0.1, **(base | more))


@settings(max_examples=20)
@given(instances())
def test_the_optimum_and_its_proof_are_those_of_the_whole_program(instance):
    """With every option drawn: the same cost, a plan that keeps all limits, multipliers that prove the bound of all."""
    whole = solve_full(instance, "ip", SOLVERS.solve, "highs", Options())
    plan = presolved(instance, lambda part: solve_full(part, "ip", SOLVERS.solve, "highs", Options()))
    assert plan.status is whole.status and plan.instance is instance
    if plan.found:
        assert plan.objective == pytest.approx(whole.objective, abs=1e-9) and not breaches(instance, plan.pairs)
    if plan.duals is not None and np.isfinite(plan.certified_bound):
        duals = (plan.duals.task, plan.duals.worker, plan.duals.labels, plan.duals.budget)
        by_sets = prove_sets(instance, plan.duals.worker, plan.duals.budget, JointPull.none(instance))
        least = max(prove(instance, *duals), by_sets)
        assert np.ceil(least - 1e-6) >= plan.certified_bound or least >= plan.certified_bound - 1e-6


ALL = [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({}, [3]),
        ({"min_labels": [0, 1, 0, 0]}, [1, 3]),
        ({"fixed": [[2, 4]]}, [2, 3]),
        ({"min_load": [0, 0, 0, 0, 0, 4]}, ALL),
        ({"groups": [Group("g", (0, 1), min_share=0.5)]}, ALL),
        ({"groups": [Group("g", (0, 1), max_share=0.5)]}, ALL),
        ({"groups": [Group("g", (0, 1), min_per_task=1)]}, ALL),
        ({"groups": [Group("g", (0, 1), max_per_task=1)]}, [3]),
        ({"own_rows": OwnRows(["beside"], [0], [[0, 0]], [1.0], [1.0], [np.inf])}, ALL),
        ({"budget": 9.0, "rule": "probit"}, [3]),
        ({"rule": "exact-error", "min_labels": [1, 0, 0, 0]}, [0, 3]),
        ({"rule": "mean-error"}, ALL),
    ],
)
def test_whatever_still_asks_keeps_its_tasks(more, wanted):
    """Least labels, fixed pairs, least loads, groups, own rows and averages ask of tasks that need nothing."""
    assert np.flatnonzero(is_open(second_round(**more))).tolist() == wanted


MORE = [
    ("exact-error", {"min_labels": [3, 0, 0, 0]}),
    ("bhattacharyya", {"fixed": [[2, 5]], "budget": 40.0}),
    ("exact-error", {"min_load": [0, 0, 0, 0, 0, 3]}),
    ("bhattacharyya", {"groups": [Group("g", (0, 1, 2), min_share=0.3)]}),
    ("exact-error", {"groups": [Group("g", (0, 1, 2), max_per_task=2)]}),
    ("bhattacharyya", {"cost": [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]}),
]


@pytest.mark.parametrize(("rule", "more"), MORE)
@pytest.mark.parametrize("settled", first_of([3, 4]))
def test_verify_finds_the_proof_from_the_folders(tmp_path, rule, more, settled):
    """The multipliers of the tasks left out stand in the plan as 0, those of groups too, and prove what it says."""
    had = [(task, worker) for task in range(settled) for worker in (0, 3)]
    instance = second_round(rule=rule, prior=None, collected=had, class_names=["no", "yes"], **more)
    crowdopt.write_campaign(instance, tmp_path / "c", collected_labels=["yes"] * len(had))
    text = (tmp_path / "c" / "campaign.toml").read_text(encoding="utf-8")
    (tmp_path / "c" / "campaign.toml").write_text(text.replace('"evidence"', '"observed"'), encoding="utf-8")
    plan = solve(tmp_path / "c", output=tmp_path / "p", gap=0.0)
    report = crowdopt.verify(tmp_path / "c", tmp_path / "p")
    assert plan.proven and report.holds, report.problems
    idle = ~is_open(plan.instance)
    assert idle.sum() == settled - ("fixed" in more) - ("min_labels" in more) or not idle.any()
    assert not plan.task_labels[idle].any()


@pytest.mark.parametrize(
    ("method", "program"), [("exact", "ip"), ("highs", "lp"), ("primal-approximation", "ip"), ("exact", "lp")]
)
def test_every_method_answers_where_nothing_is_left(method, program):
    """Nothing costs less than 0, which is the proof; a method that does not exist is still refused."""
    done = replace(second_round(), prior=np.array([SURE] * 4))
    plan = solve(done, method, program=program)
    assert plan.found and plan.labels == 0 and plan.bound == 0 and plan.pairs.shape == (0, 2)
    with pytest.raises((crowdopt.InputError, crowdopt.BackendMissing)):
        solve(done, "nobody", program=program)

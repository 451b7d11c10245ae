"""Plans that verify once refused though all they say is true: of money, of rounded skills, of types without tasks."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, budget, solve, verify
from tests.recheck.forged import made
from tests.typed import said


@pytest.mark.parametrize("own", ["forbidden", "collected", "skills"])
@pytest.mark.parametrize("seed", range(2))
def test_money_where_pairs_may_not_be_or_skills_are_ones_own(own, seed, tmp_path):
    """The price of evidence is gained from pairs that may be: others lower no bound on wrong answers.

    Prices that say nothing of the cost still prove how many answers are wrong: they are kept.
    """
    rng = np.random.default_rng([seed, len(own)])
    one = AssignmentInstance(rng.uniform(0.55, 0.95, (1, 5)), [0] * 3, [3] * 5, 0.2)
    if own == "skills":
        one = AssignmentInstance(rng.uniform(0.4, 0.95, (1, 9)), [0] * 3, rng.integers(0, 4, 9), 0.2)
        spent = budget(one, money=5.0, method="exact")
        one = spent.plan.instance.with_epsilon(0.2)
    else:
        one = replace(one, **{own: [(0, 0), (0, 1), (1, 2)]})
        spent = budget(one, money=3.0, method="greedy")
    place = made(tmp_path, one, spent.plan)
    assert verify(place / "campaign", place / "plan").wrong_bound == pytest.approx(spent.wrong_bound, rel=1e-6)


@pytest.mark.parametrize(
    ("workers", "tasks", "low", "high", "epsilon", "rule"),
    [
        (44, 2, 0.55, 0.7, 0.05, "exact-error"),
        (28, 1, 0.68, 0.72, 0.3, "mean-error"),
        (70, 1, 0.68, 0.72, 0.3, "mean-error"),
    ],
)
def test_more_skills_than_a_bound_tells_apart(workers, tasks, low, high, epsilon, rule, tmp_path):
    """Twenty-two labels have millions of combinations of answers: as many are told apart as the claim needs.

    A bound is claimed where verify tells as many apart.
    """
    rng = np.random.default_rng(0)
    skills, cost = rng.uniform(low, high, (1, workers)), rng.integers(1, 5, workers) + rng.random(workers).round(2)
    one = AssignmentInstance(skills, [0] * tasks, [tasks] * workers, epsilon, cost=cost, rule=rule)
    plan = solve(one, time_limit=120)
    assert plan.found and (rule == "mean-error" or plan.proof == "certificate")
    made(tmp_path, one, plan)


LIMITS = {"rule": "exact-error", "collected": [[1, 0]], "cost": [0.7, 0.4]}
LITTLE = {
    "a type without tasks has no weights": AssignmentInstance([[0.9, 0.8], [0.6, 0.7]], [0] * 2, [2] * 2, 0.45),
    "a task whose label is in": AssignmentInstance([[0.9, 0.85]], [0, 0], [2, 2], 0.2, **LIMITS),
}


@pytest.mark.parametrize("name", LITTLE)
def test_what_a_plan_need_not_speak_of_takes_nothing_from_the_bound(name, tmp_path):
    """A campaign knows the types of its tasks; sets by exact error prove the label of the other task."""
    plan = solve(LITTLE[name])
    place = made(tmp_path, LITTLE[name], plan)
    assert plan.proven and verify(place / "campaign", place / "plan").proof == "certificate"


def test_json_says_what_the_sentences_say(tmp_path):
    """A plan for .45 holds for .45: a reader of the numbers alone sees that the campaign says .1."""
    one = AssignmentInstance([[0.9] * 9], [0] * 2, [2] * 9, 0.1)
    made(tmp_path, one, solve(one))
    solve(tmp_path / "campaign", epsilon=0.45, output=tmp_path / "other")
    found = json.loads(said("verify", tmp_path / "campaign", tmp_path / "other", "--json"))
    assert found["holds"] and found["in_place_of_campaign"] == {"epsilon": 0.45}

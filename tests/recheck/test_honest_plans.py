"""Plans that verify once refused though all they say is true: of money, of rounded skills, of types without tasks."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from crowdopt import AssignmentInstance, budget, solve, verify, write_campaign, write_plan
from crowdopt.cli import main
from tests.draw import campaign
from tests.recheck.forged import made


def holds(instance, plan, place):
    """Written, and looked at again."""
    made(place, instance, plan)
    return verify(place / "campaign", place / "plan")


@pytest.mark.parametrize("own", ["forbidden", "collected"])
@pytest.mark.parametrize("seed", range(2))
def test_money_where_pairs_may_not_be(own, seed, tmp_path):
    """The price of evidence is gained from pairs that may be: others lower no bound on wrong answers."""
    rng = np.random.default_rng([seed, own == "forbidden"])
    pairs = {own: [(0, 0), (0, 1), (1, 2)]}
    instance = AssignmentInstance(rng.uniform(0.55, 0.95, (1, 5)), np.zeros(3, np.int64), np.full(5, 3), 0.2, **pairs)
    spent = budget(instance, money=3.0, method="greedy")
    report = holds(instance, spent.plan, tmp_path)
    assert report.wrong_bound == pytest.approx(spent.wrong_bound, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_money_over_own_skills(seed, tmp_path):
    """Prices that say nothing of the cost still prove how many answers are wrong: they are kept."""
    rng = np.random.default_rng(seed)
    skills, room = rng.uniform(0.4, 0.95, (1, 25)), rng.integers(0, 4, 25)
    spent = budget(AssignmentInstance(skills, np.zeros(3, np.int64), room, 0.2), money=9.0, method="exact")
    report = holds(spent.plan.instance.with_epsilon(0.2), spent.plan, tmp_path)
    assert report.wrong_bound is not None and report.wrong_bound == pytest.approx(spent.wrong_bound, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_errors_of_three_skills(seed, tmp_path):
    """With and without time to find multipliers."""
    instance = campaign(seed, 4, 6, "mean-error" if seed % 2 else "exact-error", skills="three-own")
    plan = solve(instance, time_limit=5 if seed < 2 else 0.001)
    if plan.found:
        holds(instance, plan, tmp_path)


def test_sets_of_many_labels_who_all_differ(tmp_path):
    """Twenty-two labels have millions of combinations of answers: as many are told apart as the claim needs."""
    rng = np.random.default_rng(0)
    skills, cost = rng.uniform(0.55, 0.7, (1, 60)), rng.integers(1, 5, 60) + rng.random(60).round(2)
    instance = AssignmentInstance(skills, np.zeros(2, np.int64), np.full(60, 2), 0.05, cost=cost, rule="exact-error")
    plan = solve(instance, time_limit=20)
    assert plan.proof == "certificate" and plan.labels == 44
    holds(instance, plan, tmp_path)


@pytest.mark.parametrize("workers", [28, 70])
def test_more_skills_than_a_bound_tells_apart(workers, tmp_path):
    """The bound is claimed where verify tells as many skills apart."""
    rng = np.random.default_rng(workers)
    skills, cost = rng.uniform(0.68, 0.72, (1, workers)), rng.uniform(0.5, 3, workers)
    ones = np.ones(workers, np.int64)
    instance = AssignmentInstance(skills, np.zeros(1, np.int64), ones, 0.3, cost=cost, rule="mean-error")
    holds(instance, solve(instance, time_limit=10), tmp_path)


def test_a_type_without_tasks_has_no_weights(tmp_path):
    """A campaign knows the types of its tasks; a plan for it has weights for those."""
    instance = AssignmentInstance(np.array([[0.9, 0.8], [0.6, 0.7]]), np.zeros(2, np.int64), np.full(2, 2), 0.45)
    holds(instance, solve(instance), tmp_path)


def test_json_says_what_the_sentences_say(tmp_path):
    """A plan for .45 holds for .45: a reader of the numbers alone sees that the campaign says .1."""
    instance = AssignmentInstance(np.full((1, 9), 0.9), np.zeros(2, np.int64), np.full(9, 2), 0.1)
    write_campaign(instance, tmp_path / "campaign")
    from crowdopt import read_campaign

    write_plan(solve(read_campaign(tmp_path / "campaign"), epsilon=0.45), tmp_path / "plan")
    arguments = ["verify", str(tmp_path / "campaign"), str(tmp_path / "plan")]
    assert "in place of what the campaign says" in CliRunner().invoke(main, arguments).output
    said = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).output)
    assert said["holds"] and said["in_place_of_campaign"] == {"epsilon": 0.45}


def test_a_task_whose_label_is_in_takes_nothing_from_the_bound(tmp_path):
    """Of two tasks one is settled by a label that is in: sets by exact error prove the label of the other."""
    instance = AssignmentInstance(
        [[0.9, 0.85]], [0, 0], [2, 2], 0.2, rule="exact-error", collected=np.array([[1, 0]]), cost=[0.7, 0.4]
    )
    plan = solve(instance)
    assert plan.proven and plan.objective == 0.4
    assert holds(instance, plan, tmp_path).proof == "certificate"

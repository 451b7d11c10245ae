"""Plans where some tasks are hard for every worker: their errors by enumeration, their optimum by trying all sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, InputError, Status, read_campaign, solve
from crowdopt.crowd.law import Difficulty
from crowdopt.crowd.rules import hard_need
from crowdopt.crowd.vote_errors import errors_of, exact_errors, least_errors, relaxation
from crowdopt.verbs.plans_said import why_not
from tests.assign.by_hand import report_on
from tests.checkers.plans import errors
from tests.draw import campaign
from tests.sampled import first_of


@pytest.mark.parametrize("seed", range(8))
def test_each_vote_errs_as_on_easy_and_hard_tasks_together(seed):
    """And with at least what its evidence says, and the relaxation's floor."""
    instance = campaign(seed, 3, 6, "exact-error difficulty prior" if seed % 2 else "exact-error difficulty")
    some = np.random.default_rng(seed).random((3, 6)) < 0.7
    above, _ = exact_errors(instance, np.argwhere(some))
    assert above == pytest.approx(errors(instance, np.arange(3), some), abs=1e-9)
    inside, worth = above < 0.4999, instance.supply(np.argwhere(some))
    stated = replace(instance, epsilon=np.where(inside, np.maximum(above, 1e-6), 0.49))
    assert (worth[inside] >= hard_need(stated.epsilon, stated.prior, stated.difficulty)[inside] - 1e-7).all()
    assert (least_errors(instance) <= above + 1e-9).all()
    assert (above <= instance.error_bound(worth) + 1e-9).all()


def crowd(**changes) -> AssignmentInstance:
    """Thirty workers of accuracies .7 to .9 and twelve tasks, 30 % of them hard, half of the skill left there."""
    accuracy = np.repeat([0.7, 0.8, 0.9], 10)[None]
    given = {"epsilon": 0.1, "rule": "exact-error", "difficulty": Difficulty(0.3, 0.5)} | changes
    return AssignmentInstance(accuracy, np.zeros(12, np.int64), np.full(30, 12), **given)


def test_difficulty_costs_labels_and_none_costs_nothing(tmp_path):
    """A share of 0 changes no label, whatever is left of skill; a larger one takes more labels for the same promise."""
    plain = solve(crowd(difficulty=Difficulty()))
    assert np.array_equal(solve(crowd(difficulty=Difficulty(0.0, 0.2))).pairs, plain.pairs)
    hard = solve(crowd())
    assert plain.labels < hard.labels and report_on(crowd(), hard, tmp_path).holds
    assert read_campaign(tmp_path / "campaign").difficulty == crowd().difficulty
    assert not (relaxation(crowd()).need < relaxation(crowd(difficulty=Difficulty())).need).any()


def test_a_target_below_the_floor_is_refused_with_what_can_be_promised():
    """Where next to no skill is left on hard tasks the crowd cannot pass the floor; the sentences say both numbers."""
    instance = crowd(difficulty=Difficulty(0.3, 0.05), epsilon=0.08)
    plan = solve(instance)
    assert plan.status is Status.INFEASIBLE
    said = " ".join(why_not(plan))
    floor = float(least_errors(instance)[0])
    assert floor > 0.08 and f"errs with {floor:.4g}, above its target 0.08" in said
    assert "30 % of the tasks are hard, where workers keep 5 % of their edge over guessing" in said
    reached = float(said.split("a plan for epsilon = ")[1].split(" ")[0])
    assert floor < reached < 1.05 * floor
    assert solve(instance.with_epsilon(reached)).found
    assert solve(instance.with_epsilon(floor * 0.999)).status is Status.INFEASIBLE


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rule": "bhattacharyya"}, "rule bhattacharyya knows no difficulty; choose rule exact-error"),
        ({"classes": 3}, "between 2 classes, not 3"),
        ({"observed": True}, 'collected = "evidence"'),
        ({"difficulty": Difficulty(0.2, -0.3)}, "misled together"),
        *(({"difficulty": wrong}, "as in") for wrong in ((0.3,), "ab", 3, None, (0.1, "much"))),
    ],
)
def test_what_knows_no_difficulty_says_so(change, sentence):
    """No other rule, no more classes, no labels observed, no misled crowd; a pair is a difficulty, nothing else is."""
    assert crowd(difficulty=(0.3, 0.5)).difficulty == Difficulty(0.3, 0.5)
    with pytest.raises(InputError, match=sentence):
        crowd(**change)


def test_a_fit_becomes_a_plans_difficulty():
    """Edges that were believed are means over easy and hard tasks: those on easy tasks are so many times larger."""
    fit = Difficulty(0.3, 0.24, 1.2)
    made = replace(crowd(difficulty=Difficulty()), accuracy=np.full((1, 30), 0.75)).with_difficulty(fit)
    assert made.accuracy[0, 0] == pytest.approx(0.8) and made.difficulty.left == pytest.approx(0.2)
    assert made.difficulty.easy == 1


@pytest.mark.parametrize("labels", first_of([9, 12, 14]))
def test_tasks_that_have_many_labels_are_planned_for(labels):
    """Each answer to a label that is in is told apart: those of labels that are not bought are not.

    The best workers a task may still have do best, so the fewest of them that keep the target are the optimum.
    """
    skill = np.concatenate([np.full(labels, 0.6), np.full(30, 0.8)])
    had = [(task, worker) for task in range(6) for worker in range(labels)]
    instance = AssignmentInstance(
        skill[None], np.zeros(40, int), np.full(skill.size, 20), 0.2, difficulty=(0.3, 0.4), collected=had
    )
    plan = solve(instance, time_limit=10)
    best = labels + np.arange(30)
    sets = [np.concatenate([np.arange(had), best[:k]]) for had in (labels, 0) for k in range(30)]
    enough = (errors_of(instance, np.repeat([0, 6], 30), sets) <= 0.2).reshape(2, 30)
    first, other = enough.argmax(axis=1)
    assert plan.proven and plan.objective == 6 * first + 34 * other > 0

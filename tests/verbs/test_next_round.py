"""What aggregate advises is true: the campaign it leaves is one that solve takes, whatever the first round was."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import crowdopt
from crowdopt import AssignmentInstance, Group, aggregate, read_campaign, rehearse, solve, write_campaign
from tests.io import write_table
from tests.typed import column, said


def planned(folder, instance, **given):
    """Write a campaign and its plan."""
    write_campaign(instance, folder / "c")
    assert solve(folder / "c", output=folder / "p", **given).found


def second_round(folder, instance, lost=0.3, seed=0, **given):
    """Plan, simulate labels of which some are lost, and read the campaign that is left."""
    planned(folder, instance, **given)
    rehearse(folder / "c", folder / "p", output=folder / "l.csv", lost=lost, seed=seed)
    aggregate(folder / "l.csv", plan=folder / "p", campaign=folder / "c", output=folder / "a")
    return read_campaign(folder / "a" / "campaign")


def answered(folder, labels, **options):
    """These labels come back, ``task,worker,label`` each; the answers, and what the verb says on the screen."""
    table = write_table(folder / "l.csv", "task,worker,label", *labels)
    given = {"plan": folder / "p", "campaign": folder / "c"}
    told = said("aggregate", table, "--plan", folder / "p", "--campaign", folder / "c", "-o", folder / "a", "--force")
    return aggregate(table, **given, output=folder / "a", force=True, **options), told


def settings_of(folder):
    """What the next campaign's campaign.toml says."""
    return tomllib.loads((folder / "a" / "campaign" / "campaign.toml").read_text(encoding="utf-8"))


def test_a_task_at_its_target_is_sure_and_asks_nothing(tmp_path):
    """1 - 0.95 is above 0.05 in float64: aggregate and solve take it for the target alike."""
    instance = AssignmentInstance([[0.95, 0.9]], [0] * 4, [4, 4], 0.05, rule="exact-error", types=["all"])
    second = second_round(tmp_path, instance, lost=0.0)
    assert column(tmp_path / "a" / "answers.csv", "sure") == ["yes"] * 4
    assert solve(second).labels == 0


def test_an_unsure_task_that_may_be_hard_is_asked_once_more(tmp_path):
    """Labels count as evidence there, and the rule has all of it: each such task gets a label more, a useful one."""
    given = {"rule": "exact-error", "types": ["all"], "difficulty": (0.2, 0.3), "cost": [1.0] * 9 + [0.5]}
    second = second_round(tmp_path, AssignmentInstance([[0.9] * 9 + [0.5]], [0] * 60, 60, 0.12, **given), lost=0.0)
    unsure = np.array(column(tmp_path / "a" / "answers.csv", "sure")) == "no"
    plan = solve(second)
    assert unsure.any() and (plan.task_labels == unsure).all()
    assert not (plan.pairs[:, 1] == 9).any(), "a worker who guesses says nothing"


TWO = {"types": ["all"], "class_names": ["a", "b"]}
SPLIT = [f"0,{worker},{'ab'[worker % 2]}" for worker in range(6)]  # of six workers, three to three


def test_an_unsure_task_of_families_is_asked_once_more(tmp_path):
    """Two labels of a family may err together: with one of each of three families that disagree a fourth is asked."""
    groups = [Group(f"f{k}", [2 * k, 2 * k + 1], max_per_task=2, dependent=True) for k in range(4)]
    planned(tmp_path, AssignmentInstance([[0.97] * 8], [0] * 30, 30, 0.3, rule="bhattacharyya", groups=groups, **TWO))
    found, _ = answered(tmp_path, ["0,0,a", "0,2,b"])
    assert not found.answers.sure[0] and solve(tmp_path / "a" / "campaign").task_labels[0] == 1


def test_two_labels_of_a_family_that_nobody_planned_do_not_end_the_loop(tmp_path):
    """Under rule exact-error nothing is promised of them: the campaign goes on by one that knows them."""
    groups = [Group("f", [0, 1], max_per_task=1, dependent=True)]
    planned(tmp_path, AssignmentInstance([[0.95] * 8], [0] * 5, 5, 0.2, rule="exact-error", groups=groups, **TWO))
    answered(tmp_path, ["0,0,a", "0,1,b"])
    assert settings_of(tmp_path)["rule"] == "bhattacharyya" and settings_of(tmp_path)["collected"] == "evidence"
    assert solve(tmp_path / "a" / "campaign").task_labels[0] > 0


@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
def test_accepted_tasks_no_longer_stand_in_the_way_of_others(tmp_path, rule):
    """One task has all labels there are and is not sure: taken as it is, the campaign serves the other unsure one."""
    given = {"rule": rule, "forbidden": [[0, 6]], **TWO}
    planned(tmp_path, AssignmentInstance([[0.95] + [0.9] * 6], [0] * 2, 2, 0.25, **given))
    answered(tmp_path, SPLIT)
    assert solve(tmp_path / "a" / "campaign").status is crowdopt.Status.INFEASIBLE
    found, _ = answered(tmp_path, SPLIT, accept=True)
    plan = solve(tmp_path / "a" / "campaign")
    assert not found.answers.sure.any() and plan.found and (plan.task_labels > 0).tolist() == [False, True]
    assert (plan.instance.epsilon > 0.25).tolist() == [True, False]
    assert plan.instance.epsilon[0] == pytest.approx(found.answers.error[0], abs=1e-4)


@pytest.mark.parametrize(("workers", "reachable"), [(8, False), (10, True)])
def test_where_only_the_exact_rule_has_labels_enough_that_is_said(tmp_path, workers, reachable):
    """Three to three, and 2 or 4 workers of accuracy .8 left: by their exact error 3 of them keep .12, 2 do not."""
    planned(tmp_path, AssignmentInstance([[0.8] * workers], [0], 1, 0.12, rule="bhattacharyya", **TWO))
    _, told = answered(tmp_path, SPLIT)
    assert "1 of those not sure need more than all labels that they can still have: 0" in told
    assert ("1 of these can be served by solve --rule exact-error" in told) == reachable
    assert solve(tmp_path / "a" / "campaign", rule="exact-error").found == reachable


def test_a_task_that_other_votes_make_sure_needs_no_label(tmp_path):
    """Under hoeffding three fair workers outvote one who is nearly always right; by log-odds they do not."""
    planned(tmp_path, AssignmentInstance([[0.99] * 4 + [0.7] * 3], [0], 1, 0.15, rule="hoeffding", **TWO))
    _, told = answered(tmp_path, ["0,0,a", "0,4,b", "0,5,b", "0,6,b"])
    assert "0 sure, 1 not yet" in told and "1 of those not sure are, by the votes of that rule" in told
    assert settings_of(tmp_path)["rule"] == "bhattacharyya" and settings_of(tmp_path)["collected"] == "observed"
    solve(tmp_path / "a" / "campaign", output=tmp_path / "p2")
    again = aggregate(tmp_path / "l.csv", plan=tmp_path / "p2", campaign=tmp_path / "a" / "campaign")
    assert again.answers.sure.all() and again.left_out == 4


def test_a_second_rehearsal_goes_on_in_the_world_of_the_first(tmp_path):
    """No truth is named: it is drawn given the labels that are in, and agrees with 9 of 10 as the workers do."""
    instance = AssignmentInstance([[0.9, 0.9]], [0] * 400, [400, 400], 0.05, rule="exact-error", types=["all"])
    second_round(tmp_path, replace(instance, epsilon=np.full(400, 0.1)), lost=0.0)
    solve(tmp_path / "a" / "campaign", output=tmp_path / "p2")
    rehearse(tmp_path / "a" / "campaign", tmp_path / "p2", output=tmp_path / "l2.csv", truth=tmp_path / "t.csv")
    answers, truth = column(tmp_path / "a" / "answers.csv", "answer"), column(tmp_path / "t.csv", "label")
    right = sum(one == other for one, other in zip(answers, truth, strict=True))
    low, high = binom.ppf(5e-7, 400, 0.9), binom.isf(5e-7, 400, 0.9)
    assert low <= right <= high


def test_what_no_longer_fits_the_capacity_that_is_left_is_not_asked_for(tmp_path):
    """Workers gave all the labels that their capacity allows, though not the fixed one, and on other tasks."""
    given = {"fixed": [[0, 0]], "min_load": [1, 2, 0], "max_labels": [3, 3, 3], **TWO}
    planned(tmp_path, AssignmentInstance([[0.9, 0.9, 0.9]], [0] * 3, [1, 2, 3], 0.4, **given))
    answered(tmp_path, ["1,0,a", "0,1,b", "2,1,b"])
    back = read_campaign(tmp_path / "a" / "campaign")
    assert back.capacity[0] == 0 and len(back.fixed) == 0 and (back.min_load <= back.capacity).all()
    assert solve(back).pairs is not None

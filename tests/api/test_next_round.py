"""What aggregate advises is true: the campaign it leaves is one that solve takes, whatever the first round was."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binom

import crowdopt
from crowdopt import AssignmentInstance, Group, assign, read_campaign, write_campaign, write_plan
from crowdopt.api.answers import answers
from crowdopt.api.rehearse import rehearse
from crowdopt.cli import main
from crowdopt.crowd.difficulty.hard_tasks import Difficulty
from crowdopt.crowd.exactness import CERTAIN, exact_errors, least_errors
from tests.sampled import first_of


def rows(path):
    """The rows of a table."""
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def second_round(folder, instance, lost=0.3, seed=0, **given):
    """Write a campaign and its plan, simulate labels of which some are lost, and read the campaign that is left."""
    write_campaign(instance, folder / "c")
    plan = assign(read_campaign(folder / "c"), **given)
    assert plan.found
    write_plan(plan, folder / "p")
    rehearse(folder / "c", folder / "p", output=folder / "l.csv", lost=lost, seed=seed)
    answers(folder / "l.csv", folder / "p", campaign=folder / "c", output=folder / "a")
    return read_campaign(folder / "a" / "campaign")


@pytest.mark.parametrize("rule", ["hoeffding", "bhattacharyya", "exact-error", "probit"])
def test_solve_takes_the_second_round_under_every_rule(tmp_path, rule):
    """The recipes' own rule among them, which takes no notice of what labels say."""
    instance = AssignmentInstance(np.full((1, 8), 0.8), [0] * 3, [3] * 8, 0.35, rule=rule, types=["all"])
    next_one = second_round(tmp_path, instance)
    assert assign(next_one).found


def settings_of(folder):
    """What the next campaign's campaign.toml says."""
    return tomllib.loads((folder / "a" / "campaign" / "campaign.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("hoeffding", "bhattacharyya"),
        ("bhattacharyya", "bhattacharyya"),
        ("probit", "probit"),
        ("exact-error", "exact-error"),
        pytest.param("mean-error", "exact-error", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("seed", first_of(range(3)))
def test_the_next_plan_is_for_the_unsure_tasks(tmp_path, rule, wanted, seed):
    """Under every rule: who is not sure gets labels, who is gets none; another rule takes over where it must."""
    instance = AssignmentInstance(np.full((1, 30), 0.8), [0] * 40, [40] * 30, 0.12, rule=rule, types=["all"])
    method = {"method": "patterns"} if rule == "mean-error" else {}
    second = second_round(tmp_path, instance, seed=seed, lost=0.2, **method)
    unsure = [row["sure"] == "no" for row in rows(tmp_path / "a" / "answers.csv")]
    assert settings_of(tmp_path) | {"collected": "observed", "rule": wanted} == settings_of(tmp_path)
    assert any(unsure) and ((assign(second, gap=0.0).task_labels > 0) == unsure).all()


def test_a_task_at_its_target_is_sure_and_asks_nothing(tmp_path):
    """1 - 0.95 is above 0.05 in float64: aggregate and solve take it for the target alike."""
    instance = AssignmentInstance([[0.95, 0.9]], [0] * 4, [4, 4], 0.05, rule="exact-error", types=["all"])
    second = second_round(tmp_path, instance, lost=0.0)
    assert [row["sure"] for row in rows(tmp_path / "a" / "answers.csv")] == ["yes"] * 4
    assert assign(second).labels == 0


def test_an_unsure_task_that_may_be_hard_is_asked_once_more(tmp_path):
    """Labels count as evidence there, and the rule has all of it: each such task gets a label more, a useful one."""
    instance = AssignmentInstance(
        [[0.9] * 9 + [0.5]],
        [0] * 60,
        60,
        0.12,
        rule="exact-error",
        types=["all"],
        difficulty=Difficulty(0.2, hard=0.3),
        cost=[1.0] * 9 + [0.5],
    )
    second = second_round(tmp_path, instance, lost=0.0)
    unsure = np.array([row["sure"] == "no" for row in rows(tmp_path / "a" / "answers.csv")])
    plan = assign(second)
    assert unsure.any() and (plan.task_labels == unsure).all()
    assert not (plan.pairs[:, 1] == 9).any(), "a worker who guesses says nothing"


def test_an_unsure_task_of_families_is_asked_once_more(tmp_path):
    """Two labels of a family may err together: with one of each of three families that disagree a fourth is asked."""
    groups = [Group(f"f{k}", [2 * k, 2 * k + 1], max_per_task=2, dependent=True) for k in range(4)]
    instance = AssignmentInstance(
        [[0.97] * 8], [0] * 30, 30, 0.3, rule="bhattacharyya", types=["all"], groups=groups, class_names=["a", "b"]
    )
    write_campaign(instance, tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    (tmp_path / "l.csv").write_text("task,worker,label\n0,0,a\n0,2,b\n", encoding="utf-8")
    found = answers(tmp_path / "l.csv", tmp_path / "p", campaign=tmp_path / "c", output=tmp_path / "a")
    plan = assign(tmp_path / "a" / "campaign")
    assert not found.answers.sure[0] and plan.task_labels[0] == 1


def test_two_labels_of_a_family_that_nobody_planned_do_not_end_the_loop(tmp_path):
    """Under rule exact-error nothing is promised of them: the campaign goes on by one that knows them."""
    groups = [Group("f", [0, 1], max_per_task=1, dependent=True)]
    given = {"rule": "exact-error", "types": ["all"], "groups": groups, "class_names": ["a", "b"]}
    write_campaign(AssignmentInstance([[0.95] * 8], [0] * 5, 5, 0.2, **given), tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    (tmp_path / "l.csv").write_text("task,worker,label\n0,0,a\n0,1,b\n", encoding="utf-8")
    answers(tmp_path / "l.csv", tmp_path / "p", campaign=tmp_path / "c", output=tmp_path / "a")
    assert settings_of(tmp_path)["rule"] == "bhattacharyya" and settings_of(tmp_path)["collected"] == "evidence"
    assert assign(tmp_path / "a" / "campaign").task_labels[0] > 0


def six_labels(path, task):
    """Of six workers, three to three."""
    lines = [f"{task},{worker},{'ab'[worker % 2]}" for worker in range(6)]
    path.write_text("\n".join(["task,worker,label", *lines, ""]), encoding="utf-8")


def test_a_task_that_nobody_left_can_settle_is_named(tmp_path):
    """The next solve says infeasible; aggregate says before which task it is, and where to look."""
    given = {"rule": "bhattacharyya", "types": ["all"], "class_names": ["a", "b"], "tasks": ["t0", "t1"]}
    write_campaign(AssignmentInstance([[0.8] * 8], [0] * 2, 2, 0.12, **given), tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    six_labels(tmp_path / "l.csv", "t0")
    given = [tmp_path / "l.csv", "--plan", tmp_path / "p", "--campaign", tmp_path / "c", "-o", tmp_path / "a"]
    said = CliRunner().invoke(main, ["aggregate", *map(str, given)]).stdout
    assert "1 of those not sure need more than all labels that they can still have: t0;" in said
    assert assign(tmp_path / "a" / "campaign").status is crowdopt.Status.INFEASIBLE


@pytest.mark.parametrize("rule", ["hoeffding", "bhattacharyya", "exact-error"])
def test_accepted_tasks_no_longer_stand_in_the_way_of_others(tmp_path, rule):
    """One task has all labels there are and is not sure: taken as it is, the campaign serves the other unsure one."""
    given = {"rule": rule, "types": ["all"], "class_names": ["a", "b"], "tasks": ["t0", "t1"], "forbidden": [[0, 6]]}
    write_campaign(AssignmentInstance([[0.95] + [0.9] * 6], [0] * 2, 2, 0.25, **given), tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    six_labels(tmp_path / "l.csv", "t0")
    given = {"campaign": tmp_path / "c", "output": tmp_path / "a", "force": True}
    answers(tmp_path / "l.csv", tmp_path / "p", **given)
    assert assign(tmp_path / "a" / "campaign").status is crowdopt.Status.INFEASIBLE
    found = answers(tmp_path / "l.csv", tmp_path / "p", **given, accept=True)
    plan = assign(tmp_path / "a" / "campaign")
    assert not found.answers.sure.any() and plan.found and (plan.task_labels > 0).tolist() == [False, True]
    assert (plan.instance.epsilon > 0.25).tolist() == [True, False]
    assert plan.instance.epsilon[0] == pytest.approx(found.answers.error[0], abs=1e-4)


@pytest.mark.parametrize(("workers", "reachable"), [(8, False), (10, True)])
def test_where_only_the_exact_rule_has_labels_enough_that_is_said(tmp_path, workers, reachable):
    """Three to three, and 2 or 4 workers of accuracy .8 left: by their exact error 3 of them keep .12, 2 do not."""
    given = {"rule": "bhattacharyya", "types": ["all"], "class_names": ["a", "b"]}
    write_campaign(AssignmentInstance([[0.8] * workers], [0], 1, 0.12, **given), tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    six_labels(tmp_path / "l.csv", "0")
    given = [tmp_path / "l.csv", "--plan", tmp_path / "p", "--campaign", tmp_path / "c", "-o", tmp_path / "a"]
    said = CliRunner().invoke(main, ["aggregate", *map(str, given)]).stdout
    assert "need more than all labels" in said
    assert ("1 of these can be served by solve --rule exact-error" in said) == reachable
    assert assign(tmp_path / "a" / "campaign", rule="exact-error").found == reachable


@pytest.mark.parametrize(("rule", "wanted"), [("hoeffding", "bhattacharyya"), ("mean-error", "exact-error")])
def test_aggregate_says_which_rule_takes_over(tmp_path, rule, wanted):
    """And what the target on average comes to; the command that it names is one that solve takes."""
    instance = AssignmentInstance(np.full((1, 30), 0.8), [0] * 20, [20] * 30, 0.12, rule=rule, types=["all"])
    second_round(tmp_path, instance, **({"method": "patterns"} if rule == "mean-error" else {}))
    given = [tmp_path / "l.csv", "--plan", tmp_path / "p", "--campaign", tmp_path / "c", "-o", tmp_path / "a"]
    said = CliRunner().invoke(main, ["aggregate", *map(str, given), "--force"]).stdout
    assert f"rule {rule} heeds no single task's labels, so {tmp_path}/a/campaign goes on by rule {wanted}" in said
    assert ("for all answers on average; their mean error" in said) == (rule == "mean-error")
    assert f"crowdopt solve {tmp_path}/a/campaign -o NEXT-PLAN" in said


def test_a_task_that_other_votes_make_sure_needs_no_label(tmp_path):
    """Under hoeffding three fair workers outvote one who is nearly always right; by log-odds they do not."""
    given = {"rule": "hoeffding", "types": ["all"], "class_names": ["a", "b"]}
    write_campaign(AssignmentInstance([[0.99] * 4 + [0.7] * 3], [0], 1, 0.15, **given), tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    (tmp_path / "l.csv").write_text("task,worker,label\n0,0,a\n0,4,b\n0,5,b\n0,6,b\n", encoding="utf-8")
    given = ["--plan", tmp_path / "p", "--campaign", tmp_path / "c", "-o", tmp_path / "a"]
    said = CliRunner().invoke(main, ["aggregate", str(tmp_path / "l.csv"), *map(str, given)]).stdout
    assert "0 sure, 1 not yet" in said and "1 of those not sure are, by the votes of that rule" in said
    write_plan(assign(tmp_path / "a" / "campaign"), tmp_path / "p2")
    again = answers(tmp_path / "l.csv", tmp_path / "p2", campaign=tmp_path / "a" / "campaign")
    assert again.answers.sure.all() and again.left_out == 4


def test_a_second_rehearsal_goes_on_in_the_world_of_the_first(tmp_path):
    """No truth is named: it is drawn given the labels that are in, and agrees with 9 of 10 as the workers do."""
    instance = AssignmentInstance([[0.9, 0.9]], [0] * 400, [400, 400], 0.05, rule="exact-error", types=["all"])
    write_campaign(replace(instance, epsilon=np.full(400, 0.1)), tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    rehearse(tmp_path / "c", tmp_path / "p", output=tmp_path / "l.csv")
    answers(tmp_path / "l.csv", tmp_path / "p", campaign=tmp_path / "c", output=tmp_path / "a")
    write_plan(assign(tmp_path / "a" / "campaign"), tmp_path / "p2")
    rehearse(tmp_path / "a" / "campaign", tmp_path / "p2", output=tmp_path / "l2.csv", truth=tmp_path / "t.csv")
    said = [row["answer"] for row in rows(tmp_path / "a" / "answers.csv")]
    right = sum(row["label"] == one for row, one in zip(rows(tmp_path / "t.csv"), said, strict=True))
    low, high = binom.ppf(5e-7, 400, 0.9), binom.isf(5e-7, 400, 0.9)
    assert low <= right <= high


def test_a_fixed_pair_that_no_longer_fits_is_not_asked_for(tmp_path):
    """The worker gave all the labels that the capacity allows, though not the fixed one: solve takes what is left."""
    instance = AssignmentInstance(
        [[0.9, 0.9, 0.9]], [0, 0], [1, 2, 2], 0.3, fixed=[[0, 0]], max_labels=[2, 2], types=["all"]
    )
    write_campaign(instance, tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    (tmp_path / "l.csv").write_text("task,worker,label\n1,0,0\n0,1,1\n", encoding="utf-8")
    answers(tmp_path / "l.csv", tmp_path / "p", campaign=tmp_path / "c", output=tmp_path / "a")
    back = crowdopt.read_campaign(tmp_path / "a" / "campaign")
    assert back.capacity[0] == 0 and len(back.fixed) == 0
    assign(back)


def test_least_loads_never_exceed_the_capacity_that_is_left(tmp_path):
    """A worker with a least load who labelled other tasks than planned."""
    instance = AssignmentInstance([[0.9, 0.8]], [0] * 3, [2, 3], 0.4, min_load=[2, 0], types=["all"])
    write_campaign(instance, tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    (tmp_path / "l.csv").write_text("task,worker,label\n0,0,0\n1,0,1\n2,0,1\n", encoding="utf-8")
    answers(tmp_path / "l.csv", tmp_path / "p", campaign=tmp_path / "c", output=tmp_path / "a")
    back = crowdopt.read_campaign(tmp_path / "a" / "campaign")
    assert (back.min_load <= back.capacity).all()


@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
def test_the_loop_hands_out_labels_while_any_could_help(tmp_path, rule):
    """Round after round of a campaign that is short: a plan without labels is the last, and then no label could help.

    Every pair is asked once at most, so the loop ends; what it leaves unsure, all labels left together would leave too.
    """
    rng = np.random.default_rng(0)
    accuracy = rng.choice([0.55, 0.65, 0.75], (1, 5))
    instance = AssignmentInstance(accuracy, [0] * 6, [4] * 5, 0.12, rule=rule, types=["all"])
    campaign = tmp_path / "round-0"
    write_campaign(instance, campaign)
    handed_out = 0
    for number in range(1, 32):
        plan = assign(campaign, output=tmp_path / f"plan-{number}")
        assert crowdopt.verify(campaign, tmp_path / f"plan-{number}").holds
        handed_out += int(plan.labels)
        if not plan.labels:
            break
        labels, folder = tmp_path / f"labels-{number}.csv", tmp_path / f"answers-{number}"
        rehearse(campaign, tmp_path / f"plan-{number}", output=labels, truth=tmp_path / "truth.csv", seed=number)
        answers(labels, tmp_path / f"plan-{number}", campaign=campaign, output=folder)
        campaign = folder / "campaign"
    last = read_campaign(campaign)
    assert 0 < handed_out <= 20 and plan.labels == 0
    now = exact_errors(last, np.zeros((0, 2), np.int64))[0]
    assert (now[plan.short] <= least_errors(last)[plan.short] + CERTAIN).all()
    assert plan.found or plan.short.size

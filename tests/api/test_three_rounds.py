"""Monday after Monday: plan, labels, answers, and again; tasks that are not sure are served until none is left."""

from __future__ import annotations

import pytest

import crowdopt
from crowdopt.crowd.votes.evidence import EACH
from tests.sampled import first_of


def rounds(folder, first, **later):
    """``(plan, answers)`` of three rounds; the truth of the first stays."""
    campaign, asked = folder / "campaign", first
    for k in range(3):
        labels, place = folder / f"labels-{k}.csv", folder / f"plan-{k}"
        plan = crowdopt.assign(campaign, output=place, **asked)
        assert plan.found
        crowdopt.rehearse(campaign, place, output=labels, truth=folder / "truth.csv", seed=k)
        yield plan, crowdopt.answers(labels, place, campaign=campaign, output=folder / f"answers-{k}").answers
        campaign, asked = folder / f"answers-{k}" / "campaign", later


def check_rounds(folder, first, **later):
    """Each plan after the first serves the unsure tasks and no others, and so would a fourth."""
    unsure = None
    for plan, found in rounds(folder, first, **later):
        assert unsure is None or ((plan.task_labels > 0) == unsure).all()
        unsure = found.posterior.max(axis=1) < 1 - found.epsilon - 1e-12  # whatever the vote was
        assert unsure[~found.sure].all() or plan.instance.rule == "hoeffding"
    last = crowdopt.assign(folder / "answers-2" / "campaign", **later)
    assert ((last.task_labels > 0) == unsure).all()


@pytest.mark.parametrize("rule", first_of(reversed(EACH), 2))
def test_three_rounds_leave_nobody_out(tmp_path, rule):
    """120 tasks by 60 workers under every rule that promises something of each task."""
    crowdopt.write_campaign(crowdopt.recipe("R10:120x60", seed=0), tmp_path / "campaign")
    check_rounds(tmp_path, {"rule": rule, "gap": 0.01})


def test_three_rounds_for_the_average(tmp_path):
    """Under the rule for the average the campaign goes on task by task."""
    instance = crowdopt.AssignmentInstance([[0.6, 0.7, 0.7, 0.8, 0.9] * 6], [0] * 60, 20, 0.1, types=["all"])
    crowdopt.write_campaign(instance, tmp_path / "campaign")
    check_rounds(tmp_path, {"rule": "mean-error", "method": "patterns"})


@pytest.mark.long
@pytest.mark.parametrize("rule", ["hoeffding", "bhattacharyya", "exact-error"])
def test_three_rounds_of_3000_tasks(tmp_path, rule):
    """The same with 3000 tasks by 800 workers."""
    crowdopt.write_campaign(crowdopt.recipe("R10:3000x800", seed=0), tmp_path / "campaign")
    check_rounds(tmp_path, {"rule": rule, "gap": 0.01})

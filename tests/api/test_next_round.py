"""What aggregate advises is true: the campaign it leaves is one that solve takes, whatever the first round was."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, assign, read_campaign, recipe, write_campaign, write_plan
from crowdopt.api.answers import answers
from crowdopt.api.rehearse import rehearse


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


def test_labels_count_as_evidence_where_the_rule_does_not_heed_them(tmp_path):
    """Under hoeffding the next plan makes up for the labels that did not come, and buys nothing if all came."""
    instance = recipe("HS:6x60")
    whole = second_round(tmp_path, instance, lost=0.0)
    text = (tmp_path / "a" / "campaign" / "campaign.toml").read_text()
    assert tomllib.loads(text)["collected"] == "evidence"
    assert assign(whole).labels == 0


def test_a_fixed_pair_that_no_longer_fits_is_not_asked_for(tmp_path):
    """The worker gave all the labels that the capacity allows, though not the fixed one: solve takes what is left."""
    instance = AssignmentInstance(
        [[0.9, 0.9, 0.9]], [0, 0], [1, 2, 2], 0.3, fixed=[[0, 0]], max_labels=[2, 2], types=["all"]
    )
    write_campaign(instance, tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    (tmp_path / "l.csv").write_text("task,worker,label\n1,0,0\n0,1,1\n")
    answers(tmp_path / "l.csv", tmp_path / "p", campaign=tmp_path / "c", output=tmp_path / "a")
    back = crowdopt.read_campaign(tmp_path / "a" / "campaign")
    assert back.capacity[0] == 0 and len(back.fixed) == 0
    assign(back)


def test_least_loads_never_exceed_the_capacity_that_is_left(tmp_path):
    """A worker with a least load who labelled other tasks than planned."""
    instance = AssignmentInstance([[0.9, 0.8]], [0] * 3, [2, 3], 0.4, min_load=[2, 0], types=["all"])
    write_campaign(instance, tmp_path / "c")
    write_plan(assign(read_campaign(tmp_path / "c")), tmp_path / "p")
    (tmp_path / "l.csv").write_text("task,worker,label\n0,0,0\n1,0,1\n2,0,1\n")
    answers(tmp_path / "l.csv", tmp_path / "p", campaign=tmp_path / "c", output=tmp_path / "a")
    back = crowdopt.read_campaign(tmp_path / "a" / "campaign")
    assert (back.min_load <= back.capacity).all()

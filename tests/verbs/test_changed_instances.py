"""A plan made in Python from a changed instance holds: it records how its instance differs from the campaign."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.crowd.law import Difficulty
from crowdopt.errors import InputError
from crowdopt.io.samples import write_sample
from crowdopt.io.settings import overridden, overrides

CHANGES = {
    "nothing": lambda one: one,
    "one number for all": lambda one: replace(
        one.with_epsilon(0.2), cost=2.5, capacity=np.full(one.n_workers, 20), budget=150.0
    ),
    "another rule": lambda one: replace(one, rule="exact-error").with_epsilon(0.15),
    "hard tasks": lambda one: replace(one, rule="exact-error", difficulty=Difficulty(0.2, 0.5)).with_epsilon(0.25),
    "prices by type": lambda one: replace(one, cost=np.linspace(1, 2, one.cost.size).reshape(one.cost.shape)),
    "forbidden pairs": lambda one: replace(one, forbidden=[[0, 0], [1, 3], [2, 3]]),
    "fixed pairs": lambda one: replace(one, fixed=[[0, 0], [5, 7]]),
    "least numbers": lambda one: replace(one, min_labels=np.full(one.n_tasks, 2), min_load=np.full(one.n_workers, 1)),
    "numbers by task and worker": lambda one: replace(
        one,
        epsilon=np.linspace(0.1, 0.3, one.n_tasks),
        cost=np.arange(1.0, one.n_workers + 1),
        capacity=one.capacity + 1,
        max_labels=np.arange(one.n_tasks) + 8,
    ),
    "groups": lambda one: replace(one, groups={"few": crowdopt.Group("", [0, 1, 2], max_per_task=2, max_share=0.5)}),
    "own rows": lambda one: replace(one, own_rows=crowdopt.OwnRows(("w",), [0, 0], [[0, 1], [2, 1]], [1, 1], [1], [2])),
}


@pytest.fixture
def campaign(tmp_path):
    write_sample(tmp_path / "birds")
    return tmp_path / "birds"


@pytest.mark.parametrize("change", CHANGES)
def test_a_plan_for_a_changed_instance_verifies(campaign, tmp_path, change):
    """Nothing is passed by hand: what differs is found by comparison, written, and put in force again."""
    instance = CHANGES[change](crowdopt.read_campaign(campaign))
    plan = crowdopt.solve(instance, time_limit=20, gap=0.2)
    assert plan.found
    crowdopt.write_plan(plan, tmp_path / "plan")
    report = crowdopt.verify(campaign, tmp_path / "plan")
    assert report.holds, report.problems
    assert bool(report.overrides) == (change != "nothing")
    again = overridden(crowdopt.read_campaign(campaign), json.loads(json.dumps(overrides(instance))))
    assert overrides(again) == overrides(instance)


def test_what_cannot_be_recorded_is_said(campaign, tmp_path):
    """Other skills are no setting: the plan names them, verify begins with that; the instance's own campaign holds."""
    known = crowdopt.read_campaign(campaign)
    instance = replace(known, accuracy=np.minimum(0.99, known.accuracy + 0.05), skills_source="given")
    crowdopt.write_plan(crowdopt.solve(instance, time_limit=20), tmp_path / "plan")
    assert json.loads((tmp_path / "plan" / "plan.json").read_text(encoding="utf-8"))["beyond_campaign"] == ["skills"]
    report = crowdopt.verify(campaign, tmp_path / "plan")
    assert not report.holds and "differs from the campaign in its skills" in report.problems[0]
    crowdopt.write_campaign(instance, tmp_path / "mine")
    assert crowdopt.verify(tmp_path / "mine", tmp_path / "plan").holds


def test_stated_settings_are_recorded_even_where_they_are_the_campaigns(campaign, tmp_path):
    """A stated target is kept when the campaign's changes later."""
    plan = crowdopt.solve(campaign, epsilon=0.1, time_limit=20, output=tmp_path / "plan")
    assert overrides(plan.instance) == {"epsilon": 0.1}
    text = (campaign / "campaign.toml").read_text(encoding="utf-8")
    (campaign / "campaign.toml").write_text(text.replace("epsilon = 0.1", "epsilon = 0.05"), encoding="utf-8")
    assert crowdopt.verify(campaign, tmp_path / "plan").holds


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": "0.1"}, {"epsilon": []}, {"epsilon": [0.1]}, {"rule": 3}, {"rule": "none"}, {"budget": True},
        {"price": [[1.0], [2.0, 3.0]]},
        {"price": -1.0}, {"capacity": [1.5]}, {"capacity": -1}, {"forbidden": [["photo-01"]]}, [1],
        {"forbidden": [["photo-01", "nobody"]]}, {"fixed": [["photo-01", "ada"]] * 2},
        {"max_labels": [None]}, {"colour": 1}, {"difficulty": {"share": 0.2}},
    ],
)  # fmt: skip
def test_damaged_records_get_a_sentence(campaign, settings):
    """A plan folder is a stranger's: whatever stands there, no traceback."""
    with pytest.raises(InputError):
        overridden(crowdopt.read_campaign(campaign), settings)


@pytest.mark.parametrize("change", ["hard tasks", "numbers by task and worker", "groups", "forbidden pairs"])
def test_the_next_campaign_goes_on_under_the_plans_settings(campaign, tmp_path, change):
    """Labels come back: the next campaign is under the settings of the plan that they were bought for."""
    instance = CHANGES[change](crowdopt.read_campaign(campaign))
    plan, labels = tmp_path / "plan", tmp_path / "labels.csv"
    crowdopt.solve(instance, time_limit=20, gap=0.2, output=plan)
    crowdopt.rehearse(campaign, plan, output=labels, seed=1, lost=0.3)
    answered = crowdopt.aggregate(labels, plan=plan, campaign=campaign, output=tmp_path / "answers")
    after = crowdopt.read_campaign(tmp_path / "answers" / "campaign")
    given = np.bincount(answered.new[:, 1], minlength=instance.n_workers)
    for name in ("difficulty", "rule", "budget", "epsilon", "cost", "forbidden", "min_labels", "max_labels", "groups"):
        assert np.all(getattr(after, name) == getattr(instance, name)), name
    assert np.array_equal(after.capacity, instance.capacity - given)

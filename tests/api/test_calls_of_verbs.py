"""Each verb is a call of its name, and takes what a user has at hand: instance, plan, folder, file or frame."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.api.draw_parts import generate_parts
from crowdopt.cli.manual import OURS

NAMES = {"import": "import_labels"}  # a word that Python keeps for itself


@pytest.fixture(scope="module")
def round_one(tmp_path_factory):
    """The sample campaign, its plan, simulated labels and their truth."""
    place = tmp_path_factory.mktemp("round")
    crowdopt.init(place / "birds")
    plan = crowdopt.solve(place / "birds", output=place / "plan")
    crowdopt.rehearse(place / "birds", plan, output=place / "labels.csv", truth=place / "truth.csv")
    return place


@pytest.mark.parametrize("verb", OURS)
def test_every_verb_is_a_call_of_its_name(verb):
    """Also after the folder of that name was imported."""
    name = NAMES.get(verb, verb.replace("-", "_"))
    if name in ("backends", "bench", "report"):
        import_module(f"crowdopt.{name}")
    assert name in crowdopt.__all__ and inspect.isfunction(getattr(crowdopt, name))


def test_solve_knows_a_campaign_from_a_program(round_one):
    """The verb's name for both: a plan of the one, a solution of the other."""
    instance = crowdopt.read_campaign(round_one / "birds")
    plan = crowdopt.solve(instance)
    found = crowdopt.solve(crowdopt.relax(crowdopt.programs.assignment.build(instance)), "highs-ipm")
    assert plan.found and found.status is crowdopt.Status.OPTIMAL


def test_plans_and_instances_at_hand_go_where_folders_go(round_one, tmp_path):
    """Nothing has to be written first."""
    instance = crowdopt.AssignmentInstance([[0.9, 0.8] * 5], [0] * 20, [20] * 10, 0.1)
    plan = crowdopt.assign(instance)
    assert crowdopt.verify(instance, plan).holds and crowdopt.verify(round_one / "birds", round_one / "plan").holds
    labels = tmp_path / "labels.csv"
    assert crowdopt.rehearse(instance, plan, output=labels) == plan.labels
    answered = crowdopt.aggregate(labels, plan=plan, campaign=instance, output=tmp_path / "answers")
    assert answered.answers.answer.size == 20 and (tmp_path / "answers" / "campaign" / "tasks.csv").exists()
    with pytest.raises(InputError, match="give both"):
        crowdopt.aggregate(labels, plan=plan)
    lost = crowdopt.assign(crowdopt.AssignmentInstance([[0.6]], [0], [1], 0.01), strict=True)
    with pytest.raises(InputError, match="no plan to go by"):
        crowdopt.verify(instance, lost)


def test_a_campaign_in_parts_is_solved_part_by_part_where_that_is_said(tmp_path):
    """Its plan is another one, so nobody gets it unasked; verify sees by itself."""
    generate_parts("K3:60x100", 0, parts=2, output=tmp_path / "parts", epsilon=0.4)
    with pytest.raises(InputError, match="in parts; say processes=0"):
        crowdopt.solve(tmp_path / "parts")
    plan = crowdopt.solve(tmp_path / "parts", processes=0, output=tmp_path / "plan")
    assert plan.found and crowdopt.verify(tmp_path / "parts", tmp_path / "plan").holds


def test_explain_and_push_take_what_is_at_hand(tmp_path):
    """A plan says its own rule; the files that are pushed are those of the folders."""
    instance = crowdopt.AssignmentInstance([[0.9, 0.8] * 5], [0] * 20, [20] * 10, 0.1)
    plan = crowdopt.solve(instance, epsilon=0.2)
    assert crowdopt.explain(instance, plan).instance.epsilon[0] == 0.2
    crowdopt.write_campaign(instance, tmp_path / "campaign")
    crowdopt.write_plan(plan, tmp_path / "plan")
    given = (instance, plan), (tmp_path / "campaign", tmp_path / "plan")
    for place, (campaign, planned) in zip(("one", "other"), given, strict=True):
        crowdopt.push(campaign, planned, tool="potato", output=tmp_path / place, classes=["no", "yes"])
    one, other = (
        {path.relative_to(tmp_path / place): path.read_bytes() for path in (tmp_path / place).rglob("*.json*")}
        for place in ("one", "other")
    )
    assert one and one == other

"""The exact method under limits of groups: its plans keep them, its bounds are certificates, sets deal out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, Group, Status
from crowdopt.assign.engine.prepared import accepts
from crowdopt.assign.plan import breaches


def grouped(name: str, **limits: dict) -> AssignmentInstance:
    """A recipe with three groups of workers, drawn at random."""
    instance = crowdopt.recipe(name, seed=0)
    home = np.random.default_rng(0).integers(0, 3, instance.n_workers)
    members = {group: np.flatnonzero(home == k).tolist() for k, group in enumerate("abc")}
    return replace(instance, groups=[Group(group, members[group], **given) for group, given in limits.items()])


CASES = [
    ("R10:100x80", {"a": {"max_per_task": 4, "max_share": 0.3}, "b": {"min_per_task": 1}, "c": {"max_per_task": 6}}),
    ("R1:120x60", {"a": {"max_per_task": 1}, "b": {"min_share": 0.4}}),
    ("HS:120x60", {"a": {"max_share": 0.3}, "b": {"max_per_task": 30}}),
]


@pytest.mark.parametrize(("name", "limits"), CASES)
def test_plans_keep_the_groups_and_bounds_are_certified(name: str, limits: dict, tmp_path) -> None:
    """Near the bound of the LP, which the folder's multipliers prove; workers alike, or no two."""
    instance = grouped(name, **limits)
    if name.startswith("HS"):
        instance = replace(instance, capacity=instance.capacity * 2)
    assert accepts(instance)
    crowdopt.write_campaign(instance, tmp_path / "c")
    plan = crowdopt.assign(tmp_path / "c", time_limit=6, gap=0.03, output=tmp_path / "p")
    assert plan.method == "exact" and plan.found and plan.gap < 0.05
    report = crowdopt.verify(tmp_path / "c", tmp_path / "p")
    assert report.holds and report.certified_bound == pytest.approx(plan.certified_bound), report.problems


def test_what_no_plan_keeps_is_proven_infeasible() -> None:
    """The multipliers of the LP over classes prove it, groups' among them."""
    plan = crowdopt.assign(grouped("R10:100x80", a={"max_per_task": 1}, b={"max_per_task": 1}, c={"max_per_task": 1}))
    assert plan.status is Status.INFEASIBLE and plan.proof == "certificate"


def test_tight_capacities_are_kept() -> None:
    """Whatever is found keeps everything; a plan that does not is none."""
    instance = grouped("R1:120x60", a={"max_per_task": 3}, c={"min_per_task": 1})
    for factor in (0.7, 0.85):
        tight = replace(instance, capacity=np.ceil(instance.capacity * factor).astype(int))
        plan = crowdopt.assign(tight, time_limit=2, gap=0.05)
        assert not plan.found or not breaches(tight, plan.pairs)

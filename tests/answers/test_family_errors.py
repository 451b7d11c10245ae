"""What members of a family can do to a plan's votes: written beside the independent errors, and checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, Group
from crowdopt.answers.worst_case import worst_error


def panel(**family: object) -> AssignmentInstance:
    """Twelve judges, two families of four."""
    rng = np.random.default_rng(0)
    groups = [Group("f", range(4), **family), Group("g", range(4, 8), **family)]
    skill = rng.uniform(0.75, 0.97, (2, 12))
    return AssignmentInstance(skill, np.arange(6) % 2, 20, 0.2, groups=groups, cost=rng.uniform(1, 3, 12))


def test_a_plan_says_the_worst_that_its_families_can_do(tmp_path: Path) -> None:
    """Each number is the worst joint law's, at most what the rule promises; a lower one in the table is caught."""
    crowdopt.write_campaign(panel(max_per_task=2, dependent=True), tmp_path / "c")
    plan = crowdopt.assign(tmp_path / "c", output=tmp_path / "p")
    independent, worst = plan.family_errors
    assert (independent <= worst).all() and (worst <= plan.instance.error_bound(plan.evidence)).all()
    assert (worst > 2 * independent).any()
    workers = plan.pairs[plan.pairs[:, 0] == 1, 1]
    home = np.where(workers < 4, 0, np.where(workers < 8, 1, 2 + workers))
    alone = worst_error(
        plan.instance.accuracy[1, workers], home, crowdopt.solve, weights=plan.instance.weight[1, workers]
    )
    assert alone.reached <= worst[1] + 1e-9 and independent[1] == pytest.approx(alone.independent)
    report = crowdopt.verify(tmp_path / "c", tmp_path / "p")
    assert report.holds and report.worst_error == pytest.approx(worst.max())
    table = (tmp_path / "p" / "tasks.csv").read_text(encoding="utf-8")
    for number in (repr(float(worst[1])), repr(float(independent[1]))):
        assert number in table
        (tmp_path / "p" / "tasks.csv").write_text(table.replace(number, "0.0001"), encoding="utf-8")
        assert not crowdopt.verify(tmp_path / "c", tmp_path / "p").holds


def test_one_label_of_a_family_leaves_nothing_to_tell() -> None:
    """Then the votes of a task are independent, and the plan has no such columns."""
    assert crowdopt.assign(panel(dependent=True)).family_errors is None

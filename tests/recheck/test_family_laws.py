"""One law of families that err together: a floor under the worst error that a plan may say."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, Group, solve
from crowdopt.answers.worst_case import worst_error
from crowdopt.recheck.family_laws import errors_together


def drawn(seed: int) -> AssignmentInstance:
    """Seven workers, some worse than a guess, in two families; they may label any of two tasks."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.permutation(np.arange(1, 7))[:2])
    members = np.split(np.arange(7), cuts)
    groups = [Group(name, one, max_per_task=4, dependent=True) for name, one in zip("fg", members, strict=False)]
    return AssignmentInstance(
        rng.uniform(0.3, 0.97, (2, 7)), [0, 1], 2, 0.4, groups=groups, rule="bhattacharyya", cost=rng.uniform(1, 2, 7)
    )


def by_hand(skill, weight, home):
    """The law's error by cells of all families' numbers between the chances of being wrong."""
    wrong = np.where(weight > 0, 1 - skill, skill)
    families = np.unique(home)
    cells = [np.unique(np.concatenate([[0.0, 1.0], wrong[home == family]])) for family in families]
    error = 0.0
    for places in product(*(range(len(cell) - 1) for cell in cells)):
        chance, total = 1.0, 0.0
        for family, cell, place in zip(families, cells, places, strict=True):
            chance *= cell[place + 1] - cell[place]
            mine = home == family
            bad = (cell[place] + cell[place + 1]) / 2 < wrong[mine]
            total += np.where(bad, -1, 1) @ np.abs(weight[mine])
        error += chance * (1.0 if total < -1e-12 else 0.5 if total <= 1e-12 else 0.0)
    return error


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_law_s_error_and_at_most_the_worst(seed):
    """Summed cell by cell of all families' numbers; no law does more harm than the worst, which a program bounds."""
    instance = drawn(seed)
    pairs = np.array([[i, j] for i in range(2) for j in range(7)])
    found = errors_together(instance, pairs)
    home = np.arange(7) + 2
    for k, group in enumerate(instance.groups):
        home[list(group.members)] = k
    for task in range(2):
        skill, weight = instance.accuracy[task], instance.weight[task]
        assert found[task] == pytest.approx(by_hand(skill, weight, home), abs=1e-12)
        assert found[task] <= worst_error(skill, home, solve, weights=weight).bound + 1e-9


def test_families_that_are_said_to_do_no_harm_are_refused(tmp_path):
    """The worst error cannot be the independent one where two of a family label a task."""
    groups = [Group(name, one, max_per_task=2, dependent=True) for name, one in (("f", range(4)), ("g", range(4, 8)))]
    skill = np.random.default_rng(0).uniform(0.75, 0.97, (2, 12))
    campaign = AssignmentInstance(skill, np.arange(6) % 2, 20, 0.2, groups=groups, rule="bhattacharyya")
    crowdopt.write_campaign(campaign, tmp_path / "c")
    plan = crowdopt.assign(tmp_path / "c", output=tmp_path / "p")
    assert plan.found and crowdopt.verify(tmp_path / "c", tmp_path / "p").holds
    independent, worst = plan.family_errors
    path = tmp_path / "p" / "tasks.csv"
    text = path.read_text(encoding="utf-8")
    for one, other in zip(independent, worst, strict=True):
        text = text.replace(repr(float(other)), repr(float(one)))
    path.write_text(text, encoding="utf-8")
    report = crowdopt.verify(tmp_path / "c", tmp_path / "p")
    assert not report.holds and any("errs with" in problem for problem in report.problems)

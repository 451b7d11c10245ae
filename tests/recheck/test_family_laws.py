"""What families that err together can do to votes: verify takes no number that no law's bound proves."""

from __future__ import annotations

import csv
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, Group, solve
from crowdopt.answers.worst_case import worst_error
from crowdopt.recheck.family_laws import MULTIPLIERS_NEAR, no_law_errs_more


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
    """The error where one number for each family decides: who errs with chance q errs where it is below q."""
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
def test_no_law_errs_more(seed):
    """Not the one where as many as can err at once, nor the worst that is found; and as another program has it."""
    instance = drawn(seed)
    pairs = np.array([[i, j] for i in range(2) for j in range(7)])
    found = no_law_errs_more(instance, pairs, np.arange(2))
    home = np.arange(7) + 2
    for k, group in enumerate(instance.groups):
        home[list(group.members)] = k
    for task in range(2):
        skill, weight = instance.accuracy[task], instance.weight[task]
        assert found[task] >= by_hand(skill, weight, home) - 1e-9
        worst = worst_error(skill, home, solve, weights=weight)
        assert worst.reached - 1e-9 <= found[task] <= worst.bound + MULTIPLIERS_NEAR


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    """A campaign of two families, and its plan."""
    place = tmp_path_factory.mktemp("families")
    groups = [Group(name, one, max_per_task=2, dependent=True) for name, one in (("f", range(4)), ("g", range(4, 8)))]
    skill = np.random.default_rng(0).uniform(0.75, 0.97, (2, 12))
    campaign = AssignmentInstance(skill, np.arange(6) % 2, 20, 0.2, groups=groups, rule="bhattacharyya")
    crowdopt.write_campaign(campaign, place / "c")
    plan = crowdopt.assign(place / "c", output=place / "p")
    independent, worst = plan.family_errors
    assert (worst > 1.5 * independent).any() and (worst < plan.instance.error_bound(plan.evidence) - 1e-3).any()
    report = crowdopt.verify(place / "c", place / "p")
    assert report.holds and report.worst_error == pytest.approx(worst.max())
    return place / "c", place / "p"


@pytest.mark.parametrize("part", [0.0, 0.5, 0.9, 0.99, 0.999, 0.99999])
def test_less_than_the_worst_is_refused(folders, part, tmp_path):
    """From the independent error up to just below the worst law's: nothing proves such a number."""
    campaign, plan = folders
    path = tmp_path / "p" / "tasks.csv"

    shutil.copytree(plan, tmp_path / "p")
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    one, other = (rows[0].index(name) for name in ("independent_error", "worst_error"))
    for row in rows[1:]:
        row[other] = repr(float(row[one]) + part * (float(row[other]) - float(row[one])))
    path.write_text("".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    report = crowdopt.verify(campaign, tmp_path / "p")
    assert not report.holds and any("all that is proven" in problem for problem in report.problems)

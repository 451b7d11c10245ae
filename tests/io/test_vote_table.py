"""weights.csv has what the votes of a plan need, and no more; plans that have more are read and checked as well."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from crowdopt import AssignmentInstance, aggregate, read_campaign, solve, verify, write_campaign
from crowdopt.recheck.findings import Report
from tests.io import write_table


class Desk:
    """A campaign in which each task is a type, its plan, and the rows of its weights."""

    def __init__(self, place: Path) -> None:
        self.campaign, self.plan, self.table = place / "campaign", place / "plan", place / "plan" / "weights.csv"
        accuracy = np.random.default_rng(0).uniform(0.6, 0.95, (12, 9))
        write_campaign(AssignmentInstance(accuracy, np.arange(12), 8, 0.3), self.campaign)
        self.instance = one = read_campaign(self.campaign)
        self.pairs = solve(self.campaign, output=self.plan).pairs.tolist()
        self.rows = [line.split(",") for line in self.table.read_text(encoding="utf-8").splitlines()[1:]]
        every = product(sorted({j for _, j in self.pairs}), range(12))  # as older plans had them: all of each type
        self.all_rows = [[one.worker_id(j), one.type_id(k), repr(float(one.weight[k, j]))] for j, k in every]

    def write(self, rows: list[list[str]]) -> Report:
        """Other rows; what verify says."""
        write_table(self.table, "worker,type,weight", *map(",".join, rows))
        return verify(self.campaign, self.plan)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_row_for_each_pair_and_older_plans_with_all_rows(desk, tmp_path):
    """5000 tasks by 400 workers are so 270 kB in place of 55 MB; a label that no row is for counts by the campaign."""
    pairs = {(desk.instance.worker_id(j), desk.instance.type_id(i)) for i, j in desk.pairs}
    assert len(desk.rows) == len(desk.pairs) and {(row[0], row[1]) for row in desk.rows} == pairs
    assert verify(desk.campaign, desk.plan).holds
    spare = next([i, j] for i, j in product(range(12), range(9)) if [i, j] not in desk.pairs)
    told = [f"{desk.instance.task_id(i)},{desk.instance.worker_id(j)},1" for i, j in [spare, *desk.pairs[::2]]]
    labels = write_table(tmp_path / "labels.csv", "task,worker,label", *told)
    few = aggregate(labels, plan=desk.plan, campaign=desk.campaign)
    assert desk.write(desk.all_rows).holds
    every = aggregate(labels, plan=desk.plan, campaign=desk.campaign)
    assert np.array_equal(few.answers.error, every.answers.error) and few.answers.error[spare[0]] < 0.5


DAMAGE = {
    "a row is missing": lambda rows: rows[1:],
    "a row is there twice": lambda rows: [*rows, rows[0]],
    "a worker is none of the plan's": lambda rows: [*rows, ["nobody", rows[0][1], "1.0"]],
    "a type is none of the campaign's": lambda rows: [*rows, [rows[0][0], "nothing", "1.0"]],
    "a weight is another one": lambda rows: [[*rows[0][:2], "0.123"], *rows[1:]],
}


def test_what_is_wrong_with_a_weight_is_found(desk):
    """In a table of the plan's pairs, and in one of every type, of which a row may be spare."""
    for damage, of in DAMAGE.items():
        for rows in (desk.rows, desk.all_rows)[: 1 if damage == "a row is missing" else 2]:
            report = desk.write(of(rows))
            assert not report.holds and all(problem.startswith("weights.csv") for problem in report.problems), damage

"""weights.csv has what the votes of a plan need, and no more; plans that have more are read and checked as well."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from crowdopt import AssignmentInstance, answers, assign, read_campaign, verify, write_campaign, write_plan
from crowdopt.io.plan.vote_table import read_weights
from crowdopt.recheck.bounds.findings import Report
from tests.sampled import first_of


class Desk:
    """A campaign in which each task is a type, its plan, and the rows of its weights."""

    def __init__(self, place: Path) -> None:
        self.campaign, self.plan, self.table = place / "campaign", place / "plan", place / "plan" / "weights.csv"
        accuracy = np.random.default_rng(0).uniform(0.6, 0.95, (12, 9))
        write_campaign(AssignmentInstance(accuracy, np.arange(12), np.full(9, 8), 0.3), self.campaign)
        self.instance = read_campaign(self.campaign)
        self.made = assign(self.instance)
        write_plan(self.made, self.plan)

    def rows(self) -> list[list[str]]:
        with self.table.open() as file:
            return list(csv.reader(file))[1:]

    def write(self, rows: list[list[str]]) -> Report:
        """Other rows; what verify says."""
        self.table.write_text(
            "".join(",".join(row) + "\n" for row in [["worker", "type", "weight"], *rows]), encoding="utf-8"
        )
        return verify(self.campaign, self.plan)

    def all_rows(self) -> list[list[str]]:
        """As plans had them: every worker of the plan for every type."""
        weight, workers = self.instance.weight, np.unique(self.made.pairs[:, 1]).tolist()
        return [
            [self.instance.worker_id(j), self.instance.type_id(k), repr(float(weight[k, j]))]
            for j, k in product(workers, range(12))
        ]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_row_for_each_pair_where_each_task_is_a_type(desk):
    """5000 tasks by 400 workers are so 270 kB in place of 55 MB."""
    pairs = {(desk.instance.worker_id(j), desk.instance.type_id(i)) for i, j in desk.made.pairs.tolist()}
    rows = desk.rows()
    assert len(rows) == len(desk.made.pairs) and {(row[0], row[1]) for row in rows} == pairs
    assert verify(desk.campaign, desk.plan).holds


def test_a_plan_with_all_rows_is_read_and_holds(desk, tmp_path):
    """As older versions wrote them: the same votes, and the same verdict."""
    less = read_weights(desk.plan, desk.instance)
    assert desk.write(desk.all_rows()).holds
    assert np.array_equal(read_weights(desk.plan, desk.instance), less)


def test_an_unplanned_label_counts_by_the_campaign(desk, tmp_path):
    """The table has no weight of its pair; the rule has."""
    planned = {(i, j) for i, j in desk.made.pairs.tolist()}
    i, j = next(pair for pair in product(range(12), range(9)) if pair not in planned)
    row = f"{desk.instance.task_id(i)},{desk.instance.worker_id(j)},1"
    (tmp_path / "labels.csv").write_text(f"task,worker,label\n{row}\n", encoding="utf-8")
    few = answers(tmp_path / "labels.csv", desk.plan, campaign=desk.campaign)
    desk.write(desk.all_rows())
    every = answers(tmp_path / "labels.csv", desk.plan, campaign=desk.campaign)
    assert np.array_equal(few.answers.error, every.answers.error) and few.answers.error[i] < 0.5


DAMAGE = {
    "a row is missing": lambda rows: rows[1:],
    "a row is there twice": lambda rows: [*rows, rows[0]],
    "a worker is none of the plan's": lambda rows: [*rows, ["nobody", rows[0][1], "1.0"]],
    "a type is none of the campaign's": lambda rows: [*rows, [rows[0][0], "nothing", "1.0"]],
    "a weight is another one": lambda rows: [[*rows[0][:2], "0.123"], *rows[1:]],
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("older", first_of([False, True]))
def test_what_is_wrong_with_a_weight_is_found(desk, damage, older):
    """In a table of the plan's pairs, and in one of every type."""
    report = desk.write(DAMAGE[damage](desk.all_rows() if older else desk.rows()))
    assert not report.holds or (older and damage == "a row is missing")
    assert report.holds or all(problem.startswith("weights.csv") for problem in report.problems)

"""Numbers of an adaptive plan, forged one by one: verify refuses each, and whatever the multipliers do not prove."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, OwnRows, assign, verify, write_campaign

SKILLS = [[0.94, 0.9, 0.76, 0.66], [0.98, 0.88, 0.86, 0.82]]
INSTANCE = AssignmentInstance(
    SKILLS,
    np.arange(30) % 3 % 2,
    [6, 30, 30, 30],
    0.05,
    cost=[3.0, 1.0, 0.4, 0.2],
    budget=60.0,
    types=["code", "facts"],
)
NUMBERS = {  # columns of numbers in each table
    "policy": ("share", "tasks"),
    "types": ("tasks", "target", "error", "dual"),
    "workers": ("load", "capacity", "dual"),
}
CLAIMED = (
    "objective",
    "bound",
    "labels",
    "cost",
    "gap",
    "first_round",
    "tasks",
    "workers",
    "epsilon",
    "budget_dual",
    "times_targets",
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    place = tmp_path_factory.mktemp("adaptive")
    write_campaign(INSTANCE, place / "campaign")
    plan = assign(place / "campaign", adaptive=True, output=place / "plan")
    assert plan.proven and verify(place / "campaign", place / "plan").proven
    return place / "campaign", place / "plan"


def changed(folders: tuple[Path, Path], name: str, change, place: Path) -> list[str]:
    """What verify says of the plan with one table changed."""
    shutil.copytree(folders[1], place)
    path = place / f"{name}.csv"
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    change(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return verify(folders[0], place).problems


@pytest.mark.parametrize(("table", "column"), [(name, one) for name, columns in NUMBERS.items() for one in columns])
def test_each_number_raised_is_refused(folders, table, column, tmp_path):
    """Every cell of every column of numbers, by a thousandth and a bit; multipliers where they prove too much then."""
    rows = list(csv.reader((folders[1] / f"{table}.csv").read_text(encoding="utf-8").splitlines()))
    place = rows[0].index(column)
    for row in range(1, len(rows)):

        def raised(cells, row=row):
            cells[row][place] = repr(float(cells[row][place]) * 1.001 + (0.001 if column != "dual" else 0.0))

        problems = changed(folders, table, raised, tmp_path / f"{row}")
        same = column == "dual" and float(rows[row][place]) == 0
        assert problems or same, (table, column, row)


@pytest.mark.parametrize("name", CLAIMED)
def test_each_claim_raised_is_refused(folders, name, tmp_path):
    shutil.copytree(folders[1], tmp_path / "plan")
    path = tmp_path / "plan" / "plan.json"
    claims = json.loads(path.read_text(encoding="utf-8"))
    claims[name] = claims[name] * 1.001 + 0.001
    path.write_text(json.dumps(claims), encoding="utf-8")
    assert not verify(folders[0], tmp_path / "plan").holds


def _swap(rows):
    answer = next(row for row in rows[1:] if row[3] == "answer")
    answer[4] = "1" if answer[4] == "0" else "0"


def _drop(rows):
    del rows[-1]


def _repeat(rows):
    rows.append(rows[-1])


def _ask_again(rows):
    row = next(row for row in rows[1:] if row[3] == "ask" and row[2])
    row[4] = row[2].split("=")[0]


def _nobody(rows):
    next(row for row in rows[1:] if row[3] == "ask")[4] = ""


def _stranger(rows):
    next(row for row in rows[1:] if row[2])[2] = "stranger=1"


@pytest.mark.parametrize("forgery", [_swap, _drop, _repeat, _ask_again, _nobody, _stranger])
def test_another_policy_is_refused(folders, forgery, tmp_path):
    """Another answer, a row less or twice, a judge asked twice, nothing asked, a judge who is not there."""
    assert changed(folders, "policy", forgery, tmp_path / "plan")


@pytest.mark.parametrize("table", ["assignment", "tasks", "types", "workers"])
def test_a_row_less_is_refused(folders, table, tmp_path):
    """The first round deals every task; types, workers and tasks are all there."""
    assert changed(folders, table, _drop, tmp_path / "plan")


def test_another_law_is_refused(folders, tmp_path):
    """A campaign of worse judges: the same policy errs too often there."""
    worse = AssignmentInstance(
        np.array(SKILLS) - 0.02, INSTANCE.task_type, INSTANCE.capacity, 0.05, cost=INSTANCE.cost, budget=60.0,
        types=INSTANCE.types,
    )  # fmt: skip
    write_campaign(worse, tmp_path / "worse")
    problems = verify(tmp_path / "worse", folders[1]).problems
    assert any("wrong answers are expected" in problem for problem in problems)


def test_multipliers_of_shares_are_checked(tmp_path):
    """A multiplier that proves less, one above 0, a share without one: each is refused."""
    one = AssignmentInstance(
        [[0.9, 0.8, 0.75]], [0] * 30, [30] * 3, 0.12, cost=[4.0, 1.0, 0.5], groups=[Group("g", [2], max_share=0.3)]
    )
    write_campaign(one, tmp_path / "c")
    assert assign(tmp_path / "c", adaptive=True, output=tmp_path / "p").proven
    assert verify(tmp_path / "c", tmp_path / "p").proven
    dual = float((tmp_path / "p" / "limits.csv").read_text(encoding="utf-8").split(",")[-1])
    assert dual < 0
    for k, text in enumerate((f"max_share,g,{dual * 1.01!r}", f"max_share,g,{-dual!r}", f"min_share,g,{dual!r}", "")):
        shutil.copytree(tmp_path / "p", tmp_path / str(k))
        (tmp_path / str(k) / "limits.csv").write_text(f"limit,name,dual\n{text}\n", encoding="utf-8")
        assert not verify(tmp_path / "c", tmp_path / str(k)).holds


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"min_labels": np.full(30, 2)}, "before a task has the labels that it must have"),
        ({"fixed": [(i, 0) for i in range(30)]}, "before a task has the labels that it must have"),
        ({"groups": [Group("g", [0], min_per_task=1)]}, "before a task has the labels that it must have"),
        ({"min_load": [30, 0, 0]}, "min_tasks of 0"),
        ({"own_rows": OwnRows(["mine"], [0], [(0, 2)], [1.0], [1.0], [np.inf])}, "own rows tell tasks"),
        (
            {"own_rows": OwnRows(["r"], [0] * 30, [(i, 2) for i in range(30)], [1.0] * 30, [-np.inf], [1.0])},
            "row_most of r",
        ),
    ],
)
def test_a_plan_made_without_a_limit_does_not_keep_it(limit, said, tmp_path):
    """And one made with it holds."""
    free = AssignmentInstance([[0.9, 0.8, 0.75]], [0] * 30, [30] * 3, 0.12, cost=[4.0, 1.0, 0.5])
    write_campaign(free, tmp_path / "free")
    write_campaign(replace(free, **limit), tmp_path / "held")
    assign(tmp_path / "free", adaptive=True, output=tmp_path / "p")
    problems = verify(tmp_path / "held", tmp_path / "p").problems
    assert any(said in problem for problem in problems), problems
    assert verify(tmp_path / "held", assign(tmp_path / "held", adaptive=True, expert=20.0)).proven

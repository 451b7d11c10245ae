"""Numbers of an adaptive plan of orders, forged one by one: verify refuses each."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, assign, verify, write_campaign

WORKERS, TASKS = 14, 24
SKILLS = np.random.default_rng(0).uniform(0.55, 0.92, (2, WORKERS))
INSTANCE = AssignmentInstance(
    SKILLS,
    np.arange(TASKS) % 2,
    np.full(WORKERS, 6),
    0.1,
    groups=[Group("pair", [0, 1], max_per_task=1)],
    max_labels=np.full(TASKS, 8),
    forbidden=[(i, 3) for i in range(0, TASKS, 2)],
)
NUMBERS = {"orders": ("share", "tasks"), "types": ("tasks", "target", "error"), "workers": ("load", "capacity")}
CLAIMED = ("objective", "labels", "cost", "gap", "first_round", "tasks", "workers", "epsilon", "times_targets")


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    place = tmp_path_factory.mktemp("orders")
    write_campaign(INSTANCE, place / "campaign")
    plan = assign(place / "campaign", adaptive=True, output=place / "plan")
    assert plan.order_of is not None and plan.gap < 0.1
    report = verify(place / "campaign", place / "plan")
    assert report.holds, report.problems
    return place / "campaign", place / "plan"


def table(folder: Path, name: str) -> list[list[str]]:
    """The rows of a table, its header first."""
    return list(csv.reader((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


def forged(folders: tuple[Path, Path], name: str, rows: list[list[str]], place: Path) -> bool:
    """Whether verify takes the plan with one table changed."""
    shutil.copytree(folders[1], place)
    with (place / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    try:
        return verify(folders[0], place).holds
    except ValueError:  # a table that cannot be read
        return False


@pytest.mark.parametrize(("name", "column"), [(name, one) for name, columns in NUMBERS.items() for one in columns])
def test_each_number_raised_is_refused(folders, name, column, tmp_path):
    """Every cell of every column of numbers, by a thousandth and a bit."""
    for row in range(1, len(table(folders[1], name))):
        rows = table(folders[1], name)
        place = rows[0].index(column)
        rows[row][place] = repr(float(rows[row][place]) * 1.001 + 0.001)
        assert not forged(folders, name, rows, tmp_path / f"{row}"), (name, column, row)


@pytest.mark.parametrize("name", CLAIMED)
def test_each_claim_raised_is_refused(folders, name, tmp_path):
    shutil.copytree(folders[1], tmp_path / "plan")
    path = tmp_path / "plan" / "plan.json"
    claims = json.loads(path.read_text(encoding="utf-8"))
    claims[name] = claims[name] * 1.001 + 0.001
    path.write_text(json.dumps(claims), encoding="utf-8")
    assert not verify(folders[0], tmp_path / "plan").holds


@pytest.mark.parametrize(("name", "value"), [("bound", None), ("bound", 1e6), ("step", 0), ("step", "x"), ("step", 7)])
def test_bounds_beyond_what_multipliers_prove_are_refused(folders, name, value, tmp_path):
    """No bound, one far above the plan, and steps at which nothing can be recomputed."""
    shutil.copytree(folders[1], tmp_path / "plan")
    path = tmp_path / "plan" / "plan.json"
    claims = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**claims, name: value}), encoding="utf-8")
    assert not verify(folders[0], tmp_path / "plan").holds


def test_multipliers_of_the_wrong_sign_are_refused(folders, tmp_path):
    """Of an error below 0, of a capacity above 0."""
    for name, value in (("types", "-1.0"), ("workers", "0.5")):
        rows = table(folders[1], name)
        rows[1][rows[0].index("dual")] = value
        assert not forged(folders, name, rows, tmp_path / name)


def _asking(rows):
    return next(row for row in rows[1:] if row[2])


def _other_worker(rows):
    row = _asking(rows)
    row[2] = "13" if row[2] != "13" else "12"


def _barred(rows):
    _asking(rows)[2] = "3"


def _stranger(rows):
    _asking(rows)[2] = "stranger"


def _twice(rows):
    at = next(k for k, row in enumerate(rows) if k and row[2] and rows[k + 1][2])
    rows[at + 1][2] = rows[at][2]


def _drop(rows):
    del rows[-1]


def _sooner(rows):
    row = next(row for row in rows[1:] if row[2] and row[1] == "1")
    row[5], row[6] = "-1", "1"


def _half(rows):
    _asking(rows)[4] = "1.5"


def _crossed(rows):
    _asking(rows)[5] = _asking(rows)[6]


@pytest.mark.parametrize("change", [_other_worker, _barred, _stranger, _twice, _drop, _sooner, _half, _crossed])
def test_other_orders_are_refused(folders, change, tmp_path):
    """Another worker, one who is barred, unknown or asked twice, no end, an earlier stop, scores that are none."""
    rows = table(folders[1], "order_steps")
    change(rows)
    assert not forged(folders, "order_steps", rows, tmp_path / "plan")


@pytest.mark.parametrize("name", ["assignment", "tasks", "types", "workers", "orders"])
def test_a_row_less_is_refused(folders, name, tmp_path):
    """The first round asks every task that has room; types, workers, tasks and orders are all there."""
    assert not forged(folders, name, table(folders[1], name)[:-1], tmp_path / "plan")


def test_another_deal_is_refused(folders, tmp_path):
    """All tasks of a type on its first order; and an order of another type."""
    rows = table(folders[1], "tasks")
    of_type = {row[1]: row[2] for row in reversed(rows[1:])}
    same = [rows[0], *([task, kind, of_type[kind]] for task, kind, _ in rows[1:])]
    other = [rows[0], *([task, kind, of_type["1" if kind == "0" else "0"]] for task, kind, _ in rows[1:])]
    assert not forged(folders, "tasks", same, tmp_path / "same")
    assert not forged(folders, "tasks", other, tmp_path / "other")


def test_another_law_is_refused(folders, tmp_path):
    """A campaign of worse workers: the same orders err too often there."""
    worse = AssignmentInstance(
        SKILLS - 0.02,
        INSTANCE.task_type,
        INSTANCE.capacity,
        0.1,
        groups=INSTANCE.groups,
        max_labels=INSTANCE.max_labels,
        forbidden=INSTANCE.forbidden,
    )
    write_campaign(worse, tmp_path / "worse")
    assert any("wrong answers are expected" in one for one in verify(tmp_path / "worse", folders[1]).problems)

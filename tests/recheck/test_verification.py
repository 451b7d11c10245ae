"""Verify: every change that breaks a plan is caught."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from crowdopt import AssignmentInstance, InputError, read_campaign, solve, verify, write_plan
from crowdopt.io.samples import write_sample
from tests.recheck.forged import Forged, made

TABLES = ("assignment", "tasks", "workers", "weights")
INFORMATIVE = {
    "title",
    "certified_bound",
    "method",
    "backend",
    "seed",
    "edition",
    "versions",
}  # none, or a weaker claim


def folders(place: Path, **given) -> Path:
    """The sample campaign and its plan."""
    write_sample(place / "campaign")
    write_plan(solve(read_campaign(place / "campaign"), **given), place / "plan")
    return place


@pytest.fixture(scope="module")
def solved(tmp_path_factory) -> Path:
    """One solved sample for the mutations."""
    return folders(tmp_path_factory.mktemp("solved"), rule="bhattacharyya")


def fails(campaign: Path, plan: Path) -> bool:
    """Whether verify refuses the plan, by finding a problem or by not being able to read it."""
    try:
        return not verify(campaign, plan).holds
    except InputError:
        return True


def tables(plan: Path) -> list[str]:
    """Every CSV of a plan folder."""
    return sorted(str(path.relative_to(plan)) for path in plan.rglob("*.csv"))


def changed(cell: str, rng: np.random.Generator, others: list[str]) -> str:
    """Another value of the same kind."""
    try:
        number = float(cell)
    except ValueError:
        return str(rng.choice([other for other in others if other != cell] or [cell + "x"]))
    return repr(int(number) + int(rng.integers(1, 3))) if number == int(number) else repr(number * 1.01 + 1e-6)


@pytest.mark.parametrize("name", [*TABLES, "queues"])
def test_changing_any_cell_is_caught(solved, tmp_path, name):
    """Cells of each table in turn. A changed multiplier is caught unless it still proves what is claimed."""
    rng, honest = np.random.default_rng(1), Forged(solved, tmp_path)
    best, most = honest.report().certified_bound, 8 if name != "queues" else 2
    for table in [one.removesuffix(".csv") for one in tables(solved / "plan") if one.startswith(name)]:
        rows = honest.rows(table)
        cells = [(r, c) for r in range(len(rows)) for c in range(len(rows[0]))]
        for k in rng.permutation(len(cells))[:most]:
            (r, c), edited = cells[k], [list(row) for row in rows]
            edited[r][c] = changed(rows[r][c], rng, [row[c] for row in rows[1:]])
            forged = Forged(solved, tmp_path / f"{table} {k}").table(table, edited)
            proves = "dual" in rows[0][c] and r > 0 and not forged.problems()
            assert forged.report().certified_bound >= best if proves else forged.problems(), (table, r, c, edited[r][c])


def test_changing_any_claim_is_caught(solved, tmp_path):
    """Each number and word of plan.json, raised, lowered, negated or removed; a bound beyond what multipliers prove."""
    forged = Forged(solved, tmp_path)
    for key, value in list(forged.claims.items()):
        number = isinstance(value, int | float)
        others = [value + 1, "1", not value, None] if number else ["other", 1, None]
        for wrong in others if key not in INFORMATIVE else ():
            assert forged.says(**{key: wrong}).problems(), (key, wrong)
        forged.says(**{key: value})
    assert not forged.problems()
    problems = forged.says(certified_bound=forged.claims["certified_bound"] + 1).problems()
    assert any("prove no more than" in problem for problem in problems)


@pytest.mark.parametrize("name", [*(f"{table}.csv" for table in TABLES), "plan.json", "queues/ada.csv"])
def test_a_truncated_or_missing_file_is_caught(solved, tmp_path, name):
    """Wherever the copy broke off, but in the last digits of the last number, which say nothing."""
    content = (solved / "plan" / name).read_bytes()
    for k, keep in enumerate((0.0, 0.3, 0.6, 0.9, 0.97)):
        plan, kept = shutil.copytree(solved / "plan", tmp_path / str(k)), int(keep * len(content))
        (plan / name).write_bytes(content[:kept])
        assert fails(solved / "campaign", plan) or (keep > 0.9 and content[kept:].strip().isdigit()), keep
    (plan / name).unlink()
    assert fails(solved / "campaign", plan)


def test_a_foreign_file_is_caught(solved, tmp_path):
    """A queue too many; a column of exact errors under a rule that computes none."""
    assert Forged(solved, tmp_path / "more").file("queues/zoe.csv", "task", "photo-01").problems()
    problems = Forged(solved, tmp_path / "column").column("tasks", "exact_error", 0.001).problems()
    assert "column exact_error" in problems[0]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("campaign.toml", "epsilon = 0.1", "epsilon = 0.05"),
        ("gold.csv", "ada,bird,19,20", "ada,bird,11,20"),
        ("workers.csv", "bo,16", "bo,15"),
    ],
)
def test_a_plan_for_another_campaign_is_refused(solved, tmp_path, name, old, new):
    """Tighten the target, change a tally or a capacity: the old plan no longer holds."""
    other = shutil.copytree(solved / "campaign", tmp_path / "campaign")
    text = (other / name).read_text(encoding="utf-8")
    assert old in text
    (other / name).write_text(text.replace(old, new), encoding="utf-8")
    assert fails(other, solved / "plan")


def test_equal_runs_write_equal_bytes(tmp_path):
    """run.json apart, the same input and seed give the same folder."""
    first, second = (folders(tmp_path / name) / "plan" for name in ("one", "two"))
    for table in [*tables(first), "plan.json"]:
        assert (first / table).read_bytes() == (second / table).read_bytes()


def test_odd_worker_ids_have_queues_of_their_own(tmp_path):
    """Ids that no file system would take become file names that differ; verify finds them again."""
    names = ["a/b", "a\\b", "..", "x" * 300, "x" * 301, "ä ö", "con.csv", "50%"]
    one = AssignmentInstance([[0.9] * 8], [0], [1] * 8, 0.01, workers=names, types=["all"])
    plan = made(tmp_path, one, solve(one)) / "plan"
    assert all(path.parent == plan / "queues" for path in plan.rglob("queues/*"))

"""Verify: every change that breaks a plan is caught."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from crowdopt import AssignmentInstance, InputError, assign, recipe, write_campaign, write_plan
from crowdopt.assign.plan import Duals
from crowdopt.io.campaign.sample import write_sample
from crowdopt.recheck.bounds.multipliers import fewest_labels, prove
from crowdopt.recheck.verification import verify
from tests.small import brute_force, instances

INFORMATIVE = {
    "title",
    "certified_bound",
    "method",
    "backend",
    "seed",
    "versions",
}  # no claim about the plan, or a weaker one


def folders(tmp_path: Path, **given) -> tuple[Path, Path]:
    """The sample campaign and its plan."""
    from crowdopt import read_campaign

    campaign, plan = tmp_path / "campaign", tmp_path / "plan"
    write_sample(campaign)
    write_plan(assign(read_campaign(campaign), **given), plan)
    return campaign, plan


@pytest.fixture(scope="module")
def solved(tmp_path_factory) -> tuple[Path, Path]:
    """One solved sample for the mutations."""
    return folders(tmp_path_factory.mktemp("solved"), rule="bhattacharyya")


def fails(campaign: Path, plan: Path) -> bool:
    """Whether verify refuses the plan, by finding a problem or by not being able to read it."""
    try:
        return not verify(campaign, plan).holds
    except InputError as error:
        assert "\n" not in str(error)
        return True


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(instances())
def test_every_plan_that_is_written_verifies(tmp_path, instance):
    """Whole plans and LP plans of every option: the folders alone confirm every claim, bounds included."""
    kinds = np.unique(instance.task_type, return_inverse=True)[1]
    used = np.unique(instance.task_type)
    instance = replace(instance, accuracy=instance.accuracy[used], cost=instance.cost[used], task_type=kinds)
    write_campaign(instance, tmp_path / "c", force=True, collected_labels=["x"] * len(instance.collected))
    for program in ("ip", "lp"):
        plan = assign(instance, program=program)
        if not plan.found:
            continue
        write_plan(plan, tmp_path / "p", force=True)
        report = verify(tmp_path / "c", tmp_path / "p")
        assert report.holds, report.problems
        assert report.proven == plan.proven and report.objective == pytest.approx(plan.objective)


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


@pytest.mark.parametrize("name", ["assignment.csv", "tasks.csv", "workers.csv", "weights.csv", "queues"])
def test_changing_any_cell_is_caught(solved, tmp_path, name):
    """Cells of each table in turn. A changed multiplier is caught unless it still proves what is claimed."""
    campaign, plan = solved
    rng, honest = np.random.default_rng(1), verify(*solved)
    copy, most = tmp_path / "copy", 12
    for table in [t for t in tables(plan) if t.startswith(name)]:
        rows = list(csv.reader((plan / table).read_text(encoding="utf-8").splitlines()))
        cells = [(r, c) for r in range(len(rows)) for c in range(len(rows[0]))]
        for r, c in cells if len(cells) <= most else [cells[k] for k in rng.choice(len(cells), most, replace=False)]:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(plan, copy)
            edited = [list(row) for row in rows]
            edited[r][c] = changed(rows[r][c], rng, [row[c] for row in rows[1:]])
            with (copy / table).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(edited)
            if "dual" in rows[0][c] and r > 0 and not fails(campaign, copy):
                assert verify(campaign, copy).certified_bound >= honest.certified_bound
                continue
            assert fails(campaign, copy), (table, r, c, edited[r][c])


def test_changing_any_claim_is_caught(solved, tmp_path):
    """Each number and word of plan.json, raised, lowered, negated or removed."""
    campaign, plan = solved
    claims = json.loads((plan / "plan.json").read_text(encoding="utf-8"))
    copy = tmp_path / "copy"
    for key, value in claims.items():
        if key in INFORMATIVE:
            continue
        for wrong in _wrong(value):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(plan, copy)
            (copy / "plan.json").write_text(json.dumps({**claims, key: wrong}), encoding="utf-8")
            assert fails(campaign, copy), (key, wrong)


def _wrong(value):
    if isinstance(value, bool):
        return [not value, None, "yes"]
    if isinstance(value, int | float):
        return [value + 1, value - 1, None, "1", True]
    return ["other", None, 1]


def test_a_certified_bound_cannot_be_raised(solved, tmp_path):
    """What the multipliers prove is recomputed: a certified bound one higher is refused."""
    campaign, plan = solved
    copy = tmp_path / "copy"
    shutil.copytree(plan, copy)
    claims = json.loads((plan / "plan.json").read_text(encoding="utf-8"))
    (copy / "plan.json").write_text(
        json.dumps({**claims, "certified_bound": claims["certified_bound"] + 1}), encoding="utf-8"
    )
    assert any("prove no more than" in problem for problem in verify(campaign, copy).problems)


@pytest.mark.parametrize(
    "name", ["assignment.csv", "tasks.csv", "workers.csv", "weights.csv", "plan.json", "queues/ada.csv"]
)
@pytest.mark.parametrize("keep", [0.0, 0.3, 0.6, 0.97])
def test_a_truncated_file_is_caught(solved, tmp_path, name, keep):
    """Wherever the copy broke off."""
    campaign, plan = solved
    shutil.copytree(plan, tmp_path / "copy")
    content = (plan / name).read_bytes()
    (tmp_path / "copy" / name).write_bytes(content[: int(keep * len(content))])
    assert fails(campaign, tmp_path / "copy")


def test_a_missing_or_foreign_file_is_caught(solved, tmp_path):
    """A queue too few or too many, a table gone."""
    campaign, plan = solved
    for number, name in enumerate(
        ["assignment.csv", "tasks.csv", "workers.csv", "weights.csv", "plan.json", "queues/bo.csv"]
    ):
        copy = tmp_path / str(number)
        shutil.copytree(plan, copy)
        (copy / name).unlink()
        assert fails(campaign, copy)
    shutil.copytree(plan, tmp_path / "more")
    (tmp_path / "more" / "queues" / "zoe.csv").write_text("task\nphoto-01\n", encoding="utf-8")
    assert fails(campaign, tmp_path / "more")


def test_a_plan_for_another_campaign_is_refused(solved, tmp_path):
    """Tighten the target, change a tally or a capacity: the old plan no longer holds."""
    campaign, plan = solved
    for old, new, name in [
        ("epsilon = 0.1", "epsilon = 0.05", "campaign.toml"),
        ("ada,bird,19,20", "ada,bird,11,20", "gold.csv"),
        ("bo,16", "bo,15", "workers.csv"),
    ]:
        other = tmp_path / name
        shutil.copytree(campaign, other)
        text = (other / name).read_text(encoding="utf-8")
        assert old in text
        (other / name).write_text(text.replace(old, new), encoding="utf-8")
        assert fails(other, plan)


@pytest.mark.slow
@settings(max_examples=20)
@given(instances())
def test_no_multipliers_prove_more_than_the_optimum(instance):
    """Verify's own bound, from any numbers at all, never exceeds the cost of the best plan (brute force)."""
    best = brute_force(instance)
    if best is None:
        return
    rng = np.random.default_rng(instance.n_tasks)
    for scale in (0.1, 1.0, 10.0):
        multipliers = [rng.normal(0, scale, size) for size in (instance.n_tasks, instance.n_workers, instance.n_tasks)]
        bound = prove(instance, *multipliers, float(rng.normal(0, scale)), fewest_labels(instance))
        assert bound <= best + 1e-9


def test_verify_and_the_solver_agree_on_what_multipliers_prove():
    """Two programs for one formula: the Lagrangian bound over the matrix, and verify's task by task."""
    instance = recipe("B5:1000x300")
    plan = assign(instance, program="lp")
    duals: Duals = plan.duals
    bound = prove(instance, duals.task, duals.worker, duals.labels, 0.0, instance.new_label_limits[0])
    assert bound == pytest.approx(plan.certified_bound, rel=1e-12)


def test_equal_runs_write_equal_bytes(tmp_path):
    """run.json apart, the same input and seed give the same folder."""
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        folder.mkdir()
        folders(folder)
    for table in [*tables(first / "plan"), "plan.json"]:
        assert (first / "plan" / table).read_bytes() == (second / "plan" / table).read_bytes()


def test_odd_worker_ids_have_queues_of_their_own(tmp_path):
    """Ids that no file system would take become file names that differ; verify finds them again."""
    names = ["a/b", "a\\b", "..", "x" * 300, "x" * 301, "ä ö", "con.csv", "50%"]
    instance = AssignmentInstance([[0.9] * 8], [0], [1] * 8, 0.01, workers=names, types=["all"])
    write_campaign(instance, tmp_path / "c")
    write_plan(assign(instance), tmp_path / "p")
    assert verify(tmp_path / "c", tmp_path / "p").holds
    assert all(path.parent == tmp_path / "p" / "queues" for path in (tmp_path / "p").rglob("queues/*"))


def test_an_invented_column_of_exact_errors_is_refused(solved, tmp_path):
    """Under a rule that computes none there is no word for them."""
    campaign, plan = solved
    shutil.copytree(plan, tmp_path / "copy")
    rows = (plan / "tasks.csv").read_text(encoding="utf-8").splitlines()
    lines = [f"{rows[0]},exact_error", *(f"{row},0.001" for row in rows[1:])]
    (tmp_path / "copy" / "tasks.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = verify(campaign, tmp_path / "copy")
    assert not report.holds and "column exact_error" in report.problems[0]

"""The second checker: it agrees with verify on every plan, and no breakage passes it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, solve, write_campaign, write_plan
from crowdopt.recheck.verification import verify
from tests.checkers.folders import check
from tests.small import brute_force, instances

CHECKER = Path(__file__).parents[1] / "checkers" / "folders.py"
IN_ONE_FOLDER = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])


def used_types_only(instance: AssignmentInstance) -> AssignmentInstance:
    """The same without types that no task has: a campaign folder cannot say them."""
    used, kinds = np.unique(instance.task_type, return_inverse=True)
    return replace(instance, accuracy=instance.accuracy[used], cost=instance.cost[used], task_type=kinds)


def written(instance: AssignmentInstance, folder: Path, **given) -> tuple[Path, Path] | None:
    """Campaign and plan folder; None if there is no plan."""
    plan = solve(instance, **given)
    if not plan.found:
        return None
    write_campaign(instance, folder / "campaign", force=True, collected_labels=["x"] * len(instance.collected))
    write_plan(plan, folder / "plan", force=True)
    return folder / "campaign", folder / "plan"


def edit(path: Path, change) -> None:
    """Change a table's rows, the header the first of them."""
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def claim(plan: Path, **claims) -> None:
    """Change what plan.json says."""
    said = json.loads((plan / "plan.json").read_text(encoding="utf-8"))
    (plan / "plan.json").write_text(json.dumps({**said, **claims}), encoding="utf-8")


def scaled(rows: list[list[str]], column: str, factor: float) -> None:
    """Multiply a column, where it is there."""
    for row in rows[1:] if column in rows[0] else []:
        k = rows[0].index(column)
        row[k] = repr(float(row[k]) * factor)


@pytest.fixture
def tight(tmp_path) -> tuple[Path, Path]:
    """Eleven labels, and no other plan: five of .9 are short of a need (5 * .64 < 3.22), one of .99 makes up for it.

    Worker 6 of .99 may only have task 0, worker 0 only task 1, and worker 5 has room for one task, so task 1 is it.
    """
    instance = AssignmentInstance(
        accuracy=[[0.9] * 6 + [0.99]],
        task_type=[0, 0],
        capacity=[1, 2, 2, 2, 2, 1, 1],
        epsilon=0.2,
        rule="hoeffding",
        forbidden=[(0, 0), (1, 6)],
        max_labels=[7, 6],
    )
    folders = written(instance, tmp_path)
    assert folders is not None and check(*folders) == (None, 11.0)
    return folders


@IN_ONE_FOLDER
@given(instances(), st.sampled_from(["ip", "lp"]), st.sampled_from(["exact", "highs"]))
def test_it_agrees_with_verify(tmp_path, instance, program, method):
    """Two programs that share no line read the same folders: every plan holds for both, with one and the same bound."""
    folders = written(used_types_only(instance), tmp_path, program=program, method=method)
    if folders is None:
        return
    report, (problems, bound) = verify(*folders), check(*folders)
    assert report.holds and problems is None
    assert (bound is None) == (report.certified_bound is None)
    assert bound is None or bound == pytest.approx(report.certified_bound, rel=1e-9, abs=1e-9)


@IN_ONE_FOLDER
@given(instances(), st.integers(0, 2**31))
def test_it_agrees_with_verify_on_broken_plans(tmp_path, instance, seed):
    """Any set of pairs in place of the plan: what breaks no limit and costs the same passes both, the rest neither."""
    instance = used_types_only(instance)
    folders = written(instance, tmp_path)
    if folders is None:
        return
    rng = np.random.default_rng(seed)
    kept = rng.random((instance.n_tasks, instance.n_workers)) < 0.5
    pairs = [[instance.task_id(i), instance.worker_id(j)] for i, j in np.argwhere(kept)]
    edit(folders[1] / "assignment.csv", lambda rows: rows.__setitem__(slice(1, None), pairs))
    false = ("assignment.csv: ", "plan.json: objective says")
    assert (check(*folders)[0] is not None) == any(problem.startswith(false) for problem in verify(*folders).problems)


@IN_ONE_FOLDER
@given(instances(), st.sampled_from([0.0, 0.5, 0.9, 1.1, 2.0, 10.0, -1.0]), st.sampled_from(["task", "worker", "both"]))
def test_scaled_multipliers_prove_nothing_false(tmp_path, instance, factor, which):
    """Weak duality: whatever the multipliers, their bound is at most the optimum, which brute force knows."""
    instance = used_types_only(instance)
    best, folders = brute_force(instance), written(instance, tmp_path)
    assert (best is None) == (folders is None)
    if folders is None:
        return
    for name in ("task", "worker") if which == "both" else (which,):
        edit(folders[1] / f"{name}s.csv", lambda rows: scaled(rows, "dual", factor))
        edit(folders[1] / f"{name}s.csv", lambda rows: scaled(rows, "labels_dual", factor))
    bound = check(*folders)[1]
    assert bound is None or bound <= best + 1e-9


@IN_ONE_FOLDER
@given(instances())
def test_a_raised_certified_bound_is_caught(tmp_path, instance):
    """A claim above what the stored multipliers prove is false, however little; up to it, it is true."""
    folders = written(used_types_only(instance), tmp_path)
    if folders is None or check(*folders)[1] is None:
        return
    bound = check(*folders)[1]
    claim(folders[1], certified_bound=bound)
    assert check(*folders) == (None, bound)
    claim(folders[1], certified_bound=bound + 1e-6 * max(1.0, abs(bound)))
    assert any("certified_bound" in problem for problem in check(*folders)[0])


def test_a_tightened_campaign_is_caught(tight):
    """A plan belongs to its campaign: with a fixed pair it lacks, a budget below its cost or a least load it fails."""
    (tight[0] / "fixed.csv").write_text("task,worker\n0,5\n", encoding="utf-8")
    assert any("must be in the plan" in problem for problem in check(*tight)[0])
    (tight[0] / "fixed.csv").unlink()
    toml = (tight[0] / "campaign.toml").read_text(encoding="utf-8")
    (tight[0] / "campaign.toml").write_text(toml + "budget = 10.0\n", encoding="utf-8")
    assert any(problem.startswith("cost says") for problem in check(*tight)[0])
    (tight[0] / "campaign.toml").write_text(toml, encoding="utf-8")
    edit(tight[0] / "workers.csv", lambda rows: [row.append(k) for k, row in enumerate(rows)])
    edit(tight[0] / "workers.csv", lambda rows: rows[0].__setitem__(-1, "min_tasks"))
    assert any("not 5 to 2" in problem for problem in check(*tight)[0])


def test_the_command_gives_a_verdict(tight):
    """Exit status 0 and the bound for a plan that holds, 1 and the problem for one that does not."""
    run = [sys.executable, "-S", str(CHECKER), *map(str, tight)]  # -S: no site-packages, so nothing but the library
    good = subprocess.run(run, capture_output=True, text=True)
    assert good.returncode == 0 and "the plan holds" in good.stdout and "11" in good.stdout
    claim(tight[1], certified_bound=12)
    bad = subprocess.run(run, capture_output=True, text=True)
    assert bad.returncode == 1 and "certified_bound says 12" in bad.stdout


def test_it_stands_alone():
    """What is to be believed must not lean on what it checks."""
    lines = CHECKER.read_text(encoding="utf-8").splitlines()
    imports = {line.split()[1] for line in lines if line.startswith(("import ", "from "))}
    assert imports <= {"csv", "fractions", "json", "math", "sys", "tomllib", "pathlib"}

"""The second checker: it agrees with verify on every plan, and no breakage passes it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, solve, write_campaign, write_plan
from tests.checkers.folders import check
from tests.recheck.forged import Forged
from tests.small import instances

CHECKER = Path(__file__).parents[1] / "checkers" / "folders.py"
IN_ONE_FOLDER = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def used_types_only(instance: AssignmentInstance) -> AssignmentInstance:
    """The same without types that no task has: a campaign folder cannot say them."""
    used, kinds = np.unique(instance.task_type, return_inverse=True)
    return replace(instance, accuracy=instance.accuracy[used], cost=instance.cost[used], task_type=kinds)


def written(instance: AssignmentInstance, folder: Path, **given) -> Forged | None:
    """Campaign and plan, to forge; None if there is no plan."""
    plan = solve(instance, **given)
    if not plan.found:
        return None
    write_campaign(instance, folder / "campaign", force=True, collected_labels=["x"] * len(instance.collected))
    write_plan(plan, folder / "plan", force=True)
    return Forged(folder, Path(mkdtemp(dir=folder)))


def checked(folder: Forged) -> tuple[list[str] | None, float | None]:
    """What the second checker says."""
    return check(folder.campaign, folder.saved().place)


@IN_ONE_FOLDER
@given(instances(), st.sampled_from(["ip", "lp"]), st.sampled_from(["exact", "highs"]))
def test_it_agrees_with_verify(tmp_path, instance, program, method):
    """Two programs that share no line read the same folders: every plan holds for both, with one and the same bound.

    A claim above what the stored multipliers prove is false, however little; up to it, it is true.
    """
    folder = written(used_types_only(instance), tmp_path, program=program, method=method)
    if folder is None:
        return
    report, (problems, bound) = folder.report(), checked(folder)
    assert report.holds and problems is None
    assert (bound is None) == (report.certified_bound is None)
    if bound is not None:
        assert bound == pytest.approx(report.certified_bound, rel=1e-9, abs=1e-9)
        assert checked(folder.says(certified_bound=bound)) == (None, bound)
        above = checked(folder.says(certified_bound=bound + 1e-6 * max(1.0, abs(bound))))
        assert any("certified_bound" in problem for problem in above[0])


@IN_ONE_FOLDER
@given(instances(), st.integers(0, 2**31))
def test_it_agrees_with_verify_on_broken_plans(tmp_path, instance, seed):
    """Any set of pairs in place of the plan: what breaks no limit and costs the same passes both, the rest neither."""
    instance = used_types_only(instance)
    folder = written(instance, tmp_path)
    if folder is None:
        return
    kept = np.random.default_rng(seed).random((instance.n_tasks, instance.n_workers)) < 0.5
    pairs = [[instance.task_id(i), instance.worker_id(j)] for i, j in np.argwhere(kept)]
    folder.table("assignment", [folder.rows("assignment")[0], *pairs])
    false = ("assignment.csv: ", "plan.json: objective says")
    assert (checked(folder)[0] is not None) == any(one.startswith(false) for one in folder.report().problems)


def test_the_command_gives_a_verdict(tmp_path):
    """Exit status 0 and the bound for a plan that holds, 1 and the problem for one that does not.

    Of two tasks each needs six of .9 (5 * .64 < 3.22). It stands alone: -S leaves it the standard library.
    """
    folder = written(AssignmentInstance([[0.9] * 6], [0, 0], [2] * 6, 0.2, rule="hoeffding"), tmp_path)
    run = [sys.executable, "-S", str(CHECKER), str(folder.campaign), str(folder.place)]
    good = subprocess.run(run, capture_output=True, text=True)
    assert good.returncode == 0 and "the plan holds" in good.stdout and "12" in good.stdout
    folder.says(certified_bound=13).saved()
    bad = subprocess.run(run, capture_output=True, text=True)
    assert bad.returncode == 1 and "certified_bound says 13" in bad.stdout

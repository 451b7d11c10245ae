"""Campaigns of every feature, up to 28 workers, against a checker that shares no code with the package.

Nothing that is said may be false: costs, bounds, infeasibility, what ``verify`` makes of the folder, and what any
multipliers of any form prove. Up to eleven workers nothing may be left undecided either.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from crowdopt import AssignmentInstance, InputError, Status, assign, verify, write_campaign, write_plan
from crowdopt.crowd.exactness import relaxation
from crowdopt.recheck.bounds.multipliers import fewest_labels, prove
from crowdopt.recheck.bounds.proofs import prove_blocks, prove_patterns
from tests.checkers.folders import check as by_blocks
from tests.checkers.folders import check as by_rows
from tests.sampled import first_of
from tests.trials.crowd_checker import SMALL, a_good_plan, draw, error, fits, keeps, many, optimum, whole
from tests.trials.crowd_instance import instance_of

DEFAULT, LONG, EACH = 120, 20_000, 20  # campaigns, and how many a test of many looks at
NEAR = 1e-6
SECONDS = 20.0


def check(seed: int) -> str:
    """One campaign; what became of it, in a word."""
    c = draw(seed)
    try:
        instance = instance_of(c)
        method = ("patterns" if c["m"] <= 7 else "patterns:pools=3") if c["rule"] == "mean-error" else "exact"
        plan = assign(instance, method, difficulty=c["hard"], time_limit=SECONDS, strict=True)
    except InputError:
        return "refused"
    small, average = c["m"] <= SMALL, c["rule"] == "mean-error"
    best = optimum(c) if small else np.inf if average else a_good_plan(c)
    assert plan.bound <= best + NEAR, (seed, plan.bound, best)
    assert plan.status is not Status.INFEASIBLE or best == np.inf, seed
    if small and method != "patterns:pools=3":
        assert plan.status is not Status.UNDECIDED, (seed, best)
        assert plan.found == (best < np.inf), seed
    if plan.pairs is not None:
        _check_plan(seed, c, plan, best if small else -np.inf)
    if small and best < np.inf and not c["hard"]:
        _check_multipliers(seed, instance, best)
    return "found" if plan.found else str(plan.status.value)


def _check_plan(seed: int, c: dict[str, Any], plan: Any, least: float) -> None:
    """It keeps every limit, costs what it says, and its folder holds."""
    sets = [sorted(plan.pairs[plan.pairs[:, 0] == i, 1].tolist()) for i in range(c["n"])]
    every = [[j for k, j in c["collected"] if k == i] + one for i, one in enumerate(sets)]
    count = error if c["m"] <= SMALL else many
    assert all(fits(c, i, one) for i, one in enumerate(sets)), seed
    assert c["rule"] == "mean-error" or all(keeps(c, i, one)[0] for i, one in enumerate(every)), seed
    wrong = [count(c, i, one) for i, one in enumerate(every)] if c["rule"] == "mean-error" else []
    assert whole(c, sets, wrong), seed
    assert plan.objective == pytest.approx(sum(float(c["cost"][one].sum()) for one in sets)), seed
    assert plan.objective >= least - NEAR and (not plan.proven or plan.objective <= max(least, plan.bound) + NEAR), seed
    with TemporaryDirectory() as place:
        campaign, folder = Path(place) / "campaign", Path(place) / "plan"
        write_campaign(plan.instance, campaign, collected_labels=["1"] * len(c["collected"]))
        write_plan(plan, folder)
        report = verify(campaign, folder)
        again = _by_file_formats(c, plan, campaign, folder)
    assert again is None, (seed, again)
    assert report.holds, (seed, report.problems)
    assert report.certified_bound is None or report.certified_bound <= plan.objective + NEAR, seed


def _by_file_formats(c: dict[str, Any], plan: Any, campaign: Path, folder: Path) -> list[str] | None:
    """The problems that the checker of folders finds, which knows linear rules by their papers alone; None: none."""
    form = "rows" if plan.duals is None else plan.duals.form
    known = c["rule"] in ("bhattacharyya", "hoeffding") and c["prior"] is None and not c["groups"]
    if not known or c["row"] is not None or (form == "blocks" and c["m"] > SMALL):
        return None
    problems: list[str] | None = (by_blocks if form == "blocks" else by_rows)(campaign, folder)[0]
    return problems


def _check_multipliers(seed: int, instance: AssignmentInstance, best: float) -> None:
    """Any numbers at all prove no more than the optimum, in any form."""
    rng, n, m = np.random.default_rng([seed, 92]), instance.n_tasks, instance.n_workers
    loose = relaxation(instance)
    for scale in (0.3, 3.0):
        task, worker, labels = (rng.normal(0, scale, size) for size in (n, m, n))
        money = -float(rng.random() * scale)
        assert prove(loose, task, worker, labels, money, fewest_labels(loose)) <= best + NEAR, seed
        assert prove_blocks(loose, worker, labels, money) <= best + NEAR, seed
        levels = int(rng.choice([1, 3, 24] if instance.classes > 2 or instance.the_rule.average else [0, 1, 24]))
        wrong = -float(rng.choice([1.0, 10.0, 100.0]))
        assert prove_patterns(loose, worker, money, wrong, levels) <= best + NEAR, seed


@pytest.mark.parametrize("first", first_of(range(0, DEFAULT, EACH)))
def test_nothing_is_said_that_is_not_so(first):
    """Some hundred campaigns; most have a plan."""
    words = [check(seed) for seed in range(first, first + EACH)]
    assert words.count("found") > EACH / 4


@pytest.mark.parametrize("seed", [30231, 30962, 34422, 34456])
def test_fixed_pairs_are_labels_of_the_plan(seed):
    """They count where labels that are in do, in bounds too; but no more of them fit than a task or group may have.

    Of all drawings from 30,000 to 52,000 these are the ones in which that was once not so.
    """
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(DEFAULT, LONG, 10 * EACH))
def test_nothing_is_said_that_is_not_so_of_many_campaigns(first):
    """Twenty thousand of them."""
    for seed in range(first, min(first + 10 * EACH, LONG)):
        check(seed)

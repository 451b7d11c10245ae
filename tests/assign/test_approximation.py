"""The Primal Approximation Algorithm as a method: what it takes, what that lacks, and its repair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.recheck.verification import verify
from crowdopt.verbs.plans_said import why_not
from tests.recheck.forged import Forged
from tests.small import with_evidence

METHOD = "primal-approximation"


def test_a_plan_by_hand_and_its_repair():
    """Three types, one task each, workers of evidence 1 everywhere, C = 1, M = 1: three workers, each a task.

    All prices are 1, so every worker is indifferent: by chance two take the same task, and a label is moved.
    """
    instance = with_evidence(np.ones((3, 3)), 1.0, 1)
    plans = [crowdopt.solve(instance, METHOD, seed=seed) for seed in range(30)]
    assert {plan.repaired.short for plan in plans} == {0, 1, 2}
    for plan in plans:
        assert plan.proven and plan.objective == plan.bound == 3
        assert len(plan.repaired.added) == len(plan.repaired.removed) == plan.repaired.short
        assert plan.repaired.labels == 3 and plan.repaired.lacking == pytest.approx(plan.repaired.short)
    assert crowdopt.solve(instance, f"{METHOD}:ties=least-covered").repaired.short == 0


def test_the_erratum_s_instance_is_mended_from_what_others_can_spare():
    """Where x* = (2, 2) all four workers are spent, and one task is short however ties break (models/README.md, 9).

    There may be no plan then, and it says so.
    """
    instance = with_evidence(np.array([[0.9, 0.7, 0.4, 0.5], [0.9, 0.6, 0.9, 0.4]]), 1.39, 1)
    assert crowdopt.solve(instance).objective == 4
    for seed in range(6):
        plan = crowdopt.solve(instance, METHOD, seed=seed)
        assert plan.repaired.short == 1 and plan.bound == 4
        if not plan.found:
            assert "leave 1 of 2 tasks short" in why_not(plan)[0]


def test_it_takes_what_the_policy_takes():
    """Where no tie decides, the method is the online policy under the LP's prices, pair for pair."""
    seen = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        instance = with_evidence(rng.uniform(0.05, 1, (6, 12)), 1.2, rng.integers(1, 5, 12))
        plan = crowdopt.solve(instance, METHOD, seed=seed)
        if plan.duals is None or plan.repaired is None:
            continue
        value = -np.sort(1 - instance.evidence * plan.duals.task[:, None], axis=0)
        last, next_ = (value[instance.capacity - offset, np.arange(12)] for offset in (1, 0))
        if not ((next_ < -1e-8) | (last - next_ > 1e-6)).all():
            continue
        stream = simulated_stream(instance, (seed,), shuffle=False, prices=plan.duals.task)
        played = replay(named(METHOD), stream, seed, crowdopt.solve_program)
        assert plan.repaired.labels == played.total_labels
        lack = np.maximum(0.0, instance.need - played.covered)
        assert plan.repaired.lacking == pytest.approx(lack[lack > 1e-9].sum())
        seen += 1
    assert seen >= 3


def test_whatever_it_lacks_is_mended_and_recomputed(tmp_path):
    """The plan keeps every limit, its bound is the LP's, and the repair is undone by whoever checks it."""
    instance = replace(crowdopt.recipe("R10:100x40", seed=3), fixed=[[0, 1], [5, 2]], forbidden=[[1, 1]])
    crowdopt.write_campaign(instance, tmp_path / "campaign")
    plan = crowdopt.solve(tmp_path / "campaign", METHOD, output=tmp_path / "plan", seed=1)
    assert plan.repaired.short and len(plan.repaired.added)
    lp = crowdopt.solve(instance, program="lp")
    assert lp.objective - 1e-6 <= plan.bound <= crowdopt.solve(instance).objective <= plan.objective
    report = verify(tmp_path / "campaign", tmp_path / "plan")
    assert report.holds and report.proof == "certificate", report.problems


@pytest.mark.parametrize("change", ["lacking", "short", "taken"])
def test_an_edited_repair_is_caught(change, tmp_path):
    instance = crowdopt.recipe("R1:80x30", seed=3)
    crowdopt.write_campaign(instance, tmp_path / "campaign")
    plan = crowdopt.solve(tmp_path / "campaign", METHOD, output=tmp_path / "plan")
    forged = Forged(tmp_path, tmp_path / "forged")
    claims = forged.claims["repaired"]
    if change == "taken":  # a label called bought that the algorithm took: the rest is no more what it takes
        repairs, labels = forged.rows("repair"), forged.rows("assignment")[1:]
        other = next(k for k, pair in enumerate(labels) if [*pair, "added"] not in repairs)
        forged.table("repair", [*repairs, [*labels[other], "added"]])
        bought = {*map(tuple, plan.repaired.added.tolist()), tuple(plan.pairs[other].tolist())}
        kept = [pair for pair in plan.pairs.tolist() if tuple(pair) not in bought]
        left = np.array([*kept, *plan.repaired.removed.tolist()])
        lack = instance.need - instance.supply(left)
        short = lack > 1e-9
        claims |= {"labels": len(left), "short": int(short.sum()), "lacking": float(lack[short].sum())}
    else:
        claims[change] -= 1
    assert forged.problems()


def test_what_the_algorithm_does_not_know_is_refused():
    instance = crowdopt.recipe("R1:20x10", seed=0)
    for wrong in ({"budget": 50.0}, {"min_labels": 2}, {"rule": "probit"}):
        with pytest.raises(InputError, match=METHOD):
            crowdopt.solve(replace(instance, **wrong), METHOD)
    with pytest.raises(InputError, match="takes ties"):
        crowdopt.solve(instance, f"{METHOD}:ties=first")
    with pytest.raises(InputError, match="whole labels"):
        crowdopt.solve(instance, METHOD, program="lp")

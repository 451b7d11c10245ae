"""What prices prove by exact errors, by the method's searches and by the second opinion's: sets of any size."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, assign, verify, write_campaign, write_plan
from crowdopt.assign.patterns.proven_prices import prices_prove
from crowdopt.assign.plan import Duals, Plan
from crowdopt.core.certificate import Certificate
from crowdopt.recheck.bounds.proofs import prove_patterns
from tests.assign.by_hand import sets_of
from tests.weighted import weighted_error

NEAR = 1e-9


def one_task(skill, cost=1.0, epsilon=0.05, **more) -> AssignmentInstance:
    """One task, each worker with room for it."""
    skills = np.asarray(skill, dtype=float)[None]
    room = np.ones(skills.size, np.int64)
    return AssignmentInstance(skills, np.zeros(1, np.int64), room, epsilon, rule="exact-error", cost=cost, **more)


EXPERT = one_task(np.append(0.96, np.linspace(0.700, 0.708, 17)), np.append(30.0, np.ones(17)))


def test_many_cheap_labels_beat_an_expert():
    """Fifteen labels for 1 each do what an expert does for 30; the best fourteen err too much, so fifteen is least."""
    assert weighted_error(np.linspace(0.700, 0.708, 17)[3:]) > 0.05 >= weighted_error(np.linspace(0.700, 0.708, 17)[2:])
    plan = assign(EXPERT, time_limit=20)
    assert plan.objective == 15 and plan.bound <= 15 and plan.proof == "certificate"
    assert assign(one_task(np.full(13, 0.9), min_labels=13), time_limit=20).objective == 13  # no fewer are tried


@pytest.mark.parametrize("levels", [0, 24])
def test_a_dear_expert_is_not_called_optimal(levels, tmp_path):
    """The folder of a plan that pays the expert 30 and says that no plan costs less is refused."""
    known = Certificate(None, 30.0, "certificate", None, None)
    duals = Duals(np.zeros(1), np.zeros(18), np.zeros(1), form="patterns", levels=levels)
    plan = Plan.of(EXPERT, "ip", known, 30.0, duals, np.array([[0, 0]]), method="exact", backend="highs")
    write_campaign(EXPERT, tmp_path / "campaign")
    write_plan(plan, tmp_path / "plan")
    said = json.loads((tmp_path / "plan" / "plan.json").read_text(encoding="utf-8"))
    assert said["objective"] == 30 and said["proven"]
    report = verify(tmp_path / "campaign", tmp_path / "plan")
    assert not report.holds and not report.proven and report.certified_bound <= 15


def drawn(seed: int) -> tuple[AssignmentInstance, Duals]:
    """One task of up to eight workers, alike or not, dear or cheap, limits on labels or none; any prices."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 9))
    skills = (
        rng.uniform(0.5, 0.99, m),
        rng.uniform(0.68, 0.72, m),
        rng.choice([0.6, 0.65, 0.7, 0.9, 0.96, 0.3], m),
        np.where(rng.random(m) < 0.2, rng.uniform(0.85, 0.97, m), rng.uniform(0.6, 0.7, m)),
    )
    prices = np.ones(m), rng.integers(1, 9, m).astype(float), rng.uniform(0.1, 3, m)
    fewest = int(rng.integers(0, m + 1)) if rng.random() < 0.3 else 0
    most = {"max_labels": int(rng.integers(max(1, fewest), m + 1))} if rng.random() < 0.3 else {}
    share, target = float(rng.choice([0.5, 0.5, 0.3])), float(rng.choice([0.02, 0.05, 0.1, 0.2]))
    instance = one_task(
        skills[rng.integers(4)], prices[rng.integers(3)], target, prior=[1 - share, share], min_labels=fewest, **most
    )
    average = rng.random() < 0.25
    if average:
        instance = replace(instance, rule="mean-error")
    worker = -rng.random(m) * float(rng.random() < 0.3)
    wrong, levels = -float(rng.choice([5, 20, 100])) * average, int(rng.choice([2, 24])) if average else 0
    return instance, Duals(np.zeros(1), worker, np.zeros(1), form="patterns", wrong=wrong, levels=levels)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_both_proofs_are_below_every_set(seed):
    """By every set of up to eight workers; with the workers' own skills both are the least cost itself."""
    instance, duals = drawn(seed)
    labels, errors, serves = sets_of(instance, 0)
    priced = labels @ (instance.cost[0] - duals.worker) - duals.wrong * errors
    fixed = float(duals.worker.sum()) + duals.wrong * float(instance.epsilon[0])
    best = float(priced[serves].min(initial=np.inf)) + fixed
    again = prove_patterns(instance, duals.worker, 0.0, duals.wrong, duals.levels)
    for proven in (prices_prove(instance, duals), again):
        assert proven <= best + NEAR
        assert duals.levels == 2 or proven == pytest.approx(best)

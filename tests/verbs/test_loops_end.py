"""The loop solve, rehearse, aggregate goes on until all is sure or no label is left that would help."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.crowd.vote_errors import CERTAIN, errors_of
from tests.sampled import first_of

MOST = 12  # rounds
RECORDED = ["bluebird", "quiz_medicine", "zencrowd_all", "zencrowd_core5"]
CASES = [
    ("birds", "exact-error"),
    ("R10:60x40", "bhattacharyya"),
    ("B5:50x20", "exact-error"),
    ("R10:120x60", "hoeffding"),
    ("R10:120x60", "mean-error"),
    ("R10:3000x800", "exact-error"),
]


def helping(instance, unsure):
    """The tasks whose exact error all labels that are left would lower: of workers with room, not had, not barred."""
    free = np.ones((instance.n_tasks, instance.n_workers), bool)
    free[tuple(instance.collected.T)] = free[tuple(instance.barred.T)] = False
    free &= instance.capacity > 0
    had = np.zeros_like(free)
    if not instance.observed:
        had[tuple(instance.collected.T)] = True
    now = errors_of(instance, unsure, [np.flatnonzero(had[i]) for i in unsure])
    then = errors_of(instance, unsure, [np.flatnonzero(had[i] | free[i]) for i in unsure])
    return unsure[then < now - CERTAIN].tolist()


def loop(campaign, folder, rule="exact-error"):
    """Rounds until the end; a plan after the first that is the cheapest serves the unsure tasks and no others."""
    unsure = None
    for k in range(MOST):
        place, labels = folder / f"plan-{k}", folder / f"labels-{k}.csv"
        given = {"rule": rule, "gap": 0.01} if k == 0 else {"gap": 0.0}
        plan = crowdopt.solve(campaign, **given, time_limit=5, output=place)
        assert plan.pairs is not None and crowdopt.verify(campaign, place).holds
        assert unsure is None or not (plan.found and plan.proven) or ((plan.task_labels > 0) == unsure).all()
        if not len(plan.pairs):
            assert not helping(plan.instance, plan.short)
            return
        crowdopt.rehearse(campaign, place, output=labels, truth=folder / "truth.csv", seed=k)
        found = crowdopt.aggregate(labels, plan=place, campaign=campaign, output=folder / f"answers-{k}").answers
        if found.sure.all():
            return
        unsure = found.posterior.max(axis=1) < 1 - found.epsilon - 1e-12  # whatever the vote was
        campaign = folder / f"answers-{k}" / "campaign"
    pytest.fail(f"{MOST} rounds and no end")


@pytest.mark.parametrize(("case", "rule"), first_of(CASES, 2))
def test_the_loop_has_no_dead_end(tmp_path, case, rule):
    """Each round hands out queues; what ends it is that all is sure, or that no label is left that lowers an error."""
    if case == "birds":
        crowdopt.init(tmp_path / "campaign")
    else:
        crowdopt.write_campaign(crowdopt.recipe(case, seed=0), tmp_path / "campaign")
    loop(tmp_path / "campaign", tmp_path, rule)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_the_loop_of_recorded_crowds_has_no_dead_end(tmp_path, real_data, name):
    """The crowd of a recorded set, as far as its capacities go, with labels that are rehearsed."""
    tables = {"truth": real_data / name / "truth.csv", "epsilon": 0.1, "trust_gold": True}
    if (real_data / name / "types.csv").exists():
        tables["types"] = real_data / name / "types.csv"
    crowdopt.import_labels(real_data / name / "labels.csv", output=tmp_path / "campaign", **tables)
    loop(tmp_path / "campaign", tmp_path)

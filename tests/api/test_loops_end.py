"""The loop solve, rehearse, aggregate goes on until all is sure or no label is left that would help."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.crowd.exactness import CERTAIN, errors_of
from tests.sampled import first_of

MOST = 12  # rounds
RECORDED = ["bluebird", "quiz_medicine", "rte", "zencrowd_all", "zencrowd_core5"]
CASES = ["birds", "B5:50x20", "R10:120x60", "R10:3000x800"]


def begin(case, folder):
    """The campaign's folder."""
    if case == "birds":
        crowdopt.init(folder)
    else:
        crowdopt.write_campaign(crowdopt.recipe(case, seed=0), folder)
    return folder


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


def loop(campaign, folder):
    """Rounds until the end."""
    for k in range(MOST):
        place, labels = folder / f"plan-{k}", folder / f"labels-{k}.csv"
        plan = crowdopt.assign(campaign, rule="exact-error" if k == 0 else None, time_limit=15, output=place)
        assert plan.pairs is not None
        if not len(plan.pairs):
            assert not helping(plan.instance, plan.short)
            return
        crowdopt.rehearse(campaign, place, output=labels, truth=folder / "truth.csv", seed=k)
        found = crowdopt.answers(labels, place, campaign=campaign, output=folder / f"answers-{k}").answers
        if found.sure.all():
            return
        campaign = folder / f"answers-{k}" / "campaign"
    pytest.fail(f"{MOST} rounds and no end")


@pytest.mark.parametrize("case", first_of(CASES, 2))
def test_the_loop_has_no_dead_end(tmp_path, case):
    """Each round hands out queues; what ends it is that all is sure, or that no label is left that lowers an error."""
    loop(begin(case, tmp_path / "campaign"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_the_loop_of_recorded_crowds_has_no_dead_end(tmp_path, real_data, name):
    """The crowd of a recorded set, as far as its capacities go, with labels that are rehearsed."""
    tables = {"truth": real_data / name / "truth.csv", "epsilon": 0.1, "trust_gold": True}
    if (real_data / name / "types.csv").exists():
        tables["types"] = real_data / name / "types.csv"
    crowdopt.import_labels(real_data / name / "labels.csv", output=tmp_path / "campaign", **tables)
    loop(tmp_path / "campaign", tmp_path)

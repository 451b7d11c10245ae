"""A search that found no plan leaves what it has: who goes on from there serves no task less, and breaks nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import assign
from crowdopt.api.assign import probe
from crowdopt.assign.methods.best_effort import best_effort
from crowdopt.core.solution import Status
from crowdopt.crowd.kept import breaches, short_tasks
from tests.draw import campaign


@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
@pytest.mark.parametrize("seed", range(2))
def test_who_goes_on_serves_all_that_were_served(seed, rule):
    """A plan without the labels of a tenth of its tasks: these are free again, and all other tasks are served too."""
    instance = campaign(seed, 40, 12, f"{rule} most-per-task least-per-task")
    plan = assign(instance, time_limit=3, strict=True)
    gone = np.random.default_rng(seed).permutation(instance.n_tasks)[: instance.n_tasks // 10]
    left = plan.pairs[~np.isin(plan.pairs[:, 0], gone)]
    none = replace(plan, status=Status.UNDECIDED, pairs=None, partial=left)
    found = best_effort(none, np.zeros(0, np.int64), lambda *_: none, probe(5.0))
    assert found.pairs is not None and not breaches(instance, found.pairs, short=found.short)
    assert not np.setdiff1d(found.short, short_tasks(instance, left)).size

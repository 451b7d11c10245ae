"""A search that found no plan leaves what it has: who goes on from there serves no task less, and breaks nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, assign
from crowdopt.api.assign import probe
from crowdopt.assign.methods.best_effort import best_effort
from crowdopt.assign.plan import breaches, short_tasks
from crowdopt.core.solution import Status
from crowdopt.crowd.stated.groups import Group


@st.composite
def grouped(draw):
    """Forty tasks, twelve workers who differ, two groups with limits per task; there is a plan for most."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    first, second = np.sort(rng.permutation(12)[:6]), np.sort(rng.permutation(12)[:5])
    most, fewest = int(rng.integers(1, 3)), int(rng.integers(0, 2))
    return AssignmentInstance(
        accuracy=rng.uniform(0.6, 0.95, (2, 12)),
        task_type=rng.integers(0, 2, 40),
        capacity=rng.integers(10, 30, 12),
        epsilon=rng.choice([0.1, 0.2], 40),
        rule=draw(st.sampled_from(["bhattacharyya", "exact-error"])),
        groups=[
            Group("first", first.tolist(), max_per_task=most),
            Group("second", second.tolist(), min_per_task=fewest),
        ],
    )


@given(grouped(), st.integers(0, 99))
@settings(max_examples=8)
def test_who_goes_on_serves_all_that_were_served(instance, seed):
    """A plan without the labels of a tenth of its tasks: these are free again, and all other tasks are served too."""
    plan = assign(instance, time_limit=3, strict=True)
    if not plan.found:
        return
    gone = np.random.default_rng(seed).permutation(instance.n_tasks)[: instance.n_tasks // 10]
    left = plan.pairs[~np.isin(plan.pairs[:, 0], gone)]
    none = replace(plan, status=Status.UNDECIDED, pairs=None, partial=left)
    found = best_effort(none, np.zeros(0, np.int64), lambda *_: none, probe(5.0))
    assert found.pairs is not None and not breaches(instance, found.pairs, short=found.short)
    assert not np.setdiff1d(found.short, short_tasks(instance, left)).size

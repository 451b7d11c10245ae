"""What a task may still have of each group, whether that says anything, and whether it is enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from crowdopt.crowd.vote_errors import is_exhausted, out_of_reach
from tests.checkers import plans
from tests.draw import campaigns

WISHES = ("collected", "forbidden", "most-per-task", "least-per-task", "overlapping", "most-labels")


@settings(max_examples=40)
@given(campaigns(15, wishes=WISHES))
def test_a_task_has_what_some_set_of_labels_gives_it(instance):
    """Every set of workers for each task, by arithmetic of the tests: which the groups allow, and which serve it."""
    free = replace(instance, capacity=np.full(instance.n_workers, instance.n_tasks), fixed=None)
    loose = replace(free, min_labels=None, groups=[replace(one, min_per_task=0) for one in free.groups])
    for task, kind in enumerate(free.task_type.tolist()):
        assert not (out_of_reach(free)[task] and plans.sets_of(free, task))
        worth = [free.evidence[kind, workers].sum() for *_, workers in plans.sets_of(loose, task, targets=False)]
        assert is_exhausted(free)[task] == (max(worth) == 0)

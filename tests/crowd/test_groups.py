"""Groups and own rows: what contradicts itself is one sentence; what a task may still have, and whether any can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, Group, InputError, OwnRows
from crowdopt.crowd.group_limits import TaskGroups
from crowdopt.crowd.reach import is_exhausted, out_of_reach
from tests.checkers import plans
from tests.draw import campaigns


def rows(pairs=((0, 0),), coefficient=(1.0,), lower=(0.0,), upper=(1.0,)):
    return OwnRows(["r"], np.zeros(1, int), *map(np.array, (pairs, coefficient, lower, upper)))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([Group("g", [0]), Group("g", [1])], "the group 'g' is there twice"),
        ([Group("g", [3])], "group g: members must be some of the 3 workers"),
        ([Group("g", [0, 1], 2, 1)], "group g: min_per_task 2 is above max_per_task 1"),
        ([Group("g", [0], 2)], "group g: min_per_task 2, but it has 1 workers"),
        ([Group("g", [0], min_share=0.5, max_share=0.4)], "shares must satisfy"),
        ({"g": Group("", [0, 1], dependent=True), "h": Group("", [1], dependent=True)}, "worker 1 .*, g and h"),
        ([3], "crowdopt.Group objects"),
        (rows(pairs=[(0, 3)]), "an entry names a row, task or worker beyond the 1, 2 and 3"),
        (rows(lower=[2.0]), "the lower side of r is above"),
        (rows(upper=[1.0, 2.0]), "lower and upper one per name"),
    ],
)
def test_bad_limits_are_one_sentence(given, sentence):
    """What, and whose."""
    limits = {"own_rows" if isinstance(given, OwnRows) else "groups": given}
    with pytest.raises(InputError, match=sentence):
        AssignmentInstance(np.full((2, 3), 0.8), None, [2, 2, 2], 0.2, **limits)


WISHES = ("collected", "forbidden", "most-per-task", "least-per-task", "overlapping", "most-labels")


@settings(max_examples=40)
@given(campaigns(15, wishes=WISHES))
def test_a_task_has_what_some_set_of_labels_gives_it(instance):
    """Every set of workers for each task, by arithmetic of the tests: which the groups allow, and which serve it."""
    free = replace(instance, capacity=np.full(instance.n_workers, instance.n_tasks), fixed=None)
    loose = replace(free, min_labels=None, groups=[replace(one, min_per_task=0) for one in free.groups])
    for task, kind in enumerate(free.task_type.tolist()):
        assert not (out_of_reach(free)[task] and plans.sets_of(free, task))
        hands = [np.flatnonzero(workers) for *_, workers in plans.sets_of(free, task, targets=False)]
        place = np.repeat(np.arange(len(hands)), [hand.size for hand in hands])
        assert not hands or TaskGroups.of(free).keep(np.full(len(hands), task), place, np.concatenate(hands)).all()
        worth = [free.evidence[kind, workers].sum() for *_, workers in plans.sets_of(loose, task, targets=False)]
        assert is_exhausted(free)[task] == (max(worth) == 0)

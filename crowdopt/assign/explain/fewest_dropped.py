"""Which tasks to give up so that the others can be served: as few as shares of labels say, then more."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.explain.questions import Probe, growth
from crowdopt.crowd.alike import Classes, classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.programs import dropped_tasks

A_SECOND = 100_000  # pairs of classes for which a solver stops in so little time


def staying_tasks(instance: AssignmentInstance, probe: Probe) -> Iterator[Ints]:
    """Ever fewer tasks, each (k,), among which the first that has a plan is wanted.

    By a small integer program over classes of tasks, whose labels are shares; where shares would do for all, one task
    of the greatest need goes first. None at all where the program is too large for the time that is left.
    """
    classes = classes_of(relaxation(instance), joint=True)
    if classes.evidence.size > A_SECOND * probe.clock.left:
        return
    solution = probe.run(dropped_tasks.of_classes(classes))
    if solution is None:
        return
    drop = np.rint(solution.column("dropped")).astype(np.int64)
    if drop.sum() == 0:
        drop[int(classes.need.argmax())] = 1
    for number, factor in growth(instance):
        more = np.minimum(classes.tasks_in, np.where(drop > 0, np.ceil(drop * factor) + number, 0)).astype(np.int64)
        tasks = _staying(classes, more)
        if tasks.size == 0:
            return
        yield tasks


def _staying(classes: Classes, drop: Ints) -> Ints:
    order = np.argsort(classes.task_class, kind="stable")
    ends = np.cumsum(classes.tasks_in)
    parts = [order[end - size : end - gone] for end, size, gone in zip(ends, classes.tasks_in, drop, strict=True)]
    return np.sort(np.concatenate(parts))

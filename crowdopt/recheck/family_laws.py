"""What votes err with under one law of families that err together: at least so much the worst law errs with.

In each family one number, uniform on [0, 1), decides for all members: who errs with chance q errs where it is below q.
Each errs as often as before, and as many as can be err at once.
"""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance

MOST = 20_000  # sums of a vote that are followed
TIE = 1e-9  # of all weights together: sums so near 0 are ties, each class half the time


def errors_together(instance: AssignmentInstance, pairs: Ints) -> Floats:
    """The error of each task's vote between two classes under that law; 0 where it is not followed, (tasks,).

    pairs (k, 2): task and worker of each label.
    """
    home = np.arange(instance.n_workers) + len(instance.groups)
    for number, group in enumerate(instance.groups):
        if group.dependent:
            home[list(group.members)] = number
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    cuts = np.cumsum(np.bincount(pairs[:, 0], minlength=instance.n_tasks))[:-1]
    known: dict[tuple[int, bytes], float] = {}
    found = np.zeros(instance.n_tasks)
    for task, workers in enumerate(np.split(pairs[order, 1], cuts)):
        kind = int(instance.task_type[task])
        key = kind, workers.tobytes()
        if key not in known:
            weight = np.where(instance.evidence[kind, workers] > 0, instance.weight[kind, workers], 0.0)
            wrong = np.where(weight > 0, 1 - instance.accuracy[kind, workers], instance.accuracy[kind, workers])
            known[key] = _error(np.abs(weight), wrong, home[workers])
        found[task] = known[key]
    return found


def _error(weight: Floats, wrong: Floats, home: Ints) -> float:
    """Chance that the labels against the truth outweigh the others, half of it where they weigh the same."""
    sums, chance = np.zeros(1), np.ones(1)
    for family in np.unique(home):
        mine = np.flatnonzero(home == family)
        mine = mine[np.argsort(wrong[mine], kind="stable")]
        # with the number between the k-th chance and the next all but the first k err
        steps = np.diff(np.concatenate([[0.0], wrong[mine], [1.0]]))
        against = np.append(np.cumsum(weight[mine][::-1])[::-1], 0.0)
        sums = (sums[:, None] + weight[mine].sum() - 2 * against).reshape(-1)
        chance = (chance[:, None] * steps).reshape(-1)
        if sums.size > MOST:
            return 0.0
    near = np.abs(sums) <= TIE * max(1e-300, float(weight.sum()))
    return float(chance[(sums < 0) & ~near].sum() + chance[near].sum() / 2)

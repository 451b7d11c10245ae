"""Patterns turned into pairs: who of a pool labels which of its tasks."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.programs.pools import Pools


def patterns_of_tasks(pools: Pools, kind: Ints, pattern: Ints, count: Ints) -> Ints:
    """A pattern for each task: those of a kind in the order of the menu.

    kind (k,): kind of task that each pattern is for; pattern (k, G): its labels of each pool; count (k,): how many
    tasks have it; -> (tasks, G).
    """
    chosen = np.zeros((pools.kind.size, pattern.shape[1]), np.int64)
    for t in range(pools.tasks_in.size):
        mine = np.flatnonzero(kind == t)
        chosen[pools.kind == t] = np.repeat(pattern[mine], count[mine], axis=0)
    return chosen


def deal(pools: Pools, chosen: Ints) -> Ints:
    """Each task takes its labels of a pool from those who have most room left.

    By Gale and Ryser that never fails where the supply rows hold, in whatever order the tasks come: whoever has most
    room is needed least later. Loads come out even.

    chosen (tasks, G): labels of each pool that each task is to have; -> (k, 2): task and worker of each label, sorted.
    """
    pairs = [np.zeros((0, 2), np.int64)]
    for g, members in enumerate(pools.members):
        room = pools.room_of[members].copy()
        wanting = np.flatnonzero(chosen[:, g])
        for task in wanting[np.argsort(-chosen[wanting, g], kind="stable")].tolist():
            best = np.argsort(-room, kind="stable")[: chosen[task, g]]
            room[best] -= 1
            pairs.append(np.column_stack([np.full(best.size, task), members[best]]))
    together = np.concatenate(pairs)
    return together[np.lexsort((together[:, 1], together[:, 0]))]

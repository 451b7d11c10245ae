"""Labels for tasks that lack evidence, from workers who have room: what repairs a plan that is short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import COVERAGE


def top_up(
    lack: Floats,
    short: Ints,
    task_type: Ints,
    evidence: Floats,
    cost: Floats,
    taken: Mapping[int, Sequence[int]],
    room: Ints,
) -> tuple[Ints, Ints]:
    """Cheapest evidence first for each short task, the shortest tasks first: task and worker of each label, (k,).

    lack (tasks,): evidence that is missing; short (s,): the tasks to serve; task_type (tasks,); evidence, cost
    (types, workers); taken: for each short task the workers who cannot label it; room (workers,): labels that each
    could still give; lowered in place by those that they do; -> (k,) int, (k,) int: what a task still lacks when all
    who could help have, it lacks on.
    """
    tasks, workers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for task in short[np.argsort(-lack[short], kind="stable")].tolist():
        kind = task_type[task]
        free = (room > 0) & (evidence[kind] > 0)
        free[taken[task]] = False
        chosen = cheapest_labels(np.flatnonzero(free), evidence[kind], cost[kind], float(lack[task]))
        room[chosen] -= 1
        tasks.append(np.full(chosen.size, task))
        workers.append(chosen)
    return np.concatenate(tasks), np.concatenate(workers)


def cheapest_labels(free: Ints, evidence: Floats, cost: Floats, lack: float) -> Ints:
    """Workers in order of price per evidence until the lack is closed, the last one exchanged for a cheaper one.

    free (k,): who could label the task; evidence, cost (workers,); lack: evidence that is missing; -> (k,): all who are
    free where even they do not close it.
    """
    order = free[np.argsort(cost[free] / evidence[free], kind="stable")]
    total = np.cumsum(evidence[order])
    count = int(np.searchsorted(total, lack - COVERAGE))
    if count >= order.size:
        return order  # all there are; the task stays short, and that is reported
    before = total[count - 1] if count else 0.0
    rest = order[count:]
    enough = rest[evidence[rest] >= lack - before - COVERAGE]
    last = enough[np.lexsort((evidence[enough], cost[enough]))[0]]
    return np.append(order[:count], last)

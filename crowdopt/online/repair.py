"""Covering what is short after the last arrival, with workers who can be called back."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.label_kinds import REPAIR
from crowdopt.online.arrivals import Decision, Known

Ids: TypeAlias = NDArray[np.integer]


def repair(
    known: Known,
    evidence: Floats,
    cost: Floats,
    covered: Floats,
    done: list[tuple[int, Ids]],
    room: Ints,
) -> Decision | None:
    """Cheapest evidence first for each short task, the shortest tasks first; the last label is the cheapest that does.

    Parameters
    ----------
    known : Known
        What is known of the tasks.
    evidence, cost : (types, workers) float
        As believed.
    covered : (tasks,) float
        Evidence so far.
    done : list of (worker, tasks)
        Pairs that are taken.
    room : (workers,) int
        What each could still do.

    Returns
    -------
    Decision or None
        None where nothing is short, or nobody can help.
    """
    lack = known.need - covered
    short = np.flatnonzero(lack > COVERAGE)
    taken = _taken(known.n_tasks, short, done)
    left, tasks, workers = room.copy(), [], []
    for task in short[np.argsort(-lack[short], kind="stable")].tolist():
        kind = known.task_type[task]
        free = (left > 0) & (evidence[kind] > 0)
        free[taken[task]] = False
        chosen = _cheapest(np.flatnonzero(free), evidence[kind], cost[kind], float(lack[task]))
        left[chosen] -= 1
        tasks.append(np.full(chosen.size, task))
        workers.append(chosen)
    if not tasks:
        return None
    return Decision(REPAIR, np.concatenate(tasks), np.concatenate(workers))


def _taken(tasks: int, short: Ints, done: list[tuple[int, Ids]]) -> dict[int, list[int]]:
    """Workers whom each short task has had."""
    is_short = np.zeros(tasks, bool)
    is_short[short] = True
    taken: dict[int, list[int]] = {task: [] for task in short.tolist()}
    for worker, given in done:
        for task in given[is_short[given]].tolist():
            taken[task].append(worker)
    return taken


def _cheapest(free: Ints, evidence: Floats, cost: Floats, lack: float) -> Ints:
    """Workers in order of price per evidence until the lack is closed, the last one exchanged for a cheaper one."""
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

"""Covering what is short after the last arrival, with workers who can be called back."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.top_up import top_up
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

    evidence, cost (types, workers): as believed; covered (tasks,): evidence so far; done list of (worker, tasks): pairs
    that are taken; room (workers,): what each could still do; -> None where nothing is short, or no worker can
    help.
    """
    lack = known.need - covered
    short = np.flatnonzero(lack > COVERAGE)
    taken = _taken(known.n_tasks, short, done)
    tasks, workers = top_up(lack, short, known.task_type, evidence, cost, taken, room.copy())
    return Decision(REPAIR, tasks, workers) if tasks.size else None


def _taken(tasks: int, short: Ints, done: list[tuple[int, Ids]]) -> dict[int, list[int]]:
    is_short = np.zeros(tasks, bool)
    is_short[short] = True
    taken: dict[int, list[int]] = {task: [] for task in short.tolist()}
    for worker, given in done:
        for task in given[is_short[given]].tolist():
            taken[task].append(worker)
    return taken

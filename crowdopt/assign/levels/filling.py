"""Plans from levels: sets fixed a part at a time, workers dealt to them strongest first, what is short mended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.levels.level_blocks import LevelBlocks, Seconds, Set
from crowdopt.crowd.alike import Classes

PART = 0.5  # of the tasks left, fixed at a time
WHOLE = 1e-6  # a share this close to a whole task is one


@dataclass(frozen=True, eq=False)
class Filled:
    """How many tasks have each set of levels, and how many labels come from whom, (T, G)."""

    counts: Ints
    labels: Ints


def fill(blocks: LevelBlocks, left: Seconds) -> Filled | None:
    """Whole numbers of sets: fix whole shares and the largest fractions, solve for the rest, and again.

    Where no known set fits into what is left, sets are priced there.

    With all sets fixed the labels are a flow from workers to levels, and its vertices are whole.
    """
    point, counts = blocks.point, np.zeros(len(blocks.sets), np.int64)
    tasks = blocks.levels.classes.tasks_in.copy()
    lower, upper = blocks.rows
    while point is not None and tasks.any():
        kinds = np.array([kind for kind, _ in blocks.sets], np.int64)
        shares = blocks.shares(point)[1]
        shares = np.append(shares, np.zeros(kinds.size - shares.size))  # sets that came after the master was solved
        fixed = _fixed(shares, kinds, tasks)
        if not fixed.any():
            break
        counts = np.append(counts, np.zeros(kinds.size - counts.size, np.int64)) + fixed
        tasks -= np.bincount(kinds, weights=fixed, minlength=tasks.size).astype(np.int64)
        used = blocks.columns(blocks.sets) @ counts
        blocks.master.set_rows(lower - used, upper - used)
        point = blocks.with_sets_for_all(left)
    blocks.master.set_rows(lower, upper)
    if point is None:
        return None
    return Filled(counts, np.rint(blocks.shares(point)[0]).astype(np.int64))


def _fixed(shares: Floats, kinds: Ints, tasks: Ints) -> Ints:
    """Whole shares, and the largest fractions until a part of the tasks is fixed."""
    fixed = np.floor(shares + WHOLE).astype(np.int64)
    fraction = shares - fixed
    free = tasks - np.bincount(kinds, weights=fixed, minlength=tasks.size).astype(np.int64)
    missing = max(1, int(PART * tasks.sum())) - int(fixed.sum())
    for k in np.argsort(-fraction, kind="stable")[: max(0, missing)].tolist():
        if fraction[k] <= WHOLE:
            break
        if free[kinds[k]] > 0:
            fixed[k] += 1
            free[kinds[k]] -= 1
    return fixed


def hands(blocks: LevelBlocks, filled: Filled) -> list[tuple[int, Ints, int]]:
    """Labels of one task each: in every level the strongest workers go where least is to spare.

    filled: tasks of each set, and labels from each class of workers; -> list of (int, (k,) int, int): for each task its
    class, the worker classes of its labels, and 1.
    """
    labels: list[tuple[int, Ints, int]] = []
    for kind in range(blocks.levels.of.shape[0]):
        task, level = _slots(kind, blocks.sets, filled.counts)
        dealt = _dealt(blocks, kind, task, level, filled.labels[kind])
        order = np.lexsort((dealt, task))
        order = order[dealt[order] >= 0]
        cuts = np.searchsorted(task[order], np.arange(1, task.max(initial=-1) + 1))
        labels += [(kind, _allowed(blocks.levels.classes, kind, hand), 1) for hand in np.split(dealt[order], cuts)]
    return labels


def _slots(kind: int, sets: list[Set], counts: Ints) -> tuple[Ints, Ints]:
    """The tasks of a class, numbered, and the level of each of their labels."""
    mine = [k for k in np.flatnonzero(counts).tolist() if sets[k][0] == kind]
    each = [np.tile(sets[k][1], counts[k]) for k in mine]
    sizes = np.concatenate([np.zeros(0, np.int64), *(np.full(counts[k], sets[k][1].size) for k in mine)])
    return np.repeat(np.arange(sizes.size), sizes), np.concatenate([np.zeros(0, np.int64), *each])


def _dealt(blocks: LevelBlocks, kind: int, task: Ints, level: Ints, labels: Ints) -> Ints:
    """Who fills each slot, -1 for nobody."""
    worth, top = blocks.levels.classes.evidence[kind], blocks.levels.tops[kind]
    slack = np.bincount(task, weights=top[level]) - blocks.levels.classes.need[kind]
    dealt = np.full(task.size, -1, np.int64)
    for number in np.unique(level)[::-1].tolist():
        slots = np.flatnonzero(level == number)
        copy = np.arange(slots.size) - np.searchsorted(task[slots], task[slots])  # a task's next label of the level
        slots = slots[np.lexsort((slack[task[slots]], copy))]
        inside = np.flatnonzero((blocks.levels.of[kind] == number) & (labels > 0))
        strongest = inside[np.argsort(-worth[inside], kind="stable")]
        workers = _untangled(np.repeat(strongest, labels[strongest])[: slots.size], task[slots])
        dealt[slots[: workers.size]] = workers
        np.subtract.at(slack, task[slots[: workers.size]], top[number] - worth[workers])
        np.subtract.at(slack, task[slots[workers.size :]], top[number])
    return dealt


def _untangled(workers: Ints, task: Ints) -> Ints:
    """Workers in nearly the same order, such that hardly any is to label a task twice."""
    base = int(workers.max(initial=0)) + 1
    for place in _repeated(task[: workers.size] * base + workers).tolist():
        mine = workers[task[: workers.size] == task[place]]
        near = np.argsort(np.abs(np.arange(workers.size) - place), kind="stable")
        for other in near[~np.isin(workers[near], mine)].tolist():
            theirs = workers[task[: workers.size] == task[other]]
            if workers[place] not in theirs:
                workers[place], workers[other] = workers[other], workers[place]
                break
    return workers


def _repeated(keys: Ints) -> Ints:
    """Places of keys that were there before."""
    later = np.ones(keys.size, bool)
    later[np.unique(keys, return_index=True)[1]] = False
    return np.flatnonzero(later)


def _allowed(classes: Classes, kind: int, hand: Ints) -> Ints:
    """The hand without labels that its task cannot have from one class of workers."""
    group, each = np.unique(hand, return_counts=True)
    return np.repeat(group, np.minimum(each, classes.room[kind, group]))

"""The cheapest labels for one task under limits of groups: a grouped knapsack, by dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints

UNITS = 400  # of evidence that make up a need
SPARE = 4  # units more that are looked at: evidence is rounded to the nearest unit, so sums may be off by some
FREE = 10**6  # labels of a group without a most


@dataclass(frozen=True, eq=False)
class GroupedTask:
    """One task: whom it may have, and what its groups ask.

    Parameters
    ----------
    evidence : (G,) float
        Of one label of each class of workers.
    copies : (G,) int
        Most labels of each class.
    group : (G,) int
        Group of each class; groups are apart.
    fewest, most : (groups,) int
        Labels of each group; FREE where there is no most.
    need : float
        Evidence, at least 0.
    """

    evidence: Floats
    copies: Ints
    group: Ints
    fewest: Ints
    most: Ints
    need: float


def cheapest_set(task: GroupedTask, value: Floats) -> tuple[float, Ints] | None:
    """``min sum_g v_g a_g  s.t.  sum_g q_g a_g >= C,  l_h <= sum_{g in h} a_g <= u_h,  0 <= a_g <= copies_g``.

    Group after group: the state is the evidence so far, in units of C / UNITS, and inside a group also its labels so
    far. One group of at most one label is the step of a multiple-choice knapsack. Evidence is rounded to the nearest
    unit; of the ends around C the cheapest whose true evidence suffices is taken, so that the set is right and hardly
    dearer than the cheapest.

    Parameters
    ----------
    task : GroupedTask
    value : (G,) float
        v, prices less what multipliers pay; may be negative.

    Returns
    -------
    (float, (G,) array) or None
        Value and labels of each class; None where no set keeps the limits.
    """
    unit = task.need / UNITS if task.need > 0 else 1.0
    ends = np.arange(UNITS - SPARE, UNITS + SPARE + 1) if task.need > 0 else np.array([0])
    size = int(ends[-1]) + 1
    worth = np.minimum(np.rint(task.evidence / unit), size).astype(np.int64)
    cost, history = np.full(size, np.inf), []
    cost[0] = 0.0
    for group in range(task.fewest.size):
        items = _items(task, value, worth, group)
        most = int(min(task.most[group], items.size))
        if most < task.fewest[group]:
            return None
        counted = task.most[group] < FREE or task.fewest[group] > 0
        table = np.full((most + 1 if counted else 1, size), np.inf)
        table[0] = cost
        taken = []
        for item in items.tolist():
            taken.append(_offered(table, int(worth[item]), float(value[item]), counted))
        first = int(task.fewest[group]) if counted else 0
        place = first + table[first:].argmin(axis=0)
        cost = table[place, np.arange(size)]
        history.append((items, taken, place, counted))
    best: tuple[float, Ints] | None = None
    for end in ends.tolist():
        if np.isfinite(cost[end]) and (best is None or cost[end] < best[0]):
            count = _traced(history, worth, end, value.size)
            if task.evidence @ count >= task.need:
                best = float(value @ count), count
    return best


def _items(task: GroupedTask, value: Floats, worth: Ints, group: int) -> Ints:
    """Labels of a group worth offering, each as often as it may be had.

    Of a group of at most u labels one is left out that u others match, at no higher value: one of those is not taken.
    """
    mine = np.flatnonzero((task.group == group) & (task.copies > 0))
    most = int(task.most[group])
    enough = np.where(worth[mine] > 0, np.ceil((UNITS + SPARE) / np.maximum(worth[mine], 1)), 0).astype(np.int64)
    useful = np.maximum(enough, np.where(value[mine] < 0, FREE, 0))
    copies = np.minimum(np.minimum(task.copies[mine], np.maximum(useful, int(task.fewest[group]))), most)
    if most < FREE:
        v, q = value[mine], task.evidence[mine]
        order = np.arange(mine.size)
        better = (v[:, None] <= v) & (q[:, None] >= q)
        ties = (v[:, None] == v) & (q[:, None] == q) & (order[:, None] >= order)
        matched = ((better & ~ties) * copies[:, None]).sum(axis=0)
        mine, copies = mine[matched < most], copies[matched < most]
    return np.repeat(mine, copies)


def _offered(table: Floats, worth: int, value: float, counted: bool) -> Bools:
    """Offer one label; where it is taken, (labels, units)."""
    width = table.shape[1]
    before = table[:-1] if counted else table
    moved = np.empty_like(before)
    worth = min(worth, width)
    moved[:, : min(worth, width)] = before[:, :1]
    moved[:, worth:] = before[:, : width - worth]
    moved += value
    after = table[1:] if counted else table
    better: Bools = moved < after
    np.copyto(after, moved, where=better)
    return better


def _traced(history: list[tuple[Ints, list[Bools], Ints, bool]], worth: Ints, end: int, classes: int) -> Ints:
    """Labels of each class on the way to an end."""
    count, unit = np.zeros(classes, np.int64), end
    for items, taken, place, counted in reversed(history):
        labels = int(place[unit])
        for k in range(items.size - 1, -1, -1):
            row = labels - 1 if counted else 0
            if row >= 0 and taken[k][row, unit]:
                count[items[k]] += 1
                unit = max(0, unit - int(worth[items[k]]))
                labels -= 1
    return count

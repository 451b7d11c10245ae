"""The Dantzig-Wolfe master: how many tasks of each class get which whole set of labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Block, Program, stack
from crowdopt.crowd.alike import Classes
from crowdopt.crowd.instance import UNLIMITED

DEAR = 10.0  # what an uncovered task costs in a master, times the dearest set


def of_sets(classes: Classes, tasks: Ints, room: Ints, kinds: Sequence[int], sets: Sequence[Ints]) -> Program:
    """``min sum_k c_k z_k + D sum_t without_t  s.t.  without_t + sum_{k of t} z_k = n_t,  sum_k a_kg z_k <= R_g``.

    z_k tasks have the k-th set, which has a_kg labels of worker class g and costs ``c_k = sum_g c_tg a_kg``; a set
    covers its task. With label limits ``n_t a_t <= sum_{k of t} |a_k| z_k <= n_t b_t``; with a budget
    ``sum_k c_k z_k <= B``; with least loads they bound the capacity rows from below. Without the sets it is the master
    that column generation starts from: its multipliers price the sets (Dantzig & Wolfe 1960).

    Columns: ``without`` (T,), ``given`` (k,). Rows: ``task`` (T,), ``capacity`` (G,) [, ``labels`` (T,)]
    [, ``budget`` (1,)].

    tasks (T,): n_t, tasks that are to have a set; kinds: class of tasks of each set; sets sequence of (size,) int:
    worker classes of one task's labels, sorted.
    """
    rows = _rows(classes)
    count, height = classes.need.size, rows[-1].stop
    dearest = DEAR * float(classes.cost.max() * (1 + classes.cardinality.max())) or 1.0
    each = np.arange(count)
    without = sparse.csc_array((np.ones(count), (each, each)), shape=(height, count))
    cost, matrix = np.full(count, dearest), without
    if len(sets):
        more, entries = columns_of(classes, kinds, sets)
        cost, matrix = np.append(cost, more), sparse.csc_array(sparse.hstack([without, entries], format="csc"))
    row_lower, row_upper = _sides(classes, tasks, room)
    return Program(
        name="label-sets",
        cost=cost,
        matrix=matrix,
        row_lower=row_lower,
        row_upper=row_upper,
        lower=np.zeros(cost.size),
        upper=np.full(cost.size, np.inf),
        integer=np.zeros(cost.size, bool),
        columns=stack([("without", (count,)), ("given", (len(sets),))]),
        rows=rows,
    )


def columns_of(classes: Classes, kinds: Sequence[int], sets: Sequence[Ints]) -> tuple[Floats, sparse.csc_array]:
    """Cost and entries of the sets' columns, as :func:`of_sets` has them; at least one set.

    kinds: class of tasks of each set; sets sequence of (size,) int: worker classes of one task's labels, sorted; ->
    cost (sets,); entries (rows, sets) sparse array.
    """
    kind, sizes = np.array(kinds, np.int64), np.array([chosen.size for chosen in sets])
    label, column = np.concatenate(sets), np.repeat(np.arange(sizes.size), sizes)
    paid = classes.cost[kind[column], label]
    cost = np.bincount(column, weights=paid, minlength=sizes.size).astype(np.float64)
    each, rows = np.arange(sizes.size), {block.name: block for block in _rows(classes)}
    row = [kind, rows["capacity"].start + label]
    col, value = [each, column], [np.ones(sizes.size), np.ones(label.size)]
    if "labels" in rows:
        row, col, value = [*row, rows["labels"].start + kind], [*col, each], [*value, sizes.astype(float)]
    if "budget" in rows:
        row, col, value = [*row, np.full(sizes.size, rows["budget"].start)], [*col, each], [*value, cost]
    entries = (np.concatenate(value), (np.concatenate(row), np.concatenate(col)))
    return cost, sparse.csc_array(entries, shape=(max(block.stop for block in rows.values()), sizes.size))


def has_label_limits(classes: Classes) -> bool:
    """Whether any class of tasks limits its number of new labels."""
    return bool((classes.fewest > 0).any() or (classes.most < UNLIMITED).any())


def _rows(classes: Classes) -> tuple[Block, ...]:
    kinds, groups = classes.evidence.shape
    parts = [("task", (kinds,)), ("capacity", (groups,))] + [("labels", (kinds,))] * has_label_limits(classes)
    return stack(parts + [("budget", (1,))] * (classes.instance.budget is not None))


def _sides(classes: Classes, n: Ints, room: Ints) -> tuple[Floats, Floats]:
    load = (classes.workers_in * classes.min_load).astype(float)
    lower = [n.astype(float), np.where(load > 0, load, -np.inf)]
    upper = [n.astype(float), room.astype(float)]
    if has_label_limits(classes):
        most = np.where(classes.most == UNLIMITED, np.inf, n * np.minimum(classes.most, 2**40).astype(float))
        lower, upper = [*lower, (n * classes.fewest).astype(float)], [*upper, most]
    if classes.instance.budget is not None:
        lower, upper = [*lower, np.array([-np.inf])], [*upper, np.array([classes.instance.budget])]
    return np.concatenate(lower), np.concatenate(upper)

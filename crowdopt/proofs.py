"""The bound that multipliers prove block by block: each task a minimum knapsack of whole labels, solved anew here.

It shares no code with the method that finds the multipliers: another algorithm, plain numpy, slower.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

CLOSE = 1e-7  # relative; how far a knapsack's bound may stay below its optimum
TABLE = 4_000_000  # numbers in a table of completions
CELLS = 20_000  # of evidence in it, at most
STATES = 200_000  # partial sets that are looked at together; beyond, the bound is what completes them


def prove_blocks(instance: AssignmentInstance, worker: Floats, labels: Floats, budget: float) -> float:
    """``sum_i v_i(w, l, b) + sum_j L_j [w_j]+ - M_j [w_j]- + ...``: a lower bound on every plan of whole labels.

    ``v_i = min sum_j r_ij y_j  s.t.  sum_j q_ij y_j >= C_i, y binary`` with ``r_ij = (1 - b) c_ij - w_j - l_i``: valid
    for any multipliers w of the loads, l of the label limits (any sign) and b <= 0 of the budget. Equal tasks are
    solved once.
    """
    fewest, most = instance.new_label_limits
    limit = np.where((labels < 0) & (most == UNLIMITED), 0.0, labels)
    load = np.where((worker > 0) & (instance.min_load == 0), 0.0, worker)
    spend = min(budget, 0.0) if instance.budget is not None else 0.0
    total = float(np.where(limit > 0, fewest, np.where(most == UNLIMITED, 0, most)) @ limit)
    total += float(np.where(load > 0, instance.min_load, instance.capacity) @ load)
    total += spend * (instance.budget or 0.0)
    barred, fixed = _by_task(instance.barred), _by_task(instance.fixed)
    known: dict[tuple[object, ...], float] = {}
    for task, kind in enumerate(instance.task_type.tolist()):
        out, forced = barred.get(task, ()), fixed.get(task, ())
        key = (kind, float(instance.floor[task]), float(limit[task]), out, forced)
        if key not in known:
            reduced = (1 - spend) * instance.cost[kind] - load - limit[task]
            known[key] = _one_task(reduced, instance.evidence[kind], float(instance.floor[task]), out, forced)
        total += known[key]
    return total


def _by_task(pairs: Ints) -> dict[int, tuple[int, ...]]:
    found: dict[int, tuple[int, ...]] = {}
    for task, worker in pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].tolist():
        found[task] = (*found.get(task, ()), worker)
    return found


def _one_task(cost: Floats, worth: Floats, need: float, barred: tuple[int, ...], forced: tuple[int, ...]) -> float:
    free = np.ones(cost.size, bool)
    free[[*barred, *forced]] = False
    given = list(forced)
    fixed = float(cost[given].sum())
    return fixed + minimum_knapsack(cost[free], worth[free], need - float(worth[given].sum()))


def minimum_knapsack(cost: Floats, worth: Floats, need: float) -> float:
    """A lower bound on ``min sum cost y  s.t.  sum worth y >= need, y binary``, tight to CLOSE but where STATES end it.

    Inf if all items together do not meet the need.
    """
    gain = cost <= 0
    base, lack = float(cost[gain].sum()), need - float(worth[gain].sum())
    if lack <= 0:
        return base
    cost, worth = cost[~gain & (worth > 0)], worth[~gain & (worth > 0)]
    order = np.argsort(cost / worth, kind="stable")
    cost, worth = cost[order], worth[order]
    reached = np.cumsum(worth)
    if not reached.size or reached[-1] < lack:
        return np.inf
    last = int(np.searchsorted(reached, lack))
    price = cost[last] / worth[last]
    best = float(cost[: last + 1].sum())
    linear = best - price * float(reached[last] - lack)
    turn = np.abs(cost - price * worth)
    core = linear + turn < best
    core[last] = True
    kept = ~core & (np.arange(cost.size) <= last)
    spent, lack = float(cost[kept].sum()), lack - float(worth[kept].sum())
    close = CLOSE * max(best, float(cost.min()))
    if best - linear > close:
        linear = max(linear, spent + _cheapest(cost[core], worth[core], lack, best - spent, close))
    return float(base + linear)


def _cheapest(cost: Floats, worth: Floats, need: float, best: float, close: float) -> float:
    """All items together, item by item: partial sets that no other dominates and whose completion may beat the best."""
    cells = int(min(CELLS, TABLE // (cost.size + 1)))
    unit = need / cells
    rest = _completions(cost, np.minimum(cells, np.ceil(worth / unit)).astype(np.int64), cells)
    left, spent = np.array([need]), np.zeros(1)
    for item in range(cost.size):
        left, spent = np.append(left, left - worth[item]), np.append(spent, spent + cost[item])
        best = min(best, float(spent[left <= 0].min(initial=np.inf)))
        ahead = spent + rest[item + 1][np.clip(np.ceil(left / unit - 1e-9), 0, cells).astype(np.int64)]
        alive = (left > 0) & (ahead < best - close)
        left, spent, ahead = left[alive], spent[alive], ahead[alive]
        order = np.lexsort((spent, left))
        left, spent, ahead = left[order], spent[order], ahead[order]
        cheaper = spent < np.minimum.accumulate(np.append(np.inf, spent[:-1]))
        left, spent = left[cheaper], spent[cheaper]
        if left.size > STATES:
            return min(best - close, float(ahead[cheaper].min()))
    return best - close


def _completions(cost: Floats, wide: Ints, cells: int) -> Floats:
    """``rest[k, x]``: at least what items k and after cost for x cells of evidence, theirs rounded up."""
    rest = np.full((cost.size + 1, cells + 1), np.inf)
    rest[-1, 0] = 0.0
    for k in range(cost.size - 1, -1, -1):
        with_it = np.concatenate([np.full(wide[k], rest[k + 1, 0]), rest[k + 1, : cells + 1 - wide[k]]]) + cost[k]
        np.minimum(rest[k + 1], with_it, out=rest[k])
    return rest

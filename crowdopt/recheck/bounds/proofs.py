"""The bound that multipliers prove block by block: each task a least set of whole labels, found anew here.

It shares no code with the method that finds the multipliers: another algorithm, plain numpy, slower.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.roundoff import lowered, sum_below
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.law import CLIP
from crowdopt.recheck.bounds.by_task import workers_by_task
from crowdopt.recheck.bounds.individual_proofs import least_sets
from crowdopt.recheck.bounds.sets_by_level import SetsByLevel

BELOW_OPTIMUM = 1e-7  # relative; how far a knapsack's bound may stay below its optimum
TABLE = 4_000_000  # numbers in a table of completions
CELLS = 20_000  # of evidence in it, at most
MANY = 300  # different tasks beyond which compiled loops price them
STATES = 200_000  # partial sets that are looked at together; beyond, the bound is what completes them


def prove_blocks(instance: AssignmentInstance, worker: Floats, labels: Floats, budget: float) -> float:
    """``sum_i v_i(w, l, b) + sum_j L_j [w_j]+ - M_j [w_j]- + ...``: a lower bound on every plan of whole labels.

    ``v_i = min sum_j r_ij y_j  s.t.  sum_j q_ij y_j >= C_i, y binary`` with ``r_ij = (1 - b) c_ij - w_j - l_i``: valid
    for any multipliers w of the loads, l of the label limits (any sign) and b <= 0 of the budget. Equal tasks are
    solved once.

    labels (tasks,): l, multipliers of the label limits; -> infinite where some task has no set at all.
    """
    fewest, most = instance.new_label_limits
    limit = np.where((labels < 0) & (most == UNLIMITED), 0.0, labels)
    load = np.where((worker > 0) & (instance.min_load == 0), 0.0, worker)
    spend = min(budget, 0.0) if instance.budget is not None else 0.0
    rows = [
        np.where(limit > 0, fewest, np.where(most == UNLIMITED, 0, most)) * limit,
        np.where(load > 0, instance.min_load, instance.capacity) * load,
        np.array([spend * (instance.budget or 0.0)]),
    ]
    if instance.n_tasks > MANY and _kinds(instance, limit) > MANY:
        least = least_sets(instance, load, limit, 1 - spend)
    else:
        least = _each(instance, load, limit, spend)
    return np.inf if np.isposinf(least).any() else sum_below(np.concatenate([*rows, least]))


def _each(instance: AssignmentInstance, load: Floats, limit: Floats, spend: float) -> Floats:
    barred, fixed = workers_by_task(instance.barred), workers_by_task(instance.fixed)
    known: dict[tuple[object, ...], float] = {}
    least = np.empty(instance.n_tasks)
    for task, kind in enumerate(instance.task_type.tolist()):
        out, forced = barred.get(task, ()), fixed.get(task, ())
        key = (kind, float(instance.floor[task]), float(limit[task]), out, forced)
        if key not in known:
            paid = (1 - spend) * instance.cost[kind]
            size = float(paid.max() + np.abs(load).max(initial=0.0) + abs(limit[task]))
            value = _one_task(
                paid - load - limit[task], instance.evidence[kind], float(instance.floor[task]), out, forced
            )
            known[key] = lowered(value, size * instance.n_workers)
        least[task] = known[key]
    return least


def _kinds(instance: AssignmentInstance, limit: Floats) -> int:
    """How many different tasks there are: by type, need, multiplier, and the sum of marks of their own workers."""
    n, mark = instance.n_tasks, np.random.default_rng(0).random(instance.n_workers)
    own = [np.bincount(pairs[:, 0], mark[pairs[:, 1]], n) for pairs in (instance.barred, instance.fixed)]
    return int(np.unique(np.column_stack([instance.task_type, instance.floor, limit, *own]), axis=0).shape[0])


def _one_task(cost: Floats, worth: Floats, need: float, barred: tuple[int, ...], forced: tuple[int, ...]) -> float:
    free = np.ones(cost.size, bool)
    free[[*barred, *forced]] = False
    given = list(forced)
    fixed = float(cost[given].sum())
    return fixed + minimum_knapsack(cost[free], worth[free], need - float(worth[given].sum()))


def minimum_knapsack(cost: Floats, worth: Floats, need: float) -> float:
    """A lower bound on ``min sum cost y  s.t.  sum worth y >= need, y binary``, tight to BELOW_OPTIMUM.

    Where STATES end the search it is less tight.

    cost, worth (items,): costs of any sign; worth at least 0; -> infinite if all items together do not meet the need.
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
    close = BELOW_OPTIMUM * max(best, float(cost.min()))
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


def prove_patterns(instance: AssignmentInstance, worker: Floats, budget: float, wrong: float, levels: int) -> float:
    """``sum_i v_i(w, b, r) + sum_j M_j w_j + b B + r sum_i eps_i``: a bound on the cost of a promise for the average.

    ``v_i = min over sets S of workers of sum_{j in S} ((1 - b) c_ij - w_j) - r e_i(S)``, e_i(S) the exact error of the
    vote by log-odds (among more than two classes a lower bound, which is exact where beliefs are few). Valid for any w,
    b, r <= 0. Workers of one skill count as alike, cheapest first; of more than ``levels`` skills the nearest are
    rounded up, which can only lower v_i. Where labels are in nothing is proven.

    budget, wrong: b, multiplier of the budget, and r, of the wrong answers; levels: different skills that are told
    apart for each type; -> -inf where nothing is proven; infinite where some task has no set at all.
    """
    load = np.minimum(worker, 0.0)
    if len(instance.collected) and not instance.observed:
        return -np.inf
    spend, price = min(budget, 0.0) if instance.budget is not None else 0.0, -min(wrong, 0.0)
    room = np.minimum(instance.capacity, instance.n_tasks)
    rows = [room * load, np.array([spend * (instance.budget or 0.0)]), -price * instance.epsilon]
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    fewest, most = instance.new_label_limits
    known: dict[tuple[object, ...], float] = {}
    least = np.zeros(instance.n_tasks)
    for task in range(instance.n_tasks):
        kind, chances, limits = (
            int(instance.task_type[task]),
            tuple(prior[task].tolist()),
            (int(fewest[task]), int(most[task])),
        )
        key = (kind, chances, limits)
        if key not in known:
            cost = (1 - spend) * instance.cost[kind] - load
            size = float(cost.max(initial=0.0)) * instance.n_workers + price
            sets = SetsByLevel(_levels(instance, kind, cost, room > 0, levels), chances, 1.0, price, *limits)
            known[key] = lowered(sets.least(), size)
        least[task] = known[key]
    return np.inf if np.isposinf(least).any() else sum_below(np.concatenate([*rows, least]))


def _levels(
    instance: AssignmentInstance, kind: int, cost: Floats, able: NDArray[np.bool_], levels: int
) -> tuple[Floats, list[Floats]]:
    """Different skills of a type, the best first, and for each what its first, second, ... label costs."""
    skill, cost = known_skills(instance, kind)[able], cost[able]
    distinct = np.unique(skill)
    if distinct.size > max(1, levels):
        odds = np.log(distinct) - np.log1p(-distinct) + np.log(instance.classes - 1)
        cell = np.minimum((odds / (odds[-1] / levels)).astype(np.int64), levels - 1)
        top = np.array([distinct[cell == c].max() for c in np.unique(cell)])
        skill = top[np.searchsorted(top, skill)]
        distinct = top
    return distinct[::-1], [np.sort(cost[skill == one]) for one in distinct[::-1]]


def known_skills(instance: AssignmentInstance, kind: int) -> Floats:
    """What each worker knows of a type, as a chance of at least 1/K to be right; kind: the type; -> (workers,)."""
    p, guess = instance.accuracy[kind], 1 / instance.classes
    turned = 1 - (instance.classes - 1) * p  # whoever names another class than such a worker's knows no more
    best = np.where(p < guess, turned, p) if instance.classes > 2 else np.maximum(p, 1 - p)
    return np.where(instance.evidence[kind] > 0, np.minimum(best, 1 - CLIP), guess)

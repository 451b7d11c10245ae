"""The bound of the form ``sets``: each task's cheapest set of labels that keeps every limit of one task, found anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.core.roundoff import lowered, sum_below
from crowdopt.crowd.group_limits import membership, task_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.stored_plan import StoredPlan
from crowdopt.recheck.joint_kept import LEAST_SHARE, MOST_SHARE

CLOSE = 1e-8  # relative; how far a task's bound may stay below its minimum
STATES = 100_000  # partial sets that are followed together
TABLE = 4_000_000  # numbers in a table of completions; a task that needs more has its limits left out
WIDER = 4.0  # how much further above the linear bound the next search looks
BESIDE = (0.0, 0.8, 1.0, 1.25)  # prices of evidence that complete partial sets, in that of the linear bound


@dataclass(frozen=True, eq=False)
class SharePull:
    """What multipliers of shares bring: ``terms`` by themselves, ``pull`` (workers,) off each label, of that size."""

    terms: Floats
    pull: Floats
    size: float


def share_pull(instance: AssignmentInstance, stored: StoredPlan) -> SharePull:
    """The multipliers of shares in limits.csv; the table's other ones are not this form's.

    Parameters
    ----------
    instance : AssignmentInstance
    stored : StoredPlan

    Returns
    -------
    SharePull
    """
    table, place = stored.limits, {group.name: g for g, group in enumerate(instance.groups)}
    entries = [] if table is None else zip(table["limit"], table["name"], table.numbers("dual").tolist(), strict=True)
    terms, pull, size, member = [0.0], np.zeros(instance.n_workers), 0.0, membership(instance)
    for limit, name, dual in entries:
        sign = {MOST_SHARE: -1, LEAST_SHARE: 1}.get(limit, 0)
        if name not in place or sign * dual <= 0:
            continue  # it pulls on a side that is not there
        inside, group = member[place[name]], instance.groups[place[name]]
        share = group.max_share if limit == MOST_SHARE else group.min_share
        had = int(inside[instance.collected[:, 1]].sum())
        terms += [dual * share * len(instance.collected), -dual * had]
        pull += dual * (inside - share)
        size += abs(dual)
    return SharePull(np.array(terms), pull, size * len(terms))


def prove_sets(instance: AssignmentInstance, worker: Floats, budget: float, shares: SharePull) -> float:
    """``sum_i v_i + sum_j L_j [w_j]+ - M_j [w_j]- + b B + shares``: a lower bound on every plan of whole labels.

    ``v_i = min over i's sets S of labels of sum_{j in S} ((1 - b) c_ij - w_j - s_j)``: sets that meet the need, contain
    the fixed pairs and no barred one, and keep the limits on the task's labels and on those of groups. Of groups that
    overlap, those after the first are left out, which can only lower v_i. Valid for any w and b <= 0; equal tasks are
    solved once.

    Parameters
    ----------
    instance : AssignmentInstance
    worker : (workers,) float
        w, multipliers of the loads.
    budget : float
        b, multiplier of the budget.
    shares : SharePull
        s.

    Returns
    -------
    float
        Infinite where some task has no set at all.
    """
    load = np.where((worker > 0) & (instance.min_load == 0), 0.0, worker)
    spend = min(budget, 0.0) if instance.budget is not None else 0.0
    rows = [
        np.where(load > 0, instance.min_load, instance.capacity) * load,
        np.array([spend * (instance.budget or 0.0)]),
        shares.terms,
    ]
    sides = np.concatenate(rows)
    if not (np.isfinite(sides).all() and np.isfinite(shares.pull).all()):
        return -np.inf
    least = _each(instance, load + shares.pull, float(np.abs(load).max(initial=0.0)) + shares.size, spend)
    return np.inf if np.isposinf(least).any() else sum_below(np.concatenate([sides, least]))


def _each(instance: AssignmentInstance, pull: Floats, size: float, spend: float) -> Floats:
    """The least set of each task, equal tasks solved once."""
    member, fewest, most = _apart(instance)
    few, many = instance.new_label_limits
    barred, fixed = _by_task(instance.barred), _by_task(instance.fixed)
    known: dict[tuple[object, ...], float] = {}
    least = np.empty(instance.n_tasks)
    for task, kind in enumerate(instance.task_type.tolist()):
        out, forced = barred.get(task, ()), fixed.get(task, ())
        low = np.array([few[task], *fewest[:, task]])
        high = np.array([many[task], *most[:, task]])
        need = float(instance.floor[task])
        key = (kind, need, low.tobytes(), high.tobytes(), out, forced)
        if key not in known:
            paid = (1 - spend) * instance.cost[kind]
            known[key] = _one_task(
                paid - pull, instance.evidence[kind], need, (member, low, high), out, forced, float(paid.max()) + size
            )
        least[task] = known[key]
    return least


def _apart(instance: AssignmentInstance) -> tuple[Bools, Ints, Ints]:
    """Groups that share nobody, the earlier ones first: members, and fewest and most new labels of each task."""
    limited, fewest, most = task_limits(instance)
    member, kept = membership(instance), []
    taken = np.zeros(instance.n_workers, bool)
    for k, g in enumerate(limited):
        if not (taken & member[g]).any():
            kept.append(k)
            taken |= member[g]
    return member[[limited[k] for k in kept]], fewest[kept], most[kept]


def _by_task(pairs: Ints) -> dict[int, tuple[int, ...]]:
    found: dict[int, tuple[int, ...]] = {}
    for task, worker in pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].tolist():
        found[task] = (*found.get(task, ()), worker)
    return found


def _one_task(
    cost: Floats,
    worth: Floats,
    need: float,
    limits: tuple[Bools, Ints, Ints],
    barred: tuple[int, ...],
    forced: tuple[int, ...],
    size: float,
) -> float:
    """The least set of one task, less what rounding may have added; its fixed labels are taken off every limit."""
    member, low, high = limits
    given = list(forced)
    inside = np.vstack([np.ones((1, cost.size), bool), member])
    had = inside[:, given].sum(axis=1)
    low, high = np.maximum(low - had, 0), high - had
    free = np.ones(cost.size, bool)
    free[[*barred, *given]] = False
    room = inside[:, free].sum(axis=1)
    if (high < 0).any() or (low > np.minimum(room, high)).any():
        return np.inf
    group = np.vstack([member, ~member.any(axis=0)]).argmax(axis=0)[free]
    low, high = np.append(low, 0), np.append(np.where(high >= room, -1, high), -1)  # the last group: everybody else
    value, scale = _least(cost[free], worth[free], need - float(worth[given].sum()), group, low, high)
    return lowered(float(cost[given].sum()) + value, size * cost.size + scale) if value < np.inf else np.inf


def _least(cost: Floats, worth: Floats, need: float, group: Ints, low: Ints, high: Ints) -> tuple[float, float]:
    """A lower bound on the cheapest set, and the size of what went into it beside the costs."""
    from crowdopt.recheck.limited_kernels import cheapest_below, completions, evidence_price

    if not cost.size:
        return (0.0, 0.0) if need <= 1e-12 else (np.inf, 0.0)
    low, high = _that_fit(cost.size, low, high)
    full = np.where(high >= 0, high, low)
    cells = int((full[1:].max() + 1) * (full[0] + 1))
    rules = low[1:].copy(), high[1:].copy(), int(low[0]), int(high[0]), full[1:].copy(), int(full[0]), cells
    order = np.lexsort((cost, group))
    price, linear, above = evidence_price(cost[order], worth[order], need, group[order], *rules)
    scale = price * (max(need, 0.0) + float(worth.sum())) if price < np.inf else 0.0
    close = CLOSE * max(abs(linear), abs(above))
    if not above - linear > close:
        return linear, scale
    order = np.lexsort((cost - price * worth, group))
    items = cost[order], worth[order], need, group[order]
    prices = price * np.array(BESIDE)
    tables = np.stack([completions(items[0] - x * items[1], items[1], items[3], *rules)[0] for x in prices])
    reach = max((above - linear) / WIDER**3, close)
    while True:
        top = min(linear + reach, above)
        found, all_seen = cheapest_below(*items, *rules, prices, tables, top, STATES)
        if not all_seen or found < top or top == above:
            return max(found, linear), 2 * scale
        reach *= WIDER


def _that_fit(items: int, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """The limits that a table has room for: without those of groups, then without those of all labels."""
    for kept in (len(low), 1, 0):
        low, high = np.append(low[:kept], 0 * low[kept:]), np.append(high[:kept], 0 * high[kept:] - 1)
        full = np.where(high >= 0, high, low)
        if (items + 1) * (full[1:].max() + 1) * (full[0] + 1) <= TABLE:
            break
    return low, high

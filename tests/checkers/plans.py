"""Whether a plan keeps each limit and each promise, and what the cheapest one costs: nothing here imports the package.

An instance's fields are read as they were stated; formulas are those of the rules' papers. ``chosen`` is (sets,
workers) bool everywhere: a row for each set of labels of a task.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import inf
from typing import Any

import numpy as np
from scipy.special import erfc

from tests.checkers.errors import error_bounds

SHORT = 1e-9  # evidence by which a covered task may be short
CLIP, NONE = 1e-6, 1e-9  # accuracies in logarithms; evidence that counts as none
CERTAIN = 1e-12  # error; rounding
SUM = 1e-9  # of money and of shares
TINY = 1e-300  # in place of a demand of 0


def table(one: Any, pairs: Any) -> np.ndarray:
    """Pairs (task, worker) as (tasks, workers) bool."""
    found = np.zeros((len(one.task_type), len(one.capacity)), bool)
    found[tuple(np.asarray(pairs, np.int64).reshape(-1, 2).T)] = True
    return found


def cost_of(one: Any, pairs: Any) -> float:
    """What the labels of a plan are paid."""
    return float(one.cost[one.task_type][table(one, pairs)].sum())


def worth(one: Any) -> np.ndarray:
    """Evidence of one label, (types, workers)."""
    if one.rule == "hoeffding":
        found = (2 * one.accuracy - 1) ** 2
    else:
        right = np.clip(one.accuracy, CLIP, 1 - CLIP)
        wrong = (1 - right) / (one.classes - 1)
        found = -2 * np.log(2 * np.sqrt(right * wrong) + (one.classes - 2) * wrong)
    return np.where(found > NONE, found, 0.0)


def priors(one: Any) -> np.ndarray:
    """Chances of each task's classes, (tasks, classes)."""
    return np.broadcast_to(one.prior, (len(one.task_type), one.classes))


def dependence(one: Any) -> np.ndarray:
    """The most labels of one family that each task may have, at least 1."""
    most, had = np.ones(len(one.task_type), int), table(one, one.collected)
    for group in one.groups:
        if group.dependent:
            mine = had[:, list(group.members)].sum(axis=1)
            most = np.maximum(most, np.maximum(mine, min(group.max_per_task or 1, len(group.members))))
    return most


def errors(one: Any, tasks: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The exact error of each set of labels, at least."""
    skills, useful, prior = np.clip(one.accuracy, CLIP, 1 - CLIP), worth(one) > 0, priors(one)
    hard = (one.difficulty.share, one.difficulty.left) if one.difficulty.share else None
    found = np.empty(len(tasks))
    for row, (task, kind) in enumerate(zip(tasks.tolist(), one.task_type[tasks].tolist(), strict=True)):
        mine = tuple(sorted(skills[kind][chosen[row] & useful[kind]].tolist()))
        found[row] = error_bounds(mine, prior[task], hard)[0]
    return found


def promised(one: Any, tasks: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The smallest target that each set of labels of a task keeps; labels already in count where they are chosen."""
    if one.rule in ("exact-error", "mean-error"):
        return errors(one, tasks, chosen) - CERTAIN
    total = (worth(one)[one.task_type[tasks]] * chosen).sum(axis=1) + SHORT
    total /= np.maximum(one.demand[tasks], TINY)
    if one.rule == "probit":
        return np.maximum(erfc(np.sqrt(total / 2)) / 2 / (1 + 1e-9), errors(one, tasks, chosen) - CERTAIN)
    k, prior = dependence(one)[tasks], priors(one)[tasks]
    if one.rule == "hoeffding":
        return np.exp(-total / (2 * k))
    overlap = (np.sqrt(prior).sum(axis=1) ** 2 - 1) / 2
    alone = np.minimum(overlap * np.exp(-total / 2), 1 - prior.max(axis=1))
    share = 1 / (2 * k[:, None])  # sum over a != b of prior_a^(1 - 1/2k) prior_b^(1/2k)
    spread = (prior ** (1 - share)).sum(axis=1) * (prior**share).sum(axis=1) - 1
    return np.where(k > 1, spread * np.exp(-total / (2 * k)), alone)


def broken(one: Any, pairs: Any) -> list[str]:
    """What a plan breaks, in words; nothing where it holds."""
    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    new, tasks = table(one, pairs), np.arange(len(one.task_type))
    wrong = _of_tasks(one, tasks, new)
    if one.rule != "mean-error":
        wrong["target"] = promised(one, tasks, new | table(one, one.collected)) > one.epsilon
    twice = ["a pair twice"] if len(pairs) > new.sum() else []
    return [*twice, *_named(wrong), *_of_all(one, new)]


def _named(wrong: dict[str, np.ndarray]) -> list[str]:
    places = {what: np.flatnonzero(where) for what, where in wrong.items()}
    return [f"{what} of {where.size}, first {where[0]}" for what, where in places.items() if where.size]


def _of_tasks(one: Any, tasks: np.ndarray, new: np.ndarray) -> dict[str, np.ndarray]:
    """Where sets of new labels break a limit of the task alone."""
    had, count = table(one, one.collected)[tasks], new.sum(axis=1)
    before = had.sum(axis=1)
    wrong = {
        "forbidden": (new & table(one, one.forbidden)[tasks]).any(axis=1),
        "collected": (new & had).any(axis=1),
        "fixed": (table(one, one.fixed)[tasks] & ~new).any(axis=1),
        "least labels": count < one.min_labels[tasks] - before,
        "most labels": count > np.maximum(0, one.max_labels[tasks] - before),
    }
    for group in one.groups:
        members = list(group.members)
        old = had[:, members].sum(axis=1)
        every = old + new[:, members].sum(axis=1)
        most = len(members) if group.max_per_task is None else group.max_per_task
        wrong[f"most per task of {group.name}"] = every > np.maximum(most, old)
        wrong[f"least per task of {group.name}"] = every < group.min_per_task
    return wrong


def _of_all(one: Any, new: np.ndarray) -> list[str]:
    """What a plan breaks of the limits that tie tasks; new: (tasks, workers)."""
    load, every = new.sum(axis=0), new.sum(axis=0) + table(one, one.collected).sum(axis=0)
    found = _named({"capacity": load > one.capacity, "least load": load < one.min_load})
    for group in one.groups:
        mine, total = every[list(group.members)].sum(), every.sum()
        if not group.min_share * total - SUM <= mine <= group.max_share * total + SUM:
            found.append(f"share of {group.name}")
    if one.budget is not None:
        cost = one.cost[one.task_type][new].sum()
        found += ["budget"] if cost > one.budget + SUM * max(1.0, one.budget) else []
    if one.own_rows is not None:
        own = one.own_rows
        total = np.bincount(own.row, own.coefficient * new[tuple(own.pairs.T)], len(own.names))
        found += _named({"own row": (total < own.lower - SUM) | (total > own.upper + SUM)})
    if one.rule == "mean-error":
        wrong = errors(one, np.arange(len(new)), new | table(one, one.collected))
        found += ["mean error"] if wrong.sum() > one.epsilon.sum() + len(new) * CERTAIN else []
    return found


Sets = list[tuple[float, float, int, np.ndarray]]  # cost, the target that is kept, place, workers


def sets_of(one: Any, task: int, targets: bool = True) -> Sets:
    """Every set of new labels that a task may have, the cheapest first; without targets, those that miss it too."""
    m = len(one.capacity)
    new = (np.arange(1 << m)[:, None] >> np.arange(m) & 1).astype(bool)
    new = new[(new <= (one.capacity > 0)).all(axis=1)]
    tasks = np.full(len(new), task)
    fine = ~np.any(list(_of_tasks(one, tasks, new).values()), axis=0)
    new, tasks = new[fine], tasks[fine]
    kept = promised(one, tasks, new | table(one, one.collected)[task])
    cost = new @ one.cost[one.task_type[task]]
    good = kept <= one.epsilon[task] if targets and one.rule != "mean-error" else np.ones(len(new), bool)
    rows = zip(cost[good].tolist(), kept[good].tolist(), range(good.sum()), new[good], strict=True)
    return sorted(rows, key=lambda row: row[:3])


def every_plan(one: Any, targets: bool = True) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """Cost, the target that each task keeps, and labels (tasks, workers) of every plan, whether or not it keeps it."""
    for rows in product(*(sets_of(one, task, targets) for task in range(len(one.task_type)))):
        new = np.array([row[3] for row in rows])
        if not _of_all(one, new):
            yield sum(row[0] for row in rows), np.array([row[1] for row in rows]), new


def least_cost(one: Any) -> float:
    """The cost of the cheapest plan, every set of each task looked at; infinite where there is none."""
    lists = [sets_of(one, task) for task in range(len(one.task_type))]
    if not all(lists):
        return inf
    least = [sum(rows[0][0] for rows in lists[task:]) for task in range(len(lists) + 1)]  # of the tasks that are left
    best = inf

    def further(rows: list[np.ndarray], cost: float, room: np.ndarray) -> None:
        nonlocal best
        if len(rows) == len(lists):
            best = best if _of_all(one, np.array(rows)) else cost
            return
        for paid, _, _, new in lists[len(rows)]:
            if cost + paid + least[len(rows) + 1] >= best:
                return
            if (new <= room).all():
                further([*rows, new], cost + paid, room - new)

    further([], 0.0, np.array(one.capacity))
    return best

"""Whether a plan of any size keeps each limit and each promise: nothing here imports the package.

The formulas are those of the rules' papers, as in tests/trials/crowd_checker.py, for all tasks at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erfc

from tests.checkers.errors import error_bounds

SHORT = 1e-9  # evidence by which a covered task may be short
CLIP, NONE = 1e-6, 1e-9  # accuracies in logarithms; evidence that counts as none
CERTAIN = 1e-12  # error; rounding
SUM = 1e-9  # of money and of shares

Campaign = dict[str, Any]


def joined(c: Campaign, pairs: np.ndarray) -> np.ndarray:
    """Labels already in, and those of a plan."""
    return np.concatenate([as_pairs(c["collected"]), pairs])


def as_pairs(pairs: Any) -> np.ndarray:
    """Pairs (task, worker), (k, 2)."""
    return np.asarray(pairs, np.int64).reshape(-1, 2)


def costs(c: Campaign, pairs: np.ndarray) -> np.ndarray:
    """What each label is paid."""
    if c["cost"].ndim == 1:
        return c["cost"][pairs[:, 1]]
    return c["cost"][c["task_type"][pairs[:, 0]], pairs[:, 1]]


def worths(c: Campaign) -> np.ndarray:
    """Evidence of one label, (types, workers)."""
    if c["rule"] == "hoeffding":
        found = (2 * c["accuracy"] - 1) ** 2
    else:
        right = np.clip(c["accuracy"], CLIP, 1 - CLIP)
        wrong = (1 - right) / (c["classes"] - 1)
        found = -2 * np.log(2 * np.sqrt(right * wrong) + (c["classes"] - 2) * wrong)
    return np.where(found > NONE, found, 0.0)


def priors(c: Campaign) -> np.ndarray:
    """Chances of each task's classes, (tasks, classes)."""
    prior = np.full(c["classes"], 1 / c["classes"]) if c["prior"] is None else c["prior"]
    return np.broadcast_to(prior, (c["n"], c["classes"]))


def least_targets(c: Campaign, pairs: np.ndarray, tasks: np.ndarray | None = None) -> np.ndarray:
    """The smallest target that each task's labels keep, those already in not counted unless among the pairs."""
    tasks = np.arange(c["n"]) if tasks is None else tasks
    if c["rule"] == "exact-error":
        return _exact(c, pairs, tasks) - CERTAIN
    worth = worths(c)[c["task_type"][pairs[:, 0]], pairs[:, 1]]
    total = np.bincount(pairs[:, 0], worth, c["n"])[tasks] + SHORT
    if c["rule"] == "probit":
        return np.maximum(erfc(np.sqrt(total / 2)) / 2 / (1 + 1e-9), _exact(c, pairs, tasks) - CERTAIN)
    k, prior = dependence(c)[tasks], priors(c)[tasks]
    if c["rule"] == "hoeffding":
        return np.exp(-total / (2 * k))
    overlap = (np.sqrt(prior).sum(axis=1) ** 2 - 1) / 2
    alone = np.minimum(overlap * np.exp(-total / 2), 1 - prior.max(axis=1))
    share = 1 / (2 * k[:, None])
    spread = (prior ** (1 - share)).sum(axis=1) * (prior**share).sum(axis=1) - 1
    return np.where(k > 1, spread * np.exp(-total / (2 * k)), alone)


def _exact(c: Campaign, pairs: np.ndarray, tasks: np.ndarray) -> np.ndarray:
    """The exact error of each task's labels, at least."""
    skills = np.clip(c["accuracy"], CLIP, 1 - CLIP)
    useful = worths(c) > 0
    kept = useful[c["task_type"][pairs[:, 0]], pairs[:, 1]]
    some = pairs[kept]
    some = some[np.argsort(some[:, 0], kind="stable")]
    ends = np.searchsorted(some[:, 0], np.arange(c["n"] + 1))
    prior, found = priors(c), np.empty(tasks.size)
    for place, task in enumerate(tasks.tolist()):
        workers = some[ends[task] : ends[task + 1], 1]
        mine = tuple(sorted(skills[c["task_type"][task], workers].tolist()))
        found[place] = error_bounds(mine, prior[task], c["hard"])[0]
    return found


def dependence(c: Campaign) -> np.ndarray:
    """The most labels of one family that each task may have, at least 1."""
    most, had = np.ones(c["n"], int), as_pairs(c["collected"])
    for group in c["groups"]:
        if group.get("dependent"):
            most = np.maximum(most, min(group.get("max_per_task") or 1, len(group["members"])))
            if had.size:
                count = np.bincount(had[np.isin(had[:, 1], group["members"]), 0], minlength=c["n"])
                most = np.maximum(most, count)
    return most


def broken(c: Campaign, pairs: np.ndarray) -> list[str]:
    """What a plan breaks, in words; nothing where it holds."""
    pairs = as_pairs(pairs)
    return [*_pairs_broken(c, pairs), *_counts_broken(c, pairs), *_groups_broken(c, pairs), *_sums_broken(c, pairs)]


def _pairs_broken(c: Campaign, pairs: np.ndarray) -> list[str]:
    keys = pairs @ np.array([c["m"], 1])
    found = ["a pair twice"] if np.unique(keys).size < keys.size else []
    for name in ("barred", "collected"):
        if np.isin(keys, as_pairs(c[name]) @ np.array([c["m"], 1])).any():
            found.append(f"a pair that is {name}")
    if not np.isin(as_pairs(c["fixed"]) @ np.array([c["m"], 1]), keys).all():
        found.append("a fixed pair is missing")
    over = least_targets(c, joined(c, pairs)) > c["epsilon"]
    return [*found, *_named("target", over)]


def _named(what: str, wrong: np.ndarray) -> list[str]:
    where = np.flatnonzero(wrong)
    return [f"{what} of {where.size}, first {where[0]}"] if where.size else []


def _counts_broken(c: Campaign, pairs: np.ndarray) -> list[str]:
    load = np.bincount(pairs[:, 1], minlength=c["m"])
    had = np.bincount(as_pairs(c["collected"])[:, 0], minlength=c["n"])
    new = np.bincount(pairs[:, 0], minlength=c["n"])
    most = np.full(c["n"], c["m"]) if c["max_labels"] is None else c["max_labels"]
    return [
        *_named("capacity", load > c["capacity"]),
        *_named("least load", load < c["min_load"]),
        *_named("least labels", new < c["min_labels"] - had),
        *_named("most labels", new > np.maximum(0, most - had)),
    ]


def _groups_broken(c: Campaign, pairs: np.ndarray) -> list[str]:
    found, had, every = [], as_pairs(c["collected"]), joined(c, pairs)
    for place, group in enumerate(c["groups"]):
        inside = np.isin(np.arange(c["m"]), group["members"])
        mine = every[inside[every[:, 1]], 0]
        count = np.bincount(mine, minlength=c["n"])
        before = np.bincount(had[inside[had[:, 1]], 0], minlength=c["n"])
        most = group.get("max_per_task") or (1 if group.get("dependent") else c["m"])
        low, high = group.get("min_share", 0.0) * len(every), group.get("max_share", 1.0) * len(every)
        found += _named(f"most per task of group {place}", count > np.maximum(most, before))
        found += _named(f"least per task of group {place}", count < group.get("min_per_task", 0))
        if not low - SUM <= mine.size <= high + SUM:
            found.append(f"share of group {place}")
    return found


def _sums_broken(c: Campaign, pairs: np.ndarray) -> list[str]:
    found = []
    if c["budget"] is not None and costs(c, pairs).sum() > c["budget"] + SUM * max(1.0, c["budget"]):
        found.append("budget")
    if c["row"] is not None:
        values, low, high = c["row"]
        if not low - SUM <= values[tuple(pairs.T)].sum() <= high + SUM:
            found.append("own row")
    return found

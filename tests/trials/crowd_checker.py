"""Campaigns of up to 28 workers held against arithmetic of its own: nothing here imports the package.

Up to eleven workers every plan is looked at. With more, sets that are easily thought of show that a bound is false;
their errors are counted by splitting the labels in two halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, exp, inf, sqrt
from typing import Any

import numpy as np

from tests.trials.own_checker import CLIP, SHORT, worth

SMALL = 11  # workers up to which every plan is looked at
CERTAIN = 1e-12  # error; rounding
RULES = ("exact-error", "mean-error", "bhattacharyya", "hoeffding", "probit")


def draw(seed: int) -> dict[str, Any]:
    """A campaign of one or two tasks with some of every option; of many workers with few."""
    rng = np.random.default_rng([seed, 91])

    def often(share: float) -> bool:
        return bool(rng.random() < share)

    size = rng.random()
    m = int(rng.integers(2, 8) if size < 0.6 else rng.integers(8, SMALL + 1) if size < 0.85 else rng.integers(12, 29))
    n, kinds = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    rule = str(rng.choice(RULES, p=[0.45, 0.15, 0.2, 0.1, 0.1]))
    n = 1 if rule == "mean-error" and m > 7 else n  # every pair of sets is one to be looked at
    classes = 3 if m <= 5 and rule in RULES[:3] and often(0.25) else 2
    skills = (
        rng.uniform(0.35 if often(0.3) else 0.55, 0.97, (kinds, m)),
        rng.uniform(0.68, 0.72, (kinds, m)),
        rng.choice([0.5, 0.6, 0.7, 0.9, 0.3], (kinds, m)),
        np.where(rng.random((kinds, m)) < 0.2, 0.96, rng.uniform(0.6, 0.72, (kinds, m))),
    )
    accuracy = skills[rng.integers(4)]
    costs = np.ones(m), rng.integers(1, 6, m).astype(float), rng.uniform(0.1, 3, m), 1 + 30.0 * (accuracy[0] > 0.9)
    low = 0.35 if rule == "hoeffding" else float(rng.choice([0.1, 0.2, 0.3] if m < 8 else [0.02, 0.05, 0.1, 0.2]))
    campaign: dict[str, Any] = {
        "n": n, "m": m, "rule": rule, "classes": classes, "accuracy": accuracy,
        "task_type": rng.integers(0, kinds, n), "cost": costs[rng.integers(4)], "capacity": np.full(m, n),
        "epsilon": rng.uniform(low, 0.48, n) if often(0.4) else np.full(n, low), "prior": None, "barred": [],
        "fixed": [], "collected": [], "min_labels": np.zeros(n, int), "max_labels": None, "min_load": np.zeros(m, int),
        "budget": None, "groups": [], "row": None, "hard": None,
    }  # fmt: skip
    if rule not in ("hoeffding", "probit") and often(0.3):
        campaign["prior"] = rng.dirichlet(np.full(classes, 4.0))
    if often(0.25):
        campaign["min_labels"] = rng.integers(0, m + 1, n)
    if often(0.2):
        campaign["max_labels"] = np.maximum(campaign["min_labels"], rng.integers(1, m + 1, n))
    if m > SMALL:
        return campaign
    if rule == "exact-error" and classes == 2 and often(0.15):
        campaign["hard"] = float(rng.uniform(0.02, 0.3)), float(rng.uniform(0.3, 0.9))
    if often(0.4):
        campaign["capacity"] = rng.integers(0, n + 1, m)
    if often(0.15):
        campaign["budget"] = float(rng.integers(2, 15))
    if rule == "mean-error" or campaign["hard"]:
        return campaign
    if often(0.15):
        campaign["min_load"] = rng.integers(0, 2, m)
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(m)]).tolist()
    for pair in pairs[: int(rng.integers(0, 5)) if often(0.5) else 0]:
        campaign[str(rng.choice(["barred", "fixed", "collected"]))].append(pair)
    inside = np.flatnonzero(rng.random(m) < 0.5).tolist()
    if inside and often(0.2):
        limit = {"max_per_task": int(rng.integers(1, 3))} if often(0.5) else {"max_share": 0.6}
        campaign["groups"] = [{"members": inside} | limit]
    if often(0.1):
        campaign["row"] = rng.integers(-2, 4, (n, m)).astype(float), -3.0, float(rng.integers(2, 9))
    return campaign


def prior_of(c: dict[str, Any], task: int = 0) -> list[float]:
    """Chances of a task's classes."""
    if c["prior"] is None:
        return [1 / c["classes"]] * c["classes"]
    prior: list[float] = (c["prior"] if c["prior"].ndim == 1 else c["prior"][task]).tolist()
    return prior


def skills_of(c: dict[str, Any], task: int, workers: Sequence[int] | None = None) -> list[float]:
    """Of these workers for a task, or of all, kept from 0 and 1; 1/K where a label says nothing."""
    kind, found = c["accuracy"][c["task_type"][task]], []
    for p in (kind if workers is None else kind[list(workers)]).tolist():
        right = min(max(p, CLIP), 1 - CLIP)
        found.append(right if worth("bhattacharyya", right, c["classes"]) > 0 else 1 / c["classes"])
    return found


def error(c: dict[str, Any], task: int, workers: list[int]) -> float:
    """What the best answer to these labels errs with, all answers looked at; on hard and easy tasks together."""
    classes, prior = c["classes"], np.array(prior_of(c, task))
    chance, hard, odds = prior[None], prior[None], np.log(prior)[None]
    share, left = c["hard"] or (0.0, 1.0)
    for p in skills_of(c, task, workers):
        table = np.where(np.eye(classes) > 0, p, (1 - p) / (classes - 1))
        less = np.where(np.eye(2) > 0, 0.5 + left * (p - 0.5), 0.5 - left * (p - 0.5)) if classes == 2 else table
        chance = (chance[:, None] * table).reshape(-1, classes)
        hard = (hard[:, None] * less).reshape(-1, classes)
        odds = (odds[:, None] + np.log(table)).reshape(-1, classes)
    easy = float((chance.sum(axis=1) - chance.max(axis=1)).sum())
    if not share:
        return easy
    best = odds >= odds.max(axis=1, keepdims=True) - 1e-9
    return (1 - share) * easy + share * float(1 - (hard * best / best.sum(axis=1, keepdims=True)).sum())


def error_of_many(skill: list[float], prior: list[float]) -> float:
    """The same of two classes with up to 28 labels: of two halves each answer of one meets those that outweigh it."""
    halves = []
    for half in (skill[::2], skill[1::2]):
        right, wrong = np.ones(1), np.ones(1)
        for p in half:
            right, wrong = np.append(right * p, right * (1 - p)), np.append(wrong * (1 - p), wrong * p)
        halves.append((right, wrong))
    (a, b), (x, y) = halves
    order = np.argsort(x / y, kind="stable")
    x, y = x[order], y[order]
    cut = np.searchsorted(x / y, prior[0] * b / (prior[1] * a))  # below, class 1 is the less likely one
    low, high = np.append(0, np.cumsum(x)), np.append(np.cumsum(y[::-1])[::-1], 0)
    return float((prior[1] * a * low[cut] + prior[0] * b * high[cut]).sum())


def dependence(c: dict[str, Any], task: int) -> int:
    """The most labels of one family that a task may have, at least 1."""
    most = [1]
    for group in c["groups"]:
        if group.get("dependent"):
            had = sum(i == task and j in group["members"] for i, j in c["collected"])
            most.append(max(had, min(group.get("max_per_task") or 1, len(group["members"]))))
    return max(most)


def promised(c: dict[str, Any], task: int, workers: list[int]) -> float:
    """The smallest target that a task's labels, those already in included, keep by the rule; rounding is let pass."""
    rule, classes = c["rule"], c["classes"]
    if rule == "exact-error":
        return exactly(c, task, workers) - CERTAIN
    kind = c["accuracy"][c["task_type"][task]]
    form = "hoeffding" if rule == "hoeffding" else "bhattacharyya"
    total = sum(worth(form, float(kind[j]), classes) for j in workers) + SHORT
    k, prior = dependence(c, task), prior_of(c, task)
    if rule == "hoeffding":
        return exp(-total / (2 * k))
    if rule == "probit":
        return max(erfc(sqrt(total / 2)) / 2 / (1 + 1e-9), exactly(c, task, workers) - CERTAIN)
    if k > 1:  # sum over a != b of prior_a^(1 - 1/2k) prior_b^(1/2k)
        pairs = [(a, b) for x, a in enumerate(prior) for y, b in enumerate(prior) if x != y]
        return sum(a ** (1 - 1 / (2 * k)) * b ** (1 / (2 * k)) for a, b in pairs) * exp(-total / (2 * k))
    overlap = ((sum(map(sqrt, prior))) ** 2 - 1) / 2
    return min(overlap * exp(-total / 2), 1 - max(prior))


def keeps(c: dict[str, Any], task: int, workers: list[int]) -> tuple[bool, float]:
    """Whether a task's labels, those already in included, keep what the rule asks of it; and their error on average."""
    if c["rule"] == "mean-error":
        return True, error(c, task, workers)
    return promised(c, task, workers) <= float(c["epsilon"][task]), 0.0


def exactly(c: dict[str, Any], task: int, workers: list[int]) -> float:
    """The error of any number of labels: all answers looked at, or two halves of them."""
    few = len(workers) <= SMALL or c["classes"] > 2 or c["hard"]
    return error(c, task, workers) if few else many(c, task, workers)


def many(c: dict[str, Any], task: int, workers: list[int]) -> float:
    """The error of many labels of two classes."""
    return error_of_many(skills_of(c, task, workers), prior_of(c, task))


def price(c: dict[str, Any], task: int, workers: list[int]) -> float:
    """What new labels of a task cost; prices may differ by type."""
    paid = c["cost"] if c["cost"].ndim == 1 else c["cost"][c["task_type"][task]]
    return float(paid[workers].sum())


def fits(c: dict[str, Any], task: int, workers: list[int]) -> bool:
    """Whether new labels keep the limits that are the task's own."""
    had, new = {j for i, j in c["collected"] if i == task}, set(workers)
    barred = had | {j for i, j in c["barred"] if i == task}
    fewest = max(0, c["min_labels"][task] - len(had))
    most = inf if c["max_labels"] is None else max(0, c["max_labels"][task] - len(had))
    if new & barred or not {j for i, j in c["fixed"] if i == task} <= new or not fewest <= len(new) <= most:
        return False
    for group in c["groups"]:
        inside = set(group["members"])
        most = group.get("max_per_task", 1 if group.get("dependent") else inf)
        if len((new | had) & inside) > max(most, len(had & inside)):
            return False
        if len((new | had) & inside) < group.get("min_per_task", 0):
            return False
    return True


def whole(c: dict[str, Any], sets: list[list[int]], errors: list[float]) -> bool:
    """Whether a plan keeps the limits that tie tasks."""
    load = np.bincount([j for one in sets for j in one], minlength=c["m"])
    if (load > c["capacity"]).any() or (load < c["min_load"]).any():
        return False
    if c["budget"] is not None:
        cost = sum(price(c, task, one) for task, one in enumerate(sets))
        if cost > c["budget"] + 1e-9 * max(1.0, c["budget"]):
            return False
    every = [j for one in sets for j in one] + [j for _, j in c["collected"]]
    for group in c["groups"]:
        inside = sum(j in group["members"] for j in every)
        low, high = (group.get(side, end) * len(every) for side, end in (("min_share", 0.0), ("max_share", 1.0)))
        if not low - 1e-9 <= inside <= high + 1e-9:
            return False
    if c["row"] is not None:
        total = sum(c["row"][0][i, j] for i, one in enumerate(sets) for j in one)
        if not c["row"][1] - 1e-9 <= total <= c["row"][2] + 1e-9:
            return False
    return c["rule"] != "mean-error" or sum(errors) <= c["epsilon"].sum() + c["n"] * CERTAIN


def choices(c: dict[str, Any], task: int) -> list[tuple[float, float, list[int]]]:
    """Cost, error on average and workers of every set that a task may have, the cheapest first."""
    had, found = [j for i, j in c["collected"] if i == task], []
    for mask in range(1 << c["m"]):
        workers = [j for j in range(c["m"]) if mask >> j & 1]
        if fits(c, task, workers):
            good, wrong = keeps(c, task, had + workers)
            if good:
                found.append((price(c, task, workers), wrong, workers))
    return sorted(found)


def optimum(c: dict[str, Any]) -> float:
    """Least cost of all plans, task by task, the cheapest sets first; infinite where there is none."""
    lists = [choices(c, task) for task in range(c["n"])]
    if not all(lists):
        return inf
    least = [sum(one[0][0] for one in lists[task:]) for task in range(c["n"] + 1)]  # of the tasks that are left
    best = inf

    def further(sets: list[tuple[float, float, list[int]]], cost: float, room: np.ndarray) -> None:
        nonlocal best
        task = len(sets)
        if task == c["n"]:
            if whole(c, [one[2] for one in sets], [one[1] for one in sets]):
                best = cost
            return
        for one in lists[task]:
            if cost + one[0] + least[task + 1] >= best:
                return
            if (room[one[2]] > 0).all():
                left = room.copy()
                left[one[2]] -= 1
                further([*sets, one], cost + one[0], left)

    further([], 0.0, np.array(c["capacity"]))
    return best


def a_good_plan(c: dict[str, Any]) -> float:
    """What a plan for many workers costs that is easily thought of: no bound may be above it."""
    total = 0.0
    for task in range(c["n"]):
        skill = skills_of(c, task)
        order = sorted(range(c["m"]), key=lambda j: -abs(skill[j] - 0.5))
        best = inf
        for cap in sorted(set(c["cost"].tolist())):
            able = [j for j in order if c["cost"][j] <= cap]
            low, high = 0, len(able) + 1  # sets of the best labels: the more, the less they err
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if keeps(c, task, able[:middle])[0] else (middle, high)
            for size in range(max(0, low - 1), len(able) + 1):
                chosen = able[:size]
                if float(c["cost"][chosen].sum()) >= best:
                    break
                if fits(c, task, chosen) and keeps(c, task, chosen)[0]:
                    best = float(c["cost"][chosen].sum())
                    break
        total += best
    return total

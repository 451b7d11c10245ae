"""Tiny campaigns solved by looking at every plan, with formulas of its own: nothing here imports the package.

A campaign is a plain dict of numbers and lists; what the rules promise is written down once more from their papers.
"""

from __future__ import annotations

from itertools import combinations, product
from math import exp, inf, log, sqrt

import numpy as np

SHORT = 1e-9  # evidence by which a covered task may be short
CLIP, NONE = 1e-6, 1e-9  # accuracies in logarithms; evidence that counts as none
RULES = ("bhattacharyya", "hoeffding", "exact-error")


def draw(seed: int) -> dict:
    """A campaign of 2 or 3 tasks and 2 to 4 workers, with every option at some seed."""
    rng = np.random.default_rng([seed, 77])
    n, m, kinds = int(rng.integers(2, 4)), int(rng.integers(3, 5)), int(rng.integers(1, 3))
    rule = RULES[int(rng.integers(3))]
    classes = 3 if rule == "bhattacharyya" and rng.random() < 0.2 else 2

    def often(share: float) -> bool:
        return bool(rng.random() < share)

    best = 0.999 if often(0.5) else 0.9
    accuracy = rng.uniform(0.35 if often(0.3) else 0.7, best, (kinds, m))
    if often(0.2):
        accuracy = np.round(accuracy, 1)  # ties, and workers who know nothing
    pairs = [(i, j) for i in range(n) for j in range(m)]
    mixed = [pairs[k] for k in rng.permutation(len(pairs))]
    forbidden, fixed, collected = [], [], []
    for pair in mixed[: int(rng.integers(0, 4)) if often(0.4) else 0]:
        [forbidden, fixed, collected][int(rng.integers(3))].append(pair)
    low = 0.3 if rule == "hoeffding" else 0.1
    prior = None
    if rule != "hoeffding" and often(0.4):
        prior = rng.dirichlet(np.full(classes, 4.0), n if often(0.5) else None).tolist()
        if often(0.3) and classes == 2:
            prior = [0.7, 0.3]
    return {
        "n": n,
        "m": m,
        "classes": classes,
        "rule": rule,
        "accuracy": accuracy.tolist(),
        "task_type": rng.integers(0, kinds, n).tolist(),
        "capacity": rng.integers(0 if often(0.3) else n - 1, n + 1, m).tolist(),
        "epsilon": (rng.uniform(low, 0.48, n) if often(0.5) else np.full(n, rng.choice([low, 0.3, 0.4]))).tolist(),
        "cost": (rng.integers(1, 6, m) if often(0.4) else np.ones(m)).tolist(),
        "prior": prior,
        "forbidden": sorted(forbidden),
        "fixed": sorted(fixed),
        "collected": sorted(collected),
        "min_labels": rng.integers(0, 2, n).tolist() if often(0.2) else [0] * n,
        "max_labels": rng.integers(1, m + 1, n).tolist() if often(0.2) else None,
        "min_load": rng.integers(0, 2, m).tolist() if often(0.2) else [0] * m,
        "budget": float(rng.integers(2, 12)) if often(0.2) else None,
    }


def worth(rule: str, p: float, classes: int) -> float:
    """Evidence of one label."""
    if rule == "hoeffding":
        q = (2 * p - 1) ** 2
    else:
        right = min(max(p, CLIP), 1 - CLIP)
        wrong = (1 - right) / (classes - 1)
        q = -2 * log(2 * sqrt(right * wrong) + (classes - 2) * wrong)
    return q if q > NONE else 0.0


def prior_of(campaign: dict, task: int) -> list[float]:
    """Chances of the classes of a task."""
    prior = campaign["prior"]
    if prior is None:
        return [1 / campaign["classes"]] * campaign["classes"]
    return prior[task] if isinstance(prior[0], list) else prior


def guess(campaign: dict, task: int) -> float:
    """What the likeliest class errs."""
    return sum(sorted(prior_of(campaign, task))[:-1])


def error(campaign: dict, task: int, workers: list[int]) -> float:
    """What the rule promises of a task that has these workers' labels: the smallest target that it then keeps."""
    kind, classes, rule = campaign["task_type"][task], campaign["classes"], campaign["rule"]
    skill = [campaign["accuracy"][kind][j] for j in workers]
    if rule == "exact-error":
        return exact(prior_of(campaign, task), skill)
    total = sum(worth(rule, p, classes) for p in skill) + SHORT
    if rule == "hoeffding":
        return exp(-total / 2)
    prior = prior_of(campaign, task)
    overlap = sum(sqrt(a * b) for a, b in combinations(prior, 2))
    return min(overlap * exp(-total / 2), guess(campaign, task))


def exact(prior: list[float], skill: list[float]) -> float:
    """The error of the best answer to all labels, by looking at all of them."""
    clipped = [min(max(p, CLIP), 1 - CLIP) for p in skill]
    clipped = [p for p in clipped if worth("bhattacharyya", p, 2) > 0]
    total = 0.0
    for labels in product((0, 1), repeat=len(clipped)):
        chance = list(prior)
        for label, p in zip(labels, clipped, strict=True):
            chance = [c * (p if k == label else 1 - p) for k, c in enumerate(chance)]
        total += min(chance)
    return total


def plans(campaign: dict, evidence: bool = True) -> list[tuple[float, float, list[list[int]]]]:
    """Cost, largest error over target and workers of every plan that keeps all limits (the needs last, if asked)."""
    n, m = campaign["n"], campaign["m"]
    barred = {*map(tuple, campaign["forbidden"]), *map(tuple, campaign["collected"])}
    choices = []
    for i in range(n):
        free = [j for j in range(m) if (i, j) not in barred]
        have = [j for k, j in campaign["collected"] if k == i]
        must = {j for k, j in campaign["fixed"] if k == i}
        most = inf if campaign["max_labels"] is None else campaign["max_labels"][i]
        rows = []
        for size in range(len(free) + 1):
            for some in combinations(free, size):
                count = len(some) + len(have)
                if must <= set(some) and (not some or count <= most) and count >= campaign["min_labels"][i]:
                    rows.append((list(some), error(campaign, i, [*have, *some])))
        choices.append(rows)
    found = []
    for combination in product(*choices):
        load = [sum(j in some for some, _ in combination) for j in range(m)]
        if any(
            not low <= x <= high for low, x, high in zip(campaign["min_load"], load, campaign["capacity"], strict=True)
        ):
            continue
        cost = sum(campaign["cost"][j] for some, _ in combination for j in some)
        if campaign["budget"] is not None and cost > campaign["budget"] + 1e-9:
            continue
        over = max(e - eps for (_, e), eps in zip(combination, campaign["epsilon"], strict=True))
        if not evidence or over <= 1e-12 + 1e-9:
            found.append((cost, max(e for _, e in combination), [some for some, _ in combination]))
    return found


def total_error(campaign: dict, workers: list[list[int]]) -> float:
    """Expected wrong answers of a plan, exactly, labels already in included."""
    total = 0.0
    for i, some in enumerate(workers):
        have = [j for k, j in campaign["collected"] if k == i]
        kind = campaign["task_type"][i]
        total += exact(prior_of(campaign, i), [campaign["accuracy"][kind][j] for j in [*have, *some]])
    return total


def best_score(correct: list[int], asked: list[int], classes: int, most: int) -> float:
    """The largest F-hat over all sets of at most so many workers (Li & Liu, eq. 11)."""
    gain = []
    for c, n in zip(correct, asked, strict=True):
        w = c / n
        gain.append((classes * w - 1) ** 2 - classes**2 * c * (n - c) / (n * n * (n - 1)))
    best = -inf
    for size in range(1, most + 1):
        for some in combinations(range(len(gain)), size):
            best = max(best, sum(gain[i] for i in some) / sqrt(size))
    return best

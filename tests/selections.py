"""Small selection instances, and their optima by looking at every set, in fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from crowdopt.hire.candidates import SelectionInstance


def exact_gains(instance: SelectionInstance) -> list[Fraction]:
    """G of each worker, (8) with (10)."""
    gains = []
    for c, n in zip(instance.correct.tolist(), instance.asked.tolist(), strict=True):
        variance = Fraction(c * (n - c), n * n * (n - 1))
        gains.append((instance.classes * Fraction(c, n) - 1) ** 2 - instance.classes**2 * variance)
    return gains


def squared(total: Fraction, size: int) -> Fraction:
    """``F |F|``, which orders scores exactly."""
    return total * abs(total) / size


def allowed(instance: SelectionInstance, members: tuple[int, ...]) -> bool:
    """Whether a set keeps every limit."""
    if not set(instance.required.tolist()) <= set(members) or set(instance.barred.tolist()) & set(members):
        return False
    if instance.money is not None and sum(float(instance.price[i]) for i in members) > instance.money + 1e-9:
        return False
    if instance.group is None:
        return True
    counts = np.bincount(instance.group[list(members)], minlength=instance.n_groups)
    return bool((counts >= instance.fewest).all() and (counts <= instance.most_each).all())


def best_sets(instance: SelectionInstance) -> tuple[Fraction | None, list[tuple[int, ...]]]:
    """The largest ``F |F|`` over all allowed sets, and all sets that have it; None where there is none."""
    gains, found = exact_gains(instance), {}
    for size in range(1, instance.sizes + 1):
        for members in combinations(range(instance.n_workers), size):
            if allowed(instance, members):
                found.setdefault(squared(sum(gains[i] for i in members), size), []).append(members)
    best = max(found, default=None)
    return best, found.get(best, [])


def drawn(rng: np.random.Generator, most_workers: int = 7, kind: str = "any") -> SelectionInstance:
    """An instance of problem (11): any, with ties, all gains negative, one worker to hire, or room for all."""
    m = int(rng.integers(1, most_workers + 1))
    asked = rng.integers(2, 9, m) if rng.random() < 0.5 else np.full(m, rng.integers(2, 9))
    classes = int(rng.integers(2, 6))
    correct = rng.integers(0, asked + 1)
    if kind == "ties":
        correct, asked = rng.choice(correct[:2], m) * 0 + rng.choice([0, 1, asked[0]], m), np.full(m, asked[0])
    if kind == "negative":
        asked, classes = np.full(m, 2 * rng.integers(1, 5)), 2
        correct = asked // 2
    most = {"one": 1, "large": m + int(rng.integers(1, 9))}.get(kind, int(rng.integers(1, m + 3)))
    return SelectionInstance(correct, asked, classes, most)


def limited(rng: np.random.Generator, most_workers: int = 7, options: set[str] | None = None) -> SelectionInstance:
    """A drawn instance with money, required and barred workers and groups, each now and then; perhaps infeasible.

    If asked for, ``family`` is a most number of each group's workers.
    """
    plain = drawn(rng, most_workers)
    m = plain.n_workers
    every = ("money", "required", "barred", "group")
    on = {name for name in every if rng.random() < 0.6} if options is None else options
    order = rng.permutation(m)
    inside, outside = order[: int(rng.integers(0, min(plain.sizes, m - 1) + 1))], order[m - m // 3 :]
    group = rng.integers(0, 2, m)
    barred = outside if "barred" in on else order[:0]
    there = np.bincount(np.delete(group, barred), minlength=group.max() + 1)
    fewest = np.minimum(there, rng.integers(0, 3, there.size))
    if fewest.sum() > plain.sizes:
        fewest[:] = 0
    price = rng.integers(0, 12, m) / 2
    most_each = rng.integers(1, 4, group.max() + 1) if "family" in on else None
    limits = {"barred": barred, "most_each": most_each}
    if "money" in on:
        limits |= {"price": price, "money": float(rng.integers(0, 30)) / 2}
    if "required" in on:
        limits["required"] = np.setdiff1d(inside, barred)
    if on & {"group", "family"}:
        limits |= {"group": group, "fewest": fewest if "group" in on else None}
    return replace(plain, **limits)

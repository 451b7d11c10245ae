"""A recipe in which every item is its own: accuracies from worker skill, item difficulty and features, and prices.

The same recipe in parts has other draws: each part is drawn by itself, from a seed of its own, wherever that happens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import AssignmentInstance

ROWS = 50_000  # items whose accuracies are drawn together
LABELS = 6  # capacity per task


@dataclass(frozen=True, eq=False)
class ItemCrowd:
    """Workers who meet items: ``skill`` (m,), ``loading`` (features, m) and ``cost`` (m,)."""

    skill: Floats
    loading: Floats
    cost: Floats


def item_recipe(name: str, features: int, n: int, m: int, seed: int) -> AssignmentInstance:
    """``p_ij = .5 + .49 / (1 + exp(-(s_j - .7 d_i + f_i . v_j)))``, kept within [.5, .99]; a row per task.

    Drawn from ``np.random.default_rng(seed)`` in this order: skills s ~ N(1.2, .6), difficulties d ~ min(N(0, .8),
    1.5), loadings v ~ N(0, .3 / sqrt(k)) of shape (k, m), prices ``round(exp(N(0, .7) + s / 2), 3)``, at least .001,
    then the features f ~ N(0, 1) of shape (n, k). Rule bhattacharyya, error target .3, capacities ``6 n // m + 1``.

    features: k, at least 1; -> its types are its tasks.
    """
    rng = np.random.default_rng(seed)
    skill = rng.normal(1.2, 0.6, m)
    difficulty = np.minimum(rng.normal(0.0, 0.8, n), 1.5)
    loading = rng.normal(0.0, 0.3 / np.sqrt(features), (features, m))
    crowd = ItemCrowd(skill, loading, _prices(rng, skill))
    return _instance(name, crowd, _accuracies(crowd, difficulty, rng), n, seed)


def item_crowd(features: int, m: int, seed: int) -> ItemCrowd:
    """A recipe's workers, in parts: skills, loadings and prices as :func:`item_recipe` draws them, in this order."""
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    skill = rng.normal(1.2, 0.6, m)
    return ItemCrowd(skill, rng.normal(0.0, 0.3 / np.sqrt(features), (features, m)), _prices(rng, skill))


def items_of_part(name: str, crowd: ItemCrowd, n: int, part: slice, place: int, seed: int) -> AssignmentInstance:
    """Items of one part: difficulties, then features, from ``SeedSequence(seed, spawn_key=(place,))``.

    Accuracies are rounded to 32 bits. Whatever was drawn before, and wherever, a part is always the same.

    n: items of all parts, which capacities follow; -> of the part's items alone, with the capacities of the whole.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(place,)))
    difficulty = np.minimum(rng.normal(0.0, 0.8, part.stop - part.start), 1.5)
    accuracy = _accuracies(crowd, difficulty, rng).astype(np.float32)
    return _instance(f"{name} in parts", crowd, accuracy.astype(np.float64), n, seed)


def _prices(rng: np.random.Generator, skill: Floats) -> Floats:
    return np.maximum(0.001, np.round(np.exp(rng.normal(0.0, 0.7, skill.size) + 0.5 * skill), 3))


def _accuracies(crowd: ItemCrowd, difficulty: Floats, rng: np.random.Generator) -> Floats:
    features, m = crowd.loading.shape
    accuracy: Floats = np.empty((difficulty.size, m))
    for start in range(0, difficulty.size, ROWS):
        some = slice(start, min(difficulty.size, start + ROWS))
        own = rng.normal(size=(some.stop - start, features)) @ crowd.loading
        own += crowd.skill - 0.7 * difficulty[some, None]
        accuracy[some] = np.clip(0.5 + 0.49 / (1 + np.exp(-own)), 0.5, 0.99)
    return accuracy


def _instance(name: str, crowd: ItemCrowd, accuracy: Floats, n: int, seed: int) -> AssignmentInstance:
    features, m = crowd.loading.shape
    return AssignmentInstance(
        accuracy=accuracy,
        task_type=np.arange(len(accuracy)),
        capacity=np.full(m, min(n, LABELS * n // m + 1)),
        epsilon=np.asarray(0.3),
        rule="bhattacharyya",
        cost=crowd.cost,
        title=f"{name}, seed {seed}: accuracies per item, skill, difficulty and {features} features, prices per worker",
    )

"""A recipe in which every item is its own: accuracies from worker skill, item difficulty and features, and prices."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import AssignmentInstance

ROWS = 50_000  # items whose accuracies are drawn together
LABELS = 6  # capacity per task


def item_recipe(name: str, features: int, n: int, m: int, seed: int) -> AssignmentInstance:
    """``p_ij = .5 + .49 / (1 + exp(-(s_j - .7 d_i + f_i . v_j)))``, kept within [.5, .99]; a row per task.

    Drawn from ``np.random.default_rng(seed)`` in this order: skills s ~ N(1.2, .6), difficulties d ~ min(N(0, .8),
    1.5), loadings v ~ N(0, .3 / sqrt(k)) of shape (k, m), prices ``round(exp(N(0, .7) + s / 2), 3)``, at least .001,
    then the features f ~ N(0, 1) of shape (n, k). Rule bhattacharyya, error target .3, capacities ``6 n // m + 1``.

    Parameters
    ----------
    name : str
        The recipe's, for the title.
    features : int
        k, at least 1.
    n, m : int
        Items and workers.
    seed : int
        Of the generator.

    Returns
    -------
    AssignmentInstance
        Its types are its tasks.
    """
    rng = np.random.default_rng(seed)
    skill = rng.normal(1.2, 0.6, m)
    difficulty = np.minimum(rng.normal(0.0, 0.8, n), 1.5)
    loading = rng.normal(0.0, 0.3 / np.sqrt(features), (features, m))
    cost = np.maximum(0.001, np.round(np.exp(rng.normal(0.0, 0.7, m) + 0.5 * skill), 3))
    accuracy: Floats = np.empty((n, m))
    for start in range(0, n, ROWS):
        some = slice(start, min(n, start + ROWS))
        own = rng.normal(size=(some.stop - start, features)) @ loading
        own += skill - 0.7 * difficulty[some, None]
        accuracy[some] = np.clip(0.5 + 0.49 / (1 + np.exp(-own)), 0.5, 0.99)
    return AssignmentInstance(
        accuracy=accuracy,
        task_type=np.arange(n),
        capacity=np.full(m, min(n, LABELS * n // m + 1)),
        epsilon=np.asarray(0.3),
        cost=cost,
        title=f"{name}, seed {seed}: accuracies per item, skill, difficulty and {features} features, prices per worker",
    )

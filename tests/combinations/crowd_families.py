"""How well workers label, for tasks of about three, six or twelve labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SkillFamily:
    """Skills of a crowd.

    Parameters
    ----------
    labels : int
        About how many a task takes.
    low, high : float
        Accuracies lie between.
    kinds : int
        Of tasks.
    pools : int, optional
        Of workers alike; without, all workers differ.
    """

    labels: int
    low: float
    high: float
    kinds: int
    pools: int | None


FAMILIES = {
    "three": SkillFamily(3, 0.78, 0.97, 4, 6),
    "six": SkillFamily(6, 0.68, 0.92, 4, 5),
    "twelve": SkillFamily(12, 0.62, 0.84, 4, 4),
    "three-own": SkillFamily(3, 0.72, 0.97, 2, None),
    "six-own": SkillFamily(6, 0.62, 0.92, 2, None),
}
OWN = 10_000  # pairs up to which all workers may differ


def families_of(tasks: int, workers: int) -> list[str]:
    """Those that suit a size."""
    small = tasks * workers <= OWN
    return [name for name, family in FAMILIES.items() if family.pools or small]


def skills(family: SkillFamily, tasks: int, workers: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Accuracies (kinds, workers), and the kind of each task."""
    kinds = min(family.kinds, tasks)
    if family.pools is None:
        accuracy = rng.uniform(family.low, family.high, (kinds, workers))
    else:
        pool = rng.integers(0, family.pools, workers)
        accuracy = rng.uniform(family.low, family.high, (kinds, family.pools))[:, pool]
    return np.round(accuracy, 3), rng.integers(0, kinds, tasks)

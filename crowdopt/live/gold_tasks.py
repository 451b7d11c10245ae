"""Tasks whose answer is known, fed in unseen among the others where a policy wants to know a worker's skill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.online.crowds import GOLD_ORDER


@dataclass(frozen=True, eq=False)
class GoldTasks:
    """Gold tasks by type; index k stands for the task ``ids[k]``."""

    ids: tuple[str, ...]
    kind: Ints  # (gold,): type of each
    truth: Ints  # (gold,): its class

    def next_ones(self, counts: Ints, done: list[Ints], seed: tuple[int, ...]) -> Ints:
        """The worker's next gold tasks, (k,): so many of each type as ``counts``, or as many as are not yet done."""
        chosen = [np.zeros(0, np.int64)]
        for kind in np.flatnonzero(counts).tolist():
            there = np.flatnonzero(self.kind == kind)
            order = np.random.default_rng([*seed, GOLD_ORDER, kind]).permutation(there)
            rest = order[~np.isin(order, done[kind])]
            chosen.append(rest[: int(counts[kind])])
        return np.concatenate(chosen)


def gold_tasks(known: Mapping[str, tuple[int, int]]) -> GoldTasks:
    """From task -> (type, class)."""
    kind, truth = (np.array([pair[k] for pair in known.values()], np.int64) for k in (0, 1))
    return GoldTasks(tuple(known), kind, truth)

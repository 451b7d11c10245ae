"""Optima that are proven, and every set of labels of a small instance: what programs are held against."""

from __future__ import annotations

import itertools

import numpy as np

from crowdopt import certify, solve
from crowdopt.core.program import Program


def optimum(program: Program) -> float:
    """The certified optimum of a linear program."""
    certificate = certify(solve(program))
    assert certificate.proves_optimal(1e-8)
    return certificate.value


def covering_sets(classes) -> tuple[list[int], list[np.ndarray]]:
    """Every set of labels that covers a task within the task's limits: the class of tasks, the worker classes."""
    kinds, sets = [], []
    for kind in range(classes.need.size):
        ranges = [range(low, high + 1) for low, high in zip(classes.least[kind], classes.room[kind], strict=True)]
        for counts in itertools.product(*ranges):
            enough = classes.evidence[kind] @ np.array(counts) >= classes.floor[kind]
            if enough and classes.fewest[kind] <= sum(counts) <= classes.most[kind]:
                kinds.append(kind)
                sets.append(np.repeat(np.arange(len(counts)), counts))
    return kinds, sets

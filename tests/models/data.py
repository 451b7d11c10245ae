"""Instances as MathProg data sections, and instances to try."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from crowdopt.crowd.groups import Group, OwnRows
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.io.mathprog import assignment_data, selection_data


def section(instance: AssignmentInstance, dual: bool = False) -> str:
    """The data of models/assignment.mod, or of its dual."""
    return assignment_data(instance, dual)


def selection_section(instance: SelectionInstance) -> str:
    """The data of models/selection.mod, workers and groups by name."""
    workers, groups = [f"w{i}" for i in range(instance.n_workers)], [f"g{g}" for g in range(instance.n_groups)]
    return selection_data(replace(instance, workers=workers, groups=groups or None))


OPTIONS = ("priced", "forbidden", "fixed", "collected", "labels", "load", "budget", "demand", "groups", "own")


def drawn(
    seed: int, options: Iterable[str] = OPTIONS, rule: str = "bhattacharyya", classes: int = 2
) -> AssignmentInstance:
    """A small instance with the named options and no contradiction; feasible or not."""
    rng, options = np.random.default_rng(seed), set(options)
    n, m = int(rng.integers(2, 5)), int(rng.integers(3, 6))
    kinds = int(rng.integers(1, n + 1))
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(m)])
    forbidden, collected, fixed = (pairs[: n * m // 4], pairs[n * m // 4 : n * m // 2], pairs[n * m // 2 :][:1])
    fewest = rng.integers(0, 3, n)
    capacity = rng.integers(1, n + 1, m)
    return AssignmentInstance(
        accuracy=rng.choice([0.0, 0.3, 0.5, 0.6, 0.75, 0.9, 1.0, rng.random()], (kinds, m)),
        task_type=rng.integers(0, kinds, n),
        capacity=capacity,
        epsilon=rng.uniform(0.01, 0.4, n),
        rule=rule,
        classes=classes,
        cost=rng.integers(0, 7, (kinds, m)) / 2 if "priced" in options else 1.0,
        forbidden=forbidden if "forbidden" in options else None,
        collected=collected if "collected" in options else None,
        fixed=fixed if "fixed" in options else None,
        min_labels=fewest if "labels" in options else None,
        max_labels=np.where(rng.random(n) < 0.5, UNLIMITED, fewest + m + 1) if "labels" in options else None,
        min_load=rng.integers(0, capacity + 1) if "load" in options else None,
        budget=float(rng.integers(0, 20)) / 2 if "budget" in options else None,
        groups=_groups(rng, m) if "groups" in options else (),
        own_rows=_own(rng, n, m) if "own" in options else None,
        demand=rng.uniform(0, 2, n) if "demand" in options else 1.0,
        tasks=[f"t{i}" for i in range(n)],
        workers=[f"w{j}" for j in range(m)],
    )


def _groups(rng: np.random.Generator, m: int) -> list[Group]:
    """Two families that share no worker, and a group across them with shares."""
    middle = int(rng.integers(1, m))
    return [
        Group("ours", range(middle), max_per_task=int(rng.integers(1, 3)), dependent=True),
        Group("theirs", range(middle, m), dependent=True, min_share=0.25),
        Group("across", range(0, m, 2), min_per_task=1, max_share=0.75),
    ]


def _own(rng: np.random.Generator, n: int, m: int) -> OwnRows:
    """One row over a few pairs."""
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(m)])[:4]
    return OwnRows(("wish",), np.zeros(4, int), pairs, rng.integers(1, 4, 4) / 2, [-np.inf], [2.5])

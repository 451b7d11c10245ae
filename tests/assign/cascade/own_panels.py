"""Small panels of two classes whose workers each have a skill of their own, and what an order comes to by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from crowdopt import AssignmentInstance, Group, OwnRows
from crowdopt.crowd.asking_orders import AskingOrder


def drawn_own(seed: int, workers: int | None = None) -> AssignmentInstance:
    """3 or 4 workers, one or two types; every limit that orders know, priors, prices, confusion tables."""
    rng = np.random.default_rng(seed)
    many, kinds, tasks = workers or int(rng.integers(3, 5)), int(rng.integers(1, 3)), int(rng.integers(8, 30))
    one = AssignmentInstance(
        accuracy=rng.uniform(0.52, 0.97, (kinds, many)).round(3),
        task_type=np.arange(tasks) % kinds,
        capacity=rng.integers(tasks // 2, tasks + 1, many),
        epsilon=float(rng.choice([0.1, 0.15, 0.2, 0.3])),
        rule="mean-error" if rng.random() < 0.2 else "exact-error",
        cost=rng.choice([0.2, 0.4, 1.0, 3.0], many),
        prior=None if rng.random() < 0.5 else rng.dirichlet(np.full(2, 8.0)),
        max_labels=None if rng.random() < 0.7 else np.full(tasks, many - 1),
        budget=float(rng.uniform(2, 5) * tasks) if rng.random() < 0.3 else None,
        groups=[Group("g", [0, many - 1], max_per_task=1)] if rng.random() < 0.3 else [],
    )
    if rng.random() < 0.25 and one.rule == "exact-error":
        one = one.with_confusion(rng.dirichlet(np.full(2, 0.7), (kinds, many, 2)) * 0.98 + 0.01)
    if rng.random() < 0.3:
        one = replace(one, min_load=(rng.uniform(0, 0.5, many) * one.capacity).astype(int))
    if rng.random() < 0.3:
        every = np.array([(i, j) for i in range(tasks) for j in range(many)])
        coefficient = rng.uniform(-0.5, 2, (kinds, many)).round(2)[one.task_type].reshape(-1)
        side = float(rng.uniform(0.5, 1.5) * tasks)
        one = replace(one, own_rows=OwnRows(["mine"], np.zeros(len(every), int), every, coefficient, [-np.inf], [side]))
    return one


def by_hand(order: AskingOrder, likely: np.ndarray, law: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Chances to ask each worker of an order, to be wrong, to need the expert: every way its labels can fall.

    likely (workers, 2): chance of the label 1 where each class is true.
    """
    asked, wrong, expert = np.zeros(len(order.workers)), 0.0, 0.0
    for truth, labels in product((0, 1), product((0, 1), repeat=len(order.workers))):
        given = dict(zip(order.workers, labels, strict=True))
        chance = law[truth]
        for worker, label in given.items():
            p = likely[worker, truth]
            chance *= p if label else 1 - p
        had: dict[int, int] = {}
        action, what = order.turn(had)
        while action == "ask":
            asked[order.workers.index(what)] += chance
            had[what] = given[what]
            action, what = order.turn(had)
        wrong += chance * (action == "answer" and what != truth)
        expert += chance * (action == "expert")
    return asked, wrong, expert

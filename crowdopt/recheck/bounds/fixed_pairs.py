"""What bounds the labels beside the fixed ones, which every plan has and pays for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.crowd.instance import AssignmentInstance


def beside_fixed(instance: AssignmentInstance) -> tuple[AssignmentInstance, float]:
    """The campaign whose fixed pairs are labels that are in, and what they cost; -> as it is, and 0, where that errs.

    A vote hears a fixed label as it hears one that is in, unless what was answered is known; and money, loads and rows
    of one's own have that much less left.
    """
    task, worker = instance.fixed.T
    cost = float(instance.cost[instance.task_type[task], worker].sum())
    if not task.size or instance.observed or cost > (np.inf if instance.budget is None else instance.budget):
        return instance, 0.0
    load, own = np.zeros(instance.n_workers, np.int64), instance.own_rows
    np.add.at(load, worker, 1)
    if own is not None:
        is_fixed = np.zeros((instance.n_tasks, instance.n_workers))
        is_fixed[task, worker] = 1
        brings = np.zeros(len(own.names))
        np.add.at(brings, own.row, own.coefficient * is_fixed[tuple(own.pairs.T)])
        own = replace(own, lower=own.lower - brings, upper=own.upper - brings)
    left = replace(
        instance,
        collected=np.vstack([instance.collected, instance.fixed]),
        fixed=np.empty((0, 2), np.int64),
        capacity=instance.capacity - load,
        min_load=(instance.min_load - load).clip(0),
        budget=None if instance.budget is None else instance.budget - cost,
        own_rows=own,
    )
    return left, cost

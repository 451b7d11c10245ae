"""An instance with some of its tasks only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.instance import AssignmentInstance


def of_tasks(instance: AssignmentInstance, kept: Ints) -> AssignmentInstance:
    """The instance with the tasks ``kept`` alone, in that order; workers and all their limits stay as they are."""
    place = np.full(instance.n_tasks, -1)
    place[kept] = np.arange(kept.size)
    return replace(
        instance,
        task_type=instance.task_type[kept],
        epsilon=instance.epsilon[kept],
        demand=instance.demand[kept],
        min_labels=instance.min_labels[kept],
        max_labels=instance.max_labels[kept],
        prior=instance.prior[kept] if instance.prior.ndim > 1 else instance.prior,
        tasks=[instance.task_id(int(i)) for i in kept],
        types=[instance.type_id(k) for k in range(instance.n_types)],
        forbidden=_renumbered(instance.forbidden, place),
        fixed=_renumbered(instance.fixed, place),
        collected=_renumbered(instance.collected, place),
    )


def _renumbered(pairs: Ints, place: Ints) -> Ints:
    return np.column_stack([place[pairs[:, 0]], pairs[:, 1]])[place[pairs[:, 0]] >= 0]

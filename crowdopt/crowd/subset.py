"""An instance restricted to some of its tasks, or some of its workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError

PAIRS = ("forbidden", "fixed", "collected")


def of_tasks(instance: AssignmentInstance, tasks: Ints) -> AssignmentInstance:
    """The instance with some tasks alone, in that order; workers and all their limits stay as they are.

    tasks (k,): each once; -> its task k is ``tasks[k]``; all types stay.
    """
    if instance.own_rows is not None or any(group.has_share_limits for group in instance.groups):
        raise InputError("shares of all labels and own rows are about all tasks; solve them all together")
    return replace(
        instance,
        task_type=instance.task_type[tasks],
        epsilon=instance.epsilon[tasks],
        demand=instance.demand[tasks],
        min_labels=instance.min_labels[tasks],
        max_labels=instance.max_labels[tasks],
        prior=instance.prior[tasks] if instance.prior.ndim > 1 else instance.prior,
        tasks=[instance.task_id(int(i)) for i in tasks],
        types=[instance.type_id(k) for k in range(instance.n_types)],
        **_pairs(instance, tasks, instance.n_tasks, side=0),
    )


def own_accuracies(instance: AssignmentInstance, tasks: Ints) -> AssignmentInstance:
    """Some tasks alone, each with a row of accuracies of its own; rows that no task has are left out.

    instance: without limits on tasks beside pairs, and with a price for each worker; tasks (k,): each once; -> its task
    k is ``tasks[k]``.
    """
    return AssignmentInstance(
        instance.accuracy[instance.task_type[tasks]],
        capacity=instance.capacity,
        epsilon=instance.epsilon[tasks],
        demand=instance.demand[tasks],
        rule=instance.rule,
        cost=instance.cost[0],
        workers=instance.workers,
        title=instance.title,
        **_pairs(instance, tasks, instance.n_tasks, side=0),
    )


def of_workers(instance: AssignmentInstance, workers: Ints, ids: Sequence[str] | None = None) -> AssignmentInstance:
    """The instance with some workers alone, in that order; tasks and all their limits stay as they are.

    workers (k,): one who stands here several times is copied; the pairs stay with the first; ids: what these workers
    are called; default: 0, 1, 2, ...; -> its worker k is ``workers[k]``.
    """
    if instance.own_rows is not None:
        raise InputError("own rows are about the workers they name; take them out before choosing workers")
    law = instance.vote_law
    return replace(
        instance,
        groups=_members(instance, workers),
        accuracy=instance.accuracy[:, workers],
        confusion=None if instance.confusion is None else instance.confusion[:, workers],
        capacity=instance.capacity[workers],
        cost=instance.cost[:, workers],
        min_load=instance.min_load[workers],
        workers=ids,
        vote_law=None if law is None else law.of_workers(workers),
        **_pairs(instance, workers, instance.n_workers, side=1),
    )


def _members(instance: AssignmentInstance, workers: Ints) -> tuple[Group, ...]:
    chosen = [(group, np.flatnonzero(np.isin(workers, group.members)).tolist()) for group in instance.groups]
    gone = next((group for group, members in chosen if not members and group.min_per_task + group.min_share > 0), None)
    if gone is not None:
        raise InputError(f"no worker of the group {gone.name} is left, but every plan must have labels by it")
    return tuple(replace(group, members=members) for group, members in chosen if members)


def _pairs(instance: AssignmentInstance, chosen: Ints, count: int, side: int) -> dict[str, Any]:
    place = np.full(count, -1, np.int64)
    place[chosen[::-1]] = np.arange(chosen.size)[::-1]
    moved = {name: getattr(instance, name).copy() for name in PAIRS}
    for pairs in moved.values():
        pairs[:, side] = place[pairs[:, side]]
    return {name: pairs[pairs[:, side] >= 0] for name, pairs in moved.items()}

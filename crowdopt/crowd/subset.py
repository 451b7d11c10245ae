"""An instance restricted to some of its tasks, or some of its workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import FIELDS, PAIRS, AssignmentInstance
from crowdopt.errors import InputError


def of_tasks(instance: AssignmentInstance, tasks: Ints) -> AssignmentInstance:
    """The instance with some tasks alone, in that order; workers and all their limits stay as they are.

    tasks (k,): each once; -> its task k is ``tasks[k]``; all types stay.
    """
    if instance.own_rows is not None or any(group.has_share_limits for group in instance.groups):
        raise InputError("shares of all labels and own rows are about all tasks; solve them all together")
    return replace(
        instance,
        **_restricted(instance, "task", tasks),
        prior=instance.prior[tasks] if instance.prior.ndim > 1 else instance.prior,
        tasks=[instance.task_id(int(i)) for i in tasks],
        types=[instance.type_id(k) for k in range(instance.n_types)],
    )


def own_accuracies(instance: AssignmentInstance, tasks: Ints) -> AssignmentInstance:
    """Some tasks alone, each with a row of accuracies of its own; rows that no task has are left out.

    instance: without limits on tasks beside pairs, and with a price for each worker; tasks (k,): each once; -> its task
    k is ``tasks[k]``.
    """
    its = _restricted(instance, "task", tasks)
    return AssignmentInstance(
        instance.accuracy[its.pop("task_type")],
        **its,
        capacity=instance.capacity,
        rule=instance.rule,
        cost=instance.cost[0],
        workers=instance.workers,
        title=instance.title,
    )


def of_workers(instance: AssignmentInstance, workers: Ints, ids: Sequence[str] | None = None) -> AssignmentInstance:
    """The instance with some workers alone, in that order; tasks and all their limits stay as they are.

    workers (k,): one who stands here several times is copied; the pairs stay with the first; ids: what these workers
    are called; default: 0, 1, 2, ...; -> its worker k is ``workers[k]``.
    """
    if instance.own_rows is not None:
        raise InputError("own rows are about the workers they name; take them out before choosing workers")
    law = instance.vote_law
    cells: dict[str, Any] = {one.name: getattr(instance, one.name) for one in FIELDS if one.of == "cell"}
    cells = {name: None if table is None else table[:, workers] for name, table in cells.items()}
    return replace(
        instance,
        **_restricted(instance, "worker", workers),
        **cells,
        groups=_members(instance, workers),
        workers=ids,
        vote_law=None if law is None else law.of_workers(workers),
    )


def _members(instance: AssignmentInstance, workers: Ints) -> tuple[Group, ...]:
    chosen = [(group, np.flatnonzero(np.isin(workers, group.members)).tolist()) for group in instance.groups]
    gone = next((group for group, members in chosen if not members and group.min_per_task + group.min_share > 0), None)
    if gone is not None:
        raise InputError(f"no worker of the group {gone.name} is left, but every plan must have labels by it")
    return tuple(replace(group, members=members) for group, members in chosen if members)


def _restricted(instance: AssignmentInstance, of: str, chosen: Ints) -> dict[str, Any]:
    """Numbers of the chosen tasks or workers, and the pairs of these."""
    place = np.full(instance.n_tasks if of == "task" else instance.n_workers, -1, np.int64)
    place[chosen[::-1]] = np.arange(chosen.size)[::-1]
    fields = {one.name: getattr(instance, one.name)[chosen] for one in FIELDS if one.of == of and one.kind is not str}
    for name in PAIRS:
        pairs = getattr(instance, name).copy()
        side = pairs[:, int(of == "worker")]
        side[:] = place[side]
        fields[name] = pairs[side >= 0]
    return fields

"""The tasks of an instance that still need labels, each by itself, as arrays that compiled loops read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints, parts_of
from crowdopt.crowd.group_limits import refuse_joint_limits
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance

KINDS, CELLS = 32, 15_000  # kinds of task, and kinds x workers, beyond which each task is taken by itself
BLOCKS = 40_000  # the same where kinds have several tasks


class OwnArrays(NamedTuple):
    """What a compiled loop knows of tasks k: their row of evidence, floor, limits on labels, and barred workers.

    ``worth[row[k], j]`` is the evidence of worker j's label, ``cost[row[k], j]`` its price (row 0 where all rows
    agree); task k may not have ``barred[starts[k]:starts[k + 1]]``.
    """

    row: Ints
    floor: Floats
    fewest: Ints
    most: Ints
    starts: Ints
    barred: Ints
    worth: Floats
    cost: Floats


@dataclass(frozen=True, eq=False)
class OwnTasks:
    """The open tasks, ordered by row so that those of a row follow one another, with fixed labels taken for granted."""

    instance: AssignmentInstance
    task: Ints  # (k,): index of each in the instance
    arrays: OwnArrays
    need: Floats  # (k,): evidence that a plan must add; ``arrays.floor`` is what every acceptable plan adds
    # fewest and most labels beyond the fixed ones that each worker can give
    room: Ints  # (workers,)
    least: Ints  # (workers,)
    constant: float  # what the fixed labels cost
    budget: float | None  # what is left of it after the fixed labels

    @property
    def size(self) -> int:
        """How many tasks are open."""
        return int(self.task.size)

    @cached_property
    def target(self) -> Floats:
        """Evidence that a task of a plan gets, (k,): the need, less half of what it may lack."""
        return np.maximum(0.0, self.need - COVERAGE / 2)

    @cached_property
    def is_shared(self) -> bool:
        """Whether several tasks share a row of evidence."""
        return bool((np.diff(self.arrays.row) == 0).any())

    def part(self, some: Ints, share: float = 1.0) -> OwnTasks:
        """Some of the tasks, ascending, with a share of what workers and the budget give, whole labels."""
        arrays = self.arrays
        starts, barred = parts_of(arrays.starts, some, arrays.barred)
        own = arrays._replace(
            row=arrays.row[some],
            floor=arrays.floor[some],
            fewest=arrays.fewest[some],
            most=arrays.most[some],
            starts=starts,
            barred=barred,
        )
        return replace(
            self,
            task=self.task[some],
            arrays=own,
            need=self.need[some],
            room=np.rint(share * self.room).astype(np.int64),
            least=np.floor(share * self.least).astype(np.int64),
            budget=None if self.budget is None else share * self.budget,
        )

    def pairs(self, hands: Ints, held: Ints) -> Ints:
        """Labels ``hands[k, :held[k]]`` of each task and the fixed ones as sorted pairs of the instance."""
        dealt = np.arange(hands.shape[1]) < held[:, None]
        chosen = np.column_stack([np.repeat(self.task, held), hands[dealt].astype(np.int64)])
        both = np.concatenate([chosen, self.instance.fixed])
        return both[np.lexsort((both[:, 1], both[:, 0]))]


def own_tasks(instance: AssignmentInstance) -> OwnTasks:
    """What is left to do once the fixed labels are bought; tasks that need nothing more are left out.

    Where a worker has a least load every task stays: it may get labels that it does not need.
    """
    refuse_joint_limits(instance, "the exact method for individual tasks")
    n, m, fixed = instance.n_tasks, instance.n_workers, instance.fixed
    given = np.bincount(fixed[:, 0], minlength=n)
    brought = instance.supply(fixed)
    fewest, most = instance.new_label_limits
    fewest = np.maximum(0, fewest - given)
    most = np.where(most == UNLIMITED, UNLIMITED, np.maximum(0, most - given))
    floor, need = np.maximum(0.0, instance.floor - brought), np.maximum(0.0, instance.residual_need - brought)
    open_ = (floor > 0) | (fewest > 0) | bool(instance.min_load.any())
    task = np.flatnonzero(open_)
    task = task[np.argsort(instance.task_type[task], kind="stable")]
    starts, barred = _by_task(np.concatenate([instance.barred, fixed]), task, n)
    load = np.bincount(fixed[:, 1], minlength=m)
    spent = float(instance.prices(fixed).sum())
    flat = instance.cost.strides[0] == 0
    cost = np.array(
        instance.cost[:1] if flat else instance.cost, order="C"
    )  # a copy: what is read-only is compiled anew
    arrays = OwnArrays(
        row=instance.task_type[task],
        floor=floor[task],
        fewest=fewest[task],
        most=most[task],
        starts=starts,
        barred=barred,
        worth=np.ascontiguousarray(instance.evidence),
        cost=cost,
    )
    return OwnTasks(
        instance=instance,
        task=task,
        arrays=arrays,
        need=need[task],
        room=instance.capacity - load,
        least=np.maximum(0, instance.min_load - load),
        constant=spent,
        budget=None if instance.budget is None else instance.budget - spent,
    )


def _by_task(pairs: Ints, task: Ints, n: int) -> tuple[Ints, Ints]:
    """Workers of each open task's pairs, one task after another, and where each begins."""
    place = np.full(n, -1)
    place[task] = np.arange(task.size)
    owner = place[pairs[:, 0]]
    owner, worker = owner[owner >= 0], pairs[owner >= 0, 1]
    order = np.lexsort((worker, owner))
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=task.size))]).astype(np.int64)
    return starts, np.ascontiguousarray(worker[order])


def is_individual(instance: AssignmentInstance) -> bool:
    """Whether tasks that need labels are of so many kinds that each is best taken by itself."""
    fewest, most = instance.new_label_limits
    open_ = (instance.floor > 0) | (fewest > 0)
    own = np.unique(np.concatenate([instance.barred[:, 0], instance.fixed[:, 0]]))
    special = np.zeros(instance.n_tasks, bool)
    special[own] = True
    alike = open_ & ~special
    columns = [instance.task_type[alike], instance.residual_need[alike], fewest[alike], most[alike].astype(float)]
    kinds = int((open_ & special).sum())
    if kinds <= KINDS or kinds * instance.n_workers <= CELLS:
        kinds += _distinct(columns) if alike.any() else 0
    cells = CELLS if 4 * kinds > open_.sum() else BLOCKS
    return kinds > KINDS and kinds * instance.n_workers > cells


def _distinct(columns: list[NDArray[Any]]) -> int:
    """How many different rows the columns make, told apart column by column: six times as fast as whole rows."""
    code = np.zeros(columns[0].size, np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        if values.size > 1:
            code = np.unique(code * values.size + place, return_inverse=True)[1]
    return int(code.max()) + 1

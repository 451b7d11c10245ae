"""Tasks of two classes and workers with a skill each: where tasks stand, and what votes tell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.states.kinds_of_tasks import KindsOfTasks
from crowdopt.crowd.states.label_rows import LabelRow, label_rows
from crowdopt.crowd.states.told_tasks import law_of, refuse_unknown_labels, refuse_unplanned, task_kinds
from crowdopt.errors import InputError

Vote = tuple[int, int, int]  # worker, class and 1


@dataclass(frozen=True, eq=False)
class TaskStart:
    """Tasks of a kind with the same labels in."""

    kind: int
    votes: tuple[Vote, ...]  # by worker
    law: Floats  # (2,): chances of the classes, given those labels
    tasks: Ints


@dataclass(frozen=True, eq=False)
class OwnSkills(KindsOfTasks):
    """Kinds of tasks where each worker is an asker."""

    starts: tuple[TaskStart, ...]
    likely: Floats  # (kinds, workers, 2): chance of the label 1 where class 0, and class 1, is true

    @property
    def price(self) -> Floats:
        """What a vote costs, (kinds, workers)."""
        return self.instance.cost[self.of_type]

    @cached_property
    def label_rows(self) -> tuple[LabelRow, ...]:
        """Linear limits on labels."""
        return label_rows(self.instance, self.first, self.workers)

    @property
    def workers(self) -> tuple[Ints, ...]:
        """The worker that each asker is."""
        return tuple(np.arange(self.instance.n_workers)[:, None])

    @cached_property
    def limited(self) -> tuple[Ints, Ints]:
        """Members of groups that limit the labels of a task, (groups, workers) of 0 and 1, and those limits."""
        groups = [group for group in self.instance.groups if group.max_per_task is not None]
        members = np.zeros((len(groups), self.instance.n_workers), np.int64)
        for row, group in zip(members, groups, strict=True):
            row[list(group.members)] = 1
        return members, np.array([group.max_per_task for group in groups], np.int64)

    def may_ask(self, start: TaskStart) -> tuple[Bools, Ints, int]:
        """Whom tasks that start there may ask, (workers,); what limits of groups leave; the most labels to come."""
        task, (members, limits) = int(start.tasks[0]), self.limited
        free = np.ones(self.instance.n_workers, bool)
        free[self.instance.forbidden[self.instance.forbidden[:, 0] == task, 1]] = False
        had = np.array([worker for worker, *_ in start.votes], np.int64)
        free[had] = False
        most = min(int(self.instance.max_labels[task]) - had.size, int(free.sum()))
        return free, limits - members[:, had].sum(axis=1), max(0, most)


def own_skills(instance: AssignmentInstance, labels: Ints | None = None) -> OwnSkills:
    """The instance's tasks by kind and by the labels that are in.

    instance: of two classes; labels (collected,): the class that each label already in says. Raises InputError for what
    an adaptive plan of many workers knows nothing of.
    """
    refuse_unplanned(instance)
    refuse_unknown_labels(instance, labels)
    if instance.classes != 2 or instance.errs_together:
        raise InputError(
            "an adaptive plan of many workers who differ in skill is for two classes and votes that are independent; "
            "state no difficulty and no law of votes, or plan with fewer judges"
        )
    unknown = {
        "fixed pairs": instance.fixed.size > 0,
        "min_labels": bool((instance.min_labels > 0).any()),
        "min_per_task of a group": any(group.min_per_task for group in instance.groups),
    }
    named = [what for what, is_there in unknown.items() if is_there]
    if named:
        raise InputError(
            f"an adaptive plan of many workers who differ in skill does not know {', '.join(named)}; take that out, or "
            "plan without --adaptive"
        )
    kind, first = task_kinds(instance)
    workers = tuple(np.arange(instance.n_workers)[:, None])
    likely = np.stack([law_of(instance, task, workers)[1][0, :, :, 1] for task in first.tolist()])
    said = np.zeros(0, np.int64) if labels is None else labels
    return OwnSkills(instance, kind, first, _starts(instance, kind, likely, said), likely)


def _starts(instance: AssignmentInstance, kind: Ints, likely: Floats, labels: Ints) -> tuple[TaskStart, ...]:
    votes: list[list[Vote]] = [[] for _ in range(instance.n_tasks)]
    for (task, worker), label in zip(instance.collected.tolist(), labels.tolist(), strict=True):
        votes[task].append((worker, label, 1))
    alike: dict[tuple[int, tuple[Vote, ...]], list[int]] = {}
    for task, some in enumerate(votes):
        alike.setdefault((int(kind[task]), tuple(sorted(some))), []).append(task)
    found = []
    for (t, had), tasks in alike.items():
        law = np.array(instance.prior if instance.prior.ndim == 1 else instance.prior[tasks[0]], np.float64)
        for worker, label, _ in had:
            law = law * (likely[t, worker] if label else 1 - likely[t, worker])
        if law.sum() <= 0:
            raise InputError(
                f"the labels of task {instance.task_id(tasks[0])} cannot be: a worker of skill 0 or 1 contradicts "
                "others; correct skills"
            )
        law = law / law.sum()
        found.append(TaskStart(t, had, law, np.array(tasks, np.int64)))
    return tuple(found)

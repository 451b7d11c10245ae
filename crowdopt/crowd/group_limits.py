"""Limits of an instance's groups and own rows, and the refusals of methods that do not know them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.crowd.groups import UNBOUNDED, OwnRows
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError


def task_limits(instance: AssignmentInstance) -> tuple[list[int], Ints, Ints]:
    """Groups with limits per task (positions), and the fewest and most *new* labels of each for each task, (k, tasks).

    UNBOUNDED where a group has no most.

    -> (list of int, (k, tasks) array, (k, tasks) array).
    """
    limited = [g for g, group in enumerate(instance.groups) if group.has_task_limits]
    n = instance.n_tasks
    fewest, most = np.zeros((len(limited), n), np.int64), np.full((len(limited), n), UNBOUNDED)
    for k, g in enumerate(limited):
        group, had = instance.groups[g], labels_had(instance, g)
        fewest[k] = np.maximum(0, group.min_per_task - had)
        if group.max_per_task is not None:
            most[k] = np.maximum(0, group.max_per_task - had)
    return limited, fewest, most


@dataclass(frozen=True, eq=False)
class TaskGroups:
    """Groups with limits per task: in which of them each worker is, and how many new labels of theirs tasks have."""

    first: Ints  # (workers + 1,): where a worker's groups begin
    group: Ints  # (k,)
    fewest: Ints  # (groups, tasks)
    most: Ints  # (groups, tasks); UNBOUNDED where there is none

    @classmethod
    def of(cls, instance: AssignmentInstance) -> TaskGroups:
        """The groups with limits per task of an instance."""
        limited, fewest, most = task_limits(instance)
        worker, group = np.nonzero(membership(instance)[limited].T)
        first = np.searchsorted(worker, np.arange(instance.n_workers + 1))
        return cls(first, np.ascontiguousarray(group), fewest, most)

    def those_of(self, workers: Ints) -> tuple[Ints, Ints]:
        """Pairs of a place among these workers (k,) and a group that the worker at this place is in."""
        count = self.first[workers + 1] - self.first[workers]
        before = np.cumsum(count) - count
        at = np.repeat(self.first[workers] - before, count) + np.arange(count.sum())
        return np.repeat(np.arange(workers.size), count), self.group[at]

    def inside(self, place: Ints, workers: Ints, places: int) -> Ints:
        """Labels of each group at each place, (groups, places); place, workers (k,): whose labels stand where."""
        counts = np.zeros((self.most.shape[0], places), np.int64)
        at, group = self.those_of(workers)
        np.add.at(counts, (group, place[at]), 1)
        return counts

    def keep(self, tasks: Ints, place: Ints, workers: Ints) -> Bools:
        """Whether each of these tasks (t,) may have, and need no more than, the labels that stand at its place."""
        counts = self.inside(place, workers, tasks.size)
        kept = (counts >= self.fewest[:, tasks]) & (counts <= self.most[:, tasks])
        return np.asarray(kept.all(axis=0))


WAYS = 24  # in which a task's labels may come from workers of several groups, for bounds to tell all of them apart


def in_several(instance: AssignmentInstance) -> tuple[Bools, Ints]:
    """Which of the groups with limits per task some workers are in together, and the most labels a task has of those.

    -> (sets of groups, groups) bool and (sets of groups,): one row for each set of two groups and more.
    """
    limited, _, most = task_limits(instance)
    inside = membership(instance)[limited].T
    sets, size = np.unique(inside[inside.sum(axis=1) > 1], axis=0, return_counts=True)
    tops = [min(int(many), int(most[one].max(axis=1).min())) for one, many in zip(sets, size, strict=True)]
    return sets, np.array(tops, np.int64)


def bounds_know_overlaps(instance: AssignmentInstance) -> bool:
    """Whether groups that share workers are few enough to be proven with, all ways of sharing labels side by side."""
    return bool(np.prod(in_several(instance)[1].astype(np.float64) + 1) <= WAYS)


def labels_had(instance: AssignmentInstance, group: int) -> Ints:
    """Labels already in that are the group's, (tasks,); group: its position; -> (tasks,)."""
    collected = instance.collected
    mine = np.isin(collected[:, 1], instance.groups[group].members)
    return np.bincount(collected[mine, 0], minlength=instance.n_tasks)


def membership(instance: AssignmentInstance) -> Bools:
    """Who is in which group, (groups, workers)."""
    table = np.zeros((len(instance.groups), instance.n_workers), bool)
    for g, group in enumerate(instance.groups):
        table[g, list(group.members)] = True
    return table


def told_apart(instance: AssignmentInstance) -> tuple[list[Ints], list[Ints]]:
    """Marks that differ between tasks, and between workers, if joint limits treat them differently.

    Tasks differ in the labels that groups with limits per task may still give them, workers in their groups, and both
    in their entries of own rows.

    -> list of (tasks,) arrays, list of (workers,) arrays: None where there are no joint limits.
    """
    if not has_joint_limits(instance):
        return [], []
    _, fewest, most = task_limits(instance)
    limited = [group.has_limits for group in instance.groups]
    tasks, workers = [*fewest, *most], [row.astype(np.int64) for row in membership(instance)[limited]]
    if instance.own_rows is not None:
        tasks.append(_marks(instance.own_rows, 0, instance.n_tasks))
        workers.append(_marks(instance.own_rows, 1, instance.n_workers))
    return tasks, workers


def _marks(own: OwnRows, side: int, count: int) -> Ints:
    """Tasks, or workers, with the same entries share a number; 0 for those without any."""
    order = np.lexsort((own.coefficient, own.row, own.pairs[:, 1 - side], own.pairs[:, side]))
    one, other = own.pairs[order, side], own.pairs[order, 1 - side]
    entries = np.column_stack([own.row[order], other, own.coefficient[order]])
    marks = np.zeros(count, np.int64)
    if not one.size:  # rows of which no pair is left to choose
        return marks
    known: dict[bytes, int] = {}
    named, starts = np.unique(one, return_index=True)
    for number, part in zip(named.tolist(), np.split(entries, starts[1:]), strict=True):
        marks[number] = known.setdefault(part.tobytes(), len(known) + 1)
    return marks


def has_joint_limits(instance: AssignmentInstance) -> bool:
    """Whether groups or own rows ask anything of a plan."""
    return instance.own_rows is not None or any(group.has_limits for group in instance.groups)


def refuse_joint_limits(instance: AssignmentInstance, what: str, why: str = "") -> None:
    """InputError where a method does not know groups or own rows: ignoring them would be a wrong answer.

    what: who does not know them; why: the reason, in words that follow "because".
    """
    if has_joint_limits(instance):
        reason = f", because {why}" if why else ""
        raise InputError(
            f"{what} does not know groups of workers or own rows{reason}; "
            "the methods exact and highs do (crowdopt solve), or take them out of the campaign"
        )

"""Limits of an instance's groups and own rows, and the refusals of methods that do not know them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.crowd.groups import UNBOUNDED
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError


def membership(instance: AssignmentInstance) -> Bools:
    """Who is in which group, (groups, workers)."""
    table = np.zeros((len(instance.groups), instance.n_workers), bool)
    for g, group in enumerate(instance.groups):
        table[g, list(group.members)] = True
    return table


def labels_had(instance: AssignmentInstance) -> Ints:
    """Labels already in that are each group's, (groups, tasks)."""
    (task, worker), n = instance.collected.T, instance.n_tasks
    counts = [np.bincount(task[inside[worker]], minlength=n) for inside in membership(instance)]
    return np.array(counts, np.int64).reshape(-1, n)


def task_limits(instance: AssignmentInstance) -> tuple[list[int], Ints, Ints]:
    """Groups with limits per task (positions), and the fewest and most *new* labels of each for each task, (k, tasks).

    UNBOUNDED where a group has no most.

    -> (list of int, (k, tasks) array, (k, tasks) array).
    """
    limited = [g for g, group in enumerate(instance.groups) if group.has_task_limits]
    groups, had = [instance.groups[g] for g in limited], labels_had(instance)[limited]
    fewest = np.array([group.min_per_task for group in groups], np.int64)[:, None]
    tops = [UNBOUNDED if group.max_per_task is None else group.max_per_task for group in groups]
    most = np.array(tops, np.int64)[:, None]
    return limited, np.maximum(0, fewest - had), np.where(most == UNBOUNDED, most, np.maximum(0, most - had))


@dataclass(frozen=True, eq=False)
class TaskGroups:
    """Groups with limits per task: who is in each of them, and how many new labels of theirs tasks have."""

    member: Bools  # (groups, workers)
    fewest: Ints  # (groups, tasks)
    most: Ints  # (groups, tasks); UNBOUNDED where there is none

    @classmethod
    def of(cls, instance: AssignmentInstance) -> TaskGroups:
        """The groups with limits per task of an instance."""
        limited, fewest, most = task_limits(instance)
        return cls(membership(instance)[limited], fewest, most)

    def those_of(self, workers: Ints) -> tuple[Ints, Ints]:
        """Pairs of a place among these workers (k,) and a group that the worker at this place is in."""
        place, group = np.nonzero(self.member[:, workers].T)
        return place, group

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

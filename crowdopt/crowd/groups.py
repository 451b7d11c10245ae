"""Groups of workers and their limits: labels of a group per task, its share of all labels, families; own rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.errors import InputError, public

if TYPE_CHECKING:
    from crowdopt.crowd.instance import AssignmentInstance

UNBOUNDED = 2**53  # labels of a group; so many are no limit


@public
@dataclass(frozen=True)
class Group:
    """Some workers, and limits on their labels; those already in count.

    Parameters
    ----------
    name : str
    members : sequence of int
        Workers. A worker may be in several groups, but in one that is ``dependent`` at most.
    min_per_task, max_per_task : int, optional
        Fewest and most labels that each task gets of the group. At most 1 where the group is dependent and nothing
        else is said.
    min_share, max_share : float
        Share of all labels of the plan that must, and may, be the group's.
    dependent : bool
        Whether the members may err together in any way: a family (crowdopt.crowd.rules).
    """

    name: str
    members: Sequence[int]
    min_per_task: int = 0
    max_per_task: int | None = None
    min_share: float = 0.0
    max_share: float = 1.0
    dependent: bool = False

    @property
    def has_limits(self) -> bool:
        """Whether the group limits plans at all."""
        return self.has_task_limits or self.has_share_limits

    @property
    def has_task_limits(self) -> bool:
        """Whether it limits the labels of single tasks."""
        return self.min_per_task > 0 or self.max_per_task is not None

    @property
    def has_share_limits(self) -> bool:
        """Whether it limits a share of all labels."""
        return self.min_share > 0 or self.max_share < 1


@public
@dataclass(frozen=True, eq=False)
class OwnRows:
    """Rows ``lower <= sum over entries of coefficient * y[task, worker] <= upper`` that a user adds.

    Parameters
    ----------
    names : sequence of str
        Of the rows; each once.
    row : (k,) int
        Row of each entry.
    pairs : (k, 2) int
        Its task and worker; entries of one row and pair add up.
    coefficient : (k,) float
    lower, upper : (rows,) float
        Sides; infinite where there is none.
    """

    names: Sequence[str]
    row: Ints
    pairs: Ints
    coefficient: Floats
    lower: Floats
    upper: Floats


def checked_groups(groups: Any, worker_id: Any, m: int) -> tuple[Group, ...]:
    """Groups as given, each validated; a mapping's keys are the names."""
    if groups is None:
        return ()
    if isinstance(groups, Mapping):
        groups = [
            replace(one, name=str(name)) if isinstance(one, Group) else Group(str(name), one)
            for name, one in groups.items()
        ]
    try:
        found = tuple(_checked(one, m) for one in groups)
    except TypeError:
        raise InputError("groups must be crowdopt.Group objects, or a mapping of names to them or to members") from None
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the group {twice!r} is there twice; give each group its own name")
    _refuse_two_families(found, worker_id)
    return found


def _checked(group: Any, m: int) -> Group:
    if not isinstance(group, Group):
        raise TypeError
    try:
        members = tuple(sorted({int(member) for member in group.members}))
    except (TypeError, ValueError):
        raise InputError(f"group {group.name}: members must be workers' numbers") from None
    if not members or members[0] < 0 or members[-1] >= m:
        raise InputError(f"group {group.name}: members must be some of the {m} workers, numbered from 0")
    most = 1 if group.max_per_task is None and group.dependent else group.max_per_task
    _check_limits(group, len(members), most)
    return replace(group, members=members, max_per_task=most)


def _check_limits(group: Group, size: int, most: int | None) -> None:
    """InputError for limits that no plan can keep; most: labels of a task, where there is a limit."""
    limits = (group.min_per_task, group.max_per_task or 0)
    if any(type(limit) is not int or not 0 <= limit < UNBOUNDED for limit in limits):
        raise InputError(f"group {group.name}: min_per_task and max_per_task are whole numbers of at least 0")
    if most is not None and group.min_per_task > most:
        raise InputError(f"group {group.name}: min_per_task {group.min_per_task} is above max_per_task {most}")
    if group.min_per_task > size:
        raise InputError(f"group {group.name}: min_per_task {group.min_per_task}, but it has {size} workers")
    if not 0 <= group.min_share <= group.max_share <= 1:
        raise InputError(f"group {group.name}: shares must satisfy 0 <= min_share <= max_share <= 1")
    if most == 0 and group.dependent:
        raise InputError(f"group {group.name}: a family of which no task may have a label is no family; drop workers")


def _refuse_two_families(groups: Iterable[Group], worker_id: Any) -> None:
    home: dict[int, str] = {}
    for group in groups:
        for member in group.members if group.dependent else ():
            if member in home:
                raise InputError(
                    f"worker {worker_id(member)} is in two dependent groups, {home[member]} and {group.name}; "
                    "families are apart: join them, or drop the worker from one"
                )
            home[member] = group.name


def checked_rows(rows: Any, n: int, m: int) -> OwnRows | None:
    """Own rows as given, validated; InputError says what cannot be used."""
    if rows is None or (isinstance(rows, OwnRows) and not len(rows.names)):
        return None
    if not isinstance(rows, OwnRows):
        raise InputError("rows must be crowdopt.OwnRows (crowdopt.io.campaign.own_rows reads them from a table)")
    try:
        row, pairs = np.asarray(rows.row, np.int64), np.asarray(rows.pairs, np.int64)
        given = (np.asarray(part, np.float64) for part in (rows.coefficient, rows.lower, rows.upper))
        coefficient, lower, upper = given
    except (TypeError, ValueError):
        raise InputError("rows: row and pairs are whole numbers, coefficients and sides numbers") from None
    names = tuple(str(name) for name in rows.names)
    _check_rows(names, (row, pairs, coefficient, lower, upper), n, m)
    parts = (rows.row, rows.pairs, rows.coefficient, rows.lower, rows.upper)
    clean = zip(parts, (row, pairs, coefficient, lower, upper), strict=True)
    if isinstance(rows.names, tuple) and all(one is other for one, other in clean):
        return rows
    for array in (row, pairs, coefficient, lower, upper):
        array.setflags(write=False)
    return OwnRows(names, row, pairs, coefficient, lower, upper)


def _check_rows(names: tuple[str, ...], parts: tuple[Any, ...], n: int, m: int) -> None:
    """InputError for rows that contradict themselves or name what is not there; parts: as arrays."""
    row, pairs, coefficient, lower, upper = parts
    count = len(names)
    if len(set(names)) < count:
        raise InputError("rows: two rows have one name; give each its own")
    if (
        row.shape != coefficient.shape
        or pairs.shape != (row.size, 2)
        or lower.shape != (count,)
        or upper.shape != (count,)
    ):
        raise InputError("rows: row, pairs and coefficient need one entry each, lower and upper one per name")
    if ((row < 0) | (row >= count)).any() or ((pairs < 0) | (pairs >= (n, m))).any():
        raise InputError(f"rows: an entry names a row, task or worker beyond the {count}, {n} and {m} there are")
    if not np.isfinite(coefficient).all() or np.isnan(lower).any() or np.isnan(upper).any():
        raise InputError("rows: coefficients must be finite, sides numbers or infinite")
    if (lower > upper).any():
        name = names[int(np.flatnonzero(lower > upper)[0])]
        raise InputError(f"rows: the lower side of {name} is above its upper side")


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

"""Groups of workers and their limits: labels of a group per task, its share of all labels, families; own rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.errors import InputError, public

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

"""Groups of workers and their limits: labels of a group per task, its share of all labels, families; own rows.

Arrays as given, checked: one sentence says what cannot be used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints, sealed
from crowdopt.errors import InputError, public

Owner: TypeAlias = tuple[str, Callable[[int], str]]  # a worker or a task, and the id of each


def floats(name: str, values: Any) -> Floats:
    """A fresh float array of what was given. name: the field, for messages; values: of any shape; -> the same shape."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers") from None


SKILL_DIGITS = 10  # of a chance, after the point: no skill is known better, and what is less would decide ties


def chances(name: str, values: Any) -> Floats:
    """A fresh float array of chances, to SKILL_DIGITS digits: what differs by rounding alone is the same number.

    Two computations of one skill differ in the last bit with the processor and with the order of operations. Workers
    alike would no longer be alike, and who of them is chosen would hang on it.
    """
    given = floats(name, values)
    return np.round(given, SKILL_DIGITS, out=given)


def integers(name: str, values: Any) -> Ints:
    """A fresh array of whole numbers; floats without a fraction count."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} must be whole numbers") from None
    if array.dtype.kind in "iu":
        return array.astype(np.int64)
    given = floats(name, values)
    whole = np.isfinite(given) & (given == np.rint(given)) & (np.abs(given) < 2**53)
    if not whole.all():
        where = int(np.flatnonzero(~whole.ravel())[0])
        raise InputError(f"{name} must be whole numbers; entry {where} is {given.ravel()[where]}")
    return given.astype(np.int64)


def per(name: str, values: Any, count: int, owner: str, kind: type) -> NDArray[Any]:
    """An array with one number per owner; a single number holds for all.

    name: the field, for messages; values number or (count,) array; -> (count,): of the given kind, fresh.
    """
    array = integers(name, values) if kind is np.int64 else floats(name, values)
    if array.ndim == 0:
        return np.broadcast_to(array, (count,)).copy()
    if array.shape != (count,):
        raise InputError(f"{name} has shape {array.shape}; give one number or one per {owner}, that is {count}")
    return array


def ids(name: str, values: Sequence[str] | None, count: int) -> tuple[str, ...] | None:
    """Unique ids, as many as there should be."""
    if values is None:
        return None
    given = tuple(str(value) for value in values)
    if len(given) != count:
        raise InputError(f"{name} has {len(given)} ids for {count}")
    if len(set(given)) != count:
        seen: set[str] = set()
        twice = next(one for one in given if one in seen or seen.add(one))  # type: ignore[func-returns-value]
        raise InputError(f"{name} has the id {twice!r} twice; ids must be unique")
    return given


def is_amount(value: Any) -> bool:
    """Whether a budget is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    return bool(0 <= value < 1e300)


def refuse_excess(low: Ints, high: Ints, what: str, limit: str, owner: Owner) -> None:
    """Refuse the first owner who has more than there is room for."""
    if (low > high).any():
        where = int(np.flatnonzero(low > high)[0])
        who = f"{owner[0]} {owner[1](where)}"
        raise InputError(f"{who} has {low[where]} {what} but {limit} {high[where]}; change one of them")


def checked_pairs(name: str, values: Any, n: int, m: int) -> Ints:
    """Pairs (task, worker), (k, 2), each once."""
    try:
        pairs = np.zeros((0, 2), np.int64) if values is None or len(values) == 0 else integers(name, values)
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, InputError) else InputError(f"{name} must be pairs (task, worker)") from None
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"{name} must be pairs (task, worker), not of shape {pairs.shape}")
    outside = (pairs < 0).any(axis=1) | (pairs >= (n, m)).any(axis=1)
    if outside.any():
        task, worker = pairs[outside][0]
        raise InputError(f"{name} has the pair ({task}, {worker}), but there are {n} tasks and {m} workers")
    keys, counts = np.unique(pairs[:, 0] * m + pairs[:, 1], return_counts=True)
    if (counts > 1).any():
        task, worker = divmod(int(keys[counts > 1][0]), m)
        raise InputError(f"{name} has the pair ({task}, {worker}) twice; give each pair once")
    return pairs


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


def checked_groups(groups: Any, worker_id: Callable[[int], str], m: int) -> tuple[Group, ...]:
    """Groups as given, each validated; a mapping's keys are the names."""
    if isinstance(groups, Mapping):
        groups = [
            replace(one, name=str(name)) if isinstance(one, Group) else Group(str(name), one)
            for name, one in groups.items()
        ]
    try:
        checked = tuple(_checked(one, m) for one in (() if groups is None else groups))
    except TypeError:
        raise InputError("groups must be crowdopt.Group objects, or a mapping of names to them or to members") from None
    names: set[str] = set()
    home: dict[int, str] = {}
    for group in checked:
        _refuse(group.name in names, f"the group {group.name!r} is there twice; give each group its own name")
        names.add(group.name)
        for member in group.members if group.dependent else ():
            if home.setdefault(member, group.name) != group.name:
                where = f"worker {worker_id(member)} is in two dependent groups, {home[member]} and {group.name}"
                raise InputError(f"{where}; families are apart: join them, or drop the worker from one")
    return checked


def _checked(group: Any, m: int) -> Group:
    if not isinstance(group, Group):
        raise TypeError
    who, least = f"group {group.name}", group.min_per_task
    try:
        members = tuple(sorted({int(member) for member in group.members}))
    except (TypeError, ValueError):
        raise InputError(f"{who}: members must be workers' numbers") from None
    outside = not members or members[0] < 0 or members[-1] >= m
    _refuse(outside, f"{who}: members must be some of the {m} workers, numbered from 0")
    most = 1 if group.max_per_task is None and group.dependent else group.max_per_task
    odd = any(type(limit) is not int or not 0 <= limit < UNBOUNDED for limit in (least, most or 0))
    _refuse(odd, f"{who}: min_per_task and max_per_task are whole numbers of at least 0")
    _refuse(most is not None and least > most, f"{who}: min_per_task {least} is above max_per_task {most}")
    _refuse(least > len(members), f"{who}: min_per_task {least}, but it has {len(members)} workers")
    low, high = float(group.min_share), float(group.max_share)
    ordered = 0 <= low <= high <= 1
    _refuse(not ordered, f"{who}: shares must satisfy 0 <= min_share <= max_share <= 1")
    idle = group.dependent and most == 0
    _refuse(idle, f"{who}: a family of which no task may have a label is no family; drop workers")
    return replace(group, members=members, max_per_task=most, min_share=low, max_share=high)


def checked_rows(rows: Any, n: int, m: int) -> OwnRows | None:
    """Own rows as given, validated; InputError says what cannot be used."""
    if rows is None or (isinstance(rows, OwnRows) and not len(rows.names)):
        return None
    kind = "rows must be crowdopt.OwnRows (crowdopt.io.campaign reads them from a table)"
    _refuse(not isinstance(rows, OwnRows), kind)
    row, pairs = (integers(f"rows: {name}", getattr(rows, name)) for name in ("row", "pairs"))
    numbers = (floats(f"rows: {name}", getattr(rows, name)) for name in ("coefficient", "lower", "upper"))
    names, (coefficient, lower, upper) = tuple(str(name) for name in rows.names), numbers
    k, count, shapes = row.size, len(names), [part.shape for part in (row, pairs, coefficient, lower, upper)]
    _refuse(len(set(names)) < count, "rows: two rows have one name; give each its own")
    uneven = shapes != [(k,), (k, 2), (k,), (count,), (count,)]
    _refuse(uneven, "rows: row, pairs and coefficient need one entry each, lower and upper one per name")
    beyond = ((row < 0) | (row >= count)).any() or ((pairs < 0) | (pairs >= (n, m))).any()
    _refuse(beyond, f"rows: an entry names a row, task or worker beyond the {count}, {n} and {m} there are")
    numeric = np.isfinite(coefficient).all() and not (np.isnan(lower) | np.isnan(upper)).any()
    _refuse(not numeric, "rows: coefficients must be finite, sides numbers or infinite")
    crossed = [name for name, is_crossed in zip(names, lower > upper, strict=True) if is_crossed]
    _refuse(crossed, f"rows: the lower side of {'; '.join(crossed[:1])} is above its upper side")
    return OwnRows(names, sealed(row), sealed(pairs), sealed(coefficient), sealed(lower), sealed(upper))


def _refuse(bad: Any, sentence: str) -> None:
    if bad:
        raise InputError(sentence)

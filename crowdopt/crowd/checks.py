"""Arrays as given, checked: one sentence says what cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.errors import InputError

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
    array = np.asarray(values)
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

"""Arrays as given, checked: one sentence says what cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.errors import InputError


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

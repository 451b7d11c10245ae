"""The arrays of the house, once: floats, whole numbers, truth values, all of 64 bits but the last; what is alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Number = TypeVar("Number", np.float64, np.int64, np.bool_)
Name = TypeVar("Name", bound=Hashable)
MIXES = (30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)  # of 64 bits (Steele, Lea & Flood 2014)
CELLS = 1_000_000  # of a long array or a table that are looked at together, so that little memory is needed beside


def sealed(array: NDArray[Number]) -> NDArray[Number]:
    """A contiguous view that cannot be written: kernels are compiled anew for every other sort of array."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view


def places(names: Iterable[Name]) -> dict[Name, int]:
    """Where each of different names stands among them."""
    return {name: place for place, name in enumerate(names)}


def nth_alike(ordered: Ints) -> Ints:
    """How many of the same number stand before each in an ordered array, (k,)."""
    return np.arange(ordered.size) - np.searchsorted(ordered, ordered)


def parts_of(at: Ints, some: Ints, *entries: NDArray[Any]) -> tuple[Any, ...]:
    """Where the entries of some owners begin, one owner after another, and these entries.

    at (owners + 1,): where each owner's entries begin; some (k,): owners, in any order; -> (k + 1,), and the rest.
    """
    count = np.diff(at)[some]
    starts = np.append(0, np.cumsum(count))
    place = np.repeat(at[some] - starts[:-1], count) + np.arange(starts[-1])
    return starts, *(one[place] for one in entries)


def coded(column: Iterable[Name], names: Iterable[Name]) -> Ints:
    """The place of each cell of a column among different names, -1 where it is none of them; (cells,)."""
    place = places(names)
    return np.array([place.get(name, -1) for name in column], np.int64)


def alike(*columns: NDArray[Any]) -> tuple[Ints, Ints]:
    """The one quotient: rows with the same entries share a number, in order of first appearance.

    columns: (rows,) or (rows, k) arrays; -> (rows,): number of each row; (numbers,): where each appears first.
    """
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        place = _same_rows(column) if column.ndim > 1 else np.unique(column, return_inverse=True)[1]
        key = np.unique(key * (int(place.max(initial=0)) + 1) + place, return_inverse=True)[1]
    first = np.unique(key, return_index=True)[1]
    order = np.argsort(first)
    return np.argsort(order)[key], first[order]


def _same_rows(table: NDArray[Any]) -> Ints:
    """A number for each distinct row: by one sum each, and by all entries where two rows meet in one sum."""
    weights, sums = np.sqrt(np.arange(2.0, table.shape[1] + 2.0)), np.empty(len(table))
    each = 1 + CELLS // max(1, table.shape[1])
    for start in range(0, len(table), each):  # each row is rounded alike: a matrix product is not
        rows = slice(start, start + each)
        sums[rows] = np.add.reduce(np.multiply(table[rows], weights, order="C"), axis=1)
    _, first, place = np.unique(sums, return_index=True, return_inverse=True)
    if (table == table[first[place]]).all():
        return place
    return np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)


def same_entries(count: int, owner: Ints, *entries: NDArray[Any]) -> Ints:
    """Owners of the same entries, in any order, share a number, (count,); 0 for those of none.

    owner (k,): whose each entry is; entries: (k,) arrays of numbers, which together say what it is. Owners are told
    apart by sums of 128 bits, which no order changes: entries are too many to be sorted.
    """
    sums, numbers = np.zeros((2, count), np.uint64), np.zeros(count, np.int64)
    for turn in range(2):
        mark = np.full(owner.size, turn + 1, np.uint64)
        for column in entries:
            mark ^= (column + 0.0).view(np.uint64)
            for shift, factor in MIXES:
                mark ^= mark >> np.uint64(shift)
                mark *= np.uint64(factor)
        np.add.at(sums[turn], owner, mark)
    some = np.flatnonzero(np.bincount(owner, minlength=count))
    numbers[some] = alike(*sums[:, some])[0] + 1
    return numbers

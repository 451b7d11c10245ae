"""The arrays of the house, once: floats, whole numbers, truth values, all of 64 bits but the last; names' places."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Number = TypeVar("Number", np.float64, np.int64, np.bool_)
Name = TypeVar("Name", bound=Hashable)


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


def coded(column: Iterable[Name], names: Iterable[Name]) -> Ints:
    """The place of each cell of a column among different names, -1 where it is none of them; (cells,)."""
    place = places(names)
    return np.array([place.get(name, -1) for name in column], np.int64)

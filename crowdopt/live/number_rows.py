"""Rows of numbers in the order in which they came, kept by columns: a copy of all of them takes no time."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = {"q": np.int64, "d": np.float64, "?": np.bool_}


class NumberRows:
    """A list of tuples that grows, and whose columns are arrays when asked for.

    kinds: of the columns, a letter each: ``q`` whole, ``d`` real, ``?`` true or false.
    """

    def __init__(self, kinds: str) -> None:
        self.kinds = kinds
        self.columns = [array("b" if kind == "?" else kind) for kind in kinds]

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, row: int) -> tuple[Any, ...]:
        return tuple(
            bool(column[row]) if kind == "?" else column[row]
            for kind, column in zip(self.kinds, self.columns, strict=True)
        )

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return zip(*(column.tolist() for column in self.arrays()), strict=True)

    def append(self, row: Sequence[Any]) -> None:
        """One more."""
        for column, value in zip(self.columns, row, strict=True):
            column.append(value)

    def extend(self, columns: Sequence[NDArray[Any]]) -> None:
        """Many more, by columns as in :meth:`arrays`."""
        for own, column in zip(self.columns, columns, strict=True):
            own.frombytes(column.tobytes())

    def correct(self, row: int, column: int, value: Any) -> None:
        """A number is another one."""
        self.columns[column][row] = value

    def arrays(self) -> list[NDArray[Any]]:
        """A copy of each column, each (rows,)."""
        return [np.array(column).astype(KINDS[kind]) for kind, column in zip(self.kinds, self.columns, strict=True)]

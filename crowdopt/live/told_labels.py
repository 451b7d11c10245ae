"""Every label that was told, in the order in which it came."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class ToldRow(NamedTuple):
    """A label that was told; late: after its lease was over; gold: on a task whose answer was known."""

    worker: str
    task: str
    label: str
    at: float
    paid: float
    late: bool
    gold: bool


class ToldLabels:
    """Labels by number: lease, worker, task, class, time, pay; and which lease has which label."""

    COLUMNS = ("lease", "worker", "task", "label", "at", "paid", "late", "gold")

    def __init__(self) -> None:
        self.rows = NumberRows("qqqqdd??")
        self.of_lease: dict[int, int] = {}
        self.of_pair: dict[tuple[int, int], int] = {}  # worker, task -> lease
        self.tally: dict[int, tuple[int, float]] = {}  # worker -> labels, and what they are paid
        self.paid = 0.0

    def add(self, row: tuple[int, int, int, int, float, float, bool, bool]) -> None:
        """One more; row: as in COLUMNS."""
        self._count(len(self.rows), row)
        self.rows.append(row)

    def _count(self, place: int, row: tuple[int, int, int, int, float, float, bool, bool]) -> None:
        self.of_lease[row[0]] = place
        self.of_pair[row[1:3]] = row[0]
        count, paid = self.of_worker(row[1])
        self.tally[row[1]] = (count + 1, paid + row[5])
        self.paid += row[5]

    def of_worker(self, worker: int) -> tuple[int, float]:
        """How many labels a worker told, and what they are paid."""
        return self.tally.get(worker, (0, 0.0))

    def correct(self, lease: int, label: int) -> None:
        """The label of a lease is another one."""
        self.rows.correct(self.of_lease[lease], self.COLUMNS.index("label"), label)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All columns, each (labels,)."""
        return dict(zip(self.COLUMNS, self.rows.arrays(), strict=True))

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take up what :meth:`arrays` gave."""
        self.rows.extend([arrays[name] for name in self.COLUMNS])
        for place, row in enumerate(self.rows):
            self._count(place, row)  # one by one, as they came: the same sums to the last bit


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

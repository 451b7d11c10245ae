"""Every label that was told, in the order in which it came."""

from __future__ import annotations

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
        self.rows: list[tuple[int, int, int, int, float, float, bool, bool]] = []
        self.of_lease: dict[int, int] = {}
        self.paid = 0.0

    def add(self, row: tuple[int, int, int, int, float, float, bool, bool]) -> None:
        """One more; row: as in COLUMNS."""
        self.of_lease[row[0]] = len(self.rows)
        self.rows.append(row)
        self.paid += row[5]

    def correct(self, lease: int, label: int) -> None:
        """The label of a lease is another one."""
        place = self.of_lease[lease]
        self.rows[place] = (*self.rows[place][:3], label, *self.rows[place][4:])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All columns, each (labels,)."""
        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.COLUMNS)
        kinds = (np.int64,) * 4 + (np.float64,) * 2 + (np.bool_,) * 2
        return {name: np.array(c, kind) for name, c, kind in zip(self.COLUMNS, columns, kinds, strict=True)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take up what :meth:`arrays` gave."""
        self.rows = list(zip(*(arrays[name].tolist() for name in self.COLUMNS), strict=True))
        self.of_lease = {row[0]: k for k, row in enumerate(self.rows)}
        self.paid = 0.0
        for row in self.rows:  # one by one, as they came: the same sum to the last bit
            self.paid += row[5]

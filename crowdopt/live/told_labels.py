"""Every label that was told, in the order in which it came."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from crowdopt.live.number_rows import NumberRows


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

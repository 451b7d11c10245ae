"""An order of workers who are asked one after another, until a score of their labels leaves its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ASK, ANSWER, EXPERT = "ask", "answer", "expert"
Votes = tuple[tuple[int, int, int], ...]  # asker, class of the label, how many; in that order


@dataclass(frozen=True)
class AskingOrder:
    """An order between two classes: each label adds a whole number to a score that begins at 0.

    Before worker n, and after the last: at ``low[n]`` or less the answer is class 0, at ``high[n]`` or more class 1.
    Between them worker n is asked; after the last the expert is.
    """

    workers: tuple[int, ...]  # each once
    adds: tuple[tuple[int, int], ...]  # what a label of class 0 and of class 1 adds, for each worker
    low: tuple[int, ...]  # one more than workers
    high: tuple[int, ...]

    def turn(self, labels: Mapping[int, int]) -> tuple[str, int]:
        """What comes after these labels: ASK and the worker, ANSWER and the class, or EXPERT and -1.

        labels: of workers by number; those who are not asked by this order do not count.
        """
        score = 0
        for n, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if not low < score < high:
                return ANSWER, int(score > low)
            if n < len(self.workers):
                if self.workers[n] not in labels:
                    return ASK, self.workers[n]
                score += self.adds[n][labels[self.workers[n]]]
        return EXPERT, -1

    def heard(self, labels: Mapping[int, int]) -> tuple[int, int]:
        """How many of its workers have been heard, one after another, and their score."""
        heard = next((n for n, worker in enumerate(self.workers) if worker not in labels), len(self.workers))
        return heard, sum(self.adds[n][labels[self.workers[n]]] for n in range(heard))


@dataclass(frozen=True)
class OrderShare:
    """A share of the tasks of a kind with these votes follows this order; votes by worker."""

    kind: int
    votes: Votes
    order: AskingOrder
    share: float
    tasks: float  # expected

"""Everything that was asked and what came of it, while a run goes on and when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import CHECK, EXPLORATION, GOLD, REFUSED, REPAIR, WORK
from crowdopt.notebooks import InNotebooks
from crowdopt.online.arrivals import Arrival, Decision, Stream

KINDS = (GOLD, EXPLORATION, WORK, REPAIR, CHECK)


class Ledger:
    """Labels, costs and refusals by kind, in the order in which they happened."""

    def __init__(self, workers: int) -> None:
        self.tasks: list[NDArray[Any]] = []
        self.workers: list[NDArray[Any]] = []
        self.labels: list[NDArray[Any]] = []
        self.count, self.cost = np.zeros(len(KINDS), np.int64), np.zeros(len(KINDS))
        self.refused, self.load = 0, np.zeros(workers, np.int64)

    def gold(self, arrival: Arrival, asked: Ints) -> None:
        """Gold labels are paid like any other."""
        kind = KINDS.index(EXPLORATION if arrival.preliminary else GOLD)
        self.count[kind] += asked.sum()
        self.cost[kind] += float((arrival.cost * asked).sum())

    def work(self, kind: str, tasks: NDArray[Any], workers: Ints | int, labels: Ints, price: Floats) -> None:
        """Labels that were had; refused ones cost nothing.

        kind: ``work`` or ``repair``; tasks (k,); workers (k,) int, or int: who gave each label, by number of arrival;
        labels (k,): REFUSED where there is none; price (k,).
        """
        got = labels != REFUSED
        each = np.broadcast_to(np.asarray(workers), tasks.shape)
        place = KINDS.index(kind)
        self.refused += tasks.size - int(np.count_nonzero(got))
        self.tasks.append(tasks[got].astype(np.int64))
        self.workers.append(each[got].astype(np.int64))
        self.labels.append(labels[got])
        self.count[place] += np.count_nonzero(got)
        self.cost[place] += float(price[got].sum())
        self.load += np.bincount(each[got], minlength=self.load.size)

    def check(self, looks: int, price: float) -> None:
        """Looks of an expert, each at so many times what a label cost on average."""
        middling = float(self.cost.sum()) / max(1, int(self.count.sum()))
        self.count[KINDS.index(CHECK)] += looks
        self.cost[KINDS.index(CHECK)] += looks * price * middling

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All labels, with what they count and cost by kind."""
        parts = {"task": self.tasks, "worker": self.workers, "label": self.labels}
        joined = {name: np.concatenate([np.zeros(0, np.int64), *each]) for name, each in parts.items()}
        return joined | {"count": self.count, "cost": self.cost}


@dataclass(frozen=True, eq=False)
class Run(InNotebooks):
    """A policy's run over a stream.

    Parameters
    ----------
    stream : Stream
    task, worker, label : (k,) int
        Labels of work and repair, in the order in which they were given; workers by number of arrival.
    labels, cost : dict
        By kind: gold, exploration (gold of preliminary workers), work, repair, check (looks of an expert).
    refused : int
        Labels asked for that could not be had.
    over_capacity : int
        Labels beyond workers' capacities, by a policy that does not keep them.
    skills : (types, workers) float
        What the policy believes of the workers at the end.
    answers : str
        How labels become answers.
    decided : (tasks,) int, optional
        The policy's own answers, -1 where it has none.
    claims : (tasks,) float, optional
        Chance that each answer is wrong, as the policy believes.
    prices : (tasks,) float, optional
        The policy's last prices.
    notes : list of str
    seconds : (arrivals,) float
        Time spent deciding and learning, per arrival of the stream.
    """

    stream: Stream
    policy: str
    task: Ints
    worker: Ints
    label: Ints
    labels: dict[str, int]
    cost: dict[str, float]
    refused: int
    over_capacity: int
    skills: Floats
    answers: str
    decided: Ints | None
    claims: Floats | None
    prices: Floats | None
    notes: list[str]
    seconds: Floats
    seed: int
    iterations: int | None = None

    @property
    def total_labels(self) -> int:
        """Labels of every kind."""
        return sum(self.labels.values())

    @property
    def total_cost(self) -> float:
        """What all of them cost."""
        return sum(self.cost.values())

    @cached_property
    def covered(self) -> Floats:
        """Evidence by the true skills, (tasks,)."""
        return self.stream.instance.collected_evidence + self.stream.instance.supply(
            np.column_stack([self.task, self.worker])
        )


def check(decision: Decision, arrival: Arrival, tasks: int, room: int, name: str) -> None:
    """A decision that no worker could carry out is a defect of the policy; it is said, not repaired."""
    asked = decision.tasks
    wrong = None
    if decision.kind == GOLD:
        wrong = "asks a negative number of gold tasks" if (asked < 0).any() else None
    elif asked.size and (asked.min() < 0 or asked.max() >= tasks):
        wrong = "names a task that does not exist"
    elif asked.size > room:
        wrong = f"asks {asked.size} labels of a worker who has room for {room}"
    elif asked.size > 1 and np.bincount(asked).max() > 1:
        wrong = "names a task twice"
    elif arrival.preliminary:
        wrong = "gives work to a preliminary worker"
    elif arrival.barred.size and np.isin(asked, arrival.barred).any():
        wrong = "gives a task to a worker who must not have it"
    if wrong:
        raise RuntimeError(f"policy {name} {wrong} (arrival {arrival.number})")

"""What the coordinator asks of the parts, and what it is told; what it answers itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.linear.sweep import Prices
from crowdopt.assign.parts.part_work import PartSweep, Start


class TimeIsUp(Exception):
    """The parts were asked something that they did not answer before the time limit."""


@dataclass(frozen=True, eq=False)
class PartLook:
    """What is known of a part before any price."""

    tasks: int  # how many it has
    constant: float  # what its fixed labels cost
    fixed: Ints  # (workers,): how many they are, worker by worker
    width: int  # labels that a set of its tasks may have


@dataclass(frozen=True, eq=False)
class PartPlan:
    """Labels of a part but fixed ones: ``load`` (workers,), ``cost``; ``whole`` where every task has its set."""

    load: Ints
    cost: float
    whole: bool


class Parts(Protocol):
    """The parts, wherever they lie: each question is put to all of them, answers come in their order."""

    def price(self, prices: Prices, nodes: int) -> Sequence[PartSweep]:
        """Bound, loads and costs at some prices."""
        ...

    def plan(self, some: Sequence[int], room: Ints, starts: Sequence[Start], nodes: int) -> Sequence[PartPlan]:
        """Plan some parts within their room (some, workers); whole ones write their labels."""
        ...


@dataclass(frozen=True, eq=False)
class PartsAnswer:
    """What is known in the end."""

    prices: Floats  # (workers,): the multipliers that prove the bound; at most 0
    bound: float  # what no plan costs less than; infinite: there is none
    load: Ints | None  # (workers,): labels of each worker, fixed ones included; None where no plan was found
    cost: float | None
    sweeps: int  # how many there were
    is_late: bool = False  # whether time was up before a plan was whole

"""What the coordinator asks of the parts, and what it is told; what it answers itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.individual.sweep import Prices
from crowdopt.assign.parts.part_work import PartSweep, Start


class TimeIsUp(Exception):
    """The parts were asked something that they did not answer before the time limit."""


@dataclass(frozen=True, eq=False)
class PartLook:
    """What is known of a part before any price.

    Parameters
    ----------
    tasks : int
        How many it has.
    constant : float
        What its fixed labels cost.
    fixed : (workers,) int
        How many they are, worker by worker.
    width : int
        Labels that a set of its tasks may have.
    """

    tasks: int
    constant: float
    fixed: Ints
    width: int


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
    """What is known in the end.

    Parameters
    ----------
    prices : (workers,) float
        The multipliers that prove the bound; at most 0.
    bound : float
        What no plan costs less than; infinite: there is none.
    load : (workers,) int, optional
        Labels of each worker, fixed ones included; None where no plan was found.
    cost : float, optional
    sweeps : int
        How many there were.
    is_late : bool
        Whether time was up before a plan was whole.
    """

    prices: Floats
    bound: float
    load: Ints | None
    cost: float | None
    sweeps: int
    is_late: bool = False

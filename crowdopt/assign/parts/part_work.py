"""What is done where a part lies: its bound at given prices, its sets, its plan within what it may use of workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.individual.blending import spread
from crowdopt.assign.individual.congestion import congested
from crowdopt.assign.individual.own_tasks import OwnTasks
from crowdopt.assign.individual.served import Served
from crowdopt.assign.individual.sweep import CLOSE, Prices, Sweeper
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import AssignmentInstance

ENDLESS = 1e9  # seconds: what is computed in parts does not depend on the clock
IMPROVED = 2  # times that each task may take a cheaper set of workers with room left


@dataclass(frozen=True, eq=False)
class PartSweep:
    """What a sweep brings of a part.

    Parameters
    ----------
    value, size : float
        Sum of the tasks' bounds, and of their absolute values.
    load, paid : (groups, workers) int, (groups,) float
        What the sets of each group ask of workers, and cost.
    """

    value: float
    size: float
    load: Ints
    paid: Floats


def swept(tasks: OwnTasks, prices: Prices, groups: int, nodes: int, width: int) -> PartSweep:
    """Price the tasks of a part; groups that have none are empty.

    Parameters
    ----------
    tasks : OwnTasks
        Of the part.
    prices : Prices
        For the workers' time.
    groups : int
        In which its tasks are taken together.
    nodes : int
        Of the search for a set.
    width : int
        Labels of a set that there is room for.

    Returns
    -------
    PartSweep
    """
    load, paid = np.zeros((groups, tasks.room.size), np.int64), np.zeros(groups)
    sweeper = Sweeper(tasks, 1, groups, width)
    sweep = sweeper.sweep(prices, Clock(ENDLESS), CLOSE, nodes)
    assert sweep is not None
    load[: sweeper.groups], paid[: sweeper.groups] = np.rint(sweep.load), sweep.paid
    return PartSweep(float(sweep.value.sum()), float(np.abs(sweep.value).sum()), load, paid)


def spread_sets(tasks: OwnTasks, visited: Sequence[Prices], share: Floats, nodes: int, width: int) -> Served:
    """Each task's set at one of some prices, those of a group in given shares: workers may have too many.

    Parameters
    ----------
    tasks : OwnTasks
        Of the part.
    visited : sequence of Prices
    share : (prices, groups) float
        How much of each group gets its sets at each of the prices.
    nodes : int
        Of the search for a set.
    width : int
        Labels of a set that there is room for.

    Returns
    -------
    Served
    """
    sweeper = Sweeper(tasks, 1, share.shape[1], width)
    dealt = Served.none(tasks, visited[0], width, sweeper.type)
    if not spread(dealt, sweeper, list(visited), share, nodes, Clock(ENDLESS)):
        raise AssertionError("a group of tasks has no share of any prices")
    return dealt


def settled(
    tasks: OwnTasks, hands: NDArray[Any], held: Ints, room: Ints, prices: Prices, rng: np.random.Generator
) -> Served:
    """The sets of a part, mended until no worker has more labels than the part may use, and then made cheaper.

    Parameters
    ----------
    tasks : OwnTasks
        Of the part.
    hands, held : (k, width) and (k,) int
        The sets to begin with.
    room : (workers,) int
        Labels of each worker that the part may use.
    prices : Prices
        By which sets are compared.
    rng : Generator
        Draws the order of tasks.

    Returns
    -------
    Served
        Not whole where the part needs more room.
    """
    inside = np.arange(hands.shape[1]) < held[:, None]
    load = np.bincount(hands[inside].astype(np.int64), minlength=room.size)
    part = replace(tasks, room=room)
    dealt = Served(part, prices, hands.copy(), held.copy(), room - load)
    _mend(dealt, rng)
    if not dealt.is_whole:
        dealt = _by_congestion(part, prices, hands.shape[1], rng) or dealt
    for _ in range(IMPROVED):
        if not dealt.serve_all(rng.permutation(tasks.size), Clock(ENDLESS)):
            break
    return dealt


def _mend(dealt: Served, rng: np.random.Generator) -> None:
    """Take labels from workers who have too many, and give tasks that have no set the cheapest one that is left."""
    clock = Clock(ENDLESS)
    dealt.shed(rng, clock)
    without = np.flatnonzero(dealt.held < 0)
    if without.size:
        dealt.serve_all(without[np.argsort(-dealt.tasks.target[without], kind="stable")], clock)


def _by_congestion(part: OwnTasks, prices: Prices, width: int, rng: np.random.Generator) -> Served | None:
    """A plan where each worker's price rises with their load, for parts whose room is nearly all that they need."""
    clock = Clock(ENDLESS)
    sweeper = Sweeper(part, 1, width=width)
    sweep = sweeper.sweep(prices, clock)
    assert sweep is not None
    for dealt in congested(sweeper, sweep, clock, rng):
        _mend(dealt, rng)
        if dealt.is_whole:
            return dealt
    return None


def cost_of(dealt: Served) -> float:
    """What the labels of tasks that have a set are paid, fixed ones left out."""
    tasks, total = dealt.tasks, 0.0
    row = np.zeros(tasks.size, np.int64) if len(tasks.arrays.cost) == 1 else tasks.arrays.row
    for t in range(dealt.hands.shape[1]):
        some = np.flatnonzero(dealt.held > t)
        total += float(tasks.arrays.cost[row[some], dealt.hands[some, t]].sum())
    return total


def shortest(instance: AssignmentInstance) -> tuple[int, float, float] | None:
    """A task whom all workers together cannot give its need: the task, what they can, what it needs; None: nobody."""
    every = instance.evidence.sum(axis=1)[instance.task_type]
    np.subtract.at(every, instance.barred[:, 0], instance.evidence[_rows(instance), instance.barred[:, 1]])
    lack = instance.floor - every
    worst = int(lack.argmax())
    return (worst, float(every[worst]), float(instance.floor[worst])) if lack[worst] > 1e-9 else None


def _rows(instance: AssignmentInstance) -> Ints:
    return instance.task_type[instance.barred[:, 0]]

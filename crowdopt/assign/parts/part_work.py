"""What is done where a part lies: its bound at given prices, and its plan within what it may use of workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.linear.own_tasks import OwnTasks
from crowdopt.assign.linear.sweep import CLOSE, Prices, Sweep, Sweeper
from crowdopt.assign.parts.dealing import congested, spread
from crowdopt.assign.parts.served import Served
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import AssignmentInstance

ENDLESS = 1e9  # seconds: what is computed in parts does not depend on the clock
NEAR = 2e-5  # relative; a part's plan so close to its bound is not improved


@dataclass(frozen=True, eq=False)
class PartSweep:
    """What a sweep brings of a part."""

    # sum of the tasks' bounds, and of their absolute values
    value: float
    size: float
    # what the sets of each group ask of workers, and cost
    load: Ints  # (groups, workers) int, (groups,) float
    paid: Floats  # (groups, workers) int, (groups,) float


@dataclass(frozen=True, eq=False)
class Start:
    """Where a plan begins: the ``best`` prices, and ``share`` (prices, groups) of sets at those ``visited``."""

    best: Prices
    visited: Sequence[Prices]
    share: Floats


def swept(tasks: OwnTasks, prices: Prices, groups: int, nodes: int, width: int) -> PartSweep:
    """Price the tasks of a part; groups that have none are empty.

    width: labels of a set that there is room for.
    """
    load, paid = np.zeros((groups, tasks.room.size), np.int64), np.zeros(groups)
    sweeper = Sweeper(tasks, 1, groups, width)
    sweep = sweeper.sweep(prices, Clock(ENDLESS), CLOSE, nodes)
    assert sweep is not None
    load[: sweeper.groups], paid[: sweeper.groups] = np.rint(sweep.load), sweep.paid
    return PartSweep(float(sweep.value.sum()), float(np.abs(sweep.value).sum()), load, paid)


def planned(tasks: OwnTasks, room: Ints, start: Start, nodes: int, width: int, rng: np.random.Generator) -> Served:
    """A plan of a part within its room: the cheaper one of two.

    Sets that tasks choose while a worker's price rises with their load (crowdopt.assign.parts.dealing): close
    where the part has many tasks for each worker; where it is as close to the part's bound as anybody asks, it is the
    plan. Else also sets at several prices in the shares in which all parts together fit the workers, mended: close to
    the bound where the coordinator's model is.

    room (workers,): labels of each worker that the part may use; nodes, width: as for :func:`swept`; -> not whole where
    the part needs more room.
    """
    part, best = replace(tasks, room=room), None
    sweeper = Sweeper(part, 1, width=width)
    sweep = sweeper.sweep(start.best, Clock(ENDLESS), CLOSE, nodes)
    assert sweep is not None
    least = float(sweep.value.sum() + room @ start.best.worker)
    for dealt in _by_congestion(sweeper, sweep, rng):
        if dealt.is_whole and (best is None or cost_of(dealt) < cost_of(best)):
            best = dealt
            if cost_of(best) <= least + NEAR * abs(least):
                return best
    dealt = _by_shares(part, start, nodes, width, rng)
    if best is None or (dealt.is_whole and cost_of(dealt) < cost_of(best)):
        best = dealt
    best.reprice(Prices(np.zeros(room.size)))
    best.serve_all(rng.permutation(part.size), Clock(ENDLESS))
    return best


def _by_shares(part: OwnTasks, start: Start, nodes: int, width: int, rng: np.random.Generator) -> Served:
    sweeper = Sweeper(part, 1, start.share.shape[1], width)
    dealt = Served.none(part, start.best, width, sweeper.type)
    spread(dealt, sweeper, list(start.visited), start.share, nodes, Clock(ENDLESS))
    _mend(dealt, rng)
    return dealt


def _by_congestion(sweeper: Sweeper, sweep: Sweep, rng: np.random.Generator) -> Iterator[Served]:
    """Plans after each pass over the tasks, mended, until one needs no mending."""
    for dealt in congested(sweeper, sweep, Clock(ENDLESS), rng):
        settled = dealt.is_whole
        if not settled:
            _mend(dealt, rng)
        yield dealt
        if settled:
            return


def _mend(dealt: Served, rng: np.random.Generator) -> None:
    """Take labels from workers who have too many, and give tasks that have no set the cheapest one that is left."""
    clock = Clock(ENDLESS)
    dealt.shed(rng, clock)
    without = np.flatnonzero(dealt.held < 0)
    if without.size:
        dealt.serve_all(without[np.argsort(-dealt.tasks.target[without], kind="stable")], clock)


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
    task, worker = instance.barred.T
    np.subtract.at(every, task, instance.evidence[instance.task_type[task], worker])
    lack = instance.floor - every
    worst = int(lack.argmax())
    return (worst, float(every[worst]), float(instance.floor[worst])) if lack[worst] > 1e-9 else None

"""Tasks of a row with nearly the same need taken as alike, by the greatest of their needs: the exact method's blocks.

A plan for them is one for the tasks themselves, only a little dearer; their prices are prices for all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.exact.blocks import BlockPrices, Blocks
from crowdopt.assign.exact.dive import DiveSettings, dive
from crowdopt.assign.individual.own_tasks import OwnTasks
from crowdopt.assign.individual.rows import averaged
from crowdopt.assign.individual.served import Served
from crowdopt.assign.individual.sweep import Prices
from crowdopt.core.clock import Clock
from crowdopt.core.master import MakeMaster
from crowdopt.crowd.classes import Classes

CELLS, MOST = 60_000, 16  # bins x workers, and bins of a row, at most
PAIRS = 3_000_000  # up to which there are twice as many at once; beyond, the prices of coarse bins are soon there
ROUNDS, NEAR = 60, 2e-4  # of column generation; relative distance of its bound and its value at which it ends
WORKERS = 2_500  # up to whom the blocks' master keeps its pace


def pays(tasks: OwnTasks, rows: int) -> bool:
    """Whether tasks have nothing but needs and barred workers of their own, and rows and workers are few."""
    plain = not tasks.is_limited and tasks.budget is None and tasks.is_shared
    return plain and tasks.room.size <= WORKERS and rows * tasks.room.size <= CELLS


def levels(tasks: OwnTasks) -> tuple[int, ...]:
    """How many times as many bins there may be, one after the other: finer ones begin at the prices of coarse ones."""
    return (2,) if tasks.size * tasks.room.size <= PAIRS else (1, 2)


def binned(tasks: OwnTasks, finer: int = 1) -> Classes:
    """Tasks of each row in bins of equal size by need, every task of a bin with its greatest.

    finer: how many times as many bins there may be.
    """
    rows = averaged(tasks)
    each = int(np.clip(finer * CELLS // rows.evidence.size, 1, finer * MOST))
    place = rows.task_class
    order = np.lexsort((tasks.target, place))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size) - np.repeat(np.cumsum(rows.tasks_in) - rows.tasks_in, rows.tasks_in)
    key = place * each + rank * each // rows.tasks_in[place]
    used, bin_of, count = np.unique(key, return_inverse=True, return_counts=True)
    need, kind = np.zeros(used.size), used // each
    np.maximum.at(need, bin_of, tasks.target)
    shape = used.size, tasks.room.size
    return replace(
        rows,
        task_class=bin_of,
        tasks_in=count,
        evidence=rows.evidence[kind],
        cost=rows.cost[kind],
        need=need,
        floor=need,
        fewest=np.zeros(used.size, np.int64),
        most=np.full(used.size, rows.most[0]),
        least=np.zeros(shape, np.int64),
        room=np.ones(shape, np.int64),
    )


class Bins:
    """Blocks over bins: prices, and plans by diving."""

    def __init__(self, tasks: OwnTasks, start: Prices, make_master: MakeMaster, finer: int) -> None:
        self.tasks, self.classes = tasks, binned(tasks, finer)
        center = BlockPrices(start.worker.copy(), np.zeros(self.classes.need.size))
        self.blocks = Blocks(self.classes, make_master, center, self.classes.tasks_in, tasks.room)

    def prices(self, clock: Clock) -> Prices:
        """The best prices that column generation reaches."""
        self.blocks.generate(ROUNDS, NEAR, np.inf, lambda: clock.left)
        return Prices(np.ascontiguousarray(self.blocks.center.worker))

    def dive(
        self, settings: DiveSettings, rng: np.random.Generator, clock: Clock, width: int, prices: Prices
    ) -> Served:
        """Sets fixed part by part; tasks left without one, or with a worker whom they may not have, have none."""
        fixed = dive(self.blocks, settings, rng, np.inf, lambda: clock.left)
        hands = fixed.hands(self.blocks)
        wide = max([width, *(chosen.size for _, chosen, _ in hands)])
        dealt = Served.none(self.tasks, prices, wide, np.int16 if prices.worker.size < 2**15 else np.int32)
        members = np.split(np.argsort(self.classes.task_class, kind="stable"), np.cumsum(self.classes.tasks_in)[:-1])
        following = np.zeros(len(members), np.int64)
        for kind, chosen, count in hands:
            some: Ints = members[kind][following[kind] : following[kind] + count]
            following[kind] += count
            dealt.hands[some, : chosen.size] = chosen
            dealt.held[some] = chosen.size
            np.subtract.at(dealt.left, chosen, some.size)
        dealt.drop(np.flatnonzero(dealt.has_barred()))
        return dealt

"""Labels of a part dealt: sets at several prices in given shares, or sets while prices follow the loads.

Prices alone leave ties, and ties overload a worker by thousands: whole classes of sets cost the same. Where prices
follow the loads, tasks that have a choice leave the crowded workers by themselves (a congestion game; its multipliers
are those of an augmented Lagrangian, Hestenes 1969, Powell 1969).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.linear.sweep import CLOSE, Prices, Sweep, Sweeper
from crowdopt.assign.parts import served
from crowdopt.assign.parts.served import PART, Served
from crowdopt.core.clock import Clock

NOTHING = 1e-6  # a smaller share is none
GOLDEN = (5**0.5 - 1) / 2  # multiples of it, without their whole part, are spread evenly
STEEP = (3.0, 3.0, 3.0, 10.0, 10.0, 30.0, 30.0)  # price of the whole room taken twice, in mean labels, pass by pass


def spread(dealt: Served, sweeper: Sweeper, visited: list[Prices], share: Floats, nodes: int, clock: Clock) -> bool:
    """Give each task its set at one of the prices, those of a group in given shares; whether there was time for all.

    share (prices, groups): how much of each group gets its sets at each of the prices.
    """
    tasks = dealt.tasks
    for group in range(sweeper.groups):
        members = np.arange(group, tasks.size, sweeper.groups)
        used = np.flatnonzero(share[:, group] > NOTHING)
        part = Sweeper(tasks.part(members), sweeper.threads, width=dealt.hands.shape[1])
        sweeps = [part.sweep(visited[u], clock, CLOSE, nodes) for u in used]
        whole = [sweep for sweep in sweeps if sweep is not None]
        if len(whole) < max(1, len(sweeps)):
            return False
        line = _even(whole, share[used, group])
        for number, sweep in enumerate(whole):
            mine = line == number
            dealt.hands[members[mine]] = sweep.hands[mine]
            dealt.held[members[mine]] = sweep.held[mine]
    inside = np.arange(dealt.hands.shape[1]) < dealt.held[:, None]
    dealt.left -= np.bincount(dealt.hands[inside].astype(np.int64), minlength=tasks.room.size)
    dealt.drop(np.flatnonzero((dealt.held >= 0) & (dealt.slack() < 0)))
    return True


def _even(sweeps: list[Sweep], share: Floats) -> Ints:
    """Which sweep's set each task takes, in these shares, evenly among tasks that have the same choice."""
    if len(sweeps) == 1:
        return np.zeros(sweeps[0].held.size, np.int64)
    width = sweeps[0].hands.shape[1]
    rows = []
    for sweep in sweeps:
        inside = np.arange(width) < sweep.held[:, None]
        rows.append(np.sort(np.where(inside, sweep.hands, -1), axis=1))
    order = np.lexsort(np.concatenate(rows, axis=1).T)
    place = np.empty(order.size)
    place[order] = np.arange(order.size) * GOLDEN % 1.0
    return np.minimum(np.searchsorted(np.cumsum(share), place, side="right"), len(sweeps) - 1)


def congested(sweeper: Sweeper, best: Sweep, clock: Clock, rng: np.random.Generator) -> Iterator[Served]:
    """Plans after each pass over all tasks, workers' loads closer and closer to their capacities.

    -> some workers may have too many labels yet, or too few where they have least loads.
    """
    tasks = sweeper.tasks
    dealt = Served.none(tasks, best.prices, sweeper.width, sweeper.type)
    unit = float(best.paid.sum()) / max(1.0, float(best.load.sum())) or float(tasks.arrays.cost.mean())
    worker = best.prices.worker.copy()
    for number, steep in enumerate(STEEP):
        slope = unit * steep / np.maximum(1, tasks.room)
        if not _respond(dealt, worker, slope, number == 0, clock, rng):
            return
        worker = np.where(worker > 0, worker, np.minimum(0.0, worker + slope * dealt.left))
        plan = dealt.copy()
        plan.reprice(replace(best.prices, worker=worker))
        yield plan


def _respond(
    dealt: Served, worker: Floats, slope: Floats, is_first: bool, clock: Clock, rng: np.random.Generator
) -> bool:
    """Each task chooses once, in an order by chance; whether there was time for all."""
    from crowdopt.assign.least_set import Pay, SetEffort
    from crowdopt.assign.parts import serving_kernels as kernels

    tasks, money = dealt.tasks, 1.0 - dealt.prices.budget
    effort = SetEffort(served.NODES, served.CLOSE)
    queue, each = rng.permutation(tasks.size), 1.0 / tasks.size if is_first else 0.0
    for begin in range(0, queue.size, PART):
        if clock.over:
            return False
        behind = 1.0 - begin * each if is_first else 0.0
        part, pull = queue[begin : begin + PART], kernels.Pull(slope, tasks.room, behind, each)
        kernels.respond(part, tasks.arrays, tasks.target, Pay(worker, money), pull, effort, dealt.arrays)
    return True

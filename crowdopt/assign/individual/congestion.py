"""Plans where tasks are many: each task takes its cheapest set while a worker's price rises with their load.

Prices alone leave ties, and ties overload a worker by thousands: whole classes of sets cost the same. Where prices
follow the loads, tasks that have a choice leave the crowded workers by themselves (a congestion game; its multipliers
are those of an augmented Lagrangian, Hestenes 1969, Powell 1969).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.individual.prices.sweep import Sweep, Sweeper
from crowdopt.assign.individual.served import CLOSE, NODES, Served
from crowdopt.core.clock import Clock

STEEP = (3.0, 3.0, 3.0, 10.0, 10.0, 30.0, 30.0)  # price of the whole room taken twice, in mean labels, pass by pass
PART = 4_000  # tasks that choose between two looks at the clock


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
    from crowdopt.assign.individual.kernels import responding
    from crowdopt.assign.individual.kernels.least_set import Pay, SetEffort

    tasks, money = dealt.tasks, 1.0 - dealt.prices.budget
    effort = SetEffort(NODES, CLOSE)
    queue, each = rng.permutation(tasks.size), 1.0 / tasks.size if is_first else 0.0
    for begin in range(0, queue.size, PART):
        if clock.over:
            return False
        behind = 1.0 - begin * each if is_first else 0.0
        part, pull = queue[begin : begin + PART], responding.Pull(slope, tasks.room, behind, each)
        responding.respond(part, tasks.arrays, tasks.target, Pay(worker, money), pull, effort, dealt.arrays)
    return True

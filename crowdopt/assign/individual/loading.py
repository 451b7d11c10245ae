"""Load what is compiled before the clock runs: the first time ever that takes a minute, later a moment."""

from __future__ import annotations

from functools import cache

import numpy as np

from crowdopt.assign.individual.congestion import congested
from crowdopt.assign.individual.prices.own_tasks import own_tasks
from crowdopt.assign.individual.prices.sweep import Prices, Sweeper
from crowdopt.assign.individual.served import Served
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import AssignmentInstance


@cache
def load() -> None:
    """Run every compiled loop once, on three tasks."""
    instance = AssignmentInstance(
        accuracy=np.array([[0.9, 0.8, 0.7, 0.6]] * 3),
        task_type=np.arange(3),
        capacity=np.array([1, 2, 2, 3]),
        epsilon=np.array(0.3),
        rule="bhattacharyya",
        min_labels=np.array([0, 4, 0]),
    )
    tasks, clock = own_tasks(instance), Clock(600.0)
    sweep = Sweeper(tasks, 1).sweep(Prices(np.zeros(4)), clock)
    assert sweep is not None
    dealt = Served.swept(tasks, sweep)
    dealt.shed(np.random.default_rng(0), clock)
    dealt.serve_all(np.arange(3), clock)
    next(congested(Sweeper(tasks, 1), sweep, clock, np.random.default_rng(0)))

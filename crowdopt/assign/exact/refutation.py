"""Proof that there is no plan of whole labels where the LP has one: prices under which the tasks' sets cost too much.

With all costs 0, ``R(w) = sum_t n_t min_S -w(S) + sum_g M_g w_g`` is at most 0 for any prices w <= 0 of the workers'
time if the capacities allow any mixture of whole sets, because w can be scaled. Column generation looks for R(w) > 0;
then s w proves of the instance as it is that every plan costs at least s R(w), more than all workers could be paid.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.assign.exact.blocks import BlockPrices, Blocks, Seconds
from crowdopt.crowd.classes import Classes

LEFT_OUT = 1e-6  # of the tasks; a master that leaves fewer without a set says nothing
ROUNDS = 300  # of column generation
CLEAR = 1e-6  # of a task without a set: R(w) beyond rounding
BEYOND = 2.0  # times the ceiling: what the scaled prices are to prove


def is_doubtful(blocks: Blocks) -> bool:
    """Whether the master leaves tasks without a set."""
    if blocks.point is None:
        return False
    kinds = blocks.tasks.size
    return bool(blocks.point.primal[:kinds].sum() > LEFT_OUT * blocks.tasks.sum())


def ceiling(classes: Classes) -> float:
    """What no plan costs more than: everybody works all they may, at their highest price."""
    most = float(classes.cost.max(axis=0) @ (classes.workers_in * classes.capacity))
    budget = classes.instance.budget
    return max(0.0, most if budget is None else min(most, budget))


def refuting_prices(blocks: Blocks, left: Seconds) -> BlockPrices | None:
    """Prices that prove more than any plan can cost; None where there may be a plan, or time is up.

    blocks: with the sets found so far; left: seconds left.
    """
    classes = blocks.classes
    free = replace(classes, cost=np.zeros_like(classes.cost))
    search = Blocks(free, blocks.make_master, blocks.center, blocks.tasks, blocks.room)
    for kind, groups in zip(blocks.kinds, blocks.sets, strict=True):
        search.add(kind, groups)
    search.generate(ROUNDS, LEFT_OUT, CLEAR + search.doubt, left)
    clear = search.bound - search.doubt
    if not clear > CLEAR:
        return None
    by = BEYOND * (1.0 + ceiling(classes)) / clear
    prices = search.center
    return BlockPrices(by * prices.worker, by * prices.labels, by * prices.budget)

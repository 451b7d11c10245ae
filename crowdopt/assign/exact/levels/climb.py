"""Levels in the service of a search: when they pay, what their prices prove, the plans they lead to."""

from __future__ import annotations

import numpy as np

from crowdopt.assign.exact.alarm import alarm
from crowdopt.assign.exact.block_stage import GROUPS, duals_of
from crowdopt.assign.exact.blocks import BlockPrices, Blocks
from crowdopt.assign.exact.levels.cut import Levels
from crowdopt.assign.exact.levels.filling import fill, hands
from crowdopt.assign.exact.levels.level_blocks import LevelBlocks, Set
from crowdopt.assign.exact.search import Search
from crowdopt.assign.exact.split import Split
from crowdopt.crowd.classes import firsts
from crowdopt.crowd.instance import UNLIMITED

CELLS = 60_000  # task classes x worker classes up to which the master keeps its pace
FEW = 6.0  # labels per task up to which the last label of a task weighs enough
COUNT = 30  # levels for each class of tasks, to begin with
REFINEMENTS, PATIENCE = 20, 3  # in all; and in a row without a better bound or plan, once few rest on rounding
ROUNDS, ROUGH, NEAR = 400, 1e-3, 1e-4  # of column generation; relative gap of the master at which it ends, early on
MANY, HONEST = 0.5, 0.1  # of the tasks whose sets may rest on rounding where plans are drawn from levels
SHARE = 0.7  # of the time left, at most: where levels do not get there, plans are aimed at
FINISHING = (4, 4_000)  # work per task and at most, in pairs looked at


def pay(search: Search) -> bool:
    """Whether there are too many workers for a master with a row each in its sets, and few labels for a task."""
    classes = search.classes
    kinds, groups = classes.evidence.shape
    if search.duals is None or groups <= GROUPS or kinds * groups > CELLS:
        return False
    limited = (classes.fewest > 0).any() or (classes.most < UNLIMITED).any() or (classes.min_load > 0).any()
    special = (classes.least > 0).any() or (classes.room < classes.workers_in).any()
    if limited or special or classes.instance.budget is not None:
        return False
    return bool((classes.need > 0).all()) and classes.cardinality @ classes.tasks_in <= FEW * classes.tasks_in.sum()


def climb(search: Search) -> None:
    """Prove by levels, cut those finer that a bound rests on by rounding, and draw plans when few do."""
    classes, duals = search.classes, search.duals
    assert duals is not None
    price = duals.task[firsts(classes.task_class)]
    levels = Levels.by_use(classes, COUNT, price)
    values = [one * top for one, top in zip(price, levels.tops, strict=True)]
    sets: list[Set] = []
    near, idle, turn = ROUGH, 0, search.clock.part(SHARE)
    for _ in range(REFINEMENTS):
        known = search.bound, search.value
        blocks = LevelBlocks(levels, search.solvers.make_master, values, sets)
        blocks.generate(ROUNDS, near, lambda: turn.left)
        _raise_bound(search, blocks)
        if blocks.point is None or search.done:
            return
        levels, values, sets, cheated = blocks.refined()
        near = NEAR if cheated <= MANY * classes.tasks_in.sum() else ROUGH
        if cheated <= HONEST * classes.tasks_in.sum():
            _offer(search, blocks)
        idle = 0 if near == ROUGH or known != (search.bound, search.value) else idle + 1
        if search.done or turn.over or levels.starts[-1] == blocks.starts[-1] or idle >= PATIENCE:
            return


def _raise_bound(search: Search, blocks: LevelBlocks) -> None:
    """What the levels' prices of workers prove, by the workers' own evidence: never less than by their levels'."""
    classes = search.classes
    prices = BlockPrices(-blocks.worker_prices(blocks.center), np.zeros(classes.need.size))
    exact = Blocks(classes, search.solvers.make_master, prices, classes.tasks_in, classes.workers_in * classes.capacity)
    exact.price(prices, np.full(classes.need.size, -np.inf), prices)
    search.raise_bound(exact.proven, duals_of(exact, exact.center))


def _offer(search: Search, blocks: LevelBlocks) -> None:
    """Offer the plan that levels lead to, what is short topped up and labels nobody needs dropped."""
    filled = fill(blocks, lambda: search.clock.left)
    if filled is None:
        return
    split = Split.of_sets(blocks.levels.classes, hands(blocks, filled), search.options.seed)
    if not split.covered:
        with alarm(search.clock) as rung:
            split.heeding(rung).finish(min(FINISHING[0] * search.instance.n_tasks, FINISHING[1]))
    if not split.covered and split.top_up():
        return
    split.thin()
    search.offer(split.pairs())

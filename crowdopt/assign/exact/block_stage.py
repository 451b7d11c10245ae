"""Blocks in the service of a search: when pricing them pays, what their prices prove, plans by diving."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.assign.exact.blocks import BlockPrices, Blocks
from crowdopt.assign.exact.compiling import get_ready
from crowdopt.assign.exact.dive import JITTER, DiveSettings, FixedSets, dive
from crowdopt.assign.exact.refutation import ceiling, is_doubtful, refuting_prices
from crowdopt.assign.exact.search import Search
from crowdopt.assign.exact.split import Split
from crowdopt.assign.plan import Duals
from crowdopt.crowd.classes import firsts

CELLS = 40_000  # task classes x worker classes up to which blocks are priced
GROUPS = 1_500  # worker classes up to which the master keeps its pace
ROUNDS = 300  # of column generation


def pays(search: Search) -> bool:
    """Whether there are multipliers to begin with, and so few classes that pricing them is quick."""
    kinds, groups = search.classes.evidence.shape
    return search.duals is not None and kinds * groups <= CELLS and groups <= GROUPS


def start_blocks(search: Search) -> Blocks:
    """Blocks at the relaxation's multipliers, with the sets known so far."""
    classes, duals = search.classes, search.duals
    assert duals is not None
    worker, task = firsts(classes.worker_class), firsts(classes.task_class)
    labels = np.where(classes.fewest > 0, duals.labels[task], np.minimum(duals.labels[task], 0.0))
    prices = BlockPrices(duals.worker[worker], labels, duals.budget)
    supply = classes.workers_in * classes.capacity
    blocks = Blocks(classes, search.solvers.make_master, prices, classes.tasks_in, supply)
    for kind, chosen in search.sets:
        blocks.add(kind, chosen)
    return blocks


def price(search: Search, blocks: Blocks, near: float) -> None:
    """Generate columns, and raise the search's bound by what the best multipliers prove."""
    get_ready(search.tell)
    blocks.generate(ROUNDS, near, search.value, lambda: search.clock.left)
    search.raise_bound(blocks.proven, duals_of(blocks, blocks.center))
    if search.best is None and is_doubtful(blocks) and not search.done:
        _refute(search, blocks)


def _refute(search: Search, blocks: Blocks) -> None:
    """Prove that there is no plan, where prices do; ``verify`` finds the same by its own knapsacks."""
    prices = refuting_prices(blocks, lambda: search.clock.left)
    if prices is None:
        return
    blocks.price(prices, np.full(blocks.tasks.size, -np.inf), prices)
    if blocks.bound - blocks.doubt > 1.0 + ceiling(blocks.classes):
        search.raise_bound(np.inf, duals_of(blocks, prices))


def duals_of(blocks: Blocks, prices: BlockPrices) -> Duals:
    """Multipliers, each class's for each of its members, and the needs' prices that go with them."""
    classes = blocks.classes
    task = blocks.pricing.evidence_prices(prices)[classes.task_class]
    worker = prices.worker[classes.worker_class]
    return Duals(task, worker, prices.labels[classes.task_class], prices.budget, form="blocks")


def dive_into(search: Search, blocks: Blocks, dives: int, settings: DiveSettings) -> None:
    """Dive until the plan is proven, after the first time with a little more chance, and from the best dive where told.

    search: is offered the plans; blocks: with a solved master; dives: at most so many, and no more than the search's
    nodes.
    """
    limit = dives if search.options.nodes is None else min(dives, search.options.nodes)
    for number in range(limit):
        if search.done or blocks.point is None:
            return
        rng = np.random.default_rng([search.options.seed, number])
        careful = replace(settings, jitter=settings.jitter if number == 0 else settings.jitter + JITTER)
        start = None
        if settings.loose and search.dived is not None:
            part = settings.loose[number % len(settings.loose)]
            start = search.dived.loosened(blocks, int(np.ceil(part * blocks.tasks.sum())), rng)
        offer(search, blocks, dive(blocks, careful, rng, search.value, lambda: search.clock.left, start))


def offer(search: Search, blocks: Blocks, dived: FixedSets) -> None:
    """Offer the plan that a dive leads to, tasks without a set topped up and labels nobody needs dropped."""
    split = Split.of_sets(blocks.classes, dived.hands(blocks), search.options.seed)
    if not split.covered and split.top_up():
        return
    split.thin()
    if search.offer(split.pairs()):
        search.dived = dived

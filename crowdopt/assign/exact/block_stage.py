"""Blocks in the service of a search: when pricing them pays, what their prices prove or refute, plans by diving."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.assign.exact.blocks import BlockPrices, Blocks, Seconds
from crowdopt.assign.exact.compiling import get_ready
from crowdopt.assign.exact.dive import JITTER, DiveSettings, FixedSets, dive
from crowdopt.assign.exact.search import Search
from crowdopt.assign.exact.split import Split
from crowdopt.assign.plan import Duals
from crowdopt.crowd.classes import firsts

CELLS = 40_000  # task classes x worker classes up to which blocks are priced
GROUPS = 1_500  # worker classes up to which the master keeps its pace
ROUNDS = 300  # of column generation
LEFT_OUT = 1e-6  # of the tasks; a master that leaves fewer without a set says nothing
CLEAR = 1e-6  # of a task without a set: R(w) beyond rounding
BEYOND = 2.0  # times the ceiling: what the scaled prices are to prove


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
    if search.best is None and _is_doubtful(blocks) and not search.done:
        _refute(search, blocks)


def _refute(search: Search, blocks: Blocks) -> None:
    """Prove that there is no plan, where prices do; ``verify`` finds the same by its own knapsacks."""
    prices = _refuting_prices(blocks, search.ceiling, lambda: search.clock.left)
    if prices is None:
        return
    blocks.price(prices, np.full(blocks.tasks.size, -np.inf), prices)
    if blocks.bound - blocks.doubt > 1.0 + search.ceiling:
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


def _is_doubtful(blocks: Blocks) -> bool:
    """Whether the master leaves tasks without a set."""
    if blocks.point is None:
        return False
    kinds = blocks.tasks.size
    return bool(blocks.point.primal[:kinds].sum() > LEFT_OUT * blocks.tasks.sum())


def _refuting_prices(blocks: Blocks, ceiling: float, left: Seconds) -> BlockPrices | None:
    """Prices that prove more than any plan can cost; None where there may be a plan, or time is up.

    With all costs 0, ``R(w) = sum_t n_t min_S -w(S) + sum_g M_g w_g`` is at most 0 for any prices w <= 0 of the
    workers' time if the capacities allow any mixture of whole sets, because w can be scaled. Column generation looks
    for R(w) > 0; then s w proves that every plan costs at least s R(w), more than all workers could be paid.

    blocks: with the sets found so far; ceiling: what no plan costs more than; left: seconds left.
    """
    free = replace(blocks.classes, cost=np.zeros_like(blocks.classes.cost))
    search = Blocks(free, blocks.make_master, blocks.center, blocks.tasks, blocks.room)
    for kind, groups in zip(blocks.kinds, blocks.sets, strict=True):
        search.add(kind, groups)
    search.generate(ROUNDS, LEFT_OUT, CLEAR + search.doubt, left)
    clear = search.bound - search.doubt
    if not clear > CLEAR:
        return None
    by = BEYOND * (1.0 + ceiling) / clear
    prices = search.center
    return BlockPrices(by * prices.worker, by * prices.labels, by * prices.budget)

"""Bounds where each task is priced by itself: prices to begin with, and better ones."""

from __future__ import annotations

from crowdopt.assign.individual.plan_stages import plan_soon
from crowdopt.assign.individual.prices.rows import starting_prices
from crowdopt.assign.individual.prices.sampled_prices import sampled_prices
from crowdopt.assign.individual.prices.sweep import Sweep
from crowdopt.assign.individual.work import Work

SOON = 1_000_000  # pairs from which a first plan comes before the first bound
STARTED = 0.02  # the first box around prices of an LP, in units of the mean price
SAMPLING = 0.3  # of the time, for prices from samples
DEEPENED = 3  # times that more nodes may start another climb
HURRIED = 0.5  # of the time; a climb ends there where plans come from elsewhere


def first_bound(work: Work) -> None:
    """Prices to begin with, and what they prove."""
    standing, tasks, ascent = work.standing, work.tasks, work.ascent
    standing.tell("pricing each task by itself")
    nothing, solve = work.prices, standing.solvers.solve
    start = starting_prices(tasks, solve, standing.clock.within(standing.options, None))
    if start is not None:
        work.prices = start
        if tasks.size * tasks.room.size > SOON:
            plan_soon(work)
    if work.is_many and _of_samples(work):
        return
    for prices in [nothing] if start is None else [start, nothing]:
        sweep = ascent.deepen(prices)
        if sweep is None or work.hear(sweep):
            return
        work.keep(sweep)
    if start is not None:
        settle_at(work)


def _of_samples(work: Work) -> bool:
    """Take the prices of samples of the tasks, and what they prove; whether there was time for them."""
    standing = work.standing
    solve, clock = standing.solvers.solve, standing.clock.part(SAMPLING)
    sampled = sampled_prices(work.tasks, solve, standing.options, clock, work.rng)
    if sampled is None:
        return False
    work.prices, work.ascent.radius, work.ascent.nodes = sampled.prices, sampled.radius, sampled.nodes
    sweep = work.ascent.visit(sampled.prices)
    if sweep is not None:
        work.hear(sweep)
    return True


def settle_at(work: Work) -> None:
    """A small box, where the prices that a program told are the best ones."""
    best = work.ascent.best
    if best is not None and best.prices is work.prices:
        work.ascent.radius = STARTED * work.unit


def climb(work: Work, sweeps: int, *, hurries: bool) -> None:
    """Better prices; the sets met on the way are kept."""
    standing, ascent = work.standing, work.ascent

    def hear(sweep: Sweep) -> bool:
        work.keep(sweep)
        return work.hear(sweep) or (hurries and ascent.clock.left < HURRIED * standing.options.time_limit)

    for _ in range(DEEPENED):
        ascent.climb(sweeps, hear)
        before, best = ascent.nodes, ascent.best
        if best is None or standing.done:
            return
        deeper = None if work.is_many else ascent.deepen(best.prices)
        if deeper is None or work.hear(deeper) or ascent.nodes == before:
            return
        work.keep(deeper)

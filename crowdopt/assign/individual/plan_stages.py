"""Bounds and plans from prices where each task is priced by itself: soon, dealt, by loads, from blended sweeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.assign.individual.blending import blend
from crowdopt.assign.individual.congestion import congested
from crowdopt.assign.individual.dealing_rows import deal_rows
from crowdopt.assign.individual.prices.rows import averaged, starting_prices
from crowdopt.assign.individual.prices.sampled_prices import sampled_prices
from crowdopt.assign.individual.prices.sweep import Prices, Sweep
from crowdopt.assign.individual.resettling import resettle
from crowdopt.assign.individual.served import Served
from crowdopt.assign.individual.work import Work

SOON = 1_000_000  # pairs from which a first plan comes before the first bound
STARTED = 0.02  # the first box around prices of an LP, in units of the mean price
SAMPLING = 0.3  # of the time, for prices from samples
DEEPENED = 3  # times that more nodes may start another climb
HURRIED = 0.5  # of the time; a climb ends there where plans come from elsewhere
PARTS = (1.0, 0.3, 0.1)  # of the prices of the rows' linear program at which first plans are served, neediest first
RESETTLED = 8  # times at most that some tasks of a blended plan get other sets
OFFERED_AFTER = 1  # of them, before the plan is offered
LATE = 0.4  # of the time left; then a plan that overloads workers is mended by moving single tasks


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


def plan_soon(work: Work) -> None:
    """Any plan, before pricing takes its time: neediest first, each its cheapest set of workers with room.

    Better ones follow as if it were not there; it is what remains where time ends early.
    """
    dealt = work.nobody(work.prices)
    dealt.serve_all(np.argsort(-work.tasks.target, kind="stable"), work.standing.clock)
    if dealt.is_whole and work.standing.offer(dealt.pairs()):
        work.soon = work.standing.value


def first_plan(work: Work) -> None:
    """Every task's cheapest set at the best prices, then those moved whose workers have too many."""
    best = work.ascent.best
    if best is None:
        return
    if not work.has_plan:
        work.offer(Served.swept(work.tasks, best))
    if work.tasks.is_shared:
        for part in PARTS:
            if not work.standing.done:
                work.offer(work.nobody(Prices(part * work.prices.worker, part * work.prices.budget)))
    if not work.has_plan:
        work.offer(work.nobody(best.prices))


def deal(work: Work, step: float, seed: int = 0) -> None:
    """A plan from amounts that cost a little more than the bound."""
    standing, tasks, best = work.standing, work.tasks, work.ascent.best
    if best is None:
        return
    options = replace(standing.clock.within(standing.options, None), seed=standing.options.seed + seed)
    bound = max(best.bound, standing.bound if np.isfinite(standing.bound) else best.bound)
    money = np.ceil((1 + step) * bound) if work.is_integral else (1 + step) * bound
    rows, left, width = averaged(tasks), money - tasks.constant, work.sweeper.width
    dealt = deal_rows(tasks, rows, left, work.prices, standing.solvers.solve, options, width, standing.clock)
    if dealt is not None:
        work.offer(dealt)


def congest(work: Work) -> None:
    """Plans in which workers' prices follow their loads; where those settle is also where the bound is high."""
    standing, best = work.standing, work.ascent.best
    if best is None or standing.done:
        return
    for dealt in congested(work.sweeper, best, standing.clock, work.rng):
        work.offer(dealt, patient=False)
        sweep = None if standing.done else work.ascent.visit(dealt.prices)
        if sweep is None or work.hear(sweep):
            return


def blend_sweeps(work: Work) -> None:
    """A plan from the shares of the sweeps in which they fit the workers best."""
    standing = work.standing
    dealt = blend(work.ascent, standing.clock)
    for number in range(RESETTLED):
        if dealt is None or standing.done:
            return
        resettle(dealt, work.ascent, work.mixer, standing.clock, work.rng)
        late = standing.clock.left < LATE * standing.options.time_limit
        if number >= OFFERED_AFTER and (dealt.left.min() >= 0 or late or number == RESETTLED - 1):
            work.offer(dealt, patient=False)
            return

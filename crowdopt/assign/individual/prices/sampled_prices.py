"""Where tasks are many: prices from a few of them, workers' capacity scaled; then from ten times as many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.assign.individual.prices.ascent import Ascent
from crowdopt.assign.individual.prices.own_tasks import OwnTasks
from crowdopt.assign.individual.prices.sweep import Prices, Sweeper
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options, Solve

FIRST, MORE = 2_000, 10  # tasks of the first sample, and how many times as many of the next
EACH = 20  # tasks per worker, at least
MOST, SHARE = 50_000, 5  # tasks of the last sample, at most; and it is at most one in so many tasks
SWEEPS = 60  # of each sample
NOISE = 2.0  # the box around a sample's prices, in units of the mean price by the root of the sample
WIDE = 0.5  # the first box, in units of the mean label


@dataclass(frozen=True)
class SampledStart:
    """Prices, how far the best ones may be from them, and the nodes a task takes."""

    prices: Prices
    radius: float
    nodes: int


def sizes(tasks: int, workers: int) -> list[int]:
    """Sizes of the samples of so many tasks that pay, each ten times the last."""
    size, found = max(FIRST, EACH * workers), []
    while size <= min(MOST, tasks // SHARE):
        found.append(size)
        size *= MORE
    return found


def sampled_prices(
    tasks: OwnTasks, solve: Solve, options: Options, clock: Clock, rng: np.random.Generator, total: int = 0
) -> SampledStart | None:
    """The best prices of samples, larger and larger; None where tasks are too few or time ends before.

    total: tasks of whom these are a sample; default: all.

    The best prices of a sample of s tasks are off by about ``1 / sqrt(s)`` of themselves, and the bound, flat at its
    top, by ``1 / s``.
    """
    found: SampledStart | None = None
    for size in sizes(total or tasks.size, tasks.room.size):
        some = np.sort(rng.choice(tasks.size, min(size, tasks.size), replace=False))
        part = tasks.part(some, some.size / (total or tasks.size))
        better = prices_of_sample(part, found, solve, options, clock)
        if better is None:
            break
        found = better
    return found


def prices_of_sample(
    part: OwnTasks, start: SampledStart | None, solve: Solve, options: Options, clock: Clock
) -> SampledStart | None:
    """The best prices of one sample; None where time ends before, or it has no plan.

    part: the sample, with its share of what workers give.
    """
    unit = float(part.arrays.cost.mean()) or 1.0
    radius = unit * WIDE if start is None else start.radius
    ascent = Ascent(Sweeper(part, options.threads), solve, options, clock, radius)
    if ascent.deepen(Prices(np.zeros(part.room.size)) if start is None else start.prices) is None:
        return None
    ascent.climb(SWEEPS, lambda _: False)
    best = ascent.best
    if best is None or not np.isfinite(best.bound):
        return None
    off = NOISE * float(np.abs(best.prices.worker).mean()) / part.size**0.5
    return SampledStart(best.prices, max(off, 1e-6 * unit), ascent.nodes)

"""Where tasks are many: prices from a few of them, workers' capacity scaled; then from ten times as many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.assign.individual.ascent import Ascent
from crowdopt.assign.individual.own_tasks import OwnTasks
from crowdopt.assign.individual.sweep import Prices, Sweeper
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


def sizes(tasks: OwnTasks) -> list[int]:
    """Sizes of the samples that pay, each ten times the last."""
    size, found = max(FIRST, EACH * tasks.room.size), []
    while size <= min(MOST, tasks.size // SHARE):
        found.append(size)
        size *= MORE
    return found


def sampled_prices(
    tasks: OwnTasks, solve: Solve, options: Options, clock: Clock, rng: np.random.Generator
) -> SampledStart | None:
    """The best prices of samples, larger and larger; None where tasks are too few or time ends before.

    The best prices of a sample of s tasks are off by about ``1 / sqrt(s)`` of themselves, and the bound, flat at its
    top, by ``1 / s``.

    Parameters
    ----------
    tasks : OwnTasks
        The open tasks.
    solve : callable
        ``solve(program, backend, options)``.
    options : Options
        Limits of the programs, and threads.
    clock : Clock
        When to stop.
    rng : Generator
        Draws the samples.

    Returns
    -------
    Sampled or None
    """
    found: SampledStart | None = None
    for size in sizes(tasks):
        some = np.sort(rng.choice(tasks.size, size, replace=False))
        part = tasks.part(some, size / tasks.size)
        unit = float(tasks.arrays.cost.mean()) or 1.0
        radius = unit * WIDE if found is None else found.radius
        ascent = Ascent(Sweeper(part, options.threads), solve, options, clock, radius)
        start = Prices(np.zeros(tasks.room.size)) if found is None else found.prices
        if ascent.deepen(start) is None:
            break
        ascent.climb(SWEEPS, lambda _: False)
        best = ascent.best
        if best is None or not np.isfinite(best.bound):
            break
        off = NOISE * float(np.abs(best.prices.worker).mean()) / size**0.5
        found = SampledStart(best.prices, max(off, 1e-6 * unit), ascent.nodes)
    return found

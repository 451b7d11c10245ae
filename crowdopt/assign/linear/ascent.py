"""The best prices for workers' time: lines of the bound from each sweep, their model's optimum in a box, again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.linear.own_tasks import OwnTasks
from crowdopt.assign.linear.sweep import ALONE, CLOSE, NODES, Prices, Sweep, Sweeper
from crowdopt.core.clock import Clock
from crowdopt.core.solution import BY_SIZE, Options, Solution, Solve
from crowdopt.programs import grouped_cuts
from crowdopt.programs.grouped_cuts import Box

GOOD, GROW, SHRINK = 0.3, 2.0, 0.5  # share of the model's promise that makes the box grow; and how it changes
NEAR = 3e-6  # relative; the model promises no more: what sweeps are exact to
DEEPER, MOST_NODES, PAYS = 8, 100_000, 5e-5  # nodes grow so fast, up to so many, while the bound gains so much
STALLED = 5  # sweeps without a better bound or a model that promises less
ENTRIES = 4_000_000  # lines x workers that the model keeps, the latest
FIRST, MORE = 2_000, 10  # tasks of the first sample, and how many times as many of the next
EACH = 20  # tasks per worker, at least
MOST, SHARE = 50_000, 5  # tasks of the last sample, at most; and it is at most one in so many tasks
SWEEPS = 60  # of each sample
NOISE = 2.0  # the box around a sample's prices, in units of the mean price by the root of the sample
WIDE = 0.5  # the first box, in units of the mean label


@dataclass(eq=False)
class Ascent:
    """Lines found so far, the best sweep, and the box of ``radius`` around its prices."""

    sweeper: Sweeper
    solve: Solve
    options: Options
    clock: Clock
    radius: float
    best: Sweep | None = None
    ahead: float = np.inf
    load: list[Floats] = field(default_factory=list)
    paid: list[Floats] = field(default_factory=list)
    visited: list[Prices] = field(default_factory=list)
    idle: int = 0
    nodes: int = 0
    at_edge: bool = True

    def __post_init__(self) -> None:
        self.nodes = NODES if self.tasks.is_shared else ALONE

    @property
    def tasks(self) -> OwnTasks:
        """What is priced."""
        return self.sweeper.tasks

    def deepen(self, prices: Prices) -> Sweep | None:
        """Visit prices with more and more nodes for each task as long as that pays and little time is spent on it."""
        sweep, limit = self.visit(prices), self.options.time_limit
        while sweep is not None and self.nodes < MOST_NODES:
            started = self.clock.left
            deeper = self.visit(prices, DEEPER * self.nodes)
            if deeper is None or deeper.bound <= sweep.bound + PAYS * max(1.0, abs(sweep.bound)):
                return sweep
            sweep, self.nodes = deeper, DEEPER * self.nodes
            if (started - self.clock.left) * DEEPER > limit / 10:
                return sweep
        return sweep

    def visit(self, prices: Prices, nodes: int | None = None) -> Sweep | None:
        """Sweep at some prices and keep what that brings; None where time ends before."""
        sweep = self.sweeper.sweep(prices, self.clock, CLOSE, nodes or self.nodes)
        if sweep is None:
            return None
        self.load.append(sweep.load)
        self.paid.append(sweep.paid)
        self.visited.append(prices)
        if self.best is None or sweep.bound > self.best.bound:
            self.best = sweep
        return sweep

    def climb(self, rounds: int, hear: Callable[[Sweep], bool]) -> None:
        """Go where the model of all lines is highest until it promises no more; ``hear`` of each sweep may end it."""
        self.idle = 0
        for _ in range(rounds):
            if self.best is None or not np.isfinite(self.best.bound) or self.clock.over:
                return
            before, promised = self.best.bound, self.ahead
            trial = self._trial()
            if trial is None or self._is_done():
                return
            sweep = self.visit(trial)
            if sweep is None:
                return
            self._resize(sweep.bound - before)
            less = self.ahead < promised - NEAR * max(1.0, abs(before))
            better = self.best.bound > before + NEAR * max(1.0, abs(before))
            self.idle = 0 if less or better else self.idle + 1
            if hear(sweep) or self.idle >= STALLED:
                return

    def _resize(self, gained: float) -> None:
        """The box follows how much of the model's promise came true."""
        assert self.best is not None
        if gained <= 0:
            self.radius *= SHRINK
        elif gained > GOOD * (self.ahead - self.best.bound + gained):
            self.radius *= GROW

    def _is_done(self) -> bool:
        assert self.best is not None
        return self.ahead - self.best.bound <= NEAR * max(1.0, abs(self.best.bound)) and not self.at_edge

    def _trial(self) -> Prices | None:
        """The model's optimum in the box; None where no solver finds it in time."""
        assert self.best is not None
        tasks, center = self.tasks, self.best.prices
        solution = self._model(self._box(center, self.radius))
        if solution.primal is None:
            return None
        program = solution.program
        names = ("price", "lift", "budget")
        price, lift, budget = (program.column(name).view(solution.primal) for name in names)
        self.ahead = tasks.constant - float((program.cost * solution.primal).sum())
        trial = Prices(np.ascontiguousarray(lift - price), float(budget[0]))
        moved = max(np.abs(trial.worker - center.worker).max(initial=0.0), abs(trial.budget - center.budget))
        self.at_edge = bool(moved >= 0.999 * self.radius)
        return trial

    def _model(self, box: Box) -> Solution:
        """The highest point of the lines in a box."""
        tasks = self.tasks
        load, paid = np.concatenate(self.load[-self._kept :]), np.concatenate(self.paid[-self._kept :])
        group = np.tile(np.arange(self.sweeper.groups), load.shape[0] // self.sweeper.groups)
        room, least = tasks.room.astype(float), tasks.least.astype(float)
        program = grouped_cuts.of_lines(load, paid, group, room, least, tasks.budget or 0.0, box)
        return self.solve(program, BY_SIZE, self.clock.within(self.options, None))

    @property
    def _kept(self) -> int:
        """Sweeps whose lines the model has."""
        return max(2, ENTRIES // self.load[0].size)

    def mixture(self, radius: float) -> tuple[list[Prices], Floats] | None:
        """The prices visited, and which share (sweeps, groups) of each group's sets at them fits workers best.

        The multipliers of the model's lines: a label too many, or one too few of a worker who has a price, costs
        ``radius``.
        """
        if self.best is None:
            return None
        solution = self._model(self._box(self.best.prices, radius))
        if solution.dual is None:
            return None
        share = np.maximum(0.0, -solution.program.row("line").view(solution.dual))
        visited = self.visited[-self._kept :]
        share = share.reshape(len(visited), self.sweeper.groups)
        return visited, share / np.maximum(share.sum(axis=0), 1e-12)

    def _box(self, center: Prices, radius: float) -> Box:
        """Around the best prices; a price is never negative, a lift is only there for least loads."""
        price, lift = np.maximum(0.0, -center.worker), np.maximum(0.0, center.worker)
        has_least, has_budget = self.tasks.least > 0, self.tasks.budget is not None
        return Box(
            np.maximum(0.0, price - radius),
            price + radius,
            np.where(has_least, np.maximum(0.0, lift - radius), 0.0),
            np.where(has_least, lift + radius, 0.0),
            (center.budget - radius, min(0.0, center.budget + radius)) if has_budget else (0.0, 0.0),
        )


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

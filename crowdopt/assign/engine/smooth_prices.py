"""First multipliers where many rows tie tasks together: the dual, smoothed, climbs by its gradient alone.

Where sets are chosen with chances that fall with their price, ``-T ln sum_S exp(-p(S) / T)`` in place of the cheapest
set's price, the dual bound is a smooth function of the multipliers and its gradient says how far each row is from its
side: no master has to be solved, of which each row is a row. T falls until the sets chosen are nearly the cheapest.
Evidence is looked at in cells, and limits on a task's labels are kept by the mean of a row's tasks, each by a
multiplier of its own: what is found steers, the sweeps that follow prove.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.engine.prepared import ANY, Coupling, Prepared, TaskRow
from crowdopt.assign.engine.set_prices import is_wide
from crowdopt.core.clock import Clock

CELLS = 1_000  # of evidence
HEATS = 0.025, 0.006, 0.0015, 0.0007  # of a label's price
STEPS, NEAR = 150, 1e-8  # at each; relative gain of a step at which they end
KEPT = 12  # steps from which the next one's direction is made
FLAT = 1e-9  # labels that every row is off its side, at most, where steps end
HALVED, ENOUGH = 20, 1e-4  # of a step's length, at most; of what its slope promises, what it must bring


@dataclass(eq=False)
class SoftRow:
    """The labels of a row of tasks, in cells of evidence."""

    row: TaskRow
    item: Ints  # (labels,): their classes
    width: Ints  # (labels,)
    needs: Ints  # (k,)
    tasks: Floats  # (k,)

    @classmethod
    def of(cls, row: TaskRow, count: Ints) -> SoftRow:
        """A row, and how many tasks there are of each kind."""
        most = max(float(row.need[-1]), 1e-9)
        unit = most / CELLS
        copies = np.minimum(row.room, np.ceil(most / np.maximum(row.evidence, 1e-300)).clip(0, 1e9).astype(np.int64))
        copies[row.evidence < unit / 2] = 0
        item = np.repeat(np.arange(copies.size), copies)
        width = np.clip(np.round(row.evidence[item] / unit), 1, CELLS).astype(np.int64)
        needs = np.minimum(CELLS, np.round(row.need / unit)).astype(np.int64)
        tasks = count[row.kinds].astype(np.float64)
        return cls(row, item, width, needs, tasks)

    def at(self, price: Floats, heat: float) -> tuple[float, Floats]:
        """What the row's tasks pay, softly, at prices of labels (G,); and how many labels of each class they use."""
        from crowdopt.assign.engine.smooth_kernels import softly

        paid = price[self.item]
        order = np.argsort(paid / self.width, kind="stable")  # the numbers that are added up stay near each other
        filled = np.cumsum(self.width[order])
        last = min(int(np.searchsorted(filled, self.needs[-1])), max(0, filled.size - 1))
        rate = float(paid[order[: last + 1]].sum()) / max(1, int(filled[last])) if filled.size else 0.0
        use, ways = np.empty(order.size), np.empty((order.size + 1, CELLS + 1))
        value = softly(paid[order], self.width[order], heat, rate, self.needs, self.tasks, ways, use)
        labels = np.bincount(self.item[order], use, price.size)
        given = np.bincount(self.row.given, minlength=price.size) * self.tasks.sum()
        return value + float(price @ given), labels + given


class MeanLimits(NamedTuple):
    """Limits on labels of the tasks of a row, by classes of workers: of all classes, and of groups."""

    row: Ints  # (limits,): number of the row of tasks
    member: Floats  # (limits, G): 1 where labels of a class count
    low: Floats  # (limits,): labels of all tasks of the row, at least
    top: Floats  # (limits,)

    @classmethod
    def of(cls, problem: Prepared) -> MeanLimits:
        """Those that bind."""
        found: list[tuple[int, Floats, float, float]] = []
        for number, row in enumerate(problem.rows):
            tasks, groups = int(problem.count[row.kinds].sum()), row.group == np.arange(row.low.size)[:, None]
            member = np.vstack([np.ones(row.group.size), groups, row.beside.member])
            low = np.concatenate([[row.fewest], row.low, row.beside.low])
            top = np.concatenate([[row.most], row.top, row.beside.top])
            for k in np.flatnonzero((low > 0) | (top < ANY)).tolist():
                most = float(top[k] * tasks) if top[k] < ANY else np.inf
                found.append((number, member[k], float(low[k] * tasks), most))
        row_of, member_of, low_of, top_of = ([one[k] for one in found] for k in range(4))
        workers = problem.coupling.workers
        return cls(
            np.array(row_of, np.int64), np.array(member_of).reshape(-1, workers), np.array(low_of), np.array(top_of)
        )


@dataclass(eq=False)
class SoftDual:
    """The smoothed dual bound of a problem whose tasks' needs are of evidence."""

    problem: Prepared
    rows: list[SoftRow] = field(init=False)
    limits: MeanLimits = field(init=False)
    # of multipliers: of the coupling rows, then of the limits
    lower: Floats = field(init=False)  # (all,): sides
    upper: Floats = field(init=False)  # (all,)
    least: Floats = field(init=False)  # (all,)
    most: Floats = field(init=False)  # (all,)

    def __post_init__(self) -> None:
        coupling, limits = self.problem.coupling, MeanLimits.of(self.problem)
        self.rows, self.limits = [SoftRow.of(row, self.problem.count) for row in self.problem.rows], limits
        low = np.where(limits.low > 0, limits.low, -np.inf)
        self.lower, self.upper = (
            np.append(coupling.lower, low),
            np.append(coupling.upper, limits.top),
        )
        self.least = np.where(np.isfinite(self.upper), -np.inf, 0.0)
        self.most = np.where(np.isfinite(self.lower), np.inf, 0.0)
        self.most[: coupling.workers] = np.minimum(self.most[: coupling.workers], coupling.spare)

    def at(self, duals: Floats, heat: float) -> tuple[float, Floats]:
        """Its value and gradient at multipliers (all,)."""
        coupling, limits = self.problem.coupling, self.limits
        side = np.where(np.isfinite(self.upper) & ((duals < 0) | ~np.isfinite(self.lower)), self.upper, self.lower)
        slope = np.where(np.isfinite(side), side, 0.0)
        value, ties = float(slope @ duals), coupling.lower.size

        def of_row(number: int) -> tuple[float, Floats]:
            mine = limits.row == number
            price = coupling.prices(number, duals[:ties]) - duals[ties:][mine] @ limits.member[mine]
            return self.rows[number].at(price, heat)

        with ThreadPoolExecutor(2) as pool:
            for number, (paid, labels) in enumerate(pool.map(of_row, range(len(self.rows)))):
                value += paid
                slope[:ties] -= _used(coupling, number, labels)
                mine = limits.row == number
                slope[ties:][mine] -= limits.member[mine] @ labels
        return value, slope

    def climb(self, duals: Floats, heat: float, clock: Clock) -> Floats:
        """Steps along directions of limited memory, projected, until they gain little; Liu & Nocedal 1989."""
        value, slope = self.at(duals, heat)
        memory: list[tuple[Floats, Floats]] = []
        for _ in range(STEPS):
            free = ((duals > self.least) | (slope > 0)) & ((duals < self.most) | (slope < 0))
            ahead = _direction(np.where(free, slope, 0.0), memory) * free
            if ahead @ slope <= 0:
                ahead, memory = np.where(free, slope, 0.0), []
            if np.abs(ahead).max() < FLAT:
                break
            found = self._step(duals, (value, slope), ahead, heat, bool(memory))
            if found is None or clock.over:
                break
            there, (gained, steeper) = found
            memory = [*memory, (there - duals, slope - steeper)][-KEPT:]
            small = gained - value <= NEAR * abs(value)
            duals, value, slope = there, gained, steeper
            if small:
                break
        return duals

    def _step(
        self, duals: Floats, here: tuple[float, Floats], ahead: Floats, heat: float, scaled: bool
    ) -> tuple[Floats, tuple[float, Floats]] | None:
        """A point ahead that is higher, with what is known there; None where none is found."""
        value, slope = here
        length = 1.0 if scaled else heat / float(np.abs(ahead).max())
        for _ in range(HALVED):
            there = np.clip(duals + length * ahead, self.least, self.most)
            gained, steeper = self.at(there, heat)
            if gained >= value + ENOUGH * float(slope @ (there - duals)):  # false where it is not a number
                return there, (gained, steeper)
            length /= 2
        return None


def accepts(problem: Prepared) -> bool:
    """Whether many rows tie tasks, evidence decides, and tables are small enough for sweeps at the prices found."""
    return is_wide(problem) and all(row.law is None and row.low.size == 1 for row in problem.rows)


def smoothed(problem: Prepared, first: Floats, clock: Clock) -> Floats:
    """Multipliers near the best ones; first (rows,): to begin with."""
    dual, cost = SoftDual(problem), float(problem.coupling.cost.mean())
    duals = np.append(first, np.zeros(dual.limits.row.size))
    for heat in HEATS:
        if clock.over:
            break
        duals = dual.climb(duals, heat * cost, clock)
    return problem.coupling.valid(duals[: first.size])


def _used(coupling: Coupling, row: int, labels: Floats) -> Floats:
    """What labels of each class (G,) for tasks of a row take from the coupling rows."""
    parts = [labels, coupling.weight @ labels, coupling.own[:, row] @ labels]
    if coupling.has_budget:
        parts.append(np.array([coupling.cost[row] @ labels]))
    return np.concatenate(parts)


def _direction(slope: Floats, memory: list[tuple[Floats, Floats]]) -> Floats:
    """The slope times an estimate of the curvature's inverse, from steps and how the slope changed along them."""
    ahead, kept = slope.copy(), []
    for step, change in reversed(memory):
        if (along := float(step @ change)) <= 0:
            continue
        part = float(step @ ahead) / along
        ahead -= part * change
        kept.append((step, change, along, part))
    if kept:
        step, change, along, _ = kept[0]
        ahead *= along / float(change @ change)
    for step, change, along, part in reversed(kept):
        ahead += (part - float(change @ ahead) / along) * step
    return ahead

"""Prices of labels by column generation, and the bound that they prove."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Bools, Floats
from crowdopt.assign.engine.cheapest_sets import priced
from crowdopt.assign.engine.prepared import Labels, Prepared
from crowdopt.assign.engine.set_master import SetMaster
from crowdopt.core.clock import Clock

BEHIND = 0.4  # of the way from the best prices to the master's: smoothed prices need fewer rounds
NEAR = 1e-5  # relative gap between master and bound at which prices are good enough
ROUGH = 3_000  # steps of a search while prices are still far
THROUGH, EACH = 150, 40  # classes of workers through which sets are looked for at a time, and sets kept
NEARBY, STEP = 1.3, 0.02  # times the first prices, and of a label's price more: how far prices may go at first
MOMENT = 0.1  # seconds that a master may always take


@dataclass(frozen=True, eq=False)
class Swept:
    """What prices show.

    Parameters
    ----------
    bound : float
        On the cost of every plan; valid whatever the prices.
    least : (kinds,) float
        A lower bound on the cheapest set of each kind.
    sets : list of (int, Labels)
    """

    bound: float
    least: Floats
    sets: list[tuple[int, Labels]]


def sweep(
    problem: Prepared, duals: Floats, *, steps: int = ROUGH, rich: bool = True, closed: Bools | None = None
) -> Swept:
    """Every kind of task at these multipliers, rows side by side in threads.

    Parameters
    ----------
    problem : Prepared
    duals : (rows,) float
        Of the coupling rows.
    steps : int
        Of each search.
    rich : bool
        Whether sets through each class of workers are wanted too.
    closed : (G,) bool, optional
        Classes without room: nothing is proven then.

    Returns
    -------
    Swept
    """
    least, sets = np.zeros(problem.count.size), []

    def of_row(number: int) -> tuple[list[tuple[int, float]], list[tuple[int, Labels]]]:
        row = problem.rows[number]
        found: list[tuple[int, Labels]] = []
        values = []
        at = None
        for k, need in zip(row.kinds.tolist(), row.need.tolist(), strict=True):
            if not problem.count[k]:
                continue
            at = at or priced(row, problem.coupling.prices(number, duals), closed)
            bound, best = at.cheapest(need, steps)
            values.append((k, bound))
            found += [(k, one) for one in best]
            if rich and best:
                rate = float(at.price[best[0]].sum()) / max(1e-12, float(row.evidence[best[0]].sum()))
                found += [(k, one) for one in at.through(need, rate, THROUGH)[:EACH]]
        return values, found

    with ThreadPoolExecutor(2) as pool:
        for values, found in pool.map(of_row, range(len(problem.rows))):
            for k, bound in values:
                least[k] = bound
            sets += found
    there = problem.count > 0
    bound = problem.coupling.pull(duals) + float((problem.count[there] * least[there]).sum())
    return Swept(bound if closed is None else -np.inf, least, sets)


@dataclass(eq=False)
class Climb:
    """Column generation.

    Parameters
    ----------
    problem : Prepared
    master : SetMaster
    duals : (rows,) float
        The best multipliers so far.
    bound, value : float
        What they prove, and the master's optimum.
    near : float
        Relative gap between the two at which prices are good enough.
    rounds : int
    box : (rows,) float
        How far from 0 prices may go at first.
    """

    problem: Prepared
    master: SetMaster
    duals: Floats
    bound: float = -np.inf
    value: float = np.inf
    near: float = NEAR
    rounds: int = 0
    box: Floats = field(default_factory=lambda: np.zeros(0))

    def begin(self) -> None:
        """The first sets: at the multipliers known, and some nearer to none."""
        first = self.duals
        self.box = NEARBY * np.abs(first) + STEP * float(self.problem.coupling.cost.mean())
        for part in (1.0, 0.9, 1.1, 0.0):
            self._take(sweep(self.problem, part * first), part * first)

    def run(self, clock: Clock) -> bool:
        """Add sets until master and bound meet; False where the clock ended it first."""
        while not clock.over:
            self.rounds += 1
            point = self.master.solve(max(MOMENT, clock.left))
            if point is None:
                return False
            self.value = point.value
            if self.value - self.bound <= self.near * abs(self.value):
                return True
            true = self.master.duals(point)[1]
            asked = true if self.rounds < 3 else self.duals + (1 - BEHIND) * (true - self.duals)
            new = self._take(sweep(self.problem, asked), asked)
            if not new and not self._take(sweep(self.problem, true, steps=20 * ROUGH), true):
                return True
        return False

    def _take(self, swept: Swept, duals: Floats) -> int:
        if swept.bound > self.bound:
            self.bound, self.duals = swept.bound, duals
        return sum(self.master.add(kind, labels) for kind, labels in swept.sets)

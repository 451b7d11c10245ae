"""Prices of labels by column generation, and the bound that they prove."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.engine.cheapest_votes import priced_votes
from crowdopt.assign.engine.prepared import Labels, Prepared
from crowdopt.assign.engine.set_master import KnownBest, SetMaster
from crowdopt.core.clock import Clock

AHEAD, NEARLY = 0.6, 0.1  # of the way from the best prices to the master's: smoothed prices need fewer rounds
NEAR = 1e-5  # relative gap between master and bound at which prices are good enough
ROUGH = 3_000  # steps of a search while prices are still far
FULL, SHORT = 20, 30  # kinds of tasks whose exact errors have all steps of a search, and the fewest steps of one
PACE, HOUR = 5_000, 3_600.0  # steps a second among more than two classes, about; seconds
FEW = 6  # sets of a kind beside the best ones that a sweep gives at least
SEVERAL, MANY, LONG = 60, 2_000, 500  # of all kinds, about; where the LP has so many rows that a round takes long
FEW_ROWS = 200  # of the LP
NEARBY, STEP = 1.3, 0.02  # times the first prices, and of a label's price more: how far prices may go at first
MOMENT = 0.1  # seconds that a master may always take


@dataclass(frozen=True, eq=False)
class Swept:
    """What prices show."""

    bound: float  # on the cost of every plan; valid whatever the prices
    least: Floats  # (kinds,): a lower bound on the cheapest set of each kind
    sets: list[tuple[int, Labels]]  # list of (int, Labels)


def sweep(
    problem: Prepared,
    duals: Floats,
    *,
    steps: int = ROUGH,
    rich: bool = True,
    left: Ints | None = None,
    known: KnownBest | None = None,
    until: Clock | None = None,
) -> Swept:
    """Every kind of task at these multipliers, rows side by side in threads.

    duals (rows,): of the coupling rows; steps: of each search; rich: whether sets much like the best ones are wanted
    too; left (G,): labels that each class has left: nothing is proven then; known: sets of each kind: only cheaper ones
    are looked for; until: when kinds are no longer looked at: nothing is proven then.
    """
    least, sets = np.zeros(problem.count.size), []
    kinds = problem.count.size
    steps = max(SHORT, steps * FULL // max(FULL, kinds))
    if until is not None and problem.classes.instance.classes > 2:
        steps = max(SHORT, min(steps, int(min(until.left, HOUR) * PACE / max(1, kinds))))
    each = max(FEW, (MANY if duals.size > LONG else SEVERAL) // kinds)

    def of_row(number: int) -> tuple[list[tuple[int, float]], list[tuple[int, Labels]]]:
        row = problem.rows[number]
        found: list[tuple[int, Labels]] = []
        values = []
        at = None
        for place, k in enumerate(row.kinds.tolist()):
            if not problem.count[k]:
                continue
            if until is not None and until.over:
                values.append((k, -np.inf))
                continue
            at = at or priced_votes(row, problem.coupling.prices(number, duals), left)
            limit, labels = (np.inf, None) if known is None else known.of(k)
            bound, best = at.cheapest(place, steps, limit=limit)
            values.append((k, bound))
            found += [(k, one) for one in best]
            if rich and not (until is not None and until.over):
                found += [(k, one) for one in at.others(place, best or ([] if labels is None else [labels]), each)]
        return values, found

    with ThreadPoolExecutor(2) as pool:
        for values, found in pool.map(of_row, range(len(problem.rows))):
            for k, bound in values:
                least[k] = bound
            sets += found
    there = problem.count > 0
    if left is not None or (least[there] == -np.inf).any():  # kinds that were not looked at prove nothing
        return Swept(-np.inf, least, sets)
    return Swept(problem.coupling.pull(duals) + float((problem.count[there] * least[there]).sum()), least, sets)


@dataclass(eq=False)
class Climb:
    """Column generation."""

    problem: Prepared
    master: SetMaster
    duals: Floats  # (rows,): the best multipliers so far
    bound: float = -np.inf  # what they prove
    value: float = np.inf  # the master's optimum
    near: float = NEAR  # relative gap between the two at which prices are good enough
    ceiling: float = np.inf  # what no plan costs more than: beyond, prices have proven that there is none
    rounds: int = 0
    pace: float = 0.0  # seconds a round
    paid: bool = True  # whether the master's point rests on how far prices may go
    box: Floats = field(default_factory=lambda: np.zeros(0))  # (rows,): how far from 0 prices may go at first

    def begin(self, reach: Floats, clock: Clock) -> None:
        """The first sets: at the multipliers known."""
        self.box = NEARBY * reach + STEP * float(self.problem.coupling.cost.mean())
        self._begun(self.duals, False, clock)

    def begin_beside(self, first: Floats, clock: Clock) -> None:
        """Sets much like the first ones, and at multipliers beside those, while there is time."""
        for part in (1.0, 0.0, 0.9, 1.1):
            if not clock.over:
                rich = part == 1.0 or first.size <= FEW_ROWS  # of a large LP each column takes time
                self._begun(part * first, rich, clock)

    def _begun(self, duals: Floats, rich: bool, clock: Clock) -> None:
        known = self.master.known_at(duals)
        self._take(sweep(self.problem, duals, rich=rich, known=known, until=clock), duals)

    def run(self, clock: Clock) -> bool:
        """Add sets until master and bound meet; False where the clock ended it first."""
        part = 1.0  # of the way from the best prices to the master's
        began, before_these = clock.spent, self.rounds
        while not clock.over and self.bound <= self.ceiling * (1 + NEAR):
            self.pace = (clock.spent - began) / max(1, self.rounds - before_these)
            self.rounds += 1
            point = self.master.solve(max(MOMENT, clock.left))
            if point is None:
                return False
            self.value, self.paid = point.value, self.master.paid(point)
            if self.value - self.bound <= self.near * abs(self.value):
                return True
            true, before = self.master.duals(point)[1], self.bound
            asked = true if part == 1.0 else self.duals + part * (true - self.duals)
            new = self._take(self._swept(asked, until=clock), asked)
            if not new and not self._take(self._swept(true, 20 * ROUGH, clock), true):
                return True
            if self.rounds >= 3:
                part = AHEAD if self.bound > before or part == 1.0 else part / 2 if part > NEARLY else 1.0
        return False

    def _swept(self, duals: Floats, steps: int = ROUGH, until: Clock | None = None) -> Swept:
        return sweep(self.problem, duals, steps=steps, known=self.master.known_at(duals), until=until)

    def _take(self, swept: Swept, duals: Floats) -> int:
        if swept.bound > self.bound:
            self.bound, self.duals = swept.bound, duals
        return sum(self.master.add(kind, labels) for kind, labels in swept.sets)

"""The least price of a task over beliefs, where many workers differ in skill: Howard's policy iteration at knots.

Any worker may be asked again and again, and a posterior between two knots is shared out between them with its mean
kept. Both make tasks cheaper, so what comes out is below the price of every policy. With half the step of the plan's
knots the price is at least the plan's: prices are concave, and more knots cut off less of what is concave.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from crowdopt.arrays import Bools, Floats, Ints

HIGHEST = 18.0  # log-odds of the last knot
FREE = 1e-6  # of the dearest answer; votes cheaper than this are counted one by one instead
ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class BeliefRecursion:
    """Votes of one type of tasks; ``likely`` (workers, 2): chance to say the second class where each is true."""

    likely: Floats
    asking: Floats  # (workers,): what a vote costs, capacities and money included
    error: float  # what a wrong answer costs
    expert: float | None
    step: float  # of log-odds
    labels: int  # of a task at most

    @cached_property
    def knots(self) -> Floats:
        """Beliefs, certainty at both ends."""
        odds = np.arange(1, int(HIGHEST / self.step) + 1) * self.step
        below = 1 / (1 + np.exp(odds[::-1]))
        return np.concatenate([[0.0], below, [0.5], 1 - below[::-1], [1.0]])

    @cached_property
    def _votes(self) -> list[tuple[Floats, Ints, Floats]]:
        """Of each label: its chance, the knot below where it leads, and the part that lies there, (workers, knots)."""
        found = []
        for given in (1 - self.likely, self.likely):
            joint = self.knots * given[:, 1:]
            chance = joint + (1 - self.knots) * given[:, :1]
            after = np.where(chance > 0, joint / np.where(chance > 0, chance, 1.0), 0.0)
            below = np.clip(np.searchsorted(self.knots, after, side="right") - 1, 0, self.knots.size - 2)
            part = (self.knots[below + 1] - after) / (self.knots[below + 1] - self.knots[below])
            found.append((chance, below, np.clip(part, 0.0, 1.0)))
        return found

    @cached_property
    def _stop(self) -> Floats:
        price = self.error * np.minimum(self.knots, 1 - self.knots)
        return price if self.expert is None else np.minimum(price, self.expert)

    def _asked(self, value: Floats) -> Floats:
        """What it costs to ask each worker at each knot, (workers, knots)."""
        total = np.repeat(self.asking[:, None], self.knots.size, axis=1)
        for chance, below, part in self._votes:
            total += chance * (part * value[below] + (1 - part) * value[below + 1])
        return total

    @cached_property
    def prices(self) -> Floats:
        """Prices at the knots that no policy goes below, (knots,)."""
        least = float(self.asking.min())
        if least <= FREE * max(1e-9, float(self._stop.max())):
            return self._counted()
        value = self._stop
        for _ in range(ITERATIONS):
            asked = self._asked(value)
            worker = asked.argmin(axis=0)
            goes_on = asked[worker, np.arange(self.knots.size)] < self._stop
            after = self._followed(worker, goes_on)
            if (value - after).max() <= 1e-13 * self._stop.max():
                break
            value = after
        # where the prices are above what asking costs by no more than this, shrunk a little they are below it
        above = float(np.maximum(0.0, value - np.minimum(self._stop, self._asked(value).min(axis=0))).max())
        return value * (1 - above / (least + above))

    def _followed(self, worker: Ints, goes_on: Bools) -> Floats:
        """What it costs to ask these workers at the knots that go on, and to stop elsewhere."""
        here, count = np.flatnonzero(goes_on), self.knots.size
        value = self._stop.copy()
        if not here.size:
            return value
        rows, columns, weights = [], [], []
        for chance, below, part in self._votes:
            c, b, p = (some[worker[here], here] for some in (chance, below, part))
            rows += [here, here]
            columns += [b, b + 1]
            weights += [c * p, c * (1 - p)]
        moves = sparse.csr_array(
            (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), shape=(count, count)
        )
        side = np.where(goes_on, self.asking[worker], self._stop)
        return np.asarray(spsolve(sparse.csc_array(sparse.eye_array(count) - moves), side))

    def _counted(self) -> Floats:
        """The price with at most so many labels, one after another: where votes cost nothing or less."""
        value = self._stop
        for _ in range(self.labels):
            after = np.minimum(self._stop, self._asked(value).min(axis=0))
            if np.array_equal(after, value):
                break
            value = after
        return value

    def at(self, belief: float) -> float:
        """The price at a belief, from those at the knots beside it."""
        return float(np.interp(belief, self.knots, self.prices))

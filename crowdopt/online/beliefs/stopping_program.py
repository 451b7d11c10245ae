"""When to let a worker go: optimal stopping over what their labels have shown, and the price at which to stop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.online.beliefs.grid import GRID

LONGEST = 200  # labels after which a worker is known well enough: the rest of them are taken or left as one
HALVINGS = 30  # of the interval in which a price is sought
LEAST = 0.02  # of the top price, below which no price is worth computing
NEVER = np.inf  # threshold where nothing that may still come makes a worker worth it


@dataclass(frozen=True, eq=False)
class StoppingProgram:
    """``max over stopping times of E sum (r(g) - price)``, with each label's correctness told (labels, correct).

    The relaxation behind the lower bound for unknown skills, with the fitted prior in place of the true one. A worker
    is kept while ``U(k, c) > 0``.
    """

    prior: Floats  # (cells,): w over the grid of skills
    reward: Floats  # (cells,): r(g), nats per label
    horizon: int  # labels that a worker can give at most
    # K: a share of 1/K right is a guess. Labels and right ones are the whole state for any K, as long as wrong answers
    # are uniform
    classes: int = 2

    @cached_property
    def last(self) -> int:
        """The last tally that is told apart."""
        return max(0, min(self.horizon, LONGEST) - 1)

    @cached_property
    def tables(self) -> tuple[Floats, Floats]:
        """Chance A of a sequence of k labels with c right, and E[r; that sequence] R: each (k, c)."""
        from crowdopt.online.beliefs.belief_kernels import tables

        made: tuple[Floats, Floats] = tables(self.last, GRID, self.prior, self.prior * self.reward)
        return made

    @cached_property
    def top(self) -> float:
        """The largest price at which it pays to begin with a worker."""
        low, high = 0.0, float(self.reward.max())
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._values(middle)[0, 0] > 0 else (low, middle)
        return low

    def price(self, wanted: float, least: float = LEAST) -> float:
        """The largest price from ``least * top`` to ``top`` at which the mean arrival brings the nats wanted."""
        low, high = 0.0, self.top * (1 - 1e-3)  # at the top itself no worker is begun with
        if self.brings(high) >= wanted:
            return high
        for _ in range(HALVINGS // 2):
            middle = (low + high) / 2
            low, high = (middle, high) if self.brings(middle) >= wanted else (low, middle)
        return max(low, max(LEAST, least) * self.top)

    def brings(self, price: float) -> float:
        """I(price): nats that an arrival is expected to bring before being let go."""
        from crowdopt.online.beliefs.belief_kernels import collected

        return float(collected(self.tables[1], self._values(price), self._rest))

    def thresholds(self, price: float) -> Floats:
        """After k labels, the least E[r] with which a worker is kept: midway between the last tally kept and the next.

        Shape (last + 1,); -inf where even a guesser's tally is kept. Tallies with more right than that decide.
        """
        mass, reward = self.tables
        keeps = self._values(price) > 0
        k = np.arange(self.last + 1)
        upper = np.tri(k.size, dtype=bool) & (self.classes * k[None, :] >= k[:, None])
        some = (keeps & upper).any(axis=1)
        first = np.argmax(keeps & upper, axis=1)
        least = -(-k // self.classes)
        below = np.maximum(first - 1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = reward / mass
        midway = 0.5 * (mean[k, first] + mean[k, below])
        return np.where(~some, NEVER, np.where(first <= least, -NEVER, midway))

    @property
    def _rest(self) -> int:
        return max(1, self.horizon - self.last)

    def _values(self, price: float) -> Floats:
        from crowdopt.online.beliefs.belief_kernels import values

        mass, reward = self.tables
        value = np.empty_like(mass)  # all of it that counts is written: no more are right than were asked
        values(mass, reward, price, self._rest, value)
        return value

"""What a label is worth to a task that is still undecided: potentials over beliefs, and the most one label can do.

A task's belief is the chance that it is of class 1, given everything seen; a label of a worker of known accuracy p
moves it by Bayes' rule. A *potential* V says how far a task at a belief is from done. If no label can lower it by
more than c(p) in expectation, then one who wants to be done needs labels whose c adds up to the potential they start
with: that bounds every policy, however clever (crowdopt.online.limits.least_cost).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats

FARTHEST = 9.0  # log-odds of the last knot before certainty
KNOTS = 160


def grid(knots: int = KNOTS) -> Floats:
    """Beliefs from 1/2 to 1, (knots,), evenly spaced in log-odds but for the last one, which is certainty."""
    return np.append(1 / (1 + np.exp(-np.linspace(0.0, FARTHEST, knots - 1))), 1.0)


@dataclass(frozen=True, eq=False)
class Potential:
    """``V(b)``, linear between knots, and ``V(b) = V(1 - b)``."""

    knots: Floats  # (k,): beliefs, ascending, from 1/2 to 1
    value: Floats  # (k,): V there

    def at(self, belief: Any) -> Floats:
        """V of beliefs of any shape."""
        b = np.asarray(belief, dtype=np.float64)
        return np.interp(np.maximum(b, 1 - b), self.knots, self.value)

    def most_gained(self, accuracy: Any) -> Floats:
        """``c(p) = max over b of V(b) - E_p V(b')``: the most that one label lowers the potential in expectation.

        Exact over all beliefs: between two neighbours of ``turning_points`` the difference is linear.

        accuracy: p, of any shape; p and 1 - p tell equally much.
        """
        p = np.asarray(accuracy, dtype=np.float64)
        distinct, place = np.unique(np.maximum(p, 1 - p), return_inverse=True)
        best = np.array([self._gained(float(one)) for one in distinct])
        return best[place.reshape(-1)].reshape(p.shape)

    def _gained(self, p: float) -> float:
        before = turning_points(self.knots, p)
        chance, right, wrong = after(before, p)
        lowered = self.at(before) - chance * self.at(right) - (1 - chance) * self.at(wrong)
        return max(0.0, float(lowered.max()))


def after(belief: Floats, p: float) -> tuple[Floats, Floats, Floats]:
    """Chance that the label speaks for class 1, and the belief after it does, or speaks against.

    belief (k,): chance of class 1; -> says, right, wrong (k,): the chance, and the belief in either case.
    """
    says = belief * p + (1 - belief) * (1 - p)
    right = np.divide(belief * p, says, out=np.ones_like(belief), where=says > 0)
    wrong = np.divide(belief * (1 - p), 1 - says, out=np.ones_like(belief), where=says < 1)
    return says, right, wrong


def turning_points(knots: Floats, p: float) -> Floats:
    """Beliefs of at least 1/2 where ``V(b) - E_p V(b')`` may turn, for a potential with these knots.

    ``E_p V(b')`` is a sum of ``P(label) V(b')``, and ``P(label) (a + d b')`` is linear in b: it turns only where b or
    one of the two b' is a knot, or the mirror image of one.

    knots (m,): ascending beliefs from 1/2 to 1; -> (k,): ascending, the knots among them.
    """
    if p >= 1 or p <= 0.5:
        return knots
    inner = knots[knots < 1]
    odds, factor = inner / (1 - inner), p / (1 - p)
    turning = np.concatenate([odds / factor, odds * factor, factor / odds])
    turning = turning[turning >= 1]
    return np.unique(np.concatenate([knots, turning / (1 + turning)]))


def reading(knots: Floats, belief: Floats, weight: Floats) -> sparse.csr_array:
    """The matrix that takes values at the knots to ``weight * V(belief)``, one row per belief.

    knots (m,): ascending beliefs; belief, weight (k,): where V is read, and what it is multiplied by; -> (k, m) sparse
    array.
    """
    folded = np.maximum(belief, 1 - belief)
    left = np.minimum(np.searchsorted(knots, folded, side="right") - 1, knots.size - 2)
    share = (folded - knots[left]) / (knots[left + 1] - knots[left])
    row = np.arange(belief.size)
    entries = np.concatenate([weight * (1 - share), weight * share])
    place = (np.concatenate([row, row]), np.concatenate([left, left + 1]))
    return sparse.csr_array((entries, place), shape=(belief.size, knots.size))


def steps(knots: Floats, p: float) -> sparse.csr_array:
    """The matrix that takes values at the knots to ``V(b) - E_p V(b')`` at every turning point b.

    knots (m,): ascending beliefs; -> (turning points, m) sparse array.
    """
    before = turning_points(knots, max(p, 1 - p))
    chance, right, wrong = after(before, max(p, 1 - p))
    lowered = reading(knots, before, np.ones(before.size)) - reading(knots, right, chance)
    return sparse.csr_array(lowered - reading(knots, wrong, 1 - chance))


def bending(knots: Floats) -> sparse.csr_array:
    """Rows that are at most 0 where V, mirrored at 1/2, is concave: neighbours' chord at each knot, less V.

    knots (m,): ascending beliefs; -> (m - 1, m) sparse array: a row for each knot but certainty.
    """
    before = np.concatenate([[1 - knots[1]], knots[:-2]])  # the first knot's other neighbour is its mirror image
    wide = knots[1:] - before
    left, right = (knots[1:] - knots[:-1]) / wide, (knots[:-1] - before) / wide
    row = np.arange(knots.size - 1)
    place = np.concatenate([[1], row[:-1]])
    entries = np.concatenate([left, right, -np.ones(row.size)])
    where = (np.tile(row, 3), np.concatenate([place, row + 1, row]))
    return sparse.csr_array(sparse.coo_array((entries, where), shape=(row.size, knots.size)))

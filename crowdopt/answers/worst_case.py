"""How wrong a vote can be when members of a family err together: the largest error over all joint laws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.core.certificate import certify
from crowdopt.core.solution import WARM, Options, Solve
from crowdopt.crowd.votes.voting import log_odds
from crowdopt.errors import InputError
from crowdopt.programs import worst_law

MOST = 14  # labels: all their outcomes are looked at
TIE = 1e-12  # of a sum of weights; a tie is a coin
ROUNDS = 20  # of the families one after the other
GAIN = 1e-9  # of an error; less ends the rounds


@dataclass(frozen=True)
class WorstError:
    """The error of a vote of workers who may err together."""

    independent: float  # if they did not
    reached: float  # under the worst law that was found; each family's is a linear program, the others' being given
    # no law with these marginals errs more: certified by a dual. Equal to ``reached`` where at most one family has
    # several labels, for then one program tells all
    bound: float


def worst_error(
    accuracy: ArrayLike, family: ArrayLike, solve: Solve, *, weights: ArrayLike | None = None
) -> WorstError:
    """The largest error of the weighted vote of a set of labels, over all laws in which only members depend.

    accuracy (labels,): chance of each to be right, whatever the class; two classes; family (labels,) array of int:
    labels of one number may depend in any way; families are independent; weights (labels,): of the votes; log-odds
    unless given. Raises InputError if there are more than MOST labels, or the arrays do not fit.
    """
    p, home = np.asarray(accuracy, dtype=np.float64), np.asarray(family)
    w = log_odds(p) if weights is None else np.asarray(weights, dtype=np.float64)
    if not p.shape == home.shape == w.shape or p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("accuracy, family and weights need one number per label, accuracies in [0, 1]")
    if p.size > MOST:
        raise InputError(f"{p.size} labels have too many outcomes to look at all of them; at most {MOST}")
    vote = _Vote(p, w)
    several = [np.flatnonzero(home == one) for one in np.unique(home).tolist()]
    several = [members for members in several if members.size > 1]
    laws = {k: vote.alone(members) for k, members in enumerate(several)}
    independent = reached = vote.error(several, laws)
    for _ in range(ROUNDS):
        before = reached
        for k, members in enumerate(several):
            law, _ = vote.worst(members, vote.others(several, laws, k), solve)
            laws[k] = law if law is not None else laws[k]
            reached = max(reached, vote.error(several, laws))
        if reached <= before + GAIN:
            break
    if not several:
        return WorstError(independent, independent, independent)
    together = np.concatenate(several)
    _, bound = vote.worst(together, vote.others([together], {}, 0), solve)
    return WorstError(independent, reached, max(reached, bound))


def worst_bound(accuracy: Floats, family: Ints, solve: Solve, weights: Floats) -> float:
    """The most that a vote errs under any law within families, by one dual; exact if one has several labels."""
    vote = _Vote(accuracy, weights)
    place = np.unique(family, return_inverse=True)[1]
    together = np.flatnonzero(np.bincount(place)[place] > 1)
    return vote.worst(together, vote.others([together], {}, 0), solve)[1]


class _Vote:
    """All outcomes of a vote: who is wrong, whether the vote is."""

    def __init__(self, accuracy: Floats, weights: Floats) -> None:
        count = accuracy.size
        self.wrong: Bools = (np.arange(2**count)[:, None] >> np.arange(count)) & 1 == 1
        self.each = np.where(self.wrong, 1 - accuracy, accuracy)  # chance of each label's part
        margin = np.where(self.wrong, -weights, weights).sum(axis=1)
        tie = TIE * max(1.0, float(np.abs(weights).sum()))
        self.loss = np.where(margin < -tie, 1.0, np.where(margin <= tie, 0.5, 0.0))
        self.error_of = 1 - accuracy

    def pattern(self, members: Ints) -> Ints:
        number: Ints = (self.wrong[:, members].astype(np.int64) << np.arange(members.size)).sum(axis=1)
        return number

    def alone(self, members: Ints) -> Floats:
        """The law of members who err independently, by pattern."""
        wrong = (np.arange(2**members.size)[:, None] >> np.arange(members.size)) & 1 == 1
        law: Floats = np.where(wrong, self.error_of[members], 1 - self.error_of[members]).prod(axis=1)
        return law

    def others(self, several: list[Ints], laws: dict[int, Floats], left_out: int) -> Floats:
        """Chance of each outcome's part outside one family."""
        inside = np.concatenate(several)
        rest = np.setdiff1d(np.arange(self.error_of.size), inside)
        chance: Floats = self.each[:, rest].prod(axis=1)
        for k, members in enumerate(several):
            if k != left_out:
                chance = chance * laws[k][self.pattern(members)]
        return chance

    def error(self, several: list[Ints], laws: dict[int, Floats]) -> float:
        if not several:
            return float(self.loss @ self.each.prod(axis=1))
        return float((self.loss * self.others(several, laws, 0)) @ laws[0][self.pattern(several[0])])

    def worst(self, members: Ints, chance: Floats, solve: Solve) -> tuple[Floats | None, float]:
        """The worst law of a family, the others' being given, and a bound for all laws."""
        loss: Floats = np.bincount(self.pattern(members), self.loss * chance, 2**members.size).astype(np.float64)
        wrong = (np.arange(2**members.size)[:, None] >> np.arange(members.size)) & 1 == 1
        program = worst_law.of_marginals(wrong, loss, self.error_of[members])
        solution = solve(program, WARM, Options())
        return solution.primal, float(-certify(solution).bound)

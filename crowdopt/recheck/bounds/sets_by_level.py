"""The cheapest set of labels of one task by exact errors, skill by skill: sets of any size, of few skills."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.vote_errors import CERTAIN, ClassVotes, least_class_errors, vote_errors

NODES = 10_000  # partial sets that are followed; the others are only bounded
BELIEFS = 256  # told apart by the errors of votes among more than two classes
STEP = 4  # sets looked at together
SPARE = 1e-7  # evidence; room for rounding where evidence alone decides

Partly: TypeAlias = tuple[float, int, tuple[int, ...], float]  # least cost, minus the level, labels so far, spent


class SetsByLevel:
    """``min sum_j cost_j + price e(S)  over sets S of fewest to most labels with e(S) <= target``, best first.

    Any number of labels: what may follow a partial set costs at least the lowest prices that are left and helps at most
    as much as the best labels that are left (:meth:`_ahead`). The partial set for which that is least is followed next,
    so that at any moment no set costs less than the least of what waits and the best set met.

    levels (levels,) float and list of (k,) float: skills, the best first, and for each what its first, second, ...
    label costs, ascending, at least 0; prior: of each class; target, price: the error allowed, and what a wrong answer
    costs.
    """

    def __init__(
        self,
        levels: tuple[Floats, list[Floats]],
        prior: tuple[float, ...],
        target: float,
        price: float,
        fewest: int,
        most: int,
    ) -> None:
        (skill, steps), self.prior, self.target, self.price = levels, prior, target, price
        self.skill = skill
        self.fewest, self.most = fewest, most
        self.room = np.array([one.size for one in steps], np.int64)
        self.sums = [np.append(0.0, np.cumsum(one)) for one in steps]
        self.rest = [np.sort(np.concatenate([*steps[level:], np.zeros(0)])) for level in range(len(steps) + 1)]
        self.best = np.inf
        self._known: dict[tuple[int, ...], float] = {}
        binding = price == 0 and len(prior) == 2 and target < min(prior)
        chances = prior[0] * prior[1] / (target * (1 - target)) if binding else 1.0
        self.need = float(np.log(chances)) - SPARE  # of evidence, by Cauchy and Schwarz
        self.evidence = -np.log(4 * skill * (1 - skill)) if binding else np.zeros(skill.size)

    def least(self, known: float = np.inf) -> float:
        """What the cheapest of these and of those ``known`` costs, or less where NODES end it; inf: no set will do."""
        self.best = min(known, float(self._worth([()], np.zeros(1))[0]))
        queue: list[Partly] = [(self._ahead(0, (), 0.0), 0, (), 0.0)]
        for _ in range(NODES):
            if not queue or queue[0][0] >= self.best:
                return self.best
            _, depth, head, spent = heappop(queue)
            for one in self._children(-depth, head, spent):
                heappush(queue, one)
        return min(self.best, queue[0][0]) if queue else self.best

    def _children(self, level: int, head: tuple[int, ...], spent: float) -> list[Partly]:
        """The partial sets with 0, 1, ... labels of one level more, each with what follows from it costs at least."""
        costs = spent + self.sums[level][: max(0, self.most - sum(head)) + 1]
        costs = costs[costs < self.best]
        sets = [(*head, count) for count in range(costs.size)]
        worth = self._worth(sets, costs)
        self.best = min(self.best, float(worth.min(initial=np.inf)))
        if self.price == 0 and np.isfinite(worth).any():  # one label more of the same level only costs more
            sets = sets[: int(np.isfinite(worth).argmax())]
        both = list(zip(sets, costs.tolist(), strict=False))
        ahead = [self._ahead(level + 1, one, cost) for one, cost in both]
        return [(low, -level - 1, *one) for low, one in zip(ahead, both, strict=True) if low < self.best]

    def _errors(self, sets: list[tuple[int, ...]]) -> Floats:
        new = [one for one in dict.fromkeys(sets) if one not in self._known]
        if new:
            level = np.concatenate([np.repeat(np.arange(len(one)), np.array(one, np.int64)) for one in new])
            starts = np.concatenate([[0], np.cumsum([sum(one) for one in new])]).astype(np.int64)
            p, chance = self.skill[level], np.full(len(new), self.prior[1])
            if len(self.prior) > 2:
                votes = ClassVotes(starts, p, np.tile(self.prior, (len(new), 1)))
                self._known.update(zip(new, least_class_errors(votes, BELIEFS).tolist(), strict=True))
                return np.array([self._known[one] for one in sets])
            odds, lean = np.log(p) - np.log1p(-p), np.log(chance) - np.log1p(-chance)
            above, width = vote_errors(starts, p, odds, chance, lean)
            self._known.update(zip(new, (above - width).tolist(), strict=True))
        return np.array([self._known[one] for one in sets])

    def _worth(self, sets: list[tuple[int, ...]], spent: Floats) -> Floats:
        worth = np.full(len(sets), np.inf)
        fair = [k for k, one in enumerate(sets) if sum(one) >= self.fewest and self._evidence(one) >= self.need]
        if fair:
            error = self._errors([sets[k] for k in fair])
            worth[fair] = np.where(error <= self.target + CERTAIN, spent[fair] + self.price * error, np.inf)
        return worth

    def _evidence(self, one: tuple[int, ...]) -> float:
        return float(self.evidence[: len(one)] @ np.array(one)) if one else 0.0

    def _ahead(self, level: int, head: tuple[int, ...], spent: float) -> float:
        """At least what any set costs that goes on from here: k labels at the k lowest prices, by the best workers."""
        if level == self.skill.size:
            return np.inf
        costs, lack = spent + np.cumsum(self.rest[level]), max(1, self.fewest - sum(head))
        costs = costs[lack - 1 :][costs[lack - 1 :] < self.best]
        many = np.minimum(lack + np.arange(costs.size), self.most)
        room = self.room[level:]
        filled = np.clip(many[:, None] - (np.cumsum(room) - room), 0, room)
        filled = filled[filled @ self.evidence[level:] >= self.need - self._evidence(head)]
        costs, least = costs[costs.size - len(filled) :], np.inf  # evidence grows with k: the first ones are left out
        for start in range(0, costs.size, STEP):
            if costs[start] >= least:
                break
            part = slice(start, start + STEP)
            worth = self._worth([(*head, *row) for row in filled[part].tolist()], costs[part])
            least = min(least, float(worth.min()))
        return least

"""The cheapest set of labels of one task by exact errors, workers as they are: all sets of a size together."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.vote_errors import CERTAIN

DEEPEST = 12  # labels of a set; what tells 2**DEEPEST combinations of answers apart
MANY = 50_000  # sets of one size that are followed; the others are only bounded
REPEATS = 6  # labels like the last one that are counted
CELLS = 4_000_000  # numbers looked at together
SPARE = 1e-7  # evidence; room for rounding where evidence alone decides


@dataclass(frozen=True, eq=False)
class Partial:
    """Sets of k labels each, in the order of the workers' skills."""

    # chance of each combination of answers together with class 1, and with the other
    right: Floats  # (sets, 2**k)
    wrong: Floats  # (sets, 2**k)
    last: Ints  # (sets,): the last worker of each
    # what each costs, and its evidence ``sum -ln 4p(1 - p)``
    spent: Floats  # (sets,)
    worth: Floats  # (sets,)

    @classmethod
    def joined(cls, parts: list[Partial]) -> Partial:
        """All sets of several parts."""
        names = ("right", "wrong", "last", "spent", "worth")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def of(self, which: Ints | Bools) -> Partial:
        """Some of the sets."""
        return Partial(self.right[which], self.wrong[which], self.last[which], self.spent[which], self.worth[which])

    @property
    def error(self) -> Floats:
        """Of the best vote over each set."""
        return np.minimum(self.right, self.wrong).sum(axis=1)

    def error_with(self, more: int, skill: Floats) -> Floats:
        """The same with so many labels more of the last worker's skill."""
        p, q = skill[self.last][:, None], 1 - skill[self.last][:, None]
        total = np.zeros(self.last.size)
        for h in range(more + 1):
            ways = comb(more, h)
            a, b = ways * p ** (more - h) * q**h, ways * q ** (more - h) * p**h
            total += np.minimum(self.right * a, self.wrong * b).sum(axis=1)
        return total


@dataclass(eq=False)
class SetsByError:
    """``min sum_j cost_j  over sets of fewest to most workers over which the best vote errs by at most target``.

    No vote errs less for having a label replaced by one of less skill: so a partial set is given up where as many
    labels like its last one as can still be paid for would not do; by their evidence first, which must reach
    ``ln pi(1 - pi) - ln target (1 - target)`` (Cauchy and Schwarz), then by the error.
    """

    skill: Floats  # (workers,): at least 1/2
    cost: Floats  # (workers,): at least 0
    # the chance of class 1 before any label; the error allowed
    lean: float
    target: float
    # at most DEEPEST
    fewest: int
    most: int

    def __post_init__(self) -> None:
        order = np.lexsort((self.cost, -self.skill))
        self.skill, self.cost = self.skill[order], self.cost[order]
        kept = self._worth_having()
        self.skill, self.cost = self.skill[kept], self.cost[kept]
        self.target += CERTAIN
        self.worth = -np.log(4 * self.skill * (1 - self.skill)) + np.finfo(np.float64).tiny
        self.need = float(np.log(self.lean * (1 - self.lean)) - np.log(self.target * (1 - self.target))) - SPARE
        least = np.minimum.accumulate(self.cost[::-1])[::-1]
        self.least = np.append(least, np.inf)  # that any later worker asks for
        self.best = self._first_guess()

    def _worth_having(self) -> Ints:
        """All but those to whom as many as a set can have are preferred: no worse, and no dearer."""
        kept, cheapest = [], np.full(max(1, self.most), np.inf)
        for j, price in enumerate(self.cost.tolist()):
            if price < cheapest[-1]:
                kept.append(j)
                cheapest[-1] = price
                cheapest.sort()
        return np.array(kept, np.int64)

    def _first_guess(self) -> float:
        """Of the workers below each price the best ones, as many as are enough: the cheapest of those sets."""
        best = np.inf
        for price in np.unique(self.cost).tolist():
            able = np.flatnonzero(self.cost <= price)[: self.most]
            state = self._empty()
            for count, j in enumerate(able.tolist()):
                state = self._grown(state, np.zeros(1, np.int64), np.array([j]))
                if count + 1 >= self.fewest and state.error[0] <= self.target:
                    best = min(best, float(state.spent[0]))
                    break
        return best

    def _empty(self) -> Partial:
        lean = np.array([[self.lean]])
        return Partial(lean, 1 - lean, np.array([-1]), np.zeros(1), np.zeros(1))

    def _grown(self, state: Partial, which: Ints, worker: Ints) -> Partial:
        p, q = self.skill[worker][:, None], 1 - self.skill[worker][:, None]
        right, wrong = state.right[which], state.wrong[which]
        return Partial(
            np.concatenate([right * p, right * q], axis=1),
            np.concatenate([wrong * q, wrong * p], axis=1),
            worker,
            state.spent[which] + self.cost[worker],
            state.worth[which] + self.worth[worker],
        )

    def value(self) -> float:
        """Its cost, or less where sets were too many; infinite where no set will do."""
        state, floor = self._empty(), np.inf
        if self.fewest <= 0 and state.error[0] <= self.target:
            return 0.0
        if self.best == np.inf:  # the best labels, as many as there may be, do not do either
            return np.inf
        for size in range(1, self.most + 1):
            state, dropped = self._next(state, size)
            floor = min(floor, dropped)
            if not state.last.size:
                return min(self.best, floor)
        return min(self.best, floor)

    def _next(self, state: Partial, size: int) -> tuple[Partial, float]:
        """Sets with one label more that may yet become the best; and what those that are not followed cost at least."""
        parts, floors, step = [], [np.inf], max(1, CELLS // max(1, self.skill.size))
        for first in range(0, state.last.size, step):
            which, worker = self._affordable(state.of(np.arange(first, min(first + step, state.last.size))))
            width = max(1, CELLS >> size)
            for begin in range(0, which.size, width):
                some = slice(begin, begin + width)
                part, ahead = self._hopeful(self._grown(state, first + which[some], worker[some]), size)
                if part.last.size > MANY:
                    order = np.argsort(ahead, kind="stable")
                    floors.append(float(ahead[order[MANY:]].min()))
                    part, ahead = part.of(order[:MANY]), ahead[order[:MANY]]
                parts.append((part, ahead))
        if not parts:
            return state.of(np.zeros(0, np.int64)), np.inf
        ahead = np.concatenate([one for _, one in parts])
        joined = Partial.joined([part for part, _ in parts])
        order = np.argsort(ahead, kind="stable")
        order = order[ahead[order] < self.best]
        floors.append(float(ahead[order[MANY:]].min(initial=np.inf)))
        return joined.of(order[:MANY]), min(floors)

    def _affordable(self, state: Partial) -> tuple[Ints, Ints]:
        """Sets and the workers who may be added to them, if evidence enough may cost less than the best set."""
        later = np.arange(self.skill.size) > state.last[:, None]
        lack = np.maximum(0.0, self.need - state.worth[:, None] - self.worth)
        with np.errstate(invalid="ignore"):  # nothing more needed, and nobody left: nothing more is paid
            ahead = np.where(lack > 0, np.ceil(lack / self.worth) * self.least[1:], 0.0)
        which, worker = np.nonzero(later & (state.spent[:, None] + self.cost + ahead < self.best))
        return which, worker

    def _hopeful(self, state: Partial, size: int) -> tuple[Partial, Floats]:
        """Those that are not enough yet but may be before they cost more than the best, and what they cost at least."""
        error = state.error
        enough = (error <= self.target) & (size >= self.fewest)
        if enough.any():
            self.best = min(self.best, float(state.spent[enough].min()))
        state = state.of(~enough & (state.spent + self.least[state.last + 1] < self.best))
        ahead = np.full(state.last.size, np.inf)
        lack = np.maximum(0.0, self.need - state.worth) / self.worth[state.last]
        waiting = np.clip(np.ceil(lack), 1, REPEATS).astype(np.int64)  # labels more without which evidence is short
        open_ = np.zeros(0, np.int64)
        for more in range(1, min(REPEATS, self.most - size) + 1):
            open_ = np.append(open_, np.flatnonzero(waiting == more))
            part = state.of(open_)
            cost = part.spent + more * self.least[part.last + 1]
            good = part.error_with(more, self.skill) <= self.target
            if more == REPEATS:
                good[:] = True
            ahead[open_[good]] = cost[good]
            open_ = open_[~good & (cost < self.best)]
        keep = ahead < self.best
        return state.of(keep), ahead[keep]

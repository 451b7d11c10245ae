"""The least set of labels of one task, in whole numbers: a tree of cases that proves it, each case by one price."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.proofs.deep import Deep, run

SCALE = 1 << 32  # prices of evidence are multiples of 1 / SCALE
NODES = 2_000  # cases that are looked at; beyond, the linear bound has to do
REUSED = 8  # prices before, the latest first, that a case tries before it asks for its own


class Closed(NamedTuple):
    """A case without a cheap set, as the price of that number shows."""

    price: int


class Branch(NamedTuple):
    """An item that is out in one case and in in the other."""

    item: int
    out: Tree
    inside: Tree


Tree = Closed | Branch


@dataclass(frozen=True, eq=False)
class LeastSet:
    """``min sum cost y  s.t.  sum worth y >= need,  low <= y <= high``, all of them whole; worth is not below 0."""

    cost: Ints  # (items,)
    worth: Ints  # (items,)
    need: int
    low: Ints  # (items,) 0 or 1
    high: Ints  # (items,) 0 or 1

    @property
    def key(self) -> tuple[bytes, bytes, int, bytes, bytes]:
        """Equal for equal questions."""
        arrays = [one.tobytes() for one in (self.cost, self.worth, self.low, self.high)]
        return arrays[0], arrays[1], self.need, arrays[2], arrays[3]


@dataclass
class SetProof:
    """No set costs less than ``target``: the cases, and the prices that close them."""

    target: int
    tree: Tree
    prices: list[int]
    items: list[int] = field(default_factory=list)  # on which cases branch


class Cheaper(Exception):
    """There is a set that costs less than was to be shown."""

    def __init__(self, cost: int) -> None:
        super().__init__(cost)
        self.cost = cost


class TooMany(Exception):
    """More cases than NODES."""


def least(question: LeastSet) -> int:
    """What the cheapest set costs, or the linear bound rounded up; ValueError where no set is worth enough."""
    search = _Search(question, 0)
    start = search.all_in()
    target = start
    while True:
        try:
            _Search(question, target).run()
        except Cheaper as found:
            target = found.cost
        except TooMany:
            return search.linear()
        else:
            return target


def prove(question: LeastSet, target: int) -> SetProof:
    """That no set costs less than ``target``; raises :class:`Cheaper` where one does, :class:`TooMany` after NODES."""
    search = _Search(question, target)
    tree = search.run()
    return SetProof(target, tree, search.prices, sorted(search.items))


class _Search:
    """Cases, depth first: each is closed by a price of evidence, or split at the item that is cut by its own price."""

    def __init__(self, question: LeastSet, target: int) -> None:
        self.question, self.target = question, target
        self.prices: list[int] = []
        self.items: set[int] = set()
        self.nodes = 0
        cost, worth = question.cost, question.worth
        self.paid = (cost > 0) & (worth > 0)
        ratio = np.where(self.paid, cost / np.maximum(worth, 1), 0.0)
        self.order = np.argsort(ratio, kind="stable")
        self.exact = cost.astype(object), worth.astype(object)

    def all_in(self) -> int:
        question = self.question
        if int(question.worth @ question.high) < question.need:
            raise ValueError("all items together are not worth enough")
        return int(question.cost @ np.where((question.cost <= 0) | self.paid, question.high, question.low))

    def linear(self) -> int:
        question = self.question
        price, _, _ = self._best_price(question.low, question.high)
        return -(-self._bound(price, question.low, question.high) // SCALE)

    def run(self) -> Tree:
        return run(self._case(self.question.low, self.question.high))

    def _case(self, low: Ints, high: Ints) -> Deep[Tree]:
        self.nodes += 1
        if self.nodes > NODES:
            raise TooMany
        above = SCALE * (self.target - 1)
        for number in range(len(self.prices) - 1, max(-1, len(self.prices) - 1 - REUSED), -1):
            if self._bound(self.prices[number], low, high) > above:
                return Closed(number)
        price, item, whole = self._best_price(low, high)
        if self._bound(price, low, high) > above:
            self.prices.append(price)
            return Closed(len(self.prices) - 1)
        if whole < self.target:
            raise Cheaper(whole)
        out, inside = high.copy(), low.copy()
        out[item], inside[item] = 0, 1
        self.items.add(item)
        return Branch(item, (yield self._case(low, out)), (yield self._case(inside, high)))

    def _bound(self, price: int, low: Ints, high: Ints) -> int:
        """SCALE times what no set of the case costs less than."""
        cost, worth = self.exact
        left = SCALE * cost - price * worth
        return int(price * self.question.need + (left * np.where(left > 0, low, high)).sum())

    def _best_price(self, low: Ints, high: Ints) -> tuple[int, int, int]:
        """The best price of evidence in a case, the item that it cuts, and what a set with all of that item costs."""
        question = self.question
        taken = np.where(question.cost <= 0, high, low)
        lack = question.need - int(question.worth @ taken)
        spent = int(question.cost @ taken)
        if lack <= 0:
            return 0, -1, spent
        free = self.order[(self.paid & (low < high))[self.order]]
        reached = np.cumsum(question.worth[free])
        if not reached.size or reached[-1] < lack:
            short = lack - (int(reached[-1]) if reached.size else 0)
            steepest = max((int(-(-SCALE * c // w)) for c, w in zip(*self._free(free), strict=True)), default=0)
            return (
                max(steepest, SCALE * (abs(self.target) + int(np.abs(question.cost).sum()) + 1) // short + 1),
                -1,
                1 << 62,
            )
        last = int(np.searchsorted(reached, lack))
        item = int(free[last])
        price = SCALE * int(question.cost[item]) // int(question.worth[item])
        return price, item, spent + int(question.cost[free[: last + 1]].sum())

    def _free(self, free: Ints) -> tuple[list[int], list[int]]:
        return self.question.cost[free].tolist(), self.question.worth[free].tolist()

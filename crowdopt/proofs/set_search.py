"""The least set of labels of one task, in whole numbers: a tree of cases that proves it, each case by one price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.proofs.deep import Deep, run

SCALE = 1 << 32  # prices of evidence are multiples of 1 / SCALE
FEW = 200  # cases that are looked at before sets are told apart by how many labels they have
NODES = 4_000  # cases that are looked at then; beyond, a lower bound has to do
HALVINGS = 4  # between the linear bound and what took too many cases
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


class Half(NamedTuple):
    """Sets of at most (sense L) or at least (G) so many labels: ``cost y >= (cost + price) y - price labels``."""

    sense: str
    labels: int
    price: int  # of each label: >= 0 for L, <= 0 for G

    @property
    def extra(self) -> int:
        """By how much a target is higher where every label costs the price."""
        return self.price * self.labels

    def priced(self, question: LeastSet) -> LeastSet:
        """The question where every label costs the price as well."""
        return replace(question, cost=question.cost + self.price)


class Answer(NamedTuple):
    """What no set costs less than, and the halves by which that is shown; none: it needs none."""

    value: int
    halves: tuple[Half, ...] = ()


class Cases(NamedTuple):
    """No set costs less than ``target``: the cases, the prices that close them, the items on which they branch."""

    target: int
    tree: Tree
    prices: list[int]
    items: list[int]


class SetProof(NamedTuple):
    """No set costs less than ``target``: cases for each half, or for all sets."""

    target: int
    halves: tuple[Half, ...]
    cases: list[Cases]


class Cheaper(Exception):
    """There is a set that costs less than was to be shown."""

    def __init__(self, cost: int) -> None:
        super().__init__(cost)
        self.cost = cost


class TooMany(Exception):
    """More cases than are looked at."""


def answer(question: LeastSet) -> Answer:
    """What the cheapest set costs, or less where that takes too many cases; ValueError: no set is worth enough."""
    low, high = _settled(question, FEW)
    if low == high:
        return Answer(low)
    halves = _halves(question)
    value = min(_highest(half.priced(question)) - half.extra for half in halves)
    if value >= high:
        return Answer(value, halves)
    return max(Answer(_highest(question)), Answer(value, halves), key=lambda one: one.value)


def prove(question: LeastSet, target: int, halves: tuple[Half, ...] = ()) -> SetProof:
    """That no set costs less than ``target``; raises :class:`Cheaper` where one does, :class:`TooMany` after NODES."""
    if not halves:
        return SetProof(target, (), [_cases(question, target)])
    return SetProof(target, halves, [_cases(half.priced(question), target + half.extra) for half in halves])


def _cases(question: LeastSet, target: int) -> Cases:
    search = _Search(question, target, NODES)
    tree = search.run()
    return Cases(target, tree, search.prices, sorted(search.items))


def scaled(question: LeastSet) -> int:
    """SCALE times what no set costs less than by a single price."""
    return _Search(question, 0, 1).scaled()


def _settled(question: LeastSet, nodes: int) -> tuple[int, int]:
    """A lower bound, and what a set costs: equal, unless there were too many cases."""
    search = _Search(question, 0, nodes)
    low, high = search.linear(), search.all_in()
    while low < high:
        try:
            _Search(question, high, nodes).run()
        except Cheaper as found:
            high = found.cost
        except TooMany:
            return low, high
        else:
            return high, high
    return high, high


def _highest(question: LeastSet) -> int:
    """What no set costs less than, as far as NODES cases show it."""
    low, high = _settled(question, NODES)
    for _ in range(HALVINGS):
        middle = (low + high) // 2
        if middle == low:
            break
        try:
            _Search(question, middle, NODES).run()
        except (Cheaper, TooMany):
            high = middle
        else:
            low = middle
    return low


def _halves(question: LeastSet) -> tuple[Half, ...]:
    """Sets of as many labels as a price takes whole, or fewer, and those of more, each with its best price."""
    labels = _Search(question, 0, 1).whole_labels()
    return (_half(question, "L", labels), _half(question, "G", labels + 1))


def _half(question: LeastSet, sense: str, labels: int) -> Half:
    sign = 1 if sense == "L" else -1
    best: dict[int, int] = {}

    def bound(size: int) -> int:
        if size not in best:
            half = Half(sense, labels, sign * size)
            best[size] = _Search(half.priced(question), 0, 1).scaled() - SCALE * half.extra
        return best[size]

    low, high = 0, 2 * int(np.abs(question.cost).max(initial=0)) + 1
    while high - low > 2:  # a concave function
        third = (high - low) // 3
        one, two = low + third, high - third
        low, high = (one, high) if bound(one) < bound(two) else (low, two)
    return Half(sense, labels, sign * max(range(low, high + 1), key=bound))


class _Search:
    """Cases, depth first: each is closed by a price of evidence, or split at the item that is cut by its own price."""

    def __init__(self, question: LeastSet, target: int, most: int) -> None:
        self.question, self.target, self.most = question, target, most
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

    def scaled(self) -> int:
        question = self.question
        price, _, _ = self._best_price(question.low, question.high)
        return self._bound(price, question.low, question.high)

    def linear(self) -> int:
        return -(-self.scaled() // SCALE)

    def whole_labels(self) -> int:
        question = self.question
        price, item, _ = self._best_price(question.low, question.high)
        left = SCALE * self.exact[0] - (price + 1) * self.exact[1]  # a price is rounded down
        taken = np.where(left < 0, question.high, question.low)
        return int(taken.sum() - (taken[item] if item >= 0 else 0))

    def run(self) -> Tree:
        return run(self._case(self.question.low, self.question.high))

    def _case(self, low: Ints, high: Ints) -> Deep[Tree]:
        self.nodes += 1
        if self.nodes > self.most:
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

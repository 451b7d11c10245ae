"""The least price of a task under given prices of errors and votes, by numbers of votes from the most down to none.

For so many votes of each asker a tensor holds, for every way in which they can have fallen, the least price times the
chance of those votes in one order. No chance is divided by: to ask for one vote more adds up, over its labels, the
tensor of one vote more. The stop costs ``min over k of sum over l not k of mu_l P(votes, l)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations_with_replacement, product

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.recheck.policies.told_law import Counts, ToldLaw

Number = tuple[int, ...]  # votes of each asker


@cache
def ways(votes: int, classes: int) -> tuple[tuple[int, ...], ...]:
    """Every way in which so many votes can fall: labels of each class."""
    every = combinations_with_replacement(range(classes), votes)
    return tuple(tuple(labels.count(k) for k in range(classes)) for labels in every)


@cache
def _with_one_more(votes: int, classes: int) -> Ints:
    """Where each way leads with one more label of each class, (ways, classes)."""
    place = {way: k for k, way in enumerate(ways(votes + 1, classes))}
    more = [
        [place[tuple(n + (k == label) for k, n in enumerate(way))] for label in range(classes)]
        for way in ways(votes, classes)
    ]
    return np.array(more, np.int64)


@dataclass
class Recursion:
    """Least prices of a law's tasks; ``error`` (classes,) of a wrong answer where a class is true, ``asking`` (askers,)
    of a vote, an expert's.
    """

    law: ToldLaw
    error: Floats
    asking: Floats
    expert: float | None
    rounds: int | None
    _least: dict[Number, Floats] = field(default_factory=dict)

    def value(self, votes: Counts) -> float:
        """The least price of a task that has these votes, with all rounds to come."""
        number = tuple(sum(labels) for labels in votes)
        classes = self.law.prior.shape[1]
        place = tuple(ways(n, classes).index(labels) for n, labels in zip(number, votes, strict=True))
        weight = float(self.law.weight(votes).sum())
        return float(self._start()[number][place]) / weight

    def _start(self) -> dict[Number, Floats]:
        if not self._least:
            self._least = self._one_by_one() if self.rounds is None else self._by_rounds(self.rounds)
        return self._least

    def _numbers(self) -> list[Number]:
        """All numbers of votes that a task may have, the most first."""
        every = product(*(range(int(size) + 1) for size in self.law.members))
        return sorted(every, key=sum, reverse=True)

    def _joint(self, number: Number) -> Floats:
        """The chance of each way and each class: a tensor, an axis for each asker and one for the classes."""
        law, classes = self.law, self.law.prior.shape[1]
        shape = [len(ways(n, classes)) for n in number]
        joint = np.zeros((*shape, classes))
        for b in range(len(law.prior)):
            part = law.prior[b].reshape([1] * len(number) + [classes])
            for g, n in enumerate(number):
                counts = np.array(ways(n, classes), np.int64)
                chance = (law.chance[b, :, g][None] ** counts[:, None]).prod(axis=2)
                side = [1] * len(number)
                side[g] = len(counts)
                part = part * chance.reshape([*side, classes])
            joint += part
        return joint

    def _stop(self, number: Number) -> tuple[Floats, Floats]:
        """The price of stopping, and the chance of each way: tensors, an axis for each asker."""
        law, joint = self.law, self._joint(number)
        whole = joint.sum(axis=-1)
        priced = joint * self.error
        price = priced.sum(axis=-1) - priced.max(axis=-1)
        price = np.where(law.is_sure(whole - joint.max(axis=-1), whole), price, np.inf)
        if not law.is_enough(number):
            return np.where(whole > 0, np.inf, 0.0), whole
        return (price if self.expert is None else np.minimum(price, self.expert * whole)), whole

    def _one_by_one(self) -> dict[Number, Floats]:
        least: dict[Number, Floats] = {}
        for number in self._numbers():
            price, whole = self._stop(number)
            for asker in range(len(number)):
                after = (*number[:asker], number[asker] + 1, *number[asker + 1 :])
                if self._may_add(number, after):
                    asked = float(self.asking[asker]) * whole + self.summed(least[after], asker, number[asker])
                    price = np.minimum(price, asked)
            least[number] = price
        return least

    def _may_add(self, number: Number, after: Number) -> bool:
        """Whether the votes between two numbers may be asked for."""
        return self.law.allows(after, [b - a for a, b in zip(number, after, strict=True)])

    def _by_rounds(self, rounds: int) -> dict[Number, Floats]:
        stops = {number: self._stop(number) for number in self._numbers()}
        least = {number: price for number, (price, _) in stops.items()}
        for _ in range(min(rounds, int(self.law.members.sum()))):  # each asks for a vote at least
            later, wrong = _Later(self, least, {}), _Later(self, self._wrong, {})
            least = {number: self._asked_at_once(number, stops[number], later, wrong) for number in stops}
        return least

    @cached_property
    def _wrong(self) -> dict[Number, Floats]:
        """By numbers of votes, where sets are held against the target: chance of each way and a class less likely."""
        if self.law.at_once is None:
            return {}
        joint = {number: self._joint(number) for number in self._numbers()}
        return {number: law.sum(axis=-1) - law.max(axis=-1) for number, law in joint.items()}

    def _asked_at_once(self, number: Number, stop: tuple[Floats, Floats], later: _Later, wrong: _Later) -> Floats:
        """The least of stopping and of every set of votes asked for at once."""
        price, whole = stop
        if wrong.least:
            price = np.where(self.law.keeps_at_once(wrong.least[number], whole), price, np.inf)
        for after in product(*(range(n, int(size) + 1) for n, size in zip(number, self.law.members, strict=True))):
            if after != number and self._may_add(number, after):
                votes = float(sum((b - a) * c for a, b, c in zip(number, after, self.asking.tolist(), strict=True)))
                asked = votes * whole + later.seen_from(after, number)
                if wrong.least:
                    asked = np.where(self.law.keeps_at_once(wrong.seen_from(after, number), whole), asked, np.inf)
                price = np.minimum(price, asked)
        return price

    def summed(self, tensor: Floats, asker: int, votes: int) -> Floats:
        """The tensor of one vote more of an asker, added up over that vote's labels."""
        more = _with_one_more(votes, self.law.prior.shape[1])
        taken = np.take(tensor, more.reshape(-1), axis=asker)
        shape = [*tensor.shape[:asker], *more.shape, *tensor.shape[asker + 1 :]]
        return np.asarray(taken.reshape(shape).sum(axis=asker + 1))


@dataclass
class _Later:
    """The tensors of the next round, added up over the votes in between, each once."""

    recursion: Recursion
    least: dict[Number, Floats]
    known: dict[tuple[Number, Number], Floats]

    def seen_from(self, after: Number, number: Number) -> Floats:
        """What the next round costs after these votes, as it looks before them."""
        if after == number:
            return self.least[after]
        if (after, number) not in self.known:
            asker = next(g for g, (a, b) in enumerate(zip(number, after, strict=True)) if a < b)
            nearer = (*number[:asker], number[asker] + 1, *number[asker + 1 :])
            tensor = self.seen_from(after, nearer)
            self.known[after, number] = self.recursion.summed(tensor, asker, number[asker])
        return self.known[after, number]

"""Candidates for hiring: their answers to control questions, what these say of each, and the limits on who is hired.

Li & Liu, *Cheaper and Better: Selecting Good Workers for Crowdsourcing*, 2015. A worker answered c of n control
questions correctly, n of their own; there are L classes. Gains are fractions of whole numbers, so ties are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.groups import ids, integers, is_amount, per
from crowdopt.errors import InputError, public

_ABSENT: Any = None  # as given; what the instance then holds is always an array, but for price and group
MOST_ASKED = 10_000  # control questions of one worker: gains stay fractions of whole numbers that int64 holds
MOST_CLASSES = 1_000
TABLE = 8  # cells per worker of a table that counts tallies: it beats sorting a million of them


def gain_fractions(correct: Ints, asked: Ints, classes: int) -> tuple[Ints, Ints]:
    """G, unbiased for ``(L w - 1)^2`` (eq. 8): ``(L^2 c (c-1) - 2 L c (n-1) + n (n-1)) / (n (n-1))``, exactly.

    By factorial moments; equal to the paper's two forms. c and n of each, (workers,), n at least 2.
    """
    c, n = correct, asked
    pairs = n * (n - 1)
    return classes**2 * (c * (c - 1)) - 2 * classes * (c * (n - 1)) + pairs, pairs


def plug_in_fractions(correct: Ints, asked: Ints, classes: int) -> tuple[Ints, Ints]:
    """``(L w - 1)^2 = (L c - n)^2 / n^2``, exactly: what the plug-in score (9) sums, biased by ``L^2 var``."""
    return (classes * correct - asked) ** 2, asked**2


def score(gain: Any) -> float:
    """``F = |S|^(-1/2) sum of gains`` of a set: F-hat (eq. 7), F-hat-plug of plug-in gains (9), F of true ones (5)."""
    of_set = np.asarray(gain, np.float64)
    return float(of_set.sum() / np.sqrt(of_set.size))


def exceeds(total: int, size: int, other: int, its_size: int) -> bool:
    """Whether ``total / sqrt(size)`` is more than ``other / sqrt(its_size)``, exactly: ``F |F|`` orders scores."""
    spare = max(total.bit_length(), other.bit_length()) - 128
    if spare > 0:  # the leading digits decide, unless rounding them up and down does not agree
        a, b = total >> spare, other >> spare
        surely = a * abs(a) * its_size > (b + 1) * abs(b + 1) * size
        if surely == ((a + 1) * abs(a + 1) * its_size > b * abs(b) * size):
            return surely
    return total * abs(total) * its_size > other * abs(other) * size


@dataclass(frozen=True, eq=False)
class Levels:
    """The distinct values that tallies lead to, greatest first, and the workers of each."""

    numerator: Ints  # (levels,)
    denominator: Ints  # (levels,)
    count: Ints  # (levels,): the workers of each
    of: NDArray[np.integer[Any]]  # (workers,): each worker's level
    most: int  # K

    @cached_property
    def ranking(self) -> Ints:
        """The workers by value, greatest first; equal ones keep their order."""
        return np.argsort(self.of, kind="stable")

    @cached_property
    def best_prefix(self) -> tuple[Fraction, int]:
        """The sum of the ranking's first k values, and k, for the largest sum over sqrt(k): the smallest k <= K."""
        bottoms = self.denominator.tolist()
        common = lcm(*set(bottoms))
        share = {bottom: common // bottom for bottom in set(bottoms)}
        total, before = 0, 0
        best, size = int(self.numerator[0]) * share[bottoms[0]], 1
        # Along workers of one value v > 0 the score is ``(a + v k) / sqrt(k)`` with a >= 0, first falling, then rising:
        # only the first and the last of each level can be the best to stop at. With v <= 0 it falls.
        for top, bottom, count in zip(self.numerator.tolist(), bottoms, self.count.tolist(), strict=True):
            value, last = top * share[bottom], min(before + count, self.most)
            if value <= 0 or before == self.most:
                break
            for k in sorted({before + 1, last}):
                here = total + value * (k - before)
                if exceeds(here, k, best, size):
                    best, size = here, k
            total, before = here, last
        return Fraction(best, common), size


def counted(key: Ints) -> tuple[Ints, Ints, Ints]:
    """The distinct numbers, ascending, how often each is there, and which of them each entry is."""
    if key.max() >= TABLE * key.size:
        distinct, place, count = np.unique(key, return_inverse=True, return_counts=True)
        return distinct, count, place
    count = np.bincount(key)
    return np.flatnonzero(count), count[count > 0], (np.cumsum(count > 0) - 1)[key]


def levels(instance: SelectionInstance, value: Callable[[Ints, Ints, int], tuple[Ints, Ints]]) -> Levels:
    """Sort workers by a value, a fraction of whole numbers that is taken once per distinct tally."""
    width = int(instance.asked.max()) + 1
    key = instance.asked * width + instance.correct
    tallies, _, place = counted(key)
    top, bottom = value(tallies % width, tallies // width, instance.classes)
    # different fractions differ by MOST_ASKED^-4 at least: their whole parts and 62 binary digits tell them apart
    whole, rest = np.divmod(top, bottom)
    high, rest = np.divmod(rest << 31, bottom)
    digits = (high << 31) + (rest << 31) // bottom
    order = np.lexsort((-digits, -whole))
    fresh = np.append(True, (np.diff(whole[order]) != 0) | (np.diff(digits[order]) != 0))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.cumsum(fresh) - 1
    of = rank[place] if order.size >= 2**16 else rank.astype(np.uint16)[place]  # 16 bits are sorted by counting
    return Levels(top[order][fresh], bottom[order][fresh], np.bincount(of), of, instance.sizes)


@public
@dataclass(frozen=True, eq=False)
class SelectionInstance:
    """Problem (11) of Li & Liu 2015: ``max F(S) = |S|^(-1/2) sum of G_i over S  s.t.  1 <= |S| <= K``, and more."""

    # c and n: control questions answered correctly, and answered; ``asked`` may be one number for all. n at least 2
    correct: Ints  # (workers,)
    asked: Ints  # (workers,)
    classes: int = 2  # L, classes a label chooses from
    most: int = _ABSENT  # K, the most workers; default: all
    price: Floats | None = None  # float or (workers,) float: what hiring a worker costs
    money: float | None = None  # the most the hired may cost together
    required: Ints = _ABSENT  # (k,): workers who must be hired
    barred: Ints = _ABSENT  # (k,): who must not
    group: Ints | None = None  # (workers,): each worker's group, counted from 0
    fewest: Ints = _ABSENT  # int or (groups,) int: r, the fewest workers of each group
    # s, the most workers of each group, such as of a family who err together; default: no limit
    most_each: Ints = _ABSENT  # int or (groups,) int
    # ids. Default: 0, 1, 2, ..
    workers: Sequence[str] | None = None
    groups: Sequence[str] | None = None

    def __post_init__(self) -> None:
        correct = integers("correct", self.correct)
        if correct.ndim != 1 or correct.size == 0:
            raise InputError(f"correct must be a list with one number per worker, not of shape {correct.shape}")
        self._keep("correct", correct)
        m = correct.size
        for name, kind in (("asked", np.int64), ("price", np.float64), ("group", np.int64)):
            if getattr(self, name) is not None:
                self._keep(name, per(name, getattr(self, name), m, "worker", kind))
        for name in ("required", "barred"):
            given = integers(name, () if getattr(self, name) is None else getattr(self, name))
            if given.ndim != 1:
                raise InputError(f"{name} must be a list of workers, not of shape {given.shape}")
            _refuse((given < 0) | (given >= m), f"{name} has the worker {{}}, but there are {m}", given)
            self._keep(name, np.unique(given))
        self._keep("most", m if self.most is None else self.most)
        for name, what, least, most in (
            ("classes", "the number of classes", 2, MOST_CLASSES),
            ("most", "the largest number of workers", 1, 2**62),
        ):
            value = getattr(self, name)
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not whole or not least <= value <= most:
                raise InputError(f"{what} must be a whole number from {least} to {most}, not {str(value)[:40]}")
            self._keep(name, int(value))
        groups = 0 if self.group is None else max(int(self.group.max()) + 1, len(self.groups or ()))
        for name, default in (("fewest", 0), ("most_each", m)):
            given = getattr(self, name)
            if self.group is None and given is not None and np.any(given):
                raise InputError(f"{name}, a number of workers per group, needs groups; give each worker a group")
            self._keep(name, per(name, default if given is None else given, groups, "group", np.int64))
        self._keep("workers", ids("workers", self.workers, m))
        self._keep("groups", ids("groups", self.groups, groups))
        _check_workers(self)
        _check_groups(self)

    def _keep(self, name: str, value: Any) -> None:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(self, name, value)

    @property
    def n_workers(self) -> int:
        """Workers, M."""
        return int(self.correct.size)

    @property
    def n_groups(self) -> int:
        """Groups, the empty ones below the largest number included; 0 without any."""
        return int(self.fewest.size)

    @property
    def sizes(self) -> int:
        """``min(K, M)``: sets have 1 to so many workers."""
        return min(self.most, self.n_workers)

    @property
    def is_plain(self) -> bool:
        """Whether it is problem (11) as printed: nothing but a limit on the number of workers."""
        limited = self.required.size or self.barred.size or self.fewest.any() or self.limits_groups
        return self.money is None and not limited

    @property
    def limits_groups(self) -> bool:
        """Whether some group may have fewer hired than it has workers."""
        return self.group is not None and any(self.most_each < np.bincount(self.group, minlength=self.n_groups))

    @cached_property
    def gain(self) -> Floats:
        """G, correctly rounded, shape (workers,)."""
        return np.divide(*gain_fractions(self.correct, self.asked, self.classes))

    @property
    def weight(self) -> Floats:
        """Vote weights ``L c/n - 1`` of WMV-linear (eq. 2), the roots of plug-in gains, shape (workers,)."""
        return self.classes * (self.correct / self.asked) - 1

    @cached_property
    def gain_levels(self) -> Levels:
        """Workers by G, exactly."""
        return levels(self, gain_fractions)

    @property
    def worker_ids(self) -> list[str]:
        """The id of each worker, (workers,)."""
        return [self.worker_id(j) for j in range(self.n_workers)]

    def worker_id(self, worker: int) -> str:
        """Id of a worker."""
        return str(worker) if self.workers is None else self.workers[worker]


def _refuse(bad: Bools, sentence: str, *of: Any) -> None:
    """Refuse the first bad entry; the sentence's braces are its values in the given lists."""
    if bad.any():
        where = int(np.argmax(bad))
        raise InputError(sentence.format(*(values[where] for values in of)))


def _check_workers(instance: SelectionInstance) -> None:
    c, n, price, who = instance.correct, instance.asked, instance.price, instance.workers or range(instance.n_workers)
    for bad, complaint in (
        (n <= 0, "has no control questions; ask some, or leave the worker out"),
        (n == 1, "was asked one control question, and a variance needs two; ask more, or leave the worker out"),
        (n > MOST_ASKED, f"was asked more than {MOST_ASKED} control questions; give a share of them"),
        (c < 0, "has a negative number of correct answers; count again"),
        (c > n, "has more correct answers than control questions; count again"),
    ):
        _refuse(bad, f"worker {{}} {complaint} ({{}} of {{}})", who, c, n)
    if instance.money is not None and not is_amount(instance.money):
        raise InputError(f"the money must be finite and at least 0, not {str(instance.money)[:40]}")
    if price is None and instance.money is not None:
        raise InputError("there is a limit on the money but no price; give each worker a price")
    if price is not None:
        bad = ~((price >= 0) & np.isfinite(price))
        _refuse(bad, "price must be finite and at least 0; it is {} for {}", price, who)
    required, barred = (np.isin(np.arange(c.size), some) for some in (instance.required, instance.barred))
    _refuse(required & barred, "worker {} is both required and barred; drop one of the two", who)
    if required.sum() > instance.sizes:
        raise InputError(f"{required.sum()} workers are required but at most {instance.sizes} may be hired")
    if barred.all():
        raise InputError("every worker is barred, so there is no worker to hire")


def _check_groups(instance: SelectionInstance) -> None:
    """Refuse limits that contradict one another: each has one obvious remedy."""
    group, fewest, most_each = instance.group, instance.fewest, instance.most_each
    if group is None:
        return
    if (group < 0).any() or (fewest < 0).any():
        raise InputError("groups, and the fewest workers of each, must be whole numbers of at least 0")
    names, number = instance.groups or range(fewest.size), fewest.size
    forced = np.bincount(group[instance.required], minlength=number)
    there = np.bincount(np.delete(group, instance.barred), minlength=number)
    too_few = "group {} is to have {} workers at least and {} at most; change one of them"
    _refuse(most_each < fewest, too_few, names, fewest, most_each)
    too_many = "{} workers of group {} are required, and it may have {}; change one of them"
    _refuse(forced > most_each, too_many, forced, names, most_each)
    _refuse(there < fewest, "group {} has {} workers to hire and is to have {}", names, there, fewest)
    if fewest.sum() > instance.sizes:
        asked, most = fewest.sum(), instance.sizes
        raise InputError(f"the groups ask for {asked} workers together but at most {most} may be hired")

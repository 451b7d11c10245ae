"""A selection instance: the candidates, their answers to control questions, and the limits on who is hired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.checks import ids, integers, is_amount, per
from crowdopt.crowd.hiring import gains
from crowdopt.crowd.hiring.score_levels import ScoreLevels, levels
from crowdopt.errors import InputError, public

_ABSENT: Any = None  # as given; what the instance then holds is always an array, but for price and group
MOST_ASKED = 10_000  # control questions of one worker: gains stay fractions of whole numbers that int64 holds
MOST_CLASSES = 1_000


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
        self._keep("asked", per("asked", self.asked, correct.size, "worker", np.int64))
        object.__setattr__(self, "workers", ids("workers", self.workers, correct.size))
        _check_tallies(self)
        _check_numbers(self)
        if self.price is not None:
            self._keep("price", per("price", self.price, correct.size, "worker", np.float64))
        for name in ("required", "barred"):
            self._keep(name, _members(name, getattr(self, name), self))
        if self.group is not None:
            self._keep("group", per("group", self.group, correct.size, "worker", np.int64))
        object.__setattr__(self, "groups", ids("groups", self.groups, self.n_groups))
        fewest = 0 if self.fewest is None else self.fewest
        if self.group is None and np.any(fewest):
            raise InputError("a fewest number of workers per group needs groups; give each worker a group")
        self._keep("fewest", per("fewest", fewest, self.n_groups, "group", np.int64))
        if self.group is None and self.most_each is not None and np.size(self.most_each):
            raise InputError("a most number of workers per group needs groups; give each worker a group")
        most_each = self.n_workers if self.most_each is None else self.most_each
        self._keep("most_each", per("most_each", most_each, self.n_groups, "group", np.int64))
        _check_limits(self)

    def _keep(self, name: str, array: NDArray[Any]) -> None:
        array.setflags(write=False)
        object.__setattr__(self, name, array)

    @property
    def n_workers(self) -> int:
        """Workers, M."""
        return int(self.correct.size)

    @property
    def n_groups(self) -> int:
        """Groups, the empty ones below the largest number included; 0 without any."""
        if self.group is None:
            return 0
        return max(int(self.group.max()) + 1, 0 if self.groups is None else len(self.groups))

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
        return self.group is not None and bool(
            (self.most_each < np.bincount(self.group, minlength=self.n_groups)).any()
        )

    @cached_property
    def reliability(self) -> Floats:
        """``c / n``, shape (workers,)."""
        return gains.reliability(self.correct, self.asked)

    @cached_property
    def gain(self) -> Floats:
        """G, correctly rounded, shape (workers,)."""
        numerator, denominator = gains.gain_fractions(self.correct, self.asked, self.classes)
        return numerator / denominator

    @cached_property
    def plug_in_gain(self) -> Floats:
        """``(L c/n - 1)^2``, shape (workers,)."""
        return (self.classes * self.reliability - 1) ** 2

    @cached_property
    def weight(self) -> Floats:
        """Vote weights ``L c/n - 1`` of WMV-linear (eq. 2), shape (workers,)."""
        return self.classes * self.reliability - 1

    @cached_property
    def gain_levels(self) -> ScoreLevels:
        """Workers by G, exactly."""
        return levels(self.correct, self.asked, self.classes, gains.gain_fractions)

    @cached_property
    def plug_in_levels(self) -> ScoreLevels:
        """Workers by the plug-in gain, exactly."""
        return levels(self.correct, self.asked, self.classes, gains.plug_in_fractions)

    @cached_property
    def reliability_levels(self) -> ScoreLevels:
        """Workers by ``c / n``, exactly."""
        return levels(self.correct, self.asked, self.classes, lambda correct, asked, _: (correct, asked))

    @property
    def worker_ids(self) -> list[str]:
        """The id of each worker, (workers,)."""
        return [self.worker_id(j) for j in range(self.n_workers)]

    def worker_id(self, worker: int) -> str:
        """Id of a worker."""
        return str(worker) if self.workers is None else self.workers[worker]

    def group_id(self, group: int) -> str:
        """Id of a group."""
        return str(group) if self.groups is None else self.groups[group]


def _check_tallies(instance: SelectionInstance) -> None:
    c, n = instance.correct, instance.asked
    for bad, complaint in (
        (n <= 0, "has no control questions; ask some, or leave the worker out"),
        (n == 1, "was asked one control question, and a variance needs two; ask more, or leave the worker out"),
        (n > MOST_ASKED, f"was asked more than {MOST_ASKED} control questions; give a share of them"),
        (c < 0, "has a negative number of correct answers; count again"),
        (c > n, "has more correct answers than control questions; count again"),
    ):
        if bad.any():
            where = int(np.flatnonzero(bad)[0])
            raise InputError(f"worker {instance.worker_id(where)} {complaint} ({c[where]} of {n[where]})")


def _check_numbers(instance: SelectionInstance) -> None:
    if instance.most is None:
        object.__setattr__(instance, "most", instance.n_workers)
    for name, what, least, most in (
        ("classes", "the number of classes", 2, MOST_CLASSES),
        ("most", "the largest number of workers", 1, 2**62),
    ):
        value: Any = getattr(instance, name)
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not least <= value <= most:
            raise InputError(f"{what} must be a whole number from {least} to {most}, not {str(value)[:40]}")
        object.__setattr__(instance, name, int(value))
    if instance.money is not None and not is_amount(instance.money):
        raise InputError(f"the money must be finite and at least 0, not {str(instance.money)[:40]}")


def _members(name: str, values: Any, instance: SelectionInstance) -> Ints:
    given = np.zeros(0, np.int64) if values is None or len(values) == 0 else integers(name, values)
    if given.ndim != 1:
        raise InputError(f"{name} must be a list of workers, not of shape {given.shape}")
    outside = given[(given < 0) | (given >= instance.n_workers)]
    if outside.size:
        raise InputError(f"{name} has the worker {outside[0]}, but there are {instance.n_workers}")
    return np.unique(given)


def _check_limits(instance: SelectionInstance) -> None:
    """Refuse limits that contradict one another: each has one obvious remedy."""
    price, group, fewest = instance.price, instance.group, instance.fewest
    if price is None and instance.money is not None:
        raise InputError("there is a limit on the money but no price; give each worker a price")
    if price is not None and not ((price >= 0) & np.isfinite(price)).all():
        where = int(np.flatnonzero(~((price >= 0) & np.isfinite(price)))[0])
        raise InputError(f"price must be finite and at least 0; it is {price[where]} for {instance.worker_id(where)}")
    both = np.intersect1d(instance.required, instance.barred)
    if both.size:
        raise InputError(f"worker {instance.worker_id(int(both[0]))} is both required and barred; drop one of the two")
    if instance.required.size > instance.sizes:
        raise InputError(f"{instance.required.size} workers are required but at most {instance.sizes} may be hired")
    if instance.barred.size == instance.n_workers:
        raise InputError("every worker is barred, so there is no worker to hire")
    if group is not None and (group < 0).any():
        raise InputError("group must be whole numbers of at least 0")
    _check_groups(instance, np.asarray(fewest))


def _check_groups(instance: SelectionInstance, fewest: Ints) -> None:
    if (fewest < 0).any():
        raise InputError("the fewest workers of a group must be at least 0")
    if instance.group is None:
        return
    most_each = np.asarray(instance.most_each)
    if (most_each < fewest).any():
        where = int(np.flatnonzero(most_each < fewest)[0])
        raise InputError(
            f"group {instance.group_id(where)} is to have {fewest[where]} workers at least and "
            f"{most_each[where]} at most; change one of them"
        )
    forced = np.bincount(instance.group[instance.required], minlength=fewest.size)
    if (forced > most_each).any():
        where = int(np.flatnonzero(forced > most_each)[0])
        raise InputError(
            f"{forced[where]} workers of group {instance.group_id(where)} are required, and it may have "
            f"{most_each[where]}; change one of them"
        )
    able = np.setdiff1d(np.arange(instance.n_workers), instance.barred)
    there = np.bincount(instance.group[able], minlength=fewest.size)
    if (there < fewest).any():
        where = int(np.flatnonzero(there < fewest)[0])
        raise InputError(
            f"group {instance.group_id(where)} has {there[where]} workers to hire and is to have {fewest[where]}"
        )
    if fewest.sum() > instance.sizes:
        raise InputError(
            f"the groups ask for {fewest.sum()} workers together but at most {instance.sizes} may be hired"
        )

"""Tests of gold: whether all workers together, or one, have fewer right answers than guessing gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.gold.skills import AGREEMENT
from crowdopt.errors import GoldWarning, InputError, tell

FALSE_ALARM = 1e-3  # chance that honest gold, every worker guessing or better, is found fault with by either test
SHOWN = 5  # workers in a sentence
MEND = "look for swapped columns, labels that stand for one another, or line ends left in one of two tables"
GO_ON = "to go on as it is, --trust-gold (in Python trust_gold=True), or trust_gold = true in campaign.toml"


@dataclass(frozen=True, eq=False)
class GoldTest:
    """Gold tallies tested against guessing."""

    # each worker's answers over all types
    right: Ints  # (workers,)
    asked: Ints  # (workers,)
    chance: float  # 1/K, what guessing gets
    tail: float  # how often a crowd that guesses gets as few right in all, at most
    tails: Floats  # (workers,): the same of each worker
    low: Ints  # (k,): workers below chance, worst first: Holm's test of all workers at half of FALSE_ALARM

    @property
    def is_crowd_low(self) -> bool:
        """Whether the crowd as a whole is below chance, tested at half of FALSE_ALARM."""
        return self.tail <= FALSE_ALARM / 2

    @property
    def shows_no_skill(self) -> bool:
        """Whether the crowd as a whole did no better than guessing, for whatever reason."""
        return bool(self.asked.sum() > 0 and self.right.sum() <= self.chance * self.asked.sum())


def against_chance(correct: ArrayLike, asked: ArrayLike, classes: int) -> GoldTest:
    """Test tallies against guessing among the classes.

    Where every worker guesses or knows better, each tail is at least what it should be, however their skills differ.

    correct, asked (workers,) or (types, workers): c and s; classes: K.
    """
    from scipy.special import bdtr  # not loaded with the package

    right, total = (np.atleast_2d(np.asarray(one, np.int64)).sum(axis=0) for one in (correct, asked))
    tail = float(bdtr(right.sum(), total.sum(), 1 / classes)) if total.any() else 1.0
    tails = np.where(total > 0, bdtr(right, np.maximum(total, 1), 1 / classes), 1.0)
    order = np.argsort(tails, kind="stable")
    known = int((total > 0).sum())
    steps = tails[order] <= FALSE_ALARM / 2 / np.maximum(known - np.arange(total.size), 1)
    low = order[: int(np.argmin(steps)) if not steps.all() else steps.size]
    return GoldTest(right, total, 1 / classes, tail, tails, low)


def heed(test: GoldTest, workers: Sequence[str], source: str) -> None:
    """Refuse gold of a crowd below chance; warn of one that shows no skill, and of single workers below chance.

    A worker below chance is no reason to stop: in honest crowds some are, truly, and a plan has use for whoever is
    reliably wrong. A crowd below chance would have all its answers turned round.

    source: where the gold stands, for the sentence.
    """
    right, asked = int(test.right.sum()), int(test.asked.sum())
    what = "answers' worth of agreement" if source == AGREEMENT else "gold answers are right"
    said = f"{source}: {right} of {asked} {what}, where guessing gets {asked * test.chance:.4g}"
    if test.is_crowd_low:
        apart = "labels of a task contradict" if source == AGREEMENT else "labels and truth do not fit"
        raise InputError(f"{said} (so few by chance: {test.tail:.2g}), so {apart} each other; {MEND}; {GO_ON}")
    if test.low.size:
        names = [f"{workers[j]} {test.right[j]} of {test.asked[j]} ({test.tails[j]:.2g})" for j in test.low[:SHOWN]]
        more = f" and {test.low.size - SHOWN} more" if test.low.size > SHOWN else ""
        tell(
            f"{source}: {test.low.size} of {int((test.asked > 0).sum())} worker(s) got fewer right than guessing "
            f"explains: {', '.join(names)}{more}; their votes may count against what they say, so see whether gold "
            f"is upside-down, or leave them out (silent with --trust-gold)",
            GoldWarning,
        )
    elif test.shows_no_skill:
        doubt = f"{said}, so it shows no skill, and a plan rests on nothing; {MEND} (silent with --trust-gold)"
        tell(doubt, GoldWarning)


def tell_missing(asked: Ints, workers: Sequence[str], source: str) -> None:
    """Say which workers have no gold, and what they count with.

    asked (types, workers): s; source: where the gold stands.
    """
    without = np.flatnonzero(asked.sum(axis=0) == 0)
    pairs = int((asked == 0).sum()) - asked.shape[0] * without.size
    said = []
    if without.size:
        names = ", ".join(workers[j] for j in without[:SHOWN]) + (", ..." if without.size > SHOWN else "")
        said.append(
            f"{without.size} of {asked.shape[1]} worker(s) without gold, counted with the crowd's mean: {names}"
        )
    if pairs:
        barred = "a task that a worker must not label is a row task,worker of forbidden.csv"
        said.append(f"{pairs} pair(s) of a worker and a type without gold, counted with the type's mean; {barred}")
    if said:
        tell(f"{source}: {'; '.join(said)}", GoldWarning)

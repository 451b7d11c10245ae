"""From gold to skills: accuracies by averaged priors, plug-in, unbiased; confusion tables; gold that cannot be right.

Row k of a worker's table is the law of their label where class k is true. A one-coin worker has p on the diagonal and
``(1 - p) / (K - 1)`` beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.priors import PRIORS, Known, known
from crowdopt.errors import GoldWarning, InputError, tell

AGREEMENT = "agreement of labels, no known answers"  # what tallies rest on where no truth is known
STRENGTHS: Floats = np.geomspace(0.25, 256.0, 11)  # labels like the crowd, per true class, to begin with
FALSE_ALARM = 1e-3  # chance that honest gold, every worker guessing or better, is found fault with by either test
SHOWN = 5  # workers in a sentence
MEND = "look for swapped columns, labels that stand for one another, or line ends left in one of two tables"
GO_ON = "to go on as it is, --trust-gold (in Python trust_gold=True), or trust_gold = true in campaign.toml"


def plug_in(correct: Any, asked: Any) -> Floats:
    """``p = c / s``, the share of gold answered correctly; NaN where nothing was asked.

    Over-confident for few gold tasks: the one who looks best was also lucky.

    -> (types, workers).
    """
    c, s = _tallies(correct, asked)
    return np.divide(c, s, out=np.full(c.shape, np.nan), where=s > 0)


def unbiased(correct: Any, asked: Any) -> Floats:
    """The accuracy whose evidence ``(2p - 1)^2`` is ``max(0, (s (2 c/s - 1)^2 - 1) / (s - 1))``; NaN for s < 2.

    That is unbiased for ``(2p - 1)^2`` but for the clip; p is on the plug-in's side of 1/2. For equal s it is affine in
    the plug-in's: it changes how much is bought, never whom the ranking prefers.

    -> (types, workers).
    """
    p, s = plug_in(correct, asked), np.atleast_2d(np.asarray(asked, np.float64))
    raw = np.divide(s * (2 * p - 1) ** 2 - 1, s - 1, out=np.full(s.shape, np.nan), where=s > 1)
    return 0.5 + np.where(p < 0.5, -0.5, 0.5) * np.sqrt(np.maximum(0.0, raw))


def averaged(
    correct: Any, asked: Any, classes: int = 2, names: tuple[str, ...] = PRIORS, growing: bool = False
) -> Floats:
    """Posterior means, averaged over the priors that each type's gold leaves open (crowdopt.crowd.priors).

    A worker without gold has the prior's mean; a type without any is like all others together.

    correct, asked (types, workers): c and s; names: the priors; growing: whether more workers come, so that
    parameters are looked for anew at powers of 4 alone; -> (types, workers). Raises InputError if no worker
    has answered any gold, or a tally is impossible.
    """
    return np.stack([told.means(*tally) for told, *tally in known_of(correct, asked, classes, names, growing)])


def known_of(
    correct: Any, asked: Any, classes: int = 2, names: tuple[str, ...] = PRIORS, growing: bool = False
) -> list[tuple[Known, Floats, Floats]]:
    """What gold tells of each type, and the tallies that its workers count with, (workers,) each (:func:`averaged`)."""
    c, s = _tallies(correct, asked)
    if s.sum() == 0:
        raise InputError("no worker has answered a gold task, so skills cannot be estimated; give gold or accuracies")
    there = s.any(axis=1, keepdims=True)
    both = np.stack([np.where(there, c, c.sum(axis=0)), np.where(there, s, s.sum(axis=0))], axis=1)
    first = 4 ** ((c.shape[1].bit_length() - 1) // 2) if growing else c.shape[1]
    first = first if both[:, 1, :first].any(axis=1).all() else c.shape[1]
    return [(_priors(row[:, :first].tobytes(), classes, names).after(*row[:, first:]), *row) for row in both]


@lru_cache(maxsize=64)
def _priors(tallies: bytes, classes: int, names: tuple[str, ...]) -> Known:
    right, asked = np.frombuffer(tallies).reshape(2, -1)
    return known(right, asked, classes, names)


AVERAGED, TALLIED = "averaged", ("plug-in", "unbiased")
ESTIMATORS = (AVERAGED, *PRIORS, *TALLIED)


def estimator(name: str, classes: int = 2, growing: bool = False) -> Callable[[Any, Any], Floats]:
    """How gold becomes accuracies: ``estimator(name)(correct, asked)``, each (types, workers) (:func:`averaged`)."""
    if name in TALLIED:
        return plug_in if name == "plug-in" else unbiased
    return partial(averaged, classes=classes, names=priors_of(name), growing=growing)


def priors_of(name: str) -> tuple[str, ...]:
    """The priors that an estimator rests on: one, or all."""
    return (name,) if name in PRIORS else PRIORS


def _tallies(correct: Any, asked: Any) -> tuple[Floats, Floats]:
    c, s = (np.atleast_2d(np.asarray(tally, dtype=np.float64)) for tally in (correct, asked))
    if c.shape != s.shape:
        raise InputError(f"correct has shape {c.shape}, asked has {s.shape}; they must be alike")
    if not (np.isfinite(s) & (c == np.rint(c)) & (s == np.rint(s)) & (c >= 0) & (c <= s)).all():
        raise InputError("gold tallies must be whole numbers with 0 <= correct <= asked")
    return c, s


def confusions(tallies: Ints) -> Floats:
    """``(n_jkl + a c_kl) / (n_jk + a)``: gold, with ``a`` labels per true class drawn from the crowd's table c.

    ``c_kl`` is ``(n_kl + d_kl) / (n_k + 1)``, n the whole crowd's gold and d one label's worth of a one-coin worker as
    good as the crowd: so no chance is 0, and a class without gold has what the others suggest.

    tallies (workers, classes, classes): gold answers by true class and by answer.
    a is the likeliest of STRENGTHS if every row is drawn from ``Dirichlet(a c_k)``.
    -> (workers, classes, classes): rows add up to 1. Raises InputError if there is no gold, or a tally is negative.
    """
    counts = with_crowd(tallies)
    return np.asarray(counts / counts.sum(axis=2, keepdims=True), np.float64)


def with_crowd(tallies: Ints) -> Floats:
    """``n_jkl + a c_kl``, (workers, classes, classes)."""
    counts = np.asarray(tallies, dtype=np.float64)
    if (counts < 0).any() or not counts.sum():
        raise InputError("confusion tables need gold: tallies of at least 0, and some above 0")
    classes, crowd = counts.shape[1], counts.sum(axis=0)
    right = (np.trace(crowd) + 1) / (crowd.sum() + classes)
    coin = np.where(np.eye(classes, dtype=bool), right, (1 - right) / (classes - 1))
    shared = (crowd + coin) / (crowd.sum(axis=1, keepdims=True) + 1)
    strength = float(STRENGTHS[np.argmax([_likelihood(counts, a * shared) for a in STRENGTHS])])
    return np.asarray(counts + strength * shared, np.float64)


def _likelihood(counts: Floats, weight: Floats) -> float:
    """Log-likelihood of tallies whose rows are drawn from ``Dirichlet(weight_k)``, (classes, classes)."""
    from scipy.special import gammaln

    of_cells = gammaln(counts + weight) - gammaln(weight)
    of_rows = gammaln(weight.sum(axis=1)) - gammaln(counts.sum(axis=2) + weight.sum(axis=1))
    return float(of_cells.sum() + of_rows.sum())


def holm(chance: Floats, rate: float) -> Ints:
    """Places of the p-values that Holm's steps reject, the least first.

    Each is at most ``rate`` over how many are left, up to the first that is not: whatever ties the tests, the chance
    that any true hypothesis is rejected is at most the rate.
    """
    order = np.argsort(chance, kind="stable")
    return order[np.logical_and.accumulate(chance[order] <= rate / np.arange(chance.size, 0, -1))]


def against_chance(right: Ints, asked: Ints, classes: int) -> tuple[float, Floats, Ints]:
    """How often a crowd that guesses among the classes gets as few right, at most; and each worker by themselves.

    Where every worker guesses or knows better, each tail is at least what it should be, however their skills differ.

    right, asked (workers,): each worker's answers; -> the tail of all, tails (workers,), workers below chance, worst
    first: by Holm's test of all workers with gold at half of FALSE_ALARM.
    """
    from scipy.special import bdtr  # not loaded with the package

    tail = float(bdtr(right.sum(), asked.sum(), 1 / classes)) if asked.any() else 1.0
    tails = np.where(asked > 0, bdtr(right, np.maximum(asked, 1), 1 / classes), 1.0)
    known = np.flatnonzero(asked > 0)
    return tail, tails, known[holm(tails[known], FALSE_ALARM / 2)]


def heed(correct: ArrayLike, asked: ArrayLike, classes: int, workers: Sequence[str], source: str) -> None:
    """Refuse gold of a crowd below chance; warn of one that shows no skill, and of single workers below chance.

    A worker below chance is no reason to stop: in honest crowds some are, truly, and a plan has use for whoever is
    reliably wrong. A crowd below chance, by the other half of FALSE_ALARM, would have all its answers turned round.

    correct, asked (workers,) or (types, workers): c and s; classes: K; source: where the gold stands, for the sentence.
    """
    each, of = (np.atleast_2d(np.asarray(tally, np.int64)).sum(axis=0) for tally in (correct, asked))
    tail, tails, low = against_chance(each, of, classes)
    right, total, guessed = int(each.sum()), int(of.sum()), of.sum() / classes
    what = "answers' worth of agreement" if source == AGREEMENT else "gold answers are right"
    said = f"{source}: {right} of {total} {what}, where guessing gets {guessed:.4g}"
    if tail <= FALSE_ALARM / 2:
        apart = "labels of a task contradict" if source == AGREEMENT else "labels and truth do not fit"
        raise InputError(f"{said} (so few by chance: {tail:.2g}), so {apart} each other; {MEND}; {GO_ON}")
    if low.size:
        names = [f"{workers[j]} {each[j]} of {of[j]} ({tails[j]:.2g})" for j in low[:SHOWN]]
        more = f" and {low.size - SHOWN} more" if low.size > SHOWN else ""
        tell(
            f"{source}: {low.size} of {np.count_nonzero(of)} worker(s) got fewer right than guessing "
            f"explains: {', '.join(names)}{more}; their votes may count against what they say, so see whether gold "
            f"is upside-down, or leave them out (silent with --trust-gold)",
            GoldWarning,
        )
    elif total and right <= guessed:
        doubt = f"{said}, so it shows no skill, and a plan rests on nothing; {MEND} (silent with --trust-gold)"
        tell(doubt, GoldWarning)


def tell_missing(asked: Ints, workers: Sequence[str], source: str) -> None:
    """Say which workers have no gold, and what they count with.

    asked (types, workers): s; source: where the gold stands.
    """
    without, said = np.flatnonzero(asked.sum(axis=0) == 0), []
    if without.size:
        names = ", ".join(workers[j] for j in without[:SHOWN]) + (", ..." if without.size > SHOWN else "")
        many = f"{without.size} of {asked.shape[1]} worker(s) without gold"
        said.append(f"{many}, counted with the crowd's mean: {names}")
    if pairs := int((asked == 0).sum()) - asked.shape[0] * without.size:
        barred = "a task that a worker must not label is a row task,worker of forbidden.csv"
        said.append(f"{pairs} pair(s) of a worker and a type without gold, counted with the type's mean; {barred}")
    if said:
        tell(f"{source}: {'; '.join(said)}", GoldWarning)

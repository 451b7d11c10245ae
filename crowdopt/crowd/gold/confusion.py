"""Confusion tables of workers: from gold by true class and answer, what they tell, and how their labels vote.

Row k of a worker's table is the law of their label where class k is true. A one-coin worker has p on the diagonal and
``(1 - p) / (K - 1)`` beside it.
"""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.gold.checks import floats
from crowdopt.errors import InputError

RULE = "bhattacharyya"  # the rule that holds for confusion tables: pair by pair of classes
SUM = 1e-9  # how far a row may be from adding up to 1
STRENGTHS: Floats = np.geomspace(0.25, 256.0, 11)  # labels like the crowd, per true class, to begin with


def confusions(tallies: Ints) -> Floats:
    """``(n_jkl + a c_kl) / (n_jk + a)``: gold, with ``a`` labels per true class drawn from the crowd's table c.

    ``c_kl`` is ``(n_kl + d_kl) / (n_k + 1)``, n the whole crowd's gold and d one label's worth of a one-coin worker as
    good as the crowd: so no chance is 0, and a class without gold has what the others suggest.

    tallies (workers, classes, classes): gold answers by true class and by answer.
    a is the likeliest of STRENGTHS if every row is drawn from ``Dirichlet(a c_k)``.
    -> (workers, classes, classes): rows add up to 1. Raises InputError if there is no gold, or a tally is negative.
    """
    counts = np.asarray(tallies, dtype=np.float64)
    if counts.ndim != 3 or counts.shape[1] != counts.shape[2] or counts.shape[1] < 2:
        raise InputError(f"tallies have shape {counts.shape}; they need one per worker, true class and answer")
    if (counts < 0).any() or not counts.sum():
        raise InputError("confusion tables need gold: tallies of at least 0, and some above 0")
    classes, crowd = counts.shape[1], counts.sum(axis=0)
    right = (np.trace(crowd) + 1) / (crowd.sum() + classes)
    coin = np.where(np.eye(classes, dtype=bool), right, (1 - right) / (classes - 1))
    shared = (crowd + coin) / (crowd.sum(axis=1, keepdims=True) + 1)
    strength = float(STRENGTHS[np.argmax([_likelihood(counts, a * shared) for a in STRENGTHS])])
    return (counts + strength * shared) / (counts.sum(axis=2, keepdims=True) + strength)


def _likelihood(counts: Floats, weight: Floats) -> float:
    """Log-likelihood of tallies whose rows are drawn from ``Dirichlet(weight_k)``, (classes, classes)."""
    from scipy.special import gammaln

    of_cells = gammaln(counts + weight) - gammaln(weight)
    of_rows = gammaln(weight.sum(axis=1)) - gammaln(counts.sum(axis=2) + weight.sum(axis=1))
    return float(of_cells.sum() + of_rows.sum())


def confusion_evidence(confusion: Floats) -> Floats:
    """``min over classes k < l of -2 ln sum_y sqrt(P(y | k) P(y | l))``: what a label tells of the worst pair at least.

    Evidence by the rule ``bhattacharyya``: the sum over a task's labels bounds its error as for one coin, for each
    pair of classes has at least the sum of these minima, and ``sum min(P, Q) <= sum sqrt(P Q)`` pair by pair. Votes
    have to be by log-likelihood (:func:`class_votes`).

    confusion (workers, classes, classes): rows add up to 1; -> (workers,).
    """
    root = np.sqrt(confusion)
    affinity = root @ root.swapaxes(1, 2)
    first, second = np.triu_indices(confusion.shape[1], 1)
    worst = affinity[:, first, second].max(axis=1)
    with np.errstate(divide="ignore"):
        evidence: Floats = np.maximum(0.0, -2 * np.log(np.minimum(worst, 1.0)))
    return evidence


def checked_tables(confusion: object, accuracy: Floats, classes: int, rule: str) -> Floats | None:
    """Confusion tables of each type and worker whose evidence is at least that of the accuracies; None without any.

    confusion (types, workers, classes, classes) array_like; accuracy (types, workers): of one-coin workers who tell no
    more (:func:`one_coin_like`); -> (types, workers, classes, classes) float, or None. Raises InputError if they are no
    chances, tell less than the accuracies, or the rule is about one coin only.
    """
    if confusion is None:
        return None
    if rule != RULE:
        raise InputError(f"rule {rule} is about one accuracy per worker; with confusion tables choose rule {RULE}")
    tables = floats("confusion", confusion)
    if tables.shape != (*accuracy.shape, classes, classes):
        raise InputError(
            f"confusion has shape {tables.shape}; it needs types, workers and two classes, "
            f"{(*accuracy.shape, classes, classes)}"
        )
    if not (tables > 0).all() or (np.abs(tables.sum(axis=-1) - 1) > SUM).any():
        raise InputError("rows of confusion tables must be chances above 0 that add up to 1")
    told = np.stack([one_coin_like(confusion_evidence(table), classes) for table in tables])
    if ((accuracy > told + SUM) | (accuracy * classes < 1 - SUM)).any():
        raise InputError("accuracies beside confusion tables must tell no more than these; set them by with_confusion")
    return tables


def class_votes(confusion: Floats) -> Floats:
    """``ln P(y | k)``, what a label y adds to the score of each class k: (workers, labels, classes)."""
    return np.ascontiguousarray(np.log(confusion).transpose(0, 2, 1))


def one_coin_like(evidence: Floats, classes: int) -> Floats:
    """The accuracy above a guess of a one-coin worker whose label has this much evidence (rule ``bhattacharyya``).

    ``2 sqrt(p u) + (K - 2) u = e^{-A/2}`` with u = (1 - p)/(K - 1), solved by bisection: it falls as p grows.

    evidence: A, at least 0; -> the same shape; never more than the evidence says.
    """
    affinity = np.exp(-np.asarray(evidence, dtype=np.float64) / 2)
    low, high = np.full(affinity.shape, 1 / classes), np.ones(affinity.shape)
    for _ in range(60):
        middle = (low + high) / 2
        wrong = (1 - middle) / (classes - 1)
        more = 2 * np.sqrt(middle * wrong) + (classes - 2) * wrong > affinity
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return low

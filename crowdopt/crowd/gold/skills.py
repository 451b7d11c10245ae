"""From gold tallies to accuracies: plug-in, unbiased, empirical Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.errors import InputError

ALIKE = 0.95  # chance that all workers are alike, above which they are taken to be
MANY = 200  # workers: luck is held against who looks best by that chance; of fewer it would hide who is good
AGREEMENT = "agreement of labels, no known answers"  # what tallies rest on where no truth is known
RHO: Floats = (np.arange(40) + 0.5) / 40  # correlations between a worker's answers that are held against none


def plug_in(correct: Any, asked: Any) -> Floats:
    """``p = c / s``, the share of gold answered correctly; NaN where nothing was asked.

    Over-confident for few gold tasks: the one who looks best was also lucky.

    -> (types, workers).
    """
    c, s = _tallies(correct, asked)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(s > 0, c / s, np.nan)


def unbiased_evidence(correct: Any, asked: Any) -> Floats:
    """``q = max(0, (s (2 c/s - 1)^2 - 1) / (s - 1))``, unbiased for ``(2p - 1)^2`` but for the clip; NaN for s < 2.

    For equal s it is affine in the plug-in: it changes how much is bought, never whom the ranking prefers.

    -> (types, workers).
    """
    _, s = _tallies(correct, asked)
    naive = (2 * plug_in(correct, asked) - 1) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(s > 1, np.maximum(0.0, (s * naive - 1) / (s - 1)), np.nan)


def unbiased(correct: Any, asked: Any) -> Floats:
    """The accuracy whose evidence ``(2p - 1)^2`` is the unbiased one, on the plug-in's side of 1/2; NaN for s < 2."""
    side = np.where(plug_in(correct, asked) < 0.5, -1.0, 1.0)
    return 0.5 + 0.5 * side * np.sqrt(unbiased_evidence(correct, asked))


def empirical_bayes(correct: Any, asked: Any) -> Floats:
    """Posterior means ``p = (c + mu t) / (s + t)`` under a Beta prior fitted to each type by moments.

    ``mu`` is the type's share of correct answers, ``rho`` the beta-binomial correlation between a worker's
    answers (Kleinman 1973, with weights s; for equal s it is ``(Var/(mu(1-mu)) - 1/s) / (1 - 1/s)``) and
    ``t = 1/rho - 1`` the prior's weight in answers. Decisions at the edges:

    - workers who are all alike with a chance above .95, given the tallies, all get mu; before them it is 1/2, against
      every rho from 0 to 1 alike. Else the best of such a crowd would be its luckiest;
    - of 200 workers or more, below that chance w: ``w mu + (1 - w) p``;
    - a pair without gold takes its type's mean; a type without any takes the mean over all types;
    - rho <= 0 (workers differ no more than by chance), or every worker asked once: all get mu;
    - rho >= 1 (every worker all right or all wrong): t = 0, the plug-in;
    - every answer right, or every one wrong: mu is (c + 1) / (s + 2) of the type, and all get it;
    - fewer than two workers with gold: the prior is uniform, p = (c + 1) / (s + 2).

    -> (types, workers). Raises InputError if no worker has answered any gold, or a tally is impossible.
    """
    c, s = _tallies(correct, asked)
    if s.sum() == 0:
        raise InputError("no worker has answered a gold task, so skills cannot be estimated; give gold or accuracies")
    overall = _shrunk(c.ravel(), s.ravel(), fallback=0.5)[1]
    return np.stack([_shrunk(*row, fallback=overall)[0] for row in zip(c, s, strict=True)])


def _shrunk(c: Floats, s: Floats, fallback: float) -> tuple[Floats, float]:
    total, right = s.sum(), c.sum()
    if total == 0:
        return np.full(c.shape, fallback), fallback
    if (s > 0).sum() < 2:
        return (c + 1) / (s + 2), float((right + 1) / (total + 2))
    if right in (0, total):
        mean = float((right + 1) / (total + 2))
        return np.full(c.shape, mean), mean
    mean = float(right / total)
    weight = _prior_weight(c[s > 0], s[s > 0], mean)
    # who comes out best is chosen: where the spread is chance alone, these are the luckiest, no better than the crowd
    alike = 1.0 if np.isinf(weight) else _alike(c[s > 0], s[s > 0], mean)
    if alike > ALIKE:
        return np.full(c.shape, mean), mean
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(s + weight > 0, (c + mean * weight) / (s + weight), mean)
    return apart if (s > 0).sum() < MANY else alike * mean + (1 - alike) * apart, mean


def _alike(c: Floats, s: Floats, mean: float) -> float:
    """Chance that all workers are equally good, given their tallies: 1/2 before, else rho is anything from 0 to 1."""
    weight = 1 / RHO[:, None] - 1
    steps = np.arange(s.max())
    right, wrong, asked = (
        np.concatenate([np.zeros((RHO.size, 1)), np.cumsum(np.log(share * weight + steps), axis=1)], axis=1)
        for share in (mean, 1 - mean, 1.0)
    )
    k, n = c.astype(np.int64), s.astype(np.int64)
    apart = (right[:, k] + wrong[:, n - k] - asked[:, n]).sum(axis=1)
    one = float((c * np.log(mean) + (s - c) * np.log(1 - mean)).sum())
    return 1 / (1 + float(np.exp(np.minimum(700.0, np.logaddexp.reduce(apart) - np.log(RHO.size) - one))))


def _prior_weight(c: Floats, s: Floats, mean: float) -> float:
    """``t = 1/rho - 1``, infinite where the tallies show no spread beyond chance."""
    total = s.sum()
    chance = mean * (1 - mean)
    spread = (s * (c / s - mean) ** 2).sum()
    once = (1 - s / total).sum()  # what binomial noise alone puts into the spread, over chance
    always = (s * (1 - s / total)).sum()  # what it would be if each worker's answers were all alike
    if always <= once * (1 + 1e-12):  # all were asked once: no answer to compare with another
        return float("inf")
    rho = (spread / chance - once) / (always - once)
    return float("inf") if rho <= 0 else max(0.0, 1 / rho - 1)


ESTIMATORS = {"empirical-bayes": empirical_bayes, "plug-in": plug_in, "unbiased": unbiased}


def _tallies(correct: Any, asked: Any) -> tuple[Floats, Floats]:
    c = np.atleast_2d(np.asarray(correct, dtype=np.float64))
    s = np.atleast_2d(np.asarray(asked, dtype=np.float64))
    if c.shape != s.shape:
        raise InputError(f"correct has shape {c.shape}, asked has {s.shape}; they must be alike")
    whole = np.isfinite(c) & np.isfinite(s) & (c == np.rint(c)) & (s == np.rint(s))
    if not (whole & (c >= 0) & (c <= s)).all():
        raise InputError("gold tallies must be whole numbers with 0 <= correct <= asked")
    return c, s

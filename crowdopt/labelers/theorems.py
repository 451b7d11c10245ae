"""What Liu & Liu (2015) ask for and promise: exploration, bounds of regret, a crowd whose agreement is skill.

Whether agreement with the majority can be trusted to be skill, from the labels alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import zeta

from crowdopt.answers.em import one_coin
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError
from crowdopt.labelers.sets import set_accuracy, top_accuracies


@dataclass(frozen=True)
class Constants:
    """``D1(t) = G1 ln t`` testers, each labelled more than ``D2(t) = G2 ln t`` times, and what they follow from."""

    g1: float
    g2: float
    limit: float  # what alpha must stay below: ``1 / max m n(S_m)`` as printed, ``2 / (M + 1)`` tight
    alpha: float
    epsilon: float
    a_min: float


def strict_majority(accuracy: Any) -> float:
    """``a_min = P(strictly more than half of all M labels are right)``; below pi(M) by half of the ties at even M."""
    # one more who is always wrong turns ties into losses
    return float(set_accuracy(accuracy if len(accuracy) % 2 else np.append(accuracy, 0.0)))


def least_gaps(accuracy: Any) -> tuple[float, float]:
    """``(Delta_min, delta_min)``: by how much any other set falls short of S*, and the least difference of two skills.

    The best set of another size is a top-m set; the second best of the same size swaps the last member for the next
    (pi grows with every skill), so M + 1 sets are all there is to look at.
    """
    p = np.sort(np.asarray(accuracy, dtype=np.float64))[::-1]
    values = top_accuracies(p)
    best = int(values.argmax())
    others = np.delete(values, best).tolist()
    if best + 1 < p.size:
        swapped = np.append(p[:best], p[best + 1])
        others.append(float(top_accuracies(swapped)[-1]))
    pairs = -np.diff(p)
    utility_gap = float(values[best] - max(others)) if others else float("inf")
    return utility_gap, float(pairs.min()) if pairs.size else float("inf")


def union_factor(labelers: int, weighted: float | None = None) -> float:
    """``max over m of m n(S_m)``, n(S_m) = 2^(m-1), m odd (Section 3.1); weighted by C: ``max{4 C m, m n(S_m)}``.

    n(S_m) counts the majorities of m labelers. Section 4 takes every m.
    """
    if weighted is None:
        most = labelers - (labelers % 2 == 0)
        return most * 2.0 ** (most - 1)
    return max(4 * weighted * labelers, labelers * 2.0 ** (labelers - 1))


def odds_constant(accuracy: Any, estimate: Any = None) -> float:
    """``C = max 1 / min(p, 1 - p, p', 1 - p')``: how fast log-odds move (Lemma 8, as it has to read in Theorem 5)."""
    each = np.concatenate([np.atleast_1d(accuracy), np.atleast_1d(accuracy if estimate is None else estimate)])
    return float(1 / np.minimum(each, 1 - each).min())


def constants(
    labelers: int,
    epsilon: float,
    a_min: float,
    kind: str = "printed",
    alpha_share: float = 0.0,
    weighted: float | None = None,
) -> Constants:
    """``G1 = 1 / ((limit - alpha)^2 epsilon^2)``, ``G2 = 1 / (a_min - 1/2)^2`` (Section 3.1 and Theorem 5).

    labelers: M.
    epsilon: at most half the least gap between two sets or two skills (:func:`presumed`).
    a_min: chance that the majority of all is right.
    kind: ``printed``: limit ``1 / max m n(S_m)``. ``tight``: ``2 / (M + 1)``, since ``|pi(S; p') - pi(S; p)| <=
    (m + 1)/2 max |p'_i - p_i|`` and no smaller factor does.
    alpha_share: alpha over its limit, in [0, 1); at 0 exploration is least.
    weighted: C, for weighted votes. Raises InputError if the crowd's majority is no better than a guess, or epsilon is
    not positive.
    """
    if not epsilon > 0:
        raise InputError(
            f"epsilon must be positive, not {epsilon}: two skills or two sets tie, so none is small enough"
        )
    if not a_min > HALF:
        raise InputError(f"a majority of all labelers is right with probability {a_min:.4g}; above 1/2 is presumed")
    if not 0 <= alpha_share < 1:
        raise InputError(f"alpha must be below its limit: a share in [0, 1), not {alpha_share}")
    if kind == "tight":
        factor = (labelers + 1) / 2 if weighted is None else max(4 * weighted * labelers, (labelers + 1) / 2)
    else:
        factor = union_factor(labelers, weighted)
    limit = 1 / factor
    alpha = alpha_share * limit
    return Constants(1 / ((limit - alpha) * epsilon) ** 2, 1 / (a_min - HALF) ** 2, limit, alpha, epsilon, a_min)


def presumed(accuracy: Any) -> tuple[float, float]:
    """``(epsilon, a_min)`` as the theorems presume them known: half the smaller of the two least gaps, and a_min."""
    return HALF * min(least_gaps(accuracy)), strict_majority(accuracy)


def steps(g: float, horizon: int, eta: float = 0.0) -> Floats:
    """``D(t) = G ln^(1 + 2 eta) t`` for t = 0, ..., T; with eta > 0, epsilon_t = 1 / ln^eta t is what epsilon was.

    ln t is above 1 from t = 3, where epsilon_t begins; before, and at t = 0, D is that of eta = 0 at t >= 1.

    eta: how fast epsilon_t falls; 0 where epsilon is known; -> (T + 1,).
    """
    times = np.arange(horizon + 1)
    logs = np.log(np.maximum(times, 1))
    return g * np.where(times >= 3, logs ** (1 + 2 * eta), logs)


def lemma_1(d1: float, d2: float) -> float:
    """``(floor D1 + 1)(floor D2 + 1) - 1`` explorations at most, the initial tester aside; printed as ``D1 D2``."""
    return float((np.floor(d1) + 1) * (np.floor(d2) + 1) - 1)


def explorations(d1: Floats, d2: Floats) -> NDArray[np.bool_]:
    """O(t) for t = 0, ..., T, known before anything arrives: no label decides whether LS_OL explores.

    With c explorations so far, 1 + c labels have been spread over the testers; it explores while they are fewer than
    (floor D1(t) + 1)(floor D2(t) + 1). O(0) is the initial tester and False.

    d1, d2 (T + 1,): D1(t) and D2(t) of :func:`steps`; -> (T + 1,).
    """
    wanted = ((np.floor(d1) + 1) * (np.floor(d2) + 1)).tolist()
    explores, spread = np.zeros(d1.size, bool), 1
    for t in range(1, d1.size):
        if spread < wanted[t]:
            explores[t] = True
            spread += 1
    return explores


HALF = 0.5  # a guess


def regret_bound(accuracy: Any, given: Constants, horizon: int, z: float = 0.5) -> float:
    """R(T) of Theorem 3, equation (6).

    ``U(S*) G1 G2 ln^2 T + Delta_max (2 sum m n(S_m) + M) (2 b_2 + b_(2-z) / (alpha epsilon))``, ``b_n = sum t^-n``.
    As printed, with D1 D2 for Lemma 1's count; alpha must be positive and z in (0, 1).

    z: in (0, 1); any value gives a bound. Raises InputError if alpha is 0, or z out of range.
    """
    p = np.sort(np.asarray(accuracy, dtype=np.float64))[::-1]
    explored = float(top_accuracies(p).max()) * given.g1 * given.g2 * log(horizon) ** 2
    return explored + _largest_gap(p) * (2 * _union_sum(p.size) + p.size) * _series(given, z)


def cost_regret_bound(accuracy: Any, cost: Any, given: Constants, horizon: int, z: float = 0.5) -> float:
    """R_C(T) of Theorem 3, equation (7); its last term bounds money by numbers, so costs are taken to be at most 1.

    accuracy, cost (labelers,): p and c; z: in (0, 1); any value gives a bound.
    """
    p, c = np.asarray(accuracy, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    order = np.argsort(-p, kind="stable")
    values = top_accuracies(p[order])
    size = int(values.argmax()) + 1
    outside = float(c[order[size:]].sum())
    explored = outside * given.g1 * log(horizon) + float(c.sum()) * given.g1 * given.g2 * log(horizon) ** 2
    return explored + (p.size - size) * (2 * _union_sum(p.size) + p.size) * _series(given, z)


def weighted_regret_bound(
    best: float, largest_gap: float, labelers: int, given: Constants, horizon: int, z: float = 0.5
) -> float:
    """R(T) of Theorem 5: that of (6) with M^2 / 2 wrong ties more, every m, and D1's revised constant.

    best, largest_gap: U of the best weighted vote, and Delta_max; z: in (0, 1); any value gives a bound.
    """
    explored = best * given.g1 * given.g2 * log(horizon) ** 2
    sets = sum(m * 2.0 ** (m - 1) for m in range(1, labelers + 1))
    return explored + largest_gap * (2 * sets + labelers + labelers**2 / 2) * _series(given, z)


def context_regret_bound(accuracy: Any, given: Constants, horizon: int, z: float = 0.5) -> float:
    """R(T) with W kinds of task learnt apart (Section 5): the sum of (6) over the kinds, about W times (6)."""
    return float(sum(regret_bound(p, given, horizon, z) for p in np.atleast_2d(np.asarray(accuracy, np.float64))))


def _union_sum(labelers: int) -> float:
    return sum(m * 2.0 ** (m - 1) for m in range(1, labelers + 1, 2))


def _series(given: Constants, z: float) -> float:
    if given.alpha <= 0 or not 0 < z < 1:
        raise InputError("the bound needs alpha > 0 and z between 0 and 1")
    return float(2 * zeta(2) + zeta(2 - z) / (given.alpha * given.epsilon))


def _largest_gap(descending: Floats) -> float:
    """Delta_max: the worst set of a size is the bottom one."""
    return float(top_accuracies(descending).max() - top_accuracies(descending[::-1]).min())


def is_large_enough(accuracy: Any) -> bool:
    """Section 2.3: mean skill above 1/2 and ``M > ln 2 / (2 (mean - 1/2)^2)``: then a majority is mostly right."""
    p = np.asarray(accuracy, dtype=np.float64)
    lead = float(p.mean()) - HALF
    return lead > 0 and p.size > log(2) / (2 * lead**2)


def rivals(accuracy: Any) -> Floats:
    """``r_ij = pi(M minus i and j)``, the accuracy of all others' majority: ``E[Z_i - Z_j] = (2 r_ij - 1)(p_j - p_i)``.

    Where it is below 1/2 the better of two labelers disagrees with the majority more often.

    -> (labelers, labelers): symmetric; NaN on the diagonal.
    """
    p = np.asarray(accuracy, dtype=np.float64)
    table = np.full((p.size, p.size), np.nan)
    for i, j in zip(*np.triu_indices(p.size, 1), strict=True):
        rest = np.delete(p, [i, j])
        table[i, j] = table[j, i] = top_accuracies(rest)[-1] if rest.size else HALF
    return table


FEWEST = 20  # testers below which nothing is said
APART = 0.05  # skills closer than this need no order
MOST = 60  # labelers up to which every pair is looked at
ODD = 3.5  # standard deviations; the largest of 300 crowds drawn from the model was 3.41


def one_coin_skills(labels: Ints, classes: int) -> Floats:
    """Skills by one-coin EM from a table of labels.

    With two classes a crowd and its mirror image explain labels equally well. The majority of all is presumed to be
    right more often than not (a_min > 1/2), so that of the two the one is taken whose answers agree with it more.

    labels (tasks, labelers): -1 where there is none; -> (labelers,): chance of a right label.
    """
    task, worker = np.nonzero(labels >= 0)
    names = [tuple(map(str, range(count))) for count in (*labels.shape, classes)]
    table = Labels(task.astype(np.int64), worker.astype(np.int64), labels[task, worker], *names)
    accuracy = one_coin(table).accuracy
    assert accuracy is not None
    if classes > 2:
        return accuracy
    sign = np.where(labels >= 0, 2 * labels - 1, 0)
    agreement = np.sign(sign.sum(axis=1)) @ np.sign((sign * log_odds(accuracy)).sum(axis=1))
    return accuracy if agreement >= 0 else 1 - accuracy


def warnings(labels: Ints, classes: int, names: Sequence[str]) -> list[str]:
    """Sentences where ranks by agreement would not be ranks by skill, as far as one-coin EM can tell.

    The better of i and j disagrees with the majority more often where the other labelers' majority is mostly wrong,
    ``r_ij < 1/2`` (the corrected form of Liu & Liu's (12)). EM cannot tell a crowd from its mirror image, but some pair
    fails in both. It trusts labelers to err independently; pairs that plainly do not are named too.

    labels (testers, labelers): first labels; -1 where there is none; classes: L; for more than two nothing is said; ->
    empty where all is well, or labels are too few to tell.
    """
    asked = np.flatnonzero((labels >= 0).any(axis=0))
    if len(labels) < FEWEST or asked.size < 3 or asked.size > MOST or classes != 2:
        return []
    skill, who = one_coin_skills(labels[:, asked], classes), [names[k] for k in asked.tolist()]
    return [*_ranks(skill, who), *_crowd(skill), *_model(labels[:, asked], skill, who)]


def _ranks(skill: Floats, names: Sequence[str]) -> list[str]:
    table = rivals(skill)
    apart = np.abs(skill[:, None] - skill) > APART
    wrong = np.argwhere(np.triu(apart & (np.nan_to_num(table, nan=1.0) < 0.5), 1))
    if not wrong.size:
        return []
    i, j = wrong[0].tolist()
    return [
        f"agreement with the majority does not track skill: without labelers {names[i]} and {names[j]} the rest's "
        f"majority seems right {table[i, j]:.2f} of the time ({len(wrong)} such pairs); do not trust ranks by "
        "agreement or vetting"
    ]


def _crowd(skill: Floats) -> list[str]:
    if is_large_enough(skill):
        return []
    return [
        f"mean skill seems to be {skill.mean():.2f}: too little for {skill.size} labelers to be sure of their majority "
        "(M > ln 2 / (2 (mean - 1/2)^2) fails)"
    ]


def _model(labels: Ints, skill: Floats, names: Sequence[str]) -> list[str]:
    """``E[l_i l_j] = (2p_i - 1)(2p_j - 1)`` for independent one-coin labelers; a pair that is far from it breaks it."""
    sign = np.where(labels >= 0, 2 * labels - 1, 0).astype(np.float64)
    both = (labels >= 0).astype(np.float64)
    count = both.T @ both
    lean = 2 * skill - 1
    expected = np.outer(lean, lean)
    spread = np.sqrt((1 - expected**2) / np.maximum(count, 1))
    odd = np.where(count >= FEWEST, (sign.T @ sign / np.maximum(count, 1) - expected) / spread, 0.0)
    np.fill_diagonal(odd, 0.0)
    i, j = divmod(int(np.abs(odd).argmax()), skill.size)
    if abs(odd[i, j]) <= ODD:
        return []
    how = "more" if odd[i, j] > 0 else "less"
    return [
        f"{names[i]} and {names[j]} agree {how} than independent labelers of one skill each would "
        f"({abs(odd[i, j]):.1f} standard deviations): agreement need not be skill here"
    ]

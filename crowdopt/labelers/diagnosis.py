"""Whether agreement with the majority can be trusted to be skill, from the labels alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdopt.answers.em import one_coin
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.rules import log_odds
from crowdopt.labelers.theorems import is_large_enough, rivals

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
        f"agreement with the majority does not track skill: without {names[i]} and {names[j]} the rest's majority seems"
        f" right {table[i, j]:.2f} of the time ({len(wrong)} such pairs); do not trust ranks by agreement or vetting"
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

"""Plans where some tasks are hard for all workers: what evidence they need, and what their votes promise.

Accuracies p are those on easy tasks. With chance h a task is hard, and a worker right with chance p elsewhere is
right with chance ``1/2 + s (p - 1/2)`` there. Votes keep the weights of p, as it is unknown which tasks are hard. A
vote errs with ``(1 - h) e(p) + h e(1/2 + s (p - 1/2))``, e its exact error at such accuracies
(crowdopt.crowd.exactness).

**Theorem.** Let A be the evidence of a task's labels by the rule exact-error and e(A) the least error of a vote with
it. Then every vote errs with ``(1 - h) e(A) + h e(s^2 A)`` at least. *Proof*: a label has evidence ``-ln(1 - q)``, q
the square of its edge, on easy tasks and ``-ln(1 - s^2 q)`` on hard ones. That is at most ``-s^2 ln(1 - q)``, as
``-ln(1 - x)`` is convex and 0 at 0. e falls in its argument.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.difficulty.hard_tasks import Difficulty
from crowdopt.crowd.votes.evidence import EXACT_ERROR, PROBIT, bhattacharyya_error, guessing
from crowdopt.errors import InputError

RULE = EXACT_ERROR.name  # the rule that integrates over difficulty
MOST = 1e4  # evidence; a task that needs more is said to need this
HALVINGS = 100  # of the interval from 0 to MOST


def refuse_difficulty(difficulty: Difficulty, rule: str, classes: int, observed: bool) -> None:
    """InputError where no exact error over easy and hard tasks is known.

    observed: whether what labels say is in the prior.
    """
    if not difficulty.share:
        return
    if rule != RULE:
        raise InputError(f"rule {rule} knows no difficulty; choose rule {RULE}, or take difficulty out")
    if classes > 2:
        raise InputError(
            f"plans heed difficulty between 2 classes, not {classes}: votes weighed for easy tasks have no exact error "
            "on hard ones yet; take difficulty out"
        )
    if difficulty.easy != 1:
        raise InputError("accuracies of a plan are those on easy tasks; set difficulty by with_difficulty")
    if difficulty.hard < 0:
        raise InputError("where workers are misled together no vote of theirs helps; audit the answers instead")
    if observed:
        raise InputError('what labels say of a task does not say how hard it is; set collected = "evidence"')


def stated(difficulty: Difficulty) -> str:
    """What a plan takes for granted, in words."""
    share, left = 100 * difficulty.share, 100 * difficulty.left
    return f"{share:.3g} % of the tasks are hard, with {left:.3g} % of a worker's edge over guessing left there"


def on_hard_tasks(accuracy: Floats, difficulty: Difficulty) -> Floats:
    """``1/2 + s (p - 1/2)``; accuracy: p, of any shape; -> the same shape."""
    hard: Floats = 0.5 + difficulty.left * (accuracy - 0.5)
    return hard


def mixture(easy: Floats, hard: Floats, difficulty: Difficulty) -> Floats:
    """``(1 - h) easy + h hard``; easy, hard array of float; -> array of float."""
    mixed: Floats = (1 - difficulty.share) * easy + difficulty.share * hard
    return mixed


def hard_need(epsilon: Floats, prior: Floats, difficulty: Difficulty) -> Floats:
    """The least A with ``(1 - h) e(A) + h e(s^2 A) <= epsilon``: evidence that every plan has (see above).

    epsilon (tasks,); prior (2,) or (tasks, 2) float; -> (tasks,): at most MOST.
    """
    return _least(EXACT_ERROR.error_of, epsilon, prior, difficulty)[0]


def normal_need(epsilon: Floats, prior: Floats, difficulty: Difficulty) -> Floats:
    """The same with the votes' sums taken as normal, (tasks,): what a plan may aim at; at most MOST."""
    return _least(PROBIT.error_of, epsilon, prior, difficulty)[1]


def likely_need(epsilon: Floats, prior: Floats, difficulty: Difficulty) -> Floats:
    """The same with the rule bhattacharyya's bound at the evidence on either kind of task: mostly enough, no proof.

    Votes weigh labels as on easy tasks, and labels of large edge keep less than ``s^2`` of their evidence on hard ones.
    epsilon (tasks,); prior (2,) or (tasks, 2) float; -> (tasks,): at most MOST.
    """

    def error(evidence: Floats, prior: Floats) -> Floats:
        return np.minimum(guessing(prior), bhattacharyya_error(evidence, prior))

    return _least(error, epsilon, prior, difficulty)[1]


def _least(
    error: Callable[[Floats, Floats], Floats], epsilon: Floats, prior: Floats, difficulty: Difficulty
) -> tuple[Floats, Floats]:
    """The evidence between which a falling error meets its target, by bisection."""
    low, high = np.zeros(epsilon.shape), np.full(epsilon.shape, MOST)
    shrink = difficulty.left**2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        missed = mixture(error(middle, prior), error(shrink * middle, prior), difficulty) > epsilon
        low, high = np.where(missed, middle, low), np.where(missed, high, middle)
    guessed = guessing(prior) <= epsilon
    return np.where(guessed, 0.0, low), np.where(guessed, 0.0, high)


def hard_bound(evidence: Floats, prior: Floats, difficulty: Difficulty) -> Floats:
    """``(1 - h) min(guess, B(A)) + h max prior``, which the vote never exceeds; B is the rule bhattacharyya's bound.

    On hard tasks votes with other weights than their own err at most as a vote over guesses does.

    evidence (tasks,): A; prior (2,) or (tasks, 2) float; -> (tasks,).
    """
    easy = np.minimum(guessing(prior), bhattacharyya_error(evidence, prior))
    return mixture(easy, prior.max(axis=-1), difficulty)

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

from crowdopt.arrays import Bools, Floats
from crowdopt.crowd.difficulty.hard_tasks import Difficulty
from crowdopt.crowd.votes.evidence import EXACT_ERROR, PROBIT, bhattacharyya_error, guessing

MOST = 1e4  # evidence; a task that needs more is said to need this
HALVINGS = 100  # of the interval from 0 to MOST
TILTS = np.arange(1, 26) / 50  # t, of the bound on a vote over hard tasks
LEAST = 1e-300  # of a prior, where its logarithm is taken

Error = Callable[[Floats], Floats]


def stated(difficulty: Difficulty) -> str:
    """The difficulty that a plan assumes, in words."""
    share, left = 100 * difficulty.share, 100 * difficulty.left
    return f"{share:.3g} % of the tasks are hard, with {left:.3g} % of a worker's edge over guessing left there"


def on_hard_tasks(accuracy: Floats, difficulty: Difficulty) -> Floats:
    """``1/2 + s (p - 1/2)``; accuracy: p, of any shape; -> the same shape."""
    return 0.5 + difficulty.left * (accuracy - 0.5)


def mixture(easy: Floats, hard: Floats, difficulty: Difficulty) -> Floats:
    """``(1 - h) easy + h hard``; easy, hard array of float; -> array of float."""
    return (1 - difficulty.share) * easy + difficulty.share * hard


def hard_need(epsilon: Floats, prior: Floats, difficulty: Difficulty) -> Floats:
    """The least A with ``(1 - h) e(A) + h e(s^2 A) <= epsilon``: evidence that every plan has (see above).

    epsilon (tasks,); prior (2,) or (tasks, 2) float; -> (tasks,): at most MOST.
    """
    return _least(_on_both(EXACT_ERROR.error_of, prior, difficulty), epsilon, guessing(prior) <= epsilon)[0]


def normal_need(epsilon: Floats, prior: Floats, difficulty: Difficulty) -> Floats:
    """The same with the votes' sums taken as normal, (tasks,): what a plan may aim at; at most MOST."""
    return _least(_on_both(PROBIT.error_of, prior, difficulty), epsilon, guessing(prior) <= epsilon)[1]


def enough_need(epsilon: Floats, prior: Floats, difficulty: Difficulty, skill: Floats) -> Floats:
    """Evidence by the rule bhattacharyya with which every vote keeps its target, of workers of these skills.

    **Theorem** (Chernoff). On hard tasks, where p is right with chance p', a vote by the weights ``w`` of easy tasks
    and the prior's log-odds errs with at most ``c prod (p' e^(-t w) + (1 - p') e^(t w))``, for any t from 0 to 1,
    ``c = P_0^(1-t) P_1^t + P_1^(1-t) P_0^t`` of the prior. Where each factor is at most ``e^(-r a / 2)``, a the label's
    evidence, the product is at most ``e^(-r A / 2)``. Never does it err more than a vote over guesses, with the largest
    prior. Labels may make it err more than a guess does, so a target that a guess keeps is no reason to need none.

    epsilon (tasks,); prior (2,) or (tasks, 2) float; skill (k,): p of the labels that tell something; -> (tasks,): at
    most MOST, which is not enough.
    """
    rate, tilt = max((_decay(skill, difficulty, tilt), tilt) for tilt in TILTS.tolist())
    swapped = prior[..., ::-1]
    factor = np.sum(
        np.exp((1 - tilt) * np.log(np.maximum(prior, LEAST)) + tilt * np.log(np.maximum(swapped, LEAST))), axis=-1
    )

    def error(evidence: Floats) -> Floats:
        easy = np.minimum(guessing(prior), bhattacharyya_error(evidence, prior))
        return mixture(easy, np.minimum(prior.max(axis=-1), factor * np.exp(-rate * evidence / 2)), difficulty)

    return _least(error, epsilon, error(np.zeros(epsilon.shape)) <= epsilon)[1]


def _decay(skill: Floats, difficulty: Difficulty, tilt: float) -> float:
    """r: by how much of its evidence each label lowers the error on a hard task at least; 0 where one may raise it."""
    if not skill.size:
        return 0.0
    hard, weight = on_hard_tasks(skill, difficulty), EXACT_ERROR.weight(skill, 2)
    factor = hard * np.exp(-tilt * weight) + (1 - hard) * np.exp(tilt * weight)
    return max(0.0, float((-2 * np.log(factor) / EXACT_ERROR.evidence(skill, 2)).min()))


def likely_need(epsilon: Floats, prior: Floats, difficulty: Difficulty) -> Floats:
    """The same with the rule bhattacharyya's bound at the evidence on either kind of task: mostly enough, no proof.

    Votes weigh labels as on easy tasks, and labels of large edge keep less than ``s^2`` of their evidence on hard ones.
    epsilon (tasks,); prior (2,) or (tasks, 2) float; -> (tasks,): at most MOST.
    """

    def error(evidence: Floats, prior: Floats) -> Floats:
        return np.minimum(guessing(prior), bhattacharyya_error(evidence, prior))

    return _least(_on_both(error, prior, difficulty), epsilon, guessing(prior) <= epsilon)[1]


def _on_both(error: Callable[[Floats, Floats], Floats], prior: Floats, difficulty: Difficulty) -> Error:
    """The error over easy tasks, and hard ones, where ``s^2`` of the evidence is left."""
    shrink = difficulty.left**2
    return lambda evidence: mixture(error(evidence, prior), error(shrink * evidence, prior), difficulty)


def _least(error: Error, epsilon: Floats, guessed: Bools) -> tuple[Floats, Floats]:
    """The evidence between which a falling error meets its target, by bisection; 0 where a guess will do."""
    low, high = np.zeros(epsilon.shape), np.full(epsilon.shape, MOST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        missed = error(middle) > epsilon
        low, high = np.where(missed, middle, low), np.where(missed, high, middle)
    return np.where(guessed, 0.0, low), np.where(guessed, 0.0, high)


def hard_bound(evidence: Floats, prior: Floats, difficulty: Difficulty) -> Floats:
    """``(1 - h) min(guess, B(A)) + h max prior``, which the vote never exceeds; B is the rule bhattacharyya's bound.

    On hard tasks votes with other weights than their own err at most as a vote over guesses does.

    evidence (tasks,): A; prior (2,) or (tasks, 2) float; -> (tasks,).
    """
    easy = np.minimum(guessing(prior), bhattacharyya_error(evidence, prior))
    return mixture(easy, prior.max(axis=-1), difficulty)

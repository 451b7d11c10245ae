"""What one label is worth and what a task needs, per rule; alone, of families who err together, and on hard tasks.

A rule turns accuracies into additive *evidence*: a task whose labels' evidence sums to its *need* is answered
wrongly with probability at most epsilon, if the labels are combined by the rule's vote weights. Three rules are
*checked*: their sums are a guide, and the exact error of each vote decides, or of all votes on average.

**Families.** Inside a family errors may depend in any way, between families they do not. *Theorem.* A task gets at most
k labels of each family. Then the vote of a Chernoff rule errs at most as it would with one k-th of its evidence A:

- ``hoeffding``: ``e^{-A/(2k)}``, for each class;
- ``bhattacharyya``: ``S_k e^{-A/(2k)}``, ``S_k = sum over a != b of pi_a^{1 - 1/(2k)} pi_b^{1/(2k)}``, which is L - 1
  for equal priors, on average over the classes.

*Proof.* Markov: ``P_a(score_b >= score_a) <= E_a e^{-t (score_a - score_b)}`` with t = 1/(2k) (hoeffding: 1/k).
Families are independent, and inside one, of at most k labels, Hölder gives
``E prod_j e^{t X_j} <= prod_j (E e^{k t X_j})^{1/k}``: each label counts with the factor it has alone at k t, to the
power 1/k. Sum over the wrong classes and the prior.

So the need is ``2 k ln(1/eps)`` and ``2 k ln(S_k / eps)``. With k = 1 labels of a task are independent and every rule
holds as it is. With k > 1 bhattacharyya loses the factor 1/2 that it has from ``sum min(P, Q) <= sum sqrt(P Q)``, which
is about the *best* vote: three workers of accuracy .6 who err together as they like have a majority that is wrong with
probability .6, though their evidence is more than 3 times the need for an error of .49.

**Hard tasks.** Accuracies p are those on easy tasks. With chance h a task is hard, and a worker right with chance p
elsewhere is right with chance ``1/2 + s (p - 1/2)`` there. Votes keep the weights of p, as it is unknown which tasks
are hard. A vote errs with ``(1 - h) e(p) + h e(1/2 + s (p - 1/2))``, e its exact error at such accuracies
(crowdopt.crowd.vote_errors).

**Theorem.** Let A be the evidence of a task's labels by the rule exact-error and e(A) the least error of a vote with
it. Then every vote errs with ``(1 - h) e(A) + h e(s^2 A)`` at least. *Proof*: a label has evidence ``-ln(1 - q)``, q
the square of its edge, on easy tasks and ``-ln(1 - s^2 q)`` on hard ones. That is at most ``-s^2 ln(1 - q)``, as
``-ln(1 - x)`` is convex and 0 at 0. e falls in its argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import CELLS, Floats, Ints
from crowdopt.crowd.groups import Group
from crowdopt.crowd.law import CLIP, Difficulty, clipped
from crowdopt.errors import InputError

FLOOR = 1e-9  # evidence this small counts as none: solvers drop such coefficients, so nobody may count on them
ROUNDING = 1e-12  # of probabilities, absolute: a target that a guess misses by less is kept
MOST = 1e4  # evidence; a task that needs more is said to need this
HALVINGS = 100  # of the interval from 0 to MOST
TILTS = np.arange(1, 26) / 50  # t, of the bound on a vote over hard tasks
CHERNOFF = ("bhattacharyya", "hoeffding")  # rules whose promise rests on a Chernoff bound


@dataclass(frozen=True)
class Rule:
    """One way to keep ``P(error) <= epsilon`` by a sum of evidence over a task's labels."""

    name: str
    # whether the sum is no proof by itself, so that plans are held against the exact error of their votes
    checked: bool
    # whether the vote adds the prior's log-odds; else the rule is for two classes and holds whatever the prior is
    heeds_prior: bool
    # ``worth(accuracy, classes)``: evidence of one label before FLOOR; ``weight(accuracy, classes)``: vote weight
    worth: Callable[[Floats, int], Floats]
    weight: Callable[[Floats, int], Floats]
    # ``need_of(epsilon, prior)``: evidence a task needs; ``error_of(evidence, prior)``: its inverse. The prior has its
    # classes along the last axis
    need_of: Callable[[Floats, Floats], Floats]
    error_of: Callable[[Floats, Floats], Floats]
    # whether the target is for the mean error of all tasks, so that no task needs anything by itself
    average: bool = False
    # the linear rule whose plans all keep this one's promise; empty where its own sums make a program
    implied_by: str = ""

    @property
    def of_rule(self) -> str:
        """The words " by rule NAME" for a bound, an optimum or "infeasible"; empty for exact-error."""
        return "" if self.name == EXACT_ERROR.name else f" by rule {self.name}"

    def evidence(self, accuracy: Floats, classes: int = 2) -> Floats:
        """Evidence of one label; what is at most FLOOR is exactly 0. Part by part: tables may be large."""
        table = np.ascontiguousarray(accuracy, dtype=np.float64)
        flat, evidence = table.reshape(-1), np.empty(table.size)
        for some in (slice(start, start + CELLS) for start in range(0, flat.size, CELLS)):
            worth = self.worth(flat[some], classes)
            evidence[some] = np.where(worth > FLOOR, worth, 0.0)
        return evidence.reshape(np.shape(accuracy))

    def need(self, epsilon: Any, classes: int = 2, prior: Floats | None = None) -> Floats:
        """Evidence a task needs for an error target; classes are equally likely unless a prior is given."""
        even = np.full(classes, 1 / classes)
        return self.need_of(np.asarray(epsilon, dtype=np.float64), even if prior is None else prior)

    def error(self, evidence: Any, classes: int = 2, prior: Floats | None = None) -> Floats:
        """The error target that this much evidence reaches, the inverse of ``need``."""
        even = np.full(classes, 1 / classes)
        return self.error_of(np.asarray(evidence, dtype=np.float64), even if prior is None else prior)


def log_odds(accuracy: ArrayLike, classes: int = 2, least: ArrayLike = CLIP) -> Floats:
    """``ln((K - 1) p / (1 - p))``, the weights of the vote that errs least, p clipped to [least, 1 - least]."""
    right = clipped(accuracy, least)
    return np.log(right / (1 - right)) + np.log(classes - 1)


def _match(accuracy: Floats, classes: int) -> Floats:
    """``-2 ln(2 sqrt(w u) + (L - 2) u)``, u = (1 - w)/(L - 1): Bhattacharyya, a label's laws under two classes."""
    right = clipped(accuracy)
    wrong = (1 - right) / (classes - 1)
    return -2 * np.log(2 * np.sqrt(right * wrong) + (classes - 2) * wrong)


def guessing(prior: Floats) -> Floats:
    """Error of the likeliest class without any label, ``1 - max prior``, (...,); prior (..., classes)."""
    return np.sort(prior, axis=-1)[..., :-1].sum(axis=-1)


def _overlap(prior: Floats) -> Floats:
    """``sum over pairs of classes of sqrt(prior_k prior_l)``; (L - 1) / 2 where all are equal."""
    return (np.sqrt(prior).sum(axis=-1) ** 2 - 1) / 2


def bhattacharyya_error(evidence: Floats, prior: Floats) -> Floats:
    """``sum over pairs sqrt(prior_k prior_l) e^{-A/2}``, (tasks,): the log-odds vote errs no more; may be above 1."""
    return _overlap(prior) * np.exp(-evidence / 2)


def _need_for(overlap: Floats, epsilon: Floats, prior: Floats) -> Floats:
    """Evidence that leaves so much overlap of the classes; 0 where the likeliest one errs little enough by itself."""
    need = np.maximum(0.0, 2 * np.log(_overlap(prior)) - 2 * np.log(overlap))
    return np.where(guessing(prior) <= epsilon + ROUNDING, 0.0, need)


def _probit_error(evidence: Floats, prior: Floats) -> Floats:
    """``P(normal vote wrong)``, log-likelihood ratio ~ N(+-2A, 4A): Phi(-sqrt(A)) for equal classes."""
    # Of more than two classes the sum over pairs, each as if there were no others.
    from scipy.special import ndtr

    root = np.sqrt(np.maximum(evidence, 1e-300))[..., None, None]
    lean = np.log(np.maximum(prior, 1e-300))
    ahead = (lean[..., :, None] - lean[..., None, :]) / (2 * root)
    missed = prior[..., :, None] * ndtr(-root - ahead)
    return (missed * ~np.eye(prior.shape[-1], dtype=bool)).sum(axis=(-2, -1))


def _probit_need(epsilon: Floats, prior: Floats) -> Floats:
    """``z^2`` of 1 - epsilon where classes are equally likely (epsilon / (K - 1) for K); else by bisection."""
    equal = (prior[..., :-1] == prior[..., 1:]).all(axis=-1)
    if equal.all():
        from scipy.special import ndtri

        return np.square(ndtri(epsilon / (prior.shape[-1] - 1))) + 0.0 * equal
    guess = guessing(prior)
    return _met(lambda evidence: np.minimum(guess, _probit_error(evidence, prior)), epsilon + 0.0 * equal)


def _met(error: Callable[[Floats], Floats], target: Floats) -> Floats:
    """The evidence at which a falling error meets its target, at most MOST; 0 where none is needed."""
    low, high = np.zeros(target.shape), np.full(target.shape, MOST)
    is_enough = error(low) <= target + ROUNDING
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        missed = error(middle) > target
        low, high = np.where(missed, middle, low), np.where(missed, high, middle)
    return np.where(is_enough, 0.0, high)


def least_overlap(error: Floats, classes: int) -> Floats:
    """``phi(e) = (K - 2) e / 2 + sqrt((K - 1) e (1 - e))``, at least the classes' overlap that a vote leaves."""
    # So ``2 ln(S / phi(epsilon))`` is needed, S the overlap before any label: no vote with less errs at most epsilon.
    # *Proof*: let ``g_k(x) = prior_k P_k(x)``; where labels say x, m is the largest g_k and r the sum of the others,
    # the best vote errs with r. By Cauchy and Schwarz ``sum_k sqrt(g_k) <= sqrt(m) + sqrt((K - 1) r)``; squared, less
    # ``sum g_k = m + r`` and halved: the pairs' ``sum sqrt(g_k g_l) <= (K - 2) r / 2 + sqrt((K - 1) m r)``. Summed over
    # x the left side is ``S e^{-A/2}``; the right one is at most phi(e), e the error, by Cauchy and Schwarz once more.
    # phi grows up to 1 - 1/K, where it is (K - 1) / 2. Equality for a single label, where classes are equally likely.
    return (classes - 2) / 2 * error + np.sqrt((classes - 1) * error * (1 - error))


def least_error(overlap: Floats, classes: int) -> Floats:
    """The inverse of :func:`least_overlap`: ``2 (b - sqrt(b^2 - K^2 y^2)) / K^2``, ``b = (K - 2) y + K - 1``."""
    b = (classes - 2) * overlap + classes - 1
    root = np.sqrt(np.maximum(0.0, b * b - (classes * overlap) ** 2))
    return 2 * overlap * overlap / (b + root)  # nothing cancels


def _least_need(epsilon: Floats, prior: Floats) -> Floats:
    if prior.shape[-1] > 2:
        return _need_for(least_overlap(epsilon, prior.shape[-1]), epsilon, prior)
    # the same in fewer roundings: a single label of accuracy p has just the evidence that the target 1 - p needs
    need = np.log(prior[..., 0] * prior[..., 1]) - np.log(epsilon * (1 - epsilon))
    return np.where(guessing(prior) <= epsilon + ROUNDING, 0.0, np.maximum(0.0, need))


def _least_error(evidence: Floats, prior: Floats) -> Floats:
    if prior.shape[-1] > 2:
        return least_error(bhattacharyya_error(evidence, prior), prior.shape[-1])
    return (1 - np.sqrt(np.maximum(0.0, 1 - 4 * prior[..., 0] * prior[..., 1] * np.exp(-evidence)))) / 2


HOEFFDING = Rule(
    name="hoeffding",  # Ho, Jabbari & Vaughan 2013, Lemma 1: error <= exp(-1/2 sum (2p-1)^2), whatever the class
    checked=False,
    heeds_prior=False,
    worth=lambda accuracy, classes: (2 * accuracy - 1) ** 2,
    weight=lambda accuracy, classes: 2 * np.asarray(accuracy, dtype=np.float64) - 1,
    need_of=lambda epsilon, prior: -2 * np.log(epsilon),
    error_of=lambda evidence, prior: np.exp(-evidence / 2),
)

BHATTACHARYYA = Rule(
    name="bhattacharyya",  # sum min(P, Q) <= sum sqrt(P Q), pair by pair of classes
    checked=False,
    heeds_prior=True,
    worth=_match,
    weight=log_odds,
    need_of=lambda epsilon, prior: _need_for(epsilon, epsilon, prior),
    error_of=bhattacharyya_error,
)

PROBIT = replace(
    BHATTACHARYYA,
    name="probit",  # the vote's sum taken as normal: homogeneous crowds reach .126, .069, .017 for .1, .05, .01
    checked=True,
    need_of=_probit_need,
    error_of=_probit_error,
)

EXACT_ERROR = replace(
    BHATTACHARYYA,
    name="exact-error",  # no linear constraint: its need is what every vote that keeps epsilon has at least
    checked=True,
    need_of=_least_need,
    error_of=_least_error,
    implied_by=BHATTACHARYYA.name,
)

MEAN_ERROR = replace(
    BHATTACHARYYA,
    name="mean-error",  # the exact errors of all tasks, on average; a single task may have no label at all
    checked=True,
    need_of=lambda epsilon, prior: 0.0 * (epsilon + prior[..., 0]),
    average=True,
    implied_by=BHATTACHARYYA.name,
)

RULES = {rule.name: rule for rule in (HOEFFDING, BHATTACHARYYA, PROBIT, EXACT_ERROR, MEAN_ERROR)}
EACH = [name for name, rule in RULES.items() if not rule.average]  # rules that promise something of every task


def refuse_average(rule: Rule, what: str) -> None:
    """InputError where a rule promises nothing to any single task."""
    if rule.average:
        raise InputError(f"rule {rule.name} is for the average of all tasks; {what} needs one of {', '.join(EACH)}")


def rule_named(name: str, classes: int = 2) -> Rule:
    """The rule of that name; InputError names those there are, or says that it is for two classes only, and why."""
    if name not in RULES:
        raise InputError(f"unknown rule {name!r}; the rules are {', '.join(RULES)}")
    if classes > 2 and not RULES[name].heeds_prior:
        raise InputError(
            f"rule {name} is for 2 classes, not {classes}: its lemma is about labels +1 and -1; use rule bhattacharyya"
        )
    return RULES[name]


def dependence(groups: Sequence[Group], collected: Ints, n: int) -> Ints:
    """The most labels that each task can have of one family, at least 1, (tasks,): the k of the theorem.

    collected (k, 2): task and worker of each label already in; -> (tasks,).
    """
    most = np.ones(n, np.int64)
    for group in groups:
        if group.dependent:
            count = np.bincount(collected[np.isin(collected[:, 1], group.members), 0], minlength=n)
            allowed = min(group.max_per_task or 1, len(group.members))
            np.maximum(most, np.maximum(count, allowed), out=most)
    return most


def refuse_rule(rule: str, observed: bool, most: Ints, task_id: Callable[[int], str]) -> None:
    """InputError where a rule promises nothing to a task with several labels of one family.

    observed: whether what the labels already in say is in the prior; most (tasks,): from :func:`dependence`; task_id: a
    task's id.
    """
    if (most > 1).any() and (rule not in CHERNOFF or observed):
        task = task_id(int(np.flatnonzero(most > 1)[0]))
        what = "labels already observed" if observed else f"rule {rule}"
        raise InputError(
            f"task {task} may have {most.max()} labels of workers who err together, and with {what} nothing can be "
            f"promised then; use rule {' or '.join(CHERNOFF)}, or let max_per_task of every dependent group be 1"
        )


def joint_need(rule: Rule, epsilon: Floats, prior: Floats, k: Ints) -> Floats:
    """Evidence that each task needs with at most k labels of each family; the rule's own where k is 1.

    rule: one of CHERNOFF where some k is above 1; epsilon (tasks,); prior (classes,) or (tasks, classes) float; k
    (tasks,); -> (tasks,).
    """
    alone = rule.need(epsilon, prior.shape[-1], prior)
    together: Floats = np.maximum(0.0, 2 * k * (np.log(_factor(rule, prior, k)) - np.log(epsilon)))
    return np.where(k > 1, together, alone)


def joint_error(rule: Rule, evidence: Floats, prior: Floats, k: Ints) -> Floats:
    """What is guaranteed of a vote with this much evidence and at most k > 1 labels of each family, (tasks,)."""
    return np.minimum(1.0, _factor(rule, prior, k) * np.exp(-evidence / (2 * k)))


def _factor(rule: Rule, prior: Floats, k: Ints) -> Floats:
    """``S_k`` of the theorem, (tasks,): pairs of different classes only; 1 by the rule hoeffding."""
    if rule.name == "hoeffding":
        return np.ones(k.size)
    share, logs = 1 / (2 * k[:, None]), np.log(np.broadcast_to(prior, (k.size, prior.shape[-1])))
    return np.exp((1 - share) * logs).sum(axis=1) * np.exp(share * logs).sum(axis=1) - 1.0


def hard_need(epsilon: Floats, prior: Floats, difficulty: Difficulty, rule: Rule = EXACT_ERROR) -> Floats:
    """The least A with ``(1 - h) e(A) + h e(s^2 A) <= epsilon``, e by the rule, and never above a guess's error.

    By exact-error, the default, every plan has so much (see above). By probit, votes' sums taken as normal, and by
    bhattacharyya it is mostly enough, and no proof: votes weigh labels as on easy tasks, and labels of large edge keep
    less than ``s^2`` of their evidence on hard ones.

    epsilon (tasks,); prior (2,) or (tasks, 2) float; -> (tasks,): at most MOST.
    """
    guess, error = guessing(prior), rule.error_of

    def both(evidence: Floats) -> Floats:
        parts = (np.minimum(guess, error(part * evidence, prior)) for part in (1.0, difficulty.left**2))
        return difficulty.mixed(*parts)

    return _met(both, epsilon)


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
    hard, weight, evidence = difficulty.on_hard(skill), log_odds(skill), EXACT_ERROR.evidence(skill)
    factors = ((hard * np.exp(-t * weight) + (1 - hard) * np.exp(t * weight), t) for t in TILTS.tolist())
    # r: how much of its evidence each label keeps on a hard task at least; 0 where one may raise the error
    kept = ((max(0.0, float((-2 * np.log(factor) / evidence).min())), tilt) for factor, tilt in factors)
    rate, tilt = max(kept) if skill.size else (0.0, 0.5)
    factor = (prior ** (1 - tilt) * prior[..., ::-1] ** tilt).sum(axis=-1)

    def error(evidence: Floats) -> Floats:
        easy = np.minimum(guessing(prior), bhattacharyya_error(evidence, prior))
        return difficulty.mixed(easy, np.minimum(prior.max(axis=-1), factor * np.exp(-rate * evidence / 2)))

    return _met(error, epsilon)


def hard_bound(evidence: Floats, prior: Floats, difficulty: Difficulty) -> Floats:
    """``(1 - h) min(guess, B(A)) + h max prior``, which the vote never exceeds; B is the rule bhattacharyya's bound.

    On hard tasks votes with other weights than their own err at most as a vote over guesses does.

    evidence (tasks,): A; prior (2,) or (tasks, 2) float; -> (tasks,).
    """
    easy = np.minimum(guessing(prior), bhattacharyya_error(evidence, prior))
    return difficulty.mixed(easy, prior.max(axis=-1))

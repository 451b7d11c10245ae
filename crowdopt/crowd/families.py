"""Workers who err together: inside a family errors may depend in any way, between families they do not.

**Theorem.** A task gets at most k labels of each family. Then the vote of a Chernoff rule errs at most as it would with
one k-th of its evidence A:

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
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.stated.groups import Group
from crowdopt.crowd.votes.evidence import Rule
from crowdopt.errors import InputError

CHERNOFF = ("bhattacharyya", "hoeffding")  # rules whose promise rests on a Chernoff bound


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
    scale = np.ones_like(epsilon) if rule.name == "hoeffding" else _spread(prior, k)
    together: Floats = np.maximum(0.0, 2 * k * (np.log(scale) - np.log(epsilon)))
    return np.where(k > 1, together, alone)


def joint_error(rule: Rule, evidence: Floats, prior: Floats, k: Ints) -> Floats:
    """What is guaranteed of a vote with this much evidence and at most k > 1 labels of each family, (tasks,)."""
    scale = np.ones_like(evidence) if rule.name == "hoeffding" else _spread(prior, k)
    return np.minimum(1.0, scale * np.exp(-evidence / (2 * k)))


def _spread(prior: Floats, k: Ints) -> Floats:
    """``S_k``, (tasks,): pairs of different classes only."""
    rows = np.broadcast_to(prior, (k.size, prior.shape[-1]))
    share, logs = 1 / (2 * k[:, None]), np.log(rows)
    return np.exp((1 - share) * logs).sum(axis=1) * np.exp(share * logs).sum(axis=1) - 1.0

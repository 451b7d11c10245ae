"""What one label is worth and what a task needs, per rule.

A rule turns accuracies into additive *evidence*: a task whose labels' evidence sums to its *need* is answered
wrongly with probability at most epsilon, if the labels are combined by the rule's vote weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.crowd.errors import InputError

Floats: TypeAlias = NDArray[np.float64]

FLOOR = 1e-9  # evidence this small counts as none: solvers drop such coefficients, so nobody may count on them
CLIP = 1e-6  # accuracies are kept this far from 0 and 1 where a logarithm needs it


@dataclass(frozen=True)
class Rule:
    """One way to guarantee ``P(error) <= epsilon`` by a sum of evidence over a task's labels.

    Parameters
    ----------
    name : str
    only_binary : bool
        Whether the rule's proof is for two classes only.
    worth, need, weight, error : callables
        ``worth(accuracy, classes)``: evidence of one label before FLOOR; ``need(epsilon, classes)``: evidence
        a task needs; ``weight(accuracy, classes)``: vote weight of a label; ``error(evidence, classes)``: the
        guarantee that a sum of evidence gives, the inverse of ``need``.
    """

    name: str
    only_binary: bool
    worth: Callable[[Floats, int], Floats]
    need: Callable[[Floats, int], Floats]
    weight: Callable[[Floats, int], Floats]
    error: Callable[[Floats, int], Floats]

    def evidence(self, accuracy: Floats, classes: int = 2) -> Floats:
        """Evidence of one label; what is at most FLOOR is exactly 0."""
        worth: Floats = self.worth(np.asarray(accuracy, dtype=np.float64), classes)
        evidence: Floats = np.where(worth > FLOOR, worth, 0.0)
        return evidence


def _clipped(accuracy: Floats) -> Floats:
    return np.clip(np.asarray(accuracy, dtype=np.float64), CLIP, 1 - CLIP)


def _affinity(accuracy: Floats, classes: int) -> Floats:
    """Bhattacharyya coefficient of a label's law under two classes: ``2 sqrt(w u) + (L - 2) u``, u = (1-w)/(L-1)."""
    right = _clipped(accuracy)
    wrong = (1 - right) / (classes - 1)
    return 2 * np.sqrt(right * wrong) + (classes - 2) * wrong


def _log_odds(accuracy: Floats, classes: int) -> Floats:
    right = _clipped(accuracy)
    odds: Floats = np.log(right / (1 - right)) + np.log(classes - 1)
    return odds


HOEFFDING = Rule(
    name="hoeffding",  # Ho, Jabbari & Vaughan 2013, Lemma 1: error <= exp(-1/2 sum (2p-1)^2)
    only_binary=True,
    worth=lambda accuracy, classes: (2 * accuracy - 1) ** 2,
    need=lambda epsilon, classes: -2 * np.log(epsilon),
    weight=lambda accuracy, classes: 2 * np.asarray(accuracy, dtype=np.float64) - 1,
    error=lambda evidence, classes: np.exp(-evidence / 2),
)

BHATTACHARYYA = Rule(
    name="bhattacharyya",  # error <= (L-1)/2 prod (2 sqrt(w u) + (L-2) u), by sum min(P, Q) <= sum sqrt(P Q)
    only_binary=False,
    worth=lambda accuracy, classes: -2 * np.log(_affinity(accuracy, classes)),
    need=lambda epsilon, classes: 2 * np.log((classes - 1) / 2) - 2 * np.log(epsilon),
    weight=_log_odds,
    error=lambda evidence, classes: (classes - 1) / 2 * np.exp(-evidence / 2),
)

RULES = {rule.name: rule for rule in (HOEFFDING, BHATTACHARYYA)}


def rule_named(name: str, classes: int = 2) -> Rule:
    """The rule of that name; InputError names those there are, or says that it is for two classes only."""
    if name not in RULES:
        raise InputError(f"unknown rule {name!r}; the rules are {', '.join(RULES)}")
    if classes > 2 and RULES[name].only_binary:
        raise InputError(f"rule {name} is for 2 classes, not {classes}; use rule bhattacharyya")
    return RULES[name]

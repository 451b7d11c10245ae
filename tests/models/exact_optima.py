"""Small instances under exact errors: files with their optima, by brute force in rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from crowdopt.crowd.instance import AssignmentInstance
from tests.models.reading import MODELS
from tests.models.tiny import facts_of

FILES = sorted((MODELS / "tiny" / "exact").glob("*.json"))
RULES = ("exact-error", "mean-error")
__all__ = ["FILES", "RULES", "facts_of", "instance_of", "optima"]


def instance_of(facts: dict[str, Any], rule: str) -> AssignmentInstance:
    prior = facts.get("prior")
    return AssignmentInstance(
        accuracy=np.array(facts["accuracy"], dtype=np.float64),
        task_type=facts["task_type"],
        capacity=facts["capacity"],
        epsilon=float(Fraction(facts["epsilon"])),
        rule=rule,
        cost=np.array(facts.get("cost", 1.0), dtype=np.float64),
        prior=None if prior is None else [1 - float(prior), float(prior)],
        title=facts["title"],
    )


def bayes_error(accuracy: list[Fraction], prior: Fraction) -> Fraction:
    """The error of the best vote: over all ways in which labels fall, the less likely class. No logarithm."""
    total = Fraction(0)
    for bits in product((0, 1), repeat=len(accuracy)):
        yes, no = prior, 1 - prior
        for bit, p in zip(bits, accuracy, strict=True):
            yes, no = yes * (p if bit else 1 - p), no * (1 - p if bit else p)
        total += min(yes, no)
    return total


def optima(facts: dict[str, Any]) -> dict[str, str]:
    """Least costs over every choice of a set of workers for each task, as text; ``infeasible`` where there is none."""
    kinds, room = facts["task_type"], facts["capacity"]
    target, prior = Fraction(facts["epsilon"]), Fraction(facts.get("prior", "1/2"))
    prices = facts.get("cost", [["1"] * len(room)] * len(kinds))
    tables = []  # of each task: workers, their error, their price
    for kind in kinds:
        skill, price = ([Fraction(one) for one in table[kind]] for table in (facts["accuracy"], prices))
        crews = [[j for j, bit in enumerate(bits) if bit] for bits in product((0, 1), repeat=len(room))]
        tables.append([(s, bayes_error([skill[j] for j in s], prior), sum(price[j] for j in s)) for s in crews])
    costs: dict[str, list[Fraction]] = {rule: [] for rule in RULES}
    for plan in product(*tables):
        crews, errors, paid = zip(*plan, strict=True)
        if all(sum(j in crew for crew in crews) <= most for j, most in enumerate(room)):
            costs["exact-error"] += [sum(paid)] * (max(errors) <= target)
            costs["mean-error"] += [sum(paid)] * (sum(errors) <= target * len(errors))
    return {rule: str(min(some)) if some else "infeasible" for rule, some in costs.items()}

"""Limits by true class of an adaptive plan: the share of a class's tasks that may be answered otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import is_number
from crowdopt.errors import InputError
from crowdopt.io.plan.stored_policy import StoredPolicy
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.policies.expected_figures import Figures
from crowdopt.recheck.policies.policy_tables import PolicyTables

KEPT = 1e-9  # relative; rounding of float64


@dataclass(frozen=True, eq=False)
class ClassLimits:
    """The limits that plan.json says, and its multipliers; (classes,), infinity and 0 where there is none."""

    names: tuple[str, ...]
    limit: Floats
    dual: Floats

    @property
    def stated(self) -> bool:
        """Whether there is any."""
        return bool(np.isfinite(self.limit).any())

    def proves(self, tables: PolicyTables, times: float) -> float:
        """What the multipliers take off the bound."""
        some = np.isfinite(self.limit)
        return times * float((self.dual[some] * self.limit[some] * _of_class(tables)[some]).sum())


def class_limits(claims: dict[str, Any], instance: AssignmentInstance) -> ClassLimits:
    """Limits and multipliers by name of the class; InputError for what is none."""
    names = tuple(instance.class_names or map(str, range(int(instance.classes))))
    limit, dual = np.full(len(names), np.inf), np.zeros(len(names))
    said, priced = claims.get("class_error", {}), claims.get("class_dual", {})
    for key, table, column in (("class_error", said, limit), ("class_dual", priced, dual)):
        if not isinstance(table, dict) or not all(name in names and is_number(x) for name, x in table.items()):
            raise InputError(f"plan.json: {key} must have numbers by class, not {table!r}")
        for name, number in table.items():
            column[names.index(name)] = float(number)
    if set(said) != set(priced) or not all(0 < x <= 1 for x in said.values()) or (dual < 0).any():
        raise InputError("plan.json: each class_error lies above 0, to 1, and has a class_dual of at least 0")
    return ClassLimits(names, limit, dual)


def _of_class(tables: PolicyTables) -> Floats:
    """Tasks of each class that are expected, given the labels that are in."""
    total = 0.0
    for one in tables.types:
        for votes, tasks in one.standing.items():
            weight = one.law.weight(votes)
            total = total + tasks * weight / weight.sum()
    return np.asarray(total)


def check_classes(
    stored: StoredPolicy, limits: ClassLimits, tables: PolicyTables, every: list[Figures], times: float, report: Report
) -> None:
    """The policy keeps the limits, and plan.json says what it expects."""
    if not limits.stated:
        return
    missed = {name: sum(figures.of_class.get(k, 0.0) for figures in every) for k, name in enumerate(limits.names)}
    of_class = dict(zip(limits.names, _of_class(tables).tolist(), strict=True))
    for name, limit in zip(limits.names, limits.limit.tolist(), strict=True):
        if missed[name] > times * limit * of_class[name] * (1 + KEPT) + KEPT:
            share = missed[name] / of_class[name]
            report.complain(
                "policy.csv", f"of class {name} a share of {share:.9g} is expected to be answered otherwise"
            )
    said = stored.claims.get("missed")
    if not isinstance(said, dict) or set(said) != set(missed):
        report.complain("plan.json", f"missed says {said!r}, which has not each class once")
        return
    for name, share in said.items():
        if not is_number(share) or abs(share * of_class[name] - missed[name]) > KEPT * max(1.0, of_class[name]):
            report.complain("plan.json", f"missed says {share!r} of class {name}, which is not what is expected")

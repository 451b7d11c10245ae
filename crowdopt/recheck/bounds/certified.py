"""The bound that a plan's stored multipliers prove."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.certificate import BOUND
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.documents import is_number
from crowdopt.io.plan.stored_plan import StoredPlan
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.bounds.fixed_pairs import beside_fixed
from crowdopt.recheck.bounds.joint_pull import JointPull, joint_pull
from crowdopt.recheck.bounds.limited_sets import prove_sets
from crowdopt.recheck.bounds.multipliers import fewest_labels, prove
from crowdopt.recheck.bounds.price_step import price_step
from crowdopt.recheck.bounds.proofs import prove_blocks, prove_patterns

FORMS = ("rows", "blocks", "patterns", "sets")  # of a certified bound; see plan.Duals
CURVE = "curve"  # prices that prove something of wrong answers, and nothing of the cost
MOST_LEVELS = 1000  # of skill


def certified_bound(instance: AssignmentInstance, stored: StoredPlan, report: Report, is_integer: bool) -> float | None:
    """The bound that the stored multipliers prove; it must not be less than plan.json says.

    stored: with its multipliers; -> None where nothing is proven.
    """
    why = _why_nothing(stored)
    if why is not None:
        if stored.claims.get("certified_bound") is not None:
            report.complain("plan.json", why)
        return None
    paid = 0.0
    if is_integer:
        instance, paid = beside_fixed(instance)
        instance = relaxation(instance)
    if stored.tasks.rows != instance.n_tasks or stored.workers.rows != instance.n_workers:
        return None
    budget = stored.claims.get("budget_dual", 0.0)
    if not is_number(budget):
        report.complain("plan.json", f"budget_dual says {budget!r}, which is no number")
        return None
    with np.errstate(all="ignore"):
        proven = _proven(instance, stored, float(budget), report, is_integer)
    if not np.isfinite(proven):
        report.complain("tasks.csv and workers.csv", "the multipliers prove nothing: they are too large")
        return None
    proven += paid
    step = price_step(instance.cost)
    if is_integer and step is not None:
        whole, parts = step
        proven = float(np.ceil(proven * parts / whole - BOUND * max(1.0, abs(proven * parts / whole)))) * whole / parts
    return _as_said(stored.claims.get("certified_bound"), proven, report)


def _why_nothing(stored: StoredPlan) -> str | None:
    """Why the stored multipliers can prove no cost, to somebody who claims a bound; None where they may."""
    if stored.claims.get("certified_by") == CURVE:
        return (
            f"certified_bound says {stored.claims.get('certified_bound')!r}, but prices of wrong answers prove no cost"
        )
    if "" in stored.tasks["dual"] or "" in stored.workers["dual"]:
        return "claims a certified bound, but multipliers are missing"
    return None


def _proven(instance: AssignmentInstance, stored: StoredPlan, budget: float, report: Report, is_integer: bool) -> float:
    """What the multipliers prove by rows, or by the form that plan.json names if that is more."""
    form = stored.claims.get("certified_by")
    if form not in (FORMS if is_integer else FORMS[:1]):
        report.complain("plan.json", f"certified_by says {form!r}, not {' or '.join(FORMS)} (shares of labels: rows)")
    limits = stored.tasks.numbers("labels_dual") if "labels_dual" in stored.tasks else np.zeros(instance.n_tasks)
    least = fewest_labels(instance) if is_integer else instance.new_label_limits[0]
    task, worker = stored.tasks.numbers("dual"), stored.workers.numbers("dual")
    joint = joint_pull(instance, stored.limits, report)
    proven = prove(instance, task, worker, limits, budget, least, joint)
    if form == "blocks" and is_integer:
        proven = max(proven, prove_blocks(instance, worker, limits, budget))
    if form == "sets" and is_integer:
        proven = max(proven, proved_by_sets(instance, stored.claims, joint, worker, budget, report))
    if form == "patterns" and is_integer:
        proven = max(proven, proved_by_patterns(instance, stored, worker, budget, report))
    return proven


def _as_said(said: Any, proven: float, report: Report) -> float | None:
    if said is None and proven <= 0:  # no plan costs less than nothing: that need not be stated
        return None
    if not is_number(said):
        report.complain("plan.json", f"certified_bound says {said!r}, but the multipliers prove {proven!r}")
    elif not said <= proven + BOUND * max(1.0, abs(proven)):
        report.complain(
            "plan.json", f"certified_bound says {said!r}, but the multipliers prove no more than {proven!r}"
        )
    return proven


def proved_by_sets(
    instance: AssignmentInstance,
    claims: dict[str, Any],
    joint: JointPull,
    worker: Floats,
    budget: float,
    report: Report,
) -> float:
    """What the form ``sets`` proves; where errors are checked with so many skills of a type as plan.json says.

    joint: what multipliers of groups, shares and own rows bring; -> -inf where the claims are no numbers that
    prove anything.
    """
    rule = instance.the_rule
    levels = claims.get("levels", None if rule.name == EXACT_ERROR.name else 0)
    if rule.average:
        report.complain("plan.json", f"certified_by says 'sets', but rule {rule.name} asks nothing of a single task")
        return -np.inf
    if rule.checked and (type(levels) is not int or not 0 <= levels <= MOST_LEVELS):
        report.complain("plan.json", f"levels says {levels!r}, not a whole number from 0 to {MOST_LEVELS}")
        return -np.inf
    told_apart = levels if type(levels) is int else 0
    return prove_sets(instance, worker, budget, joint, told_apart)


def proved_by_patterns(
    instance: AssignmentInstance, stored: StoredPlan, worker: Floats, budget: float, report: Report
) -> float:
    """What the form ``patterns`` proves with the stored price of a wrong answer.

    stored: with its claims; -> -inf where the claims are no numbers that prove anything.
    """
    wrong, levels = stored.claims.get("wrong_dual"), stored.claims.get("levels")
    if not instance.the_rule.average:
        report.complain("plan.json", f"certified_by says 'patterns', but rule {instance.rule} has no price of errors")
        return -np.inf
    if type(wrong) is not float or type(levels) is not int or not 1 <= levels <= MOST_LEVELS:
        report.complain("plan.json", f"wrong_dual and levels say {wrong!r} and {levels!r}, which prove nothing")
        return -np.inf
    return prove_patterns(instance, worker, budget, wrong, levels)

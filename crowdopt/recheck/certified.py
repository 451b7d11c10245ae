"""The bound that a plan's stored multipliers prove."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.certificate import BOUND
from crowdopt.crowd.exactness import relaxation
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.stored_plan import StoredPlan
from crowdopt.recheck.findings import Report
from crowdopt.recheck.joint_kept import joint_pull
from crowdopt.recheck.limited_sets import prove_sets, share_pull
from crowdopt.recheck.multipliers import fewest_labels, prove
from crowdopt.recheck.proofs import prove_blocks, prove_patterns

FORMS = ("rows", "blocks", "patterns", "sets")  # of a certified bound; see plan.Duals
CURVE = "curve"  # prices that prove something of wrong answers, and nothing of the cost
MOST_LEVELS = 1000  # of skill


def certified_bound(instance: AssignmentInstance, stored: StoredPlan, report: Report, is_integer: bool) -> float | None:
    """The bound that the stored multipliers prove; it must not be less than plan.json says.

    Parameters
    ----------
    instance : AssignmentInstance
    stored : StoredPlan
        With its multipliers.
    report : Report
        Takes the complaints.
    is_integer : bool
        Whether the plan is of whole labels.

    Returns
    -------
    float or None
        None where nothing is proven.
    """
    said = stored.claims.get("certified_bound")
    if stored.claims.get("certified_by") == CURVE:
        if said is not None:
            report.complain("plan.json", f"certified_bound says {said!r}, but prices of wrong answers prove no cost")
        return None
    instance = relaxation(instance) if is_integer else instance
    if "" in stored.tasks["dual"] or "" in stored.workers["dual"]:
        if said is not None:
            report.complain("plan.json", "claims a certified bound, but multipliers are missing")
        return None
    if stored.tasks.rows != instance.n_tasks or stored.workers.rows != instance.n_workers:
        return None
    limits = stored.tasks.numbers("labels_dual") if "labels_dual" in stored.tasks else np.zeros(instance.n_tasks)
    budget = stored.claims.get("budget_dual", 0.0)
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        report.complain("plan.json", f"budget_dual says {budget!r}, which is no number")
        return None
    form = stored.claims.get("certified_by")
    if form not in (FORMS if is_integer else FORMS[:1]):
        report.complain("plan.json", f"certified_by says {form!r}, not {' or '.join(FORMS)} (shares of labels: rows)")
    least = fewest_labels(instance) if is_integer else instance.new_label_limits[0]
    multipliers = stored.tasks.numbers("dual"), stored.workers.numbers("dual"), limits, float(budget)
    with np.errstate(all="ignore"):
        proven = prove(instance, *multipliers, least, joint_pull(instance, stored, report))
        if form == "blocks" and is_integer:
            proven = max(proven, prove_blocks(instance, *multipliers[1:]))
        if form == "sets" and is_integer:
            proven = max(proven, prove_sets(instance, multipliers[1], float(budget), share_pull(instance, stored)))
        if form == "patterns" and is_integer:
            proven = max(proven, proved_by_patterns(instance, stored, multipliers[1], float(budget), report))
    if not np.isfinite(proven):
        report.complain("tasks.csv and workers.csv", "the multipliers prove nothing: they are too large")
        return None
    whole_prices = bool((instance.cost == np.rint(instance.cost)).all())
    if is_integer and whole_prices:
        proven = float(np.ceil(proven - BOUND * max(1.0, abs(proven))))
    if said is None and proven <= 0:  # no plan costs less than nothing: that need not be stated
        return None
    if isinstance(said, bool) or not isinstance(said, int | float):
        report.complain("plan.json", f"certified_bound says {said!r}, but the multipliers prove {proven!r}")
    elif not said <= proven + BOUND * max(1.0, abs(proven)):
        report.complain(
            "plan.json", f"certified_bound says {said!r}, but the multipliers prove no more than {proven!r}"
        )
    return proven


def proved_by_patterns(
    instance: AssignmentInstance, stored: StoredPlan, worker: Floats, budget: float, report: Report
) -> float:
    """What the form ``patterns`` proves with the stored price of a wrong answer.

    Parameters
    ----------
    instance : AssignmentInstance
    stored : StoredPlan
        With its claims.
    worker : (workers,) float
        Multipliers of the loads.
    budget : float
        Multiplier of the budget.
    report : Report
        Takes the complaint.

    Returns
    -------
    float
        -inf where the claims are no numbers that prove anything.
    """
    wrong, levels = stored.claims.get("wrong_dual"), stored.claims.get("levels")
    fewest = 0 if instance.classes == 2 and not instance.the_rule.average else 1
    if type(wrong) is not float or type(levels) is not int or not fewest <= levels <= MOST_LEVELS:
        report.complain("plan.json", f"wrong_dual and levels say {wrong!r} and {levels!r}, which prove nothing")
        return -np.inf
    return prove_patterns(instance, worker, budget, wrong, levels)

"""A plan of the Primal Approximation Algorithm: what the algorithm takes at the stored prices, and its repair."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.io.plan.plan_folder import ADDED, REMOVED, REPAIR
from crowdopt.io.plan.stored_plan import StoredPlan
from crowdopt.io.tables.label_table import campaign_pairs
from crowdopt.io.tables.table_columns import read_table
from crowdopt.io.tables.table_kinds import PLAN_TABLES
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.plan_claims import agrees

EQUAL = 1e-6  # relative; task values this close are equal: the prices are a solver's


def check_repaired(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Undo the repair: what is left must be what Algorithm 1 takes, and lack what plan.json says it lacks."""
    said = stored.claims["repaired"]
    if stored.amounts is not None:
        report.complain("plan.json", "repaired is about whole labels, and the plan has shares of them")
        return
    if not _numbers(said):
        report.complain("plan.json", f"repaired says {said!r}; it must have numbers labels, short and lacking")
        return
    table = read_table(stored.folder / REPAIR, PLAN_TABLES["repair"])
    pairs, change = campaign_pairs(table, instance), np.array(table["change"], str)
    if not np.isin(change, (ADDED, REMOVED)).all():
        report.complain(REPAIR, f"change must be {ADDED} or {REMOVED}")
        return
    plan, m = _keys(stored.pairs, instance.n_workers), instance.n_workers
    added, removed = _keys(pairs[change == ADDED], m), _keys(pairs[change == REMOVED], m)
    if not np.isin(added, plan).all() or np.isin(removed, plan).any() or np.unique(removed).size < removed.size:
        report.complain(REPAIR, "added labels must be in the plan and removed ones not")
        return
    key = np.sort(np.concatenate([np.setdiff1d(plan, added), removed]))
    taken = np.column_stack([key // m, key % m])
    lack = np.maximum(0.0, instance.need - instance.collected_evidence - instance.supply(taken))
    short = lack > COVERAGE
    for name, value in (("labels", len(taken)), ("short", int(short.sum())), ("lacking", float(lack[short].sum()))):
        if not agrees(said[name], value):
            report.complain("plan.json", f"repaired.{name} says {said[name]!r}, but it is {value!r}")
    if "" not in stored.tasks["dual"] and stored.tasks.rows == instance.n_tasks:
        _check_taken(instance, taken, stored.tasks.numbers("dual"), report)


def _numbers(said: Any) -> bool:
    if not isinstance(said, dict) or set(said) != {"labels", "short", "lacking"}:
        return False
    return all(type(value) in (int, float) and isfinite(value) for value in said.values())


def _keys(pairs: Ints, workers: int) -> Ints:
    return np.asarray(pairs[:, 0] * workers + pairs[:, 1])


def _check_taken(instance: AssignmentInstance, taken: Ints, price: Floats, report: Report) -> None:
    """Every worker has the open tasks of highest value, none below 0, as many as there are or the worker can do."""
    with np.errstate(all="ignore"):
        for worker in range(instance.n_workers):
            kind, own = instance.task_type, taken[taken[:, 1] == worker, 0]
            value = instance.evidence[kind, worker] * price - instance.cost[kind, worker]
            near = EQUAL * max(1.0, float(np.abs(value).max(initial=0.0)))
            fixed = instance.fixed[instance.fixed[:, 1] == worker, 0]
            chosen, left = np.setdiff1d(own, fixed), instance.need > COVERAGE
            left[np.concatenate([own, instance.barred[instance.barred[:, 1] == worker, 0]])] = False
            worst = value[chosen].min(initial=np.inf)
            best = value[left].max(initial=-np.inf)
            more = own.size < instance.capacity[worker]
            if worst < -near or (best > near if more else best > worst + near and chosen.size > 0):
                who = instance.worker_id(worker)
                report.complain("assignment.csv", f"repair undone, {who} has other tasks than Algorithm 1 gives them")
                return

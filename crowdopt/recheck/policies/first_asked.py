"""The first round of an adaptive plan: what its policy does where tasks stand now, within every capacity."""

from __future__ import annotations

import numpy as np

from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.plan.stored_policy import StoredPolicy
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.policies.each_task import WHOLE
from crowdopt.recheck.policies.policy_tables import PolicyTables, TypeOfPlan

Asked = tuple[int, ...]  # votes of each asker
PLACE = "assignment.csv"


def check_first_round(instance: AssignmentInstance, stored: StoredPolicy, tables: PolicyTables, report: Report) -> None:
    """Each task gets a set that the policy asks for where it stands, or none; shares hold up to one task or exactly."""
    pairs, m = stored.pairs, instance.n_workers
    keys = instance.pair_keys(pairs)
    if np.unique(keys).size < keys.size or np.isin(keys, instance.pair_keys(instance.barred)).any():
        report.complain(PLACE, "has a pair twice, or one that is forbidden or whose label is in")
        return
    load = np.bincount(pairs[:, 1], minlength=m)
    for j in np.flatnonzero(load > instance.capacity).tolist():
        report.complain(PLACE, f"worker {instance.worker_id(j)} has {load[j]} tasks, capacity {instance.capacity[j]}")
    for j in np.unique(pairs[tables.asker[pairs[:, 1]] < 0, 1]).tolist():
        report.complain(PLACE, f"worker {instance.worker_id(j)} is asked, who is no asker")
        return
    asked = np.zeros((instance.n_tasks, len(tables.askers)), np.int64)
    np.add.at(asked, (pairs[:, 0], tables.asker[pairs[:, 1]]), 1)
    full = {g for g, some in enumerate(tables.askers.values()) if (load[some] >= instance.capacity[some]).any()}
    for one in tables.types:
        _check_type(instance, one, [tuple(row) for row in asked.tolist()], full, report)


def _check_type(
    instance: AssignmentInstance, one: TypeOfPlan, asked: list[Asked], full: set[int], report: Report
) -> None:
    spare = 1.0 if one.law.at_once is None else WHOLE
    for votes, tasks in one.standing.items():
        shares = {move.what: move.share for move in one.moves.get((0, votes), []) if move.action == "ask"}
        counts: dict[Asked, int] = dict.fromkeys(shares, 0)
        for i in (i for i in one.tasks if one.stands[i] == votes and any(asked[i])):
            if asked[i] not in shares:
                report.complain(PLACE, f"task {instance.task_id(i)} is asked what the policy does not ask here")
                return
            counts[asked[i]] += 1
        for what, share in shares.items():
            short = counts[what] < share * tasks - spare and not any(
                number and g in full for g, number in enumerate(what)
            )
            if short or counts[what] > share * tasks + spare:
                report.complain(
                    PLACE, f"{counts[what]} tasks of type {one.name} where the policy asks {share * tasks:.6g}"
                )

"""Of sets asked at once that each keep their task's target: whole tasks, and what they err with."""

from __future__ import annotations

import numpy as np

from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.policies.expected_figures import Move, fallen
from crowdopt.recheck.policies.policy_tables import PolicyTables, TypeOfPlan
from crowdopt.recheck.policies.told_law import Counts

WHOLE = 1e-6  # tasks


def check_each_task(tables: PolicyTables, report: Report) -> None:
    """What the policy says first of each task is a set, or an answer, that keeps its target before votes are seen."""
    for one in tables.types:
        for votes, tasks in one.standing.items():
            for move in one.moves.get((0, votes), []):
                if abs(move.share * tasks - np.rint(move.share * tasks)) > WHOLE:
                    report.complain(
                        "policy.csv", f"row {move.row + 1} is for {move.share * tasks:.9g} tasks, not whole"
                    )
                elif not one.law.keeps_at_once(*_wrong(one, votes, move)):
                    report.complain("policy.csv", f"row {move.row + 1}: errs more than the target of each task allows")


def _wrong(one: TypeOfPlan, votes: Counts, move: Move) -> tuple[float, float]:
    """Chance of the votes and a wrong answer after the move, and of the votes."""
    weight = one.law.weight(votes)
    if move.action != "ask":
        return float(weight.sum() - weight[move.what[0]]), float(weight.sum())
    wrong = 0.0
    for (_, after), orders in fallen(votes, move.what, 1, 1.0):
        law = one.law.weight(after)
        right = sum(answer.share * float(law[answer.what[0]]) for answer in one.moves.get((1, after), []))
        wrong += orders * (float(law.sum()) - right)
    return wrong, float(weight.sum())

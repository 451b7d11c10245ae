"""A campaign from tables to audited answers, as a user types it: run, and held to strict types, by test_public_face."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import crowdopt


def tables() -> crowdopt.AssignmentInstance:
    """Six photos of two kinds, five workers, and what each did on photos that are known."""
    skilled = crowdopt.skills(
        {
            "worker": ["ada", "bo", "chen", "dana", "emre"] * 2,
            "type": ["bird"] * 5 + ["plant"] * 5,
            "correct": [19, 18, 12, 17, 16, 11, 18, 19, 19, 18],
            "asked": [20] * 10,
        }
    )
    return crowdopt.AssignmentInstance(
        accuracy=skilled.accuracy,
        task_type=[0, 1, 0, 1, 0, 1],
        capacity=[6, 6, 6, 6, 6],
        epsilon=0.1,
        cost=np.ones(5),
        tasks=[f"photo-{k}" for k in range(6)],
        workers=list(skilled.workers),
    )


def main(desk: Path) -> None:
    """Plan, check, label (here by chance), answer, audit."""
    instance = tables()
    plan = crowdopt.assign(instance, time_limit=10)
    print(f"cost {plan.objective}, proven: {plan.proven}")
    folder, campaign = desk / "plan", desk / "campaign"
    crowdopt.write_campaign(instance, campaign)
    crowdopt.write_plan(plan, folder)
    report = crowdopt.verify(campaign, folder)
    if report.problems:
        raise SystemExit("\n".join(report.problems))
    for load in plan.table()["worker"].value_counts().to_pylist():
        print(f"{load['values']}: {load['counts']} labels")
    labels = desk / "labels.csv"
    count: int = crowdopt.rehearse(campaign, folder, output=labels, seed=1)
    answers = crowdopt.aggregate(labels, plan=folder, campaign=campaign, output=desk / "answers")
    print(f"{count} labels, {answers.table().num_rows} answers")
    audit = crowdopt.audit(desk / "answers", desk / "audit", target=0.5, seed=7)
    print(f"an expert looks at {audit.checks} of them")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

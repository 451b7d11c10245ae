"""What the rows of the tables are computed from: a function of the keys for each table, by the name of its file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import crowdopt
from benchmarks import individual
from crowdopt import AssignmentInstance, Group
from tests.checkers.plans import broken
from tests.draw import campaign

Row = dict[str, Any]
DENSE = 10**7  # pairs up to which a plan is held against its limits


def instance(row: str) -> AssignmentInstance:
    """RECIPE:SIZE[:CHANGE…], or own, twelve: tasks that all differ, of about twelve labels; drawn: by tests/draw.py."""
    name, size, *changes = row.split(":")
    n, m = map(int, size.split("x"))
    if name == "drawn":
        seed, skills, wishes = changes
        return campaign(int(seed), n, m, wishes, skills=skills)
    made = {"own": individual.own, "twelve": twelve}.get(name, lambda n, m: crowdopt.recipe(f"{name}:{n}x{m}", 0))(n, m)
    for change in changes:
        made = changed(made, change)
    return made


def twelve(n: int, m: int) -> AssignmentInstance:
    """Four kinds of tasks, four pools of workers, about twelve labels a task; a fifth more can be had."""
    rng = np.random.default_rng(3)
    skills = np.round(rng.uniform(0.62, 0.84, (4, 4))[:, rng.integers(0, 4, m)], 3)
    return AssignmentInstance(skills, rng.integers(0, 4, n), np.full(m, 15 * n // m + 1), 0.1, rule="bhattacharyya")


def changed(made: AssignmentInstance, change: str) -> AssignmentInstance:
    """With a rule, with limits, with targets."""
    rng, m = np.random.default_rng([0, 99]), made.n_workers
    if change in ("eps", "prior", "forbidden"):
        return individual.changed(made, change, rng)
    if change == "prices":
        return replace(made, cost=rng.integers(1, 6, m).astype(float))
    if change == "loads":
        return replace(made, min_load=np.minimum(made.capacity, 2))
    if change == "groups":
        home = np.random.default_rng(0).integers(0, 3, m)
        first, second, third = (np.flatnonzero(home == k).tolist() for k in range(3))
        least, most = Group("first", first, max_per_task=4, max_share=0.3), Group("third", third, max_per_task=6)
        return replace(made, groups=[least, Group("second", second, min_per_task=1, max_per_task=5), most])
    if change == "sites":
        parts = np.array_split(rng.permutation(m), min(100, m // 2))
        return replace(made, groups=[Group(f"s{k}", part.tolist(), max_per_task=1) for k, part in enumerate(parts)])
    if change.startswith("classes"):
        k = int(change[7:])
        return replace(made, classes=k, prior=np.full(k, 1 / k), rule="bhattacharyya")
    return replace(made, rule=change)


def plans(row: str, epsilon: str, seconds: str) -> Row:
    """The plan of a row: what it costs if it serves all tasks, and what none undercuts."""
    made = instance(row)
    made = replace(made, epsilon=np.asarray(float(epsilon))) if epsilon else made
    plan = crowdopt.solve(made, time_limit=float(seconds))
    bound = plan.certified_bound if np.isfinite(plan.certified_bound) else None
    if plan.found and made.n_tasks * made.n_workers <= DENSE:
        assert not broken(made, plan.pairs)
    return {"cost": plan.objective if plan.found else None, "bound": bound}


def aggregate(labels: str, method: str) -> Row:
    """On a recorded set."""
    folder = Path(os.environ["CROWDOPT_DATA"]) / labels
    done = crowdopt.aggregate(folder / "labels.csv", method, truth=folder / "truth.csv")
    chosen = done.choice.method if done.choice is not None else method
    return {"chosen": chosen, "right": done.right, "claimed": done.claimed, "unsure": done.unsure}


TABLES = {"plans": plans, "aggregate": aggregate}

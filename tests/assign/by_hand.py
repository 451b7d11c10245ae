"""What small instances come to by trying every choice of labels, also where tasks are left short."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from crowdopt import AssignmentInstance, Plan, verify, write_campaign, write_plan
from crowdopt.recheck.findings import Report
from tests.checkers.plans import errors, promised, table

SAME = 1e-9
Sets = tuple[np.ndarray, np.ndarray, np.ndarray]


def sets_of(one: AssignmentInstance, task: int) -> Sets:
    """Every set of new labels that the task may have, what it errs with, and whether it serves the task.

    Labels (sets, workers); under a promise of the mean every set does that has labels enough.
    """
    every = np.array(list(product([False, True], repeat=one.n_workers)))
    held, barred, fixed = (table(one, pairs)[task] for pairs in (one.collected, one.barred, one.fixed))
    fewest, most = (int(limit[task]) for limit in one.new_label_limits)
    labels = every[every[:, fixed].all(axis=1) & ~every[:, barred].any(axis=1) & (every.sum(axis=1) <= most)]
    tasks, whole = np.full(len(labels), task), labels | held
    serves = (promised(one, tasks, whole) <= one.epsilon[task]) | one.the_rule.average
    return labels, errors(one, tasks, whole), serves & (labels.sum(axis=1) >= fewest)


def choices(one: AssignmentInstance, sets: list[Sets]) -> tuple[np.ndarray, np.ndarray]:
    """Choices of a set for each task that keep loads and the budget, (choices, tasks), and what each costs."""
    rows = np.array(list(product(*(range(len(labels)) for labels, *_ in sets))), np.int64).reshape(-1, len(sets))
    chosen = [labels[rows[:, task]] for task, (labels, *_) in enumerate(sets)]
    loads = np.sum(chosen, axis=0)
    cost = np.sum([some @ one.cost[kind] for some, kind in zip(chosen, one.task_type, strict=True)], axis=0)
    fits = ((loads <= one.capacity) & (loads >= one.min_load)).all(axis=1)
    fits &= cost <= (np.inf if one.budget is None else one.budget) + SAME
    return rows[fits], cost[fits]


def report_on(one: AssignmentInstance, plan: Plan, folder: Path) -> Report:
    """What verify says of the folders; all labels that are in say the same."""
    write_campaign(one, folder / "campaign", force=True, collected_labels=["1"] * len(one.collected))
    write_plan(plan, folder / "plan", force=True)
    return verify(folder / "campaign", folder / "plan")

"""What small instances come to by trying every choice of labels; errors by arithmetic that imports no package."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from crowdopt import AssignmentInstance, Plan, verify, write_campaign, write_plan
from crowdopt.crowd.exactness import CERTAIN
from crowdopt.recheck.bounds.findings import Report
from tests.checkers.errors import error_bounds

SAME = 1e-9
Sets = tuple[np.ndarray, np.ndarray, np.ndarray]


def error(instance: AssignmentInstance, task: int, workers: np.ndarray) -> float:
    """Of the vote of these workers on the task."""
    skills = tuple(instance.accuracy[instance.task_type[task], workers].tolist())
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, int(instance.classes)))[task]
    how = instance.difficulty
    return error_bounds(skills, prior, (how.share, how.left) if how.share else None)[1] if skills else 1 - prior.max()


def sets_of(instance: AssignmentInstance, task: int) -> Sets:
    """Every set of new labels that the task may have, what it errs with, and whether it serves the task.

    Labels (sets, workers); under a promise of the mean every set does that has labels enough.
    """
    every = np.array(list(product([False, True], repeat=instance.n_workers)))
    held, barred, fixed = (
        np.isin(np.arange(instance.n_workers), pairs[pairs[:, 0] == task, 1])
        for pairs in (instance.collected, instance.barred, instance.fixed)
    )
    fewest, most = (int(limit[task]) for limit in instance.new_label_limits)
    labels = every[every[:, fixed].all(axis=1) & ~every[:, barred].any(axis=1) & (every.sum(axis=1) <= most)]
    errors = np.array([error(instance, task, held | one) for one in labels])
    serves = labels.sum(axis=1) >= fewest
    if instance.rule in ("exact-error", "mean-error"):
        serves &= (errors <= instance.epsilon[task] + CERTAIN) | instance.the_rule.average
    else:
        serves &= (held | labels) @ instance.evidence[instance.task_type[task]] >= instance.need[task] - SAME
    return labels, errors, serves


def choices(instance: AssignmentInstance, sets: list[Sets]) -> tuple[np.ndarray, np.ndarray]:
    """Choices of a set for each task that keep loads and the budget, (choices, tasks), and what each costs."""
    rows = np.array(list(product(*(range(len(labels)) for labels, *_ in sets))), np.int64).reshape(-1, len(sets))
    chosen = [labels[rows[:, task]] for task, (labels, *_) in enumerate(sets)]
    loads = np.sum(chosen, axis=0)
    cost = np.sum([one @ instance.cost[kind] for one, kind in zip(chosen, instance.task_type, strict=True)], axis=0)
    fits = ((loads <= instance.capacity) & (loads >= instance.min_load)).all(axis=1)
    fits &= cost <= (np.inf if instance.budget is None else instance.budget) + SAME
    return rows[fits], cost[fits]


def cheapest(instance: AssignmentInstance) -> float:
    """The least cost of all plans; infinite where there is none."""
    sets = [sets_of(instance, task) for task in range(instance.n_tasks)]
    served = [(labels[does], errors[does], does) for labels, errors, does in sets]
    rows, cost = choices(instance, served)
    if instance.the_rule.average:
        mean = np.mean([errors[rows[:, task]] for task, (_, errors, _) in enumerate(served)], axis=0)
        cost = cost[mean <= instance.epsilon.mean() + CERTAIN]
    return float(cost.min(initial=np.inf))


def chosen(instance: AssignmentInstance, pairs: np.ndarray) -> np.ndarray:
    """Who labels which task, (tasks, workers)."""
    table = np.zeros((instance.n_tasks, instance.n_workers), bool)
    table[tuple(pairs.T)] = True
    return table


def report_on(instance: AssignmentInstance, plan: Plan, folder: Path) -> Report:
    """What verify says of the folders; all labels that are in say the same."""
    write_campaign(instance, folder / "campaign", force=True, collected_labels=["1"] * len(instance.collected))
    write_plan(plan, folder / "plan", force=True)
    return verify(folder / "campaign", folder / "plan")

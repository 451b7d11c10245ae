"""Small panels, and a way of its own to the cheapest adaptive plan: a program over histories of votes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from scipy.optimize import linprog

from crowdopt import AssignmentInstance, Group, OwnRows
from crowdopt.crowd.law import Difficulty

EXPERT = 4.0


def drawn(seed: int, judges: int | None = None) -> AssignmentInstance:
    """A panel of 2 to 5 judges and 2 or 3 classes; hard items, confusion tables, capacities, money, priors."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 4))
    many = judges or int(rng.integers(2, 6 if classes == 2 else 5))
    kinds, tasks = int(rng.integers(1, 3)), int(rng.integers(5, 40))
    accuracy = rng.uniform(1 / classes, 0.97, (kinds, many)).round(3)
    hard = classes == 2 and rng.random() < 0.4
    one = AssignmentInstance(
        accuracy=accuracy,
        task_type=np.sort(np.arange(tasks) % kinds),
        capacity=rng.integers(tasks // 2, tasks + 1, many),
        epsilon=float(rng.choice([0.05, 0.1, 0.2, 0.3])),
        rule="mean-error" if classes == 2 and not hard and rng.random() < 0.2 else "exact-error",
        cost=rng.choice([0.2, 0.4, 1.0, 3.0], many),
        classes=classes,
        prior=None if rng.random() < 0.5 else rng.dirichlet(np.full(classes, 8.0)),
        difficulty=Difficulty(share=0.2, hard=0.3) if hard else Difficulty(),
        max_labels=None if rng.random() < 0.7 else np.full(tasks, many - 1),
        budget=float(rng.uniform(1, 4) * tasks) if rng.random() < 0.3 else None,
    )
    if rng.random() < 0.25 and not hard and one.rule == "exact-error":
        one = one.with_confusion(rng.dirichlet(np.full(classes, 0.7), (kinds, many, classes)) * 0.98 + 0.02 / classes)
    return one


def limited(seed: int) -> AssignmentInstance:
    """A panel of three judges and two classes with labels that must be had and own rows."""
    rng, one = np.random.default_rng(seed), drawn(seed, judges=3)
    while one.classes != 2:
        seed += 1000
        one = drawn(seed, judges=3)
    n, kinds, limits = one.n_tasks, one.n_types, {}
    most = int(min(one.max_labels.max(), 3))
    if rng.random() < 0.4:
        limits["fixed"] = [(i, 1) for i in np.flatnonzero(one.task_type == kinds - 1).tolist()][: int(one.capacity[1])]
        if len(limits["fixed"]) < (one.task_type == kinds - 1).sum():
            del limits["fixed"]
    if rng.random() < 0.4:
        limits["min_labels"] = np.where(one.task_type == 0, rng.integers(1, most + 1), 0)
    if rng.random() < 0.4:
        limits["groups"] = [Group("g", [0, 2], min_per_task=1)]
    if rng.random() < 0.4:
        limits["min_load"] = (rng.uniform(0, 0.6, 3) * one.capacity).astype(int)
    if rng.random() < 0.6 or not limits:
        every = np.array([(i, j) for i in range(n) for j in range(3)])
        coefficient = rng.uniform(-1, 2, (kinds, 3)).round(2)[one.task_type].reshape(-1)
        side = float(rng.uniform(0.2, 0.8) * n)
        ends = (-np.inf, side) if rng.random() < 0.5 else (side / 2, np.inf)
        limits["own_rows"] = OwnRows(["mine"], np.zeros(3 * n, int), every, coefficient, [ends[0]], [ends[1]])
    return replace(one, **limits)


def joint(instance: AssignmentInstance, kind: int, votes: tuple[int, ...]) -> np.ndarray:
    """P(votes, class); a vote is the class it says, or -1 where there is none."""
    classes, law = int(instance.classes), np.zeros(int(instance.classes))
    difficulty = instance.difficulty
    for weight, left in ((1 - difficulty.share, 1.0), (difficulty.share, difficulty.left)):
        part = weight * np.array(instance.prior, dtype=float)
        for judge, said in enumerate(votes):
            for true in range(classes) if said >= 0 else ():
                if instance.confusion is not None:
                    part[true] *= instance.confusion[kind, judge, true, said]
                    continue
                p = instance.accuracy[kind, judge]
                p = 0.5 + left * (p - 0.5) if difficulty.share else p
                part[true] *= p if said == true else (1 - p) / (classes - 1)
        law += part
    return law


def is_sure(law: np.ndarray, surest: float) -> bool:
    """Whether the likeliest class is wrong with at most this chance, given the votes."""
    return bool(law.sum() - law.max() <= surest * law.sum() * (1 + 1e-9))


def least_by_histories(
    instance: AssignmentInstance,
    expert: float | None = None,
    times: float = 1.0,
    given_votes: bool = False,
    class_error: tuple[float, ...] = (),
) -> float:
    """The program over histories, orders of votes told apart: larger than it need be, and written another way.

    class_error: of the tasks of each class, the share that may be answered otherwise.
    """
    many, classes, kinds = instance.n_workers, int(instance.classes), instance.n_types
    epsilon, count = times * instance.epsilon[0], np.bincount(instance.task_type, minlength=kinds).astype(float)
    first = [int(np.flatnonzero(instance.task_type == kind)[0]) for kind in range(kinds)]
    columns: list[tuple[float, dict[int, float], dict[int, float]]] = []  # cost, equalities, inequalities
    asked: list[tuple[int, int]] = []  # task of the kind and judge of each column, -1 where none is asked
    limits = many + (1 if instance.the_rule.average else kinds)
    row_of: dict[tuple[int, tuple[int, ...]], int] = {}
    for kind in range(kinds):
        most = int(min(instance.max_labels[first[kind]], many))
        every = [v for v in product(range(-1, classes), repeat=many) if sum(x >= 0 for x in v) <= most]
        law = {v: joint(instance, kind, v) for v in every}
        for v in every:
            row_of[kind, v] = len(row_of)
        wrong_row = many if instance.the_rule.average else many + kind
        for v in every:
            mine, whole, before = row_of[kind, v], law[v].sum(), len(columns)
            may_stop = has_enough(instance, first[kind], v)
            if may_stop and is_sure(law[v], epsilon if given_votes else 1.0):
                for answer in range(classes) if class_error else [int(law[v].argmax())]:
                    missed = {limits + 1 + k: law[v][k] / whole for k in range(classes) if k != answer and class_error}
                    columns.append((0.0, {mine: 1.0}, {wrong_row: 1 - law[v][answer] / whole, **missed}))
            if may_stop and expert is not None:
                columns.append((expert, {mine: 1.0}, {}))
            asked += [(first[kind], -1)] * (len(columns) - before)
            for judge in range(many) if sum(x >= 0 for x in v) < most else ():
                if v[judge] < 0:
                    reached = [(*v[:judge], said, *v[judge + 1 :]) for said in range(classes)]
                    ends = {row_of[kind, w]: -law[w].sum() / whole for w in reached}
                    columns.append((instance.cost[kind, judge], {mine: 1.0, **ends}, {judge: 1.0}))
                    asked.append((first[kind], judge))
    equal, below = np.zeros((len(row_of), len(columns))), np.zeros((limits + 1 + classes, len(columns)))
    for k, (price, same, less) in enumerate(columns):
        equal[list(same), k], below[limits, k] = list(same.values()), price
        below[list(less), k] = list(less.values())
    right = np.zeros(len(row_of))
    for kind in range(kinds):
        right[row_of[kind, (-1,) * many]] = count[kind]
    allowed = [epsilon * count.sum()] if instance.the_rule.average else epsilon * count
    money = np.inf if instance.budget is None else instance.budget
    missed = times * np.array(class_error or [np.inf] * classes) * instance.prior * count.sum()
    rows, sides = [below, -below[:many]], [instance.capacity, allowed, [money], missed, -instance.min_load]
    own = instance.own_rows
    for number in range(len(own.names) if own is not None else 0):
        table, mine = np.zeros((instance.n_tasks, many + 1)), own.row == number
        np.add.at(table, tuple(own.pairs[mine].T), own.coefficient[mine])
        taken = table[tuple(np.array(asked).T)]
        rows, sides = [*rows, taken[None], -taken[None]], [*sides, [own.upper[number]], [-own.lower[number]]]
    side = np.concatenate(sides)
    held = np.isfinite(side)
    return _least(below[limits], np.concatenate(rows)[held], side[held], equal, right)


def has_enough(instance: AssignmentInstance, task: int, votes: tuple[int, ...]) -> bool:
    """Whether the task has the labels that it must have."""
    had = {judge for judge, said in enumerate(votes) if said >= 0}
    fixed = set(instance.fixed[instance.fixed[:, 0] == task, 1].tolist())
    groups = all(len(had & set(group.members)) >= group.min_per_task for group in instance.groups)
    return groups and fixed <= had and len(had) >= instance.min_labels[task]


def _least(cost: np.ndarray, rows: np.ndarray, sides: np.ndarray, equal: np.ndarray, right: np.ndarray) -> float:
    for method in (
        "highs",
        "highs-ipm",
    ):  # just out of reach simplex may give up on seed 229, where the other proves it
        found = linprog(cost, A_ub=rows, b_ub=sides, A_eq=equal, b_eq=right, method=method)
        if found.status in (0, 2):
            break
    assert found.status in (0, 2), found.message
    return float(found.fun) if found.status == 0 else np.inf

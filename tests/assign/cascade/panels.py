"""Small panels, and ways of their own to the cheapest adaptive plan: programs over histories of votes, over sets."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from crowdopt import AssignmentInstance, Group, OwnRows
from crowdopt.crowd.law import NONE, Difficulty, Law

EXPERT = 4.0


def drawn(seed: int, judges: int | None = None, only_binary: bool = False) -> AssignmentInstance:
    """A panel of 2 to 5 judges and 2 or 3 classes; hard items, laws of votes, tables, capacities, money, priors."""
    rng = np.random.default_rng(seed)
    classes = 2 if only_binary else int(rng.integers(2, 4))
    many = judges or int(rng.integers(2, 6 if classes == 2 else 5))
    kinds, tasks = int(rng.integers(1, 3)), int(rng.integers(5, 40))
    law = str(rng.choice(["coins", "tables"] if classes > 2 else ["coins", "coins", "tables", "hard", "votes"]))
    one = AssignmentInstance(
        accuracy=rng.uniform(1 / classes, 0.97, (kinds, many)).round(3),
        task_type=np.sort(np.arange(tasks) % kinds),
        capacity=rng.integers(tasks // 2, tasks + 1, many),
        epsilon=float(rng.choice([0.05, 0.1, 0.2, 0.3])),
        rule="mean-error" if classes == 2 and law == "coins" and rng.random() < 0.3 else "exact-error",
        cost=rng.choice([0.2, 0.4, 1.0, 3.0], many),
        classes=classes,
        prior=None if rng.random() < 0.5 else rng.dirichlet(np.full(classes, 8.0)),
        difficulty=Difficulty(share=0.2, hard=0.3) if law == "hard" else NONE,
        vote_law=Law.votes("drawn", np.array([0.7, 0.3]), rng.uniform(0.4, 1, (2, many))) if law == "votes" else None,
        max_labels=None if rng.random() < 0.7 else np.full(tasks, many - 1),
        budget=float(rng.uniform(1, 4) * tasks) if rng.random() < 0.3 else None,
    )
    if law == "tables":
        one = one.with_confusion(rng.dirichlet(np.full(classes, 0.7), (kinds, many, classes)) * 0.98 + 0.02 / classes)
    return one


def limited(seed: int) -> AssignmentInstance:
    """A panel of three judges and two classes with labels that must be had, shares of groups and own rows."""
    rng, one = np.random.default_rng(seed), drawn(seed, judges=3, only_binary=True)
    limits, last = {}, np.flatnonzero(one.task_type == one.n_types - 1)
    if rng.random() < 0.4 and last.size <= one.capacity[1]:
        limits["fixed"] = [(i, 1) for i in last.tolist()]
    if rng.random() < 0.4:
        most = int(min(one.max_labels.max(), 3))
        limits["min_labels"] = np.where(one.task_type == 0, rng.integers(1, most + 1), 0)
    if rng.random() < 0.6:
        share = {"min_share": 0.3} if rng.random() < 0.5 else {"max_share": 0.8}
        limits["groups"] = [Group("g", [0, 2], min_per_task=int(rng.integers(2)), **share)]
    return with_rows(rng, replace(one, **limits))


def skilled(seed: int, judges: int | None = None) -> AssignmentInstance:
    """A panel of two classes, with independent votes and the limits that orders know."""
    rng, one = np.random.default_rng(seed), drawn(seed, judges, only_binary=True)
    groups = [Group("g", [0, one.n_workers - 1], max_per_task=1)] if rng.random() < 0.3 else []
    return with_rows(rng, replace(one, difficulty=NONE, vote_law=None, groups=groups))


def with_rows(rng: np.random.Generator, one: AssignmentInstance) -> AssignmentInstance:
    """Fewest tasks of workers, and a row of the user's own."""
    if rng.random() < 0.4:
        one = replace(one, min_load=(rng.uniform(0, 0.5, one.n_workers) * one.capacity).astype(int))
    if rng.random() < 0.5:
        pairs = np.array(list(product(range(one.n_tasks), range(one.n_workers))))
        entries = rng.uniform(-0.5, 2, one.accuracy.shape).round(2)[one.task_type].reshape(-1)
        side = float(rng.uniform(0.3, 0.9) * one.n_tasks)
        ends = (-np.inf, side) if rng.random() < 0.5 else (side / 2, np.inf)
        one = replace(one, own_rows=OwnRows(["mine"], [0] * len(pairs), pairs, entries, [ends[0]], [ends[1]]))
    return one


def chances(one: AssignmentInstance, kind: int, true: int) -> list[tuple[float, np.ndarray]]:
    """Each part's share, and chances of labels where a class is true, (judges, labels)."""
    if one.confusion is not None:
        return [(1.0, one.confusion[kind, :, true])]
    right, hard = one.accuracy[kind], one.difficulty
    parts = [(1 - hard.share, right), (hard.share, 0.5 + hard.left * (right - 0.5))] if hard.share else [(1.0, right)]
    if one.vote_law is not None:
        parts = list(zip(one.vote_law.share, one.vote_law.accuracy, strict=True))
    of_label = np.arange(one.classes) == true
    return [(share, np.where(of_label, p[:, None], (1 - p[:, None]) / (one.classes - 1))) for share, p in parts]


def joint(one: AssignmentInstance, kind: int, votes: tuple[int, ...]) -> np.ndarray:
    """P(votes, class); a vote is the class it says, or -1 where there is none."""
    had = [(judge, said) for judge, said in enumerate(votes) if said >= 0]
    every = [
        [share * np.prod([p[vote] for vote in had]) for share, p in chances(one, kind, k)] for k in range(one.classes)
    ]
    return one.prior * np.array(every).sum(axis=1)


def least_by_histories(
    one: AssignmentInstance,
    expert: float | None = None,
    times: float = 1.0,
    given_votes: bool = False,
    class_error: tuple[float, ...] = (),
) -> float:
    """The program over histories, orders of votes told apart: larger than it need be, and written another way.

    class_error: of the tasks of each class, the share that may be answered otherwise.
    """
    many, classes, kinds = one.n_workers, int(one.classes), one.n_types
    epsilon, count = times * one.epsilon[0], np.bincount(one.task_type, minlength=kinds).astype(float)
    first = [int(np.flatnonzero(one.task_type == kind)[0]) for kind in range(kinds)]
    uses, sides = limits_of_labels(one, first)
    wrong, labels = epsilon * (count.sum(keepdims=True) if one.the_rule.average else count), len(sides)
    missed = times * np.array(class_error) * one.prior[: len(class_error)] * count.sum()
    sides = np.concatenate([sides, wrong, missed])
    columns: list[tuple[float, dict[tuple, float], np.ndarray]] = []  # cost, uses of states, uses of limits
    starts = {}
    for kind, task in enumerate(first):
        most = int(min(one.max_labels[task], many))
        for v in product(range(-1, classes), repeat=many):
            had, law = {j for j in range(many) if v[j] >= 0}, joint(one, kind, v)
            if len(had) > most or law.sum() <= 0:
                continue
            starts[kind, v] = 0.0 if had else count[kind]
            share = law / law.sum()
            for answer in range(classes) if class_error else [int(law.argmax())]:
                if has_enough(one, task, had) and not (given_votes and 1 - share[answer] > epsilon * (1 + 1e-9)):
                    row = np.zeros(sides.size)
                    row[labels + (0 if one.the_rule.average else kind)] = 1 - share[answer]
                    row[labels + wrong.size :] = np.where(np.arange(classes) == answer, 0.0, share)[: missed.size]
                    columns.append((0.0, {(kind, v): 1.0}, row))
            if has_enough(one, task, had) and expert is not None:
                columns.append((expert, {(kind, v): 1.0}, np.where(np.arange(sides.size) == 0, expert, 0.0)))
            for j in set(range(many)) - had if len(had) < most else ():
                ends = {w: joint(one, kind, w).sum() for w in ((*v[:j], k, *v[j + 1 :]) for k in range(classes))}
                onward = {(kind, w): -chance / law.sum() for w, chance in ends.items() if chance > 0}
                row = np.append(uses[:, kind, j], np.zeros(sides.size - labels))
                columns.append((float(one.cost[kind, j]), {(kind, v): 1.0, **onward}, row))
    place, same = {name: k for k, name in enumerate(starts)}, np.zeros((len(starts), len(columns)))
    for k, (_, of_states, _) in enumerate(columns):
        for name, entry in of_states.items():
            same[place[name], k] = entry
    cost, right, known = np.array([price for price, *_ in columns]), np.array(list(starts.values())), np.isfinite(sides)
    less, sides = np.array([row for *_, row in columns]).T[known], sides[known]
    found = linprog(cost, less, sides, same, right)
    if found.status in (0, 2):
        return float(found.fun) if found.status == 0 else np.inf
    # just out of reach HiGHS may not know: then some side has to give way
    spare, none = np.repeat([0.0, 1.0], [cost.size, sides.size]), np.zeros((len(starts), sides.size))
    short = linprog(spare, np.hstack([less, -np.eye(sides.size)]), sides, np.hstack([same, none]), right)
    assert short.status == 0 and short.fun > 1e-6, (found.message, short.message)
    return np.inf


def limits_of_labels(one: AssignmentInstance, first: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """What a label of each kind and judge uses of each limit, (limits, kinds, judges), money first; the limits' sides.

    first: a task of each kind.
    """
    every = np.broadcast_to(np.eye(one.n_workers)[:, None], (one.n_workers, one.n_types, one.n_workers))
    uses, sides = [one.cost, *every, *-every], [one.budget or np.inf, *one.capacity, *-one.min_load]
    for group in one.groups:
        inside = np.isin(np.arange(one.n_workers), group.members) * np.ones((one.n_types, 1))
        uses += [inside - group.max_share, group.min_share - inside]
        sides += [0.0, 0.0]
    if one.own_rows is not None:
        entries = np.zeros((one.n_tasks, one.n_workers))
        np.add.at(entries, tuple(one.own_rows.pairs.T), one.own_rows.coefficient)
        uses += [entries[first], -entries[first]]
        sides += [one.own_rows.upper[0], -one.own_rows.lower[0]]
    return np.array(uses), np.array(sides, float)


def has_enough(one: AssignmentInstance, task: int, had: set[int]) -> bool:
    """Whether the task has the labels that it must have."""
    fixed = set(one.fixed[one.fixed[:, 0] == task, 1].tolist())
    groups = all(len(had & set(group.members)) >= group.min_per_task for group in one.groups)
    return groups and fixed <= had and len(had) >= one.min_labels[task]


def set_error(one: AssignmentInstance, kind: int, judges: tuple[int, ...], had: dict[int, int] | None = None) -> float:
    """Error of the likeliest class after these judges' votes, before they are seen; had: labels that are in."""
    start, wrong = [(had or {}).get(judge, -1) for judge in range(one.n_workers)], 0.0
    for said in product(range(int(one.classes)), repeat=len(judges)):
        votes = list(start)
        for judge, label in zip(judges, said, strict=True):
            votes[judge] = label
        law = joint(one, kind, tuple(votes))
        wrong += law.sum() - law.max()
    return float(wrong / joint(one, kind, tuple(start)).sum())


def least_of_sets(one: AssignmentInstance, times: float = 1.0) -> float:
    """The cheapest whole numbers of tasks with sets that each keep the target; inf where there are none."""
    found = []
    for kind in range(one.n_types):
        most = int(min(one.max_labels[one.task_type == kind][0], one.n_workers))
        for judges in (some for size in range(most + 1) for some in combinations(range(one.n_workers), size)):
            if set_error(one, kind, judges) <= times * one.epsilon[0] * (1 + 1e-9):
                price = sum(one.cost[kind, judge] for judge in judges)
                found.append([price, *np.isin(range(one.n_workers), judges), *(np.arange(one.n_types) == kind)])
    rows, count = np.array(found, float).T, np.bincount(one.task_type, minlength=one.n_types)
    if not found or not rows[-one.n_types :].any(axis=1).all():
        return np.inf
    high = [np.inf if one.budget is None else one.budget, *one.capacity, *count]
    limits = LinearConstraint(rows, [-np.inf] * (1 + one.n_workers) + count.tolist(), high)
    done = milp(rows[0], constraints=limits, integrality=np.ones(len(found)), bounds=Bounds(0, np.inf))
    return float(done.fun) if done.success else np.inf

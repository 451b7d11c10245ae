"""Campaigns of any size with limits drawn together, each made around a hidden plan that keeps them all.

``campaign(7, 40, 15)`` draws a rule and one to four WISHES by the seed, ``campaign(7, 40, 15, "probit budget fixed")``
asks for those, ``campaign(7, 3, 5, "", accuracy=table)`` for none, with fields as stated; ``planned(...)`` also has the
plan. In a test by hypothesis: ``@given(campaigns(12))``, of up to 12 pairs, some spoiled: perhaps without a plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, Group, OwnRows
from tests.checkers.plans import broken, priors, promised, worth

Rng = np.random.Generator
Wishes = tuple[str, ...]
RULES = ("exact-error", "bhattacharyya", "hoeffding", "probit")  # mean-error only where it is asked for
WISHES = ("forbidden", "fixed", "collected", "least-labels", "most-labels", "least-loads", "budget", "own-row")
WISHES += ("most-per-task", "least-per-task", "most-share", "least-share", "overlapping", "families")
WISHES += ("families-of-several", "targets", "classes", "prior", "priors", "difficulty", "prices", "prices-by-type")
CLASHES = {  # with any of the others: refused by the package, or one in place of the other
    "hoeffding": "classes prior priors difficulty",
    "probit": "classes prior priors difficulty families-of-several",
    "exact-error": "families-of-several",
    "mean-error": "difficulty families-of-several",
    "difficulty": "bhattacharyya classes families-of-several",
    "families": "families-of-several",
    "prior": "priors",
    "prices": "prices-by-type",
}
SKILLS = {  # about how many labels a task takes; accuracies lie between; kinds of tasks, and of workers (0: all differ)
    "three": (3, 0.78, 0.97, 4, 6),
    "six": (6, 0.68, 0.92, 4, 5),
    "twelve": (12, 0.62, 0.84, 4, 4),
    "three-own": (3, 0.72, 0.97, 2, 0),
    "six-own": (6, 0.62, 0.92, 2, 0),
    "each": (3, 0.3, 0.97, 10**9, 0),  # every task its own accuracies, some below chance
}
OWN = 10_000  # pairs up to which all workers may differ
ATTEMPTS, BETTER = 40, 0.9  # errors of a crowd that is too weak for what is asked, at each further attempt
DEEP, FIRST, LARGEST = 30, 1e6, 0.45  # labels beyond those of the skills; a key; target


class NotDealt(ValueError):
    """What is asked together leaves no plan that could be dealt."""


@dataclass(frozen=True)
class Planned:
    """A campaign, the plan that it was made around, (k, 2), None where it was spoiled; its wishes and skills."""

    instance: AssignmentInstance
    plan: np.ndarray | None
    wishes: Wishes
    skills: str


def campaign(seed: int | Rng, *asked: Any, **given: Any) -> AssignmentInstance:
    """A campaign that has a plan (see ``planned``)."""
    return planned(seed, *asked, **given).instance


def planned(
    seed: int | Rng,
    tasks: int = 4,
    workers: int = 5,
    wishes: str | Iterable[str] | None = None,
    *,
    skills: str | None = None,
    spoiled: bool = False,
    **given: Any,
) -> Planned:
    """A campaign and its plan.

    Parameters
    ----------
    seed : int or Generator
    tasks, workers : int
    wishes : str or iterable of str, optional
        A rule (bhattacharyya) and names of WISHES; drawn where not given.
    skills : str, optional
        Of SKILLS; drawn where not given.
    spoiled : bool
        Whether it is then tightened, so that it may have no plan.
    given
        Fields of the instance that the plan is dealt by, such as accuracy, rule, cost, groups.
    """
    rng = np.random.default_rng(seed)
    skills = skills or str(rng.choice([name for name, of in SKILLS.items() if of[-1] or tasks * workers <= OWN]))
    asked = _drawn(rng, skills) if wishes is None else tuple(wishes.split() if isinstance(wishes, str) else wishes)
    for attempt in range(ATTEMPTS):
        stated = _stated(skills, tasks, workers, asked, attempt, rng) | given
        dealt = _deal(AssignmentInstance(**stated), SKILLS[skills][0], asked, rng)
        if dealt is None:
            continue
        one, plan = _fitted(*dealt, asked, rng)
        if not broken(one, plan):
            one = _spoiled(one, rng) if spoiled else one
            return Planned(one, None if broken(one, plan) else plan, asked, skills)
    raise NotDealt(f"no plan could be dealt: seed {seed}, {tasks}x{workers}, {skills}, {' '.join(asked)}")


def clash(wishes: Iterable[str]) -> bool:
    """Whether two of them cannot be had together."""
    some = set(wishes)
    return len(some & {*RULES, "mean-error"}) > 1 or any(
        one in some and some & {*CLASHES[one].split()} for one in CLASHES
    )


def _drawn(rng: Rng, skills: str) -> Wishes:
    while True:
        found = (str(rng.choice(RULES)), *rng.choice(WISHES, int(rng.integers(1, 5)), replace=False).tolist())
        long = skills.startswith("twelve") and {"exact-error", "classes"} <= set(found)  # outcomes for the checker
        if not clash(found) and not long:
            return found


def _stated(skills: str, n: int, m: int, asked: Wishes, attempt: int, rng: Rng) -> dict[str, Any]:
    """What a plan is dealt by."""
    labels, low, high, kinds, pools = SKILLS[skills]
    kinds, pool = min(kinds, n), rng.integers(0, pools, m) if pools else np.arange(m)
    skill = rng.uniform(low, high, (kinds, max(m, pools)))[:, pool]
    accuracy = np.round(1 - (1 - skill) * BETTER**attempt, 3)
    classes = int(rng.integers(3, 5)) if "classes" in asked else 2
    rule = next((name for name in asked if name in (*RULES, "mean-error")), "bhattacharyya")
    found = {"accuracy": accuracy, "capacity": np.full(m, n), "epsilon": 0.4, "classes": classes}
    found["task_type"] = np.arange(n) if kinds == n else rng.integers(0, kinds, n)
    found["rule"] = "exact-error" if "difficulty" in asked else rule
    found["groups"] = _groups(max(1, round(0.3 * min(labels, m - 1)) - attempt // 4), m, asked, rng)
    if "prior" in asked or "priors" in asked:
        found["prior"] = rng.dirichlet(np.full(classes, 6.0), n if "priors" in asked else None)
    if "difficulty" in asked:
        found["difficulty"] = float(rng.uniform(0.02, 0.2)), float(rng.uniform(0.5, 0.9))
    if "forbidden" in asked:
        found["forbidden"] = np.argwhere(rng.random((n, m)) < rng.uniform(0.02, 0.15))
    if "prices" in asked:
        found["cost"] = rng.integers(1, 6, m) if rng.random() < 0.5 else np.round(rng.uniform(0.5, 2, m), 2)
    if "prices-by-type" in asked:
        found["cost"] = np.round(0.5 + 3 * np.clip(accuracy + rng.normal(0, 0.05, accuracy.shape) - low, 0, 1), 2)
    return found


def _groups(few: int, m: int, asked: Wishes, rng: Rng) -> list[Group]:
    """Groups with limits of single tasks, a few labels of each; shares come from the hidden plan."""

    def some() -> Any:
        return rng.permutation(m)[: max(1, round(m * rng.uniform(0.25, 0.5)))].tolist()

    def parts(size: int) -> Any:
        size = max(2, min(size, m // 12)) if m > 5 else min(2, m)
        return rng.permutation(m)[: m // size * size].reshape(-1, size).tolist()

    found: list[dict[str, Any]] = []
    if "most-per-task" in asked and rng.random() < 0.5:
        found.append({"members": some(), "max_per_task": few})
    elif "most-per-task" in asked:
        found += [{"members": part, "max_per_task": 1} for part in parts(8)]
    if "least-per-task" in asked:
        members = some()
        found.append({"members": members, "min_per_task": 1 if m < 10 else min(few, len(members))})
    if "overlapping" in asked:
        first, second = some(), some()
        found.append({"members": [*first, second[0]], "max_per_task": few + 1})
        found.append({"members": second, "max_per_task": few})
    if "families" in asked:
        found += [{"members": part, "dependent": True} for part in parts(4)]
    if "families-of-several" in asked:
        found += [{"members": part, "dependent": True, "max_per_task": 2} for part in parts(6)]
    return [Group(f"g{k}", **group) for k, group in enumerate(found)]


def _deal(
    one: AssignmentInstance, labels: int, asked: Wishes, rng: Rng
) -> tuple[AssignmentInstance, np.ndarray] | None:
    """Targets, and a plan (tasks, workers): random workers for each task, rather good ones, until its target is kept.

    None where a task cannot be served.
    """
    order, length = _order(one, labels, rng)
    n, m = one.n_tasks, one.n_workers
    about = min(labels, max(1, round(0.6 * m)), max(1, round(0.8 * float(np.median(length)))))
    wanted = np.clip(about + rng.integers(-1, 2, n), 1, np.maximum(1, length))
    kept = promised(one, np.arange(n), _first(order, wanted, m))
    found = kept * rng.uniform(1.0, 1.3, n) if "targets" in asked else np.full(n, np.median(kept))
    digits = 10.0 ** (np.floor(np.log10(np.maximum(found, 1e-9))) - 1)
    most = min(LARGEST, 0.8 * float(np.median(1 - priors(one).max(axis=1))))
    one = replace(one, epsilon=np.clip(np.ceil(found / digits) * digits, 1e-6, most))
    count = np.full(n, sum(group.min_per_task for group in one.groups))
    if "least-labels" in asked:
        least = np.minimum(min(labels + int(rng.integers(0, 2)), m - 1), length)
        one, count = replace(one, min_labels=least), np.maximum(count, least)
    waiting = np.arange(n)
    while waiting.size:
        short = promised(one, waiting, _first(order[waiting], count[waiting], m)) > one.epsilon[waiting]
        waiting = waiting[short]
        count[waiting] += 1
        if (count > length).any():
            return None
    return one, _first(order, count, m)


def _order(one: AssignmentInstance, labels: int, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Workers of each task, one after another as groups let them, and how many there are."""
    keys = rng.uniform(0.5, 2.5) * np.log(np.maximum(worth(one) / one.cost, 1e-12))[one.task_type]
    keys += rng.gumbel(size=keys.shape)
    keys[tuple(one.forbidden.T)] = -np.inf
    for group in one.groups:  # those who are owed come first
        best = np.array(group.members)[np.argsort(-keys[:, group.members], axis=1)[:, : group.min_per_task]]
        np.put_along_axis(keys, best, FIRST + np.take_along_axis(keys, best, axis=1), axis=1)
    ranked = np.argsort(-keys, axis=1)[:, : 3 * labels + DEEP]
    able = np.take_along_axis(keys, ranked, axis=1) > -np.inf
    for group in one.groups:
        if group.max_per_task is not None:
            inside = np.isin(ranked, group.members) & able
            able &= ~(inside & (np.cumsum(inside, axis=1) > group.max_per_task))
    return np.take_along_axis(ranked, np.argsort(~able, axis=1, kind="stable"), axis=1), able.sum(axis=1)


def _first(order: np.ndarray, count: np.ndarray, m: int) -> np.ndarray:
    """The first workers of each task."""
    rows, places = np.nonzero(np.arange(order.shape[1]) < count[:, None])
    found = np.zeros((len(order), m), bool)
    found[rows, order[rows, places]] = True
    return found


def _fitted(
    one: AssignmentInstance, plan: np.ndarray, asked: Wishes, rng: Rng
) -> tuple[AssignmentInstance, np.ndarray]:
    """Limits that the plan keeps, some of them barely; the plan as pairs, without the labels that are in."""
    (n, m), limits = plan.shape, dict[str, Any]()
    if "most-labels" in asked:
        limits["max_labels"] = np.maximum(1, plan.sum(axis=1) + rng.integers(0, 2, n))
    limits["groups"] = [*one.groups, *_shares(one, plan, asked, rng)]
    done = plan & (rng.random(plan.shape) < rng.uniform(0.1, 0.4)) & ("collected" in asked)
    new, limits["collected"] = plan & ~done, np.argwhere(done)
    load = new.sum(axis=0)
    own = np.ceil(load * rng.uniform(1, rng.uniform(1.1, 2), m)).astype(int) + rng.integers(0, 2, m)
    limits["capacity"] = own if rng.random() < 0.6 else np.full(m, load.max())
    if "least-loads" in asked:
        limits["min_load"] = np.floor(load * rng.uniform(0.3, 1.0, m)).astype(int)
    if "fixed" in asked:
        limits["fixed"] = np.argwhere(new & (rng.random(new.shape) < rng.uniform(0.02, 0.2)))
    if "budget" in asked:
        limits["budget"] = float(np.ceil(one.cost[one.task_type][new].sum() * rng.uniform(1.0, 1.05)))
    if "own-row" in asked:
        value = rng.integers(-1, 4, (n, m)) * np.outer(rng.random(n) < 0.5, rng.random(m) < 0.3)
        value[0, 0] = 1  # a row has an entry
        total, pairs = float(value[new].sum()), np.argwhere(value)
        slack = np.ceil(0.02 * abs(total))
        sides = np.array([rng.choice([-np.inf, total - slack])]), np.array([total + slack])
        limits["own_rows"] = OwnRows(["own"], np.zeros(len(pairs), int), pairs, value[value != 0] * 1.0, *sides)
    return replace(one, **limits), np.argwhere(new)


def _shares(one: AssignmentInstance, plan: np.ndarray, asked: Wishes, rng: Rng) -> list[Group]:
    """At most a share of those whom a cheap plan wants, at least one of those whom it does not."""
    order = np.argsort(-(worth(one) / one.cost).mean(axis=0) * rng.uniform(0.8, 1.2, one.n_workers), kind="stable")
    part = max(1, round(one.n_workers * rng.uniform(0.2, 0.4)))
    best, worst = order[:part].tolist(), order[-part:].tolist()
    high, low = (100 * plan[:, some].sum() / max(1, plan.sum()) for some in (best, worst))
    most = Group("best", best, max_share=min(1.0, float(np.ceil(high)) / 100))
    least = Group("worst", worst, min_share=float(np.floor(low)) / 100)
    return [most] * ("most-share" in asked) + [least] * ("least-share" in asked)


def _spoiled(one: AssignmentInstance, rng: Rng) -> AssignmentInstance:
    """Less room, or less error, a few times."""
    fixed = np.bincount(one.fixed[:, 1], minlength=one.n_workers)
    for _ in range(int(rng.integers(0, 4))):
        slack = one.capacity - np.maximum(one.min_load, fixed)
        if rng.random() < 0.5 and slack.max() > 0:
            one = replace(one, capacity=one.capacity - (np.arange(one.n_workers) == slack.argmax()))
        else:
            one = replace(one, epsilon=one.epsilon * 0.85)
    return one


@st.composite
def campaigns(draw: Any, most_pairs: int = 12, rules: Any = RULES, wishes: Any = WISHES, **given: Any) -> Any:
    """Small campaigns for brute force, of these rules, with up to four of these wishes; some spoiled if not said."""
    n = draw(st.integers(1, 4))
    m = draw(st.integers(1, max(1, most_pairs // n)))
    asked = st.tuples(st.sampled_from(rules), st.sets(st.sampled_from([*wishes, ""]), max_size=4))
    rule, some = draw(asked.filter(lambda both: not clash((both[0], *both[1]))))
    given = {"spoiled": draw(st.booleans())} | given
    try:
        return campaign(draw(st.integers(0, 2**31)), n, m, (rule, *sorted(some)), **given)
    except NotDealt:
        reject()

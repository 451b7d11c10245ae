"""Campaigns with features drawn together, made around a hidden plan: nothing here imports the package.

What a plan is dealt from comes first (skills, prices, forbidden pairs, groups, the rule), then the plan, then the
limits that it keeps: so there is a plan, whatever is drawn together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.combinations.checker import Campaign, as_pairs, broken, costs, worths
from tests.combinations.crowd_families import FAMILIES, SkillFamily, skills
from tests.combinations.features import rule_of
from tests.combinations.hidden_plan import Deal, deal
from tests.trials.crowd_checker import optimum

ATTEMPTS, BETTER = 40, 0.93  # the errors of a crowd that is too weak for what is asked, at each further attempt
TINY = 20  # pairs up to which every plan is looked at
INFEASIBLE = 10  # one in so many of those has no plan


class NotDealt(ValueError):
    """What is asked together leaves no plan that could be dealt."""


def draw(seed: int, tasks: int, workers: int, family: str, features: tuple[str, ...]) -> Campaign:
    """A campaign as tests/trials/crowd_checker.py has it, with ``hidden``, a plan of it; None where there is none.

    Parameters
    ----------
    seed, tasks, workers : int
    family : str
        Of skills (crowd_families).
    features : tuple of str
        What it asks (features).
    """
    for attempt in range(ATTEMPTS):
        rng = np.random.default_rng([seed, tasks, workers, attempt])
        c = _asked(FAMILIES[family], tasks, workers, features, rng)
        c["groups"] = _groups(FAMILIES[family], workers, features, attempt, rng)
        c["accuracy"] = np.round(1 - (1 - c["accuracy"]) * BETTER**attempt, 3)
        plan = deal(c, Deal.of(FAMILIES[family], features, rng), rng)
        if plan is None:
            continue
        _fit(c, plan, features, rng)
        if not broken(c, c["hidden"]):
            if tasks * workers <= TINY and seed % INFEASIBLE == INFEASIBLE - 1:
                _spoil(c, rng)
            return c
    raise NotDealt(f"no plan could be dealt: seed {seed}, {tasks}x{workers}, {family}, {' '.join(features)}")


def _asked(family: SkillFamily, n: int, m: int, features: tuple[str, ...], rng: np.random.Generator) -> Campaign:
    """What is known before any plan is dealt."""
    accuracy, task_type = skills(family, n, m, rng)
    c: Campaign = {
        "n": n, "m": m, "rule": rule_of(features), "classes": 2, "accuracy": accuracy, "task_type": task_type,
        "cost": np.ones(m), "capacity": np.full(m, n), "epsilon": np.full(n, 0.4), "prior": None, "barred": [],
        "fixed": [], "collected": [], "min_labels": np.zeros(n, int), "max_labels": None, "min_load": np.zeros(m, int),
        "budget": None, "groups": [], "row": None, "hard": None, "hidden": None,
    }  # fmt: skip
    if "classes" in features:
        c["classes"] = int(rng.integers(3, 5))
    if "prior" in features:
        c["prior"] = rng.dirichlet(np.full(c["classes"], 6.0))
    if "priors" in features:
        c["prior"] = rng.dirichlet(np.full(c["classes"], 6.0), n)
    if "difficulty" in features:
        c["hard"] = float(rng.uniform(0.02, 0.2)), float(rng.uniform(0.5, 0.9))
    if "forbidden" in features:
        c["barred"] = np.argwhere(rng.random((n, m)) < rng.uniform(0.02, 0.15))
    if "prices" in features:
        c["cost"] = rng.integers(1, 6, m).astype(float) if rng.random() < 0.5 else np.round(rng.uniform(0.5, 2, m), 2)
    if "prices-by-type" in features:
        kind = accuracy + rng.normal(0, 0.05, accuracy.shape)
        c["cost"] = np.round(0.5 + 3 * np.clip(kind - family.low, 0, 1), 2)
    return c


def _groups(
    family: SkillFamily, m: int, features: tuple[str, ...], attempt: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Groups with limits of single tasks, fewer labels at later attempts; shares come from the hidden plan."""
    groups: list[dict[str, Any]] = []
    few = max(1, round(0.3 * min(family.labels, m - 1)) - attempt // 4)

    def some(low: float = 0.25, high: float = 0.5) -> list[int]:
        return np.sort(rng.permutation(m)[: max(1, round(m * rng.uniform(low, high)))]).tolist()

    if "most-per-task" in features:
        if rng.random() < 0.5:
            groups.append({"members": some(), "max_per_task": few})
        else:
            groups += [{"members": part, "max_per_task": 1} for part in _parts(m, 8, rng)]
    if "least-per-task" in features:
        groups.append({"members": some(0.2, 0.5), "min_per_task": 1 if m < 10 else few})
    if "overlapping" in features:
        first, second = some(0.3, 0.5), some(0.3, 0.5)
        groups.append({"members": sorted({*first, second[0]}), "max_per_task": few + 1})
        groups.append({"members": second, "max_per_task": few, "max_share": 1.0})
    if "families" in features:
        groups += [{"members": part, "dependent": True} for part in _parts(m, 4, rng)]
    if "families-of-several" in features:
        groups += [{"members": part, "dependent": True, "max_per_task": 2} for part in _parts(m, 6, rng)]
    return groups


def _parts(m: int, size: int, rng: np.random.Generator) -> list[list[int]]:
    """Workers apart, about so many in each; in a small crowd fewer."""
    size = max(2, min(size, m // 12)) if m > 5 else 2
    order = rng.permutation(m)
    return [np.sort(order[start : start + size]).tolist() for start in range(0, m - size + 1, size)]


def _fit(c: Campaign, plan: np.ndarray, features: tuple[str, ...], rng: np.random.Generator) -> None:
    """Limits that the plan keeps, some of them barely."""
    count, load = np.bincount(plan[:, 0], minlength=c["n"]), np.bincount(plan[:, 1], minlength=c["m"])
    if "most-labels" in features:
        each = count + rng.integers(0, 2, c["n"])
        c["max_labels"] = np.maximum(1, np.full(c["n"], each.max()) if rng.random() < 0.5 else each)
    _fit_shares(c, plan, features, rng)
    kept = rng.random(len(plan)) < rng.uniform(0.6, 0.9) if "collected" in features else np.ones(len(plan), bool)
    c["collected"], new = plan[~kept], plan[kept]
    load = np.bincount(new[:, 1], minlength=c["m"])
    _fit_loads(c, load, features, rng)
    if "fixed" in features:
        c["fixed"] = new[rng.random(len(new)) < rng.uniform(0.02, 0.1)]
    if "budget" in features:
        c["budget"] = float(np.ceil(costs(c, new).sum() * rng.uniform(1.0, 1.05)))
    if "own-row" in features:
        c["row"] = _row(c, new, rng)
    c["hidden"] = new


def _fit_loads(c: Campaign, load: np.ndarray, features: tuple[str, ...], rng: np.random.Generator) -> None:
    """Room for the plan and a little more: alike for all workers, or to each their own."""
    if rng.random() < 0.4:
        c["capacity"] = np.full(c["m"], load.max())
    else:
        c["capacity"] = np.ceil(load * rng.uniform(1, rng.uniform(1.1, 2), c["m"])).astype(int)
        c["capacity"] += rng.random(c["m"]) < 0.5
    if "least-loads" in features:
        least = (
            np.floor(load * rng.uniform(0.3, 1.0, c["m"])) if rng.random() < 0.5 else np.minimum(load, load.mean() // 2)
        )
        c["min_load"] = least.astype(int)


def _fit_shares(c: Campaign, plan: np.ndarray, features: tuple[str, ...], rng: np.random.Generator) -> None:
    """At most a share of those whom a cheap plan wants, at least one of those whom it does not."""
    value = (worths(c) / c["cost"]).mean(axis=0) * rng.uniform(0.8, 1.2, c["m"])
    order = np.argsort(-value, kind="stable")
    part = max(1, round(c["m"] * rng.uniform(0.2, 0.4)))

    def share(members: Any) -> float:
        return float(np.isin(plan[:, 1], members).sum()) / max(1, len(plan))

    if "most-share" in features:
        best = np.sort(order[:part]).tolist()
        c["groups"].append({"members": best, "max_share": min(1.0, float(np.ceil(100 * share(best)) / 100))})
    if "least-share" in features:
        worst = np.sort(order[-part:]).tolist()
        c["groups"].append({"members": worst, "min_share": float(np.floor(100 * share(worst)) / 100)})
    for group in c["groups"]:
        if "max_share" in group and "max_per_task" in group:
            group["max_share"] = min(1.0, float(np.ceil(100 * share(group["members"])) / 100))


def _row(c: Campaign, plan: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float, float]:
    """Values of some pairs, and sides about what they add up to in the plan."""
    values = rng.integers(-1, 4, (c["n"], c["m"])).astype(float)
    values *= np.outer(rng.random(c["n"]) < 0.5, rng.random(c["m"]) < 0.3)
    values[0, 0] = 1.0  # a row has an entry
    total = float(values[tuple(plan.T)].sum())
    slack = float(np.ceil(0.02 * abs(total)))
    return values, (total - slack if rng.random() < 0.5 else -np.inf), total + slack


def _spoil(c: Campaign, rng: np.random.Generator) -> None:
    """Less room, or less error, until no plan is left; a plan that stays is told so."""
    for _ in range(30):
        busy = int(np.argmax(c["capacity"] - c["min_load"]))
        fixed = np.bincount(as_pairs(c["fixed"])[:, 1], minlength=c["m"])
        if rng.random() < 0.5 and c["capacity"][busy] > max(c["min_load"][busy], fixed[busy]):
            c["capacity"][busy] -= 1
        else:
            c["epsilon"] = c["epsilon"] * 0.8
        if optimum(c) == np.inf:
            break
    if broken(c, c["hidden"]):
        c["hidden"] = None

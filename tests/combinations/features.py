"""What a campaign may ask beside skills, capacities and a target: drawn one to four at a time."""

from __future__ import annotations

import numpy as np

from tests.combinations.crowd_families import FAMILIES, families_of

RULES = ("hoeffding", "probit", "exact-error")  # in place of bhattacharyya
FEATURES = (
    *RULES,
    "classes",
    "targets",
    "prior",
    "priors",
    "forbidden",
    "fixed",
    "collected",
    "least-labels",
    "most-labels",
    "least-loads",
    "prices",
    "prices-by-type",
    "budget",
    "most-per-task",
    "least-per-task",
    "most-share",
    "least-share",
    "overlapping",
    "families",
    "families-of-several",
    "difficulty",
    "own-row",
)
CLASHES = (  # the first with any of the others: refused by the package, or not known to the checker
    {*RULES, "difficulty"},
    {"hoeffding", "classes"},
    {"hoeffding", "prior"},
    {"hoeffding", "priors"},
    {"probit", "classes"},
    {"probit", "prior"},
    {"probit", "priors"},
    {"probit", "families-of-several"},
    {"exact-error", "families-of-several"},
    {"difficulty", "classes"},
    {"difficulty", "families-of-several"},
    {"prior", "priors"},
    {"prices", "prices-by-type"},
    {"families", "families-of-several"},
)
MOST = 4  # at a time


def clash(features: tuple[str, ...]) -> bool:
    """Whether two of them cannot be had together."""
    return any(len(pair & set(features)) > 1 for pair in CLASHES)


def rule_of(features: tuple[str, ...]) -> str:
    """Hard tasks are known to exact errors alone."""
    if "difficulty" in features:
        return "exact-error"
    return next((name for name in RULES if name in features), "bhattacharyya")


def case(seed: int, tasks: int, workers: int) -> tuple[str, tuple[str, ...]]:
    """A family of skills and features for a seed."""
    rng = np.random.default_rng([seed, tasks, workers, 61])
    names = families_of(tasks, workers)
    while True:
        family = names[int(rng.integers(len(names)))]
        count = int(rng.integers(1, MOST + 1))
        features = tuple(sorted(rng.choice(FEATURES, count, replace=False).tolist()))
        long = FAMILIES[family].labels > 6 and rule_of(features) == "exact-error" and "classes" in features
        if not clash(features) and not long:  # too many outcomes for the checker
            return family, features

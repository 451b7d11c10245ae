"""Small instances under exact errors: files with their optima, by brute force in rationals."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.crowd.instance import AssignmentInstance
from tests.models.reading import MODELS

FILES = sorted((MODELS / "tiny" / "exact").glob("*.json"))
RULES = ("exact-error", "mean-error")


def facts_of(path: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


def instance_of(facts: dict[str, Any], rule: str) -> AssignmentInstance:
    prior = facts.get("prior")
    return AssignmentInstance(
        accuracy=np.array(facts["accuracy"], dtype=np.float64),
        task_type=facts["task_type"],
        capacity=facts["capacity"],
        epsilon=float(Fraction(facts["epsilon"])),
        rule=rule,
        cost=np.array(facts.get("cost", 1.0), dtype=np.float64),
        prior=None if prior is None else [1 - float(prior), float(prior)],
        title=facts["title"],
    )


def bayes_error(accuracy: list[Fraction], prior: Fraction) -> Fraction:
    """The error of the best vote: over all ways in which labels fall, the less likely class. No logarithm."""
    total = Fraction(0)
    for bits in product((0, 1), repeat=len(accuracy)):
        yes, no = prior, 1 - prior
        for bit, p in zip(bits, accuracy, strict=True):
            yes, no = yes * (p if bit else 1 - p), no * (1 - p if bit else p)
        total += min(yes, no)
    return total


def optima(facts: dict[str, Any]) -> dict[str, str]:
    """Least costs over every choice of a set of workers for each task, as text; ``infeasible`` where there is none."""
    workers, prior = range(len(facts["capacity"])), Fraction(facts.get("prior", "1/2"))
    target = Fraction(facts["epsilon"])
    crews = [list(chain.from_iterable(combinations(workers, k) for k in range(len(workers) + 1)))] * len(
        facts["task_type"]
    )
    price = [[Fraction(c) for c in row] for row in facts["cost"]] if "cost" in facts else None
    tables: list[dict[tuple[int, ...], tuple[Fraction, Fraction]]] = []
    for kind, sets in zip(facts["task_type"], crews, strict=True):
        p = [Fraction(text) for text in facts["accuracy"][kind]]
        c = price[kind] if price else [Fraction(1)] * len(p)
        tables.append({s: (bayes_error([p[j] for j in s], prior), sum((c[j] for j in s), Fraction(0))) for s in sets})
    best: dict[str, Fraction | None] = dict.fromkeys(RULES)
    for chosen in product(*tables):
        if any(sum(j in s for s in chosen) > facts["capacity"][j] for j in workers):
            continue
        error = [table[s][0] for table, s in zip(tables, chosen, strict=True)]
        cost = sum((table[s][1] for table, s in zip(tables, chosen, strict=True)), Fraction(0))
        holds = {"exact-error": max(error) <= target, "mean-error": sum(error) <= target * len(error)}
        for rule in RULES:
            known = best[rule]
            if holds[rule] and (known is None or cost < known):
                best[rule] = cost
    return {rule: "infeasible" if value is None else str(value) for rule, value in best.items()}

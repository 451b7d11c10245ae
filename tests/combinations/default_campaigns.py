"""Forty large campaigns under the default rule: a plan, how far from the bound, and what linear rules' plans cost.

``python -m tests.combinations.default_campaigns [--seconds 15] [--only SEED] [-o rows.jsonl]`` prints a table.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from time import perf_counter

import numpy as np

from crowdopt import assign
from tests.combinations.crowd_families import families_of
from tests.combinations.drawer import NotDealt, draw
from tests.combinations.features import FEATURES, RULES, clash
from tests.combinations.measured import NEAR, Drawn, Row, measure
from tests.trials.crowd_instance import instance_of

COUNT, SECONDS = 40, 15.0
SIZES = ((300, 25), (600, 60), (1000, 150), (1500, 300), (3000, 800))
LIMITS = tuple(name for name in FEATURES if name not in (*RULES, "classes", "families-of-several"))
LINEAR = ("hoeffding", "bhattacharyya", "probit")
LESS = ("prior", "priors", "classes")  # what hoeffding and probit do not know
WIDEST = 0.05  # gap


@dataclass(frozen=True)
class Compared:
    """A campaign under the default rule, and the cheapest plan of any linear rule with as much time."""

    row: Row
    linear: float | None
    by: str

    @property
    def failures(self) -> list[str]:
        """What it falls short in."""
        row, cost = self.row, inf if self.row.cost is None else self.row.cost
        found = [*row.false, *([row.raised] if row.raised else []), *(["no plan"] if row.cost is None else [])]
        if row.gap is None or row.gap > WIDEST:
            found.append("gap")
        if row.late:
            found.append("late")
        if self.linear is not None and cost > self.linear * (1 + NEAR):
            found.append("dearer than a linear rule's plan")
        return found


def drawn_by_default(seed: int) -> Drawn:
    """A size, a family of skills, one to three limits, and in two of three campaigns more than two classes."""
    tasks, workers = SIZES[seed % len(SIZES)]
    rng = np.random.default_rng([seed, tasks, workers, 38])
    names = families_of(tasks, workers)
    while True:
        family = names[int(rng.integers(len(names)))]
        some = rng.choice(LIMITS, int(rng.integers(1, 4)), replace=False).tolist()
        classes = ["classes"] if rng.random() < 2 / 3 else []
        features = tuple(sorted([*some, *classes, "exact-error"]))
        hard = "difficulty" in some
        features = tuple(name for name in features if not (hard and name == "exact-error"))
        if not clash(features) and not (classes and family.startswith("twelve")):  # too many outcomes
            return seed, tasks, workers, family, features


def compare_rules(one: Drawn, seconds: float) -> Compared:
    """Plan by the default rule and by each linear rule that the campaign can be stated in."""
    row, linear, by = measure(one, seconds, folders=False), inf, ""
    seed, n, m, family, features = one
    instance = instance_of(draw(seed, n, m, family, features))
    for rule in LINEAR:
        if "difficulty" in features or (rule != "bhattacharyya" and set(LESS) & set(features)):
            continue
        plan = assign(replace(instance, rule=rule), time_limit=seconds, strict=True)
        if plan.found and plan.objective < linear:
            linear, by = plan.objective, rule
    return Compared(row, linear if linear < inf else None, by)


def line(one: Compared) -> str:
    """One row of the table."""
    row = one.row
    numbers = ["–" if value is None else f"{value:.6g}" for value in (row.cost, row.bound)]
    gap = "–" if row.gap is None else f"{100 * row.gap:.2f} %"
    linear = "–" if one.linear is None else f"{one.linear:.6g} ({one.by})"
    cells = [f"{row.seed}", row.size, row.family, ", ".join(row.features), *numbers, gap, linear, f"{row.seconds:.1f}"]
    return f"| {' | '.join(cells)} | {'; '.join(one.failures)} |"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--only", type=int, action="append", help="this seed alone; may be given several times")
    parser.add_argument("-o", "--output", help="JSON lines to append to")
    asked = parser.parse_args()
    for features in ((), ("hoeffding",), ("probit",), ("exact-error",), ("classes", "exact-error"), ("difficulty",)):
        measure((0, 40, 15, "three", features), 3.0, False)  # compiled, or loaded
    print("| seed | size | skills | features | cost | bound | gap | linear rule | seconds | fails |\n|" + "---|" * 10)
    every = []
    started = perf_counter()
    for seed in asked.only or range(asked.count):
        try:
            one = compare_rules(drawn_by_default(seed), asked.seconds)
        except NotDealt as error:
            print(f"| {seed} | {error} |", flush=True)
            continue
        every.append(one)
        print(line(one), flush=True)
        if asked.output:
            with Path(asked.output).open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(one)) + "\n")
    failed = sum(bool(one.failures) for one in every)
    print(f"\n{len(every) - failed} of {len(every)} hold, in {perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()

"""What was known of 25 campaigns: ``python -m tests.combinations.golden`` makes golden.json, or betters it.

Every rule, every limit and the sizes up to 300 x 25. A plan that costs more than the one kept here is a loss; a bound
above the cost of a plan that is kept here is false, and so is a plan that costs less than a bound kept here.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tests.combinations.measured import Drawn, Row, measure

PATH = Path(__file__).with_name("golden.json")
SECONDS = 10.0
DIGITS = 6  # kept of costs and bounds
CAMPAIGNS = (  # size, family, features; the seed is the place
    ("3x5", "three", "exact-error forbidden"),
    ("3x5", "six-own", "difficulty budget"),
    ("3x5", "six", "hoeffding least-loads most-per-task"),
    ("3x5", "twelve", "classes priors fixed"),
    ("3x5", "three-own", "probit collected"),
    ("40x15", "three", "hoeffding fixed most-labels"),
    ("40x15", "six", "probit least-share"),
    ("40x15", "twelve", "exact-error most-per-task"),
    ("40x15", "three-own", "classes exact-error targets"),
    ("40x15", "six-own", "priors prices least-labels"),
    ("40x15", "six", "difficulty prices-by-type"),
    ("40x15", "three", "families-of-several own-row"),
    ("40x15", "six", "overlapping collected least-loads"),
    ("40x15", "three", "families budget forbidden prior"),
    ("40x15", "six-own", "most-share least-per-task"),
    ("300x25", "three", "hoeffding targets"),
    ("300x25", "six", "probit most-labels prices"),
    ("300x25", "twelve", "exact-error least-share"),
    ("300x25", "three", "classes exact-error forbidden"),
    ("300x25", "six", "difficulty collected"),
    ("300x25", "twelve", "least-labels most-labels most-share"),
    ("300x25", "three-own", "prices-by-type fixed budget"),
    ("300x25", "six", "families overlapping least-per-task"),
    ("300x25", "six", "prior least-loads"),
    ("300x25", "three", "own-row most-per-task priors"),
)


def one(place: int) -> Drawn:
    """The campaign of a place."""
    size, family, features = CAMPAIGNS[place]
    tasks, workers = map(int, size.split("x"))
    return place, tasks, workers, family, tuple(features.split())


def kept() -> list[dict]:
    """Cost, bound and status of each, as they stand in the file."""
    return json.loads(PATH.read_text(encoding="utf-8"))


def _better(row: Row, old: dict) -> dict:
    """The cheaper plan and the higher bound."""
    if row.false or row.raised or (row.lacking and not old):
        raise SystemExit(f"{row}: nothing is kept of a campaign without a plan, or of which something false is said")
    costs = [cost for cost in (row.cost, old.get("cost")) if cost is not None]
    bounds = [bound for bound in (row.bound, old.get("bound")) if bound is not None]
    status = "optimal" if "optimal" in (row.status, old.get("status")) else row.status
    return {"cost": round(min(costs), DIGITS), "bound": round(max(bounds), DIGITS), "status": status}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.combinations.golden", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit of each")
    seconds = parser.parse_args().seconds
    old = kept() if PATH.exists() else [{}] * len(CAMPAIGNS)
    new = [_better(measure(one(place), seconds), old[place]) for place in range(len(CAMPAIGNS))]
    lines = ",\n".join(json.dumps(entry) for entry in new)
    PATH.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(PATH.read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main()

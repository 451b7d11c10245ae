"""What looking at answers saves: the panel of crowdopt/assign/judges.md, cost against error for rounds of votes.

    python benchmarks/cascade.py [--picture benchmarks/pictures/cascade.svg]

Every plan is solved, written, verified by the second opinion, and proven optimal; else this stops.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import crowdopt
from crowdopt.api.explain_rounds import FACTORS, ROUNDS, CostOfRounds
from crowdopt.report.charts import save
from crowdopt.report.rounds_chart import cost_of_rounds

GOLD = {  # right answers of 50
    "large": (47, 49, 120, 3.0),
    "medium": (45, 44, 240, 1.0),
    "small": (38, 43, 240, 0.4),
    "tiny": (33, 41, 240, 0.2),
}


def panel(place):
    """The campaign of the page."""
    place.mkdir()
    gold = [f"{name},{kind},{row[k]},50" for name, row in GOLD.items() for k, kind in enumerate(("code", "facts"))]
    workers = [f"{name},{row[2]},{row[3]}" for name, row in GOLD.items()]
    tasks = [f"item-{i},{'facts' if i % 3 else 'code'}" for i in range(1, 241)]
    for name, header, rows in (
        ("gold", "worker,type,correct,asked", gold),
        ("workers", "worker,capacity,price", workers),
        ("tasks", "task,type", tasks),
    ):
        (place / f"{name}.csv").write_text("\n".join([header, *rows]) + "\n")
    (place / "campaign.toml").write_text('epsilon = 0.05\nrule = "exact-error"\n')
    return place


def row(campaign, rounds, factor):
    """The proven plan of so many rounds at so many times the target."""
    plan = crowdopt.assign(campaign, adaptive=True, rounds=rounds, epsilon=0.05 * factor)
    if not plan.found:
        return None
    assert plan.proven and crowdopt.verify(campaign, plan).proven
    return CostOfRounds(rounds, factor, plan.objective, plan.calls, plan.bound)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--picture", type=Path)
    chosen = parser.parse_args()
    with TemporaryDirectory() as place:
        campaign = panel(Path(place) / "judges")
        rows = [row(campaign, rounds, factor) for rounds in ROUNDS for factor in FACTORS]
    rows = [one for one in rows if one is not None]
    print("| target | " + " | ".join(dict.fromkeys(one.name for one in rows)) + " |")
    print("|---|" + "---|" * len(ROUNDS))
    for factor in FACTORS:
        costs = [
            next((f"{one.cost:.1f}" for one in rows if (one.rounds, one.factor) == (r, factor)), "–") for r in ROUNDS
        ]
        print(f"| {100 * 0.05 * factor:g} % | " + " | ".join(costs) + " |")
    assert np.isfinite([one.bound for one in rows]).all()
    if chosen.picture is not None:
        drawn = [one for one in rows if one.rounds != 5]
        save(cost_of_rounds([(one.name, 0.05 * one.factor, one.cost) for one in drawn]), chosen.picture)


if __name__ == "__main__":
    main()

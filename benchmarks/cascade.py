"""What looking at answers saves: the panel of crowdopt/assign/judges.md, cost against error for rounds of votes.

    python benchmarks/cascade.py [--picture benchmarks/pictures/cascade.svg] [--campaigns 20]

With ``--campaigns`` whole campaigns are rehearsed, solved again after every round with what is left of each capacity.
Every plan is solved, written, verified by the second opinion, and proven optimal; else this stops.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import crowdopt
from crowdopt import Adaptive
from crowdopt.pages.charts import cost_of_rounds, save
from crowdopt.verbs.explain import FACTORS, ROUNDS, CostOfRounds

TARGET = 0.06
GOLD = {  # right answers of 50
    "large": (47, 49, 120, 3.0),
    "medium": (45, 44, 240, 1.0),
    "small": (38, 43, 240, 0.4),
    "tiny": (33, 41, 240, 0.2),
}


def panel(place, capacity=None):
    """The campaign of the page."""
    place.mkdir()
    gold = [f"{name},{kind},{row[k]},50" for name, row in GOLD.items() for k, kind in enumerate(("code", "facts"))]
    room = capacity or [row[2] for row in GOLD.values()]
    workers = [f"{name},{most},{row[3]}" for most, (name, row) in zip(room, GOLD.items(), strict=True)]
    tasks = [f"item-{i},{'facts' if i % 3 else 'code'}" for i in range(1, 241)]
    for name, header, rows in (
        ("gold", "worker,type,correct,asked", gold),
        ("workers", "worker,capacity,price", workers),
        ("tasks", "task,type", tasks),
    ):
        (place / f"{name}.csv").write_text("\n".join([header, *rows]) + "\n")
    (place / "campaign.toml").write_text(f'epsilon = {TARGET}\nrule = "exact-error"\n')
    return place


def row(campaign, rounds, factor):
    """The proven plan of so many rounds at so many times the target."""
    plan = crowdopt.solve(campaign, method=Adaptive(rounds=rounds), epsilon=TARGET * factor)
    if not plan.found:
        return None
    assert plan.proven and crowdopt.verify(campaign, plan).proven
    return CostOfRounds(rounds, factor, plan.objective, plan.calls, plan.bound)


def rehearsed(place, capacity, seed):
    """Cost, loads, share of wrong answers of each type by name, and the largest factor by which targets had to grow."""
    here = panel(place / "judges", capacity)
    load, times, k = np.zeros(len(GOLD), np.int64), 1.0, 0
    while True:
        plan = crowdopt.solve(here, method=Adaptive(), seed=seed, output=place / f"plan-{k}")
        times = max(times, plan.times)
        if not len(plan.pairs):
            break
        load += np.bincount(plan.pairs[:, 1], minlength=len(GOLD))
        labels, onward = place / f"labels-{k}.csv", place / f"answers-{k}"
        crowdopt.rehearse(here, place / f"plan-{k}", output=labels, truth=place / "truth.csv", seed=100 * seed + k)
        found = crowdopt.aggregate(labels, plan=place / f"plan-{k}", campaign=here, output=onward)
        here, k = onward / "campaign", k + 1
    truth = [line.split(",")[1] for line in (place / "truth.csv").read_text().split()[1:]]
    wrong = np.array([name != found.names[said] for name, said in zip(truth, found.answers.answer, strict=True)])
    kind = found.instance.task_type
    shares = {found.instance.type_id(t): wrong[kind == t].mean() for t in range(found.instance.n_types)}
    return load @ found.instance.cost[0], load, shares, times


def campaigns(count, capacity):
    """Many of them, a row of a table."""
    runs = []
    for seed in range(count):
        with TemporaryDirectory() as place:
            runs.append(rehearsed(Path(place), capacity, seed))
    assert (np.max([run[1] for run in runs], axis=0) <= capacity).all()
    cost, grown = np.array([run[0] for run in runs]), np.array([run[3] - 1 for run in runs])
    wrong = [100 * np.array([run[2][kind] for run in runs]) for kind in ("code", "facts")]
    shares = " | ".join(f"{one.mean():.1f} ± {one.std() / count**0.5:.1f}" for one in wrong)
    print(
        f"| {', '.join(map(str, capacity))} | {cost.mean():.1f} ± {cost.std() / count**0.5:.1f} | {shares} "
        f"| {(grown > 0).sum()} of {count} | {100 * grown.max():.1f} % |"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--campaigns", type=int, default=0)
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
        print(f"| {100 * TARGET * factor:g} % | " + " | ".join(costs) + " |")
    assert np.isfinite([one.bound for one in rows]).all()
    if chosen.campaigns:
        print(
            "\n| capacities | cost | wrong: code, % | wrong: facts, % | targets grew in | by at most |\n|" + "---|" * 6
        )
    for capacity in ([120, 240, 240, 240], [21, 114, 208, 180]) if chosen.campaigns else ():
        campaigns(chosen.campaigns, capacity)
    if chosen.picture is not None:
        drawn = [one for one in rows if one.rounds != 5]
        save(cost_of_rounds([(one.name, TARGET * one.factor, one.cost) for one in drawn]), chosen.picture)


if __name__ == "__main__":
    main()

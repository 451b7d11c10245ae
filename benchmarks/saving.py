"""What the rules save: labels per task at the same guarantee, rule by rule, and the picture in the README.

    python benchmarks/saving.py [--limit 20] [--picture benchmarks/pictures/saving.svg] [--redundancy]

Each plan is checked: every limit, every task's guarantee. With ``--redundancy`` the promise is held against so many
labels for every task, dealt round by round and weighed by the skills that are known: what these err with. Where the
data sets are there (CROWDOPT_DATA), they are instances too, their skills tallied against the truth, no task harder.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

import crowdopt
from crowdopt.crowd.vote_errors import CERTAIN, breaches, exact_errors
from crowdopt.pages.charts import altair, save

RULES = ("hoeffding", "bhattacharyya", "probit", "exact-error")
TWO_CLASSES = ("hoeffding", "probit")
REDUNDANCIES = (3, 5, 7)
RECORDED = {"bluebird": 0.1, "quiz_medicine": 0.1, "rte": 0.1, "zencrowd_core5": 0.2, "zencrowd_all": 0.2}


def instances():
    """Name and instance, 1000 tasks by 300 workers but for the real one."""
    half = crowdopt.recipe("HS:1000x300")
    yield "half .7, half .5", replace(half, capacity=np.full(300, 400)).with_epsilon(0.05)
    for name in ("U:1000x300", "R1:1000x300", "R10:1000x300", "B5:1000x300", "L3:1000x300"):
        yield name, crowdopt.recipe(name)
    for name, epsilon in RECORDED.items():
        folder = Path(os.environ.get("CROWDOPT_DATA", "nowhere")) / name
        if folder.is_dir():
            labels, truth, types = (folder / f"{table}.csv" for table in ("labels", "truth", "types"))
            types = types if types.exists() else None
            known = {"truth": truth, "types": types, "epsilon": epsilon, "rule": "bhattacharyya"}  # knows no hard tasks
            yield name, crowdopt.import_labels(labels, **known).instance


def solved(instance, rule, limit):
    """Labels per task, whether proven, and the certified gap; None without a plan."""
    plan = crowdopt.solve(replace(instance, rule=rule), time_limit=limit, gap=0.0)
    if not plan.found:
        return None
    assert not breaches(plan.instance, plan.pairs)
    if plan.instance.the_rule.checked or rule == "bhattacharyya":
        exact = exact_errors(plan.instance, plan.pairs)[0]
        assert (exact <= plan.instance.epsilon + CERTAIN).all()
    return plan


def dealt(instance, redundancy, rng):
    """Pairs of so many labels for every task, workers in turn while they can; None where that is too little."""
    order, most = rng.permutation(instance.n_workers), int(instance.capacity.max())
    turns = [order[instance.capacity[order] > turn] for turn in range(min(most, redundancy * instance.n_tasks))]
    seats = np.concatenate(turns)[: redundancy * instance.n_tasks]
    if seats.size < redundancy * instance.n_tasks:
        return None
    pairs = np.stack([np.repeat(np.arange(instance.n_tasks), redundancy), seats], axis=1)
    return pairs if np.unique(pairs, axis=0).shape == pairs.shape else None


def redundant(instance, redundancy):
    """A cell: labels, mean error, and the share of tasks beyond their target."""
    pairs = dealt(instance, redundancy, np.random.default_rng(0))
    if pairs is None:
        return "more than they give"
    error = exact_errors(instance, pairs)[0]
    beyond = 100 * (error > instance.epsilon + CERTAIN).mean()
    return f"{len(pairs)}: {error.mean():.3f}, {beyond:.0f} %"


def against_redundancy(limit):
    """Labels, mean error, and tasks beyond their target, of the promise and of equal shares."""
    print(f"| instance | epsilon | promise kept | {' | '.join(f'{k} labels each' for k in REDUNDANCIES)} |")
    print(f"|{'---|' * (3 + len(REDUNDANCIES))}")
    for name, instance in instances():
        plan = solved(instance, "exact-error", limit)
        error = exact_errors(plan.instance, plan.pairs)[0]
        cells = [f"{plan.labels:g}: {error.mean():.3f}, 0 %", *(redundant(instance, k) for k in REDUNDANCIES)]
        print(f"| {name} | {float(instance.epsilon[0]):g} | {' | '.join(cells)} |", flush=True)


def draw(rows, path):
    alt = altair()
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            y=alt.Y("rule:N", sort=list(RULES), title=None, axis=alt.Axis(labels=False, ticks=False)),
            x=alt.X("labels:Q", title="labels per task"),
            color=alt.Color("rule:N", sort=list(RULES), title="rule"),
            row=alt.Row(
                "instance:N",
                sort=None,
                title=None,
                header=alt.Header(labelAngle=0, labelAlign="left", labelFontSize=12),
                spacing=6,
            ),
        )
    )
    save(chart.properties(width=420, height=62), path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=20.0, help="seconds per plan")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--redundancy", action="store_true", help="against 3, 5, 7 labels for every task")
    given = parser.parse_args()
    if given.redundancy:
        against_redundancy(given.limit)
        return
    rows = []
    print(f"| instance | epsilon | {' | '.join(RULES)} |\n|{'---|' * (2 + len(RULES))}")
    for name, instance in instances():
        cells = []
        for rule in RULES:
            if instance.classes > 2 and rule in TWO_CLASSES:
                cells.append("for 2 classes")
                continue
            plan = solved(instance, rule, given.limit)
            if plan is None:
                cells.append("no plan")
                continue
            rows.append({"instance": name, "rule": rule, "labels": plan.labels / instance.n_tasks})
            told = "proven" if plan.proven else f"gap {100 * plan.gap:.2g} %"
            cells.append(f"{plan.labels:g} ({told})")
        print(f"| {name} | {float(instance.epsilon[0]):g} | {' | '.join(cells)} |", flush=True)
    if given.picture is not None:
        draw(rows, given.picture)


if __name__ == "__main__":
    main()

"""What the rules save: labels per task at the same guarantee, rule by rule, and the picture in the README.

    python benchmarks/saving.py [--limit 20] [--picture benchmarks/pictures/saving.svg]

Each plan is checked: every limit, every task's guarantee. Where the data sets are there (CROWDOPT_DATA), zencrowd_all
is one of the instances, its skills tallied against the truth.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

import crowdopt
from crowdopt.assign.plan import breaches
from crowdopt.crowd.exactness import CERTAIN, exact_errors
from crowdopt.report.charts import altair, save

RULES = ("hoeffding", "bhattacharyya", "probit", "exact-error")


def instances():
    """Name and instance, 1000 tasks by 300 workers but for the real one."""
    half = crowdopt.recipe("HS:1000x300")
    yield "half .7, half .5", replace(half, capacity=np.full(300, 400)).with_epsilon(0.05)
    for name in ("U:1000x300", "R1:1000x300", "R10:1000x300", "B5:1000x300"):
        yield name, crowdopt.recipe(name)
    data = Path(os.environ.get("CROWDOPT_DATA", "nowhere")) / "zencrowd_all"
    if data.is_dir():
        labels, truth, types = (data / f"{name}.csv" for name in ("labels", "truth", "types"))
        yield "zencrowd_all", crowdopt.import_labels(labels, truth=truth, types=types, epsilon=0.2).instance


def solved(instance, rule, limit):
    """Labels per task, whether proven, and the certified gap; None without a plan."""
    plan = crowdopt.assign(replace(instance, rule=rule), time_limit=limit)
    if plan.pairs is None:
        return None
    assert not breaches(plan.instance, plan.pairs)
    if plan.instance.the_rule.checked or rule == "bhattacharyya":
        exact = exact_errors(plan.instance, plan.pairs)[0]
        assert (exact <= plan.instance.epsilon + CERTAIN).all()
    return plan


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
    given = parser.parse_args()
    rows = []
    print(f"| instance | epsilon | {' | '.join(RULES)} |\n|{'---|' * (2 + len(RULES))}")
    for name, instance in instances():
        cells = []
        for rule in RULES:
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

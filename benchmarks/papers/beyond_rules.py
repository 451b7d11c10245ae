"""How far is each rule from the true minimum: labels per task, rule by rule, over crowds of few skills.

    python -m benchmarks.papers.beyond_rules [--tasks 200] [--limit 10] [--picture FILE] [--table FILE]

A hundred workers in pools of equal skill, every capacity the same: 0.6 or 1 times the number of tasks. Under the first
three rules each task keeps its target by a bound, or exactly; *exact* is the true minimum with its
certificate, *on average* the fewest labels whose mean error keeps the target. Everything is deterministic: there is no
seed. Every plan's exact errors are checked. ``--table`` draws the picture of a table that was printed before, such as
the one in benchmarks/README.md, and solves nothing.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

import crowdopt
from crowdopt.crowd.vote_errors import CERTAIN, breaches, exact_errors
from crowdopt.pages.charts import altair, save

CROWDS = {  # name: (skill, workers of 100), labels that a worker gives as a share of the tasks
    "all .7": ([(0.7, 100)], 0.6),
    "half .7, half .5": ([(0.7, 50), (0.5, 50)], 1.0),
    ".9 / .75 / .6 (10, 30, 60 %)": ([(0.9, 10), (0.75, 30), (0.6, 60)], 0.6),
    ".85 / .65 (30, 70 %)": ([(0.85, 30), (0.65, 70)], 0.6),
    ".9 / .65 (5, 95 %)": ([(0.9, 5), (0.65, 95)], 0.6),
}
EPSILONS = (0.1, 0.05, 0.01)
RULES = {  # what the chart calls it: (rule, method)
    "hoeffding": ("hoeffding", "exact"),
    "bhattacharyya": ("bhattacharyya", "exact"),
    "probit, checked": ("probit", "exact"),
    "exact": ("exact-error", "exact"),
    "on average": ("mean-error", "exact"),
}

NO_PLAN = "no plan"


def crowd(name: str, tasks: int, epsilon: float) -> crowdopt.AssignmentInstance:
    pools, share = CROWDS[name]
    skills = np.concatenate([np.full(count, skill) for skill, count in pools])
    capacity = np.full(skills.size, round(share * tasks))
    return crowdopt.AssignmentInstance(skills[None], np.zeros(tasks, np.int64), capacity, epsilon, rule="exact-error")


def solved(instance: crowdopt.AssignmentInstance, rule: str, method: str, limit: float) -> crowdopt.Plan:
    plan = crowdopt.solve(replace(instance, rule=rule), method=method, time_limit=limit, gap=0.0)
    if plan.found:
        assert not breaches(plan.instance, plan.pairs)
        errors = exact_errors(replace(instance, rule="exact-error"), plan.pairs)[0]
        kept = errors.mean() if rule == "mean-error" else errors.max()
        if rule != "hoeffding":  # its votes have other weights
            assert kept <= instance.epsilon[0] + CERTAIN
    return plan


def cell(plan: crowdopt.Plan) -> str:
    if not plan.found:
        return f"{NO_PLAN} (proven)" if plan.proven else NO_PLAN
    share = f"{plan.labels / plan.instance.n_tasks:.2f}"
    if plan.proven:
        return share if plan.proof == "certificate" else f"{share} (solver)"
    return f"{share} (gap {100 * plan.gap:.2g} %)"


def printed(path: Path) -> list[list[str]]:
    """The cells of a table that this command printed, wherever in the file it stands."""
    rows = [
        [cell.strip() for cell in line.strip(" |").split("|")] for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [row for row in rows if row[0] in CROWDS and len(row) == 2 + len(RULES)]


def points(rows: list[list[str]]) -> list[dict]:
    """What the picture shows of each cell: its number, and its remark in words, so that no bar is missing unsaid."""
    return [
        {
            "crowd": row[0],
            "epsilon": f"ε = {row[1]}",
            "rule": rule,
            "labels": 0.0 if cell.startswith(NO_PLAN) else float(cell.split(" ")[0]),
            "text": cell.replace(".00", ""),
        }
        for row in rows
        for rule, cell in zip(RULES, row[2:], strict=True)
    ]


def draw(rows: list[dict], path: Path) -> None:
    alt = altair()
    rules, targets = list(RULES), [f"ε = {epsilon:g}" for epsilon in EPSILONS]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("epsilon:N", sort=targets, title=None, axis=alt.Axis(ticks=False), scale=alt.Scale(paddingInner=0.15)),
        yOffset=alt.YOffset("rule:N", sort=rules),
        x=alt.X("labels:Q", title="labels per task"),
    )
    legend = alt.Legend(orient="top", columns=3)
    bars = base.mark_bar().encode(color=alt.Color("rule:N", sort=rules, title=None, legend=legend))
    text = base.mark_text(align="left", dx=3, fontSize=10).encode(text="text:N")
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontSize=13, labelFontWeight="bold")
    crowds = alt.Row("crowd:N", sort=list(CROWDS), title=None, header=header)
    stacked = (bars + text).properties(width=330, height=200).facet(row=crowds, spacing=16)
    save(stacked.resolve_scale(x="independent"), path)


def computed(tasks: int, limit: float) -> list[list[str]]:
    """The table's rows, each printed as soon as it is known."""
    print("| crowd | epsilon | " + " | ".join(RULES) + " |")
    print("|---" * (2 + len(RULES)) + "|")
    rows = []
    for name in CROWDS:
        for epsilon in EPSILONS:
            instance = crowd(name, tasks, epsilon)
            cells = [cell(solved(instance, rule, method, limit)) for rule, method in RULES.values()]
            rows.append([name, f"{epsilon:g}", *cells])
            print(f"| {' | '.join(rows[-1])} |", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds per plan")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--table", type=Path, help="draw this table in place of computing one")
    given = parser.parse_args()
    rows = printed(given.table) if given.table else computed(given.tasks, given.limit)
    if given.picture is not None:
        draw(points(rows), given.picture)


if __name__ == "__main__":
    main()

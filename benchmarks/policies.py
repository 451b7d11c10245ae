"""Labels that policies take, what they claim and what is true: 1000 tasks, 300 workers of 200 tasks each.

python -m benchmarks.policies [targets | goals | breaches ...] [--trials N] [--seed S] [--processes P] [-o DIR]

``targets``: over error targets, beside what is possible; it draws pictures/policies.svg. ``goals``: to a mean error of
.1 by labels alone. ``breaches``: where workers are not independent, or change. Finished rows are kept in DIR.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import crowdopt
from benchmarks.papers.li_liu_report import computed
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.online.crowds import breach, breached, simulated_stream
from crowdopt.online.limits import least
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.run_score import answers_of, realised_error
from crowdopt.pages.charts import altair, save

PICTURE = Path(__file__).parent / "pictures" / "policies.svg"
TASKS, WORKERS, CAPACITY = 1000, 300, 200
SPAMMERS, EQUAL, UNIFORM, BETA, TYPES = "half .5, half .7", "all .6414", "U(.5, 1)", "Beta(2.3, 2)", "three types"
GOALS = {SPAMMERS: 7600, EQUAL: 12_400, UNIFORM: 1300, BETA: 2200, TYPES: 10_000}  # labels to .1
PANELS = (SPAMMERS, UNIFORM, TYPES)  # of the picture
MAJORITY = "kos:labels={}:inference=majority"
LINES: dict[str, tuple[str, tuple[float, ...]]] = {  # a policy over error targets, or over labels in all
    "majority": (MAJORITY, (4000, 8000, 16000, 32000)),
    "main-algorithm": ("main-algorithm:gold=20:gamma=.3", (0.3, 0.2, 0.1)),
    "adaptive": ("adaptive", (0.2, 0.1, 0.05)),
    "sequential": ("sequential", (0.2, 0.1, 0.05)),
}
BOUNDS = (0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.035)
HIGHEST = 0.32  # error up to which the picture goes
BREACHES = ("", "difficulty=.3", "clique=.1", "clique=.3", "drift=.1", "drift=.3")
BROKEN = ("adaptive:checks=0", "adaptive", "sequential:checks=0", "sequential")


def crowd(name: str, epsilon: float, seed: int) -> AssignmentInstance:
    """Workers of a kind; three types: .7 in one of them, .5 in the others."""
    rng = np.random.default_rng([seed, 1])
    if name == TYPES:
        skill = np.where(rng.integers(0, 3, WORKERS) == np.arange(3)[:, None], 0.7, 0.5)
    else:
        skill = {
            SPAMMERS: lambda: rng.choice([0.5, 0.7], WORKERS),
            EQUAL: lambda: np.full(WORKERS, 0.6414),
            UNIFORM: lambda: rng.uniform(0.5, 1, WORKERS),
            BETA: lambda: rng.beta(2.3, 2, WORKERS),
        }[name]()[None]
    return AssignmentInstance(skill, np.arange(TASKS) % len(skill), CAPACITY, epsilon)


def row(name: str, epsilon: float, policy: str, seed: int, how: str = "") -> dict[str, Any]:
    """One run on a crowd, a truth and labels of its own; a job."""
    instance, chosen = crowd(name, epsilon, seed), named(policy)
    stream = breached(simulated_stream(instance, (seed, 2), chosen.preliminary(WORKERS)), breach(how))
    started = process_time()
    run = replay(chosen, stream, seed, crowdopt.solve_program)
    return {
        "labels": run.total_labels,
        "gold": run.labels["gold"],
        "claimed": None if run.claims is None else float(run.claims.mean()),
        "true": realised_error(run, answers_of(run)),
        "warned": any("contradict" in note for note in run.notes),
        "seconds": process_time() - started,
    }


def bound(name: str, epsilon: float, seed: int) -> dict[str, Any]:
    """What no policy stays below; a job."""
    found = least(crowd(name, epsilon, seed), crowdopt.solve_program)
    return {"cost": found.cost, "known": found.known}


def means(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Means, with half of a 95 % interval for labels and errors."""
    found = {}
    for key in rows[0]:
        values = np.array([one[key] for one in rows], float)  # nan: nothing is claimed
        half = f" ± {shown(1.96 * values.std(ddof=1) / len(rows) ** 0.5)}" if key in ("labels", "true") else ""
        found[key] = "–" if np.isnan(values).any() else shown(values.mean()) + half
    return found


def shown(value: float) -> str:
    """A figure of a table."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def targets(given: argparse.Namespace) -> list[dict[str, str]]:
    """Labels and error of each policy over its targets, and what no policy stays below."""
    settings = [
        {"name": name, "epsilon": at if at < 1 else 0.1, "policy": text.format(int(at))}
        for name in PANELS
        for text, ats in LINES.values()
        for at in ats
    ]
    lines = [key for key, (_, ats) in LINES.items() for _ in ats] * len(PANELS)
    found, points = [], []
    for line, one, rows in zip(lines, settings, computed(row, given, 1, settings), strict=True):
        target = one["policy"] if line == "majority" else f"{one['epsilon']:g}"
        found.append({"crowd": one["name"], "policy": line, "target": target, **means(rows)})
        labels, error = (float(np.mean([each[key] for each in rows])) for key in ("labels", "true"))
        points.append({"crowd": one["name"], "policy": line, "x": labels, "y": error})
    bounds = [{"name": name, "epsilon": epsilon} for name in PANELS for epsilon in BOUNDS]
    for one, rows in zip(bounds, computed(bound, given, 1, bounds, 2), strict=True):
        cost = float(np.mean([each["cost"] for each in rows]))
        found.append({"crowd": one["name"], "policy": "no policy", "target": f"{one['epsilon']:g}"})
        found[-1] |= {"labels": shown(cost)}
        points.append({"crowd": one["name"], "policy": "", "x": cost, "y": one["epsilon"]})
    said = f"Down and to the left is better. {given.trials} crowds each, {TASKS} tasks, {WORKERS} workers."
    alt = altair()
    panels = [_panel(alt, name, [point for point in points if point["crowd"] == name]) for name in PANELS]
    heading = alt.TitleParams("What an error rate costs", subtitle=said, anchor="start")
    save(alt.vconcat(*panels).resolve_scale(color="shared", y="shared").properties(title=heading), PICTURE)
    return found


def _panel(alt: Any, name: str, points: Sequence[dict[str, Any]]) -> Any:
    ends = [0.8 * min(point["x"] for point in points), max(40_000, *(point["x"] for point in points))]
    axis = alt.Axis(format="~s", values=[500 * 2**k for k in range(8)])
    scale = alt.Scale(type="log", domain=ends, nice=False)
    x = alt.X("x:Q", title="labels in all, gold included", scale=scale, axis=axis)
    y = alt.Y("y:Q", title="wrong answers", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, HIGHEST]))
    legend = alt.Legend(orient="bottom", symbolOpacity=1)
    colour = alt.Color("policy:N", title=None, sort=list(LINES), scale=alt.Scale(domain=list(LINES)), legend=legend)
    drawn = [point for point in points if point["policy"] and point["y"] <= HIGHEST]
    lines = alt.Chart(alt.Data(values=drawn)).mark_line(point=alt.OverlayMarkDef(size=60))
    bounds = [point for point in points if not point["policy"]]
    dashed = alt.Chart(alt.Data(values=bounds)).mark_line(strokeDash=[6, 4], color="#333")
    words = alt.Chart(alt.Data(values=[{**bounds[0], "said": "impossible below"}]))
    text = words.mark_text(align="left", dx=4, dy=-8, color="#333", fontSize=12).encode(x=x, y=y, text="said:N")
    shapes = dashed.encode(x=x, y=y, order="x:Q") + text + lines.encode(x=x, y=y, color=colour, order="x:Q")
    return shapes.properties(width=420, height=230, title=name)


def goals(given: argparse.Namespace) -> list[dict[str, str]]:
    """Labels to a mean error of .1 by labels alone, beside the goal and, skills known, what can be reached."""
    settings = [{"name": name, "epsilon": 0.1, "policy": "sequential:checks=0"} for name in GOALS]
    found = []
    for (name, goal), rows in zip(GOALS.items(), computed(row, given, 2, settings), strict=True):
        instance = crowd(name, 0.1, given.seed)
        plan = crowdopt.solve(instance, method=crowdopt.Adaptive())
        assert plan.found and crowdopt.verify(instance, plan).proven == plan.proven
        found.append({"crowd": name, "goal": f"{goal}", **means(rows)})
        found[-1] |= {"no policy below": shown(least(instance, crowdopt.solve_program).known)}
        found[-1] |= {"adaptive plan, its bound": f"{plan.objective:.0f}, {plan.bound:.0f}"}
    return found


def breaches(given: argparse.Namespace) -> list[dict[str, str]]:
    """What each policy claims and what is true where workers are not independent, or not always the same; target .1."""
    settings = [
        {"name": SPAMMERS, "epsilon": 0.1, "policy": policy, "how": how} for how in BREACHES for policy in BROKEN
    ]
    return [
        {"breach": one["how"] or "none", "policy": one["policy"], **means(rows)}
        for one, rows in zip(settings, computed(row, given, 4, settings), strict=True)
    ]


SUBJECTS = {"targets": targets, "goals": goals, "breaches": breaches}


def main() -> None:
    """Run what is missing and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", choices=[*SUBJECTS, []], default=[])
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--seed", type=int, default=880_000)  # nothing was tuned on these
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/policies"))
    given = parser.parse_args()
    for subject in given.subjects or SUBJECTS:
        print(f"\n{(SUBJECTS[subject].__doc__ or '').strip()} {given.trials} trials, seed {given.seed}.\n")
        rows = SUBJECTS[subject](given)
        head = list(dict.fromkeys(key for one in rows for key in one))
        for cells in (head, ["---"] * len(head), *([one.get(key, "") for key in head] for one in rows)):
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    from benchmarks import policies  # by its import path: processes are to find the jobs

    policies.main()

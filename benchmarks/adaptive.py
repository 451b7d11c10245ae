"""The adaptive loop: labels against error beside what is possible, budgets, real labels, breaches of the model.

python -m benchmarks.adaptive [chart | budget | real | breaches ...] [--trials N] [--seed S] [--processes P] [-o DIR]

Finished rows are kept in DIR; ``chart`` draws benchmarks/pictures/adaptive.svg.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import crowdopt
from benchmarks import adaptive_trials as trials
from benchmarks.papers.li_liu_report import computed
from crowdopt.pages.charts import altair, save
from crowdopt.studies.online_trials import interval

PICTURE = Path(__file__).parent / "pictures" / "adaptive.svg"
ERRORS = (0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.035)  # at which the bound is worked out
SHOWN = ("spammers and hammers", "U(.5, 1)", "three types")  # panels of the picture
HIGHEST = 0.32  # error up to which the picture goes
FEW = 2  # crowds over which the bound is averaged: it hardly differs between them
BREACHES = ("", "difficulty=.3", "difficulty=.5", "clique=.1", "clique=.3", "drift=.1", "drift=.3")
BROKEN = {
    "gold first": "adaptive:gold=20",
    "the same by labels alone": "adaptive:gold=20:checks=0",
    "learning on the job": "sequential",
    "this by labels alone": "sequential:checks=0",
    "re-solve, gold": "re-solve:gold=20",
}
BUYERS = {  # whether only the best workers come, in order
    "adaptive, skills known": ("budget", False),
    "adaptive, skills known, only the best": ("budget", True),
    "static, skills known": ("budget:adaptive=no", False),
    "static, skills known, only the best": ("budget:adaptive=no", True),
    "adaptive, 3 gold tasks each": ("budget:gold=3", False),
    "random workers, majority": ("kos:labels=1500:inference=majority", False),
}
REPLAYED = (
    trials.EVERYTHING,
    "adaptive:gold=20",
    "sequential",
    "re-solve:gold=20",
    "main-algorithm:gold=20:stop:ties=least-covered",
)
DATA = ("zencrowd_all", "rte", "bluebird")
NOTICED = ("contradict",)  # what a note speaks of when a policy's audit has found something


def chart(given: argparse.Namespace) -> list[dict[str, Any]]:
    """Labels and error of each policy over its targets, and the bound, for five crowds."""
    settings = [
        {"setting": setting, "name": name, "at": at}
        for setting in trials.GOLD
        for name, (_, ats) in trials.LINES.items()
        for at in ats
    ]
    bounds = [{"setting": setting, "epsilon": epsilon} for setting in trials.GOLD for epsilon in ERRORS]
    found = [
        {"crowd": one["setting"], "policy": one["name"], "target": one["at"], **_means(rows)}
        for one, rows in zip(settings, computed(trials.line, given, 1, settings), strict=True)
    ]
    for one, rows in zip(bounds, computed(trials.bound, given, 1, bounds, FEW), strict=True):
        least = float(np.mean([row["cost"] for row in rows]))
        found.append({"crowd": one["setting"], "policy": "no policy", "target": one["epsilon"], "labels": least})
        found[-1] |= {"error": one["epsilon"], "half": None}
    picture(found, PICTURE, f"{given.trials} crowds each, seed {given.seed}; 1000 tasks, 300 workers of 200 tasks")
    return found


def _means(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    error, half = interval(np.array([row["error_realised"] for row in rows]))
    claims = [row["error_claimed"] for row in rows if row["error_claimed"] is not None]
    unsure = [row["unfinished"] for row in rows if row["unfinished"] is not None]
    audited = {
        key: float(np.mean([row[key] for row in rows])) for key in ("certified", "cost_audited") if key in rows[0]
    }
    return {
        "labels": float(np.mean([row["labels"] for row in rows])),
        "claimed": float(np.mean(claims)) if claims else None,
        "error": error,
        "half": half,
        "unfinished": float(np.mean(unsure)) if unsure else None,
        "worst": float(np.max([row["error_realised"] for row in rows])),
        **audited,
    }


def budget(given: argparse.Namespace) -> list[dict[str, Any]]:
    """Accuracies .9, .75, .6 for 10, 30, 60 % of 90 workers of capacity 100; 300 tasks, 1500 labels in all."""
    settings = [{"text": text, "best": best} for text, best in BUYERS.values()]
    rows = computed(trials.bought, given, 2, settings)
    return [{"policy": name, **_means(part)} for name, part in zip(BUYERS, rows, strict=True)]


def real(given: argparse.Namespace) -> list[dict[str, Any]]:
    """Recorded labels, a random half of the tasks as gold, error target .1; with the tasks' types, and without."""
    if trials.folder() is None:
        print("  (no label sets: CROWDOPT_DATA names no folder)")
        return []
    settings = [
        {"data": data, "typed": typed, "text": text, "epsilon": 0.1}
        for data in DATA
        for typed in ((False,) if data == "bluebird" else (True, False))
        for text in REPLAYED
        if typed or data == "bluebird" or text != trials.EVERYTHING
    ]
    found = []
    for one, rows in zip(settings, computed(trials.replayed, given, 3, settings), strict=True):
        constant = float(np.mean([row["constant"] for row in rows]))
        found.append({"labels of": one["data"], "types": "yes" if one["typed"] else "no", "policy": one["text"]})
        found[-1] |= {**_means(rows), "constant answer": constant}
    return found


def breaches(given: argparse.Namespace) -> list[dict[str, Any]]:
    """What each policy claims and what is true where workers are not independent, or not the same all the time."""
    settings = [
        {"how": how, "setting": "spammers and hammers", "text": text, "epsilon": 0.1}
        for how in BREACHES
        for text in BROKEN.values()
    ]
    found = []
    for k, rows in enumerate(computed(trials.broken, given, 4, settings)):
        noticed = np.mean([any(word in note for note in row["notes"] for word in NOTICED) for row in rows])
        found.append({"breach": BREACHES[k // len(BROKEN)] or "none", "policy": list(BROKEN)[k % len(BROKEN)]})
        found[-1] |= {**_means(rows), "warned": float(noticed)}
    return found


# -- the picture ----------------------------------------------------------------------------------------------------


def picture(found: Sequence[dict[str, Any]], path: Path, note: str) -> None:
    """Error against labels, a line per policy; what no policy can do is dashed."""
    alt = altair()
    panels = [_panel(alt, crowd, [row for row in found if row["crowd"] == crowd]) for crowd in SHOWN]
    said = ["Down and to the left is better; each step to the right doubles the labels.", note]
    heading = alt.TitleParams("What an error rate costs", subtitle=said, anchor="start")
    path.parent.mkdir(parents=True, exist_ok=True)
    save(alt.vconcat(*panels).resolve_scale(color="shared", y="shared").properties(title=heading), path)


def _panel(alt: Any, crowd: str, found: Sequence[dict[str, Any]]) -> Any:
    order = list(trials.LINES)
    rows = [{"policy": row["policy"], "x": row["labels"], "y": row["error"]} for row in found]
    low, high = min(row["x"] for row in rows), max(row["x"] for row in rows)
    doubled = [500 * 2**k for k in range(8)]
    ends = [max(at for at in (250, *doubled) if at <= low), max(40_000, high)]
    x = alt.X(
        "x:Q",
        title="labels in all, gold included",
        scale=alt.Scale(type="log", domain=ends, nice=False),
        axis=alt.Axis(format="~s", values=doubled),
    )
    share = alt.Scale(domain=[0, HIGHEST])
    y = alt.Y("y:Q", title="share of wrong answers", axis=alt.Axis(format="%"), scale=share)
    legend = alt.Legend(orient="bottom", symbolOpacity=1)
    colour = alt.Color("policy:N", title=None, sort=order, scale=alt.Scale(domain=order), legend=legend)
    shown = [row for row in rows if row["policy"] in order and row["y"] <= HIGHEST]
    lines = alt.Chart(alt.Data(values=shown)).mark_line(point=alt.OverlayMarkDef(size=60))
    least = [row for row in rows if row["policy"] not in order]
    dashed = alt.Chart(alt.Data(values=least)).mark_line(strokeDash=[6, 4], color="#333")
    words = alt.Chart(alt.Data(values=[{**least[0], "said": "impossible below"}]))
    text = words.mark_text(align="left", dx=4, dy=-8, color="#333", fontSize=12).encode(x=x, y=y, text="said:N")
    drawn = lines.encode(x=x, y=y, color=colour, order="x:Q")
    return (dashed.encode(x=x, y=y, order="x:Q") + text + drawn).properties(width=420, height=230, title=crowd)


SUBJECTS = {"chart": chart, "budget": budget, "real": real, "breaches": breaches}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, print the tables, keep them with versions and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", choices=[*SUBJECTS, []], default=[])
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, default=Path("adaptive"))
    given = parser.parse_args(arguments)
    made = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "crowdopt": crowdopt.__version__,
        "seed": given.seed,
        "trials": given.trials,
    }
    print(", ".join(f"{key} {value}" for key, value in made.items()))
    for subject in given.subjects or SUBJECTS:
        lines = SUBJECTS[subject](given)
        print(f"\n{subject}: {(SUBJECTS[subject].__doc__ or '').strip()} {given.trials} trials.\n")
        print("\n".join(_table(lines)), flush=True)
        (given.output / f"{subject}.json").write_text(json.dumps({**made, subject: lines}, indent=1) + "\n", "utf-8")


def _table(lines: Sequence[dict[str, Any]]) -> list[str]:
    if not lines:
        return []
    head = list(dict.fromkeys(key for line in lines for key in line))
    cells = [[_shown(line.get(key)) for key in head] for line in lines]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells)]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.4g}"
    return "–" if value is None else str(value)


if __name__ == "__main__":
    main()

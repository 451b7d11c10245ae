"""Ho, Jabbari & Vaughan 2013, Section 6: how much their comparator's error hangs on its number of iterations.

python -m benchmarks.papers.hjv_kos [--trials N] [--seed S] [--processes P] [-o DIR]

The paper does not say how many iterations of message passing it runs. Same crowds as figures 1 and 2, 30,000 labels.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from benchmarks.papers.hjv_trials import message_passing
from benchmarks.papers.li_liu_report import Claim, all_hold, arguments, computed, interval, shown, verdict
from crowdopt.pages.charts import altair, save

TOTAL = 30_000
ITERATIONS = [1, 2, 5, 10, 20, 50, 100]
CROWDS = {"everyone .6414": "U", "HS": "HS", "k = 1": "K1", "k = 2": "K2", "k = 3": "K3"}


def claims(error: dict[str, np.ndarray]) -> list[Claim]:
    """What the number of iterations does; all comparisons together (Bonferroni)."""
    found = []
    for name, table in error.items():
        first, last = table[:, ITERATIONS.index(2)], table[:, ITERATIONS.index(100)]
        middle, majority = table[:, ITERATIONS.index(20)], table[:, -1]
        at = "; ".join(f"{k}: {table[:, place].mean():.3f}" for place, k in enumerate(ITERATIONS))
        gap = np.column_stack([last - first, middle - first])
        verdicts = [verdict(gap[:, k], 2 * len(error)) for k in range(2)]
        found.append(
            Claim(
                f"(not in the paper) {name}: more iterations err more",
                f"error by iterations {at}; plain majority {majority.mean():.3f}; 100 less 2: "
                f"{shown(last - first, 2 * len(error))} points",
                all_hold(verdicts),
            )
        )
        worse = middle - majority
        found.append(
            Claim(
                f"(not in the paper) {name}: 20 iterations err more than the plain majority",
                f"{shown(worse, len(error))} points",
                verdict(worse, len(error)),
            )
        )
    return found


def picture(error: dict[str, np.ndarray], path: Path, note: str) -> None:
    """Error against iterations, one line per crowd with its band; the majority's as a dashed line."""
    alt = altair()
    rows, flat = [], []
    for name, table in error.items():
        for place, k in enumerate(ITERATIONS):
            mean, low, high = interval(table[:, place])
            rows.append({"x": k, "y": mean, "low": low, "high": high, "crowd": name})
        flat += [{"x": k, "y": float(table[:, -1].mean()), "crowd": name} for k in (ITERATIONS[0], ITERATIONS[-1])]
    x = alt.X("x:Q", title="iterations of message passing", scale=alt.Scale(type="log"))
    colour = alt.Color("crowd:N", title=None, sort=list(error), legend=alt.Legend(orient="bottom", symbolOpacity=1))
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, color=colour)
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title="share of wrong answers"), y2="high:Q")
    line = base.mark_line(point=True).encode(y="y:Q")
    majority = alt.Chart(alt.Data(values=flat)).mark_line(strokeDash=[4, 4]).encode(x=x, y="y:Q", color=colour)
    heading = alt.TitleParams(
        "Message passing by its iterations; dashed: plain majority", subtitle=note, anchor="start"
    )
    save((band + majority + line).properties(width=460, height=300, title=heading), path)


def main() -> None:
    """Run what is missing, then write table, claims and picture."""
    given = arguments(__doc__, 40)
    settings = [{"kind": kind, "total": TOTAL, "iterations": ITERATIONS} for kind in CROWDS.values()]
    rows = computed(message_passing, given, 3, settings)
    error = {name: np.array([row["error"] for row in part]) for name, part in zip(CROWDS, rows, strict=True)}
    note = f"{given.trials} trials, {TOTAL} labels, random regular assignments, seed {given.seed}; 95 % intervals"
    given.output.mkdir(parents=True, exist_ok=True)
    with (given.output / "kos.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["crowd", "iterations", "error", "low", "high", "trials"])
        for name, table in error.items():
            for place, k in enumerate([*ITERATIONS, "majority"]):
                numbers = [f"{value:.6f}" for value in interval(table[:, place])]
                writer.writerow([name, k, *numbers, len(table)])
    lines = [f"Iterations of message passing. {note}.\n", "| claim | measured | holds? |", "|---|---|---|"]
    lines += [f"| {claim.says} | {claim.ours} | {claim.holds} |" for claim in claims(error)]
    (given.output / "kos.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    picture(error, given.output / "kos.svg", note)


if __name__ == "__main__":
    main()

"""What the trials of Ho, Jabbari & Vaughan's experiments come to: curves, claims, pictures."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.hjv_trials import EPSILONS, METHODS
from benchmarks.papers.li_liu_report import Claim, interval
from crowdopt.pages.charts import altair, save


class Curves:
    """Labels and error of each method, shape (trials, epsilons), and KOS at fixed totals."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.labels = {name: np.array([row[name]["labels"] for row in rows], float) for name in METHODS}
        self.error = {name: np.array([row[name]["error"] for row in rows], float) for name in METHODS}
        self.fixed = np.array([row["fixed"]["error"] for row in rows], float)


def write(panels: dict[str, Curves], claims: Sequence[Claim], folder: Path, name: str, note: str) -> None:
    """Curves as CSV, claims as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["crowd", "method", "epsilon", "labels", "error", "low", "high", "trials"])
        for crowd, curves in panels.items():
            for method in METHODS:
                for k, epsilon in enumerate(EPSILONS):
                    error = curves.error[method][:, k]
                    labels = f"{curves.labels[method][:, k].mean():.1f}"
                    numbers = [f"{value:.6f}" for value in interval(error)]
                    writer.writerow([crowd, method, epsilon, labels, *numbers, error.size])
    lines = [f"{note}\n", "| the paper says | ours | holds? |", "|---|---|---|"]
    lines += [f"| {claim.says} | {claim.ours} | {claim.holds} |" for claim in claims]
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def picture(panels: dict[str, Curves], path: Path, title: str, note: str) -> None:
    """Error against labels in all, one panel per crowd."""
    alt = altair()
    charts = [_panel(alt, crowd, curves) for crowd, curves in panels.items()]
    heading = alt.TitleParams(title, subtitle=note, anchor="start")
    save(alt.vconcat(*charts).resolve_scale(color="shared", y="shared", x="shared").properties(title=heading), path)


def _panel(alt: Any, crowd: str, curves: Curves) -> Any:
    rows = []
    for method in METHODS:
        for k in range(len(EPSILONS)):
            mean, low, high = interval(curves.error[method][:, k])
            labels = float(curves.labels[method][:, k].mean())
            rows.append({"x": labels, "y": mean, "low": low, "high": high, "method": method, "k": k})
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title="labels in all, gold included", axis=alt.Axis(format="~s")),
        color=alt.Color(
            "method:N",
            title=None,
            sort=list(METHODS),
            legend=alt.Legend(orient="bottom", columns=4, symbolOpacity=1),
        ),
    )
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title="share of wrong answers"), y2="high:Q")
    # the order is the line's alone: an area takes it for a grouping and falls into pieces of no width
    line = base.mark_line(point=True).encode(y="y:Q", order="k:Q")
    return (band + line).properties(width=400, height=220, title=crowd)

"""What the trials say: means with 95 % intervals, paired differences, claims, pictures."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy import stats

from crowdopt.jobs import Job, Row, run, seed_of
from crowdopt.pages.charts import altair, save

LEVEL = 0.95


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, what we measured, and whether it holds: yes, no, or open."""

    says: str
    ours: str
    holds: str


class Trials:
    """Accuracy and workers used, by method, shape (trials, points)."""

    def __init__(self, rows: Sequence[dict[str, Any]], across: Sequence[float]) -> None:
        self.across = np.array(across)
        self.methods = list(rows[0]["accuracy"])
        self.accuracy = {name: np.array([row["accuracy"][name] for row in rows]) for name in self.methods}
        self.used = {name: np.array([row["used"][name] for row in rows], float) for name in self.methods}

    def renamed(self, names: dict[str, str]) -> Trials:
        """Some of the methods, under other names."""
        rows = [
            {what: {new: getattr(self, what)[old][k] for new, old in names.items()} for what in ("accuracy", "used")}
            for k in range(len(self.used[self.methods[0]]))
        ]
        return Trials(rows, self.across)

    def at(self, point: float) -> int:
        """Index of a point."""
        return int(np.flatnonzero(self.across == point)[0])


def interval(sample: np.ndarray, comparisons: int = 1) -> tuple[float, float, float]:
    """Mean and its t-interval over trials, at LEVEL for all comparisons together (Bonferroni)."""
    mean, error = float(sample.mean()), float(sample.std(ddof=1) / np.sqrt(sample.size))
    width = float(stats.t.ppf(1 - (1 - LEVEL) / (2 * comparisons), sample.size - 1)) * error
    return mean, mean - width, mean + width


def shown(sample: np.ndarray, comparisons: int = 1, unit: float = 100.0, digits: int = 2) -> str:
    """``mean [low, high]``, in points of a percentage unless told."""
    mean, low, high = (unit * value for value in interval(sample, comparisons))
    return f"{mean:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


def verdict(sample: np.ndarray, comparisons: int = 1) -> str:
    """Whether the mean is above zero: yes or no where the interval says so, else open."""
    _, low, high = interval(sample, comparisons)
    return "yes" if low > 0 else "no" if high < 0 else "open"


def all_hold(verdicts: Sequence[str]) -> str:
    """The verdict on several together: no if any is no, yes if all are yes."""
    return "no" if "no" in verdicts else "yes" if set(verdicts) == {"yes"} else "open"


def everywhere(
    trials: Trials, one: str, other: str, unit: str = "K", points: np.ndarray | None = None
) -> tuple[str, str]:
    """Where ``one`` is more accurate than ``other``, by paired differences at all points together, and the verdict."""
    points = np.arange(trials.across.size) if points is None else points
    gap = trials.accuracy[one] - trials.accuracy[other]
    signs = {k: verdict(gap[:, k], points.size) for k in points.tolist()}
    said = []
    for sign, word in (("yes", "better"), ("no", "worse"), ("open", "undecided")):
        where = [place for place, k in enumerate(signs) if signs[k] == sign]
        said += [f"{word} at {unit} = {spans(where, trials.across[points])}"] if where else []
    return "; ".join(said), all_hold(list(signs.values()))


def spans(places: Sequence[int], across: np.ndarray) -> str:
    """The values at these places, runs of neighbours as spans: ``3 to 8, 11 (7 values)``."""
    runs = np.split(np.array(places), np.flatnonzero(np.diff(places) > 1) + 1)
    said = [f"{across[run[0]]:g}" + (f" to {across[run[-1]]:g}" if run.size > 1 else "") for run in runs]
    return ", ".join(said) + (f" ({len(places)} values)" if len(places) > 1 else "")


def write(trials: Trials, claims: Sequence[Claim], folder: Path, name: str, note: str) -> None:
    """Summary as CSV, claims as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["method", "point", "accuracy", "low", "high", "used", "used_low", "used_high", "trials"])
        for method in trials.methods:
            for k, point in enumerate(trials.across):
                right, used = trials.accuracy[method][:, k], trials.used[method][:, k]
                numbers = [f"{value:.6f}" for value in (*interval(right), *interval(used))]
                writer.writerow([method, f"{point:g}", *numbers, right.size])
    lines = [f"{note}\n", "| the paper says | ours | holds? |", "|---|---|---|"]
    lines += [f"| {claim.says} | {claim.ours} | {claim.holds} |" for claim in claims]
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def picture(panels: Sequence[tuple[Trials, str, str, str]], path: Path, title: str, note: str) -> None:
    """Lines with 95 % bands, as PNG and SVG; panels are ``(trials, accuracy or used, title of x, title of y)``."""
    alt = altair()
    charts = [_panel(alt, *panel) for panel in panels]
    heading = alt.TitleParams(title, subtitle=note, anchor="start")
    for suffix in (".png", ".svg"):
        save(alt.vconcat(*charts).resolve_scale(color="shared").properties(title=heading), path.with_suffix(suffix))


def _panel(alt: Any, trials: Trials, what: str, x_title: str, y_title: str) -> Any:
    values = getattr(trials, what)
    rows = []
    for method in trials.methods:
        for k, point in enumerate(trials.across):
            mean, low, high = interval(values[method][:, k])
            rows.append({"x": float(point), "y": mean, "low": low, "high": high, "method": method})
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title=x_title, scale=alt.Scale(zero=False)),
        color=alt.Color(
            "method:N", title=None, sort=trials.methods, legend=alt.Legend(orient="bottom", columns=4, symbolOpacity=1)
        ),
    )
    band = base.mark_area(opacity=0.18).encode(
        y=alt.Y("low:Q", title=y_title, scale=alt.Scale(zero=False)), y2="high:Q"
    )
    return (band + base.mark_line().encode(y="y:Q")).properties(width=400, height=220)


def arguments(doc: str | None, trials: int, em: bool = False) -> argparse.Namespace:
    """What every figure takes."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=trials)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("li-liu"), help="folder; finished trials are kept there"
    )
    if em:
        parser.add_argument("--em", choices=["one-coin", "dawid-skene"], default="one-coin")
    return parser.parse_args()


def computed(
    function: Callable[..., Any],
    given: argparse.Namespace,
    figure: int,
    settings: Sequence[dict[str, Any]] = ({},),
    most: int | None = None,
) -> list[list[dict[str, Any]]]:
    """Per setting the trials' rows, of ``most`` at most, the same seeds for each; none is computed again.

    Stops at the first failed row.
    """
    seeds = [seed_of(given.seed, figure, k) for k in range(min(given.trials, most or given.trials))]
    jobs = [Job.of(function, seed=seed, **setting) for setting in settings for seed in seeds]
    started = perf_counter()
    rows: list[Row] = run(jobs, given.output / "rows", given.processes, title=f"{function.__name__} {figure}")
    for row in rows:
        if row.error is not None:
            raise SystemExit(f"{row.arguments}: {row.error}\n" + "\n".join(row.trace))
    took = f"{len(rows)} trials in {perf_counter() - started:.1f} s with {given.processes} processes"
    print(took, file=sys.stderr)  # what is printed goes into pages
    return [[row.result for row in rows[k : k + len(seeds)]] for k in range(0, len(rows), len(seeds))]


def along(rows: Sequence[Sequence[dict[str, Any]]], across: Sequence[float]) -> Trials:
    """Trials at one K each, side by side along another parameter."""
    merged = [
        {
            what: {name: [part[what][name][0] for part in parts] for name in parts[0][what]}
            for what in ("accuracy", "used")
        }
        for parts in zip(*rows, strict=True)
    ]
    return Trials(merged, across)

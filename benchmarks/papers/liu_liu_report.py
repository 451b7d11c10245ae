"""What the trials of Liu & Liu's experiments come to: figures by their definitions, claims, pictures."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.li_liu_report import Claim, interval
from benchmarks.papers.liu_liu_trials import NAMES
from crowdopt.pages.charts import altair, save
from crowdopt.pages.learning_page import banded

DEFINITIONS = {
    "reward": "mean of U(S_t), t = 1..T, exploration in: a new tester earns pi(M), a repeat 1/2",
    "reward_exploiting": "mean of U(S_t) over the t that were neither testers nor lost to a repeat",
    "final_accuracy": "U of the set asked in the end",
    "right": "share of answers that are right, exploration in",
    "regret": "T U(S*) - sum U(S_t), S* the best simple majority",
    "cost_regret": "sum C(S_t) - T C(S*)",
}


class Study:
    """Figures and curves of the policies, (trials,) and (trials, checkpoints)."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], policies: Sequence[str]) -> None:
        self.policies, self.trials = list(policies), len(rows)
        self.times = np.array(rows[0][self.policies[0]]["curves"]["t"])
        self._rows = rows

    def figure(self, policy: str, key: str) -> np.ndarray:
        """One number a trial; NaN where absent."""
        values = [row[policy]["figures"][key] for row in self._rows]
        return np.array([np.nan if value is None else value for value in values], float)

    def curve(self, policy: str, key: str) -> np.ndarray:
        """Cumulated, at the checkpoints."""
        return np.array([row[policy]["curves"][key] for row in self._rows], float)

    def at(self, policy: str, key: str, t: int) -> np.ndarray:
        """A curve at the checkpoint nearest to t."""
        return self.curve(policy, key)[:, int(np.abs(self.times - t).argmin())]


def mean_of(sample: np.ndarray) -> str:
    """``mean ± half``, four digits; a dash where there is none."""
    known = sample[~np.isnan(sample)]
    if known.size < 2:
        return "–"
    mean, low, _ = interval(known)
    return f"{mean:z.4f} ± {mean - low:.4f}"


def write(
    folder: Path, name: str, note: str, claims: Sequence[Claim], tables: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    """Tables as CSV, claims as Markdown with the definition of every number."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, rows in tables.items():
        with (folder / f"{name}_{table}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    lines = [f"{note}\n", *markdown_tables(tables), "| the paper says | ours | holds? |", "|---|---|---|"]
    lines += [f"| {claim.says} | {claim.ours} | {claim.holds} |" for claim in claims]
    print("\n".join(lines))
    lines += ["", *(f"- {key}: {what}" for key, what in DEFINITIONS.items())]
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def markdown_tables(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Each with its heading."""
    lines = []
    for rows in tables.values():
        head = list(rows[0])
        lines += [f"| {' | '.join(map(str, cells))} |" for cells in (head, ["---"] * len(head))]
        lines += [f"| {' | '.join(str(row[key]) for key in head)} |" for row in rows] + [""]
    return lines


def summary(study: Study, keys: Sequence[str]) -> list[dict[str, Any]]:
    """A line a policy."""
    lines = []
    for policy in study.policies:
        line: dict[str, Any] = {"policy": NAMES.get(policy, policy)}
        for key in keys:
            values = study.figure(policy, key)
            whole = key in ("testers", "repeats", "labels")
            line[key] = f"{np.nanmean(values):.0f}" if whole else mean_of(values)
        lines.append(line)
    return lines


Transform = Callable[[np.ndarray, np.ndarray], np.ndarray]


def points(
    study: Study, key: str, policies: Sequence[str], change: Transform, names: Mapping[str, str] = NAMES
) -> list[dict[str, Any]]:
    """A curve's mean and band for the charts; ``change`` turns cumulated values and times into what is drawn."""
    found = []
    for policy in policies:
        values = change(study.curve(policy, key), study.times)
        for k, t in enumerate(study.times.tolist()):
            mean, low, high = interval(values[:, k])
            point = {"t": t, key: mean, f"{key}_low": low, f"{key}_high": high}
            found.append({"policy": names.get(policy, policy), **point})
    return found


def cumulated(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """As it is."""
    return values


def averaged(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Over the tasks so far."""
    return values / times


def picture(panels: Sequence[tuple[list[dict[str, Any]], str, str]], path: Path, title: str, note: str) -> None:
    """Panels ``(points, key, title of y)`` one above another, so that a narrow page shows them too, as SVG and PNG."""
    alt = altair()
    drawn = []
    for rows, key, up in panels:
        order = list(dict.fromkeys(row["policy"] for row in rows))
        drawn.append(banded(rows, key, up, order))
    heading = alt.TitleParams(title, subtitle=note, anchor="start")
    chart = alt.vconcat(*drawn).resolve_scale(color="shared").properties(title=heading)
    for suffix in (".svg", ".png"):
        save(chart, path.with_suffix(suffix))

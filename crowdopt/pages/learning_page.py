"""What policies of asking learn: regret and reward over time as charts and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from crowdopt.pages import Kind
from crowdopt.pages.charts import hue, on, plot, sized
from crowdopt.pages.page import Chart, Folded, Page, PageTable, Section

Line: TypeAlias = Mapping[str, Any]

COLUMNS = {
    "policy": "policy",
    "reward": "reward",
    "reward_exploiting": "while exploiting",
    "right": "answers right",
    "final_accuracy": "final set",
    "regret": "regret",
    "regret_weighted": "regret (weighted)",
    "cost_regret": "cost regret",
    "labels": "labels",
    "testers": "testers",
    "repeats": "repeats",
}
NOTES = {
    "reward": "mean of U(S_t) over all tasks, exploration in: a new tester earns what the majority of all does, ties"
    " half, and a repeat a guess",
    "reward_exploiting": "mean of U(S_t) over the tasks that were neither testers nor lost to a repeat",
    "right": "share of the answers of known truth that are right, exploration in",
    "final_accuracy": "U of the set that the policy would ask in the end",
    "regret": "T U(S*) - sum U(S_t), S* the best simple majority",
    "regret_weighted": "the same against all labelers' vote weighted by true log-odds",
    "cost_regret": "sum C(S_t) - T C(S*)",
    "testers": "new tasks labelled by all labelers, the initial one not counted",
    "repeats": "old testers labelled again, while the task that arrived got a random answer",
}
CURVES = {
    "regret": "cumulated regret, in answers",
    "reward": "average reward up to t",
    "cost_regret": "cumulated cost regret",
}


def verdict(facts: Line) -> list[str]:
    """What was compared, and who earned most."""
    lines = facts["policies"]
    said = [f"{facts['source']}; T = {facts['horizon']}, {facts['trials']} trials, the same tasks and labels for all."]
    if lines:
        best = max(lines, key=lambda line: line["reward"])
        said.append(
            f"With skills known the best majority is right {_share(best['best_majority'])} of the time, the best "
            f"weighted vote {_share(best['best_weighted'])}; most reward, exploration in, goes to {best['policy']}: "
            f"{_share(best['reward'])}."
        )
    return said


def _share(value: float) -> str:
    return f"{100 * value:.2f} %"


def charts(facts: Line) -> dict[str, Any]:
    """By name: each curve over time with its 95 % band."""
    order = [line["policy"] for line in facts["policies"]]
    return {key: banded(facts["curves"], key, up, order) for key, up in CURVES.items()}


def banded(points: Sequence[Line], key: str, up: str, order: Sequence[str]) -> Any:
    """One line with its band per policy; points: ``t``, ``policy``, the key and its ``_low`` and ``_high``."""
    ends = {"y": key, "low": f"{key}_low", "high": f"{key}_high", "t": "t", "policy": "policy"}
    rows = [{name: one[field] for name, field in ends.items()} for one in points]
    colour = hue("policy:N", order, orient="bottom", columns=3, symbolOpacity=1)
    line = {"x": on("t:Q", "tasks, t"), "y": on("y:Q", up, zero=key != "reward"), "color": colour}
    band = {**line, "y": {**line["y"], "field": "low"}, "y2": {"field": "high"}}
    return sized(plot(rows, "area", band, opacity=0.18) + plot(rows, "line", line))


def page(facts: dict[str, Any]) -> Page:
    """The page of a study of asking."""
    drawn = charts(facts)
    captions = {
        "regret": "T U(S*) less what was earned; S* the best majority with skills known. Below 0: better than it.",
        "reward": "Exploration in. A repeat of a tester earns the task that arrives a guess.",
        "cost_regret": "What was paid above the best majority's cost.",
    }
    telling = [key for key in CURVES if any(point[key] for point in facts["curves"])]  # no cost regret without prices
    parts = [Chart(CURVES[key], drawn[key], captions[key]) for key in telling]
    notes = [f"{line['policy']}: {note}" for line in facts["policies"] for note in line["notes"]]
    figures = PageTable(COLUMNS, facts["policies"], NOTES, "Means over trials; summary.csv has their intervals.")
    sections = [Section("Figures", [figures, *notes]), Section("Over time", parts)]
    every = PageTable({"trial": "trial", **COLUMNS}, facts["rows"], NOTES)
    sections.append(Section("Trials", [Folded("every trial", every)]))
    return Page(facts["title"], verdict(facts), sections, f"crowdopt {facts['version']}, seed {facts['seed']}")


KIND = Kind("learning whom to ask", "learning.json", "learning.json", page)

"""The cost of an adaptive plan over the error target, a line for each number of rounds."""

from __future__ import annotations

from typing import Any

from crowdopt.report.charts import WIDE, altair


def cost_of_rounds(points: list[tuple[str, float, float]]) -> Any:
    """Cost against the mean target; points: rounds in words, target, cost. The last line is what no plan undercuts."""
    alt = altair()
    names = list(dict.fromkeys(name for name, *_ in points))
    shown = {name: f"{name}: no adaptive plan costs less" if name == names[-1] else name for name in names}
    rows = [{"rounds": shown[name], "epsilon": target, "cost": cost} for name, target, cost in points]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("epsilon:Q", scale=alt.Scale(zero=False), title="error target (mean)", axis=alt.Axis(format="%")),
            y=alt.Y("cost:Q", scale=alt.Scale(zero=True), title="expected cost"),
            strokeDash=alt.condition(alt.datum.rounds == shown[names[-1]], alt.value([6, 3]), alt.value([1, 0])),
            color=alt.Color(
                "rounds:N", sort=list(shown.values()), title=None, legend=alt.Legend(orient="bottom", columns=1)
            ),
        )
        .properties(width=WIDE, height=300)
    )

"""The total cost of labels and audit as a picture."""

from __future__ import annotations

from typing import Any

from crowdopt.arrays import Floats
from crowdopt.report.charts import altair


def total_cost(epsilon: Floats, labels: Floats, total: Floats, experts_alone: float) -> Any:
    """Cost against the error that labels are planned for: labels alone, labels with their audit, experts alone.

    epsilon (k,): errors that labels are planned for; labels, total (k,): what the labels cost, and with their audit;
    experts_alone: what it costs to have an expert answer every task.
    """
    alt = altair()
    rows = [
        {"epsilon": e, "cost": cost, "what": what}
        for what, values in (("labels and audit", total), ("labels alone, nothing certified", labels))
        for e, cost in zip(epsilon.tolist(), values.tolist(), strict=True)
    ]
    rows += [{"epsilon": e, "cost": experts_alone, "what": "experts alone"} for e in epsilon.tolist()]
    best = min((row for row in rows if row["what"] == "labels and audit"), key=lambda row: row["cost"])
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("epsilon:Q", scale=alt.Scale(type="log"), title="error that the labels are planned for"),
        y=alt.Y("cost:Q", title="cost", scale=alt.Scale(type="log", zero=False, nice=True)),
        color=alt.Color("what:N", title=None, sort=None, legend=alt.Legend(orient="bottom")),
    )
    point = alt.Chart(alt.Data(values=[best])).mark_point(filled=True, size=80).encode(x="epsilon:Q", y="cost:Q")
    return (base.mark_line() + point).properties(width=480, height=300)

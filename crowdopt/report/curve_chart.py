"""The cost of an error target as a picture."""

from __future__ import annotations

from typing import Any

from crowdopt.arrays import Floats
from crowdopt.report.charts import WIDE, altair


def cost_curve(epsilon: Floats, bound: Floats, plan: Floats) -> Any:
    """Cost against epsilon, (points,), on logarithmic scales: what no plan undercuts, and plans found or NaN."""
    alt = altair()
    rows = [
        {"epsilon": e, "cost": c, "what": what}
        for what, values in (("no plan costs less", bound), ("a plan", plan))
        for e, c in zip(epsilon.tolist(), values.tolist(), strict=True)
        if c == c and c > 0
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("epsilon:Q", scale=alt.Scale(type="log"), title="error target of every task"),
        y=alt.Y("cost:Q", scale=alt.Scale(type="log", zero=False, nice=True), title="cost of the labels"),
        color=alt.Color("what:N", title=None, legend=alt.Legend(orient="top")),
    )
    line = base.transform_filter("datum.what == 'no plan costs less'").mark_line()
    return (line + base.transform_filter("datum.what == 'a plan'").mark_point(filled=True, size=50)).properties(
        width=WIDE, height=300
    )

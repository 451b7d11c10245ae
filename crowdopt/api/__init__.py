"""The calls: the one place that binds solvers to methods."""

from crowdopt.api.answering import AGGREGATIONS, aggregate, answers, rehearse
from crowdopt.api.assigning import PROGRAMS, assign
from crowdopt.api.binding import SEARCH
from crowdopt.api.explaining import (
    conflict,
    curve,
    draw_curve,
    explain,
    has_plan,
    margins,
    remedies,
)
from crowdopt.api.exporting import EXPORTS, export
from crowdopt.api.hiring import SELECTIONS, hire, select
from crowdopt.api.spending import promise, spend
from crowdopt.io.campaign import read_campaign, write_campaign
from crowdopt.io.importing import import_labels
from crowdopt.io.plan_folder import write_plan
from crowdopt.offline.explain.curve import Curve
from crowdopt.offline.explain.margins import Margins
from crowdopt.offline.frontier import cost_frontier
from crowdopt.report.charts import can_draw
from crowdopt.verify import verify

__all__ = [
    "AGGREGATIONS",
    "EXPORTS",
    "PROGRAMS",
    "SEARCH",
    "SELECTIONS",
    "Curve",
    "Margins",
    "aggregate",
    "answers",
    "assign",
    "can_draw",
    "conflict",
    "cost_frontier",
    "curve",
    "draw_curve",
    "explain",
    "export",
    "has_plan",
    "hire",
    "import_labels",
    "margins",
    "promise",
    "read_campaign",
    "rehearse",
    "remedies",
    "select",
    "spend",
    "verify",
    "write_campaign",
    "write_plan",
]

"""The calls: the one place that binds solvers to methods."""

from crowdopt.api.aggregate import AGGREGATIONS, aggregate, answers, rehearse
from crowdopt.api.assign import PROGRAMS, assign
from crowdopt.api.binding import SEARCH
from crowdopt.api.budget import promise, spend
from crowdopt.api.explain import conflict, curve, draw_curve, explain, has_plan, margins, remedies
from crowdopt.api.export import EXPORTS, export
from crowdopt.api.select import SELECTIONS, hire, select
from crowdopt.assign.explain.cost_curve import CostCurve
from crowdopt.assign.explain.margins import Margins
from crowdopt.hire.frontier import cost_frontier
from crowdopt.io.campaign import read_campaign
from crowdopt.io.campaign_writing import write_campaign
from crowdopt.io.plan_folder import write_plan
from crowdopt.io.real_labels import import_labels
from crowdopt.recheck.verification import verify
from crowdopt.report.charts import can_draw

__all__ = [
    "AGGREGATIONS",
    "EXPORTS",
    "PROGRAMS",
    "SEARCH",
    "SELECTIONS",
    "CostCurve",
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

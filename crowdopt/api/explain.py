"""The calls that say why there is no plan and what would help, or what one more unit costs."""

from __future__ import annotations

from pathlib import Path

from crowdopt.api.assign import assign
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.explain.conflict import conflict as find_conflict
from crowdopt.assign.explain.cost_curve import CostCurve
from crowdopt.assign.explain.cost_curve import curve as find_curve
from crowdopt.assign.explain.margins import Margins
from crowdopt.assign.explain.margins import margins as find_margins
from crowdopt.assign.explain.questions import Probe
from crowdopt.assign.explain.remedies import Remedy
from crowdopt.assign.explain.remedies import remedies as find_remedies
from crowdopt.assign.explain.shortage import Shortage, shortage
from crowdopt.assign.quick import quick_plan
from crowdopt.backends import solve_whole
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.report.charts import save
from crowdopt.report.curve_chart import cost_curve


def explain(instance: AssignmentInstance, time_limit: float = 60.0) -> Shortage | None:
    """What an infeasible instance lacks, and which error target is within reach; None if time ran out."""
    return shortage(instance, _probe(time_limit))


def remedies(instance: AssignmentInstance, time_limit: float = 60.0, epsilon: float | None = None) -> list[Remedy]:
    """Ways to make an infeasible instance feasible, each with a plan of whole labels that proves it.

    A looser error target (``epsilon``, or the smallest found), more capacity, more workers, fewer tasks, more money.
    """
    probe = _probe(time_limit)
    if epsilon is None:
        found = shortage(instance, probe)
        epsilon = None if found is None else found.epsilon_within_reach
    return find_remedies(instance, probe, epsilon)


def conflict(instance: AssignmentInstance, time_limit: float = 60.0) -> list[int]:
    """An irreducible set of types whose needs cannot be met together; empty where shares of labels would do."""
    return find_conflict(instance, _probe(time_limit))


def has_plan(instance: AssignmentInstance, time_limit: float = 20.0) -> bool:
    """Whether a plan of whole labels was found within the time."""
    probe = _probe(time_limit)
    return probe.find(instance) is not None or assign(instance, time_limit=probe.clock.left, gap=1.0).found


def margins(instance: AssignmentInstance, time_limit: float = 60.0) -> Margins | None:
    """Prices of tasks and values of capacities by the LP, the steepest solved again; None where it has no point."""
    return find_margins(instance, _probe(time_limit))


def curve(instance: AssignmentInstance, time_limit: float = 60.0) -> CostCurve:
    """What each error target costs: the LP's optimum piece by piece, and plans that were found."""
    probe = _probe(time_limit)
    found = shortage(instance, probe)
    least = found.no_epsilon_below if found is not None and found.no_epsilon_below else instance.epsilon.min()
    return find_curve(instance, probe, max(1e-6, 1.001 * float(least)))


def draw_curve(found: CostCurve, path: Path) -> None:
    """A picture of the curve; its name says the format."""
    save(cost_curve(found.epsilon, found.bound, found.plan), path)


def _probe(seconds: float) -> Probe:
    return Probe(solve_whole, lambda instance, limit: quick_plan(instance, SOLVERS, limit), Clock(seconds))

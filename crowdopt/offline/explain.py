"""Why an instance has no plan, in tasks, types and workers, and which error target would have one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowdopt.core.certificate import certify
from crowdopt.core.program import relax
from crowdopt.core.solution import Options, Solution, Solve, Status
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance
from crowdopt.plan import Floats, Ints, breaches
from crowdopt.programs import assignment, missing, smallest_coverage

NOTICE = 1e-6  # evidence, labels or money; a lack below this is solver noise


@dataclass(frozen=True, eq=False)
class Shortage:
    """What is missing at least, by the elastic LP, and the error targets within reach.

    Parameters
    ----------
    evidence : (tasks,)
        Missing evidence; their sum is the least possible, its split over interchangeable tasks arbitrary.
    labels : (tasks,)
        Labels missing to the fewest wanted.
    load : (workers,)
        Labels missing to the minimum load.
    money : float, optional
        What a plan costs at least, budget aside, where only the budget is in the way.
    blocked : bool
        Whether limits other than the evidence leave no plan for any error target.
    no_epsilon_below : float, optional
        No plan can promise less than this to every task (an LP bound). None: no error target helps.
    epsilon_within_reach : float, optional
        A plan for this uniform target was found. None: none was found.
    """

    evidence: Floats
    labels: Floats
    load: Floats
    money: float | None
    blocked: bool
    no_epsilon_below: float | None
    epsilon_within_reach: float | None

    @property
    def total(self) -> float:
        """All that is missing but money, each in its own unit, added up: 0 where the LP without budget is feasible."""
        return float(self.evidence.sum() + self.labels.sum() + self.load.sum())

    def sentences(self, instance: AssignmentInstance) -> list[str]:
        """The shortage in words, the worst first."""
        said = _by_type(instance, self.evidence)
        said += _each("task", instance.task_id, self.labels, "label(s) short of its min_labels")
        said += _each("worker", instance.worker_id, self.load, "task(s) short of its min_tasks")
        if self.money is not None:
            said.append(f"the budget of {instance.budget:g} is too small: no plan costs less than {self.money:.6g}")
        if not said:
            said.append("shares of labels would do: only whole labels do not fit")
        if self.blocked:
            said.append("no error target helps: the other limits leave no plan, so mend those first")
        if self.no_epsilon_below is None:
            return said
        if self.no_epsilon_below >= 1 - 1 / instance.classes:
            said.append("no error target better than guessing is within reach: more or better workers are needed")
            return said
        said.append(f"no plan can promise every task an error below {self.no_epsilon_below:.4g}")
        if self.epsilon_within_reach is not None:
            reach = _rounded_up(self.epsilon_within_reach)
            said.append(f"a plan for epsilon = {reach:g} exists: set that, add capacity, or drop tasks")
        return said


def shortage(instance: AssignmentInstance, solve: Solve, backend: str, options: Options) -> Shortage | None:
    """Solve the elastic LP, budget aside, and the LP of the smallest coverage; None where time ran out.

    The first says what is missing, the second how low an error target can be. A plan for a target within reach is
    then looked for by rounding the second one's answer.
    """
    free = replace(instance, budget=None)
    elastic = solve(missing.build(free), backend, options)
    if elastic.primal is None or not certify(elastic).is_feasible():
        return None
    lacks = {name: _missing(elastic, name) for name in ("cover", "labels", "capacity")}
    level = solve(smallest_coverage.build(instance), backend, options)
    below, reach = _targets(instance, level)
    found = Shortage(
        evidence=_or_zero(lacks["cover"], instance.n_tasks),
        labels=_or_zero(lacks["labels"], instance.n_tasks),
        load=_or_zero(lacks["capacity"], instance.n_workers),
        money=None,
        blocked=level.status is Status.INFEASIBLE,
        no_epsilon_below=below,
        epsilon_within_reach=reach,
    )
    if instance.budget is None or found.total > NOTICE:
        return found
    cheapest = certify(solve(relax(assignment.build(free)), backend, options)).bound
    return replace(found, money=cheapest if instance.budget < cheapest < np.inf else None)


def _missing(solution: Solution, name: str) -> Floats | None:
    try:
        block = solution.program.column(f"missing.{name}")
    except KeyError:
        return None
    assert solution.primal is not None
    lacking: Floats = block.view(solution.primal)
    return np.where(lacking > NOTICE, lacking, 0.0)


def _or_zero(values: Floats | None, size: int) -> Floats:
    return np.zeros(size) if values is None else values


def _targets(instance: AssignmentInstance, solution: Solution) -> tuple[float | None, float | None]:
    """The error below which nothing can be promised, and one that a rounded plan keeps."""
    known = certify(solution)
    if solution.primal is None or not known.is_feasible() or not np.isfinite(known.bound):
        return None, None
    below = float(instance.error_bound(np.array([-known.bound]))[0])
    if below >= 1 - 1 / instance.classes:
        return below, None
    table = solution.program.column("y").view(solution.primal)
    starts = (table, np.where(_fixed(instance), 1.0, 0.0))  # from the LP's whole shares, and from nothing
    plans = [plan for plan in (round_for_coverage(instance, start) for start in starts) if plan is not None]
    level = max((_smallest(instance, plan) for plan in plans), default=0.0)
    reached = float(instance.error_bound(np.array([level]))[0])
    return below, reached if _rounded_up(reached) < 0.5 else None


def _fixed(instance: AssignmentInstance) -> NDArray[np.bool_]:
    """Which pairs must be in the plan, (tasks, workers)."""
    fixed = np.zeros((instance.n_tasks, instance.n_workers), bool)
    fixed[tuple(instance.fixed.T)] = True
    return fixed


def _smallest(instance: AssignmentInstance, pairs: Ints) -> float:
    return float((instance.collected_evidence + instance.supply(pairs)).min()) - COVERAGE


def round_for_coverage(instance: AssignmentInstance, shares: Floats) -> Ints | None:
    """Whole labels from shares, for the largest smallest coverage: keep whole shares, then help the neediest in turn.

    The task with the least evidence gets the best worker still free for it, dearest share first, until it cannot be
    helped any more. None where a limit other than the evidence stays broken.
    """
    chosen = shares > 1 - NOTICE
    evidence = instance.evidence[instance.task_type]
    free = np.ones_like(chosen)
    free[tuple(instance.barred.T)] = False
    free &= ~chosen
    room = instance.capacity - chosen.sum(axis=0)
    most = instance.new_label_limits[1]
    money = np.inf if instance.budget is None else instance.budget - instance.prices(np.argwhere(chosen)).sum()
    has = instance.collected_evidence + (evidence * chosen).sum(axis=1)
    while True:
        task = int(has.argmin())
        paid = instance.cost[instance.task_type[task]]
        able = free[task] & (room >= 1) & (evidence[task] > 0) & (paid <= money)
        if not able.any() or (most[task] < UNLIMITED and chosen[task].sum() >= most[task]):
            break
        worker = int(np.where(able, evidence[task] + shares[task], -1.0).argmax())
        chosen[task, worker], free[task, worker] = True, False
        room[worker] -= 1
        money -= paid[worker]
        has[task] += evidence[task, worker]
    pairs = np.argwhere(chosen)
    others = [breach for breach in breaches(instance, pairs) if breach.limit != "lacks evidence"]
    return None if others else pairs


def _by_type(instance: AssignmentInstance, lack: Floats) -> list[str]:
    """One sentence per type that lacks evidence, the worst first; task by task where every task is its own type."""
    short = np.flatnonzero(lack > NOTICE)
    if instance.n_types == instance.n_tasks:
        said = _each("task", instance.task_id, lack, "unit(s) of evidence short of its need")
        return said
    kinds = instance.task_type[short]
    totals = np.bincount(kinds, weights=lack[short], minlength=instance.n_types)
    sentences = []
    for kind in np.argsort(-totals, kind="stable")[: (totals > NOTICE).sum()]:
        tasks = instance.task_type == kind
        needed = float(instance.residual_need[tasks].sum())
        sentences.append(
            f"type {instance.type_id(int(kind))}: its {int(tasks.sum())} tasks lack {totals[kind]:.4g} of the "
            f"{needed:.4g} units of evidence they need"
        )
    return sentences


def _each(owner: str, name: object, lack: Floats, what: str, most: int = 5) -> list[str]:
    worst = np.argsort(-lack, kind="stable")[: int((lack > NOTICE).sum())]
    said = [f"{owner} {name(int(k))} is {lack[k]:.4g} {what}" for k in worst[:most]]  # type: ignore[operator]
    return said + ([f"and {worst.size - most} more {owner}s"] if worst.size > most else [])


def _rounded_up(epsilon: float) -> float:
    """Up to four significant digits, so that what is printed can be typed."""
    step = 10.0 ** (np.floor(np.log10(epsilon)) - 3)
    return float(np.ceil(epsilon / step) * step)

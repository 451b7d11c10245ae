"""Why an instance has no plan, in tasks, types and workers, and which error target would have one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.error_targets import MOST, least_target
from crowdopt.assign.explain.joint_shortage import JointShortage, joint_shortage
from crowdopt.assign.explain.questions import NOTICE, ElasticPoint, Probe
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.law import NONE
from crowdopt.crowd.rules import BHATTACHARYYA, guessing
from crowdopt.crowd.vote_errors import fewest_exact, most_errors, relaxation

SHOWN = 20  # types in sentences; what else is to be said comes after them
STEPS = (1.01, 1.03, 1.07, 1.15, 1.3, 1.6, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)  # times the smallest target


@dataclass(frozen=True, eq=False)
class Shortage:
    """What is missing at least, by the elastic LP, and the error targets within reach."""

    # missing evidence; their sum is the least possible, its split over interchangeable tasks arbitrary
    evidence: Floats  # (tasks,)
    labels: Floats  # (tasks,): labels missing to the fewest wanted
    load: Floats  # (workers,): labels missing to the minimum load
    money: float | None  # what a plan costs at least, budget aside, where only the budget is in the way
    blocked: bool  # whether limits other than the evidence leave no plan for any error target
    # no plan can promise less than this to every task (an LP bound). None: no error target helps
    no_epsilon_below: float | None
    epsilon_within_reach: float | None  # a plan for this uniform target was found. None: none was found
    joint: JointShortage | None = None  # how limits of groups and own rows are in the way, where there are any

    @property
    def total(self) -> float:
        """All that is missing but money, each in its own unit: 0 where the LP without budget is feasible."""
        contradiction = self.joint.contradiction if self.joint is not None else 0.0
        return float(self.evidence.sum() + self.labels.sum() + self.load.sum()) + contradiction

    def sentences(self, instance: AssignmentInstance, proven: bool = True) -> list[str]:
        """The shortage in words, the worst first.

        proven: whether there is known to be no plan; else it is no reason that shares of labels would do.
        """
        lines = _by_type(instance, self.evidence) + _labels(instance, self.labels) + self.limits_in_the_way(instance)
        if not lines and proven:
            lines.append("shares of labels would do: only whole labels do not fit")
        if self.blocked:
            lines.append("no error target helps: the other limits leave no plan, so mend those first")
        least = self.no_epsilon_below
        if least is None or least < instance.epsilon.max() * (1 - 1e-6):  # what is asked is not ruled out for all
            return lines
        if least >= 1 - 1 / instance.classes:
            lines.append("no error target better than guessing is within reach: more or better workers are needed")
            return lines
        lines.append(f"{by_rule(instance)}no plan can promise every task an error below {least:.4g}")
        if self.epsilon_within_reach is not None:
            reach = rounded_up(self.epsilon_within_reach)
            lines.append(f"a plan for epsilon = {reach:g} exists: set that, add capacity, or drop tasks")
        return lines

    def limits_in_the_way(self, instance: AssignmentInstance) -> list[str]:
        """Least loads, limits of groups, own rows and money, as far as they are in the way, in words."""
        lines = _each("worker", instance.worker_id, self.load, "task(s) short of its min_tasks")
        lines += [] if self.joint is None else self.joint.sentences
        if self.money is not None:
            lines.append(f"the budget of {instance.budget:g} is too small: no plan costs less than {self.money:.6g}")
        return lines


def by_rule(instance: AssignmentInstance) -> str:
    """Of which rule a sentence about promises speaks, where that is not the promise itself."""
    return f"{instance.the_rule.of_rule} ".lstrip()


def shortage(instance: AssignmentInstance, probe: Probe) -> Shortage | None:
    """Solve the elastic LP, budget aside, then look for the smallest error target; None where time ran out.

    The lack of a class of interchangeable tasks (or workers) is shared equally by its members.
    """
    free = relaxation(replace(instance, budget=None))
    classes = classes_of(free, joint=True)
    joint = joint_shortage(free, classes, probe)
    solution = probe.elastic(classes, joint_too=joint is not None and joint.contradiction > 0)
    if solution is None:
        return None
    task, worker = classes.task_class, classes.worker_class
    below, reach, blocked = _targets(instance, probe)
    lack = Shortage(
        evidence=(_missing(solution, "cover", classes.need.size) / classes.tasks_in)[task],
        labels=(_missing(solution, "labels", classes.need.size) / classes.tasks_in)[task],
        load=(_missing(solution, "capacity", classes.capacity.size) / classes.workers_in)[worker],
        money=None,
        blocked=blocked,
        no_epsilon_below=below,
        epsilon_within_reach=reach,
        joint=joint,
    )
    if instance.budget is None or lack.total > NOTICE:
        return lack
    cheapest = probe.bound(free)
    return replace(lack, money=cheapest if instance.budget < cheapest < np.inf else None)


def _missing(solution: ElasticPoint, name: str, size: int) -> Floats:
    try:
        lacking = solution.column(f"missing.{name}")
    except KeyError:
        return np.zeros(size)
    return np.where(lacking > NOTICE, lacking, 0.0)


def _targets(instance: AssignmentInstance, probe: Probe) -> tuple[float | None, float | None, bool]:
    """The error below which nothing can be promised, one that a plan of whole labels keeps, and if nothing helps."""
    if probe.lacks_shares(instance.with_epsilon(MOST)):
        rule = BHATTACHARYYA.name if instance.the_rule.checked else instance.rule
        asking_nothing = replace(instance, demand=np.zeros(instance.n_tasks), rule=rule, difficulty=NONE)
        return (None, None, True) if probe.lacks_shares(asking_nothing) else (0.5, None, False)
    below = least_target(instance, probe.lacks_shares, probe.clock)
    return below, _reached(instance, below, probe), False


def _reached(instance: AssignmentInstance, least: float, probe: Probe) -> float | None:
    """The target of an actual plan: the first of ever larger ones that has one, and as low as that plan allows."""
    guesses = [float(guessing(instance.prior).max())] if instance.the_rule.heeds_prior else []
    for target in [*(least * step for step in STEPS), *guesses]:
        epsilon = rounded_up(target)
        if epsilon >= 0.5 or probe.clock.over:
            continue
        tried = instance.with_epsilon(epsilon)
        pairs = probe.find(tried)
        if pairs is not None:
            return min(epsilon, rounded_up(max(least, error_kept(tried, pairs))))
    return None


def error_kept(instance: AssignmentInstance, pairs: Ints) -> float:
    """The least error target that every task keeps, by the rule, or exactly where the rule goes by exact errors."""
    rule = instance.the_rule
    if rule.checked:
        evidence = instance.collected_evidence + instance.supply(pairs)
        asked = np.minimum(rule.error_of(evidence, instance.prior), guessing(instance.prior))
        return float(max(most_errors(instance, pairs).max(), asked.max()))
    evidence = instance.collected_evidence + instance.supply(pairs) - COVERAGE
    if (instance.dependence > 1).any():
        return float(instance.error_bound(evidence).max())
    error = rule.error(evidence, instance.classes, instance.prior)
    return float((np.minimum(error, guessing(instance.prior)) if rule.heeds_prior else error).max())


def _by_type(instance: AssignmentInstance, lack: Floats) -> list[str]:
    """One sentence per type that lacks evidence, the worst first; task by task where every task is its own type."""
    short = np.flatnonzero(lack > NOTICE)
    if instance.n_types == instance.n_tasks:
        lines = _each("task", instance.task_id, lack, "unit(s) of evidence short of its need")
        return lines
    kinds = instance.task_type[short]
    totals = np.bincount(kinds, weights=lack[short], minlength=instance.n_types)
    sentences = []
    worst = np.argsort(-totals, kind="stable")[: (totals > NOTICE).sum()]
    for kind in worst[:SHOWN]:
        tasks = instance.task_type == kind
        needed = float(instance.residual_need[tasks].sum())
        sentences.append(
            f"type {instance.type_id(int(kind))}: its {int(tasks.sum())} tasks lack {totals[kind]:.4g} of the "
            f"{needed:.4g} units of evidence they need"
        )
    return sentences + ([f"and {worst.size - SHOWN} more types"] if worst.size > SHOWN else [])


def _labels(instance: AssignmentInstance, lack: Floats) -> list[str]:
    """Missing labels; under a checked rule first the tasks that nobody could settle."""
    if not instance.the_rule.checked or not (lack > NOTICE).any():
        return _each("task", instance.task_id, lack, "label(s) short of its min_labels")
    hopeless = fewest_exact(instance) > instance.n_workers
    names = [instance.task_id(int(i)) for i in np.flatnonzero(hopeless)]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    lines = [f"nobody could bring these tasks to their target: {', '.join(names[:5])}{more}"] if names else []
    what = "label(s) short of the fewest that its target takes"
    return lines + _each("task", instance.task_id, np.where(hopeless, 0.0, lack), what)


def _each(owner: str, name: object, lack: Floats, what: str, most: int = 5) -> list[str]:
    worst = np.argsort(-lack, kind="stable")[: int((lack > NOTICE).sum())]
    lines = [f"{owner} {name(int(k))} is {lack[k]:.4g} {what}" for k in worst[:most]]  # type: ignore[operator]
    return lines + ([f"and {worst.size - most} more {owner}s"] if worst.size > most else [])


def rounded_up(epsilon: float) -> float:
    """Up to four significant digits, so that what is printed can be typed."""
    return float(Context(prec=4, rounding=ROUND_CEILING).create_decimal(repr(epsilon)))

"""Why an instance has no plan, in tasks, types and workers, and which error target would have one.

Quick questions to an instance: do shares do, do whole labels do, what is the bound.

How limits of groups and own rows stand in the way of a plan: which, for which tasks, and by how much.

The smallest error target that could be kept: needs fall as a target rises, and jump to 0 where a guess will do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.certificate import certify, lagrangian_bound
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BY_SIZE, WARM, Options, Solve
from crowdopt.crowd.alike import Classes, classes_of, has_joint_limits, labels_had, membership, task_limits
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.law import NONE
from crowdopt.crowd.rules import BHATTACHARYYA, guessing
from crowdopt.crowd.vote_errors import breaches, fewest_exact, most_errors, relaxation
from crowdopt.notebooks import number
from crowdopt.programs import aggregated, elastic
from crowdopt.programs.assignment import shares_of

LEAST, MOST = 1e-9, 0.4999  # error targets looked at
CLOSE = 1e-5  # relative; how closely the smallest target is told


def least_target(instance: AssignmentInstance, lacks: Callable[[AssignmentInstance], bool], clock: Clock) -> float:
    """A uniform error target that every plan exceeds, as large as bisection finds one.

    Whatever the prior, a task needs less evidence the larger its target is, and none from where its likeliest class
    errs as little: so targets that cannot be kept lie below those that can.

    lacks: whether it is proven that an instance has no plan; what is not known counts as a plan, and weakens the
    answer; -> LEAST if no target is ruled out, MOST if all are.
    """
    if not lacks(instance.with_epsilon(LEAST)):
        return LEAST
    below, above = LEAST, MOST
    if lacks(instance.with_epsilon(above)):
        return MOST
    while above > below * (1 + CLOSE) and not clock.over:
        middle = float(np.sqrt(below * above)) if above < 4 * below else max(below * 2, above / 8)
        below, above = (middle, above) if lacks(instance.with_epsilon(middle)) else (below, middle)
    return below


NOTICE = 1e-6  # evidence, labels or money; a lack below this is solver noise
GROWTH = (1.0, 1.02, 1.06, 1.15, 1.3, 1.6, 2.2, 4.0)  # times what the LP says, until whole labels do
MODEST = 5_000  # pairs up to which what the LP says is tried as it is: beyond, whole labels hardly ever fit so tightly
SHARE = 0.5  # of the time left for one plan of whole labels, which hardly ever takes so long: its work is limited


@dataclass(frozen=True, eq=False)
class ElasticPoint:
    """A feasible point of a program, with its multipliers where there are any."""

    program: Program
    primal: Floats  # (columns,): the point
    dual: Floats | None  # (rows,): multipliers in the house's sign

    def column(self, name: str) -> Floats:
        """Values of a block of columns."""
        return self.program.column(name).view(self.primal)

    @property
    def beyond(self) -> float:
        """Sum of all columns but the first block: in an elastic program, all that is missing."""
        return float(self.primal[self.program.columns[0].stop :].sum())


@dataclass(frozen=True)
class Probe:
    """Whoever solves programs, looks for plans, and watches the clock."""

    solve: Solve
    # ``(instance, seconds) -> pairs`` of any plan of whole labels, or None; it gives up after so much work, not so many
    # seconds, so that a slower machine gives the same answer
    plan: Callable[[AssignmentInstance, float], Ints | None]
    clock: Clock  # when to stop asking

    def run(self, program: Program) -> ElasticPoint | None:
        """Solve one LP or small IP; None without a point."""
        solution = self.solve(program, BY_SIZE, Options(time_limit=self.clock.left))
        if solution.primal is None or not certify(solution).is_feasible():
            return None
        return ElasticPoint(program, solution.primal, solution.dual)

    def elastic(self, classes: Classes, joint_too: bool = True) -> ElasticPoint | None:
        """What is missing at least, over classes; joint limits may be missed too, or are kept."""
        return self.run(elastic.elastic(aggregated.of_classes(classes), None if joint_too else elastic.SINGLE))

    def has_shares(self, instance: AssignmentInstance) -> bool:
        """Whether the LP relaxation of the rule has a point."""
        point = self.elastic(classes_of(relaxation(instance), joint=True))
        return point is not None and point.beyond <= NOTICE

    def lacks_shares(self, instance: AssignmentInstance) -> bool:
        """Whether multipliers prove that not even shares of labels would do; False where that is not known."""
        program = elastic.elastic(aggregated.of_classes(classes_of(relaxation(instance), joint=True)))
        point = self.run(program)
        dual = None if point is None else point.dual
        return dual is not None and lagrangian_bound(program, _at_most_one(program, dual)) > NOTICE

    def bound(self, instance: AssignmentInstance) -> float:
        """The least cost by the LP; infinite where it has no point."""
        options = Options(time_limit=self.clock.left)
        program = aggregated.of_classes(classes_of(relaxation(instance), joint=True))
        return certify(self.solve(program, WARM, options)).bound

    def find(self, instance: AssignmentInstance) -> Ints | None:
        """Any plan of whole labels that keeps every limit, found soon; None where none was."""
        if self.clock.over:
            return None
        pairs = self.plan(instance, SHARE * self.clock.left)
        return None if pairs is None or breaches(instance, pairs) else pairs


def _at_most_one(program: Program, dual: Floats) -> Floats:
    """The multipliers of an elastic program, none above the price of 1 at which its row may be missed: noise."""
    held = dual.copy()
    for block in program.columns[1:]:
        row = program.row(block.name.partition(".")[2])
        held[row.span] = np.clip(held[row.span], -1.0, 1.0)
    return held


def without_budget(instance: AssignmentInstance) -> AssignmentInstance:
    """The instance with all the money in the world."""
    return replace(instance, budget=None)


def growth(instance: AssignmentInstance) -> list[tuple[int, float]]:
    """How much more than what the LP says is tried, step by step: so much beyond so many times as much."""
    steps = list(enumerate(GROWTH))
    return steps if instance.n_tasks * instance.n_workers <= MODEST else steps[1:]


NAMED = 5  # tasks in a sentence


@dataclass(frozen=True, eq=False)
class BlockedLimit:
    """A limit that has to give way, everything else being kept."""

    limit: str  # ``min_per_task``, ``max_per_task``, ``min_share``, ``max_share``, ``lower`` or ``upper``
    name: str  # of the group, or of the own row
    amount: float  # by how much in all: labels, or units of the row
    # by how much for the task that needs most of it; the same as ``amount`` where the limit is not of tasks
    each: float
    tasks: tuple[str, ...] = ()  # tasks that need it
    share: float | None = None  # the group's share of all labels where the least of all limits gives way

    @property
    def sentence(self) -> str:
        """What is in the way, in words."""
        number = f"{self.amount:.4g}"
        if self.limit in ("lower", "upper"):
            side = "lower side is {} too high" if self.limit == "lower" else "upper side is {} too low"
            return f"row {self.name}: its {side.format(number)}"
        if self.share is not None:
            way = "low" if self.limit == "max_share" else "high"
            return f"group {self.name}: its {self.limit} is too {way}; {self.share:.4g} would do, as shares of labels"
        many = "more" if self.limit == "max_per_task" else "fewer"
        more = f" and {len(self.tasks) - NAMED} more" if len(self.tasks) > NAMED else ""
        return (
            f"group {self.name}: its {self.limit} blocks {len(self.tasks)} task(s), which need {number} label(s) "
            f"{many} of it in all: {', '.join(self.tasks[:NAMED])}{more}"
        )


@dataclass(frozen=True, eq=False)
class JointShortage:
    """What joint limits have to do with there being no plan, by two elastic LPs."""

    # the least that joint limits give way where everything else is kept; empty where they are not in the way, None
    # where everything else alone leaves no plan
    blocked: list[BlockedLimit] | None
    # what they are short of even where no task needs any evidence or label; 0 where they agree with one another
    contradiction: float

    @property
    def sentences(self) -> list[str]:
        """The same in words."""
        if self.blocked is None:
            return ["loosening groups or own rows would not be enough: without them there is no plan either"]
        lines = [limit.sentence for limit in self.blocked]
        if self.contradiction > 0:
            lines.append("these limits contradict one another, or the workers' capacities, whatever the tasks need")
        return lines


def joint_shortage(instance: AssignmentInstance, classes: Classes, probe: Probe) -> JointShortage | None:
    """Which joint limits are in the way; None without any, or where time ran out.

    instance: relaxed where its rule is checked; without a budget; classes: its own, joint limits known.
    """
    if not has_joint_limits(instance):
        return None
    base = aggregated.of_classes(classes)
    kept = probe.run(elastic.elastic(base, elastic.SINGLE))
    loose = probe.run(elastic.elastic(base, elastic.JOINT))
    contradiction = 0.0
    if kept is None:
        every = probe.run(elastic.elastic(base))
        if every is None:
            return None
        names = [block.name for block in every.program.columns[1:] if block.name.partition(".")[2] in elastic.JOINT]
        contradiction = float(sum(every.column(name).sum() for name in names))
    blocked = None if loose is None else _blocked(instance, classes, loose)
    return JointShortage(blocked, contradiction if contradiction > NOTICE else 0.0)


def _blocked(instance: AssignmentInstance, classes: Classes, point: ElasticPoint) -> list[BlockedLimit]:
    limits: list[BlockedLimit] = []
    limited = task_limits(instance)[0]
    for way, limit in (("missing", "min_per_task"), ("beyond", "max_per_task")):
        for k, amounts in enumerate(_amounts(point, f"{way}.group", (len(limited), classes.tasks_in.size))):
            if amounts.sum() > NOTICE:
                each = amounts / classes.tasks_in
                tasks = np.flatnonzero(each[classes.task_class] > NOTICE).tolist()
                names = tuple(instance.task_id(i) for i in tasks)
                name = instance.groups[limited[k]].name
                limits.append(BlockedLimit(limit, name, float(amounts.sum()), float(each.max()), names))
    for block, _, bound in shares_of(instance):
        way, limit = ("beyond", "max_share") if block == "most_share" else ("missing", "min_share")
        for k, amount in enumerate(_amounts(point, f"{way}.{block}", (len(bound),)).tolist()):
            if amount > NOTICE:
                share = _share(instance, classes, point, bound[k])
                limits.append(BlockedLimit(limit, instance.groups[bound[k]].name, amount, amount, share=share))
    own = () if instance.own_rows is None else instance.own_rows.names
    for way, limit in (("missing", "lower"), ("beyond", "upper")):
        for name, amount in zip(own, _amounts(point, f"{way}.own", (len(own),)).tolist(), strict=True):
            if amount > NOTICE:
                limits.append(BlockedLimit(limit, name, amount, amount))
    return limits


def _amounts(point: ElasticPoint, name: str, shape: tuple[int, ...]) -> Floats:
    there = any(block.name == name for block in point.program.columns)
    return np.maximum(0.0, point.column(name)).reshape(shape) if there else np.zeros(shape)


def _share(instance: AssignmentInstance, classes: Classes, point: ElasticPoint, group: int) -> float:
    labels, mine = point.column("u").sum(axis=0), membership(instance)[group, classes.first_worker]
    had = labels_had(instance)[group].sum()
    return float((labels[mine].sum() + had) / (labels.sum() + len(instance.collected)))


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
            lines.append("the linear relaxation has a solution; no plan of whole labels does")
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
            lines.append(
                f"the budget of {instance.budget:g} is too small: no plan costs less than {number(self.money)}"
            )
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

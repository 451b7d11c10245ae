"""How limits of groups and own rows stand in the way of a plan: which, for which tasks, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.explain.questions import NOTICE, ElasticPoint, Probe
from crowdopt.crowd.alike import Classes
from crowdopt.crowd.group_limits import has_joint_limits, labels_had, membership, task_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs import aggregated, missing
from crowdopt.programs.assignment import shares_of

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
    kept = probe.run(missing.elastic(base, missing.SINGLE))
    loose = probe.run(missing.elastic(base, missing.JOINT))
    contradiction = 0.0
    if kept is None:
        every = probe.run(missing.elastic(base))
        if every is None:
            return None
        names = [block.name for block in every.program.columns[1:] if block.name.partition(".")[2] in missing.JOINT]
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

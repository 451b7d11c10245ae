"""Why not, and what would help: limits loosened, tasks dropped or accepted, more of what is short; a unit's worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.shortage import (
    NOTICE,
    BlockedLimit,
    ElasticPoint,
    Probe,
    growth,
    joint_shortage,
    rounded_up,
    without_budget,
)
from crowdopt.core.certificate import pulling_sides
from crowdopt.core.program import Program
from crowdopt.crowd.alike import Classes, classes_of, has_joint_limits, of_tasks, of_workers, task_limits
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.errors import InputError
from crowdopt.programs import aggregated, elastic
from crowdopt.programs.assignment import shares_of

NAMED = 5  # tasks in a sentence

Accepted = tuple[str, float, AssignmentInstance, Ints]  # in words, how many tasks, the instance and a plan for it


def accepted_tasks(instance: AssignmentInstance, probe: Probe) -> Accepted | None:
    """Give each task that lacks evidence, and has labels, the target that it keeps already.

    So a campaign in rounds goes on where a task has had all the labels its limits allow: those of a panel's families
    may disagree, and no further judge may be asked.

    -> (str, float, AssignmentInstance, (k, 2) array) or None: None where a task that lacks evidence has no labels, or
    errs as much as a coin, or no plan was found.
    """
    if not len(instance.collected):
        return None
    free = relaxation(replace(instance, budget=None))
    classes = classes_of(free, joint=True)
    point = probe.elastic(classes, joint_too=False)
    if point is None:
        return None
    tasks = np.flatnonzero(point.column("missing.cover")[classes.task_class] > NOTICE)
    error = instance.error_bound(instance.collected_evidence)
    if not tasks.size or (instance.collected_count[tasks] == 0).any() or (error[tasks] >= 0.49).any():
        return None
    epsilon = instance.epsilon.copy()
    epsilon[tasks] = [max(rounded_up(float(error[i])), epsilon[i]) for i in tasks]
    after = replace(instance, epsilon=epsilon)
    pairs = probe.find(after)
    if pairs is None:
        return None
    names = [f"{instance.task_id(i)} ({epsilon[i]:g})" for i in tasks[:NAMED].tolist()]
    more = f" and {tasks.size - NAMED} more" if tasks.size > NAMED else ""
    words = (
        f"accept {tasks.size} task(s) as they are, by an epsilon of their own in tasks.csv: {', '.join(names)}{more}"
    )
    return words, float(tasks.size), after, pairs


A_SECOND = 100_000  # pairs of classes for which a solver stops in so little time


def staying_tasks(instance: AssignmentInstance, probe: Probe) -> Iterator[Ints]:
    """Ever fewer tasks, each (k,), among which the first that has a plan is wanted.

    By a small integer program over classes of tasks, whose labels are shares; where shares would do for all, one task
    of the greatest need goes first. None at all where the program is too large for the time that is left.
    """
    classes = classes_of(relaxation(instance), joint=True)
    if classes.evidence.size > A_SECOND * probe.clock.left:
        return
    solution = probe.run(elastic.without_some_tasks(classes))
    if solution is None:
        return
    drop = np.rint(solution.column("dropped")).astype(np.int64)
    if drop.sum() == 0:
        drop[int(classes.need.argmax())] = 1
    for number, factor in growth(instance):
        more = np.minimum(classes.tasks_in, np.where(drop > 0, np.ceil(drop * factor) + number, 0)).astype(np.int64)
        tasks = _staying(classes, more)
        if tasks.size == 0:
            return
        yield tasks


def _staying(classes: Classes, drop: Ints) -> Ints:
    order = np.argsort(classes.task_class, kind="stable")
    ends = np.cumsum(classes.tasks_in)
    parts = [order[end - size : end - gone] for end, size, gone in zip(ends, classes.tasks_in, drop, strict=True)]
    return np.sort(np.concatenate(parts))


STEPS = ((0, 1.0), (0, 1.1), (1, 1.3), (2, 1.7), (3, 2.5))  # labels more than, and times, what shares of labels take
NEAR = 1e-6  # labels; a share of a label that is solver noise
SHARES = 1e-4  # of shares, so that what is printed can be typed

Loosened = tuple[str, float, AssignmentInstance, Ints]  # in words, how many limits, the instance and a plan for it


def loosened_limits(instance: AssignmentInstance, probe: Probe) -> Loosened | None:
    """The joint limits that are in the way, loosened together; else one group's limits dropped.

    -> (str, float, AssignmentInstance, (k, 2) array) or None: None where there are no such limits, or no plan was
    found.
    """
    if not has_joint_limits(instance):
        return None
    free = relaxation(instance)
    lack = joint_shortage(free, classes_of(free, joint=True), probe)
    if lack is None or lack.blocked is None:
        return None
    tries = _loosened(instance, lack.blocked) if lack.blocked else _without_one(instance)
    for after in tries:
        pairs = None if probe.clock.over else probe.find(after)
        if pairs is not None:
            used = _used(instance, after, pairs)
            changes = _changes(instance, used)
            return ("loosen " + "; ".join(changes), float(len(changes)), used, pairs) if changes else None
    return None


def _loosened(instance: AssignmentInstance, blocked: list[BlockedLimit]) -> Iterator[AssignmentInstance]:
    for number, factor in STEPS:
        groups = tuple(_wider(group, blocked, number, factor) for group in instance.groups)
        rows = instance.own_rows
        if rows is not None:
            amount = {limit: np.zeros(len(rows.names)) for limit in ("lower", "upper")}
            for one in blocked:
                if one.limit in amount:
                    amount[one.limit][list(rows.names).index(one.name)] = np.ceil(one.amount * factor - NEAR)
            rows = replace(rows, lower=rows.lower - amount["lower"], upper=rows.upper + amount["upper"])
        try:
            yield replace(instance, groups=groups, own_rows=rows)
        except InputError:  # the rule promises nothing where so many of a family label one task
            return


def _wider(group: Group, blocked: list[BlockedLimit], number: int, factor: float) -> Group:
    for one in blocked:
        if one.name == group.name:
            labels = int(np.ceil(one.each * factor - NEAR)) + number
            if one.limit == "max_per_task":
                group = replace(group, max_per_task=min(len(group.members), (group.max_per_task or 0) + labels))
            elif one.limit == "min_per_task":
                group = replace(group, min_per_task=max(0, group.min_per_task - labels))
            elif one.limit == "max_share" and one.share is not None:
                wider = one.share + (factor - 1) * (one.share - group.max_share)
                group = replace(group, max_share=min(1.0, float(np.ceil(wider / SHARES) * SHARES)))
            elif one.limit == "min_share" and one.share is not None:
                wider = one.share - (factor - 1) * (group.min_share - one.share)
                group = replace(group, min_share=max(0.0, float(np.floor(wider / SHARES) * SHARES)))
    return group


def _without_one(instance: AssignmentInstance) -> Iterator[AssignmentInstance]:
    """Shares of labels would do: without the limits of one group whole labels may do too."""
    for k, group in enumerate(instance.groups):
        if group.has_limits:
            most = len(group.members) if group.dependent else None
            free = replace(group, min_per_task=0, max_per_task=most, min_share=0.0, max_share=1.0)
            try:
                yield replace(instance, groups=(*instance.groups[:k], free, *instance.groups[k + 1 :]))
            except InputError:
                continue


def _used(instance: AssignmentInstance, after: AssignmentInstance, pairs: Ints) -> AssignmentInstance:
    """No limit looser than the plan needs it."""
    every = np.concatenate([instance.collected, pairs])
    groups = []
    for old, new in zip(instance.groups, after.groups, strict=True):
        mine = np.isin(every[:, 1], old.members)
        labels = np.bincount(every[mine, 0], minlength=instance.n_tasks)
        share = float(mine.mean()) if mine.size else 0.0
        if new.max_per_task != old.max_per_task and old.max_per_task is not None:
            new = replace(new, max_per_task=max(old.max_per_task, int(labels.max())))
        if new.min_per_task != old.min_per_task:
            new = replace(new, min_per_task=min(old.min_per_task, int(labels.min())))
        if new.max_share != old.max_share:
            new = replace(new, max_share=max(old.max_share, min(1.0, float(np.ceil(share / SHARES) * SHARES))))
        if new.min_share != old.min_share:
            new = replace(new, min_share=min(old.min_share, float(np.floor(share / SHARES) * SHARES)))
        groups.append(new)
    return replace(after, groups=tuple(groups))


def _changes(before: AssignmentInstance, after: AssignmentInstance) -> list[str]:
    words = []
    for old, new in zip(before.groups, after.groups, strict=True):
        for name in ("min_per_task", "max_per_task", "min_share", "max_share"):
            was, now = getattr(old, name), getattr(new, name)
            if was != now:
                words.append(f"group {old.name}: {name} = {now:.4g} in place of {was:.4g}")
    if before.own_rows is not None and after.own_rows is not None:
        for name in ("lower", "upper"):
            sides = zip(
                before.own_rows.names, getattr(before.own_rows, name), getattr(after.own_rows, name), strict=True
            )
            words += [
                f"row {row}: {name} side {now:.6g} in place of {was:.6g}" for row, was, now in sides if was != now
            ]
    return words


TARGETS = 25  # targets
PLANS = 3  # at each such step a plan of whole labels is looked for
LARGEST = 0.45  # error target at the right end


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Cost by error target, all tasks alike."""

    epsilon: Floats  # (k,): ascending
    bound: Floats  # (k,): least cost by the LP: no plan costs less
    plan: Floats  # (k,): cost of a plan that was found; NaN where none was looked for, or none found


def curve(instance: AssignmentInstance, probe: Probe, least: float) -> CostCurve:
    """The curve from the smallest target within reach to LARGEST, budget aside."""
    free, found = without_budget(instance), []
    for place, epsilon in enumerate(np.geomspace(least, LARGEST, TARGETS).tolist()):
        aimed = free.with_epsilon(epsilon)
        bound = probe.bound(aimed)
        pairs = None if place % PLANS else probe.find(aimed)
        if np.isfinite(bound):
            found.append((epsilon, bound, np.nan if pairs is None else float(free.prices(pairs).sum())))
    return CostCurve(*np.array(found).reshape(-1, 3).T)


@dataclass(frozen=True, eq=False)
class Margins:
    """First-order answers of the LP over classes."""

    cost: float  # optimum of the LP
    # what the task's need costs at the margin: multiplier times need, and the same of its fewest labels
    task_price: Floats  # (tasks,)
    capacity_value: Floats  # (workers,): what one more unit of the worker's capacity saves at most
    # what loosening a joint limit by one saves at most: one label of a group more, or fewer, for each task; one label
    # of a group beyond its share; one unit of an own row. The limit in words is the key
    limit_value: dict[str, float]


def margins(instance: AssignmentInstance, probe: Probe) -> Margins | None:
    """Multipliers of the LP relaxation as prices; None where it has no point.

    The LP's optimum is convex in needs and capacities: a tangent never promises less than one more unit of capacity
    brings.
    """
    classes = classes_of(relaxation(instance), joint=True)
    program = aggregated.of_classes(classes)
    point = probe.run(program)
    if point is None or point.dual is None:
        return None
    cost = float((program.cost * point.primal).sum())
    price, value = _tangents(classes, program, point)
    limits = _limit_values(classes, program, point)
    task, worker = classes.task_class, classes.worker_class
    return Margins(cost, price[task], value[worker], limits)


def _tangents(classes: Classes, program: Program, point: ElasticPoint) -> tuple[Floats, Floats]:
    assert point.dual is not None
    pulls = pulling_sides(program, point.dual)
    rows = {block.name: block.view(pulls) for block in program.rows}
    labels = np.maximum(rows.get("labels", np.zeros(classes.need.size)), 0.0)
    price = rows["cover"] * classes.floor + labels * classes.fewest
    if "group" in rows:
        fewest = task_limits(classes.instance)[1][:, classes.first_task]
        price = price + (np.maximum(rows["group"], 0.0) * fewest).sum(axis=0)
    return price, np.maximum(-rows["capacity"], 0.0)


def _limit_values(classes: Classes, program: Program, point: ElasticPoint) -> dict[str, float]:
    """Multipliers of joint limits, by name: the optimum is convex in their sides."""
    assert point.dual is not None
    pulls, groups = pulling_sides(program, point.dual), classes.instance.groups
    rows = {block.name: block.view(pulls) for block in program.rows}
    values: dict[str, float] = {}
    if "group" in rows:
        each = rows["group"] * classes.tasks_in
        for g, row in zip(task_limits(classes.instance)[0], each, strict=True):
            values[f"group {groups[g].name}, max_per_task one more"] = float(np.maximum(-row, 0.0).sum())
            values[f"group {groups[g].name}, min_per_task one less"] = float(np.maximum(row, 0.0).sum())
    for block, _, bound in shares_of(classes.instance):
        side = "one label above max_share" if block == "most_share" else "one label below min_share"
        values |= {f"group {groups[g].name}, {side}": float(abs(rows[block][k])) for k, g in enumerate(bound)}
    own = () if classes.instance.own_rows is None else classes.instance.own_rows.names
    return values | {f"row {name}, one unit looser": float(abs(rows["own"][k])) for k, name in enumerate(own)}


@dataclass(frozen=True, eq=False)
class Remedy:
    """One way out, with a plan that proves it."""

    # what is changed: ``epsilon``, ``capacity``, ``workers``, ``tasks``, ``accepted``, ``limits`` or ``budget``
    kind: str
    sentence: str  # what to do, in words
    # the new target or budget; tasks more that workers take, workers more, or tasks fewer or accepted; limits loosened
    amount: float
    instance: AssignmentInstance  # after the change
    pairs: Ints  # (k, 2): task and worker of each label of a plan for it


def remedies(instance: AssignmentInstance, probe: Probe, epsilon: float | None = None) -> list[Remedy]:
    """Error target, capacity, workers, tasks, joint limits or money: the ways out for which a plan was found.

    epsilon: a target for which a plan is known to exist.
    """
    ways: list[Callable[[], Remedy | None]] = [
        lambda: _looser_target(instance, probe, epsilon),
        lambda: _more_capacity(instance, probe),
        lambda: _more_workers(instance, probe),
        lambda: _fewer_tasks(instance, probe),
        lambda: _known_as("accepted", accepted_tasks(instance, probe)),
        lambda: _known_as("limits", loosened_limits(instance, probe)),
        lambda: _more_money(instance, probe),
    ]
    return [remedy for way in ways if not probe.clock.over and (remedy := way()) is not None]


def _looser_target(instance: AssignmentInstance, probe: Probe, epsilon: float | None) -> Remedy | None:
    if epsilon is None:
        return None
    after = instance.with_epsilon(epsilon)
    pairs = probe.find(after)
    return None if pairs is None else Remedy("epsilon", f"set epsilon = {epsilon:g}", epsilon, after, pairs)


def _more_capacity(instance: AssignmentInstance, probe: Probe) -> Remedy | None:
    """Fewest labels (weighted by their price) beyond the capacities, then no more than a plan really uses."""
    classes = classes_of(relaxation(without_budget(instance)), joint=True)
    solution = probe.run(elastic.with_extra_capacity(classes))
    if instance.budget is not None or solution is None:
        return None
    extra = solution.column("extra") / classes.workers_in
    if extra.sum() <= NOTICE:
        return None
    for after in _larger(instance, extra[classes.worker_class]):
        pairs = probe.find(after)
        if pairs is not None:
            return _capacity_used(instance, pairs)
    return None


def _larger(instance: AssignmentInstance, extra: Floats) -> Iterator[AssignmentInstance]:
    for number, factor in growth(instance):
        more = np.where(extra > NOTICE, np.ceil(extra * factor - NOTICE) + number, 0).astype(np.int64)
        room = np.maximum(instance.capacity, instance.n_tasks)
        yield replace(instance, capacity=np.minimum(instance.capacity + more, room))


def _capacity_used(instance: AssignmentInstance, pairs: Ints) -> Remedy:
    load = np.bincount(pairs[:, 1], minlength=instance.n_workers)
    over = np.maximum(0, load - instance.capacity)
    most = np.argsort(-over, kind="stable")[: int((over > 0).sum())]
    names = _listed([f"{instance.worker_id(int(j))} +{over[j]}" for j in most])
    after = replace(instance, capacity=instance.capacity + over)
    sentence = f"let {most.size} worker(s) label {over.sum()} more in all: {names}"
    return Remedy("capacity", sentence, float(over.sum()), after, pairs)


def _more_workers(instance: AssignmentInstance, probe: Probe) -> Remedy | None:
    if instance.budget is not None or instance.own_rows is not None:
        return None
    best = _most_wanted(instance, probe)
    if best is None:
        return None
    low, high = 0, 1
    while not probe.has_shares(_hired(instance, best, high)):
        low, high = high, 2 * high
        if high > 4 * instance.n_workers + 64 or probe.clock.over:
            return None
    while high - low > 1 and not probe.clock.over:
        middle = (low + high) // 2
        low, high = (low, middle) if probe.has_shares(_hired(instance, best, middle)) else (middle, high)
    for number, factor in growth(instance):
        count = int(np.ceil(high * factor)) + number
        after = _hired(instance, best, count)
        pairs = probe.find(after)
        if pairs is not None:
            like = f"worker {instance.worker_id(best)} (capacity {after.capacity[-1]})"
            return Remedy("workers", f"hire {count} more like {like}", float(count), after, pairs)
    return None


def _most_wanted(instance: AssignmentInstance, probe: Probe) -> int | None:
    classes = classes_of(relaxation(instance), joint=True)
    solution = probe.elastic(classes)
    if solution is None or solution.dual is None:
        return None
    relief = -solution.program.row("capacity").view(solution.dual) * np.maximum(1, classes.capacity)
    return int(np.flatnonzero(classes.worker_class == int(relief.argmax()))[0]) if relief.max() > NOTICE else None


def _hired(instance: AssignmentInstance, like: int, count: int) -> AssignmentInstance:
    again = np.concatenate([np.arange(instance.n_workers), np.full(count, like)])
    names = instance.worker_ids
    taken = set(names)
    fresh = (name for k in range(1, 2 * (count + len(names)) + 2) if (name := f"{names[like]}+{k}") not in taken)
    larger = of_workers(instance, again, [*names, *(next(fresh) for _ in range(count))])
    capacity, load = larger.capacity.copy(), larger.min_load.copy()
    capacity[instance.n_workers :], load[instance.n_workers :] = max(1, int(capacity[like])), 0
    return replace(larger, capacity=capacity, min_load=load)


def _fewer_tasks(instance: AssignmentInstance, probe: Probe) -> Remedy | None:
    about_all = instance.own_rows is not None or any(group.has_share_limits for group in instance.groups)
    if instance.min_load.any() or about_all:
        return None
    for staying in staying_tasks(instance, probe):
        after = of_tasks(instance, staying)
        pairs = probe.find(after)
        if pairs is not None:
            gone = np.setdiff1d(np.arange(instance.n_tasks), staying)
            names = _listed([instance.task_id(int(i)) for i in gone])
            return Remedy("tasks", f"drop {gone.size} task(s): {names}", float(gone.size), after, pairs)
    return None


def _known_as(kind: str, found: tuple[str, float, AssignmentInstance, Ints] | None) -> Remedy | None:
    return None if found is None else Remedy(kind, *found)


def _more_money(instance: AssignmentInstance, probe: Probe) -> Remedy | None:
    if instance.budget is None:
        return None
    pairs = probe.find(without_budget(instance))
    if pairs is None:
        return None
    cost = float(instance.prices(pairs).sum())
    after = replace(instance, budget=cost)
    return Remedy("budget", f"raise the budget to {cost:.10g}", cost, after, pairs)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")

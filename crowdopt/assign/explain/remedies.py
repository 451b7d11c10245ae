"""What would make an infeasible instance feasible: each remedy comes with a plan of whole labels that it allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.explain.accepted_tasks import accepted_tasks
from crowdopt.assign.explain.fewest_dropped import staying_tasks
from crowdopt.assign.explain.loosened_limits import loosened_limits
from crowdopt.assign.explain.questions import NOTICE, Probe, growth, without_budget
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.subset import of_tasks, of_workers
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.programs import extra_capacity

NAMED = 5  # ids in a sentence


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
        lambda: _loosened(instance, probe, epsilon),
        lambda: _more_capacity(instance, probe),
        lambda: _more_workers(instance, probe),
        lambda: _fewer_tasks(instance, probe),
        lambda: _known_as("accepted", accepted_tasks(instance, probe)),
        lambda: _known_as("limits", loosened_limits(instance, probe)),
        lambda: _more_money(instance, probe),
    ]
    return [remedy for way in ways if not probe.clock.over and (remedy := way()) is not None]


def _loosened(instance: AssignmentInstance, probe: Probe, epsilon: float | None) -> Remedy | None:
    if epsilon is None:
        return None
    after = instance.with_epsilon(epsilon)
    pairs = probe.find(after)
    return None if pairs is None else Remedy("epsilon", f"set epsilon = {epsilon:g}", epsilon, after, pairs)


def _more_capacity(instance: AssignmentInstance, probe: Probe) -> Remedy | None:
    """Fewest labels (weighted by their price) beyond the capacities, then no more than a plan really uses."""
    classes = classes_of(relaxation(without_budget(instance)), joint=True)
    solution = probe.run(extra_capacity.of_classes(classes))
    if instance.budget is not None or solution is None:
        return None
    extra = solution.column("extra") / classes.workers_in
    if extra.sum() <= NOTICE:
        return None
    for after in _larger(instance, extra[classes.worker_class]):
        pairs = probe.find(after)
        if pairs is not None:
            return _used(instance, pairs)
    return None


def _larger(instance: AssignmentInstance, extra: Floats) -> Iterator[AssignmentInstance]:
    for number, factor in growth(instance):
        more = np.where(extra > NOTICE, np.ceil(extra * factor - NOTICE) + number, 0).astype(np.int64)
        room = np.maximum(instance.capacity, instance.n_tasks)
        yield replace(instance, capacity=np.minimum(instance.capacity + more, room))


def _used(instance: AssignmentInstance, pairs: Ints) -> Remedy:
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

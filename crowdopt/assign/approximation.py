"""The Primal Approximation Algorithm as a method: what workers take at the LP's prices, what that lacks, its repair.

The best tasks for one worker: those of highest value, however many there is room for.

Labels for tasks that lack evidence, from workers who have room: what repairs a plan that is short.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.linear_plan import relax_classes
from crowdopt.assign.plan import Plan, Repaired
from crowdopt.core.certificate import Certificate, next_integer
from crowdopt.core.solution import Options, Solve
from crowdopt.crowd.alike import classes_of, refuse_joint_limits
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance
from crowdopt.crowd.vote_errors import breaches
from crowdopt.errors import InputError

Ids: TypeAlias = NDArray[np.integer]

ZERO = 1e-9  # a task value this far below 0 still counts as 0: at the LP's own prices exact zeros decide
TIE = 1e-7  # relative; values this close are equal, whichever way a solver rounded


def best_of(value: Floats, ties: Floats, candidates: Ids, room: int) -> Ids:
    """The ``room`` candidates of highest value; between equals those that come first by ``ties``.

    value, ties (candidates,): the larger value first; between equals the smaller ``ties``; room: how many to choose;
    all where there are no more; -> (room,): the chosen, in the order of the candidates.
    """
    if candidates.size <= room:
        return candidates
    threshold = np.partition(value, value.size - room)[value.size - room]
    slack = TIE * max(1.0, abs(float(threshold)))
    sure = value > threshold + slack
    tied = np.flatnonzero(np.abs(value - threshold) <= slack)
    left = room - int(np.count_nonzero(sure))
    sure[_first_by(ties[tied], tied, left)] = True
    chosen: Any = candidates[sure]
    return np.asarray(chosen)


def _first_by(ties: Floats, places: Ids, count: int) -> Ids:
    """The ``count`` places of least tie; between equals the earlier ones."""
    # numpy's own partial sort orders equals as the processor's vector unit does: other machines would ask other
    # pairs.
    if count >= places.size:
        return places
    if count <= 0:
        return places[:0]
    last = np.partition(ties, count - 1)[count - 1]
    before = ties < last
    equal = np.flatnonzero(ties == last)[: count - int(np.count_nonzero(before))]
    before[equal] = True
    chosen: Any = places[before]
    return np.asarray(chosen)


def top_up(
    lack: Floats,
    short: Ints,
    task_type: Ints,
    evidence: Floats,
    cost: Floats,
    taken: Mapping[int, Sequence[int]],
    room: Ints,
) -> tuple[Ints, Ints]:
    """Cheapest evidence first for each short task, the shortest tasks first: task and worker of each label, (k,).

    lack (tasks,): evidence that is missing; short (s,): the tasks to serve; task_type (tasks,); evidence, cost
    (types, workers); taken: for each short task the workers who cannot label it; room (workers,): labels that each
    could still give; lowered in place by those that they do; -> (k,) int, (k,) int: what a task still lacks when all
    who could help have, it lacks on.
    """
    tasks, workers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for task in short[np.argsort(-lack[short], kind="stable")].tolist():
        kind = task_type[task]
        free = (room > 0) & (evidence[kind] > 0)
        free[taken[task]] = False
        chosen = cheapest_labels(np.flatnonzero(free), evidence[kind], cost[kind], float(lack[task]))
        room[chosen] -= 1
        tasks.append(np.full(chosen.size, task))
        workers.append(chosen)
    return np.concatenate(tasks), np.concatenate(workers)


def cheapest_labels(free: Ints, evidence: Floats, cost: Floats, lack: float) -> Ints:
    """Workers in order of price per evidence until the lack is closed, the last one exchanged for a cheaper one.

    free (k,): who could label the task; evidence, cost (workers,); lack: evidence that is missing; -> (k,): all who are
    free where even they do not close it.
    """
    order = free[np.argsort(cost[free] / evidence[free], kind="stable")]
    total = np.cumsum(evidence[order])
    count = int(np.searchsorted(total, lack - COVERAGE))
    if count >= order.size:
        return order  # all there are; the task stays short, and that is reported
    before = total[count - 1] if count else 0.0
    rest = order[count:]
    enough = rest[evidence[rest] >= lack - before - COVERAGE]
    last = enough[np.lexsort((evidence[enough], cost[enough]))[0]]
    return np.append(order[:count], last)


METHOD = "primal-approximation"
TIES = ("random", "least-covered")


def approximate(instance: AssignmentInstance, solve: Solve, options: Options, ties: str = TIES[0]) -> Plan:
    """Everybody takes the M_j tasks of highest ``q x - c >= 0`` at the LP's prices x (Ho et al. 2013, Algorithm 1).

    As printed: ties break at random, nobody looks at what is covered. What that leaves short is repaired: the cheapest
    evidence of workers who have room, and where nobody has, labels taken from tasks that have more than they need. The
    bound is the LP's, whatever the algorithm does. ``Plan.repaired`` has what it took, what that lacked and what was
    changed; a plan that stays short is none.

    instance: under a rule whose evidence sums decide, without label limits, least loads or a budget; ties: ``random``
    as printed, or ``least-covered``: who comes later looks at what those before took.
    """
    _refuse(instance)
    relaxation = relax_classes(classes_of(instance), solve, options)
    known, duals, solution = relaxation.certificate, relaxation.duals(), relaxation.solution
    certified = known.bound if known.proof == "certificate" else -np.inf
    if np.isfinite(certified) and relaxation.classes.instance.has_whole_prices:
        known = Certificate(None, next_integer(certified), "certificate", None, None)
        certified = known.bound
    pairs = repaired = None
    if duals is not None and known.bound < np.inf and not solution.interrupted:
        taken = _taken(instance, duals.task, ties == "least-covered", np.random.default_rng(options.seed))
        pairs, repaired = _repair(instance, taken)
    return Plan.of(
        instance,
        "ip",
        known,
        certified,
        duals,
        pairs,
        method=METHOD,
        backend=solution.backend,
        seed=options.seed,
        interrupted=solution.interrupted,
        repaired=repaired,
    )


def _refuse(instance: AssignmentInstance) -> None:
    refuse_joint_limits(instance, METHOD, "in it every worker takes tasks alone")
    if instance.the_rule.checked:
        raise InputError(f"{METHOD} needs a rule whose sums decide, hoeffding or bhattacharyya, not {instance.rule}")
    limits = instance.min_labels.any() or instance.min_load.any() or (instance.max_labels < UNLIMITED).any()
    if limits or instance.budget is not None:
        raise InputError(f"{METHOD} knows no label limits, least loads or budget; use the method exact")


def _taken(instance: AssignmentInstance, price: Floats, look: bool, rng: np.random.Generator) -> Ints:
    """Task and worker of each label that the algorithm takes, fixed pairs among them, sorted."""
    fixed, barred = _by_worker(instance, instance.fixed), _by_worker(instance, instance.barred)
    covered, kind, rows = instance.collected_evidence.copy(), instance.task_type, []
    for worker, own, closed in zip(range(instance.n_workers), fixed, barred, strict=True):
        value = (instance.evidence[:, worker])[kind] * price - instance.cost[kind, worker]
        wanted = (value >= -ZERO) & (instance.need > COVERAGE)
        wanted[own] = wanted[closed] = False
        open_ = np.flatnonzero(wanted)
        first = covered[open_] - instance.need[open_] if look else rng.random(open_.size)
        tasks = np.union1d(own, best_of(value[open_], first, open_, int(instance.capacity[worker]) - own.size))
        covered[tasks] += instance.evidence[kind[tasks], worker]
        rows.append(np.column_stack([tasks, np.full(tasks.size, worker)]))
    pairs = np.concatenate(rows).astype(np.int64)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _by_worker(instance: AssignmentInstance, pairs: Ints) -> Iterator[Ints]:
    order = np.argsort(pairs[:, 1], kind="stable")
    ends = np.cumsum(np.bincount(pairs[:, 1], minlength=instance.n_workers))[:-1]
    return iter(np.split(pairs[order, 0], ends))


def _repair(instance: AssignmentInstance, taken: Ints) -> tuple[Ints | None, Repaired]:
    """The pairs with what they lack added, None where they stay short; and what was changed."""
    lack = instance.residual_need - instance.supply(taken)
    short = np.flatnonzero(lack > COVERAGE)
    had: dict[int, list[int]] = {task: [] for task in short.tolist()}
    for task, worker in np.concatenate([taken, instance.barred]).tolist():
        if task in had:
            had[task].append(worker)
    room = instance.capacity - np.bincount(taken[:, 1], minlength=instance.n_workers)
    added = np.column_stack(top_up(lack, short, instance.task_type, instance.evidence, instance.cost, had, room))
    pairs = np.concatenate([taken, added])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    if (instance.residual_need - instance.supply(pairs) > COVERAGE).any():
        pairs = Surplus.of(instance, pairs).moved()
    before, after = {*map(tuple, taken.tolist())}, {*map(tuple, pairs.tolist())}
    repaired = Repaired(
        labels=len(taken),
        short=short.size,
        lacking=float(lack[short].sum()),
        added=_array(after - before),
        removed=_array(before - after),
    )
    return (None if breaches(instance, pairs) else pairs), repaired


def _array(pairs: set[tuple[int, ...]]) -> Ints:
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


@dataclass(eq=False)
class Surplus:
    """Who labels what (``held``: each task's workers; ``busy``: each worker's tasks), and what is over, (tasks,)."""

    instance: AssignmentInstance
    held: list[set[int]]
    busy: list[set[int]]
    over: Floats  # (tasks,): evidence beyond the need; below 0 where a task is short
    locked: set[tuple[int, int]]  # set of (task, worker): fixed pairs, which stay, and barred ones, which cannot come
    # whether a task of theirs may have a label to spare. What is over hardly ever grows, so who had none once is not
    # asked again
    willing: Bools  # (workers,)

    @classmethod
    def of(cls, instance: AssignmentInstance, pairs: Ints) -> Surplus:
        """As the pairs have it."""
        held: list[set[int]] = [set() for _ in range(instance.n_tasks)]
        busy: list[set[int]] = [set() for _ in range(instance.n_workers)]
        for task, worker in pairs.tolist():
            held[task].add(worker)
            busy[worker].add(task)
        locked = {(task, worker) for task, worker in np.concatenate([instance.fixed, instance.barred]).tolist()}
        over, willing = instance.supply(pairs) - instance.residual_need, np.ones(instance.n_workers, bool)
        return cls(instance, held, busy, over, locked, willing)

    def moved(self) -> Ints:
        """Pairs, sorted, in which short tasks, the shortest first, have what others can spare, as far as they can."""
        for task in np.argsort(self.over, kind="stable").tolist():
            if self.over[task] >= -COVERAGE:
                break
            self._serve(task)
        rows = [(task, worker) for task, workers in enumerate(self.held) for worker in sorted(workers)]
        return np.array(rows, np.int64).reshape(-1, 2)

    def _serve(self, task: int) -> None:
        """Workers in order of price per evidence, each from the task that can spare them best."""
        kind = self.instance.task_type[task]
        worth, cost = self.instance.evidence[kind], self.instance.cost[kind]
        able = np.flatnonzero((worth > 0) & self.willing)
        for worker in able[np.argsort(cost[able] / worth[able], kind="stable")].tolist():
            if self.over[task] >= -COVERAGE:
                return
            if (task, worker) in self.locked or worker in self.held[task]:
                continue
            other = self._spares(worker)
            if other is None:
                self.willing[worker] = False
            else:
                self._move(worker, other, task)

    def _spares(self, worker: int) -> int | None:
        """The task that is left with most without the worker, if that is enough."""
        tasks = np.array(sorted(k for k in self.busy[worker] if (k, worker) not in self.locked), np.int64)
        if tasks.size == 0:
            return None
        left = self.over[tasks] - self.instance.evidence[self.instance.task_type[tasks], worker]
        best = int(left.argmax())
        return int(tasks[best]) if left[best] >= -COVERAGE / 2 else None  # sums round

    def _move(self, worker: int, source: int, target: int) -> None:
        evidence, kind = self.instance.evidence, self.instance.task_type
        self.over[source] -= evidence[kind[source], worker]
        self.over[target] += evidence[kind[target], worker]
        self.held[source].remove(worker)
        self.held[target].add(worker)
        self.busy[worker].remove(source)
        self.busy[worker].add(target)

"""Where there is no plan for all tasks: a plan for as many as can be served, and the best that is left for the others.

Small instances are looked through (crowdopt.assign.every_set). Elsewhere a task that no labels could serve has all
labels that lower its error, if capacities allow that beside a plan for the others. Of the other tasks as few are given
up as a program over classes says, until the rest has a plan; under exact errors, of which programs know little, tasks
are served one after the other, and then as many more as have a plan with those. Labels that remain serve tasks given
up, one after the other; then each goes where it lowers the sum of Bhattacharyya's bounds most for its price, and labels
that lower no exact error are taken back. Of a rule for the average all labels go where they lower it most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain, product
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints, nth_alike
from crowdopt.assign.bisection import first_that
from crowdopt.assign.budget.greedy_spending import spend
from crowdopt.assign.budget.spending import spent_best
from crowdopt.assign.every_set import MOST_SHORT, has_few_sets, most_served
from crowdopt.assign.explain.fewest_dropped import staying_tasks
from crowdopt.assign.explain.questions import Probe
from crowdopt.assign.plan import Plan, breaches, short_tasks, worst_breach
from crowdopt.core.certificate import Certificate
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options, Status
from crowdopt.crowd.difficulty.hard_tasks import NONE
from crowdopt.crowd.exactness import CERTAIN, errors_of
from crowdopt.crowd.group_limits import TaskGroups
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.subset import of_tasks
from crowdopt.crowd.votes.evidence import BHATTACHARYYA, EXACT_ERROR
from crowdopt.errors import InputError

Again = Callable[[AssignmentInstance, float], Plan]  # ``(instance, seconds)``: a plan by the method that was asked for

ROUNDS = 3  # of handing out what is left: labels that are taken back go to others
MANY_SHORT = 0.5  # of the tasks: labels left by a search without a plan are begun with where no more are short
RESERVED = 20_000  # pairs of hopeless tasks and workers up to which the former are served first
SURE = 1 - 1e-12  # prior of a task that asks nothing
LEAST = 1e-300  # target that no labels keep: each that helps is taken


def best_effort(plan: Plan, hopeless: Ints, again: Again, probe: Probe) -> Plan:
    """The plan of most tasks that was found, with ``short`` the others; as given where nothing keeps the other limits.

    plan: none, of an instance that has no plan for all tasks, or for which none was found in time; hopeless (k,): tasks
    that no labels could serve; probe: whose clock says when to stop.
    """
    instance = plan.instance
    if instance.budget is not None and instance.prices(instance.fixed).sum() > instance.budget:
        return plan
    if has_few_sets(instance, MOST_SHORT):
        pairs = most_served(instance, probe.solve, probe.clock.left, plan.seed)
    elif instance.the_rule.average:
        pairs = _least_on_average(instance, probe)
    else:
        pairs = _pairs(instance, plan.partial, hopeless, again, probe)
    if pairs is None or not (len(pairs) or plan.status is Status.INFEASIBLE):
        return plan  # an empty plan hands nothing out: what is known of the whole says more
    short = short_tasks(instance, pairs)
    if breaches(instance, pairs, short=short):
        return plan
    if not short.size:
        made: dict[str, Any] = {"method": plan.method, "backend": plan.backend, "seed": plan.seed, "note": plan.note}
        if plan.status is not Status.INFEASIBLE:
            return Plan.of(instance, "ip", plan.certificate, plan.certified_bound, plan.duals, pairs, **made)
        # the solver that said that there is no plan was wrong
        return Plan.of(instance, "ip", Certificate(None, -np.inf, "none", None, None), -np.inf, None, pairs, **made)
    refuted = plan.status is Status.INFEASIBLE  # else what is known bounds plans of all tasks, and this is none
    bound, proof = (plan.bound, plan.proof) if refuted else (-np.inf, "none")
    cost = float(instance.prices(pairs).sum())
    known = Certificate(cost, bound, proof, worst_breach(instance, pairs, short=short), 0.0)
    return replace(plan, pairs=pairs, short=short, certificate=known, certified_bound=-np.inf, duals=None)


def within_groups(instance: AssignmentInstance, pairs: Ints, clock: Clock) -> Ints | None:
    """Labels of a plan that heeds no groups, (k, 2), those of tasks that break a group's limit dealt anew.

    -> None where that does not keep every limit.
    """
    if _ties_all(instance):
        return None if breaches(instance, pairs) else pairs
    state = _Left(instance, pairs)
    broken = state.breaking()
    kept = ~np.isin(pairs[:, 0], broken)
    owed = instance.fixed[np.isin(instance.fixed[:, 0], broken)]
    state.pairs = _among_all(np.arange(instance.n_tasks), pairs[kept], owed)
    state.settle_all(broken, clock)
    return None if breaches(instance, state.pairs) else state.pairs


def _pairs(
    instance: AssignmentInstance, partial: Ints | None, hopeless: Ints, again: Again, probe: Probe
) -> Ints | None:
    """A plan for those that can be served, then what is left for the others."""
    for served, pairs in chain(_gone_on(instance, partial, probe.clock), _begun(instance, hopeless, again, probe)):
        others = np.setdiff1d(np.arange(instance.n_tasks), served)
        state = _Left(instance, pairs)
        _hand_out(state, np.setdiff1d(others, hopeless), others, probe.clock)
        if not breaches(instance, state.pairs, short=short_tasks(instance, state.pairs)):
            return state.pairs
    return None


def _least_on_average(instance: AssignmentInstance, probe: Probe) -> Ints:
    """Labels that lower the mean error most, whatever its target."""
    state = _Left(replace(instance, rule=EXACT_ERROR.name, epsilon=np.asarray(LEAST)), instance.fixed)
    money = float((np.minimum(instance.capacity, instance.n_tasks) * instance.cost.max(axis=0)).sum())
    try:
        most = money if instance.budget is None else instance.budget
        pairs = spent_best(instance, most, probe.solve, Options(time_limit=probe.clock.left))
    except InputError:  # a limit that only programs keep
        _hand_out(state, np.zeros(0, np.int64), np.arange(instance.n_tasks), probe.clock)
        return state.pairs
    state.add_useful(np.arange(instance.n_tasks), pairs)
    return state.pairs


def _hand_out(state: _Left, given_up: Ints, others: Ints, clock: Clock) -> None:
    """What is left: first to tasks given up that it serves, those of least need first; then to all that are short."""
    # clock: when it is over, tasks are served by a linear rule's sums, which take no time beside exact errors; of what
    # remains then only loads are filled.
    if _ties_all(state.instance):
        state.add_one_by_one(others)
        return
    if others.size == state.instance.n_tasks:
        state.fill_loads()  # before the money goes elsewhere
    state.settle_all(given_up, clock)
    state.spread(others, clock)
    state.fill_loads()


def _gone_on(instance: AssignmentInstance, partial: Ints | None, clock: Clock) -> Iterator[tuple[Ints, Ints]]:
    """Tasks served, (k,), and labels, (l, 2), of a search that found none for all: then mended."""
    every = np.arange(instance.n_tasks)
    short = every if partial is None else short_tasks(instance, partial)
    if partial is None or short.size > MANY_SHORT * instance.n_tasks:
        return
    state = _Left(instance, partial)
    state.settle_all(short, clock)
    yield np.setdiff1d(every, short_tasks(instance, state.pairs)), state.pairs
    yield np.setdiff1d(every, short), partial


def _begun(instance: AssignmentInstance, hopeless: Ints, again: Again, probe: Probe) -> Iterator[tuple[Ints, Ints]]:
    """Tasks that have a plan, (k,), and all labels so far, (l, 2): all within reach, then fewer, in the end none."""
    rest = np.setdiff1d(np.arange(instance.n_tasks), hopeless)
    owed = instance.fixed[np.isin(instance.fixed[:, 0], hopeless)]
    for given in _given_to(instance, hopeless, owed):
        yield from _planned(instance, rest, given, again, probe)
    if rest.size and not _ties_all(instance) and not probe.clock.over:
        part = _without(instance, rest, owed)
        for staying in () if part.the_rule.checked else staying_tasks(part, probe):
            given = part.fixed[~np.isin(part.fixed[:, 0], staying)]
            for served, pairs in _planned(part, staying, given, again, probe):
                yield rest[served], _among_all(rest, pairs, owed)
        served, pairs = _with_more(part, *_one_by_one(part, probe.clock), again, probe.clock)
        yield rest[served], _among_all(rest, pairs, owed)
    yield from _planned(instance, rest[:0], instance.fixed, again, probe)


def _given_to(instance: AssignmentInstance, hopeless: Ints, owed: Ints) -> Iterator[Ints]:
    """Labels that hopeless tasks have beside a plan for the others, (l, 2): all that help, or the fixed ones alone."""
    if not hopeless.size:
        return
    if hopeless.size * instance.n_workers <= RESERVED and not _ties_all(instance):
        state = _Left(instance, instance.fixed)
        for task in hopeless.tolist():
            state.take_all(task)
        yield state.pairs[np.isin(state.pairs[:, 0], hopeless)]
    yield owed


def _planned(
    instance: AssignmentInstance, served: Ints, given: Ints, again: Again, probe: Probe
) -> Iterator[tuple[Ints, Ints]]:
    """Some tasks and all labels, if a plan for those is found soon beside labels that the others are given."""
    if served.size and probe.clock.over:
        return
    pairs = _served(instance, served, given, again, probe.clock.left / 3)
    if pairs is not None:
        yield served, pairs


def _one_by_one(part: AssignmentInstance, clock: Clock) -> tuple[Ints, Ints]:
    """Tasks that are served one after the other, (k,), those of least need first, and all labels."""
    state = _Left(part, part.fixed)
    state.settle_all(np.arange(part.n_tasks), clock)
    return np.setdiff1d(np.arange(part.n_tasks), short_tasks(part, state.pairs)), state.pairs


def _with_more(part: AssignmentInstance, served: Ints, pairs: Ints, again: Again, clock: Clock) -> tuple[Ints, Ints]:
    """Tasks that are served, and as many of the others as have a plan with them, those of least need first."""
    others = np.setdiff1d(np.arange(part.n_tasks), served)
    others = others[np.argsort(part.residual_need[others], kind="stable")]
    low, high, best = 0, others.size, (served, pairs)  # all together have none that was found
    while high - low > 1 and not clock.over:
        middle = (low + high) // 2
        tried = np.sort(np.concatenate([served, others[:middle]]))
        found = _served(part, tried, part.fixed[~np.isin(part.fixed[:, 0], tried)], again, clock.left / 3)
        if found is None:
            high = middle
        else:
            low, best = middle, (tried, found)
    return best


def _among_all(tasks: Ints, pairs: Ints, given: Ints) -> Ints:
    """Labels of some tasks alone, (l, 2), and those that the others are given: sorted, by the tasks of the whole."""
    every = np.concatenate([np.column_stack([tasks[pairs[:, 0]], pairs[:, 1]]), given])
    return every[np.lexsort((every[:, 1], every[:, 0]))]


def _served(instance: AssignmentInstance, served: Ints, given: Ints, again: Again, seconds: float) -> Ints | None:
    """A plan for some tasks, beside labels that the others are given; None where none was found."""
    if not served.size:
        return None if (_room(instance, given) < 0).any() else given
    try:
        part = _asking_nothing(instance, served, given) if _ties_all(instance) else _without(instance, served, given)
    except InputError:  # what the others are given leaves too little for fixed pairs
        return None
    found = again(part, seconds).pairs
    if found is None or _ties_all(instance):
        return found
    return _among_all(served, found, given)


def _room(instance: AssignmentInstance, pairs: Ints) -> Ints:
    """Labels that each worker can give beside these, (workers,)."""
    room: Ints = instance.capacity - np.bincount(pairs[:, 1], minlength=instance.n_workers)
    return room


def _without(instance: AssignmentInstance, served: Ints, given: Ints) -> AssignmentInstance:
    """Some tasks alone, with what labels of the others leave of time and money."""
    load = np.bincount(given[:, 1], minlength=instance.n_workers)
    budget = instance.budget
    return replace(
        of_tasks(instance, served),
        capacity=instance.capacity - load,
        min_load=np.zeros(instance.n_workers, np.int64),  # labels of the others count as well: see below
        budget=None if budget is None else max(0.0, budget - float(instance.prices(given).sum())),
    )


def _ties_all(instance: AssignmentInstance) -> bool:
    """Whether some limit is on all labels together."""
    return instance.own_rows is not None or any(group.has_share_limits for group in instance.groups)


def _asking_nothing(instance: AssignmentInstance, served: Ints, given: Ints) -> AssignmentInstance:
    """All tasks, of which only some ask for anything: the others' labels are fixed, and their prior is sure."""
    others = ~np.isin(np.arange(instance.n_tasks), served)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes)).copy()
    prior[others] = (1 - SURE) / (instance.classes - 1)
    prior[others, 0] = SURE
    fixed = np.concatenate([instance.fixed[~others[instance.fixed[:, 0]]], given])
    return replace(
        instance,
        prior=prior if instance.the_rule.heeds_prior else instance.prior,
        demand=np.where(others, 0.0, instance.demand),
        min_labels=np.where(others, 0, instance.min_labels),
        fixed=fixed,
    )


class _Left:
    """Labels so far, and what is left of time, of money and of room in tasks' limits."""

    def __init__(self, instance: AssignmentInstance, pairs: Ints) -> None:
        self.instance, self.pairs = instance, pairs

    @property
    def pairs(self) -> Ints:
        """Task and worker of each label, (k, 2), sorted."""
        task = np.repeat(np.arange(self.instance.n_tasks), [its.size for its in self.its])
        return np.column_stack([task, np.concatenate(self.its)]).astype(np.int64)

    @pairs.setter
    def pairs(self, pairs: Ints) -> None:
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        budget, prices = self.instance.budget, self.instance.prices(pairs)
        self.its = np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(1, self.instance.n_tasks)))  # by task
        self.room = _room(self.instance, pairs)  # labels that each worker can still give
        self.money = np.inf if budget is None else budget - float(prices.sum())  # what is left of the budget

    def free(self, task: int, wanted: Ints | None = None) -> Ints:
        """Workers whose labels the task could have more of, the best first; as many as its limits and money allow.

        wanted (k,): only these workers, whether their labels say anything or not.
        """
        instance, kind, mine = self.instance, int(self.instance.task_type[task]), self.its[task]
        evidence = np.where(self.room > 0, instance.evidence[kind], 0.0)
        if wanted is not None:
            among = np.isin(np.arange(instance.n_workers), wanted) & (self.room > 0)
            evidence = np.where(among, 1.0 + instance.evidence[kind], 0.0)
        evidence[mine] = 0.0
        evidence[self._barred_from(task)] = 0.0
        ranked = np.argsort(-evidence, kind="stable")[: int((evidence > 0).sum())]
        ranked = ranked[self._within_groups(task, ranked)]
        ranked = ranked[: max(0, int(min(instance.new_label_limits[1][task] - mine.size, ranked.size)))]
        return ranked[np.cumsum(instance.cost[kind, ranked]) <= self.money]

    def _barred_from(self, task: int) -> Ints:
        barred = self._barred
        return barred[slice(*np.searchsorted(barred[:, 0], [task, task + 1])), 1]

    @cached_property
    def _barred(self) -> Ints:
        barred = self.instance.barred
        return barred[np.argsort(barred[:, 0], kind="stable")]

    @cached_property
    def groups(self) -> TaskGroups:
        """Those with limits per task."""
        return TaskGroups.of(self.instance)

    def breaking(self) -> Ints:
        """Tasks with more labels of a group than they may have."""
        pairs = self.pairs
        inside = self.groups.inside(pairs[:, 0], pairs[:, 1], self.instance.n_tasks)
        return np.flatnonzero((inside > self.groups.most).any(axis=0))

    def _within_groups(self, task: int, ranked: Ints) -> Ints:
        """Places of those whom each group's most labels allow, those before them counted."""
        most = self.groups.most[:, task]
        room = most - np.bincount(self.groups.those_of(self.its[task])[1], minlength=most.size)
        place, group = self.groups.those_of(ranked)
        order = np.argsort(group, kind="stable")
        group = group[order]
        allowed = np.ones(ranked.size, bool)
        allowed[place[order[nth_alike(group) >= room[group]]]] = False
        return np.flatnonzero(allowed)

    def add(self, task: int, workers: Ints) -> None:
        """Labels more of a task."""
        self.its[task] = np.sort(np.concatenate([self.its[task], workers]))
        self.room[workers] -= 1
        self.money -= float(self.instance.cost[self.instance.task_type[task], workers].sum())

    def errors(self, tasks: Ints, workers: list[Ints]) -> Floats:
        """Exact errors of tasks' votes with these labels and those that are in before the plan."""
        known = self.instance.collected
        if len(known) and not self.instance.observed:
            workers = [np.concatenate([known[known[:, 0] == i, 1], w]) for i, w in zip(tasks, workers, strict=True)]
        return errors_of(self.instance, tasks, workers)

    def settle_all(self, tasks: Ints, clock: Clock) -> None:
        """Serve these tasks, those of least need first, as far as workers who are left can."""
        for task in tasks[np.argsort(self.instance.residual_need[tasks], kind="stable")].tolist():
            self.settle_by_sums(task) if clock.over else self.settle(task)

    def spared(self, task: int) -> Ints:
        """Workers whose labels the task could have more of, those first who know much and have much time left."""
        # Were the best taken first, tasks that come late would be left with those who do not suffice together.
        free, kind = self.free(task), int(self.instance.task_type[task])
        worth = self.room[free] * np.sqrt(self.instance.evidence[kind, free])
        return free[np.argsort(-worth, kind="stable")]

    def settle(self, task: int) -> None:
        """Serve the task by the first of the workers to spare, if they can."""
        one = of_tasks(self._apart, np.array([task]))
        mine, ranked = self.its[task], self.spared(task)

        def serves(count: int) -> bool:
            hand = np.concatenate([mine, ranked[:count]])
            return not short_tasks(one, np.column_stack([np.zeros_like(hand), hand])).size

        count = 1
        while not serves(min(count, ranked.size)):  # few labels first: the error of a vote of many takes long
            if count >= ranked.size:
                return
            count *= 2
        self.add(task, ranked[: first_that(serves, min(count, ranked.size))])

    def settle_by_sums(self, task: int) -> None:
        """Serve the task by the first of the workers to spare, if they can by the sums of a linear rule."""
        sums, kind = self._of_sums, int(self.instance.task_type[task])
        mine, ranked = self.its[task], self.spared(task)
        fewest = max(0, int(self.instance.new_label_limits[0][task]) - mine.size)
        held = sums.evidence[kind, mine].sum() + np.cumsum(sums.evidence[kind, ranked])
        enough = np.flatnonzero(held >= sums.residual_need[task])
        if enough.size and fewest <= ranked.size:
            self.add(task, ranked[: max(int(enough[0]) + 1, fewest)])

    @cached_property
    def _apart(self) -> AssignmentInstance:
        """The instance without limits that tie all tasks."""
        return replace(self.instance, groups=(), own_rows=None) if _ties_all(self.instance) else self.instance

    @cached_property
    def _of_sums(self) -> AssignmentInstance:
        """The instance by sums that are enough for its own rule where no task is hard."""
        checked = self.instance.the_rule.checked
        return replace(self.instance, rule=BHATTACHARYYA.name, difficulty=NONE) if checked else self.instance

    def take_all(self, task: int) -> None:
        """All labels that lower the task's error, as far as its target."""
        mine, ranked = self.its[task], self.free(task)
        self.add(task, ranked[: int(self._useful(np.array([task]), [mine], [ranked])[0][0])])

    def _useful(self, tasks: Ints, mine: list[Ints], ranked: list[Ints]) -> tuple[Ints, Floats]:
        """How many of these labels, the first ones, do what all of them do, or bring the task to its target."""
        # Of all tasks at once, by bisection; -> (k,) and the errors with so many.

        def errors(counts: Ints) -> Floats:
            hands = [np.concatenate([had, new[:c]]) for had, new, c in zip(mine, ranked, counts, strict=True)]
            return self.errors(tasks, hands)

        low, every = np.zeros(tasks.size, np.int64), np.array([new.size for new in ranked], np.int64)
        target, high = self.instance.epsilon[tasks], np.minimum(every, 1)
        while ((reached := errors(high)) > target + CERTAIN)[high < every].any():  # few first: many take long
            high = np.where(reached > target + CERTAIN, np.minimum(every, 2 * high), high)
        least = np.where(high < every, target, np.maximum(reached, target)) + CERTAIN
        while (low < high).any():
            middle = (low + high) // 2
            enough = errors(middle) <= least
            low, high = np.where(enough | (low >= high), low, middle + 1), np.where(enough, middle, high)
        return high, errors(high)

    def spread(self, tasks: Ints, clock: Clock) -> None:
        """What is left to these tasks, label by label, while there is time."""
        if clock.over:
            return
        served = np.setdiff1d(np.arange(self.instance.n_tasks), short_tasks(self.instance, self.pairs))
        tasks = np.setdiff1d(tasks, served)
        for _ in range(ROUNDS):
            before = len(self.pairs)
            tasks = self._spread(tasks)
            if not tasks.size or len(self.pairs) == before or clock.over:
                return

    def add_one_by_one(self, tasks: Ints) -> None:
        """Each label that lets every limit on all labels be kept; twice, as a label may make room for another."""
        if self.instance.n_tasks * self.instance.n_workers > RESERVED:
            return
        for _, task in product(range(2), tasks.tolist()):
            for worker in self.free(task):
                before = self.pairs
                if self.errors(np.array([task]), [self.its[task]])[0] <= self.instance.epsilon[task]:
                    break
                self.add(task, np.array([worker]))
                if breaches(self.instance, self.pairs, short=tasks):
                    self.pairs = before

    def fill_loads(self) -> None:
        """Labels of workers who have fewer than they must, of tasks that may have them, those in need first."""
        instance = self.instance
        lacking = instance.min_load - instance.capacity + self.room
        if not (lacking > 0).any():
            return
        short = np.isin(np.arange(instance.n_tasks), short_tasks(instance, self.pairs))
        for task in np.argsort(~short, kind="stable").tolist():
            taken = self.free(task, np.flatnonzero(lacking > 0))
            self.add(task, taken)
            lacking[taken] -= 1

    def _spread(self, tasks: Ints) -> Ints:
        """One round of greedy; -> those of the tasks that are still above their target."""
        if not tasks.size:
            return tasks
        instance, its = self.instance, np.isin(self.pairs[:, 0], tasks)
        others, mine = self.pairs[~its], self.pairs[its]
        part = of_tasks(instance, tasks)
        place = np.searchsorted(tasks, mine[:, 0])
        groups = tuple(replace(group, min_per_task=0) for group in part.groups)
        zeros = np.zeros(tasks.size, np.int64)
        part = replace(part, groups=groups, min_labels=zeros, min_load=np.zeros(instance.n_workers, np.int64))
        part = replace(part, rule=BHATTACHARYYA.name, difficulty=NONE)
        part = replace(part, capacity=_room(instance, others), fixed=np.column_stack([place, mine[:, 1]]), budget=None)
        budget = instance.budget
        money = np.inf if budget is None else budget - float(instance.prices(others).sum())
        bought = spend(part, money)
        errors = self.add_useful(tasks, np.column_stack([tasks[bought[:, 0]], bought[:, 1]]))
        return tasks[errors > instance.epsilon[tasks] + CERTAIN]

    def add_useful(self, tasks: Ints, bought: Ints) -> Floats:
        """Labels for these tasks, but those that lower no error once better ones are there; -> their errors."""
        instance, held, ranked = self.instance, [], []
        for task in tasks.tolist():
            had = self.its[task]
            new = np.setdiff1d(bought[bought[:, 0] == task, 1], had)
            held.append(had)
            ranked.append(new[np.argsort(-instance.evidence[instance.task_type[task], new], kind="stable")])
        counts, errors = self._useful(tasks, held, ranked)
        for task, new, count in zip(tasks.tolist(), ranked, counts.tolist(), strict=True):
            self.add(task, new[:count])
        return errors

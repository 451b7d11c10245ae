"""Tasks by kind and workers by asker: what adaptive plans are made for, and what ties their tasks together.

States of a task: every way in which some of its askers can have voted, numbered.

An asker is a worker, or a class of workers alike of whom the votes for each label count. A state numbers the askers'
own states in mixed radix, the last asker's fastest; an asker's own states are its counts of labels, all 0 first.

An adaptive plan before anything is found, and the names of its kinds of tasks and askers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations_with_replacement
from math import comb, factorial, inf, log10, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints, alike, places
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, Askers, PolicyProof
from crowdopt.core.solution import Status
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import Votes
from crowdopt.crowd.rules import EXACT_ERROR, MEAN_ERROR
from crowdopt.errors import InputError


@dataclass(frozen=True, eq=False)
class VoteStates:
    """The states of a task; ``members`` (askers,) says how many workers each asker stands for."""

    members: Ints
    classes: int

    @cached_property
    def own(self) -> tuple[Ints, ...]:
        """Counts of labels in each asker's own states, fewest labels first, each (states of that asker, classes)."""
        every = ([way for n in range(size + 1) for way in falls(n, self.classes)] for size in self.members.tolist())
        return tuple(np.array(ways, np.int64) for ways in every)

    @cached_property
    def strides(self) -> list[int]:
        """How far a state's number moves with each asker's own, (askers,)."""
        sizes = [len(own) for own in self.own]
        return [prod(sizes[g + 1 :]) for g in range(len(sizes))]

    @property
    def size(self) -> int:
        """States in all; there may be more of them than can be listed."""
        return prod(comb(size + self.classes, self.classes) for size in self.members.tolist())

    def place(self, asker: int, states: Ints) -> Ints:
        """The asker's own state in each of these."""
        return states // self.strides[asker] % len(self.own[asker])

    @property
    def asked(self) -> Ints:
        """Votes of each asker in each state, (askers, states)."""
        every = np.arange(self.size)
        return np.stack([own.sum(axis=1)[self.place(g, every)] for g, own in enumerate(self.own)])

    def joint(self, prior: Floats, share: Floats, chance: Floats) -> Floats:
        """P(these votes in one order, class), (states, classes).

        share (parts,): of a law's parts; chance (parts, askers, classes, labels): of a label where a class is true.
        """
        total = np.zeros((self.size, self.classes))
        for weight, tables in zip(share, chance, strict=True):
            law = (weight * prior)[None]
            for own, table in zip(self.own, tables, strict=True):
                each = np.broadcast_to(table, (int(own.max(initial=0)), *table.shape))
                powers = np.cumprod(np.concatenate([np.ones((1, *table.shape)), each]), axis=0)
                of_asker = powers[own, :, np.arange(self.classes)].prod(axis=1)
                law = (law[:, None] * of_asker).reshape(-1, self.classes)
            total += law
        return total

    def ahead(self, votes: tuple[int, ...], states: Ints) -> tuple[Ints, Floats]:
        """Where each outcome of so many votes leads from states (k,) with room, (k, outcomes), and in how many orders.

        votes: of each asker.
        """
        reached, orders = states[:, None], np.ones(1)
        for g, number in enumerate(votes):
            if number:
                place, ways = self.place(g, states), falls(number, self.classes)
                moves = np.stack([self._next(g, labels)[place] - place for labels in ways], axis=1) * self.strides[g]
                reached = (reached[:, :, None] + moves[:, None]).reshape(states.size, -1)
                each = [factorial(number) // prod(map(factorial, labels)) for labels in ways]
                orders = np.outer(orders, np.array(each, np.float64)).reshape(-1)
        return reached, orders

    def _next(self, asker: int, labels: tuple[int, ...]) -> Ints:
        """Where labels lead from each of the asker's own states; -1 where it has no room."""
        if (asker, labels) not in self._steps:
            self._steps[asker, labels] = self._found(asker, self.own[asker] + np.array(labels))
        return self._steps[asker, labels]

    @cached_property
    def _steps(self) -> dict[tuple[int, tuple[int, ...]], Ints]:
        return {}

    @cached_property
    def _places(self) -> list[dict[tuple[int, ...], int]]:
        return [places(map(tuple, own.tolist())) for own in self.own]

    def _found(self, asker: int, counts: Ints) -> Ints:
        """The asker's own state of each row of counts."""
        return np.array([self._places[asker].get(tuple(row), -1) for row in counts.tolist()], np.int64)

    def votes(self, state: int) -> Votes:
        """Asker, label and how many votes, for those that a state has."""
        counts = np.stack([own[state // stride % len(own)] for own, stride in zip(self.own, self.strides, strict=True)])
        asker, label = np.nonzero(counts)
        return tuple(zip(asker.tolist(), label.tolist(), counts[asker, label].tolist(), strict=True))

    def number(self, counts: Ints) -> Ints:
        """The state of each task whose labels are counted; counts (tasks, askers, classes); -> (tasks,)."""
        return sum((self._found(g, counts[:, g]) * by for g, by in enumerate(self.strides)), np.zeros(1, np.int64))


def falls(total: int, classes: int) -> list[tuple[int, ...]]:
    """Every way in which so many labels can fall, counted by class; the first class's labels first."""
    every = combinations_with_replacement(range(classes), total)
    return [tuple(map(labels.count, range(classes))) for labels in every]


PROMISES = (EXACT_ERROR.name, MEAN_ERROR.name)  # the rules that are about errors themselves
STATES = 300_000  # of a task, kinds counted apart; more make a program that takes minutes
WORTH = 1e-9  # evidence or price: who costs nothing or tells nothing comes first or last


class ManyStates(InputError):
    """Raised where askers who differ make more states of votes than can be listed."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Tasks of a kind are alike in all but the labels that are in, and so are the workers of an asker."""

    instance: AssignmentInstance
    kind: Ints  # (tasks,)
    first: Ints  # (kinds,): one task of each kind
    workers: tuple[Ints, ...]  # of each asker

    @cached_property
    def one(self) -> Ints:
        """A worker of each asker, (askers,)."""
        return np.array([some[0] for some in self.workers], np.int64)

    @property
    def epsilon(self) -> Floats:
        """Target of each kind, (kinds,)."""
        return self.instance.epsilon[self.first]

    @property
    def tasks_in(self) -> Ints:
        """Tasks of each kind, (kinds,)."""
        return np.bincount(self.kind, minlength=self.first.size)

    @property
    def price(self) -> Floats:
        """What a vote costs, (kinds, askers)."""
        return self.instance.cost[np.ix_(self.instance.task_type[self.first], self.one)]

    @property
    def capacity(self) -> Floats:
        """Votes of each asker in all, (askers,)."""
        return np.array([float(self.instance.capacity[some].sum()) for some in self.workers])

    @property
    def error_rows(self) -> Ints:
        """The row of errors that each kind is in, (kinds,): its own, or one for all under a rule of their mean."""
        kinds = self.first.size
        return np.zeros(kinds, np.int64) if self.instance.the_rule.average else np.arange(kinds)

    def wrong(self, times: float) -> Floats:
        """Wrong answers that each of these rows allows where targets are a multiple of what they are, (rows,)."""
        weights = times * self.epsilon * self.tasks_in
        return np.bincount(self.error_rows, weights=weights).astype(np.float64)

    @cached_property
    def limits(self) -> tuple[list[tuple[str, str]], Floats, Floats]:
        """Linear limits on labels to come, ``sum over kinds and askers of weight times labels <= side``.

        -> limit and name of the group, the worker or the row; weights (rows, kinds, askers); sides (rows,). Labels in
        count towards groups' shares.
        """
        instance, whole, found = self.instance, len(self.instance.collected), list[tuple[str, str, Floats, float]]()
        for group in instance.groups:
            mine = np.isin(self.one, group.members).astype(np.float64)
            had = int(np.isin(instance.collected[:, 1], group.members).sum())
            if group.max_share < 1:
                found.append(("max_share", group.name, mine - group.max_share, group.max_share * whole - had))
            if group.min_share > 0:
                found.append(("min_share", group.name, group.min_share - mine, had - group.min_share * whole))
        for worker, mine, some in zip(self.one.tolist(), np.eye(self.one.size), self.workers, strict=True):
            if least := float(instance.min_load[some].sum()):
                found.append(("min_tasks", instance.worker_id(worker), -mine, -least))
        if (own := instance.own_rows) is not None:
            tables = pair_tables(instance)[-len(own.names) :]
            for name, table, low, high in zip(own.names, tables, own.lower, own.upper, strict=True):
                weight = table[np.ix_(self.first, self.one)]
                ends = ("row_most", name, weight, float(high)), ("row_least", name, -weight, -float(low))
                found += [row for row in ends if np.isfinite(row[-1])]
        weights = np.array([np.broadcast_to(weight, self.price.shape) for _, _, weight, _ in found])
        names, sides = [(limit, name) for limit, name, *_ in found], np.array([side for *_, side in found], np.float64)
        return names, weights.reshape(-1, *self.price.shape), sides

    def proof(
        self, error: Floats | float, capacity: Floats | float = 0.0, budget: float = 0.0, limits: Floats | float = 0.0
    ) -> PolicyProof:
        """Prices of errors (kinds,), at least 0, and of capacities, money and linear limits, at most 0; without -0."""
        names, _, sides = self.limits
        prices = np.minimum(0.0, np.broadcast_to(limits, sides.shape)) + 0.0
        named = tuple((*name, price) for name, price in zip(names, prices.tolist(), strict=True))
        of_error = np.maximum(0.0, np.broadcast_to(error, self.first.shape)) + 0.0
        of_capacity = np.minimum(0.0, np.broadcast_to(capacity, self.one.shape)) + 0.0
        return PolicyProof(of_error, of_capacity, min(0.0, budget) + 0.0, named)

    def asking(self, proof: PolicyProof) -> Floats:
        """What a vote costs at these prices of capacities, money and limits, (kinds, askers)."""
        limits = (proof.of_limits[:, None, None] * self.limits[1]).sum(axis=0)
        return np.asarray(self.price * (1 - proof.budget) - (proof.capacity + limits))

    def allowed(self, proof: PolicyProof, times: float) -> float:
        """What the sides of all rows are worth at these prices: of capacities, money, limits, errors."""
        money = proof.budget * (self.instance.budget or 0.0)
        errors = float((proof.error * times * self.epsilon * self.tasks_in).sum())
        return float(self.capacity @ proof.capacity + self.limits[2] @ proof.of_limits) + money - errors

    @cached_property
    def limited(self) -> tuple[Ints, Ints]:
        """Who is in groups that limit the labels of a task, (groups, askers) of 0 and 1, and those limits (groups,)."""
        groups = [group for group in self.instance.groups if group.max_per_task is not None]
        members = np.array([np.isin(self.one, group.members) for group in groups], np.int64)
        return members.reshape(-1, self.one.size), np.array([group.max_per_task for group in groups], np.int64)


@dataclass(frozen=True, eq=False)
class VotePanel(Panel):
    """Of few askers: every state of a task's votes is listed, kind by kind."""

    states: tuple[VoteStates, ...]  # of each kind: askers who tell nothing of it have no votes there
    ends: Ints  # (kinds + 1,): where each kind's states begin, and end
    standing: Ints  # (tasks,): the state of each task
    joint: Floats  # (states, classes): P(votes in one order, class)

    @cached_property
    def of_kind(self) -> Ints:
        """The kind of each state, (states,)."""
        return np.repeat(np.arange(self.first.size), np.diff(self.ends))

    @cached_property
    def start(self) -> Floats:
        """Tasks that stand in each state, (states,)."""
        return np.bincount(self.standing, minlength=len(self.joint)).astype(np.float64)

    @cached_property
    def mass(self) -> Floats:
        """P(votes in one order), (states,)."""
        return np.asarray(self.joint.sum(axis=1))

    @cached_property
    def belief(self) -> Floats:
        """P(class | votes), (states, classes); 0 where the votes cannot be."""
        return self.joint / np.where(self.mass > 0, self.mass, 1.0)[:, None]

    @cached_property
    def error(self) -> Floats:
        """P(the likeliest class is wrong | votes), (states,); 0 where the votes cannot be."""
        return np.where(self.mass > 0, 1.0 - self.belief.max(axis=1), 0.0)

    @property
    def of_class(self) -> Floats:
        """Tasks of each class that are expected, given the labels that are in, (classes,)."""
        return self.start @ self.belief

    @cached_property
    def asked(self) -> Ints:
        """Votes of each asker in each state, (askers, states)."""
        return np.concatenate([one.asked for one in self.states], axis=1)

    @cached_property
    def may_stop(self) -> Bools:
        """Where a task has all the labels that it must have, (states,)."""
        every = self.instance.fixed
        mine = [every[every[:, 0] == task, 1] for task in self.first]
        fixed = np.array([[np.isin(some, those).sum() for some in self.workers] for those in mine])
        fewest = self.instance.min_labels[self.first]
        enough = (self.asked >= fixed[self.of_kind].T).all(axis=0) & (self.asked.sum(axis=0) >= fewest[self.of_kind])
        for group in self.instance.groups:
            enough &= self.asked[np.isin(self.one, group.members)].sum(axis=0) >= group.min_per_task
        return enough

    def may_ask(self, kind: int, votes: tuple[int, ...]) -> Ints:
        """The states of a kind that may be asked so many votes of each asker, by the limits of single tasks, (k,)."""
        here, more, (members, limits) = slice(*self.ends[kind : kind + 2]), np.array(votes), self.limited
        task, asked = self.first[kind], self.asked[:, here] + more[:, None]
        barred = self.instance.forbidden[self.instance.forbidden[:, 0] == task, 1]
        fits = (asked <= self.states[kind].members[:, None]).all(axis=0) & (self.mass[here] > 0)
        fits &= (members @ asked <= limits[:, None]).all(axis=0) & (asked.sum(axis=0) <= self.instance.max_labels[task])
        return self.ends[kind] + np.flatnonzero(fits & ~np.isin(self.one[more > 0], barred).any())

    def ahead(self, votes: tuple[int, ...], states: Ints) -> tuple[Ints, Floats]:
        """Where each outcome of so many votes leads from states of one kind, (k, outcomes), and with what chance."""
        kind = self.of_kind[states[0]]
        reached, orders = self.states[kind].ahead(votes, states - self.ends[kind])
        reached += self.ends[kind]
        return reached, orders * self.mass[reached] / self.mass[states][:, None]

    def votes(self, state: int) -> Votes:
        """The votes of a state."""
        kind = self.of_kind[state]
        return self.states[kind].votes(state - int(self.ends[kind]))


def vote_panel(instance: AssignmentInstance, labels: Ints | None = None, most: int | None = None) -> VotePanel:
    """The instance's tasks by kind and state.

    instance: whose prior is that before any label; labels (collected,): the class that each label already in says;
    most: askers who are asked, those with most evidence for their price, others have no votes but those that are in.
    Raises InputError for what an adaptive plan knows nothing of, and where there are too many states.
    """
    _refuse(instance, labels)
    (kind, first), size = task_kinds(instance), int(instance.classes)
    workers, telling = _askers(instance, first)
    one, members = np.array([some[0] for some in workers]), np.array([some.size for some in workers], np.int64)
    if most is not None:
        worth = np.maximum(instance.evidence[:, one], WORTH) / np.maximum(instance.cost[:, one], WORTH)
        telling[:, np.argsort(-worth[instance.task_type].mean(axis=0), kind="stable")[most:]] = False
    counts, asker = np.zeros((instance.n_tasks, one.size, size), np.int64), np.full(instance.n_workers, -1)
    asker[np.concatenate(workers)] = np.repeat(np.arange(one.size), members)  # workers without labels may be no askers
    if labels is not None:
        np.add.at(counts, (instance.collected[:, 0], asker[instance.collected[:, 1]], labels), 1)
    had = [counts[kind == t].sum(axis=2).max(axis=0) for t in range(first.size)]
    states = [VoteStates(np.where(tells, members, some), size) for tells, some in zip(telling, had, strict=True)]
    ends = [0, *accumulate(some.size for some in states)]
    if ends[-1] > STATES:
        many = f"{ends[-1]:,}" if ends[-1] < 10**15 else f"about 10^{log10(ends[-1]):.0f}"
        raise ManyStates(
            f"askers of different skill, price or limits make {many} states of votes, of which an adaptive plan looks "
            f"at {STATES:,} at most; plan with fewer judges"
        )
    standing = np.empty(instance.n_tasks, np.int64)
    for t, some in enumerate(states):
        standing[kind == t] = ends[t] + some.number(counts[kind == t])
    joint = joint_laws(instance, first, one, states)
    if (strange := joint[standing].sum(axis=1) <= 0).any():
        raise _impossible(instance, int(strange.argmax()))
    return VotePanel(instance, kind, first, workers, tuple(states), np.array(ends), standing, joint)


def joint_laws(instance: AssignmentInstance, first: Ints, one: Ints, states: Sequence[VoteStates]) -> Floats:
    """``P(votes in one order, class)`` of a task of each kind and a worker of each asker, (states, classes)."""
    law, prior = instance.law, np.broadcast_to(instance.prior, (instance.n_tasks, int(instance.classes)))
    chances = (law.table(kind, one) for kind in instance.task_type[first].tolist())
    kinds = zip(states, prior[first], chances, strict=True)
    return np.concatenate([some.joint(mine, law.share, chance) for some, mine, chance in kinds])


@dataclass(frozen=True, eq=False)
class TaskStart:
    """Tasks of a kind with the same labels in."""

    kind: int
    votes: Votes  # by worker, one each
    law: Floats  # (2,): chances of the classes, given those labels
    tasks: Ints


@dataclass(frozen=True, eq=False)
class SkillPanel(Panel):
    """Of many workers with a skill each, every one an asker, and two classes."""

    starts: tuple[TaskStart, ...]
    likely: Floats  # (kinds, workers, 2): chance of the label 1 where class 0, and class 1, is true

    def may_ask(self, start: TaskStart) -> tuple[Bools, Ints, int]:
        """Whom tasks that start there may ask, (workers,); what limits of groups leave; the most labels to come."""
        task, (members, limits), free = int(start.tasks[0]), self.limited, np.ones(self.instance.n_workers, bool)
        had = np.array([worker for worker, *_ in start.votes], np.int64)
        free[self.instance.forbidden[self.instance.forbidden[:, 0] == task, 1]] = False
        free[had] = False
        most = min(int(self.instance.max_labels[task]) - had.size, int(free.sum()))
        return free, limits - members[:, had].sum(axis=1), max(0, most)


def skill_panel(instance: AssignmentInstance, labels: Ints | None = None) -> SkillPanel:
    """The instance's tasks by kind and by the labels that are in.

    instance: of two classes; labels (collected,): the class that each label already in says. Raises InputError for what
    an adaptive plan of many workers knows nothing of.
    """
    _refuse(instance, labels, in_order=True)
    (kind, first), every = task_kinds(instance), np.arange(instance.n_workers)
    likely = np.stack([instance.law.table(int(t), every)[0, :, :, 1] for t in instance.task_type[first]])
    votes: list[list[tuple[int, int, int]]] = [[] for _ in range(instance.n_tasks)]
    said = () if labels is None else labels.tolist()
    for (task, worker), label in zip(instance.collected.tolist(), said, strict=True):
        votes[task].append((worker, label, 1))
    same: dict[tuple[int, Votes], list[int]] = {}
    for task, some in enumerate(votes):
        same.setdefault((int(kind[task]), tuple(sorted(some))), []).append(task)
    prior, starts = np.broadcast_to(instance.prior, (instance.n_tasks, 2)), []
    for (t, had), tasks in same.items():
        law = prior[tasks[0]]
        for worker, label, _ in had:
            law = law * (likely[t, worker] if label else 1 - likely[t, worker])
        if law.sum() <= 0:
            raise _impossible(instance, tasks[0])
        starts.append(TaskStart(t, had, law / law.sum(), np.array(tasks, np.int64)))
    return SkillPanel(instance, kind, first, tuple(every[:, None]), tuple(starts), likely)


def _refuse(instance: AssignmentInstance, labels: Ints | None, in_order: bool = False) -> None:
    """InputError that names what an adaptive plan, or one of orders, does not keep or know."""
    some = {"fixed pairs": instance.fixed.size, "min_labels": instance.min_labels.any()}
    some["min_per_task of a group"] = any(group.min_per_task for group in instance.groups)
    named, many = ", ".join(what for what in some if some[what]), "of many workers who differ in skill"
    faults = {
        f"promises errors themselves, not rule {instance.rule}; choose rule {EXACT_ERROR.name}": not (
            instance.rule in PROMISES or instance.confusion is not None
        ),
        "needs the joint law of votes, and none is known of several workers of one family; let max_per_task of every "
        "dependent group be 1": (instance.dependence > 1).any(),
        "promises errors themselves and knows no demand other than 1; take that out": (instance.demand != 1).any(),
        "goes on from the labels already in; give the campaign's folder, which has them": (
            len(instance.collected) != (0 if labels is None else labels.size)
        ),
        f"{many} is for two classes and votes that are independent; state no difficulty and no law of votes, or plan "
        "with fewer judges": in_order and (instance.classes != 2 or instance.errs_together),
        f"{many} does not know {named}; take that out, or plan by another method": in_order and named,
    }
    for says, is_there in faults.items():
        if is_there:
            raise InputError(f"an adaptive plan {says}")


def _impossible(instance: AssignmentInstance, task: int) -> InputError:
    name, why = instance.task_id(task), "a worker of skill 0 or 1 contradicts others; correct skills"
    return InputError(f"the labels of task {name} cannot be: {why}")


def pair_tables(instance: AssignmentInstance) -> list[NDArray[Any]]:
    """What tells pairs apart, (tasks, workers) each: forbidden and fixed ones, if any; coefficients of each own row."""
    own, bound = instance.own_rows, (instance.forbidden, instance.fixed)
    kinds = np.repeat(np.array([1, 2], np.int8), [len(pairs) for pairs in bound])
    entries: list[tuple[NDArray[Any], Ints]] = [(kinds, np.concatenate(bound))] if kinds.size else []
    if own is not None:
        mine = [own.row == number for number in range(len(own.names))]
        entries += [(own.coefficient[some], own.pairs[some]) for some in mine]
    shape = instance.n_tasks, instance.n_workers
    return [sparse.coo_array((values, tuple(pairs.T)), shape=shape).toarray() for values, pairs in entries]


def task_kinds(instance: AssignmentInstance) -> tuple[Ints, Ints]:
    """The kind of each task, (tasks,), and one task of each, (kinds,), in the order in which they first occur."""
    limits = instance.max_labels, instance.min_labels, *pair_tables(instance)
    return alike(instance.task_type, instance.epsilon, *limits, *instance.own_priors)


def _askers(instance: AssignmentInstance, first: Ints) -> tuple[tuple[Ints, ...], Bools]:
    """Workers alike in law, price, limits, groups and own rows, in the order of the campaign.

    Those whose labels say something of some kind, or are in, and all where a limit may ask for labels whatever they
    say: no plan pays for others. -> the askers, and whether their labels depend on the class, (kinds, askers).
    """
    types, every = np.unique(instance.task_type).tolist(), np.arange(instance.n_workers)
    inside = [np.isin(every, group.members) for group in instance.groups]
    limits = instance.capacity, instance.min_load, *inside, *(table[first].T for table in pair_tables(instance))
    tables = {kind: instance.law.table(kind, every) for kind in types}
    laws = [table.swapaxes(0, 1).reshape(every.size, -1) for table in tables.values()]
    number, one = alike(*limits, instance.accuracy[types].T, instance.cost[types].T, *laws)
    workers = [np.flatnonzero(number == g) for g in range(one.size)]
    asked_for = instance.fixed.size, instance.own_rows, instance.min_labels.any(), instance.min_load.any()
    if any(asked_for) or any(group.has_share_limits or group.min_per_task for group in instance.groups):
        return tuple(workers), np.ones((first.size, one.size), bool)
    tells = {kind: (table[:, one] != table[:, one, :1]).any(axis=(0, 2, 3)) for kind, table in tables.items()}
    telling = np.stack([tells[kind] for kind in instance.task_type[first].tolist()])
    has_labels = np.bincount(number[instance.collected[:, 1]], minlength=one.size) > 0
    kept = np.flatnonzero(telling.any(axis=0) | has_labels) if (telling.any() or has_labels.any()) else np.zeros(1, int)
    return tuple(workers[g] for g in kept.tolist()), telling[:, kept]


def blank_plan(panel: Panel, status: Status, seed: int, **terms: Any) -> AdaptivePlan:
    """No plan; INFEASIBLE has been proven. terms: what was asked for."""
    instance, nothing = panel.instance, np.zeros(panel.first.size)
    types = [instance.type_id(kind) for kind in instance.task_type[panel.first].tolist()]
    numbered = (f"{name}/{types[: k + 1].count(name)}" for k, name in enumerate(types))  # where a type has several
    kinds = tuple(full if types.count(name) > 1 else name for name, full in zip(types, numbered, strict=True))
    return AdaptivePlan(
        instance=instance,
        status=status,
        askers=Askers(kinds, panel.kind, tuple(map(instance.worker_id, panel.one.tolist())), panel.workers),
        rows=(),
        objective=None,
        bound=inf if status is Status.INFEASIBLE else -inf,
        proof_of=None,
        loads=np.zeros(len(panel.workers)),
        errors=nothing,
        to_expert=nothing,
        pairs=None,
        seed=seed,
        **terms,
    )

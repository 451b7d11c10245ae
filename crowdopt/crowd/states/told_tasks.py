"""Tasks by kind, and what each has been told: what a plan that looks at answers before it asks again goes by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.hard_needs import on_hard_tasks
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.states.vote_states import VoteStates
from crowdopt.crowd.votes.evidence import EXACT_ERROR
from crowdopt.errors import InputError

STATES = 300_000  # of a task, kinds counted apart; more make a program that takes minutes
PROMISES = (EXACT_ERROR.name, "mean-error")  # the rules that are about errors themselves


@dataclass(frozen=True, eq=False)
class ShareRow:
    """``sum over askers of weight times labels <= side``: a group's most or least share of all labels."""

    limit: str  # max_share or min_share
    group: str
    weight: Floats  # (askers,)
    side: float


@dataclass(frozen=True, eq=False)
class ToldTasks:
    """Tasks of a kind are alike in type, target, prior and in who may label them; an asker's workers in everything."""

    instance: AssignmentInstance
    kind: Ints  # (tasks,)
    first: Ints  # (kinds,): one task of each kind
    workers: tuple[Ints, ...]  # of each asker
    states: tuple[VoteStates, ...]  # of each kind: askers who tell nothing of it have no votes there
    standing: Ints  # (tasks,): the state of each task
    joint: tuple[Floats, ...]  # of each kind (states, classes): P(votes in one order, class)

    @property
    def of_type(self) -> Ints:
        """Type of each kind, (kinds,)."""
        return self.instance.task_type[self.first]

    @property
    def epsilon(self) -> Floats:
        """Target of each kind, (kinds,)."""
        return self.instance.epsilon[self.first]

    @property
    def tasks_in(self) -> Ints:
        """Tasks of each kind, (kinds,)."""
        return np.bincount(self.kind, minlength=self.first.size)

    @cached_property
    def start(self) -> tuple[Floats, ...]:
        """Tasks of each kind that stand in each of its states."""
        return tuple(
            np.bincount(self.standing[self.kind == t], minlength=states.size).astype(np.float64)
            for t, states in enumerate(self.states)
        )

    @property
    def price(self) -> Floats:
        """What a vote of each asker costs, (kinds, askers)."""
        one = np.array([some[0] for some in self.workers])
        return self.instance.cost[self.of_type][:, one]

    @property
    def capacity(self) -> Floats:
        """Votes of each asker in all, (askers,)."""
        return np.array([float(self.instance.capacity[some].sum()) for some in self.workers])

    @cached_property
    def shares(self) -> tuple[ShareRow, ...]:
        """Limits on groups' shares of all labels, those already in included."""
        inside, found = np.bincount(self.instance.collected[:, 1], minlength=self.instance.n_workers), []
        for group in self.instance.groups:
            mine = np.array([int(some[0]) in group.members for some in self.workers], np.float64)
            had, every = float(inside[list(group.members)].sum()), float(inside.sum())
            if group.max_share < 1:
                found.append(ShareRow("max_share", group.name, mine - group.max_share, group.max_share * every - had))
            if group.min_share > 0:
                found.append(ShareRow("min_share", group.name, group.min_share - mine, had - group.min_share * every))
        return tuple(found)

    def may_ask(self, kind: int, votes: tuple[int, ...]) -> Bools:
        """Where a kind may be asked so many votes of each asker, by the limits of single tasks, (its states,)."""
        states, more = self.states[kind], np.array(votes)
        fits: Bools = states.room(votes) & (self.joint[kind].sum(axis=1) > 0)
        if self._barred[kind, more > 0].any():
            fits[:] = False
        most = int(self.instance.max_labels[self.first[kind]])
        fits &= states.asked.sum(axis=0) + more.sum() <= most
        for members, limit in self._limited:
            fits &= states.asked[members].sum(axis=0) + more[members].sum() <= limit
        return fits

    @cached_property
    def _barred(self) -> Bools:
        """Whom a kind may not ask, (kinds, askers)."""
        barred = np.zeros((self.first.size, self.instance.n_workers), bool)
        where = np.full(self.instance.n_tasks, -1)
        where[self.first] = np.arange(self.first.size)
        pairs = self.instance.forbidden
        mine = where[pairs[:, 0]] >= 0
        barred[where[pairs[mine, 0]], pairs[mine, 1]] = True
        return barred[:, [int(some[0]) for some in self.workers]]

    @cached_property
    def _limited(self) -> list[tuple[Ints, int]]:
        """Askers of each group that limits the labels of a task, and that limit."""
        one = [int(some[0]) for some in self.workers]
        return [
            (np.flatnonzero(np.isin(one, group.members)), int(group.max_per_task))
            for group in self.instance.groups
            if group.max_per_task is not None
        ]


def told_tasks(instance: AssignmentInstance, labels: Ints | None = None) -> ToldTasks:
    """The instance's tasks by kind and state.

    instance: whose prior is that before any label; labels (collected,): the class that each label already in says.
    Raises InputError for what an adaptive plan knows nothing of, and where there are too many states.
    """
    refuse_unplanned(instance)
    if len(instance.collected) != (0 if labels is None else labels.size):
        raise InputError(
            "an adaptive plan goes on from the labels already in; give the campaign's folder, which has them"
        )
    kind, first = _kinds(instance)
    telling, workers = _that_tell(instance, first, _askers(instance, first))
    size, classes = np.array([some.size for some in workers], np.int64), int(instance.classes)
    counts = _counted(instance, labels, workers)
    states = []
    for t in range(first.size):
        had = counts[kind == t].sum(axis=2).max(axis=0)
        states.append(VoteStates(np.where(telling[t], size, had), classes))
    _refuse_many(states)
    laws = [one.joint(*law_of(instance, i, workers)) for one, i in zip(states, first.tolist(), strict=True)]
    standing = np.empty(instance.n_tasks, np.int64)
    for t, one in enumerate(states):
        standing[kind == t] = one.number(counts[kind == t])
    told = ToldTasks(instance, kind, first, workers, tuple(states), standing, tuple(laws))
    for t in range(first.size):
        _refuse_impossible(told, t)
    return told


def _counted(instance: AssignmentInstance, labels: Ints | None, workers: tuple[Ints, ...]) -> Ints:
    """Labels already in, (tasks, askers, classes)."""
    counts = np.zeros((instance.n_tasks, len(workers), int(instance.classes)), np.int64)
    if labels is not None and labels.size:
        asker = np.full(instance.n_workers, -1)  # workers without labels may be no askers
        for g, some in enumerate(workers):
            asker[some] = g
        np.add.at(counts, (instance.collected[:, 0], asker[instance.collected[:, 1]], labels), 1)
    return counts


def _refuse_impossible(told: ToldTasks, kind: int) -> None:
    mine = np.flatnonzero(told.kind == kind)
    strange = mine[told.joint[kind][told.standing[mine]].sum(axis=1) <= 0]
    if strange.size:
        task = told.instance.task_id(int(strange[0]))
        raise InputError(
            f"the labels of task {task} cannot be: a worker of skill 0 or 1 contradicts others; correct skills"
        )


def refuse_unplanned(instance: AssignmentInstance) -> None:
    """InputError with what an adaptive plan does not keep, rather than a plan that forgets it."""
    rule = instance.rule
    if rule not in PROMISES and instance.confusion is None:
        raise InputError(
            f"an adaptive plan promises errors themselves, not rule {rule}; choose rule {EXACT_ERROR.name}"
        )
    if (instance.dependence > 1).any():
        raise InputError(
            "an adaptive plan needs the joint law of votes, and none is known of several workers of one family; let "
            "max_per_task of every dependent group be 1"
        )
    groups = instance.groups
    unknown = {
        "fixed pairs": instance.fixed.size > 0,
        "min_labels": bool((instance.min_labels > 0).any()),
        "min_tasks": bool((instance.min_load > 0).any()),
        "min_per_task of a group": any(group.min_per_task for group in groups),
        "rows of one's own": instance.own_rows is not None,
        "a demand other than 1": bool((instance.demand != 1).any()),
    }
    named = [what for what, is_there in unknown.items() if is_there]
    if named:
        raise InputError(
            f"an adaptive plan does not know {', '.join(named)} yet; take that out, or plan without --adaptive"
        )


def law_of(instance: AssignmentInstance, task: int, workers: tuple[Ints, ...]) -> tuple[Floats, Floats]:
    """Start (branches, classes) and chances of labels (branches, askers, classes, labels) of a task."""
    kind, classes = int(instance.task_type[task]), int(instance.classes)
    prior = instance.prior if instance.prior.ndim == 1 else instance.prior[task]
    one = [int(some[0]) for some in workers]
    if instance.confusion is not None:
        return prior[None], instance.confusion[kind][one][None]
    skill = instance.accuracy[kind, one]
    if not instance.difficulty.share:
        return prior[None], _one_coin(skill, classes)[None]
    share = instance.difficulty.share
    start = np.stack([(1 - share) * prior, share * prior])
    return start, np.stack([_one_coin(skill, classes), _one_coin(on_hard_tasks(skill, instance.difficulty), classes)])


def _one_coin(skill: Floats, classes: int) -> Floats:
    is_right = np.eye(classes, dtype=bool)
    return np.where(is_right, skill[:, None, None], (1 - skill[:, None, None]) / (classes - 1))


def _kinds(instance: AssignmentInstance) -> tuple[Ints, Ints]:
    """The kind of each task, and one task of each, in the order in which they first occur."""
    n = instance.n_tasks
    barred = np.zeros(n, np.int64)
    if len(instance.forbidden):
        table = np.zeros((n, instance.n_workers), bool)
        table[tuple(instance.forbidden.T)] = True
        barred = np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)
    prior = np.zeros((n, 1)) if instance.prior.ndim == 1 else instance.prior
    most = np.minimum(instance.max_labels, UNLIMITED // 2).astype(np.float64)
    key = np.column_stack([instance.task_type, instance.epsilon, most, barred, prior])
    _, first, kind = np.unique(key, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return place[kind.reshape(-1)], first[order].astype(np.int64)


def _askers(instance: AssignmentInstance, first: Ints) -> tuple[Ints, ...]:
    """Workers alike in skill, price, capacity, groups and in what they may label, in the order of the campaign."""
    m, types = instance.n_workers, np.unique(instance.task_type)
    barred = np.zeros((instance.n_tasks, m), bool)
    barred[tuple(instance.forbidden.T)] = True
    inside = [[j in group.members for j in range(m)] for group in instance.groups]
    columns = [
        instance.accuracy[types],
        instance.cost[types],
        instance.capacity[None],
        barred[first],
        *map(np.atleast_2d, inside),
    ]
    if instance.confusion is not None:
        columns.append(instance.confusion[types].transpose(0, 2, 3, 1).reshape(-1, m))
    key = np.concatenate([np.asarray(part, np.float64) for part in columns])
    _, start, alike = np.unique(key, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(start, kind="stable")
    return tuple(np.flatnonzero(alike.reshape(-1) == g) for g in order.tolist())


def _that_tell(instance: AssignmentInstance, first: Ints, workers: tuple[Ints, ...]) -> tuple[Bools, tuple[Ints, ...]]:
    """Whether votes depend on the class, (kinds, askers), and the askers whose do for some kind or have labels in."""
    # No plan pays for a vote that says nothing.
    if any(group.has_share_limits for group in instance.groups):
        return np.ones((first.size, len(workers)), bool), workers  # any label may be worth its share
    telling = np.zeros((first.size, len(workers)), bool)
    for t, task in enumerate(first.tolist()):
        chance = law_of(instance, task, workers)[1]
        telling[t] = (chance != chance[:, :, :1]).any(axis=(0, 2, 3))
    there = np.array([np.isin(some, instance.collected[:, 1]).any() for some in workers])
    kept = np.flatnonzero(telling.any(axis=0) | there)
    kept = kept if kept.size else np.zeros(1, np.int64)
    return telling[:, kept], tuple(workers[g] for g in kept.tolist())


def _refuse_many(states: list[VoteStates]) -> None:
    total = sum(one.size for one in states)
    if total > STATES:
        raise InputError(
            f"askers of different skill, price or limits make {total:.3g} states of votes, of which an adaptive plan "
            f"looks at {STATES:,} at most; plan with fewer judges"
        )

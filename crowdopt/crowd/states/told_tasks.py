"""Tasks by kind and by the votes they have: what adaptive plans are made for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints, alike
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.states.kinds_of_tasks import KindsOfTasks
from crowdopt.crowd.states.label_rows import LabelRow, label_rows, own_coefficients
from crowdopt.crowd.states.vote_states import VoteStates
from crowdopt.errors import InputError

STATES = 300_000  # of a task, kinds counted apart; more make a program that takes minutes
WORTH = 1e-9  # evidence or price: who costs nothing or tells nothing comes first or last
PROMISES = (EXACT_ERROR.name, "mean-error")  # the rules that are about errors themselves


class ManyStates(InputError):
    """Raised where askers who differ make more states of votes than can be listed."""


@dataclass(frozen=True, eq=False)
class ToldTasks(KindsOfTasks):
    """Kinds of tasks, and the states of their votes; an asker's workers are alike in everything."""

    workers: tuple[Ints, ...]  # of each asker
    states: tuple[VoteStates, ...]  # of each kind: askers who tell nothing of it have no votes there
    standing: Ints  # (tasks,): the state of each task
    joint: tuple[Floats, ...]  # of each kind (states, classes): P(votes in one order, class)

    @cached_property
    def start(self) -> tuple[Floats, ...]:
        """Tasks of each kind that stand in each of its states."""
        return tuple(
            np.bincount(self.standing[self.kind == t], minlength=states.size).astype(np.float64)
            for t, states in enumerate(self.states)
        )

    @cached_property
    def belief(self) -> tuple[Floats, ...]:
        """Of each kind: P(class | votes), (states, classes); 0 where the votes cannot be."""
        totals = (law.sum(axis=1, keepdims=True) for law in self.joint)
        return tuple(law / np.where(total > 0, total, 1.0) for law, total in zip(self.joint, totals, strict=True))

    @property
    def of_class(self) -> Floats:
        """Tasks of each class that are expected, given the labels that are in, (classes,)."""
        every = [start @ belief for start, belief in zip(self.start, self.belief, strict=True)]
        return np.stack(every).sum(axis=0)

    @cached_property
    def error(self) -> tuple[Floats, ...]:
        """Of each kind: P(the likeliest class is wrong | votes), (states,); 0 where the votes cannot be."""
        return tuple(np.where(belief.any(axis=1), 1.0 - belief.max(axis=1), 0.0) for belief in self.belief)

    @property
    def price(self) -> Floats:
        """What a vote of each asker costs, (kinds, askers)."""
        return self.instance.cost[self.of_type][:, self._one]

    @property
    def capacity(self) -> Floats:
        """Votes of each asker in all, (askers,)."""
        return np.array([float(self.instance.capacity[some].sum()) for some in self.workers])

    @cached_property
    def label_rows(self) -> tuple[LabelRow, ...]:
        """Linear limits on labels."""
        return label_rows(self.instance, self.first, self.workers)

    def may_stop(self, kind: int) -> Bools:
        """Where a kind has all the labels that its task must have, (its states,)."""
        asked, task = self.states[kind].asked, int(self.first[kind])
        enough: Bools = asked.sum(axis=0) >= int(self.instance.min_labels[task])
        for group in self.instance.groups:
            enough &= asked[np.isin(self._one, group.members)].sum(axis=0) >= group.min_per_task
        fixed = self.instance.fixed[self.instance.fixed[:, 0] == task, 1]
        for g, some in enumerate(self.workers):
            enough &= asked[g] >= np.isin(some, fixed).sum()
        return enough

    @property
    def _one(self) -> Ints:
        return np.array([int(some[0]) for some in self.workers])

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
        barred = np.zeros((self.first.size, self.instance.n_workers), bool)
        where = np.full(self.instance.n_tasks, -1)
        where[self.first] = np.arange(self.first.size)
        pairs = self.instance.forbidden
        mine = where[pairs[:, 0]] >= 0
        barred[where[pairs[mine, 0]], pairs[mine, 1]] = True
        return barred[:, self._one]

    @cached_property
    def _limited(self) -> list[tuple[Ints, int]]:
        """Askers of each group that limits the labels of a task, and that limit."""
        return [
            (np.flatnonzero(np.isin(self._one, group.members)), int(group.max_per_task))
            for group in self.instance.groups
            if group.max_per_task is not None
        ]


def told_tasks(instance: AssignmentInstance, labels: Ints | None = None, most: int | None = None) -> ToldTasks:
    """The instance's tasks by kind and state.

    instance: whose prior is that before any label; labels (collected,): the class that each label already in says;
    most: askers who are asked, those with most evidence for their price, others have no votes but those that are in.
    Raises InputError for what an adaptive plan knows nothing of, and where there are too many states.
    """
    refuse_unplanned(instance)
    refuse_unknown_labels(instance, labels)
    kind, first = task_kinds(instance)
    telling, workers = _that_tell(instance, first, _askers(instance, first))
    if most is not None:
        ones = [int(some[0]) for some in workers]
        worth = np.maximum(instance.evidence[:, ones], WORTH) / np.maximum(instance.cost[:, ones], WORTH)
        telling[:, np.argsort(-worth[instance.task_type].mean(axis=0), kind="stable")[most:]] = False
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


def refuse_unknown_labels(instance: AssignmentInstance, labels: Ints | None) -> None:
    """InputError where labels are in and what they say is not given."""
    if len(instance.collected) != (0 if labels is None else labels.size):
        raise InputError(
            "an adaptive plan goes on from the labels already in; give the campaign's folder, which has them"
        )


def _counted(instance: AssignmentInstance, labels: Ints | None, workers: tuple[Ints, ...]) -> Ints:
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
    """InputError that names the limits which an adaptive plan does not keep."""
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
    if (instance.demand != 1).any():
        raise InputError("an adaptive plan promises errors themselves and knows no demand other than 1; take that out")


def wants_labels(instance: AssignmentInstance) -> bool:
    """Whether a limit may ask for labels whatever they say."""
    asked_for = instance.fixed.size > 0 or instance.own_rows is not None
    some = any(group.has_share_limits or group.min_per_task for group in instance.groups)
    return bool(asked_for or some or instance.min_labels.any() or instance.min_load.any())


def law_of(instance: AssignmentInstance, task: int, workers: tuple[Ints, ...]) -> tuple[Floats, Floats]:
    """Start (parts, classes) and chances of labels (parts, askers, classes, labels) of a task."""
    prior = instance.prior if instance.prior.ndim == 1 else instance.prior[task]
    one = np.array([int(some[0]) for some in workers], np.int64)
    return instance.law.share[:, None] * prior, instance.law.table(int(instance.task_type[task]), one)


def task_kinds(instance: AssignmentInstance) -> tuple[Ints, Ints]:
    """The kind of each task, (tasks,), and one task of each, (kinds,), in the order in which they first occur."""
    most = np.minimum(instance.max_labels, UNLIMITED // 2)
    tables = [_table(instance, pairs) for pairs in (instance.forbidden, instance.fixed) if pairs.size]
    own = own_coefficients(instance).reshape(instance.n_tasks, -1)
    limits = (most, instance.min_labels, *tables, *([own] if own.size else []))
    return alike(instance.task_type, instance.epsilon, *limits, *instance.own_priors)


def _table(instance: AssignmentInstance, pairs: Ints) -> Bools:
    table = np.zeros((instance.n_tasks, instance.n_workers), bool)
    table[tuple(pairs.T)] = True
    return table


def _askers(instance: AssignmentInstance, first: Ints) -> tuple[Ints, ...]:
    """Workers alike in skill, price, capacity, groups and in what they may label, in the order of the campaign."""
    m, types = instance.n_workers, np.unique(instance.task_type)
    inside = [[j in group.members for j in range(m)] for group in instance.groups]
    tables = [_table(instance, instance.forbidden)[first], _table(instance, instance.fixed)[first]]
    own = own_coefficients(instance)[first].reshape(-1, m)
    key = [instance.accuracy[types], instance.cost[types], *tables, own, *map(np.atleast_2d, inside)]
    if instance.confusion is not None:
        key.append(instance.confusion[types].transpose(0, 2, 3, 1).reshape(-1, m))
    if instance.vote_law is not None:
        key.append(instance.vote_law.accuracy)
    number, ones = alike(instance.capacity, instance.min_load, *(table.T for table in key if len(table)))
    return tuple(np.flatnonzero(number == g) for g in range(ones.size))


def _that_tell(instance: AssignmentInstance, first: Ints, workers: tuple[Ints, ...]) -> tuple[Bools, tuple[Ints, ...]]:
    """Whether votes depend on the class, (kinds, askers), and the askers whose do for some kind or have labels in."""
    # No plan pays for a vote that says nothing, unless a limit asks for labels.
    if wants_labels(instance):
        return np.ones((first.size, len(workers)), bool), workers
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
        raise ManyStates(
            f"askers of different skill, price or limits make {total:.3g} states of votes, of which an adaptive plan "
            f"looks at {STATES:,} at most; plan with fewer judges"
        )

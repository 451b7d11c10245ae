"""Exact errors of votes: of fixed weights between two classes, of the likeliest class among more; and of a plan's.

Both are computed by compiled loops (crowdopt.crowd.vote_kernels), many at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints, alike
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.law import Coins, Law, class_votes, clipped
from crowdopt.crowd.rules import EXACT_ERROR, bhattacharyya_error, log_odds

EXACT = 4_096  # values of half a vote's sum up to which it is exact: 24 workers who all differ, more where some agree
LATTICE = 131_072  # cells of the lattice beyond, per half
CELLS, FINE = 256, 2_048  # states told apart: of every vote, and of those whose error is near what it is held against
LOW = 512  # states told apart by a lower bound of a class vote
LEAST_CELLS = 64  # states told apart by anything, at least
BELOW, MANY = 4_096, 65_536  # beliefs told apart by a lower bound: of a vote, of all together
JOINED_ADDS = 0.02  # relative; what joined states may have added
MOST = 4_000_000  # numbers in memory at a time
FEW, FEW_CLASSWISE = 64, 16  # votes below which threads do not pay
SPARE = 1e-6  # evidence; room for rounding in a bound that only saves work
SIMULATED = 50  # votes of a task among more than two classes, where these err by another law than they are weighed by
CERTAIN = 1e-12  # error, absolute; how far above its target an exact error may be: rounding


class Votes(NamedTuple):
    """Votes between two classes, as the compiled loops take them; see :func:`vote_errors`."""

    starts: Ints  # (tasks + 1,): task i has the labels from ``starts[i]`` to the one before ``starts[i + 1]``
    accuracy: Floats  # (k,): p of each label
    weight: Floats  # (k,): its w
    prior: Floats  # (tasks,): probability of class 1
    bias: Floats  # (tasks,): what is added to the vote for it


class ClassVotes(NamedTuple):
    """Votes among K classes, as the compiled loops take them."""

    starts: Ints  # (tasks + 1,): as above
    accuracy: Floats  # (k,): p of each label, in (0, 1)
    prior: Floats  # (tasks, K): rows add up to 1


def _in_threads(kernel: Callable[..., Any], few: int, votes: Votes | ClassVotes, tasks: Ints, *given: Any) -> None:
    """Run a kernel over some votes, each independent of all others, so that threads change nothing."""
    if tasks.size < few:
        kernel(votes, tasks, *given, 0, tasks.size)
        return
    workers = os.cpu_count() or 1
    cuts = np.linspace(0, tasks.size, 8 * workers + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(kernel, votes, tasks, *given, *cut) for cut in pairwise(cuts)]:
            done.result()


def vote_errors(
    starts: Ints, accuracy: Floats, weight: Floats, prior: Floats, bias: Floats, cells: int = LATTICE
) -> tuple[Floats, Floats]:
    """Errors of many votes between two classes at once.

    The error lies in ``[above - width, above]``. The law of a vote's sum is built in two halves that meet in the
    middle; workers with equal accuracy and weight are convolved as a class. While either half takes at most EXACT
    values (24 workers who all differ) the width is 0; beyond, sums are rounded down, label by label, to a lattice, and
    the width is what that may have added.

    starts (tasks + 1,): task i has the labels from ``starts[i]`` to the one before ``starts[i + 1]``; accuracy, weight
    (k,): p and w of each label; prior, bias (tasks,): probability of class 1, and what is added to the vote for it;
    cells: cells of the lattice per half; -> above, width (tasks,).
    """
    from crowdopt.crowd.vote_kernels import errors

    # copies, for the loops are compiled for arrays that can be written
    numbers = [np.array(given, np.float64) for given in (accuracy, weight, prior, bias)]
    votes, above, width = Votes(np.array(starts, np.int64), *numbers), np.empty(len(prior)), np.ones(len(prior))
    for values in dict.fromkeys((EXACT, cells)):
        _in_threads(errors, FEW, votes, np.flatnonzero(width > 0), values, above, width)
    return above, width


def class_vote_errors(votes: ClassVotes, target: Floats | None = None) -> tuple[Floats, Bools]:
    """``sum_x (sum_k pi_k P_k(x) - max_k pi_k P_k(x))``, at most: what the vote by log-odds and prior errs with.

    That vote says a likeliest class. Where several are as likely it does not matter which it says, so it has no rule
    for ties. Exact up to rounding while the beliefs that labels lead to are at most CELLS (eight labels that all
    differ among four classes, hundreds that are alike); beyond, beliefs are joined, and the error only seems larger.

    target (tasks,): what each error is held against: errors within JOINED_ADDS of it are computed again with FINE
    states, and the smaller counts. Default: all that are not exact.
    -> error (tasks,).
    exact (tasks,): whether nothing was joined.
    """
    error, width = _class_errors(votes, CELLS, False)
    rough = width > 0
    if target is not None:
        rough &= np.abs(error - target) <= JOINED_ADDS * target
    again = np.flatnonzero(rough)
    finer, width[again] = _class_errors(votes, FINE, False, again)
    error[again] = np.minimum(error[again], finer)
    return error, width == 0


def least_class_errors(votes: ClassVotes, cells: int) -> Floats:
    """A lower bound on the same errors, (tasks,), by so many ``cells``; equal where they are exact."""
    return _class_errors(votes, cells, True)[0]


def _class_errors(
    votes: ClassVotes, cells: int, below: bool, tasks: Ints | None = None, together: int | None = None
) -> tuple[Floats, Floats]:
    """Errors of some tasks, by at most so many cells ``together``, and the width of what was joined."""
    from crowdopt.crowd.vote_kernels import class_errors

    votes = ClassVotes(np.array(votes.starts, np.int64), np.array(votes.accuracy), np.array(votes.prior, order="C"))
    first: dict[bytes, int] = {}  # votes that differ in their labels or prior, each once
    tasks, ends = np.arange(len(votes.prior)) if tasks is None else tasks, votes.starts.tolist()
    if not tasks.size:
        return np.zeros(0), np.zeros(0)
    prior = np.sort(votes.prior)
    keys = [np.sort(votes.accuracy[ends[i] : ends[i + 1]]).tobytes() + prior[i].tobytes() for i in tasks.tolist()]
    like = np.array([first.setdefault(key, i) for i, key in zip(tasks.tolist(), keys, strict=True)], np.int64)
    different = np.unique(like)
    cells = min(cells, MOST // votes.prior.shape[1] ** 2)
    cells = max(LEAST_CELLS, cells if together is None else min(cells, together // max(1, different.size)))
    error, width = np.empty(len(votes.prior)), np.empty(len(votes.prior))
    _in_threads(class_errors, FEW_CLASSWISE, votes, different, cells, below, error, width)
    return error[like], width[like]


def exact_errors(instance: AssignmentInstance, pairs: Ints) -> tuple[Floats, Floats]:
    """Exact error of each task's vote over its labels, those already in included.

    Votes have the rule's weights, and the prior's log-odds where the rule heeds them; accuracies are clipped as in the
    evidence, and labels without evidence count for nothing. The error lies in ``[above - width, above]``; the width is
    0 but for tasks with many labels that all differ (:func:`vote_errors`, and :func:`class_vote_errors`
    for more than two classes).

    -> above, width (tasks,).
    """
    return _errors(instance, np.arange(instance.n_tasks), np.concatenate([_known(instance), pairs]), both=True)


def most_errors(instance: AssignmentInstance, pairs: Ints) -> Floats:
    """The upper bounds of :func:`exact_errors` alone, (tasks,): lower ones among many classes take longer."""
    return _errors(instance, np.arange(instance.n_tasks), np.concatenate([_known(instance), pairs]))[0]


def errors_of(instance: AssignmentInstance, tasks: Ints, hands: Sequence[Ints]) -> Floats:
    """Exact errors (their upper bounds) of some tasks if they had just these workers' labels.

    tasks (k,): whose errors are wanted; hands list of k arrays of int: the workers who label each of them; -> (k,).
    """
    place = np.repeat(np.arange(len(hands)), np.array([len(hand) for hand in hands], np.int64))
    worker = np.concatenate([np.zeros(0, np.int64), *hands]).astype(np.int64)
    return _errors(instance, np.asarray(tasks, np.int64), np.column_stack([place, worker]))[0]


def errors_of_sets(instance: AssignmentInstance, tasks: Ints, pairs: Ints, limits: Floats | None = None) -> Floats:
    """The same of tasks that may come several times, (k,); pairs (labels, 2): place in ``tasks``, and worker.

    limits: ascending, task + limit: where none of a task's is between what is soon known of an error, that will do.
    """
    if limits is None or instance.classes > 2:
        return _errors(instance, tasks, pairs)[0]
    above, width = _between_two(instance, tasks, pairs, cells=EXACT)
    first, last = (np.searchsorted(limits, tasks + np.minimum(one, 0.9)) for one in (above - width, above))
    again = np.flatnonzero(first != last)
    if again.size:
        place = np.full(tasks.size, -1)
        place[again] = np.arange(again.size)
        some = pairs[place[pairs[:, 0]] >= 0]
        above[again] = _errors(instance, tasks[again], np.column_stack([place[some[:, 0]], some[:, 1]]))[0]
    return above


def errors_by(instance: AssignmentInstance, law: Law, tasks: Ints, pairs: Ints) -> Floats:
    """What the instance's votes, weighed by its own skills, err with if labels follow this law, (k,).

    tasks (k,): ascending; pairs (labels, 2): task, one of these, and worker. Of one coin between two classes it is
    exact; else each task is simulated, by the same numbers for any law.
    """
    place = np.column_stack([np.searchsorted(tasks, pairs[:, 0]), pairs[:, 1]])
    if instance.classes == 2 and instance.confusion is None:
        return _between_two(instance, tasks, place, law=law)[0]
    n, rng, classes = tasks.size * SIMULATED, np.random.default_rng(0), int(instance.classes)
    task = (place[:, :1] + tasks.size * np.arange(SIMULATED)).ravel()
    kind, worker = (np.repeat(one, SIMULATED) for one in instance.cells(pairs))
    prior = np.tile(np.broadcast_to(instance.prior, (instance.n_tasks, classes))[tasks], (SIMULATED, 1))
    truth = (rng.random((n, 1)) > np.cumsum(prior, axis=1)[:, :-1]).sum(axis=1)
    part = law.part_drawn(rng, truth, None)
    label = law.drawn((part[task], kind, worker, truth[task]), (rng.random(task.size), rng.random(task.size)))
    score = np.log(prior)
    if instance.confusion is None:
        np.add.at(score, (task, label), instance.weight[kind, worker])
    else:
        np.add.at(score, task, class_votes(instance.confusion)[kind, worker, label])
    wrong = np.argmax(score, axis=1) != truth
    return np.asarray(wrong.reshape(SIMULATED, tasks.size).mean(axis=0), np.float64)


def _known(instance: AssignmentInstance) -> Ints:
    """Task and worker of each label that is in and not in the prior, (k, 2)."""
    return instance.collected[: 0 if instance.observed else None]


def _labels(instance: AssignmentInstance, tasks: Ints, pairs: Ints) -> tuple[Ints, tuple[Ints, Ints]]:
    """Where the labels of each of these tasks begin; type and worker of each label. pairs (k, 2): place, worker."""
    place, worker = pairs[np.argsort(pairs[:, 0], kind="stable")].T
    starts = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=tasks.size))])
    return starts, (instance.task_type[tasks[place]], worker)


def _errors(instance: AssignmentInstance, tasks: Ints, pairs: Ints, both: bool = False) -> tuple[Floats, Floats]:
    """At most the errors of these votes and, if ``both``, how far below the errors may lie; (tasks,) each."""
    if instance.classes == 2:
        return _between_two(instance, tasks, pairs)
    votes = _class_votes(instance, tasks, pairs)
    # what errors are held against one by one; nothing where their average counts
    above, exact = class_vote_errors(votes, None if instance.the_rule.average else instance.epsilon[tasks])
    rough, width = np.flatnonzero(~exact & both), np.zeros(tasks.size)
    width[rough] = np.maximum(0.0, above[rough] - _class_errors(votes, LOW, True, rough)[0])
    return above, width


def _class_votes(instance: AssignmentInstance, tasks: Ints, pairs: Ints) -> ClassVotes:
    """Votes among more than two classes, by labels that say something; every rule for those heeds the prior."""
    starts, cell = _labels(instance, tasks, pairs)
    counts = instance.evidence[cell] > 0
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))[tasks]
    return ClassVotes(np.append(0, np.cumsum(counts))[starts], clipped(instance.accuracy[cell][counts]), prior)


def _between_two(
    instance: AssignmentInstance,
    tasks: Ints,
    pairs: Ints,
    informed: bool = False,
    law: Law | None = None,
    cells: int = LATTICE,
) -> tuple[Floats, Floats]:
    """Errors between two classes, over the parts of a law; ``informed``: weighed as if the part were known.

    law: default: that of the instance's own accuracies.
    """
    starts, cell = _labels(instance, tasks, pairs)
    law = law or instance.coins
    assert isinstance(law.speech, Coins)
    skill = np.stack([clipped(law.speech.right(part, *cell)) for part in range(law.share.size)])
    above, width = _told(instance, tasks, starts, cell, skill, informed, cells)
    return law.share @ above, law.share @ width  # of a fixed vote it is linear in the law


def errors_at(instance: AssignmentInstance, tasks: Ints, pairs: Ints, skill: Floats) -> Floats:
    """What votes between two classes, weighed by the instance's skills, err with at other skills, (rows, tasks).

    Of votes that take more than EXACT values it is an estimate, the middle between bounds.

    tasks (k,): ascending; pairs (labels, 2): task, one of these, and worker; skill (rows, labels): of each label.
    """
    order = np.argsort(pairs[:, 0], kind="stable")
    place = np.column_stack([np.searchsorted(tasks, pairs[order, 0]), pairs[order, 1]])
    starts, cell = _labels(instance, tasks, place)
    above, width = _told(instance, tasks, starts, cell, clipped(skill[:, order]), cells=EXACT)
    return above - width / 2


def _told(
    instance: AssignmentInstance,
    tasks: Ints,
    starts: Ints,
    cell: tuple[Ints, Ints],
    skill: Floats,
    informed: bool = False,
    cells: int = LATTICE,
) -> tuple[Floats, Floats]:
    """At most the errors of these votes for each row of skills, and how far below they may lie, (rows, tasks) each."""
    weight = np.where(instance.evidence[cell] > 0, instance.weight[cell], 0.0)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, 2))[tasks]
    odds = np.log(prior[:, 1]) - np.log(prior[:, 0])
    bias = odds if instance.the_rule.heeds_prior else np.zeros(tasks.size)
    above, width = np.empty((2, len(skill), tasks.size))
    step = max(1, MOST // max(1, weight.size))
    for some in (slice(k, min(len(skill), k + step)) for k in range(0, len(skill), step)):
        rows = skill[some]
        weights = np.broadcast_to(weight, rows.shape)
        if informed:
            weights = np.where((weight != 0) & (np.arange(len(skill))[some, None] > 0), log_odds(rows), weights)
        ends = starts[1:] + weight.size * np.arange(len(rows))[:, None]
        each = vote_errors(
            np.append(0, ends.ravel()),
            rows.ravel(),
            weights.ravel(),
            np.tile(prior[:, 1], len(rows)),
            np.tile(bias, len(rows)),
            cells,
        )
        above[some], width[some] = (one.reshape(len(rows), tasks.size) for one in each)
    return above, width


def fewest_exact(instance: AssignmentInstance) -> Ints:
    """The fewest new labels with which each task can reach its target exactly.

    No vote errs less for having a worker replaced by a better one, nor for having one label fewer: so the best k
    workers that a task may have do best among all k, and k is found by bisection. Among more than two classes a worker
    who is mostly wrong counts as one who knows all that they know (:func:`at_best`), and lower bounds of the errors
    decide: the fewest labels are then at least as many as this. So they do where some tasks are hard: there votes are
    taken to know which ones.

    -> (tasks,): one more than there are workers where a task cannot reach its target.
    """
    hands = _BestHands.of(instance)
    epsilon, size = instance.epsilon[hands.task], (hands.evidence > 0).sum(axis=1)
    have = instance.collected_evidence[hands.task, None]
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))[hands.task]
    # so many are enough by the rule bhattacharyya, and so few have less evidence than every vote that keeps the target
    high, total = size + 1, np.cumsum(np.hstack([have, hands.evidence]), axis=1)
    if not instance.difficulty.share:
        high = np.minimum(high, (bhattacharyya_error(total, prior[:, None]) > epsilon[:, None]).sum(axis=1))
    total = np.cumsum(np.hstack([have, -np.sort(-hands.evidence, axis=1)]), axis=1)
    least = EXACT_ERROR.need(epsilon, instance.classes, prior) - SPARE
    low = np.minimum(high, (total < least[:, None]).sum(axis=1)) - 1
    while (unknown := high - low > 1).any():
        middle = np.minimum((low + high) // 2, 2 * low + 4)  # errors of few labels are computed in no time
        good = hands.errors(np.where(unknown, middle, 0)) <= epsilon + CERTAIN
        high, low = np.where(unknown & good, middle, high), np.where(unknown & ~good, middle, low)
    return np.where(high > size, instance.n_workers + 1, high)[hands.kind]


def least_errors(instance: AssignmentInstance) -> Floats:
    """The least error that any plan's vote can have, (tasks,): that of all labels that a task may have."""
    hands = _BestHands.of(instance)
    return hands.errors((hands.evidence > 0).sum(axis=1))[hands.kind]


def at_best(accuracy: Floats, classes: int) -> Floats:
    """A skill of at least 1/K that knows all that a worker knows: p, or ``1 - (K - 1) p`` where p is below 1/K.

    A worker who is right so often and then names any other class is right with chance p. Between 1/K and that skill
    one who sometimes guesses is anything between: so of two such skills the larger one knows all that the other does.

    accuracy: p, of any shape.
    """
    return np.where(accuracy * classes < 1, 1 - (classes - 1) * accuracy, accuracy)


class _BestHands(NamedTuple):
    """Whom tasks would best have: kinds of tasks that differ in type, target, prior or in pairs of their own."""

    instance: AssignmentInstance
    kind: Ints  # (tasks,): kind of each task
    task: Ints  # (kinds,): a task of each
    worker: Ints  # (kinds, workers): the best first, those last who may not label or tell nothing
    evidence: Floats  # (kinds, workers): of their labels, 0 for those

    @classmethod
    def of(cls, instance: AssignmentInstance) -> _BestHands:
        """Of all tasks."""
        special, barred = np.zeros(instance.n_tasks, np.int64), instance.barred
        own = np.concatenate([barred, instance.collected])[:, 0]
        special[own] = 1 + own
        kind, task = alike(instance.task_type, instance.epsilon, special, *instance.own_priors)
        types = instance.task_type[task]
        evidence = np.where(instance.capacity > 0, instance.evidence[types], 0.0)
        evidence[kind[barred[:, 0]], barred[:, 1]] = 0.0
        worth = evidence
        if instance.classes > 2:
            worth = np.where(evidence > 0, at_best(instance.accuracy[types], instance.classes), 0.0)
        worker = np.argsort(-worth, axis=1, kind="stable")
        return cls(instance, kind, task, worker, np.take_along_axis(evidence, worker, axis=1))

    def errors(self, count: Ints) -> Floats:
        """At least the errors of the best votes over labels that are in and so many others, (kinds,)."""
        kind, place = np.nonzero(np.arange(self.worker.shape[1]) < count[:, None])
        known = _known(self.instance)
        held, more = (self.kind[known[:, 0]], known[:, 1]), (kind, self.worker[kind, place])
        pairs = np.concatenate([np.column_stack(held), np.column_stack(more)])
        if self.instance.classes == 2:
            return _between_two(self.instance, self.task, pairs, informed=True)[0]
        votes = _class_votes(self.instance, self.task, pairs)
        best = votes._replace(accuracy=at_best(votes.accuracy, votes.prior.shape[1]))
        return _class_errors(best, BELOW, True, together=MANY)[0]


def relaxation(instance: AssignmentInstance) -> AssignmentInstance:
    """The linear program that every plan of a checked rule keeps: its bound is a bound for the rule.

    Beside the rule's own evidence row, each task has the fewest labels that can reach its target; a task that no
    workers can settle asks for more labels than there are workers. A rule for the average asks nothing of any task.
    """
    if not instance.the_rule.checked or instance.the_rule.average:
        return instance
    new = fewest_exact(instance)
    fewest = np.where(new > 0, np.maximum(new + instance.collected_count, instance.min_labels), instance.min_labels)
    hopeless = new > np.minimum(instance.new_label_limits[1], instance.n_workers)
    most = np.where(hopeless, UNLIMITED, instance.max_labels)
    return replace(instance, min_labels=np.where(hopeless, instance.n_workers + 1 + fewest, fewest), max_labels=most)

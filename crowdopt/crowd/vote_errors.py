"""Exact errors of votes: of fixed weights between two classes, of the likeliest class among more; and of a plan's.

Both are computed by compiled loops (crowdopt.crowd.vote_kernels), many at once.

What a plan must keep, counted anew and by the plainest code: every limit as it was stated, and each task's error.

What tasks still ask of a plan, and whether the labels that they can still have give it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdopt.arrays import Bools, Floats, Ints, alike
from crowdopt.crowd.alike import membership, of_tasks, task_limits
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance
from crowdopt.crowd.law import CLIP, Coins, Law, class_votes, clipped
from crowdopt.crowd.rules import EXACT_ERROR, bhattacharyya_error, log_odds
from crowdopt.kernels import for_small

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


def folded(instance: AssignmentInstance, up: bool = False) -> Floats:
    """Skills as a vote by log-odds sees them, clipped: of two classes the larger of p and 1 - p; 1/K without evidence.

    up: among more classes a worker who is mostly wrong counts as one who names another class than theirs,
    ``(1 - p) / (K - 1)``, which is no more than they know; or, if ``up``, as the skill of
    :func:`at_best`; -> (types, workers): in [1/K, 1).
    """
    p, classes = instance.accuracy, int(instance.classes)
    turned = at_best(p, classes) if up else np.where(p * classes < 1, (1 - p) / (classes - 1), p)
    return np.where(instance.evidence > 0, np.minimum(turned, 1 - CLIP), 1 / classes)


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


EVIDENCE = "lacks evidence"  # which an exact rule does not ask for
EDGE = 1.01  # an LP's point lies on the edge of its coverage, give or take rounding
NEAR = 1e-6  # absolute, of numbers above 1 relative; how far a sum of shares may be off


@dataclass(frozen=True)
class Breach:
    """One limit that a plan does not keep: which, whose, and by how much."""

    limit: str
    owner: str
    amount: float

    def __str__(self) -> str:
        return f"{self.owner}: {self.limit} ({self.amount:.6g})"


class Limit(NamedTuple):
    """One limit of all tasks, all workers, all pairs or the plan: by how much each of them breaks it, if above 0."""

    says: str
    kind: str
    name: Callable[[int], Any]  # of the kind
    excess: NDArray[Any]
    lacks: bool = False  # whether a task gets less than it asks for
    unit: float = 1.0  # of the tolerance


def broken(instance: AssignmentInstance, pairs: Ints, amounts: Floats | None = None, short: ArrayLike = ()) -> str:
    """The first limit or target of an instance that labels break, in words; empty where all are kept.

    Nothing that a method has found out or remembered of the instance is used, whatever made the labels. Of shares of
    labels there is only evidence; of whole ones there are exact errors where the rule promises them.

    pairs, amounts, short: as for :func:`breaches`.
    """
    fresh = replace(instance)
    by_error = fresh.the_rule.checked and amounts is None
    for one in breaches(fresh, pairs, amounts, NEAR if amounts is not None else EDGE * COVERAGE, short):
        if not (by_error and one.limit == EVIDENCE):
            return str(one)
    if not by_error:
        return ""
    error, target = most_errors(fresh, pairs), fresh.epsilon
    if fresh.the_rule.average and error.mean() <= target.mean() + CERTAIN:
        return ""
    if fresh.the_rule.average and not np.size(short):
        return f"tasks err with probability {error.mean():.6g} on average, more than {target.mean():g}"
    error[np.asarray(short, np.int64)] = 0.0
    for task in np.flatnonzero(error > target + CERTAIN)[:1].tolist():
        return f"task {fresh.task_id(task)} errs with probability {error[task]:.6g}, more than its {target[task]:g}"
    return ""


def short_tasks(instance: AssignmentInstance, pairs: Ints) -> Ints:
    """Tasks that get less than they ask for: evidence, labels, labels of a group, or by exact errors, (k,).

    Where the average of errors counts, and is too large: those that err more than it may be.

    -> in ascending order.
    """
    limits = _limits(instance, pairs, np.ones(len(pairs)), 1.0)
    short: Bools = np.any([limit.excess > COVERAGE for limit in limits if limit.lacks], axis=0)
    if instance.the_rule.checked:
        sure = np.zeros(instance.n_tasks, bool)  # by a bound, which takes no time beside the exact error of many labels
        if instance.rule == EXACT_ERROR.name and sure.size > 1:
            sure = instance.error_bound(instance.collected_evidence + instance.supply(pairs)) <= instance.epsilon
        error = np.where(sure, 0.0, most_errors(instance, pairs[~sure[pairs[:, 0]]]))
        if not (instance.the_rule.average and error.mean() <= instance.epsilon.mean() + CERTAIN):
            short |= error > instance.epsilon + CERTAIN
    return np.flatnonzero(short)


def worst_breach(
    instance: AssignmentInstance, pairs: Ints, amounts: Floats | None = None, short: ArrayLike = ()
) -> float:
    """The largest amount by which the pairs do not keep a limit, in its own unit; 0 if they keep all of them exactly.

    pairs, amounts, short: as for :func:`breaches`.
    """
    return max((one.amount for one in breaches(instance, pairs, amounts, 0.0, short)), default=0.0)


def breaches(
    instance: AssignmentInstance,
    pairs: Ints,
    amounts: Floats | None = None,
    tolerance: float = COVERAGE,
    short: ArrayLike = (),
) -> list[Breach]:
    """Every limit that the pairs break by more than the tolerance.

    pairs (k, 2): task and worker of each label; amounts (k,): share of each label, whole ones by default; tolerance:
    absolute; of a budget above 1 relative to it, of an own row relative to its largest term or side; short (s,): tasks
    that may get less than they ask for.
    """
    found: list[Breach] = []
    shares, edge = (np.ones(len(pairs)), 1.0) if amounts is None else (amounts, EDGE)
    for limit in chain(_limits(instance, pairs, shares, edge), _of_pairs(instance, pairs, shares)):
        over = limit.excess > tolerance * limit.unit
        if limit.lacks:
            over[np.asarray(short, np.int64)] = False
        names = [(k, f"{limit.kind} {limit.name(k)}") for k in np.flatnonzero(over).tolist()]
        found += [Breach(limit.says, name, float(limit.excess[k])) for k, name in names]
    return found


def _limits(instance: AssignmentInstance, pairs: Ints, shares: Floats, edge: float) -> Iterator[Limit]:
    """Limits of tasks, of workers and of the plan; labels already in count, as evidence where no prior knows them."""
    (task, worker), had, n = pairs.T, instance.collected, instance.n_tasks
    of_task, of_worker = ("task", instance.task_id), ("worker", instance.worker_id)

    def cells(table: Floats, some: Ints) -> Floats:
        return table[instance.task_type[some[:, 0]], some[:, 1]]

    lacking = instance.need - np.bincount(task, cells(instance.evidence, pairs) * shares, n)
    if not instance.observed:
        lacking = lacking - np.bincount(had[:, 0], cells(instance.evidence, had), n)
    yield Limit(EVIDENCE, *of_task, lacking, True, edge)
    before, labels = np.bincount(had[:, 0], minlength=n), np.bincount(task, shares, n)
    room = np.where(instance.max_labels == UNLIMITED, np.inf, np.maximum(0, instance.max_labels - before))
    too_few = np.maximum(0, instance.min_labels - before) - labels
    yield Limit("has too few labels", *of_task, too_few, True)
    yield Limit("has too many labels", *of_task, labels - room)
    loads = np.bincount(worker, shares, instance.n_workers)
    yield Limit("exceeds the capacity", *of_worker, loads - instance.capacity)
    yield Limit("is below the minimum load", *of_worker, instance.min_load - loads)
    if instance.budget is not None:
        excess = (cells(instance.cost, pairs) * shares).sum() - instance.budget
        yield Limit("is exceeded", "the", ["budget"].__getitem__, np.array([excess]), unit=max(1.0, instance.budget))
    for group in instance.groups:
        inside = np.isin(np.arange(instance.n_workers), group.members)
        mine, name = shares * inside[worker], [group.name].__getitem__
        old = np.bincount(had[:, 0], inside[had[:, 1]], n)
        each, total = np.bincount(task, mine, n) + old, shares.sum() + len(had)
        part = np.array([each.sum()])
        most = np.inf if group.max_per_task is None else np.maximum(group.max_per_task, old)  # none is taken back
        yield Limit(f"lacks labels of group {group.name}", *of_task, group.min_per_task - each, True)
        yield Limit(f"has more labels of group {group.name} than it may", *of_task, each - most)
        yield Limit("has more than its share", "group", name, part - group.max_share * total)
        yield Limit("has less than its share", "group", name, group.min_share * total - part)


def _of_pairs(instance: AssignmentInstance, pairs: Ints, shares: Floats) -> Iterator[Limit]:
    """Limits of single pairs, and own rows, which add pairs up."""
    key, barred, fixed = (instance.pair_keys(some) for some in (pairs, instance.barred, instance.fixed))
    if (np.diff(key) < 0).any():
        order = np.argsort(key)
        key, shares = key[order], shares[order]

    def share_of(wanted: Ints) -> Floats:
        if not key.size:
            return np.zeros(wanted.size)
        place = np.minimum(np.searchsorted(key, wanted), key.size - 1)
        return np.where(key[place] == wanted, shares[place], 0.0)

    def limit(says: str, keys: Ints, excess: NDArray[Any]) -> Limit:
        def name(k: int) -> str:
            task, worker = divmod(int(keys[k]), instance.n_workers)
            return f"{instance.task_id(task)}, worker {instance.worker_id(worker)}"

        return Limit(says, "task", name, excess)

    yield limit("is in the plan twice", key[1:], key[1:] == key[:-1])
    if (shares != 1).any():
        yield limit("has a share outside [0, 1]", key, np.maximum(-shares, shares - 1))
    yield limit("may not be paired", barred, share_of(barred))
    yield limit("must be in the plan", fixed, 1 - share_of(fixed))
    if (rows := instance.own_rows) is not None:
        terms = rows.coefficient * share_of(instance.pair_keys(rows.pairs))
        sums, size = np.bincount(rows.row, terms, len(rows.names)), np.ones(len(rows.names))
        np.maximum.at(size, rows.row, np.abs(terms))  # a large number of a pair that is not there excuses nothing
        ends = ("below its lower", rows.lower, rows.lower - sums), ("above its upper", rows.upper, sums - rows.upper)
        for says, side, over in ends:
            unit = np.maximum(size, np.where(np.isfinite(side), np.abs(side), 0.0))  # large sums are no sharper
            yield Limit(f"is {says} side", "row", rows.names.__getitem__, over / unit)


def open_tasks(instance: AssignmentInstance) -> Ints:
    """The tasks that are open (:func:`is_open`); the first one where none is, as a program has a task; -> (k,)."""
    tasks = np.flatnonzero(is_open(instance))
    return tasks if tasks.size else np.zeros(1, np.int64)


def is_open(instance: AssignmentInstance) -> Bools:
    """Whether each task belongs in a program, (tasks,): it asks for labels, or some limit ties all tasks.

    Least loads, shares of all labels, own rows and a rule for the average tie all. A label of a task that is
    not open only costs money, capacity and room in its own limits; so some cheapest plan has none, and multipliers 0
    prove that.
    """
    tied = instance.own_rows is not None or instance.min_load.any() or instance.the_rule.average
    if tied or any(group.has_share_limits for group in instance.groups):
        return np.ones(instance.n_tasks, bool)
    return asks(instance)


def asks(instance: AssignmentInstance) -> Bools:
    """Whether each task asks for labels, (tasks,).

    It does if it lacks evidence, labels or labels of a group, if it has a fixed pair, or if under a checked rule its
    vote as it is errs more than its target.
    """
    lacks: Bools = (instance.floor > 0) | (instance.new_label_limits[0] > 0)
    lacks |= (task_limits(instance)[1] > 0).any(axis=0)
    lacks[instance.fixed[:, 0]] = True
    if instance.the_rule.checked and not instance.the_rule.average and not lacks.all():
        lacks |= most_errors(instance, np.zeros((0, 2), np.int64)) > instance.epsilon + CERTAIN
    return lacks


def is_exhausted(instance: AssignmentInstance) -> Bools:
    """Which tasks, (tasks,), can have no more labels, or only such as say nothing."""
    kind, row, able = _workers_left(instance)
    informed = able & (instance.evidence[row] > 0)
    return (_sums(instance, kind, informed) <= 0) | (instance.new_label_limits[1] <= 0)


def out_of_reach(instance: AssignmentInstance) -> Bools:
    """Which tasks, (tasks,), cannot be served even if all workers' time is theirs alone.

    All evidence that a task can have is less than its need; or, under a checked rule, the exact error of every vote
    that it can have is above its target; or there are fewer workers than labels that it must have.
    """
    if instance.the_rule.average:
        return np.zeros(instance.n_tasks, bool)
    (kind, row, able), (fewest, most) = _workers_left(instance), instance.new_label_limits
    worth = instance.evidence[row]
    worth[~able] = 0.0
    evidence, few = _sums(instance, kind, worth), np.flatnonzero(most < instance.n_workers)
    if few.size:  # the best labels of the kind: at least as good as the best that the task may have
        best = np.cumsum(-np.sort(-worth, axis=1), axis=1)[kind[few], most[few] - 1]
        evidence[few] = np.minimum(evidence[few], np.where(most[few] > 0, best, 0.0))
    short: Bools = (evidence < instance.floor) | (np.minimum(_sums(instance, kind, able), most) < fewest)
    limited, wanted, _ = task_limits(instance)
    for inside, labels in zip(membership(instance)[limited], wanted, strict=True):
        short |= _sums(instance, kind, able & inside) < labels
    if instance.the_rule.checked:
        bound = instance.error_bound(instance.collected_evidence + evidence)
        doubtful = np.flatnonzero(~short & ((bound > instance.epsilon) | (most < UNLIMITED)))
        if doubtful.size:  # no vote that they can have keeps their target, by exact errors
            part = of_tasks(replace(instance, own_rows=None, groups=()), doubtful)
            with for_small(instance.n_tasks, instance.n_workers):
                short[doubtful] = fewest_exact(part) > np.minimum(part.new_label_limits[1], part.n_workers)
    return short


def _workers_left(instance: AssignmentInstance) -> tuple[Ints, Ints, Bools]:
    """The kind of each task, the type of each kind, and who has time and may still label it, (kinds, workers).

    Tasks of a kind have one type, and as many labels as they may of the same groups; pairs are not looked at.
    """
    limited, _, most = task_limits(instance)
    full = most.T == 0
    kind, first = alike(instance.task_type, full)
    able = (instance.capacity > 0) & ~(full[first] @ membership(instance)[limited])
    return kind, instance.task_type[first], able


def _sums(instance: AssignmentInstance, kind: Ints, worth: Floats | Bools) -> Floats:
    """What all labels that each task can have are worth together, pairs that are barred left out, (tasks,)."""
    task, worker = instance.barred.T
    lost = np.bincount(task, worth[kind[task], worker], instance.n_tasks)
    return np.maximum(0.0, worth.sum(axis=1)[kind] - lost)

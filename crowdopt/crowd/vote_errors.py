"""Exact errors of votes: of fixed weights between two classes, of the likeliest class among more; and of a plan's.

Both are computed by compiled loops (crowdopt.crowd.vote_kernels, crowdopt.crowd.class_vote_kernels), many at once.
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
from crowdopt.crowd.law import LISTED, clipped
from crowdopt.crowd.rules import EXACT_ERROR, bhattacharyya_error
from crowdopt.errors import InputError

EXACT = 4_096  # values of half a vote's sum up to which it is exact: 24 workers who all differ, more where some agree
LATTICE = 131_072  # cells of the lattice beyond, per half
CELLS, FINE = 256, 2_048  # states told apart: of every vote, and of those whose error is near what it is held against
LOW = 512  # states told apart by a lower bound of a class vote
LEAST_CELLS = 64  # states told apart by anything, at least
BELOW, MANY = 4_096, 65_536  # beliefs told apart by a lower bound: of a vote, of all together
JOINED_ADDS = 0.02  # relative; what joined states may have added
MOST = 4_000_000  # numbers in memory at a time
CLASSWISE = 2_000_000  # score vectors that a vote among more than two classes may have
FEW, FEW_CLASSWISE = 64, 16  # votes below which threads do not pay
SPARE = 1e-6  # evidence; room for rounding in a bound that only saves work
CERTAIN = 1e-12  # error, absolute; how far above its target an exact error may be: rounding


class Votes(NamedTuple):
    """Votes between two classes, as the compiled loops take them; see :func:`vote_errors`."""

    starts: Ints  # (tasks + 1,): task i has the labels from ``starts[i]`` to the one before ``starts[i + 1]``
    # p and w of each label
    accuracy: Floats  # (k,)
    weight: Floats  # (k,)
    # probability of class 1, and what is added to the vote for it
    prior: Floats  # (tasks,)
    bias: Floats  # (tasks,)

    def of(self, tasks: Ints) -> Votes:
        """The votes of some tasks."""
        ends, label = _labels_of(self.starts, tasks)
        return Votes(ends, self.accuracy[label], self.weight[label], self.prior[tasks], self.bias[tasks])


class ClassVotes(NamedTuple):
    """Votes among K classes, as the compiled loops take them."""

    starts: Ints  # (tasks + 1,): as above
    accuracy: Floats  # (k,): p of each label, in (0, 1)
    prior: Floats  # (tasks, K): rows add up to 1

    def of(self, tasks: Ints) -> ClassVotes:
        """The votes of some tasks."""
        ends, label = _labels_of(self.starts, tasks)
        return ClassVotes(ends, self.accuracy[label], self.prior[tasks])


def _labels_of(starts: Ints, tasks: Ints) -> tuple[Ints, Ints]:
    """Where the labels of some tasks begin once they stand alone, and which they are."""
    sizes = np.diff(starts)[tasks]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return ends, np.repeat(starts[tasks] - ends[:-1], sizes) + np.arange(ends[-1])


def _in_threads(kernel: Callable[..., Any], given: tuple[Any, ...], size: int, few: int) -> None:
    """Run a kernel over so many votes, each independent of all others, so that threads change nothing."""
    if size < few:
        kernel(*given, 0, size)
        return
    workers = os.cpu_count() or 1
    cuts = np.linspace(0, size, 8 * workers + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(kernel, *given, *cut) for cut in pairwise(cuts)]:
            done.result()


def are_compiled(classes: int = 2) -> bool:
    """Whether the compiled loops for votes among so many classes are kept from earlier, or in memory."""
    from crowdopt.compiled_kernels import is_compiled
    from crowdopt.crowd import class_vote_kernels, vote_kernels

    return is_compiled(vote_kernels.errors if classes == 2 else class_vote_kernels.errors)


def weighted_vote(task: Ints, label: Ints, weight: Floats, tasks: int, classes: int = 2) -> Ints:
    """``argmax_k sum of the weights of the labels that say k``, one answer per task.

    With two classes this is ``sign(sum w l)``. Ties go to the smallest class.

    task, label (k,): task and class of each label; weight (k,): its weight; a negative one speaks against its class;
    tasks, classes: how many of each; -> (tasks,): class of each task; -1 without labels.
    """
    votes = np.bincount(task * classes + label, weights=weight, minlength=tasks * classes)
    answers = votes.reshape(tasks, classes).argmax(axis=1)
    return np.where(np.bincount(task, minlength=tasks) > 0, answers, -1)


def log_odds(accuracy: Any, classes: int = 2) -> Floats:
    """``ln((K - 1) p / (1 - p))``, the weights of the vote that errs least; infinite at 0 and 1."""
    p = np.asarray(accuracy, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # not a number where p is no chance
        odds: Floats = np.log(p) - np.log1p(-p) + np.log(classes - 1)
    return odds


def poisson_binomial(accuracy: Any) -> Floats:
    """``P(c of the labels are right)``, (k + 1,), by convolution label by label; accuracy (k,)."""
    law = np.ones(1)
    for right in np.asarray(accuracy, dtype=np.float64):
        law = np.append(law * (1 - right), 0.0) + np.append(0.0, law * right)
    return law


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
    votes = Votes(starts, accuracy, weight, prior, bias).of(np.arange(prior.size))  # arrays that kernels know
    above, width = _two_class_errors(votes, EXACT)
    rough = np.flatnonzero(width > 0)
    if rough.size:
        above[rough], width[rough] = _two_class_errors(votes.of(rough), cells)
    return above, width


def _two_class_errors(votes: Votes, cells: int) -> tuple[Floats, Floats]:
    from crowdopt.crowd import vote_kernels

    above, width = np.empty(votes.prior.size), np.empty(votes.prior.size)
    _in_threads(vote_kernels.errors, (votes, cells, above, width), votes.prior.size, FEW)
    return above, width


def plurality_error(accuracy: Any, weights: Any, prior: Any) -> float:
    """``P(argmax_k (ln prior_k + sum of the weights for k) is not the truth)``, L classes, ties broken fairly; exact.

    Each label is right with chance p and otherwise wrong uniformly over the other classes (one coin). The law of the
    score vectors is built label by label; equal vectors are joined, so that crowds of few kinds stay small.

    accuracy, weights (k,): p and w of each label; prior (L,): probabilities of the classes, all positive.
    """
    p, w = _probabilities("accuracy", accuracy), np.asarray(weights, dtype=np.float64)
    chances = np.asarray(prior, dtype=np.float64)
    return float(sum(chance * _missed(p, w, chances, truth) for truth, chance in enumerate(chances)))


def _missed(p: Floats, w: Floats, prior: Floats, truth: int) -> float:
    classes = prior.size
    scores, mass = np.log(prior)[None], np.ones(1)
    near = 1e-11 * (np.abs(w).sum() + np.abs(scores).sum() + 1)
    for right, weight in zip(p, w, strict=True):
        chance = np.full(classes, (1 - right) / (classes - 1))
        chance[truth] = right
        scores = (scores[:, None] + weight * np.eye(classes)).reshape(-1, classes)
        mass = (mass[:, None] * chance).reshape(-1)
        _, first, place = np.unique(np.rint(scores / near), axis=0, return_index=True, return_inverse=True)
        scores, mass = scores[first], np.bincount(place.reshape(-1), weights=mass).astype(np.float64)
        if mass.size > CLASSWISE // classes:
            raise InputError(f"{p.size} such labels of {classes} classes can fall in too many ways for an exact error")
    winners = scores >= scores.max(axis=1, keepdims=True) - near
    return float(mass @ (1 - winners[:, truth] / winners.sum(axis=1)))


def _probabilities(name: str, values: Any) -> Floats:
    p = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError(f"{name} must be a list of numbers in [0, 1]")
    return p


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
    if again.size:
        finer, width[again] = _class_errors(votes.of(again), FINE, False)
        error[again] = np.minimum(error[again], finer)
    return error, width == 0


def least_class_errors(votes: ClassVotes, cells: int = LOW, together: int | None = None) -> Floats:
    """A lower bound on the same errors, (tasks,), by so many ``cells`` together; equal where they are exact."""
    return _class_errors(votes, cells, True, together)[0]


def _different(votes: ClassVotes) -> tuple[Ints, Ints]:
    """A task of each kind that differs in its labels or prior, and the kind of each task."""
    known: dict[bytes, int] = {}
    first: list[int] = []
    kind = np.empty(votes.starts.size - 1, np.int64)
    for i, (start, end) in enumerate(pairwise(votes.starts.tolist())):
        key = np.sort(votes.accuracy[start:end]).tobytes() + np.sort(votes.prior[i]).tobytes()
        if key not in known:
            known[key] = len(first)
            first.append(i)
        kind[i] = known[key]
    return np.array(first, np.int64), kind


def _class_errors(votes: ClassVotes, cells: int, below: bool, together: int | None = None) -> tuple[Floats, Floats]:
    """Errors, and the width of what was joined; votes that are alike once."""
    from crowdopt.crowd import class_vote_kernels

    first, kind = _different(votes)
    error, width = np.empty(first.size), np.empty(first.size)
    cells = min(cells, MOST // votes.prior.shape[1] ** 2)
    cells = max(LEAST_CELLS, cells if together is None else min(cells, together // max(1, first.size)))
    given = (votes.of(first), cells, below, error, width)
    _in_threads(class_vote_kernels.errors, given, first.size, FEW_CLASSWISE)
    return error[kind], width[kind]


def exact_errors(instance: AssignmentInstance, pairs: Ints) -> tuple[Floats, Floats]:
    """Exact error of each task's vote over its labels, those already in included.

    Votes have the rule's weights, and the prior's log-odds where the rule heeds them; accuracies are clipped as in the
    evidence, and labels without evidence count for nothing. The error lies in ``[above - width, above]``; the width is
    0 but for tasks with many labels that all differ (:func:`vote_errors`, and :func:`class_vote_errors`
    for more than two classes).

    -> above, width (tasks,).
    """
    return _errors(instance, *_all_labels(instance, pairs), both=True)


def most_errors(instance: AssignmentInstance, pairs: Ints) -> Floats:
    """The upper bounds of :func:`exact_errors` alone, (tasks,): lower ones among many classes take longer."""
    return _errors(instance, *_all_labels(instance, pairs))[0]


def likeliest_errors(instance: AssignmentInstance, pairs: Ints) -> Floats | None:
    """Error of each task's likeliest class by the instance's law before any label is seen, (tasks,).

    None where a set has more labels than are listed.
    """
    table = np.zeros((instance.n_tasks, instance.n_workers), bool)
    table[tuple(pairs.T)] = True
    if table.sum(axis=1).max(initial=0) * np.log2(instance.law.speech.shape[2]) > LISTED:
        return None
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    types = [] if instance.vote_law is not None else [instance.task_type]  # a law of votes is one for all types
    kind, first = alike(table, *types, *instance.own_priors)
    errors = [
        instance.law.error(np.flatnonzero(table[i]), prior[i], int(instance.task_type[i])) for i in first.tolist()
    ]
    return np.array(errors)[kind]


def _all_labels(instance: AssignmentInstance, pairs: Ints) -> tuple[Ints, Ints, Ints]:
    """All tasks, where the labels of each begin, and whose they are: those already in, then those of the pairs."""
    known = np.zeros((0, 2), np.int64) if instance.observed else instance.collected
    every = np.concatenate([known, pairs])
    every = every[np.argsort(every[:, 0], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(every[:, 0], minlength=instance.n_tasks))])
    return np.arange(instance.n_tasks), starts, every[:, 1]


def errors_of(instance: AssignmentInstance, tasks: Ints, hands: Sequence[Ints]) -> Floats:
    """Exact errors (their upper bounds) of some tasks if they had just these workers' labels.

    tasks (k,): whose errors are wanted; hands list of k arrays of int: the workers who label each of them; -> (k,).
    """
    return _errors(instance, np.asarray(tasks, np.int64), *_labels_in(hands))[0]


def _labels_in(hands: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Where the labels of each of these hands begin, and whose they are."""
    starts = np.concatenate([[0], np.cumsum([len(hand) for hand in hands])]).astype(np.int64)
    return starts, np.concatenate([*hands, np.zeros(0, np.int64)]).astype(np.int64)


def _errors(
    instance: AssignmentInstance, tasks: Ints, starts: Ints, workers: Ints, both: bool = False
) -> tuple[Floats, Floats]:
    """At most the errors of these votes and, if ``both``, how far below the errors may lie; (tasks,) each."""
    if instance.classes == 2:
        return _between_two(instance, tasks, starts, workers)
    votes = _class_votes(instance, tasks, starts, workers)
    # what errors are held against one by one; nothing where their average counts
    above, exact = class_vote_errors(votes, None if instance.the_rule.average else instance.epsilon[tasks])
    width, rough = np.zeros(tasks.size), np.flatnonzero(~exact)
    if both and rough.size:
        width[rough] = np.maximum(0.0, above[rough] - least_class_errors(votes.of(rough)))
    return above, width


def _class_votes(
    instance: AssignmentInstance,
    tasks: Ints,
    starts: Ints,
    workers: Ints,
    skill: Callable[[Floats, int], Floats] = lambda accuracy, classes: accuracy,
) -> ClassVotes:
    """Votes among more than two classes, by labels that say something; every rule for those heeds the prior."""
    cell = np.repeat(instance.task_type[tasks], np.diff(starts)), workers
    counts = instance.evidence[cell] > 0
    ends = np.append(0, np.cumsum(counts))[starts].astype(np.int64)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))[tasks]
    accuracy = clipped(skill(instance.accuracy[cell], int(instance.classes)))
    return ClassVotes(ends, accuracy[counts], np.ascontiguousarray(prior))


def _between_two(
    instance: AssignmentInstance, tasks: Ints, starts: Ints, workers: Ints, informed: bool = False
) -> tuple[Floats, Floats]:
    """Errors between two classes, on easy and hard tasks together; ``informed``: weighed as if these were known."""
    kind, hard = np.repeat(instance.task_type[tasks], np.diff(starts)), instance.difficulty
    skill = clipped(instance.accuracy[kind, workers])
    weight = np.where(instance.evidence[kind, workers] > 0, instance.weight[kind, workers], 0.0)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, 2))[tasks]
    odds = np.log(prior[:, 1]) - np.log(prior[:, 0])
    bias = odds if instance.the_rule.heeds_prior else np.zeros(tasks.size)
    error, width = np.zeros((2, tasks.size))
    for part, share in enumerate(instance.coins.share.tolist()):  # of a fixed vote it is linear in the law
        accuracy = hard.on_hard(skill) if part else skill
        mine = np.where(weight != 0, log_odds(accuracy), 0.0) if informed and part else weight
        above, beyond = vote_errors(starts, accuracy, mine, np.ascontiguousarray(prior[:, 1]), bias)
        error, width = error + share * above, width + share * beyond
    return error, width


def fewest_exact(instance: AssignmentInstance) -> Ints:
    """The fewest new labels with which each task can reach its target exactly.

    No vote errs less for having a worker replaced by a better one, nor for having one label fewer: so the best k
    workers that a task may have do best among all k, and k is found by bisection. Among more than two classes a worker
    who is mostly wrong counts as one who knows all that they know (:func:`at_best`), and lower bounds of the errors
    decide: the fewest labels are then at least as many as this. So they do where some tasks are hard: there votes are
    taken to know which ones.

    -> (tasks,): one more than there are workers where a task cannot reach its target.
    """
    task, of = _alike(instance)
    ranked = [_ranked(instance, int(i)) for i in task]
    held = [[] if instance.observed else instance.collected[instance.collected[:, 0] == i, 1].tolist() for i in task]
    target = instance.epsilon[task] + CERTAIN
    high = np.array([_enough(instance, int(i), ranked[k]) for k, i in enumerate(task)])
    least = EXACT_ERROR.need(instance.epsilon, instance.classes, instance.prior) - instance.collected_evidence - SPARE
    low = np.array([_too_few(instance, int(i), ranked[k], least[i]) for k, i in enumerate(task)])
    low = np.minimum(low, high - 1)
    while (high - low > 1).any():
        middle = np.clip((low + high) // 2, 0, 2 * low + 4)  # errors of few labels are computed in no time
        hands = [np.array(held[k] + ranked[k][:count].tolist(), np.int64) for k, count in enumerate(middle.tolist())]
        error = _at_least(instance, task, hands)
        good = (error <= target) & (middle <= [len(one) for one in ranked])
        open_ = high - low > 1
        high, low = np.where(open_ & good, middle, high), np.where(open_ & ~good, middle, low)
    return np.where(high > [len(one) for one in ranked], instance.n_workers + 1, high)[of]


def least_errors(instance: AssignmentInstance) -> Floats:
    """The least error that any plan's vote can have, (tasks,): that of all labels that a task may have."""
    task, of = _alike(instance)
    held = [[] if instance.observed else instance.collected[instance.collected[:, 0] == i, 1].tolist() for i in task]
    hands = [np.array(held[k] + _ranked(instance, int(i)).tolist(), np.int64) for k, i in enumerate(task)]
    return _at_least(instance, task, hands)[of]


def at_best(accuracy: Floats, classes: int) -> Floats:
    """A skill of at least 1/K that knows all that a worker knows: p, or ``1 - (K - 1) p`` where p is below 1/K.

    A worker who is right so often and then names any other class is right with chance p. Between 1/K and that skill
    one who sometimes guesses is anything between: so of two such skills the larger one knows all that the other does.

    accuracy: p, of any shape.
    """
    return np.where(accuracy * classes < 1, 1 - (classes - 1) * accuracy, accuracy)


def _at_least(instance: AssignmentInstance, tasks: Ints, hands: Sequence[Ints]) -> Floats:
    """At least the error of the best vote over these workers' labels or any others of no better skill."""
    starts, workers = _labels_in(hands)
    if instance.classes == 2:
        return _between_two(instance, tasks, starts, workers, informed=True)[0]
    return least_class_errors(_class_votes(instance, tasks, starts, workers, at_best), BELOW, MANY)


def _alike(instance: AssignmentInstance) -> tuple[Ints, Ints]:
    """One task of each kind that differs in type, target, prior or in pairs of its own, and the kind of each task."""
    special = np.zeros(instance.n_tasks, np.int64)
    own = np.unique(np.concatenate([instance.barred, instance.collected])[:, 0])
    special[own] = 1 + own
    kind, first = alike(instance.task_type, instance.epsilon, special, *instance.own_priors)
    return first, kind


def _ranked(instance: AssignmentInstance, task: int) -> Ints:
    kind = instance.task_type[task]
    evidence = instance.evidence[kind].copy()
    evidence[instance.capacity <= 0] = 0.0
    evidence[instance.barred[instance.barred[:, 0] == task, 1]] = 0.0
    worth = evidence
    if instance.classes > 2:
        worth = np.where(evidence > 0, at_best(instance.accuracy[kind], instance.classes), 0.0)
    return np.argsort(-worth, kind="stable")[: int((evidence > 0).sum())]


def _enough(instance: AssignmentInstance, task: int, ranked: Ints) -> int:
    """A number of labels that is enough by the rule bhattacharyya; one more than there are where none is known."""
    if instance.difficulty.share:
        return ranked.size + 1
    total = instance.collected_evidence[task] + np.cumsum(instance.evidence[instance.task_type[task], ranked])
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))[task]
    errs = bhattacharyya_error(np.append(instance.collected_evidence[task], total), prior)
    sure = np.flatnonzero(errs <= instance.epsilon[task])
    return int(sure[0]) if sure.size else ranked.size + 1


def _too_few(instance: AssignmentInstance, task: int, ranked: Ints, least: float) -> int:
    """A number of labels with less evidence than every vote that keeps the target has; -1 where none is known."""
    most = -np.sort(-instance.evidence[instance.task_type[task], ranked])
    return int(np.searchsorted(np.append(0.0, np.cumsum(most)), least)) - 1


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

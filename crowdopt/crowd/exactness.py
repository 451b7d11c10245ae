"""Exact errors of the votes that a plan brings about, and what they imply for every plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.hard_needs import mixture, on_hard_tasks
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.votes.class_votes import ClassVotes, class_vote_errors, least_class_errors
from crowdopt.crowd.votes.evidence import CLIP, EXACT_ERROR, bhattacharyya_error
from crowdopt.crowd.votes.voting import log_odds, vote_errors

SPARE = 1e-6  # evidence; room for rounding in a bound that only saves work
BELOW, MANY = 4_096, 65_536  # beliefs told apart by a lower bound: of a vote, of all together
CERTAIN = 1e-12  # error, absolute; how far above its target an exact error may be: rounding


def exact_errors(instance: AssignmentInstance, pairs: Ints) -> tuple[Floats, Floats]:
    """Exact error of each task's vote over its labels, those already in included.

    Votes have the rule's weights, and the prior's log-odds where the rule heeds them; accuracies are clipped as in the
    evidence, and labels without evidence count for nothing. The error lies in ``[above - width, above]``; the width is
    0 but for tasks with many labels that all differ (crowdopt.crowd.votes.voting.vote_errors, and
    crowdopt.crowd.votes.class_votes for more than two classes).

    -> above, width (tasks,).
    """
    tasks, starts, workers = _all_labels(instance, pairs)
    if instance.classes == 2:
        return _errors(instance, tasks, starts, workers)
    votes = _class_votes(instance, tasks, starts, workers)
    above, exact = class_vote_errors(votes, _held_against(instance, tasks))
    width = np.zeros(tasks.size)
    rough = np.flatnonzero(~exact)
    if rough.size:
        width[rough] = np.maximum(0.0, above[rough] - least_class_errors(votes.of(rough)))
    return above, width


def most_errors(instance: AssignmentInstance, pairs: Ints) -> Floats:
    """The upper bounds of :func:`exact_errors` alone, (tasks,): lower ones among many classes take longer."""
    tasks, starts, workers = _all_labels(instance, pairs)
    if instance.classes == 2:
        return _errors(instance, tasks, starts, workers)[0]
    return class_vote_errors(_class_votes(instance, tasks, starts, workers), _held_against(instance, tasks))[0]


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
    sizes = [len(hand) for hand in hands]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    workers = np.concatenate([*hands, np.zeros(0, np.int64)]).astype(np.int64)
    tasks = np.asarray(tasks, dtype=np.int64)
    if instance.classes == 2:
        return _errors(instance, tasks, starts, workers)[0]
    return class_vote_errors(_class_votes(instance, tasks, starts, workers), _held_against(instance, tasks))[0]


def _class_votes(instance: AssignmentInstance, tasks: Ints, starts: Ints, workers: Ints) -> ClassVotes:
    """Votes among more than two classes; every rule for those weighs by log-odds and heeds the prior."""
    cell = np.repeat(instance.task_type[tasks], np.diff(starts)), workers
    accuracy = np.clip(instance.accuracy[cell], CLIP, 1 - CLIP)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))[tasks]
    return _that_say_something(starts, accuracy, prior, instance.evidence[cell] > 0)


def _that_say_something(starts: Ints, accuracy: Floats, prior: Floats, counts: Bools) -> ClassVotes:
    """Votes without the labels that count for nothing."""
    ends = np.append(0, np.cumsum(counts))[starts].astype(np.int64)
    return ClassVotes(ends, accuracy[counts], np.ascontiguousarray(prior))


def _held_against(instance: AssignmentInstance, tasks: Ints) -> Floats | None:
    """What errors are held against one by one; None where their average counts."""
    return None if instance.the_rule.average else instance.epsilon[tasks]


def _errors(
    instance: AssignmentInstance, tasks: Ints, starts: Ints, workers: Ints, informed: bool = False
) -> tuple[Floats, Floats]:
    """Errors between two classes, on easy and hard tasks together; ``informed``: weighed as if these were known."""
    cell = np.repeat(instance.task_type[tasks], np.diff(starts)), workers
    accuracy = np.clip(instance.accuracy[cell], CLIP, 1 - CLIP)
    weight = np.where(instance.evidence[cell] > 0, instance.weight[cell], 0.0)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, 2))[tasks]
    odds = np.log(prior[:, 1]) - np.log(prior[:, 0])
    bias = odds if instance.the_rule.heeds_prior else np.zeros(tasks.size)
    chance = np.ascontiguousarray(prior[:, 1])
    above, width = vote_errors(starts, accuracy, weight, chance, bias)
    if not instance.difficulty.share:
        return above, width
    accuracy = on_hard_tasks(accuracy, instance.difficulty)
    weight = np.where(weight != 0, log_odds(accuracy), 0.0) if informed else weight
    hard, more = vote_errors(starts, accuracy, weight, chance, bias)
    return mixture(above, hard, instance.difficulty), mixture(width, more, instance.difficulty)


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
    sizes = [len(hand) for hand in hands]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    workers = np.concatenate([*hands, np.zeros(0, np.int64)]).astype(np.int64)
    if instance.classes == 2:
        return _errors(instance, tasks, starts, workers, informed=True)[0]
    cell = np.repeat(instance.task_type[tasks], sizes), workers
    skill = np.clip(at_best(instance.accuracy[cell], instance.classes), CLIP, 1 - CLIP)
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))[tasks]
    votes = _that_say_something(starts, skill, prior, instance.evidence[cell] > 0)
    return least_class_errors(votes, BELOW, MANY)


def _alike(instance: AssignmentInstance) -> tuple[Ints, Ints]:
    """One task of each kind that differs in type, target, prior or in pairs of its own, and the kind of each task."""
    special = np.zeros(instance.n_tasks, np.int64)
    own = np.unique(np.concatenate([instance.barred, instance.collected])[:, 0])
    special[own] = 1 + own
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    table = np.column_stack([instance.task_type, instance.epsilon, prior, special])
    _, first, of = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, of.reshape(-1)


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

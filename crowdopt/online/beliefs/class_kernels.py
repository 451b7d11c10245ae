"""Messages between tasks and workers among any number of classes, some tasks hard: compiled loops.

As in belief_kernels: a task's state is its class and whether it is hard, g is a worker's accuracy on easy tasks, wrong
answers are uniform over the other K - 1 classes. The chance of a label by the other labels of its task is linear in g,
``a + b g``, so a label's message is one number, the accuracy ``m = E[g]`` with which it counts: the task's
log-likelihoods are those of labels of known accuracies.
"""

import numpy as np

from crowdopt.compiled_kernels import njit
from crowdopt.elementary_kernels import exp, log, log1p
from crowdopt.online.beliefs.belief_kernels import SURE, TOGETHER, _scale, believe


@njit(cache=True, nogil=True, inline="always")
def _terms(accuracy, left, classes):
    """``ln(K P(label | class))``: for a class other than the label's, and how much more for its own; easy, then hard.

    An accuracy g is an edge ``x = (K g - 1) / (K - 1)``; on a hard task ``left`` of it remains.
    """
    x = (classes * accuracy - 1.0) / (classes - 1.0)
    y = left * x
    miss, rest = log1p(-x), log1p(-y)
    return miss, log1p((classes - 1.0) * x) - miss, rest, log1p((classes - 1.0) * y) - rest


@njit(cache=True, nogil=True)
def _without(from_easy, from_hard, label, accuracy, left, easy, hard):
    """A task's log-likelihoods without one of its labels, which counts with this accuracy; written."""
    miss, more, rest, extra = _terms(accuracy, left, easy.size)
    for k in range(easy.size):
        easy[k] = from_easy[k] - miss
        hard[k] = from_hard[k] - rest
    easy[label] -= more
    hard[label] -= extra


@njit(cache=True, nogil=True)
def _add(easy, hard, label, accuracy, left):
    """A label that counts with this accuracy, added to the log-likelihoods of its task."""
    miss, more, rest, extra = _terms(accuracy, left, easy.size)
    for k in range(easy.size):
        easy[k] += miss
        hard[k] += rest
    easy[label] += more
    hard[label] += extra


@njit(cache=True, nogil=True)
def _chances(easy, hard, share, likely, likely_hard):
    """``P(class, easy)`` and ``P(class, hard)``, written; returns the chance that the task is hard."""
    # the largest term is taken out before exp, so that one is 1 and none overflows
    top = easy[0]
    for k in range(easy.size):
        top = max(top, easy[k])
        if share > 0:
            top = max(top, hard[k])
    total, difficult = 0.0, 0.0
    for k in range(easy.size):
        likely[k] = (1.0 - share) * exp(easy[k] - top)
        likely_hard[k] = share * exp(hard[k] - top) if share > 0 else 0.0
        total += likely[k] + likely_hard[k]
        difficult += likely_hard[k]
    for k in range(easy.size):
        likely[k] /= total
        likely_hard[k] /= total
    return difficult / total


@njit(cache=True, nogil=True, inline="always")
def _slope(easy, hard, chance, left, classes):
    """B of ``f(g) = 1/K + B (g - 1/K)``, the chance of a label by what the others say of its task.

    ``B = sum over easy and hard of what is left of skill there times (K P(label's class) - P(all)) / (K - 1)``.
    """
    return ((classes * easy - 1.0 + chance) + left * (classes * hard - chance)) / (classes - 1.0)


@njit(cache=True, nogil=True)
def _weigh(i, tasks, share, likely, likely_hard):
    """Level, likeliest class and chance of being hard of task i, by its log-likelihoods."""
    tasks.chance[i] = _chances(tasks.easy[i], tasks.hard[i], share, likely, likely_hard)
    best = 0
    for k in range(likely.size):
        likely[k] += likely_hard[k]
        if likely[k] > likely[best]:
            best = k
    others = 0.0
    for k in range(likely.size):
        if k != best:
            others += likely[k]
    tasks.best[i] = best
    tasks.level[i] = log((likely.size - 1.0) * likely[best] / max(others, 1e-300))


@njit(cache=True, nogil=True)
def add_up(count, labels, tasks, how):
    """All that is known of tasks, from the first ``count`` labels and the accuracies with which they count.

    count: labels so far; labels, tasks: the state of belief (crowdopt.online.beliefs.class_state); tasks are written;
    how (2,): h and s: how many tasks are hard, and what is left of an edge there.
    """
    likely, likely_hard = np.empty(tasks.easy.shape[1]), np.empty(tasks.easy.shape[1])
    tasks.easy[:], tasks.hard[:] = 0.0, 0.0
    for k in range(count):
        i = labels.task[k]
        _add(tasks.easy[i], tasks.hard[i], labels.label[k], labels.message[k], how[1])
    for i in range(tasks.level.size):
        _weigh(i, tasks, how[0], likely, likely_hard)


@njit(cache=True, nogil=True, inline="always")
def _bounded(mean):
    return min(max(mean, SURE), 1.0 - SURE)


@njit(cache=True, nogil=True)
def sweep_of_classes(first, last, labels, skills, tasks, how, prior):
    """Every message of workers ``first`` to ``last - 1`` anew, as ``sweep`` does it for two classes.

    For each label the rest of its task's labels give the chances of its class, and with them the factor ``f(g)``; the
    product of all factors, gold and the prior is the worker's density; a label's message is E[g] without its own
    factor, so that no worker hears their own opinion.

    labels, skills, tasks: the state of belief (crowdopt.online.beliefs.class_state), written in place; how (2,): h and
    s; prior: of the workers' skills on easy tasks.
    """
    grid, start, task = prior.grid, labels.start, labels.task
    share, left, classes = how[0], how[1], tasks.easy.shape[1]
    likely, likely_hard, easy, hard = np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes)
    longest = 0
    for j in range(first, last):
        longest = max(longest, start[j + 1] - start[j])
    slope = np.empty(longest)
    for j in range(first, last):
        skills.agreement[j] = 1.0
        skills.weight[j] = skills.asked[j]
        for k in range(start[j], start[j + 1]):
            i, t, y = task[k], tasks.kind[task[k]], labels.label[k]
            # cavity: the task's log-likelihoods less this label's own terms
            _without(tasks.easy[i], tasks.hard[i], y, labels.message[k], left, easy, hard)
            chance = _chances(easy, hard, share, likely, likely_hard)
            b = _slope(likely[y], likely_hard[y], chance, left, classes)
            slope[k - start[j]] = b
            skills.weight[j, t] += b * b
            row = skills.agreement[j, t]
            for g in range(grid.size):
                row[g] *= 1.0 / classes + b * (grid[g] - 1.0 / classes)
            if (k - start[j]) % TOGETHER == TOGETHER - 1:
                _scale(row)
        believe(prior.weight, prior.alike, skills.gold[j], skills.agreement[j], skills.density[j])
        for k in range(start[j], start[j + 1]):
            i = task[k]
            row = skills.density[j, tasks.kind[i]]
            b = slope[k - start[j]]
            mass, mean = 0.0, 0.0
            for g in range(grid.size):
                without = row[g] / (1.0 / classes + b * (grid[g] - 1.0 / classes))
                mass += without
                mean += without * grid[g]
            # the message before is still the one that is in: taken out, then the new one added
            _without(tasks.easy[i], tasks.hard[i], labels.label[k], labels.message[k], left, easy, hard)
            labels.message[k] = _bounded(mean / mass)
            tasks.easy[i], tasks.hard[i] = easy, hard
            _add(tasks.easy[i], tasks.hard[i], labels.label[k], labels.message[k], left)
            _weigh(i, tasks, share, likely, likely_hard)


@njit(cache=True, nogil=True)
def hear_of_classes(worker, given, said, labels, skills, tasks, how, grid):
    """Labels that have just come, one at a time, as ``hear`` takes them for two classes.

    worker: who gave them, the last of ``labels``; given, said (k,): their tasks, and the class that each says; labels,
    skills, tasks: the state of belief (crowdopt.online.beliefs.class_state), written in place but for ``labels.start``;
    how (2,): h and s; grid (cells,): the accuracies g on easy tasks.
    """
    at, left, classes = labels.start[worker + 1], how[1], tasks.easy.shape[1]
    likely, likely_hard = np.empty(classes), np.empty(classes)
    for k in range(given.size):
        i, y = given[k], said[k]
        t = tasks.kind[i]
        row = skills.density[worker, t]
        mean = 0.0
        for g in range(grid.size):
            mean += row[g] * grid[g]
        chance = _chances(tasks.easy[i], tasks.hard[i], how[0], likely, likely_hard)
        b = _slope(likely[y], likely_hard[y], chance, left, classes)
        skills.weight[worker, t] += b * b
        for g in range(grid.size):
            factor = 1.0 / classes + b * (grid[g] - 1.0 / classes)
            row[g] *= factor
            skills.agreement[worker, t, g] *= factor
        _scale(row)
        _scale(skills.agreement[worker, t])
        labels.task[at + k], labels.label[at + k], labels.message[at + k] = i, y, _bounded(mean)
        _add(tasks.easy[i], tasks.hard[i], y, labels.message[at + k], left)
        _weigh(i, tasks, how[0], likely, likely_hard)

"""What labels that count with known weights say of a task: compiled loops, imported where they run.

A task's state is its class, among K, and whether it is hard; wrong labels are uniform over the other classes. A label
of accuracy p on easy tasks adds its weight ``m = ln((K - 1) p / (1 - p))`` to the sum of its class, for the case that
the task is easy. On a hard one ``left`` of its edge ``x = (K p - 1) / (K - 1)`` remains, and with it another weight.

Loops go over many labels in one call, and helpers take numbers or one row: numba counts the users of every array that
a call is handed, which takes longer than the label itself.
"""

from math import exp, expm1, log, log1p

import numpy as np

from crowdopt.kernels import njit

LEAST = 1e-300  # of a chance before its logarithm is taken


@njit(cache=True, nogil=True)
def _on_hard(weight, left, classes):
    """The weight of a vote if its task is hard, and what the vote adds to the log odds that the task is easy."""
    d = expm1(weight)
    # x and 1 - x = K / (d + K), so that nothing cancels where a worker is nearly sure
    x, miss = d / (d + classes), log(classes / (d + classes))
    rest = log1p(-left * x)
    return log1p((classes - 1.0) * left * x) - rest, miss - rest


@njit(cache=True, nogil=True)
def recount(task, label, before, now, votes):
    """Labels whose votes weighed so much before, 0 where they are new, weigh so much now.

    task, label, before, now (k,); votes: of crowdopt.online.beliefs.task_votes; its sums are written.
    """
    easy, hard, lean, classes = votes.easy, votes.hard, votes.lean, votes.easy.shape[1]
    for k in range(task.size):
        easy[task[k], label[k]] += now[k] - before[k]
        if votes.share > 0:
            old, was = _on_hard(before[k], votes.left, classes)
            fresh, tilt = _on_hard(now[k], votes.left, classes)
            hard[task[k], label[k]] += fresh - old
            lean[task[k]] += tilt - was


@njit(cache=True, nogil=True)
def slopes(task, label, weight, votes, found):
    """B of ``1/K + B (g - 1/K)``: chance of each label by a worker of accuracy g, by what the others say of its task.

    ``B = sum over easy and hard of what is left of skill there times (K P(label's class) - P(all)) / (K - 1)``.

    task, label, weight (k,): labels of different tasks, and with which weights they are among the votes; each is taken
    out; votes: of crowdopt.online.beliefs.task_votes; found (k,), written: B.
    """
    easy, hard, lean, classes = votes.easy, votes.hard, votes.lean, votes.easy.shape[1]
    row = np.empty((2, classes))
    for k in range(task.size):
        i, y = task[k], label[k]
        if votes.share > 0:
            for c in range(classes):
                row[0, c], row[1, c] = easy[i, c], hard[i, c]
            extra, tilt = _on_hard(weight[k], votes.left, classes)
            row[0, y] -= weight[k]
            row[1, y] -= extra
            chance = _weighed(row, lean[i] - tilt, votes.share)
            one, other = classes * row[0, y] - (1.0 - chance), classes * row[1, y] - chance
            found[k] = (one + votes.left * other) / (classes - 1.0)
        else:
            own, others = easy[i, y] - weight[k], 0.0
            for c in range(classes):
                if c != y:
                    others += exp(easy[i, c] - own)
            found[k] = (classes / (1.0 + others) - 1.0) / (classes - 1.0)


@njit(cache=True, nogil=True)
def _weighed(row, lean, share):
    """Sums of votes become the chances of class and hardness, in place; returns the chance that the task is hard."""
    classes = row.shape[1]
    easy, hard = log1p(-share) + lean, log(share)
    # the largest term is taken out before exp, so that one is 1 and none overflows
    top = easy + row[0, 0]
    for k in range(classes):
        top = max(top, easy + row[0, k], hard + row[1, k])
    total, difficult = 0.0, 0.0
    for k in range(classes):
        row[0, k] = exp(easy + row[0, k] - top)
        row[1, k] = exp(hard + row[1, k] - top)
        total += row[0, k] + row[1, k]
        difficult += row[1, k]
    for k in range(classes):
        row[0, k] /= total
        row[1, k] /= total
    return difficult / total


@njit(cache=True, nogil=True)
def settle(tasks, votes):
    """Level, likeliest class and chance of being hard of some tasks (k,), by their votes; written."""
    classes = votes.easy.shape[1]
    row = np.empty((2, classes))
    for i in tasks:
        for k in range(classes):
            row[0, k], row[1, k] = votes.easy[i, k], votes.hard[i, k]
        if votes.share > 0:
            votes.chance[i] = _weighed(row, votes.lean[i], votes.share)
            for k in range(classes):
                row[0, k] = log(max(row[0, k] + row[1, k], LEAST))
        votes.level[i], votes.answer[i] = _settled(row)


@njit(cache=True, nogil=True)
def _settled(row):
    """``ln((K - 1) P / (1 - P))`` of the likeliest class by row[0], (classes,), and that class; -1 if all are alike."""
    classes = row.shape[1]
    best, least = 0, 0
    for k in range(classes):
        best = k if row[0, k] > row[0, best] else best
        least = k if row[0, k] < row[0, least] else least
    second = least
    for k in range(classes):
        second = k if k != best and row[0, k] > row[0, second] else second
    # the largest of the others is taken out: of two classes the level is the difference of their sums, exactly
    others = 0.0
    for k in range(classes):
        if k != best:
            others += exp(row[0, k] - row[0, second])
    level = row[0, best] - row[0, second] + log((classes - 1.0) / others)
    return level, -1 if row[0, best] == row[0, least] else best

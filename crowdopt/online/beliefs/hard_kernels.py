"""Messages between tasks and workers where some tasks are hard: compiled loops, imported where they run.

As in belief_kernels, but a task has four states, class and hardness, and g is a worker's accuracy on easy tasks. All
factors stay linear in g, so that a label's message is still one number: ``m = y logit E[g]`` over what the others say.
"""

import numpy as np

from crowdopt.compiled_kernels import njit
from crowdopt.elementary_kernels import arctanh, exp, log, log1p, tanh
from crowdopt.online.beliefs.belief_kernels import TOGETHER, _message, _scale, believe


@njit(cache=True, nogil=True, inline="always")
def _on_hard(message, left):
    """What a label of message m adds to the log odds if the task is hard, and to the log odds that it is easy."""
    a = tanh(message / 2)
    b = left * a
    return 2 * arctanh(b), 0.5 * (log1p(-a * a) - log1p(-b * b))


@njit(cache=True, nogil=True, inline="always")
def _both(x, y):
    """``ln(e^x + e^y)``."""
    return max(x, y) + log1p(exp(-abs(x - y)))


@njit(cache=True, nogil=True, inline="always")
def _settled(easy, hard, lean, share):
    """Log odds of class 1, and the chance of being hard, by the sums over labels (crowd.difficulty.hard_tasks)."""
    first, second = log1p(-share) + lean, log(share)
    up = _both(first + easy / 2, second + hard / 2)
    down = _both(first - easy / 2, second - hard / 2)
    return up - down, exp(second + _both(hard / 2, -hard / 2) - _both(up, down))


@njit(cache=True, nogil=True, inline="always")
def _slope(sign, easy, hard, chance, left):
    """B of ``f(g) = 1/2 + B (g - 1/2)``: the chance of this label, by what the others say of its task.

    ``B = (1 - H) (2 u - 1) + H s (2 v - 1)``, u and v the chances that the label is right if the task is easy or hard,
    H that it is hard.
    """
    return sign * ((1 - chance) * tanh(easy / 2) + chance * left * tanh(hard / 2))


@njit(cache=True, nogil=True)
def sweep_of_hard(first, last, labels, skills, tasks, hard, prior):
    """Every message of workers ``first`` to ``last - 1`` anew, as ``sweep`` does it where no task is hard.

    labels, skills, tasks, hard: the state of belief (crowdopt.online.beliefs.state), written in place; prior: of the
    workers' skills on easy tasks.
    """
    grid = prior.grid
    start, task, sign, message = labels.start, labels.task, labels.sign, labels.message
    sums, share, left = hard.sums, hard.share, hard.left
    longest = 0
    for j in range(first, last):
        longest = max(longest, start[j + 1] - start[j])
    slope = np.empty(longest)
    for j in range(first, last):
        skills.agreement[j] = 1.0
        skills.weight[j] = skills.asked[j]
        for k in range(start[j], start[j + 1]):
            i = task[k]
            t = tasks.kind[i]
            on_hard, lean = _on_hard(message[k], left)
            # cavity: each of the task's three sums less what this label added to it
            easy, difficult, rest = sums[0, i] - message[k], sums[1, i] - on_hard, sums[2, i] - lean
            _, chance = _settled(easy, difficult, rest, share)
            b = _slope(sign[k], easy, difficult, chance, left)
            slope[k - start[j]] = b
            skills.weight[j, t] += b * b
            row = skills.agreement[j, t]
            for g in range(grid.size):
                # centred at a guess, where f is 1/2 whatever the others say
                row[g] *= 0.5 + b * (grid[g] - 0.5)
            if (k - start[j]) % TOGETHER == TOGETHER - 1:
                _scale(row)
        believe(prior.weight, prior.alike, skills.gold[j], skills.agreement[j], skills.density[j])
        for k in range(start[j], start[j + 1]):
            i = task[k]
            row = skills.density[j, tasks.kind[i]]
            b = slope[k - start[j]]
            mass, mean = 0.0, 0.0
            for g in range(grid.size):
                without = row[g] / (0.5 + b * (grid[g] - 0.5))
                mass += without
                mean += without * grid[g]
            fresh = _message(sign[k], mean / mass)
            _replace(i, message[k], fresh, tasks.odds, hard)
            message[k] = fresh


@njit(cache=True, nogil=True)
def _replace(i, old, fresh, odds, hard):
    """A message of task i is another now: sums, log odds and the chance of being hard follow."""
    was, lean = _on_hard(old, hard.left)
    now, fresh_lean = _on_hard(fresh, hard.left)
    hard.sums[0, i] += fresh - old
    hard.sums[1, i] += now - was
    hard.sums[2, i] += fresh_lean - lean
    odds[i], hard.chance[i] = _settled(hard.sums[0, i], hard.sums[1, i], hard.sums[2, i], hard.share)


@njit(cache=True, nogil=True)
def hear_of_hard(worker, given, signs, labels, skills, tasks, hard, grid):
    """Labels that have just come, one at a time, as ``hear`` takes them where no task is hard.

    worker: who gave them, the last of ``labels``; given, signs (k,): their tasks, and the labels, +-1; labels, skills,
    tasks, hard: the state of belief (crowdopt.online.beliefs.state), written in place but for ``labels.start``; grid
    (cells,): the accuracies g on easy tasks.
    """
    at = labels.start[worker + 1]
    for k in range(given.size):
        i, y = given[k], signs[k]
        t = tasks.kind[i]
        row = skills.density[worker, t]
        mean = 0.0
        for g in range(grid.size):
            mean += row[g] * grid[g]
        _, chance = _settled(hard.sums[0, i], hard.sums[1, i], hard.sums[2, i], hard.share)
        b = _slope(y, hard.sums[0, i], hard.sums[1, i], chance, hard.left)
        skills.weight[worker, t] += b * b
        for g in range(grid.size):
            row[g] *= 0.5 + b * (grid[g] - 0.5)
            skills.agreement[worker, t, g] *= 0.5 + b * (grid[g] - 0.5)
        _scale(row)
        _scale(skills.agreement[worker, t])
        fresh = _message(y, mean)
        labels.task[at + k], labels.sign[at + k], labels.message[at + k] = i, y, fresh
        _replace(i, 0.0, fresh, tasks.odds, hard)

"""What labels that count with known weights say of a task: compiled loops, imported where they run.

A task's state is its class, among K, and whether it is hard; wrong labels are uniform over the other classes. A label
of accuracy p on easy tasks adds its weight ``m = ln((K - 1) p / (1 - p))`` to the sum of its class, for the case that
the task is easy. On a hard one ``left`` of its edge ``x = (K p - 1) / (K - 1)`` remains, and with it another weight.

Loops go over many labels in one call, and helpers take numbers or one row: numba counts the users of every array that
a call is handed, which takes longer than the label itself.

Messages between tasks and workers, the prior's fit, the stopping program: compiled loops, imported where they run.

One sweep for any number of classes K, whether or not some tasks are hard. The chance of a label by the other labels of
its task is linear in the worker's skill g, ``1/K + B (g - 1/K)``, so a label's message is one number: the weight
``ln((K - 1) p / (1 - p))`` of its vote, at the accuracy ``p = E[g]`` with which it counts.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p, tanh

import numpy as np

from crowdopt.kernels import njit

LEAST = 1e-300  # of a chance before its logarithm is taken
FINE = 2.0**30  # steps of a nat in which sums are compared: equal ones differ in the last bits by the order of labels


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

    task, label, before, now (k,); votes: of crowdopt.online.beliefs.state; its sums are written.
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
    out; votes: of crowdopt.online.beliefs.state; found (k,), written: B.
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
    """``ln((K - 1) P / (1 - P))`` of the likeliest class by row[0], (classes,), and that class; -1 if all are alike.

    Of classes that are as likely, but for rounding, the first is named, whatever labels came and were taken back.
    """
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
    alike = row[0, best] - 1.0 / FINE
    named = 0
    while row[0, named] < alike:
        named += 1
    return level, -1 if row[0, least] >= alike else named


SURE = 1e-3  # a message never says more than a label of a worker of skill 1 - SURE
TOGETHER = 8  # factors that are multiplied before a density is scaled back to sum 1


@njit(cache=True, nogil=True, inline="always")
def _message(right, classes):
    p = min(max(right, SURE), 1.0 - SURE)
    return log((classes - 1.0) * p / (1.0 - p))


@njit(cache=True, nogil=True)
def _scale(density):
    # added up one by one: a library's sum is in another order where the loop runs as plain Python
    total = 0.0
    for part in density:
        total += part
    density /= total


@njit(cache=True, nogil=True)
def believe(prior, alike, gold, agreement, density):
    """A worker's densities, written; returns the chance that the skill is the same in all types.

    ``P_t(g) ~ w(g) l_t(g) (a prod_{s != t} l_s(g) + (1 - a) prod_{s != t} Z_s)`` with ``Z_s = sum_g w(g) l_s(g)``: one
    skill with chance a, else one per type.

    prior (cells,): w, the prior over skills; gold, agreement (types, cells): likelihoods l_t, by gold and by agreement;
    multiplied; density (types, cells), written: P_t(g); -> the chance that the skill is the same in all types,
    given all that was seen.
    """
    types, cells = gold.shape
    together, masses = 0.0, np.zeros(types)
    # Z_s first: each likelihood is divided by it, so products over types neither vanish nor overflow
    for t in range(types):
        for g in range(cells):
            masses[t] += prior[g] * gold[t, g] * agreement[t, g]
    for t in range(types):
        for g in range(cells):
            others = 1.0
            for s in range(types):
                if s != t:
                    others *= gold[s, g] * agreement[s, g] / masses[s]
            likely = prior[g] * gold[t, g] * agreement[t, g] / masses[t]
            # the same sum for every t, for it is symmetric in the types: once is enough
            if t == 0:
                together += likely * others
            density[t, g] = likely * (alike * others + 1.0 - alike)
        _scale(density[t])
    return alike * together / (alike * together + 1.0 - alike)


@njit(cache=True, nogil=True)
def same(prior, alike, gold, agreement, density, chance):
    """Chance of each worker that their skill is the same in all types, into ``chance``; densities are written anew.

    prior (cells,): w, the prior over skills; gold, agreement (workers, types, cells): likelihoods, by gold and by
    agreement; density (workers, types, cells), written: P_j(g); chance (workers,).
    """
    for j in range(chance.size):
        chance[j] = believe(prior, alike, gold[j], agreement[j], density[j])


@njit(cache=True, nogil=True)
def sweep(first, last, labels, skills, votes, kind, prior):
    """Every message of workers ``first`` to ``last - 1`` anew: cavity, factors, density, messages; votes follow.

    ``f_ij(g) = 1/K + B (g - 1/K)``, B by the other labels of the task; ``P_j ~ w_j gold prod f``, ``m_ij`` the weight
    of a vote of accuracy ``E[g | P_j / f_ij]``; ``w_j`` is the prior with what the worker's other types tell. Worker by
    worker, in the order of arrival: first the product of all factors, which gives the density, then each label's
    message, for which that label's own factor is divided out again, so that no worker hears their own opinion.

    labels, skills, votes: the state of belief (crowdopt.online.beliefs.state), written in place; kind (tasks,): type of
    each; prior: of the workers' skills.
    """
    grid, start, task, message, classes = prior.grid, labels.start, labels.task, labels.message, votes.easy.shape[1]
    guess, longest = 1.0 / classes, 0
    for j in range(first, last):
        longest = max(longest, start[j + 1] - start[j])
    # B of each label, kept from the first pass: the second divides out the very factor that was multiplied
    slope, fresh = np.empty(longest), np.empty(longest)
    for j in range(first, last):
        skills.agreement[j] = 1.0
        skills.weight[j] = skills.asked[j]
        begin, end = start[j], start[j + 1]
        given, said, before = task[begin:end], labels.label[begin:end], message[begin:end]
        slopes(given, said, before, votes, slope)
        for k in range(given.size):
            slope[k] *= prior.heeded
            t, b = kind[given[k]], slope[k]
            a, row = guess * (1.0 - b), skills.agreement[j, t]
            # B^2 is 1 where the others settle the task and 0 where they say nothing: labels of known correctness
            skills.weight[j, t] += b * b
            for g in range(grid.size):
                row[g] *= a + b * grid[g]
            if k % TOGETHER == TOGETHER - 1:
                _scale(row)
        believe(prior.weight, prior.alike, skills.gold[j], skills.agreement[j], skills.density[j])
        for k in range(given.size):
            b, row = slope[k], skills.density[j, kind[given[k]]]
            a, mass, mean = guess * (1.0 - b), 0.0, 0.0
            for g in range(grid.size):
                without = row[g] / (a + b * grid[g])
                mass += without
                mean += without * grid[g]
            fresh[k] = _message(mean / mass, classes)
        # votes follow before the next worker, who hears the new messages (Gauss-Seidel)
        recount(given, said, before, fresh, votes)
        before[:] = fresh[: given.size]
    some = task[start[first] : start[last]]
    settle(some if some.size < kind.size else np.arange(kind.size), votes)


@njit(cache=True, nogil=True)
def hear(worker, given, said, labels, skills, votes, kind, prior):
    """Labels that have just come, written behind the worker's others: the message by what is known before each.

    One at a time, in the order given: a label on a task that others have labelled tells of the worker by its factor, as
    in ``sweep``, and the worker's mean skill so far is what the label tells of the task.

    worker: who gave them, the last of ``labels``; given, said (k,): their tasks, and the class that each says; labels,
    skills, votes: the state of belief (crowdopt.online.beliefs.state), written in place but for ``labels.start``; kind
    (tasks,): type of each; prior: of the workers' skills.
    """
    grid = prior.grid
    classes, at = votes.easy.shape[1], labels.start[worker + 1]
    nothing, slope, fresh = np.zeros(1), np.empty(1), np.empty(1)
    for k in range(given.size):
        i, y, t = given[k : k + 1], said[k : k + 1], kind[given[k]]
        row, agreement = skills.density[worker, t], skills.agreement[worker, t]
        mean = 0.0
        for g in range(grid.size):
            mean += row[g] * grid[g]
        # this label is not among the votes yet: they are the cavity as they stand
        slopes(i, y, nothing, votes, slope)
        b = slope[0] * prior.heeded
        a = (1.0 - b) / classes
        skills.weight[worker, t] += b * b
        for g in range(grid.size):
            row[g] *= a + b * grid[g]
            agreement[g] *= a + b * grid[g]
        _scale(row)
        _scale(agreement)
        fresh[0] = _message(mean, classes)
        labels.task[at + k], labels.label[at + k], labels.message[at + k] = i[0], y[0], fresh[0]
        recount(i, y, nothing, fresh, votes)
        settle(i, votes)


@njit(cache=True, nogil=True, inline="always")
def _step(level):
    """A level as a whole number of steps: of tasks that know the same, chance may choose, but not rounding."""
    return np.floor(level * FINE + 0.5)


@njit(cache=True, nogil=True)
def survey(level, others, sure, wanted, kind, left):
    """Open tasks by type, into ``left``; returns the sum of posterior errors over the tasks that are wanted.

    level, sure (tasks,): how sure tasks are (crowdopt.online.beliefs.state), and from where on they are closed; others:
    K - 1, classes beside the likeliest; wanted (tasks,) bool: tasks that need an answer at all; kind (tasks,) int: type
    of each; left (types,) int, written: open tasks of each type; -> the sum of posterior errors.
    """
    left[:] = 0
    error = 0.0
    for i in range(level.size):
        if wanted[i]:
            error += others / (others + exp(level[i]))
            if _step(level[i]) < _step(sure[i]):
                left[kind[i]] += 1
    return error


@njit(cache=True, nogil=True)
def errs_more(level, hoped, others, wanted, scale, most):
    """Whether the errors of the wanted tasks, at these levels with what is hoped for, over scale are above most.

    It looks no further than it has to: errors are positive, so a sum that is too large stays so.
    """
    error = 0.0
    for i in range(level.size):
        if wanted[i]:
            error += others / (others + exp(level[i] + hoped[i]))
            if error / scale > most:
                return True
    return False


@njit(cache=True, nogil=True)
def any_open(level, hoped, sure, wanted):
    """Whether a wanted task is not sure at these levels with what is hoped for."""
    i = 0
    while i < level.size and not (wanted[i] and _step(level[i] + hoped[i]) < _step(sure[i])):
        i += 1
    return i < level.size


@njit(cache=True, nogil=True)
def lacking(level, wanted, others, lack):
    """``max(0, w - l b(l))`` of each task, into ``lack``: see crowdopt.online.beliefs.worker_session.

    level, wanted, lack (tasks,): l, w, what is missing; others: K - 1.
    """
    for i in range(level.size):
        half = tanh(level[i] / 2.0)
        edge = half if others == 1.0 else 2.0 * half / (2.0 * half + (others + 1.0) * (1.0 - half))
        lack[i] = max(0.0, wanted[i] - level[i] * edge)


@njit(cache=True, nogil=True)
def pick(level, sure, free, kind, of_kind, most, begin):
    """The open task of a type whose level is largest (``most``) or least, the first of equals from ``begin`` on.

    All tasks are looked at once, in a circle that begins at a random place: so equals have equal chances.

    level, sure (tasks,): how sure tasks are (crowdopt.online.beliefs.state), and from where on they are closed; free
    (tasks,) bool: tasks that the worker may still label; kind (tasks,) int: type of each; most: whether the largest
    level is looked for; begin: the task that is looked at first; -> the task, or -1 if none is open.
    """
    best, top = -1, 0.0
    for step in range(level.size):
        i = begin + step
        if i >= level.size:
            i -= level.size
        if free[i] and kind[i] == of_kind:
            here = _step(level[i])
            if here < _step(sure[i]) and (best < 0 or (here > top if most else here < top)):
                best, top = i, here
    return best


@njit(cache=True, nogil=True)
def fit(likelihood, start, pseudo, rounds):
    """EM of the prior over the grid, ``w ~ pseudo w0 + sum_j P_j``, from ``start`` on.

    It maximises the likelihood of all workers together with ``pseudo`` workers like the expected ones: each round takes
    every worker's posterior by the last prior, (workers, cells), and adds them up.

    likelihood (workers, cells): of what was seen of each worker, by skill; start (cells,): w0; pseudo: how many
    expected workers are added to the seen ones; rounds: of EM; -> (cells,): w, adds up to 1.
    """
    prior = start.copy()
    for _ in range(rounds):
        fresh = pseudo * start
        for j in range(likelihood.shape[0]):
            mass = 0.0
            for g in range(prior.size):
                mass += likelihood[j, g] * prior[g]
            for g in range(prior.size):
                fresh[g] += likelihood[j, g] * prior[g] / mass
        _scale(fresh)
        prior = fresh
    return prior


@njit(cache=True, nogil=True)
def values(mass, reward, price, rest, value):
    """``U(k, c) = max(0, R - price A + U(k+1, c) + U(k+1, c+1))`` for every tally; returns U(0, 0).

    A and R are the chance of one sequence with c right of k and the reward it brings; the last tally counts ``rest``
    labels.

    mass, reward (labels + 1, labels + 1): A and R, entry (k, c); price, rest: per label; labels that the last tally
    stands for; value (labels + 1, labels + 1), written: U; -> U(0, 0).
    """
    horizon = mass.shape[0] - 1
    for k in range(horizon, -1, -1):
        for c in range(k + 1):
            now = reward[k, c] - price * mass[k, c]
            # the last tally learns nothing more: its gain counts for all `rest` labels, or for none
            now = rest * now if k == horizon else now + value[k + 1, c] + value[k + 1, c + 1]
            value[k, c] = max(0.0, now)
    return value[0, 0]


@njit(cache=True, nogil=True)
def collected(reward, value, rest):
    """Expected reward of a worker who is kept while U > 0: sum over the tallies that are reached of ways times R."""
    horizon = reward.shape[0] - 1
    ways, total = np.zeros(horizon + 2), 0.0
    ways[0] = 1.0
    for k in range(horizon + 1):
        alive = False
        # downwards, so that ways[c] is moved to c + 1 before c - 1 adds to c
        for c in range(k, -1, -1):
            if ways[c] > 0 and value[k, c] > 0:
                total += ways[c] * reward[k, c] * (rest if k == horizon else 1.0)
                ways[c + 1] += ways[c]
                alive = True
            else:
                ways[c] = 0.0
        if not alive:
            break
    return total


@njit(cache=True, nogil=True)
def dearest(mass, reward, rest, most, halvings):
    """The largest price, up to ``most``, at which U(0, 0) > 0: at which it pays to begin with a worker."""
    low, high, value = 0.0, most, np.empty_like(mass)
    for _ in range(halvings):
        middle = (low + high) / 2
        if values(mass, reward, middle, rest, value) > 0:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def bringing(mass, reward, rest, wanted, most, halvings):
    """The largest price, up to ``most``, at which a worker is expected to bring so much; 0 where none does."""
    low, high, value = 0.0, most, np.empty_like(mass)
    values(mass, reward, high, rest, value)
    if collected(reward, value, rest) >= wanted:
        return high
    for _ in range(halvings):
        middle = (low + high) / 2
        values(mass, reward, middle, rest, value)
        if collected(reward, value, rest) >= wanted:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def tables(last, grid, chance, weight):
    """``sum_g x_g g^c (1 - g)^(k - c)`` for k up to ``last``, of two measures: the last row as is, others by adding.

    grid, chance, weight (cells,): g, and x of either measure; -> mass, reward (last + 1, last + 1): the sums by either
    measure, entry (k, c); 0 for c > k.
    """
    mass, reward = np.zeros((last + 1, last + 1)), np.zeros((last + 1, last + 1))
    for g in range(grid.size):
        for c in range(last + 1):
            chance_of_one = grid[g] ** float(c) * (1.0 - grid[g]) ** float(last - c)
            mass[last, c] += chance[g] * chance_of_one
            reward[last, c] += weight[g] * chance_of_one
    # g^c (1-g)^(k-c) = the same with one more right + with one more wrong: sums of positive terms, no cancelling
    for k in range(last - 1, -1, -1):
        for c in range(k + 1):
            mass[k, c] = mass[k + 1, c] + mass[k + 1, c + 1]
            reward[k, c] = reward[k + 1, c] + reward[k + 1, c + 1]
    return mass, reward

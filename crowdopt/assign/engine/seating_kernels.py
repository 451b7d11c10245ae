"""Which worker of its class gives each label: compiled loops.

Labels stand by task: ``start[i]`` is the first one of task i. ``worker`` says who gives each, -1 while that is open;
worker j has ``left[j]`` labels left. ``barred`` are sorted keys ``task * workers + worker``. Worker j is in the groups
``home[first[j] : first[j + 1]]``; a task may have ``top[h, i]`` labels of group h and has ``inside[h, i]``.
"""

import numpy as np

from crowdopt.compiled_kernels import njit

PASSES, PARTNERS, STRIDE = 4, 60, 37  # of changing places for own rows: labels asked, some way apart
TRADES = 200  # tasks of a class that one is asked to trade with


@njit(cache=True, nogil=True)
def may(i, j, without, seats, limits):
    """Whether worker j may label task i, if its label ``without`` were another's."""
    start, worker, _ = seats
    barred, first, home, top, inside = limits
    for label in range(start[i], start[i + 1]):
        if worker[label] == j:
            return False
    key = i * (first.size - 1) + j
    place = np.searchsorted(barred, key)
    if place < barred.size and barred[place] == key:
        return False
    for e in range(first[j], first[j + 1]):
        h = home[e]
        have = inside[h, i]
        if without >= 0 and worker[without] >= 0:
            old = worker[without]
            for f in range(first[old], first[old + 1]):
                if home[f] == h:
                    have -= 1
        if have >= top[h, i]:
            return False
    return True


@njit(cache=True, nogil=True)
def give(label, i, j, seats, limits):
    """A label of task i becomes worker j's, and is another's no more; with j = -1 it is open again."""
    _, worker, left = seats
    _, first, home, _, inside = limits
    old = worker[label]
    if old >= 0:
        left[old] += 1
        for e in range(first[old], first[old + 1]):
            inside[home[e], i] -= 1
    worker[label] = j
    if j >= 0:
        left[j] -= 1
        for e in range(first[j], first[j + 1]):
            inside[home[e], i] += 1


@njit(cache=True, nogil=True)
def seat_singles(task, group, members, seats):
    """Labels of classes of one worker become that worker's, whether the pair is barred or not."""
    begin, who = members
    _, worker, left = seats
    for label in range(task.size):
        g = group[label]
        if begin[g + 1] - begin[g] == 1 and left[who[begin[g]]] > 0:
            worker[label] = who[begin[g]]
            left[worker[label]] -= 1


@njit(cache=True, nogil=True)
def _count(i, seats, limits):
    """Count a task's labels of each group."""
    start, worker, _ = seats
    _, first, home, _, inside = limits
    inside[:, i] = 0
    for label in range(start[i], start[i + 1]):
        j = worker[label]
        if j >= 0:
            for e in range(first[j], first[j + 1]):
                inside[home[e], i] += 1


@njit(cache=True, nogil=True)
def _clashes(i, k, seats, limits):
    """Labels of task k that task i could not have, were they its own: barred pairs, and beyond the most of a group."""
    start, worker, _ = seats
    barred, first, _, top, inside = limits
    number = 0
    for label in range(start[k], start[k + 1]):
        key = i * (first.size - 1) + worker[label]
        place = np.searchsorted(barred, key)
        if worker[label] >= 0 and place < barred.size and barred[place] == key:
            number += 1
    for h in range(inside.shape[0]):
        number += max(0, inside[h, k] - top[h, i])
    return number


@njit(cache=True, nogil=True)
def trade(group, likes, seats, limits, rows):
    """Tasks of a class trade their sets, fewer labels clashing first, then until own rows are kept.

    likes: (first of each class, tasks); rows: as :func:`steer` takes them.
    """
    start, worker, _ = seats
    inside, (begin, tasks), (entry, lower, upper, total) = limits[4], likes, rows
    for i in range(start.size - 1):
        _count(i, seats, limits)
    off, still = _off(lower, upper, total, np.zeros(total.size)), np.zeros(total.size)
    for c in range(begin.size - 1):
        size = begin[c + 1] - begin[c]
        for place in range(size):
            i = tasks[begin[c] + place]
            mine = _clashes(i, i, seats, limits)
            for step in range(1, min(size, TRADES)):
                if mine == 0 and off <= 0.0:
                    break
                k = tasks[begin[c] + (place + step * STRIDE) % size]
                if k == i or start[k + 1] - start[k] != start[i + 1] - start[i]:
                    continue
                change = _traded(i, k, seats, entry) if entry.shape[0] else still
                then = _off(lower, upper, total, change)
                if mine == 0 and then >= off - 1e-9:
                    continue
                clashes = _clashes(i, k, seats, limits)
                fewer = mine + _clashes(k, k, seats, limits) - clashes - _clashes(k, i, seats, limits)
                if fewer > 0 or (fewer == 0 and then < off - 1e-9):
                    total += change
                    off, mine = then, clashes
                    for t in range(start[i + 1] - start[i]):
                        a, b = start[i] + t, start[k] + t
                        worker[a], worker[b] = worker[b], worker[a]
                        group[a], group[b] = group[b], group[a]
                    for h in range(inside.shape[0]):
                        inside[h, i], inside[h, k] = inside[h, k], inside[h, i]


@njit(cache=True, nogil=True)
def _traded(i, k, seats, entry):
    """What rows change by when two tasks trade their sets."""
    start, worker, _ = seats
    change = np.zeros(entry.shape[0])
    for mine, other in ((i, k), (k, i)):
        for label in range(start[mine], start[mine + 1]):
            if worker[label] >= 0:
                change += entry[:, other, worker[label]] - entry[:, mine, worker[label]]
    return change


@njit(cache=True, nogil=True)
def open_again(task, seats, limits):
    """Labels that their task may not have are without a worker again."""
    worker = seats[1]
    for label in range(task.size):
        j = worker[label]
        if j >= 0:
            give(label, task[label], -1, seats, limits)
            if may(task[label], j, -1, seats, limits):
                give(label, task[label], j, seats, limits)


@njit(cache=True, nogil=True)
def seat(task, group, members, seats, limits, owed):
    """Give every label without a worker to the one of its class with most labels left; how many nobody can give.

    Workers who are owed labels come first: ``owed`` (workers,), changed.

    task, group (labels,): of each label; members: (first of each class, workers).
    """
    begin, who = members
    _, worker, left = seats
    missing = 0
    for label in range(task.size):
        if worker[label] >= 0:
            continue
        i, g, best = task[label], group[label], -1
        for e in range(begin[g], begin[g + 1]):
            j = who[e]
            first = left[j] > 0 and (best < 0 or (owed[j], left[j]) > (owed[best], left[best]))
            if first and may(i, j, -1, seats, limits):
                best = j
        if best >= 0:
            give(label, i, best, seats, limits)
            owed[best] = max(0, owed[best] - 1)
        elif not _changed(label, task, group, members, seats, limits):
            missing += 1
    return missing


@njit(cache=True, nogil=True)
def _changed(label, task, group, members, seats, limits):
    """Whether another task lets go of a worker who may give it, and takes one of the class who has labels left."""
    begin, who = members
    _, worker, left = seats
    i, g = task[label], group[label]
    for e in range(begin[g], begin[g + 1]):
        j = who[e]
        if not may(i, j, -1, seats, limits):
            continue
        for k in range(task.size):
            if worker[k] != j or task[k] == i:
                continue
            for f in range(begin[g], begin[g + 1]):
                if left[who[f]] > 0 and may(task[k], who[f], k, seats, limits):
                    give(k, task[k], who[f], seats, limits)
                    give(label, i, j, seats, limits)
                    return True
    return False


@njit(cache=True, nogil=True)
def level(task, group, members, seats, limits, owed, spare):
    """Workers who are still owed labels take them over from others of their class who have some to spare.

    owed, spare (workers,): labels that a worker lacks, and can do without; changed.
    """
    begin, who = members
    _, worker, left = seats
    for g in range(begin.size - 1):
        for e in range(begin[g], begin[g + 1]):
            j = who[e]
            if owed[j] <= 0:
                continue
            for label in range(task.size):
                if owed[j] <= 0 or left[j] <= 0:
                    break
                k = worker[label]
                if group[label] != g or k < 0 or spare[k] <= 0:
                    continue
                if may(task[label], j, label, seats, limits):
                    give(label, task[label], j, seats, limits)
                    owed[j] -= 1
                    spare[k] -= 1


@njit(cache=True, nogil=True)
def steer(task, group, members, seats, limits, rows, spare):
    """Workers of a class change places until own rows are kept; how far off they are at last.

    rows: entries (rows, tasks, workers), lower and upper sides, and what they add up to, changed; spare (workers,):
    labels that a worker can do without; changed.
    """
    begin, who = members
    _, worker, left = seats
    entry, lower, upper, total = rows
    off = _off(lower, upper, total, np.zeros(total.size))
    for _ in range(PASSES):
        before = off
        for label in range(task.size):
            if off <= 0.0:
                return off
            i, j, best, least = task[label], worker[label], -1, off
            if j < 0:
                continue
            for e in range(begin[group[label]], begin[group[label] + 1]):
                other = who[e]
                if spare[j] > 0 and left[other] > 0:
                    then = _off(lower, upper, total, entry[:, i, other] - entry[:, i, j])
                    if then < least - 1e-9 and may(i, other, label, seats, limits):
                        best, least = other, then
            if best >= 0:
                total += entry[:, i, best] - entry[:, i, j]
                give(label, i, best, seats, limits)
                spare[j] -= 1
                spare[best] += 1
                off = least
                continue
            for step in range(1, PARTNERS):
                k = (label + step * STRIDE) % task.size
                i2, j2 = task[k], worker[k]
                if j2 < 0 or group[k] != group[label] or i2 == i or j2 == j:
                    continue
                change = entry[:, i, j2] + entry[:, i2, j] - entry[:, i, j] - entry[:, i2, j2]
                then = _off(lower, upper, total, change)
                if then < off - 1e-9 and may(i, j2, label, seats, limits) and may(i2, j, k, seats, limits):
                    total += change
                    give(label, i, j2, seats, limits)
                    give(k, i2, j, seats, limits)
                    off = then
                    break
        if off >= before:
            break
    return off


@njit(cache=True, nogil=True)
def _off(lower, upper, total, change):
    """How far the rows are from their sides after a change."""
    off = 0.0
    for r in range(total.size):
        value = total[r] + change[r]
        off += max(0.0, lower[r] - value) + max(0.0, value - upper[r])
    return off

"""The cheapest set of labels for one task under all limits of its own: compiled loops.

A task's *items* are single labels: one for each worker of a class that could be of use, those of a class next to each
other, classes in order of their groups, which are apart. Item i has price ``price[i]`` and evidence ``worth[i]``;
``after[i]`` is the first item of the next class, so that of workers who are alike the first ones are taken. A set keeps
``low_h <= labels of group h <= top_h``, ``fewest <= labels <= most``, and has the evidence that is asked for.

``rest[i, u, c, x]`` is a *completion*: at least what labels from item i on cost that bring x cells of evidence, where
u labels of i's group and c labels in all are there already. Evidence is rounded up to cells, so a completion is never
dearer than the truth: the table alone proves a bound, and steers an exact search that needs few steps.
"""

import numpy as np

from crowdopt.kernels import njit

HAIR = 1e-12  # of evidence: rounding in a sum of labels
ANY = 1 << 40  # labels of a group without a most
SPARE = 16  # cells of a table beyond the need: so many sets of rounded evidence are walked to


@njit(cache=True, nogil=True)
def completions(items, groups, fewest, exact, rest):
    """Fill the table ``rest``, (items + 1, labels of a group + 1, labels + 1, cells + 1).

    items tuple of (items,) arrays: price, width (cells of evidence, rounded up), group, after; groups tuple of
    (groups,) int: low and top; ANY where there is no most; fewest: labels of all that a set has at least; exact:
    whether labels of all are at most those told apart; otherwise as many as those, or more, count as one; rest array:
    written, whatever it held.
    """
    price, width, group, after = items
    low, top = groups
    n, own, every, cells = price.size, rest.shape[1] - 1, rest.shape[2] - 1, rest.shape[3] - 1
    none = np.full(cells + 1, np.inf)
    rest[n] = np.inf
    for c in range(min(fewest, every), every + 1):
        rest[n, 0, c, 0] = 0.0
    for i in range(n - 1, -1, -1):
        g = group[i]
        limited = top[g] < ANY
        most = min(own, top[g] if limited else low[g])
        rest[i, most + 1 :] = np.inf
        for u in range(most + 1):
            for c in range(every + 1):
                c1 = -1 if exact and c == every else min(c + 1, every)
                u1 = u + 1 if limited else min(u + 1, most)
                u0 = _into(u, i, after[i], group, low)
                ut = _into(u1, i, i + 1, group, low) if u1 <= most else -1
                without = rest[after[i], u0, c] if u0 >= 0 else none
                then = rest[i + 1, ut, c1] if ut >= 0 and c1 >= 0 else none
                _cheaper(without, then, min(width[i], cells + 1), price[i], rest[i, u, c])


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _cheaper(without, then, width, price, out):
    """Completions without an item, or with it: slices of one length, so that several are compared at a time."""
    first = then[0] + price
    for x in range(width):
        a = without[x]
        out[x] = a if a < first else first
    beyond, bring, written = without[width:], then[: then.size - width], out[width:]
    for x in range(bring.size):
        a, b = beyond[x], bring[x] + price
        written[x] = a if a < b else b


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _into(u, i, j, group, low):
    """Labels of its group that are counted at item j, after item i with u of i's; -1 where i's group lacks some."""
    if j < group.size and group[j] == group[i]:
        return u
    return 0 if u >= low[group[i]] else -1


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _cell(left, unit, cells):
    """Cells that a lack of evidence takes, from below."""
    if left <= HAIR:
        return 0
    return min(cells + 1, int(np.ceil(left / unit - 1e-9)))


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _both(task, rest, i, u, c, left):
    """Completions without and with item i, and the labels counted then: of its group, and of all."""
    (price, worth, group, after), (low, top), unit, exact = task
    every, cells = rest.shape[2] - 1, rest.shape[3] - 1
    g = group[i]
    limited = top[g] < ANY
    without = with_it = np.inf
    x = _cell(left, unit, cells)
    u0 = _into(u, i, after[i], group, low)
    if u0 >= 0 and x <= cells:
        without = rest[after[i], u0, c, x]
    u1 = u + 1 if limited else min(u + 1, min(rest.shape[1] - 1, low[g]))
    c1 = c + 1 if exact else min(c + 1, every)
    ut = -1
    if c1 <= every and (not limited or u < top[g]):
        ut = _into(u1, i, i + 1, group, low)
        x = _cell(left - worth[i], unit, cells)
        if ut >= 0 and x <= cells:
            with_it = price[i] + rest[i + 1, ut, c1, x]
    return without, with_it, u0, ut, c1


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def has_room(beside, path, depth, i):
    """Whether overlapping groups let item i join the items of a path."""
    member, _, top = beside
    for h in range(top.size):
        if member[h, i]:
            inside = 1
            for e in range(depth):
                inside += member[h, path[e]]
            if inside > top[h]:
                return False
    return True


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def has_all(beside, path, depth):
    """Whether a path has the labels that overlapping groups ask for."""
    member, low, _ = beside
    for h in range(low.size):
        inside = 0
        for e in range(depth):
            inside += member[h, path[e]]
        if inside < low[h]:
            return False
    return True


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _keep(paid, path, depth, sets, sizes):
    """Write down a set as the best one; what it costs."""
    for s in range(sizes.size - 1, -1, -1):
        sizes[s] = sizes[s - 1] if s else depth
        for e in range(sizes[s]):
            sets[s, e] = sets[s - 1, e] if s else path[e]
    return paid


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _walked(task, rest, need, more, most, beside, path):
    """Down the table to a set for ``more`` evidence than needed: what it costs, and its labels; -1 where none is."""
    (price, worth, _, after), _, _, _ = task
    n = price.size
    i, u, c, left, size, paid = 0, 0, 0, need + more, 0, 0.0
    while i < n:
        without, with_it, u0, ut, c1 = _both(task, rest, i, u, c, left)
        if size >= most or (with_it < np.inf and not has_room(beside, path, size, i)):
            with_it = np.inf
        if without == np.inf and with_it == np.inf:
            return np.inf, -1
        if with_it < without:
            path[size] = i
            size += 1
            paid += price[i]
            left, i, u, c = left - worth[i], i + 1, ut, c1
        else:
            i, u = after[i], u0
    if left - more > HAIR or not has_all(beside, path, size):
        return np.inf, -1
    return paid, size


@njit(cache=True, nogil=True)
def _first_walks(task, rest, need, most, beside, path, near, sets, sizes):
    """Sets by walks through the table, for the need and a little more, until one costs no more than ``near``."""
    best = np.inf
    for more in range(SPARE):
        paid, depth = _walked(task, rest, need, more * task[2], most, beside, path)
        if depth >= 0 and paid < best:
            best = _keep(paid, path, depth, sets, sizes)
        if best <= near:
            break
    return best


@njit(cache=True, nogil=True)
def _dropped(reals, top, least, floor):
    """What waits on a stack without those at its top that cost so much; the least that any of these do."""
    while top and reals[top - 1, 0] >= least:
        top -= 1
        floor = min(floor, reals[top, 0])
    return top, floor


@njit(cache=True, nogil=True)
def cheapest(task, rest, need, most, beside, effort, sets, sizes):
    """Search for the cheapest set; a lower bound on what any costs, and the cost of the best one found.

    task: (price, worth, group, after), (low, top), evidence of a cell, and whether all labels are counted exactly; rest
    array: of :func:`completions`; need: evidence; beside: of items in place of classes of workers; sets keep it, the
    table does not know it; effort: steps at most; how far, relative to the bound, a set may be from the cheapest; sets
    (k, labels), sizes (k,), written: the best sets found, the last one found first; sizes of -1 where there is none;
    -> (float, float): infinite where there is no set, or none was found.
    """
    (price, worth, _, after), _, unit, _ = task
    steps, close = effort
    n, cells = price.size, rest.shape[3] - 1
    sizes[:] = -1
    x = _cell(need, unit, cells)
    if x > cells or rest[0, 0, 0, x] == np.inf:
        return np.inf, np.inf
    root = rest[0, 0, 0, x]
    slack = close * max(abs(root), 1e-9)
    floor, top_of = np.inf, 0
    size = 2 * n + 2
    where, ints = np.empty(size, np.int64), np.empty((size, 4), np.int64)
    reals = np.empty((size, 3))
    path = np.empty(n + 1, np.int64)
    best, depth = _first_walks(task, rest, need, most, beside, path, root + slack, sets, sizes), 0
    i, u, c, left, spent = 0, 0, 0, need, 0.0
    while True:
        dead = False
        if i == n:
            dead = True
            if left <= HAIR and spent < best and has_all(beside, path, depth):
                best = _keep(spent, path, depth, sets, sizes)
        else:
            steps -= 1
            without, with_it, u0, ut, c1 = _both(task, rest, i, u, c, left)
            if depth >= most or (with_it < np.inf and not has_room(beside, path, depth, i)):
                with_it = np.inf
            without += spent
            with_it += spent
            go, take = without < best - slack, with_it < best - slack
            floor = min(floor, np.inf if go else without, np.inf if take else with_it)
            if go and (without < with_it or not take):
                if take:
                    where[top_of], reals[top_of, 0] = i, with_it
                    reals[top_of, 1], reals[top_of, 2] = left - worth[i], spent + price[i]
                    ints[top_of, 0], ints[top_of, 1], ints[top_of, 2], ints[top_of, 3] = i + 1, ut, c1, depth
                    top_of += 1
                i, u = after[i], u0
            elif take:
                if go:
                    where[top_of], reals[top_of, 0], reals[top_of, 1], reals[top_of, 2] = -1, without, left, spent
                    ints[top_of, 0], ints[top_of, 1], ints[top_of, 2], ints[top_of, 3] = after[i], u0, c, depth
                    top_of += 1
                path[depth] = i
                depth += 1
                left, spent, i, u, c = left - worth[i], spent + price[i], i + 1, ut, c1
            else:
                dead = True
        if not dead and steps <= 0:
            floor = min(floor, min(without, with_it))  # of the two, one was gone on with and one may wait
        if dead or steps <= 0:
            top_of, floor = _dropped(reals, top_of, -np.inf if steps <= 0 else best - slack, floor)
            if top_of == 0:
                return max(root, min(floor, best)), best
            top_of -= 1
            left, spent = reals[top_of, 1], reals[top_of, 2]
            i, u, c, depth = ints[top_of, 0], ints[top_of, 1], ints[top_of, 2], ints[top_of, 3]
            if where[top_of] >= 0:
                path[depth] = where[top_of]
                depth += 1


@njit(cache=True, nogil=True)
def through_each(task, rest, need, most, beside, some, sets, sizes):
    """For each of some items a set with it, about the cheapest: a walk through the table, or more of them.

    task, rest, need, most, beside: as in :func:`cheapest`; some (k,) int: items, the first of their class; sets
    (k, labels), sizes (k,): written; -1 where none was found.
    """
    (price, worth, group, after), (low, top), unit, _ = task
    n = price.size
    for s in range(some.size):
        j = some[s]
        sizes[s] = -1
        if not has_room(beside, sets[s], 0, j):
            continue
        extra = 0.0
        for _ in range(5):
            left, size, i, u, c, lost = need + extra - worth[j], 1, 0, 0, 0, False
            sets[s, 0] = j
            c = min(1, rest.shape[2] - 1)
            while i < n and not lost:
                if group[i] == group[j] and (i == 0 or group[i - 1] != group[j]):
                    u = min(1, top[group[j]] if top[group[j]] < ANY else low[group[j]])
                without, with_it, u0, ut, c1 = _both(task, rest, i, u, c, left)
                if i == j or size >= most or (with_it < np.inf and not has_room(beside, sets[s], size, i)):
                    with_it = np.inf
                    if i == j:
                        u0 = _into(u, i, i + 1, group, low)
                        without = 0.0 if u0 >= 0 else np.inf
                if without == np.inf and with_it == np.inf:
                    lost = True
                elif with_it < without:
                    sets[s, size] = i
                    size += 1
                    left, i, u, c = left - worth[i], i + 1, ut, c1
                else:
                    i, u = i + 1 if i == j else after[i], max(0, u0)
            if not lost and left - extra <= HAIR and rest[n, 0, c, 0] < np.inf and has_all(beside, sets[s], size):
                sizes[s] = size
                break
            extra = unit if extra == 0.0 else 2 * extra

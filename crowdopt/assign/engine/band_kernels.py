"""The cheapest set of labels by exact errors, best first: how many labels come from each band of skills.

A *band* is a range of cells (labels of equal skill), a *node* says how many labels a set has of each of some bands.
Such a set costs at least the cheapest labels of each band, and errs at least as if each band gave its best ones. The
node that costs least is looked at next: where its cheapest labels keep the target, no set costs less; else the band
whose cheapest labels are poorest beside its best ones is cut in two, and its labels are shared out in every way. Each
set lies in one node, and errors are those of counted labels, so that long sets among several classes are in reach.

Items stand by *segment* (labels that limits on groups do not tell apart), in each the best first. A limit says how many
labels of some segments a set has at least and at most; bands of several segments are cut between two of them, so that
in the end the counts of a node say whether it keeps every limit.
"""

from heapq import heappop, heappush

import numpy as np

from crowdopt.compiled_kernels import njit
from crowdopt.elementary_kernels import power

BANDS = 24  # of a node
NODES = 1 << 18  # of a search, at most
ROOM = 1 << 14  # answers to counted labels that are told apart; beyond, skills are brought together


@njit(cache=True, nogil=True)
def next_count(count):
    """The next way for labels to name classes; False after the last one, where all of them name the last class."""
    last = count.size - 1
    k = last - 1
    while k >= 0 and count[k] == 0:
        k -= 1
    if k < 0:
        return False
    rest = count[last] + 1
    count[last] = 0
    count[k] -= 1
    count[k + 1] = rest
    return True


@njit(cache=True, nogil=True)
def chances(right, count, chance):
    """How likely each class makes it that labels of one skill name classes so often, in any order."""
    classes, more = count.size, count.sum()
    wrong, ways, left = (1 - right) / (classes - 1), 1.0, more
    for t in range(classes):
        for h in range(count[t]):
            ways *= (left - h) / (h + 1)
        left -= count[t]
    for t in range(classes):
        chance[t] = ways * power(right, count[t]) * power(wrong, more - count[t])


@njit(cache=True, nogil=True)
def error_of_counts(start, skill, cell, amount, size, up, law, other):
    """What the best vote errs with; where answers are too many no less, or no more if skills are brought ``up``.

    start (kinds, K, answers): chances before these labels; skill (kinds, cells); cell, amount (size,): labels counted
    by cell, ascending; changed; law, other (K, 2 ROOM): room.
    """
    kinds, classes, begun = start.shape
    size = _brought_together(skill[0], cell, amount, size, up, ROOM / begun, classes)
    count, chance = np.zeros(classes, np.int64), np.empty(classes)
    error = 0.0
    for e in range(kinds):
        law[:, :begun] = start[e]
        outcomes = begun
        for s in range(size - 1):
            count[:] = 0
            count[0] = amount[s]
            made = 0
            while True:
                chances(skill[e, cell[s]], count, chance)
                for t in range(classes):
                    for o in range(outcomes):
                        other[t, made + o] = law[t, o] * chance[t]
                made += outcomes
                if not next_count(count):
                    break
            law, other, outcomes = other, law, made
        count[:] = 0
        count[0] = amount[size - 1] if size else 0
        while True:
            chances(skill[e, cell[size - 1]] if size else 1.0, count, chance)
            for o in range(outcomes):
                total = most = 0.0
                for t in range(classes):
                    v = law[t, o] * chance[t]
                    total += v
                    most = max(most, v)
                error += total - most
            if not next_count(count):
                break
    return error


@njit(cache=True, nogil=True)
def _brought_together(skill, cell, amount, size, up, most, classes):
    """Neighbours in skill join, at the better or the poorer one's, until answers are few; how many are left."""
    while size > 1:
        answers = 1.0
        for s in range(size):
            for k in range(1, classes):
                answers *= (amount[s] + k) / k
        if answers <= most:
            return size
        at, least = 0, np.inf
        for s in range(size - 1):
            change = (skill[cell[s]] - skill[cell[s + 1]]) * (amount[s + 1] if up else amount[s])
            if change < least:
                at, least = s, change
        if not up:
            cell[at] = cell[at + 1]
        amount[at] += amount[at + 1]
        for s in range(at + 1, size - 1):
            cell[s], amount[s] = cell[s + 1], amount[s + 1]
        size -= 1
    return size


@njit(cache=True, nogil=True)
def _new_band(low, high, items, bands, deepest):
    """The band of the items from low on and before high; its number."""
    price, cell, _ = items
    edge, sums, picks, best, cut = bands
    b = edge[0, 0]
    edge[0, 0] += 1
    edge[b, 0], edge[b, 1] = low, high
    cut[b] = 0
    order = low + np.argsort(price[low:high], kind="mergesort")
    falling = low + np.argsort(cell[low:high], kind="mergesort")
    sums[b, :] = np.inf
    sums[b, 0] = 0.0
    for k in range(min(deepest, high - low)):
        sums[b, k + 1] = sums[b, k] + price[order[k]]
        picks[b, k] = order[k]
        best[b, k] = falling[k]
    return b


@njit(cache=True, nogil=True)
def _cut(b, items, skill, bands, deepest):
    """The number of the first part of a band, cut between segments or where skills differ by half; then the other's."""
    edge, _, _, _, cut = bands
    if cut[b] == 0:
        _, cell, segment = items
        low, high = edge[b, 0], edge[b, 1]
        at = low + 1
        if segment[low] < segment[high - 1]:
            while segment[at] == segment[low] or (2 * at < low + high and segment[at] < segment[high - 1]):
                at += 1
            while segment[at - 1] == segment[at]:
                at -= 1
        else:
            middle = (skill[0, cell[low]] + skill[0, cell[high - 1]]) / 2
            while cell[at] == cell[low] or (skill[0, cell[at]] > middle and cell[at] != cell[high - 1]):
                at += 1
        cut[b] = _new_band(low, at, items, bands, deepest)
        _new_band(at, high, items, bands, deepest)
    return cut[b]


@njit(cache=True, nogil=True)
def _counted(node, items, bands, cheapest, cell, amount):
    """A node's labels by cell, ascending: of each band the cheapest ones, or the best; how many cells."""
    _, _, picks, best, _ = bands
    size = 0
    for s in range(BANDS):
        b, many = node[0, s], node[1, s]
        for k in range(many):
            c = items[1][picks[b, k] if cheapest else best[b, k]]
            at = size
            while at > 0 and cell[at - 1] >= c:
                at -= 1
            if at < size and cell[at] == c:
                amount[at] += 1
                continue
            for later in range(size, at, -1):
                cell[later], amount[later] = cell[later - 1], amount[later - 1]
            cell[at], amount[at] = c, 1
            size += 1
    return size


@njit(cache=True, nogil=True)
def _evidence(cell, amount, size, worth):
    """Evidence of labels that are counted by cell."""
    total = 0.0
    for k in range(size):
        total += amount[k] * worth[cell[k]]
    return total


@njit(cache=True, nogil=True)
def _poorest(node, items, skill, bands):
    """The place of the band whose cheapest labels are poorest beside its best ones; -1 where all are as good."""
    _, _, picks, best, _ = bands
    cell = items[1]
    place, most = -1, 0.0
    for s in range(BANDS):
        b, gap = node[0, s], 0.0
        for k in range(node[1, s]):
            gap += skill[0, cell[best[b, k]]] - skill[0, cell[picks[b, k]]]
        if gap > most:
            place, most = s, gap
    return place


@njit(cache=True, nogil=True)
def _mixed(node, items, bands):
    """The place of the largest band of several segments that labels come from; -1 where there is none."""
    edge, segment = bands[0], items[2]
    place, most = -1, 0
    for s in range(BANDS):
        low, high = edge[node[0, s], 0], edge[node[0, s], 1]
        if node[1, s] > 0 and segment[low] < segment[high - 1] and high - low > most:
            place, most = s, high - low
    return place


@njit(cache=True, nogil=True)
def _may_keep(node, items, bands, limits):
    """Whether some labels of a node keep every limit, as far as its counts tell."""
    (member, low, top), edge, segment = limits, bands[0], items[2]
    for h in range(low.size):
        least = most = 0
        for s in range(BANDS):
            if node[1, s] > 0:
                first, last = edge[node[0, s], 0], edge[node[0, s], 1] - 1
                some, every = False, True
                for g in range(segment[first], segment[last] + 1):
                    some, every = some or member[h, g], every and member[h, g]
                most += node[1, s] if some else 0
                least += node[1, s] if every else 0
        if least > top[h] or most < low[h]:
            return False
    return True


@njit(cache=True, nogil=True)
def _keeps(node, items, bands, limits, cheapest):
    """Whether the cheapest labels of each band, or the best ones, keep every limit."""
    (member, low, top), (_, _, picks, best, _) = limits, bands
    for h in range(low.size):
        inside = 0
        for s in range(BANDS):
            for k in range(node[1, s]):
                one = picks[node[0, s], k] if cheapest else best[node[0, s], k]
                inside += member[h, items[2][one]]
        if inside < low[h] or inside > top[h]:
            return False
    return True


@njit(cache=True, nogil=True)
def cheapest_counted(items, skill, start, asked, sizes, limits, effort, found):
    """Search for the cheapest set: a lower bound on what any costs, and how many labels the one found has, or -1.

    items: price, cell and segment of each label, segments ascending and in each the cells; skill (kinds, cells),
    falling; start (kinds, K, answers): the chances before; asked: target; evidence that is needed, and that of a label
    of each cell (cells,); sizes: fewest and most labels; limits: member (limits, segments), low and top (limits,):
    labels of those segments; effort: what a set is known to cost, what one costs at least that is too long to be found,
    and how many nodes are looked at; found (labels,): written: the items of the cheapest set met.
    """
    price = items[0]
    fewest, most = sizes
    target, need, worth = asked
    limit, longer, work = effort
    n, classes = price.size, start.shape[1]
    deepest = min(most, min(n, found.size))
    law, other = np.empty((classes, 2 * ROOM)), np.empty((classes, 2 * ROOM))
    cells, amount = np.empty(deepest + 1, np.int64), np.empty(deepest + 1, np.int64)
    room = 4 * n + 4
    edge, cut = np.zeros((room, 2), np.int64), np.zeros(room, np.int64)
    sums = np.empty((room, deepest + 1))
    picks, best = np.zeros((room, deepest + 1), np.int64), np.zeros((room, deepest + 1), np.int64)
    bands = edge, sums, picks, best, cut
    edge[0, 0] = 1  # the next band's number
    free_of_limits = limits[1].max() <= 0 if limits[1].size else True
    nothing = fewest <= 0 and free_of_limits and need <= 0.0
    if nothing and error_of_counts(start, skill, cells, amount, 0, True, law, other) <= target:
        return 0.0, 0
    if deepest < min(most, n):
        limit = min(limit, longer)
    elif deepest < max(1, fewest):
        return np.inf, -1
    if deepest < max(1, fewest):
        return limit, -1
    root = _new_band(0, n, items, bands, deepest)
    queue = [(sums[root, max(1, fewest)], 0)]
    nodes = np.zeros((1024, 2, BANDS), np.int32)
    nodes[0, 0, 0], nodes[0, 1, 0] = root, max(1, fewest)
    used, kept, floor = 1, -1, np.inf  # floor: the cheapest set of which the errors do not tell whether it does
    while queue:
        bound, number = heappop(queue)
        if bound >= limit:
            break
        work -= 1
        if work < 0 or used > NODES:
            return min(floor, bound), kept
        node = nodes[number].copy()
        many = node[1].sum()
        if node[0, 0] == root and node[1, 0] == many and many < deepest:  # sets of one label more
            used = _added(nodes, used, queue, sums[root, many + 1])
            if used > len(nodes):
                nodes = _longer(nodes)
            nodes[used - 1] = 0
            nodes[used - 1, 0, 0], nodes[used - 1, 1, 0] = root, many + 1
        size = _counted(node, items, bands, False, cells, amount)
        reaches = _evidence(cells, amount, size, worth) >= need
        if not reaches or error_of_counts(start, skill, cells, amount, size, True, law, other) > target:
            continue
        if not _may_keep(node, items, bands, limits):
            continue
        paid = _price_of_best(node, items, bands)
        best_keep = _keeps(node, items, bands, limits, False)
        if paid < limit and best_keep:
            size = _counted(node, items, bands, False, cells, amount)
            if error_of_counts(start, skill, cells, amount, size, False, law, other) <= target:
                limit, kept = paid, _keep(node, bands, False, found)
        keep = _keeps(node, items, bands, limits, True)
        if keep:
            size = _counted(node, items, bands, True, cells, amount)
            reaches = _evidence(cells, amount, size, worth) >= need
            if reaches and error_of_counts(start, skill, cells, amount, size, False, law, other) <= target:
                return min(floor, bound), _keep(node, bands, True, found)
        place = -1 if keep and best_keep else _mixed(node, items, bands)
        place = _poorest(node, items, skill, bands) if place < 0 else place
        free = -1
        for s in range(BANDS):
            if node[1, s] == 0:
                free = s
        if place < 0 or free < 0:  # answers are too many to tell, or bands
            floor = min(floor, bound)
            continue
        better = _cut(node[0, place], items, skill, bands, deepest)
        total, rest = node[1, place], bound - sums[node[0, place], node[1, place]]
        for first in range(total + 1):
            cost = rest + sums[better, first] + sums[better + 1, total - first]
            if cost >= limit:
                continue
            used = _added(nodes, used, queue, cost)
            if used > len(nodes):
                nodes = _longer(nodes)
            nodes[used - 1] = node
            nodes[used - 1, 0, place], nodes[used - 1, 1, place] = better, first
            nodes[used - 1, 0, free], nodes[used - 1, 1, free] = better + 1, total - first
    return min(floor, limit), kept


@njit(cache=True, nogil=True)
def _price_of_best(node, items, bands):
    """What the best labels of a node's bands cost."""
    paid = 0.0
    for s in range(BANDS):
        for k in range(node[1, s]):
            paid += items[0][bands[3][node[0, s], k]]
    return paid


@njit(cache=True, nogil=True)
def _keep(node, bands, cheapest, found):
    """Write down a node's labels, of each band the cheapest ones or the best; how many."""
    _, _, picks, best, _ = bands
    at = 0
    for s in range(BANDS):
        for k in range(node[1, s]):
            found[at] = picks[node[0, s], k] if cheapest else best[node[0, s], k]
            at += 1
    return at


@njit(cache=True, nogil=True)
def _added(nodes, used, queue, cost):
    heappush(queue, (cost, used))
    return used + 1


@njit(cache=True, nogil=True)
def _longer(nodes):
    more = np.zeros((2 * len(nodes), 2, BANDS), np.int32)
    more[: len(nodes)] = nodes
    return more


@njit(cache=True, nogil=True)
def last_cell_to_counts(cells, skill, start, target):
    """How many cells would do as one label more of labels by cell, ascending: certainly, by bisection."""
    size, classes = cells.size, start.shape[1]
    law, other = np.empty((classes, 2 * ROOM)), np.empty((classes, 2 * ROOM))
    cell, amount = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    low, high = 0, skill.shape[1]
    while low < high:
        middle = (low + high) // 2
        many, put = 0, False
        for k in range(size + 1):
            if not put and (k == size or cells[k] >= middle):
                one, put = middle, True
            else:
                one = cells[k - put]
            if many and cell[many - 1] == one:
                amount[many - 1] += 1
            else:
                cell[many], amount[many] = one, 1
                many += 1
        if error_of_counts(start, skill, cell, amount, many, False, law, other) <= target:
            low = middle + 1
        else:
            high = middle
    return low

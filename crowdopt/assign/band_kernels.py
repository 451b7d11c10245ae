"""The cheapest set of labels by exact errors, best first: how many labels come from each band of skills.

A *band* is a range of cells (labels of equal skill), a *node* says how many labels a set has of each of some bands.
Such a set costs at least the cheapest labels of each band, and errs at least as if each band gave its best ones. The
node that costs least is looked at next: where its cheapest labels keep the target, no set costs less; else the band
whose cheapest labels are poorest beside its best ones is cut in two, and its labels are shared out in every way. Each
set lies in one node, and errors are those of counted labels, so that long sets among several classes are in reach.

Beside this a node has a bound of its own. A label of skill ``p = l b + (1 - l) a`` tells no more than one that has the
skill b with chance l and else a, if one knows which: votes err no less than the mean over such draws. Where ``e(k)``,
with ``k_s`` labels of the best and the rest of the poorest skill of each band s, is at least ``alpha - beta k``, a set
that keeps the target has ``sum of beta l >= alpha - target``; what that costs is bounded by a multiplier of it.

Items stand by *segment* (labels that limits on groups do not tell apart), in each the best first. A limit says how many
labels of some segments a set has at least and at most; bands of several segments are cut between two of them, so that
in the end the counts of a node say whether it keeps every limit.
"""

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from crowdopt.kernels import njit

BANDS = 24  # of a node
SHUT, KINS = 2_000, 62  # bands without some kins, and kins that can be left out
NODES = 1 << 18  # of a search, at most
GRID = 150  # shares of a node's labels between the ends of its bands, at most: the errors that its own bound rests on
EACH = 2_000  # answers told apart that take about the time of a node
SLOPES, HALVINGS = 3, 14  # slopes tried for it; halvings of the multiplier's range
TIE = 1e-9  # relative: how near the chances of two classes are where either may have the vote
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
        chance[t] = ways * right ** float(count[t]) * wrong ** float(more - count[t])


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
def plain_error_of_counts(start, skill, cell, amount, size, law, other):
    """What the vote errs with, at least, that takes every task for an easy one; two classes; 0 where answers are many.

    As :func:`error_of_counts` otherwise; counts stay as they are.
    """
    kinds, _, begun = start.shape
    answers = float(begun)
    for s in range(size):
        answers *= amount[s] + 1
    if answers * kinds > 2 * ROOM:
        return 0.0
    width, chance = 2 * ROOM // kinds, np.empty(2)  # each kind has its own part of the room
    count, outcomes = np.zeros(2, np.int64), begun
    for e in range(kinds):
        law[:, e * width : e * width + begun] = start[e]
    for s in range(size):
        count[0], count[1] = amount[s], 0
        made = 0
        while True:
            for e in range(kinds):
                chances(skill[e, cell[s]], count, chance)
                for t in range(2):
                    for o in range(outcomes):
                        other[t, e * width + made + o] = law[t, e * width + o] * chance[t]
            made += outcomes
            if not next_count(count):
                break
        law, other, outcomes = other, law, made
    error = 0.0
    for o in range(outcomes):
        x = y = 0.0
        for e in range(kinds):
            x, y = x + law[0, e * width + o], y + law[1, e * width + o]
        error += plain_loss(law[0, o], law[1, o], x, y)
    return error


@njit(cache=True, nogil=True)
def plain_loss(x, y, all_x, all_y):
    """What is lost after some answers by taking the task for an easy one: x and y there, of all tasks in all."""
    if abs(x - y) <= TIE * (x + y):
        return min(all_x, all_y)
    return all_y if x > y else all_x


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
def _is_out(kin, shut):
    """Whether a kin's bit is among those left out."""
    return kin < KINS and (shut >> kin) & 1 == 1


@njit(cache=True, nogil=True)
def _first_of(order, shut, kin, most, found):
    """The first items in this order of which a set may have all, kin by kin; how many. shut: bits of kins left out."""
    had, many = np.zeros(most.size, np.int64), 0
    for j in order:
        if many < found.size and had[kin[j]] < most[kin[j]] and not _is_out(kin[j], shut):
            had[kin[j]] += 1
            found[many] = j
            many += 1
    return many


@njit(cache=True, nogil=True)
def _new_band(low, high, shut, items, bands, deepest):
    """The band of the items from low on and before high, without kins whose bits are in shut; its number."""
    price, cell, _, kin, most = items
    edge, sums, picks, best, cut = bands
    b = edge[0, 0]
    edge[0, 0] += 1
    edge[b, 0], edge[b, 1], edge[b, 4], cut[b] = low, high, shut, 0
    falling = low + np.argsort(cell[low:high], kind="mergesort")
    many = _first_of(falling, shut, kin, most, best[b, :deepest])
    edge[b, 2] = cell[best[b, 0]] if many else cell[falling[0]]
    edge[b, 3] = edge[b, 2]
    for j in falling:
        if not _is_out(kin[j], shut):
            edge[b, 3] = max(edge[b, 3], cell[j])
    _first_of(low + np.argsort(price[low:high], kind="mergesort"), shut, kin, most, picks[b, :deepest])
    sums[b, :] = np.inf
    sums[b, 0] = 0.0
    for k in range(many):
        sums[b, k + 1] = sums[b, k] + price[picks[b, k]]
    return b


@njit(cache=True, nogil=True)
def _without(b, out, items, bands, deepest):
    """The band that has all of another but for a kin; -1 where there is no room for it."""
    edge = bands[0]
    shut = edge[b, 4] | (np.int64(1) << out)
    for other in range(1, edge[0, 0]):
        if edge[other, 4] == shut and edge[other, 0] == edge[b, 0] and edge[other, 1] == edge[b, 1]:
            return other
    if edge[0, 0] > len(edge) - 2 * items[0].size - 4:  # what is left is for bands that are cut
        return -1
    return _new_band(edge[b, 0], edge[b, 1], shut, items, bands, deepest)


@njit(cache=True, nogil=True)
def _crowded(node, labels, items):
    """A kin of which a node's labels are too many; -1 where there is none."""
    kin, most = items[3], items[4]
    had = np.zeros(most.size, np.int64)
    for s in range(BANDS):
        for k in range(node[1, s]):
            one = kin[labels[s, k]]
            had[one] += 1
            if had[one] > most[one]:
                return one
    return -1


@njit(cache=True, nogil=True)
def _cut(b, items, skill, bands, deepest):
    """The number of the first part of a band, cut between segments or where skills differ by half; then the other's."""
    edge, cut = bands[0], bands[4]
    if cut[b] == 0:
        cell, segment = items[1], items[2]
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
        cut[b] = _new_band(low, at, edge[b, 4], items, bands, deepest)
        _new_band(at, high, edge[b, 4], items, bands, deepest)
    return cut[b]


@njit(cache=True, nogil=True)
def _one_more(c, many, size, cell, amount):
    """So many labels of a cell more among counted ones, which ascend; how many cells."""
    if many == 0:
        return size
    at = size
    while at > 0 and cell[at - 1] >= c:
        at -= 1
    if at < size and cell[at] == c:
        amount[at] += many
        return size
    for later in range(size, at, -1):
        cell[later], amount[later] = cell[later - 1], amount[later - 1]
    cell[at], amount[at] = c, many
    return size + 1


@njit(cache=True, nogil=True)
def _put(node, source, labels):
    """Of each place of a node the first labels of its band in ``source``: the cheapest ones, or the best."""
    for s in range(BANDS):
        labels[s, : node[1, s]] = source[node[0, s], : node[1, s]]


@njit(cache=True, nogil=True)
def _counted(node, labels, items, cell, amount):
    """A node's labels by cell, ascending; how many cells."""
    size = 0
    for s in range(BANDS):
        for k in range(node[1, s]):
            size = _one_more(items[1][labels[s, k]], 1, size, cell, amount)
    return size


@njit(cache=True, nogil=True)
def _spread(node, skill, bands, count):
    """How many labels of each place may lie between the ends of their band, (BANDS,), 0 elsewhere; the ways of that.

    count (BANDS,): written. Where there are too many ways the places whose ends differ least have their best labels.
    """
    edge, ways = bands[0], 1
    count[:] = 0
    for s in range(BANDS):
        if node[1, s] > 0 and edge[node[0, s], 2] < edge[node[0, s], 3]:
            count[s] = node[1, s]
            ways *= count[s] + 1
    while ways > GRID:
        least, place = np.inf, 0
        for s in range(BANDS):
            b = node[0, s]
            apart = count[s] * (skill[0, edge[b, 2]] - skill[0, edge[b, 3]])
            if count[s] and apart < least:
                least, place = apart, s
        ways //= count[place] + 1
        count[place] = 0
    return ways


@njit(cache=True, nogil=True)
def _errors_between(node, items, skill, bands, start, count, error, room):
    """What votes err with, at least, for each share of the labels between the best and the poorest skill of bands.

    error (ways,): written; -> answers told apart.
    """
    cell, amount, law, other = room
    edge, best, ways, work = bands[0], bands[3], error.size, 0.0
    for w in range(ways):
        size, rest = 0, w
        for s in range(BANDS):
            b, many = node[0, s], node[1, s]
            if count[s]:
                up = rest % (count[s] + 1)
                rest //= count[s] + 1
                size = _one_more(edge[b, 2], up, size, cell, amount)
                size = _one_more(edge[b, 3], many - up, size, cell, amount)
                continue
            for k in range(many):
                size = _one_more(items[1][best[b, k]], 1, size, cell, amount)
        answers = 1.0
        for k in range(size):
            for t in range(1, start.shape[1]):
                answers *= (amount[k] + t) / t
        work += min(answers, ROOM)
        error[w] = error_of_counts(start, skill, cell, amount, size, True, law, other)
    return work


@njit(cache=True, nogil=True)
def _slopes(count, error, at, slope):
    """How much a label more of the best skill lowers the error near a point ``at``, for each place; the error's height.

    ``error >= height - slope k`` for all shares k.
    """
    slope[:] = 0.0
    step = 1
    for s in range(BANDS):
        if not count[s]:
            continue
        near = min(int(at[s]), count[s] - 1)
        place, inner = near * step, 1
        for r in range(BANDS):
            if count[r]:
                if r != s:
                    place += inner * min(int(at[r] + 0.5), count[r])
                inner *= count[r] + 1
        slope[s] = max(0.0, error[place] - error[place + step])
        step *= count[s] + 1
    height = np.inf
    for w in range(error.size):
        value, rest = error[w], w
        for s in range(BANDS):
            if count[s]:
                value += slope[s] * (rest % (count[s] + 1))
                rest //= count[s] + 1
        height = min(height, value)
    return height


@njit(cache=True, nogil=True)
def _taken(price, share, band, many, worth, chosen, values):
    """The labels of a band that cost least beyond ``worth`` times their share; what they cost so, and their shares."""
    low, high = band[0], band[1]
    for k in range(many):
        values[k] = np.inf
    for j in range(low, high):
        value, at = price[j] - worth * share[j - low], many
        while at > 0 and values[at - 1] > value:
            if at < many:
                values[at], chosen[at] = values[at - 1], chosen[at - 1]
            at -= 1
        if at < many:
            values[at], chosen[at] = value, j
    paid = shares = 0.0
    for k in range(many):
        paid += values[k]
        shares += share[chosen[k] - low]
    return paid, shares


@njit(cache=True, nogil=True)
def _shares(skill, cell, band, share):
    """Where the skill of each label of a band lies between the poorest (0) and the best one (1)."""
    low, high, best, poorest = band[0], band[1], band[2], band[3]
    for j in range(low, high):
        share[j - low] = 0.0
        for e in range(len(skill)):
            apart = skill[e, best] - skill[e, poorest]
            if apart > 0.0:
                share[j - low] = max(share[j - low], (skill[e, cell[j]] - skill[e, poorest]) / apart)


@njit(cache=True, nogil=True)
def _own_bound(node, items, skill, bands, start, target, limit, room, chosen):
    """A lower bound on what the sets of a node cost, and answers told apart; written: labels that may be such a set.

    By the cheapest labels that reach ``sum of slope share >= height - target``, at the multiplier that proves most.
    """
    price, cell = items[0], items[1]
    edge, sums, picks, best = bands[:4]
    count, at = np.zeros(BANDS, np.int64), np.zeros(BANDS)
    error = np.empty(_spread(node, skill, bands, count))
    work = _errors_between(node, items, skill, bands, start, count, error, room)
    fixed, slope, longest = 0.0, np.empty(BANDS), 0
    for s in range(BANDS):
        b = node[0, s]
        at[s] = count[s] / 2
        if count[s]:
            longest = max(longest, edge[b, 1] - edge[b, 0])
        elif node[1, s]:
            fixed += sums[b, node[1, s]]
            chosen[s, : node[1, s]] = picks[b, : node[1, s]] if edge[b, 2] == edge[b, 3] else best[b, : node[1, s]]
    share, tried = np.empty((BANDS, longest)), np.empty_like(chosen)
    for s in range(BANDS):
        if count[s]:
            _shares(skill, cell, edge[node[0, s]], share[s])
    values, proven = np.empty(chosen.shape[1]), -np.inf
    for _ in range(SLOPES):
        lack = _slopes(count, error, at, slope) - target
        least, most, before = 0.0, np.inf, proven
        worth = (fixed + price.max()) / max(1e-9, lack)
        for _ in range(HALVINGS):
            value, short = fixed + worth * lack, lack
            for s in range(BANDS):
                if count[s]:
                    paid, at[s] = _taken(
                        price, share[s], edge[node[0, s]], count[s], worth * slope[s], tried[s], values
                    )
                    value, short = value + paid, short - slope[s] * at[s]
            proven = max(proven, value)
            if proven >= limit:
                return proven, work
            if short > 0.0:
                least = worth
            else:
                most = worth
                for s in range(BANDS):
                    if count[s]:
                        chosen[s, : count[s]] = tried[s, : count[s]]
            worth = 2 * least if most == np.inf else (least + most) / 2
        if proven <= before:
            break
    return proven, work


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
    picks, best = bands[2:4]
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
def _keeps(node, labels, items, limits):
    """Whether a node's labels keep every limit."""
    member, low, top = limits
    for h in range(low.size):
        inside = 0
        for s in range(BANDS):
            for k in range(node[1, s]):
                inside += member[h, items[2][labels[s, k]]]
        if inside < low[h] or inside > top[h]:
            return False
    return True


@njit(cache=True, nogil=True)
def _serves(node, labels, items, skill, start, asked, room):
    """Whether a node's labels keep the target, certainly, and have the evidence that is needed."""
    target, need, worth, plain = asked
    cell, amount, law, other = room
    size = _counted(node, labels, items, cell, amount)
    if _evidence(cell, amount, size, worth) < need:
        return False
    if plain and plain_error_of_counts(start, skill, cell, amount, size, law, other) > target:
        return False
    return error_of_counts(start, skill, cell, amount, size, False, law, other) <= target


@njit(cache=True, nogil=True)
def _widest(node, items, skill, bands):
    """The place of the band whose labels differ most in skill; -1 where those of each band are alike."""
    edge = bands[0]
    place, most = -1, 0.0
    for s in range(BANDS):
        if node[1, s] > 0:
            gap = skill[0, edge[node[0, s], 2]] - skill[0, edge[node[0, s], 3]]
            if gap > most:
                place, most = s, gap
    return place


@njit(cache=True, nogil=True)
def _paid(node, labels, price):
    """What a node's labels cost."""
    paid = 0.0
    for s in range(BANDS):
        for k in range(node[1, s]):
            paid += price[labels[s, k]]
    return paid


@njit(cache=True, nogil=True)
def _keep(node, labels, met):
    """Write down a node's labels before those of dearer sets; how many."""
    (found, sizes), at = met, 0
    for s in range(sizes.size - 1, 0, -1):
        sizes[s], found[s] = sizes[s - 1], found[s - 1]
    for s in range(BANDS):
        for k in range(node[1, s]):
            found[0, at] = labels[s, k]
            at += 1
    sizes[0] = at
    return at


class Desk(NamedTuple):
    """What a search asks, and the room it works in."""

    # price, cell and segment of each label, segments ascending and in each the cells; its kin, and labels of each kin
    # that a set may have
    items: Any
    skill: np.ndarray  # (kinds, cells), falling
    start: np.ndarray  # (kinds, K, answers): the chances before
    asked: Any  # target; evidence needed, and that of a label of each cell (cells,); whether votes take tasks for easy
    limits: Any  # member (limits, segments), low and top (limits,): labels of those segments
    bands: Any  # edge, sums, picks, best, cut
    labels: np.ndarray  # (BANDS, labels)
    room_for: Any  # cells, amount, law, other
    met: Any  # found (k, labels), sizes (k,): written: the items of the last sets met, the cheapest first


DROPPED, CUT, RAISED, SETTLED = 0, 1, 2, 3  # what becomes of a node that was weighed


@njit(cache=True, nogil=True)
def _weighed(node, limit, bound, mark, desk):
    """What a node's best and cheapest labels, and lotteries, say of its sets.

    mark: written: whether its cheapest and best labels keep every limit; -> what becomes of it; the cheapest set known;
    how many labels a cheaper one has that was met, or -1; the node's own bound; answers that this took.
    """
    items, skill, start, asked, limits, bands, labels, room_for, found = desk
    (target, need, worth, plain), (cells, amount, law, other), kept = asked, room_for, -1
    _put(node, bands[3], labels)
    size = _counted(node, labels, items, cells, amount)
    if _evidence(cells, amount, size, worth) < need or not _may_keep(node, items, bands, limits):
        return DROPPED, limit, kept, bound, 0.0
    if error_of_counts(start, skill, cells, amount, size, True, law, other) > target:
        return DROPPED, limit, kept, bound, 0.0
    paid = _paid(node, labels, items[0])
    best_keep = _keeps(node, labels, items, limits) and _crowded(node, labels, items) < 0
    if paid < limit and best_keep and _serves(node, labels, items, skill, start, asked, room_for):
        limit, kept = paid, _keep(node, labels, found)
    _put(node, bands[2], labels)
    if plain and _widest(node, items, skill, bands) < 0:
        size = _counted(node, labels, items, cells, amount)
        if plain_error_of_counts(start, skill, cells, amount, size, law, other) > target:
            return DROPPED, limit, kept, bound, 0.0  # all its sets vote alike
    keep = _keeps(node, labels, items, limits) and _crowded(node, labels, items) < 0
    if keep and _serves(node, labels, items, skill, start, asked, room_for):
        return SETTLED, limit, _keep(node, labels, found), bound, 0.0
    mark[0] = keep and best_keep
    own, answers = _own_bound(node, items, skill, bands, start, target, limit, room_for, labels)
    paid = _paid(node, labels, items[0])
    keep = paid < limit and _keeps(node, labels, items, limits) and _crowded(node, labels, items) < 0
    if keep and _serves(node, labels, items, skill, start, asked, room_for):
        limit, kept = paid, _keep(node, labels, found)
    return RAISED if own > bound else CUT, limit, kept, max(own, bound), answers


@njit(cache=True, nogil=True)
def _beside(node, place, sums):
    """What the cheapest labels of a node's other bands cost."""
    paid = 0.0
    for s in range(BANDS):
        if s != place and node[1, s] > 0:
            paid += sums[node[0, s], node[1, s]]
    return paid


@njit(cache=True, nogil=True)
def _children(node, keeps, bound, limit, nodes, used, queue, desk):
    """A node's sets by how many labels come from each half of one of its bands; -> nodes, and how many there are.

    None where no band is left to be cut, or there is no room for another one.
    """
    items, skill, bands = desk.items, desk.skill, desk.bands
    sums, deepest = bands[1], desk.labels.shape[1] - 1
    _put(node, bands[2], desk.labels)
    out = _crowded(node, desk.labels, items) if not desk.limits[1].size else -1
    if out >= 0 and out < KINS and items[4][out] == 1:  # in one of two bands there is none of it
        made = 0
        for s in range(BANDS):
            for k in range(node[1, s]):
                if made < 2 and items[3][desk.labels[s, k]] == out:
                    b, made = _without(node[0, s], out, items, bands, deepest), made + 1
                    if b < 0:
                        return nodes, -1
                    cost = max(bound, _beside(node, s, sums) + sums[b, node[1, s]])
                    if cost < limit:
                        nodes = nodes if used < len(nodes) else _longer(nodes)
                        nodes[used], nodes[used, 2] = node, 0
                        nodes[used, 0, s] = b
                        heappush(queue, (cost, used))
                        used += 1
        return nodes, used
    place = -1 if keeps else _mixed(node, items, bands)
    place = _poorest(node, items, skill, bands) if place < 0 else place
    place = _widest(node, items, skill, bands) if place < 0 and desk.asked[3] else place
    free = -1
    for s in range(BANDS):
        free = s if node[1, s] == 0 else free
    if place < 0 or free < 0:
        return nodes, -1
    better = _cut(node[0, place], items, skill, bands, deepest)
    total, rest = node[1, place], _beside(node, place, sums)
    for first in range(total + 1):
        cost = max(bound, rest + sums[better, first] + sums[better + 1, total - first])
        if cost < limit:
            nodes = nodes if used < len(nodes) else _longer(nodes)
            nodes[used], nodes[used, 2] = node, 0
            nodes[used, 0, place], nodes[used, 1, place] = better, first
            nodes[used, 0, free], nodes[used, 1, free] = better + 1, total - first
            heappush(queue, (cost, used))
            used += 1
    return nodes, used


@njit(cache=True, nogil=True)
def _is_nothing(fewest, desk):
    """Whether no label at all is enough."""
    target, need, _, plain = desk.asked
    cells, amount, law, other = desk.room_for
    if fewest > 0 or need > 0.0 or (desk.limits[1].size and desk.limits[1].max() > 0):
        return False
    if plain and plain_error_of_counts(desk.start, desk.skill, cells, amount, 0, law, other) > target:
        return False
    return error_of_counts(desk.start, desk.skill, cells, amount, 0, True, law, other) <= target


@njit(cache=True, nogil=True)
def cheapest_counted(items, skill, start, asked, sides, limits, effort, met, room_for):
    """Search for the cheapest set: a lower bound on what any costs, and how many labels the one found has, or -1.

    items, skill, start, asked, limits, met, room_for: a Desk's; sides: fewest and most labels; effort: what a set is
    known to cost, what one costs at least that is too long to be found, and how many nodes are looked at.
    """
    (fewest, most), (limit, longer, work) = sides, effort
    met[1][:] = -1
    n = items[0].size
    deepest, room = min(most, min(n, met[0].shape[1])), 4 * n + 4
    room += SHUT if not limits[1].size and (items[4] < 2).any() else 0  # else no kin is ever left out
    edge, cut = np.zeros((room, 5), np.int64), np.zeros(room, np.int64)
    edge[0, 0] = 1  # the next band's number
    sums = np.empty((room, deepest + 1))
    picks, best = np.zeros((room, deepest + 1), np.int64), np.zeros((room, deepest + 1), np.int64)
    bands, labels = (edge, sums, picks, best, cut), np.zeros((BANDS, deepest + 1), np.int64)
    desk = Desk(items, skill, start, asked, limits, bands, labels, room_for, met)
    if _is_nothing(fewest, desk):
        met[1][0] = 0
        return 0.0, 0
    fewest = max(1, fewest)
    if deepest < min(most, n):
        limit = min(limit, longer)
    elif deepest < fewest:
        return np.inf, -1
    if deepest < fewest:
        return limit, -1
    root = _new_band(0, n, 0, items, bands, deepest)
    queue, nodes = [(sums[root, fewest], 0)], np.zeros((64, 3, BANDS), np.int32)  # bands, labels, marks
    nodes[0, 0, 0], nodes[0, 1, 0] = root, fewest
    used, kept, floor = 1, -1, np.inf  # floor: the cheapest set of which the errors do not tell whether it does
    while queue:
        bound, number = heappop(queue)
        work -= 1
        if bound >= limit or work < 0 or used > NODES:
            return min(floor, limit if bound >= limit else bound), kept
        node = nodes[number].copy()
        if not nodes[number, 2, 1]:  # not weighed yet
            nodes[number, 2, 1] = True
            many = node[1].sum()
            if node[0, 0] == root and node[1, 0] == many and many < deepest:  # sets of one label more
                nodes = nodes if used < len(nodes) else _longer(nodes)
                nodes[used] = 0
                nodes[used, 0, 0], nodes[used, 1, 0] = root, many + 1
                heappush(queue, (sums[root, many + 1], used))
                used += 1
            then, limit, met, bound, answers = _weighed(node, limit, bound, nodes[number, 2], desk)
            kept, work = met if met >= 0 else kept, work - int(answers / EACH)
            if then == SETTLED:
                return min(floor, bound), kept
            if then == RAISED:
                heappush(queue, (bound, number))
            if then != CUT:
                continue
        nodes, grown = _children(node, nodes[number, 2, 0], bound, limit, nodes, used, queue, desk)
        used, floor = (grown, floor) if grown >= 0 else (used, min(floor, bound))
    return min(floor, limit), kept


@njit(cache=True, nogil=True)
def _longer(nodes):
    more = np.zeros((2 * len(nodes), 3, nodes.shape[2]), np.int32)
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

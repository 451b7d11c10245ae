"""Every kind of task priced at given prices of labels where votes decide which sets are enough; compiled loops.

Of each row the labels that a set could need are laid out once, the best skills first; then its kinds are searched one
by one, by how many labels come from each band of skills (band_kernels), with a bound from below whatever the effort.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crowdopt.assign.band_kernels import cheapest_counted, error_of_counts, last_cell_to_counts
from crowdopt.assign.completion_kernels import ANY
from crowdopt.assign.oracle_kernels import _more
from crowdopt.kernels import njit

ROOM = 1 << 14  # answers to counted labels that are told apart
LONGEST = 40  # labels of a set that is looked for, unless a task asks for more
SEGMENTS = 8  # of workers whom groups tell apart, at most
OTHERS = 100  # sets like one that was found, at most
KEPT = 4  # sets of a search
CLOSE = 1e-8  # how far below the best set known, relatively, others are looked for


@njit(cache=True, nogil=True)
def _laid_out(price, skill, side, group, copies, longest):
    """Classes of the items, (items,): segments by group, best skills first, the cheapest first of equal ones.

    Left out are labels beside which a set of ``longest`` labels finds enough that are no poorer and no dearer.
    """
    g_count = price.size
    order = np.argsort(price, kind="mergesort")
    best, held = np.full((side.max() + 1, longest), -1.0), np.zeros(side.max() + 1, np.int64)
    use = copies.copy()
    for z in range(g_count):
        g = order[z]
        if use[g] <= 0:
            continue
        a = side[g]
        if held[a] == longest and best[a, longest - 1] >= skill[g]:
            use[g] = 0
            continue
        for _ in range(use[g]):  # insert, the best first
            at = min(held[a], longest - 1)
            if held[a] == longest and best[a, at] >= skill[g]:
                break
            held[a] = min(longest, held[a] + 1)
            while at > 0 and best[a, at - 1] < skill[g]:
                best[a, at] = best[a, at - 1]
                at -= 1
            best[a, at] = skill[g]
    order = order[np.argsort(side[order], kind="mergesort")]
    order = order[np.argsort(group[order], kind="mergesort")]
    order = order[np.argsort(-skill[order], kind="mergesort")]
    count = use.sum()
    item, n = np.empty(count, np.int64), 0
    for z in range(g_count):
        for _ in range(use[order[z]]):
            item[n], n = order[z], n + 1
    return item


@njit(cache=True, nogil=True)
def _cells_of(item, skill, side):
    """The cell of each item, (items,): those of equal skill and groups."""
    cell = np.zeros(item.size, np.int64)
    for j in range(1, item.size):
        a, b = item[j - 1], item[j]
        cell[j] = cell[j - 1] + (skill[a] != skill[b] or side[a] != side[b])
    return cell


@njit(cache=True, nogil=True)
def _serves(labels, size, cell, skill, start, target, room):
    """Whether the vote over items errs little enough, certainly."""
    counted, amount, law, other = room
    cells = np.sort(cell[labels[:size]])
    many = 0
    for e in range(size):
        if many and counted[many - 1] == cells[e]:
            amount[many - 1] += 1
        else:
            counted[many], amount[many], many = cells[e], 1, many + 1
    return error_of_counts(start, skill, counted, amount, many, False, law, other) <= target


@njit(cache=True, nogil=True)
def _greedy(r, rows, price, worth, group, cell, skill, start, target, need, room, chosen):
    """Labels by what they cost for what they tell, those first that groups ask for, until the vote errs little enough.

    chosen: written; -> how many; -1: never.
    """
    order = np.argsort(price / np.maximum(worth, 1e-9), kind="mergesort")
    inside, size, fewest = np.zeros(rows.low.shape[1], np.int64), 0, max(1, rows.fewest[r])
    taken = np.zeros(price.size, np.bool_)
    for owed in (True, False):
        for z in range(price.size):
            j = order[z]
            a = group[j]
            if taken[j] or inside[a] >= rows.top[r, a] or (inside[a] < rows.low[r, a]) != owed:
                continue
            if size >= min(rows.most[r], chosen.size - 1):
                return -1
            chosen[size], size, taken[j] = j, size + 1, True
            inside[a] += 1
            need -= worth[j]
            lacks = 0
            for b in range(inside.size):
                lacks += inside[b] < rows.low[r, b]
            able = lacks == 0 and size >= fewest and need <= 0
            if able and _serves(chosen, size, cell, skill, start, target, room):
                return size
    return -1


@njit(cache=True, nogil=True)
def _limits_of(r, rows, side, sides, most):
    """Limits on labels of so many segments, as band_kernels take them, none of none; most: labels of a set."""
    apart, beside = (rows.low.shape[1], rows.member.shape[0]) if sides > 0 else (0, 0)
    member = np.zeros((apart + beside, sides), np.bool_)
    low, top, count = np.empty(apart + beside, np.int64), np.empty(apart + beside, np.int64), 0
    for a in range(apart):
        if rows.low[r, a] > 0 or rows.top[r, a] < min(most, ANY):
            for g in range(side.size):
                member[count, side[g]] |= rows.group[g] == a
            low[count], top[count], count = rows.low[r, a], rows.top[r, a], count + 1
    for h in range(beside):
        for g in range(side.size):
            member[count, side[g]] |= rows.member[h, g]
        low[count], top[count], count = rows.low_beside[r, h], rows.top_beside[r, h], count + 1
    return member[:count].copy(), low[:count].copy(), top[:count].copy()


@njit(cache=True, nogil=True)
def _counted_by_class(r, rows, kinds, k, room):
    """Labels of each class that a task of a kind may have, (G,)."""
    copies = np.empty(room.size, np.int64)
    for g in range(room.size):
        copies[g] = max(0, min(min(rows.size[g], room[g]), min(rows.top[r, rows.group[g]], rows.most[r])))
    for s in range(rows.shut_at[r], rows.shut_at[r + 1]):
        copies[rows.shut[s]] = min(copies[rows.shut[s]], rows.shut_left[s])
    for b in range(kinds.bar_at[k], kinds.bar_at[k + 1]):
        copies[kinds.bar[b]] = min(copies[kinds.bar[b]], kinds.bar_left[b])
    return copies


class Laid(NamedTuple):
    """Labels that a set of a row could need, and what bounds sets of them."""

    item: np.ndarray  # (items,): class of workers
    items: Any  # price, worth and group of each, and skills of cells, (E, cells)
    cell: np.ndarray
    bands: Any  # price, cell, segment and group of items by segment, and labels of each group that a set may have
    order: np.ndarray  # places of those
    limits: Any  # of segments
    known: bool  # whether segments tell all limits; none where groups are told apart in too many ways, or unproven
    longer: float  # what sets cost at least that are too long
    copies: np.ndarray
    bargain: float  # what labels bring that cost less than nothing


@njit(cache=True, nogil=True)
def _laid(r, rows, sides, law, copies, cost, longest):
    """The layout of a row at prices (G,); longest: labels of a set."""
    t, kinds_e = rows.type[r], law.start.shape[0]
    side = np.zeros_like(sides) if rows.free[r] else sides
    group = np.zeros_like(sides) if rows.free[r] else rows.group
    worth_of, skill_of = rows.worth[t], law.skill[:, t]
    paid, bargain = np.maximum(cost, 0.0), 0.0
    for g in range(cost.size):
        if cost[g] < 0:
            bargain += copies[g] * cost[g]
    item = _laid_out(paid, skill_of[0], side, group, copies, longest + 1)
    cell = _cells_of(item, skill_of[0], side)
    heads = np.empty(cell[-1] + 1 if item.size else 0, np.int64)
    for j in range(item.size - 1, -1, -1):
        heads[cell[j]] = item[j]
    skill = np.empty((kinds_e, heads.size))
    for e in range(kinds_e):
        for c in range(heads.size):
            skill[e, c] = skill_of[e, heads[c]]
    known = side.max() < SEGMENTS and (rows.proven or rows.member.shape[0] == 0)
    price, worth = paid[item], worth_of[item]
    longer = np.sort(price)[: longest + 1].sum() if item.size > longest else np.inf
    if not known:
        side = np.zeros_like(side)
    segment = side[item]
    told = _limits_of(r, rows, side, side.max() + 1 if known else 0, rows.most[r])
    order = np.argsort(segment, kind="mergesort")
    most = np.minimum(rows.top[r], item.size) if not rows.free[r] else np.full(1, item.size)
    return Laid(
        item,
        (price, worth, group[item], skill),
        cell,
        (price[order], cell[order], segment[order], group[item][order], most),
        order,
        told,
        known,
        longer,
        copies,
        bargain,
    )


@njit(cache=True, nogil=True)
def _keeps(r, rows, item, chosen, size):
    """Whether a set of items keeps what groups ask for."""
    for a in range(rows.low.shape[1]):
        inside = 0
        for e in range(size):
            inside += rows.group[item[chosen[e]]] == a
        if inside < rows.low[r, a] or inside > rows.top[r, a]:
            return False
    for h in range(rows.member.shape[0]):
        inside = 0
        for e in range(size):
            inside += rows.member[h, item[chosen[e]]]
        if inside < rows.low_beside[r, h] or inside > rows.top_beside[r, h]:
            return False
    return True


@njit(cache=True, nogil=True)
def _like(r, before, rows):
    """Whether the labels of two rows are laid out alike."""
    if before < 0 or rows.type[r] != rows.type[before] or rows.free[r] != rows.free[before]:
        return False
    if rows.shut_at[r] < rows.shut_at[r + 1] or rows.shut_at[before] < rows.shut_at[before + 1]:
        return False
    same = rows.fewest[r] == rows.fewest[before] and rows.most[r] == rows.most[before]
    for a in range(rows.low.shape[1]):
        same = same and rows.low[r, a] == rows.low[before, a] and rows.top[r, a] == rows.top[before, a]
    for h in range(rows.member.shape[0]):
        same = same and rows.low_beside[r, h] == rows.low_beside[before, h]
        same = same and rows.top_beside[r, h] == rows.top_beside[before, h]
    return same


@njit(cache=True, nogil=True)
def _searched(r, k, rows, need, law, start, laid, limit, nodes, room, sets, sizes):
    """A lower bound on the price of a kind's sets, bargains apart; sets, sizes: written, the cheapest first."""
    price, worth, group, skill = laid.items
    target = law.target[k]
    if price.size == 0:
        enough = rows.fewest[r] == 0 and _serves(sets[0, :0], 0, laid.cell, skill, start, target, room)
        sizes[:], sizes[0] = -1, 0 if enough else -1
        return 0.0 if enough else np.inf
    worths = np.empty(skill.shape[1])
    for j in range(price.size):
        worths[laid.cell[j]] = worth[j]
    wanted, sides = (target, need, worths, law.plain), (max(0, rows.fewest[r]), min(rows.most[r], price.size))
    effort, met = (limit, laid.longer, nodes), (sets[:, : sets.shape[1] - 1], sizes)
    bound, _ = cheapest_counted(laid.bands, skill, start, wanted, sides, laid.limits, effort, met, room)
    for s in range(sizes.size):
        for e in range(sizes[s]):
            sets[s, e] = laid.order[sets[s, e]]
        if sizes[s] >= 0 and not laid.known and not _keeps(r, rows, laid.item, sets[s], sizes[s]):
            sizes[s] = -1
    if sizes.max() < 0 and limit == np.inf:
        count = _greedy(r, rows, price, worth, group, laid.cell, skill, start, target, need, room, sets[0])
        sizes[0] = count if count >= 0 and _keeps(r, rows, laid.item, sets[0], count) else -1
    return bound


@njit(cache=True, nogil=True)
def _with_bargains(r, rows, copies, cost, label, begin, size):
    """Labels that cost less than nothing beside those of a set, as far as it may have them; -> how many it has."""
    inside, n = np.zeros(rows.low.shape[1], np.int64), size
    for e in range(size):
        inside[rows.group[label[begin + e]]] += 1
    for g in range(cost.size):
        if cost[g] >= 0:
            continue
        same, a = 0, rows.group[g]
        for e in range(n):
            same += label[begin + e] == g
        while same < copies[g] and n < rows.most[r] and inside[a] < rows.top[r, a]:
            for h in range(rows.member.shape[0]):
                if rows.member[h, g]:
                    count = 0
                    for e in range(n):
                        count += rows.member[h, label[begin + e]]
                    if count >= rows.top_beside[r, h]:
                        return n
            label[begin + n], n, same = g, n + 1, same + 1
            inside[a] += 1
    return n


@njit(cache=True, nogil=True)
def _swapped(rows, laid, start, target, labels, size, most, sets, sizes):
    """Sets with each of a set's labels in turn replaced by one that does as well, the cheapest ones; -> how many.

    labels: items of a set that is enough; most: replacements of each label; groups stay as they are.
    """
    price, _, group, skill = laid.items
    written, rest = 0, np.empty(max(0, size - 1), np.int64)
    for out in range(size):
        n = 0
        for e in range(size):
            if e != out:
                rest[n], n = labels[e], n + 1
        last = last_cell_to_counts(np.sort(laid.cell[rest]), skill, start, target)
        end = 0
        while end < price.size and laid.cell[end] < last:
            end += 1
        order = np.argsort(price[:end], kind="mergesort")
        taken = 0
        for j in order:
            if taken == most or written == sizes.size:
                break
            a, same, free = laid.item[j], 0, laid.copies[laid.item[j]]
            for e in range(n):
                same += laid.item[rest[e]] == a
            twin = group[j] == group[labels[out]] and a != laid.item[labels[out]] and same < free
            for h in range(rows.member.shape[0]):
                twin = twin and rows.member[h, a] == rows.member[h, laid.item[labels[out]]]
            if twin:
                for e in range(n):
                    sets[written, e] = rest[e]
                sets[written, n] = j
                sizes[written], written, taken = size, written + 1, taken + 1
    return written


@njit(cache=True, nogil=True)
def _written(r, k, rows, cost, laid, sets, sizes, label, ends, of, labels, size, found):
    """The sets of a kind beside those found before; what the cheapest costs is kept."""
    for s in range(sizes.size):
        count = sizes[s]
        if count < 0:
            continue
        while labels + count + laid.copies.sum() > label.size:
            label = _more(label, labels)
        if size == ends.size:
            ends, of = _more(ends, size), _more(of, size)
        for e in range(count):
            label[labels + e] = laid.item[sets[s, e]]
        if laid.bargain < 0:
            count = _with_bargains(r, rows, laid.copies, cost, label, labels, count)
        total = 0.0
        for e in range(count):
            total += cost[label[labels + e]]
        found.cost[k] = min(found.cost[k], total)
        labels += count
        ends[size], of[size], size = labels, k, size + 1
    return label, ends, of, labels, size


@njit(cache=True, nogil=True)
def sweep_votes(begin, end, rows, kinds, law, sides, price, room, known, effort, found, cuts):
    """Price the kinds of rows begin, ..., end - 1; -> labels of sets, where each ends, and the kind of each.

    law: a Law of crowdopt.assign.votes; sides (G,): a number for each class by its groups; price (T, G); room (G,):
    labels that classes have left; known (K,): what a set of each kind is known to cost; effort, found, cuts: as
    crowdopt.assign.oracle_kernels has them.
    """
    label, ends, of = np.empty(1024, np.int64), np.empty(256, np.int64), np.empty(256, np.int64)
    size = labels = 0
    classes, before, states = law.start.shape[1], -1, 0
    longest = max(LONGEST, rows.fewest.max())
    counted = np.empty(longest + 2, np.int64), np.empty(longest + 2, np.int64)
    space = counted[0], counted[1], np.empty((classes, 2 * ROOM)), np.empty((classes, 2 * ROOM))
    like = np.empty(end - begin)  # rows laid out alike come one after another
    for r in range(begin, end):
        like[r - begin] = rows.type[r] * 1e5 + law.start_at[r + 1] - law.start_at[r]
    for r in begin + np.argsort(like, kind="mergesort"):
        first, last = kinds.at[r], kinds.at[r + 1]
        some = 0
        for k in range(first, last):
            some += cuts[k]
        if some == 0 or effort.rung[0]:
            continue
        cost = price[rows.type[r]]
        start = law.start[:, :, law.start_at[r] : law.start_at[r + 1]].copy()
        asked = min(some, max(1, effort.through // effort.for_each))
        others = min(OTHERS, effort.through // asked)  # for so many kinds
        sets, sizes = np.zeros((KEPT + others, longest + 1), np.int64), np.empty(KEPT + others, np.int64)
        for k in range(first, last):
            if not cuts[k] or effort.rung[0]:
                continue
            own = kinds.bar_at[k] < kinds.bar_at[k + 1]
            if own or start.shape[2] != states or not _like(r, before, rows):
                copies = _counted_by_class(r, rows, kinds, k, room)
                laid = _laid(r, rows, sides, law, copies, cost, longest)
                before, states = -1 if own else r, start.shape[2]
            limit = known[k] - laid.bargain
            if others > 0:  # the best set is found again, for the sake of those that are like it
                limit += 10 * CLOSE * abs(limit) + CLOSE
            bound = _searched(
                r, k, rows, kinds.need[k], law, start, laid, limit, effort.nodes, space, sets[:KEPT], sizes[:KEPT]
            )
            found.value[k], found.cost[k], found.rate[k] = bound + laid.bargain, known[k], 0.0
            made = KEPT
            if others > 0 and sizes[0] > 0 and (k + effort.turn) % some < asked:
                each = 1 + others // sizes[0]
                made += _swapped(rows, laid, start, law.target[k], sets[0], sizes[0], each, sets[KEPT:], sizes[KEPT:])
            label, ends, of, labels, size = _written(
                r, k, rows, cost, laid, sets[:made], sizes[:made], label, ends, of, labels, size, found
            )
    return label[:labels].copy(), ends[:size].copy(), of[:size].copy()

"""Every kind of task priced at given prices of labels where votes decide which sets are enough; compiled loops.

Of each row the labels that a set could need are laid out once, the best skills first; then its kinds are searched one
by one: label by label along the laws of what they say (law_kernels), or by how many labels come from each band of
skills (band_kernels), where sets are long or classes several. Both bound from below whatever the effort.
"""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np

from crowdopt.assign.band_kernels import cheapest_counted, error_of_counts, last_cell_to_counts
from crowdopt.assign.completion_kernels import ANY
from crowdopt.assign.law_kernels import cheapest_vote, completions, large_sets, last_cell_beside
from crowdopt.assign.oracle_kernels import _more
from crowdopt.compiled_kernels import njit

ANSWERS = 16_500  # combinations of answers to a set that is followed, at most
CELLS = 300  # of evidence
ROOM = 1 << 14  # answers to counted labels that are told apart
STEP = 300  # answers to sets that are looked at in a step
LONGEST = 40  # labels of a set that is looked for band by band, unless a task asks for more
FOLLOWED = 4  # labels short of what can be followed: so long are sets that are looked for band by band
SEGMENTS = 8  # of workers whom groups tell apart, at most, for sets that are looked for band by band
KEPT = 4  # sets of a search
OTHERS = 100  # sets like one that was found, at most
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
    """The cell of each item, (items,), and the first item of the next cell: those of equal skill and groups."""
    n = item.size
    cell, after = np.zeros(n, np.int64), np.empty(n, np.int64)
    for j in range(1, n):
        a, b = item[j - 1], item[j]
        cell[j] = cell[j - 1] + (skill[a] != skill[b] or side[a] != side[b])
    for j in range(n - 1, -1, -1):
        after[j] = after[j + 1] if j + 1 < n and cell[j + 1] == cell[j] else j + 1
    return cell, after


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
    items: Any  # price, worth, group and first item of the next cell of each, and skills of cells, (E, cells)
    cell: np.ndarray
    bands: Any  # price, cell and segment of items by segment
    order: np.ndarray  # places of those
    limits: Any  # of segments
    known: bool  # whether segments tell all limits; none where groups are told apart in too many ways, or unproven
    tables: Any  # of law_kernels
    longer: float  # what sets cost at least that are too long for bands
    unit: float
    copies: np.ndarray
    bargain: float  # what labels bring that cost less than nothing


@njit(cache=True, nogil=True)
def _laid(r, rows, sides, law, copies, cost, need, deepest, longest):
    """The layout of a row at prices (G,); need: the most evidence; deepest, longest: labels followed, or counted."""
    t, kinds_e = rows.type[r], law.start.shape[0]
    side = np.zeros_like(sides) if rows.free[r] else sides
    group = np.zeros_like(sides) if rows.free[r] else rows.group
    worth_of, skill_of = rows.worth[t], law.skill[:, t]
    paid, bargain = np.maximum(cost, 0.0), 0.0
    for g in range(cost.size):
        if cost[g] < 0:
            bargain += copies[g] * cost[g]
    item = _laid_out(paid, skill_of[0], side, group, copies, longest + 1)
    cell, after = _cells_of(item, skill_of[0], side)
    heads = np.empty(cell[-1] + 1 if item.size else 0, np.int64)
    for j in range(item.size - 1, -1, -1):
        heads[cell[j]] = item[j]
    skill = np.empty((kinds_e, heads.size))
    for e in range(kinds_e):
        for c in range(heads.size):
            skill[e, c] = skill_of[e, heads[c]]
    known = side.max() < SEGMENTS and (rows.proven or rows.member.shape[0] == 0)
    price, worth, unit = paid[item], worth_of[item], max(need, 1e-6) / CELLS
    width = np.empty(item.size, np.int64)
    for j in range(item.size):
        width[j] = min(int(np.ceil(worth[j] / unit - 1e-9)), CELLS)
    rest, cheap = completions(price, width, CELLS, longest + 1)
    large = _larger(price, width, cheap, deepest)
    if not known:
        side = np.zeros_like(side)
    segment = side[item]
    told = _limits_of(r, rows, side, side.max() + 1 if known else 0, rows.most[r])
    order = np.argsort(segment, kind="mergesort")
    return Laid(
        item,
        (price, worth, group[item], after, skill),
        cell,
        (price[order], cell[order], segment[order]),
        order,
        told,
        known,
        (rest, cheap, large, cell),
        cheap[0, longest + 1],
        unit,
        copies,
        bargain,
    )


@njit(cache=True, nogil=True)
def _larger(price, width, cheap, depth):
    """What sets of more than so many labels cost at least, by cells of evidence."""
    each = cheap[0, depth + 1] / (depth + 1)
    parts = np.array([0.0, 0.5, 0.8, 0.9, 1.0]) * (each if each < np.inf else 0.0)
    return np.maximum(cheap[0, depth + 1], large_sets(price, width, CELLS, depth + 1, parts))


@njit(cache=True, nogil=True)
def _deepest(start):
    """Labels of a set that is followed, at most."""
    return max(1, int(log(ANSWERS / start.shape[2]) / log(start.shape[1]) + 1e-9))


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
def _are_long(laid, start, hardest, deepest, room):
    """Whether sets are looked for band by band from the first: the best labels that are followed may not be enough."""
    if start.shape[1] > 2:
        return True
    best = np.arange(min(max(0, deepest - FOLLOWED), laid.item.size))
    return not _serves(best, best.size, laid.cell, laid.items[4], start, hardest, room)


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
def _searched(r, k, rows, need, law, start, laid, by_count, limit, nodes, room, laws, sets, sizes):
    """A lower bound on the price of a kind's sets, bargains apart; sets, sizes: written, the cheapest ones first."""
    price, worth, group, _, skill = laid.items
    cheap = laid.tables[1]
    target, sizes[:] = law.target[k], -1
    if price.size == 0:
        nothing = np.zeros(0, np.int64)
        if rows.fewest[r] == 0 and _serves(nothing, 0, laid.cell, skill, start, target, room):
            sizes[0] = 0
            return 0.0
        return np.inf
    member = np.zeros((rows.member.shape[0], laid.item.size), np.bool_)
    for h in range(member.shape[0]):
        for j in range(laid.item.size):
            member[h, j] = rows.member[h, laid.item[j]]
    beside = member, rows.low_beside[r], rows.top_beside[r]
    bound, best = 0.0, limit
    if not by_count:
        limits = rows.low[r], rows.top[r], rows.fewest[r], rows.most[r], beside
        asked = laws, start.shape[2], target, need, laid.unit, law.left, law.plain
        effort = limit, CLOSE, nodes * STEP
        bound, _ = cheapest_vote(laid.items, laid.tables, limits, asked, effort, sets, sizes)
        if not rows.proven and member.shape[0] > 0:  # a bound heeds no more than whoever proves it again can
            free = limits[0], limits[1], limits[2], limits[3], (member[:0], beside[1][:0], beside[2][:0])
            bound, _ = cheapest_vote(laid.items, laid.tables, free, asked, effort, sets.copy(), sizes.copy())
        if sizes[0] >= 0:
            best = min(best, price[sets[0, : sizes[0]]].sum())
    if best == np.inf or bound < best - 10 * CLOSE * abs(best):
        depth = cheap.shape[1] - 2
        found = np.zeros(depth, np.int64)
        worths = np.empty(skill.shape[1])
        for j in range(price.size):
            worths[laid.cell[j]] = worth[j]
        wanted, few = (target, need, worths, law.plain), max(0, rows.fewest[r])
        sides = few, min(rows.most[r], price.size)
        proven, count = cheapest_counted(
            laid.bands, skill, start, wanted, sides, laid.limits, (best, laid.longer, nodes), found
        )
        bound = max(bound, proven)
        for e in range(count):
            found[e] = laid.order[found[e]]
        if count >= 0 and (laid.known or _keeps(r, rows, laid.item, found, count)):
            for s in range(sizes.size - 1, 0, -1):
                sizes[s] = sizes[s - 1]
                sets[s] = sets[s - 1]
            sizes[0] = count
            for e in range(count):
                sets[0, e] = found[e]
    if sizes[0] < 0 and limit == np.inf:
        count = _greedy(r, rows, price, worth, group, laid.cell, skill, start, target, need, room, sets[0])
        if count >= 0 and _keeps(r, rows, laid.item, sets[0], count):
            sizes[0] = count
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
def _swapped(rows, r, laid, by_count, start, target, laws, labels, size, most, sets, sizes):
    """Sets with each of a set's labels in turn replaced by one that does as well, the cheapest ones; -> how many.

    labels: items of a set that is enough; most: replacements of each label; groups stay as they are.
    """
    price, _, group, _, skill = laid.items
    written, rest = 0, np.empty(max(0, size - 1), np.int64)
    for out in range(size):
        n = 0
        for e in range(size):
            if e != out:
                rest[n], n = labels[e], n + 1
        if by_count or n >= laws.shape[0] - 1:
            last = last_cell_to_counts(np.sort(laid.cell[rest]), skill, start, target)
        else:
            beside = np.empty((skill.shape[0], n))
            for e in range(skill.shape[0]):
                for j in range(n):
                    beside[e, j] = skill[e, laid.cell[rest[j]]]
            last = last_cell_beside(laws, start.shape[2], skill, beside, target)
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
def _written(r, k, rows, cost, laid, extra, sets, sizes, swaps, label, ends, of, labels, size, found):
    """The sets of a kind, and so many like the best, beside those found before; what the cheapest costs is kept."""
    for s in range(KEPT + extra):
        count = sizes[s] if s < KEPT else swaps[1][s - KEPT]
        if count < 0:
            continue
        while labels + count + laid.copies.sum() > label.size:
            label = _more(label, labels)
        if size == ends.size:
            ends, of = _more(ends, size), _more(of, size)
        for e in range(count):
            label[labels + e] = laid.item[sets[s, e] if s < KEPT else swaps[0][s - KEPT, e]]
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
    kinds_e, classes, before, states, most = law.start.shape[0], law.start.shape[1], -1, 0, 0.0
    for k in range(kinds.need.size):
        most = max(most, kinds.need[k])
    longest = max(LONGEST, rows.fewest.max())
    counted = np.empty(longest + 2, np.int64), np.empty(longest + 2, np.int64)
    space = counted[0], counted[1], np.empty((classes, 2 * ROOM)), np.empty((classes, 2 * ROOM))
    sets, sizes = np.zeros((KEPT, longest + 1), np.int64), np.empty(KEPT, np.int64)
    like = np.empty(end - begin)  # rows laid out alike come one after another
    for r in range(begin, end):
        like[r - begin] = rows.type[r] * 1e5 + law.start_at[r + 1] - law.start_at[r]
    for r in begin + np.argsort(like, kind="mergesort"):
        first, last = kinds.at[r], kinds.at[r + 1]
        some, hardest = 0, np.inf
        for k in range(first, last):
            if cuts[k]:
                some, hardest = some + 1, min(hardest, law.target[k])
        if some == 0 or effort.rung[0]:
            continue
        cost = price[rows.type[r]]
        start = law.start[:, :, law.start_at[r] : law.start_at[r + 1]].copy()
        deepest = _deepest(start)
        if start.shape[2] != states:
            laws = np.empty((deepest + 1, kinds_e, classes, start.shape[2] * classes**deepest))
        laws[0, :, :, : start.shape[2]] = start
        asked, fresh = min(some, max(1, effort.through // effort.for_each)), True
        others = min(OTHERS, effort.through // asked)  # for so many kinds
        swaps = np.zeros((others, longest + 1), np.int64), np.empty(others, np.int64)
        for k in range(first, last):
            if not cuts[k] or effort.rung[0]:
                continue
            own = kinds.bar_at[k] < kinds.bar_at[k + 1]
            if own or start.shape[2] != states or not _like(r, before, rows):
                copies = _counted_by_class(r, rows, kinds, k, room)
                laid = _laid(r, rows, sides, law, copies, cost, most, deepest, longest)
                before, states, fresh = -1 if own else r, start.shape[2], True
            if fresh:
                by_count, fresh = _are_long(laid, start, hardest, deepest, space), False
            limit = known[k] - laid.bargain
            if others > 0:  # the best set is found again, for the sake of those that are like it
                limit += 10 * CLOSE * abs(limit) + CLOSE
            bound = _searched(
                r, k, rows, kinds.need[k], law, start, laid, by_count, limit, effort.nodes, space, laws, sets, sizes
            )
            found.value[k], found.cost[k], found.rate[k] = bound + laid.bargain, known[k], 0.0
            extra = 0
            if others > 0 and sizes[0] > 0 and (k + effort.turn) % some < asked:
                each, target = 1 + others // sizes[0], law.target[k]
                extra = _swapped(
                    rows, r, laid, by_count, start, target, laws, sets[0], sizes[0], each, swaps[0], swaps[1]
                )
            label, ends, of, labels, size = _written(
                r, k, rows, cost, laid, extra, sets, sizes, swaps, label, ends, of, labels, size, found
            )
    return label[:labels].copy(), ends[:size].copy(), of[:size].copy()

"""Compiled second opinion on the cheapest set of a task by evidence: partial sets together, one dropped for another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.kernels import njit

EVIDENCE_ROUNDING = 1e-12  # evidence, relative to the need above 1; rounding in a sum of labels
CUTS = 40  # prices of evidence that are tried, at most
TRAIL = 8_000_000  # partial sets that are traced back


class CountLimits(NamedTuple):
    """Limits on one task's labels, and the counts that a table of completions tells apart; a most below 0 is none."""

    least_group: Ints  # (groups,)
    most_group: Ints  # (groups,)
    least: int  # labels in all
    most: int
    # counts of labels beyond which one more says nothing
    full_group: Ints  # (groups,)
    full: int
    cells: int  # pairs of counts told apart


class End(NamedTuple):
    """Where a set meets the need: after which item, from which partial set before it, with it or not, in which cell."""

    item: int
    at: int
    taken: bool
    cell: int


@njit(cache=True, nogil=True)
def _step(state, count, limits):
    """The cell after one label more: its group's labels, and all, counted up to where they say nothing more."""
    wide = limits.full + 1
    own, every = state // wide, state % wide
    return min(own + 1, limits.full_group[count]) * wide + min(every + 1, limits.full)


@njit(cache=True, nogil=True)
def _open(state, count, limits):
    """Whether there is room for one label more."""
    own, every = state // (limits.full + 1), state % (limits.full + 1)
    group_full = limits.most_group[count] >= 0 and own >= limits.most_group[count]
    return not group_full and not (limits.most >= 0 and every >= limits.most)


@njit(cache=True, nogil=True)
def _after(state, taken, count, ends, limits):
    """The cell after an item, the last of its group where that ends, taken or not; -1 where the limits forbid it."""
    if taken:
        if not _open(state, count, limits):
            return -1
        state = _step(state, count, limits)
    if ends:
        wide = limits.full + 1
        return state % wide if state // wide >= limits.least_group[count] else -1
    return state


@njit(cache=True, nogil=True)
def completions(cost, worth, group, limits):
    """``rest[k, cell]``: what items k and after cost at least, counts kept; ``gives``: the evidence of those.

    A cell says how many labels of the item's group, and how many in all, there are already. Beyond a group's last item
    its labels are held against its fewest, and the next group starts from none. A most below 0 is none.

    cost, worth (items,): of single labels, those of a group next to each other; group (items,) int; -> two (items + 1,
    cells) arrays.
    """
    n, wide = cost.size, limits.full + 1
    rest, gives = np.full((n + 1, limits.cells), np.inf), np.zeros((n + 1, limits.cells))
    for every in range(limits.least, wide):
        rest[n, every] = 0.0
    for k in range(n - 1, -1, -1):
        ends = k == n - 1 or group[k + 1] != group[k]
        for cell in range((limits.full_group[group[k]] + 1) * wide):
            for taken in range(2):
                after = _after(cell, taken, group[k], ends, limits)
                if after < 0:
                    continue
                value = rest[k + 1, after] + (cost[k] if taken else 0.0)
                if value < rest[k, cell]:
                    rest[k, cell] = value
                    gives[k, cell] = gives[k + 1, after] + (worth[k] if taken else 0.0)
    return rest, gives


@njit(cache=True, nogil=True)
def evidence_price(cost, worth, need, group, limits):
    """``max_x x need + min over sets within the limits of sum (cost - x worth)``: x, the bound, a set's cost above it.

    By lines: the sets of two prices, one short of the need and one not, name the price at which they are alike. All
    three are infinite where no set meets the need.

    cost, worth (items,): of single labels, those of a group next to each other; need: evidence; group (items,) int.
    """
    rounding = EVIDENCE_ROUNDING * max(1.0, need)
    rest, gives = completions(-worth, worth, group, limits)
    if rest[0, 0] == np.inf or gives[0, 0] < need - rounding:
        return np.inf, np.inf, np.inf
    many = gives[0, 0]
    dear = _cost_of(cost, worth, group, limits, rest)
    rest, gives = completions(cost, worth, group, limits)
    low, high, best = rest[0, 0], dear, rest[0, 0]
    few, price = gives[0, 0], 0.0
    if few >= need - rounding:
        return 0.0, low, low
    for _ in range(CUTS):
        if many <= few:
            break
        x = (high - low) / (many - few)
        rest, gives = completions(cost - x * worth, worth, group, limits)
        bound, paid = x * need + rest[0, 0], rest[0, 0] + x * gives[0, 0]
        if bound > best:
            best, price = bound, x
        line = low + x * (need - few)
        if bound >= line - 1e-12 * (abs(line) + abs(x * need)):
            break
        if gives[0, 0] >= need:
            many, high = gives[0, 0], paid
            dear = min(dear, paid)
        else:
            few, low = gives[0, 0], paid
    return price, best, dear


@njit(cache=True, nogil=True)
def _cost_of(cost, worth, group, limits, rest):
    """What the set of the most evidence costs, by going through its table."""
    n, cell, total = cost.size, 0, 0.0
    for k in range(n):
        ends = k == n - 1 or group[k + 1] != group[k]
        best, choice, to = np.inf, 0, 0
        for taken in range(2):
            after = _after(cell, taken, group[k], ends, limits)
            if after < 0:
                continue
            value = rest[k + 1, after] - (worth[k] if taken else 0.0)
            if value < best:
                best, choice, to = value, taken, after
        total += cost[k] * choice
        cell = to
    return total


@njit(cache=True, nogil=True)
def cheapest_below(cost, worth, need, group, limits, known, top, states, chosen):
    """The cheapest set that costs less than ``top``, or top where there is none; and whether all of them were seen.

    Item by item, each partial set with it and without it; dropped where a completion at some price of evidence says
    that it gets no cheaper than top, and where another with the same counts has more evidence and costs less. Where
    more than ``states`` are left, the least completion is the bound.

    cost, worth (items,): of single labels, those of a group next to each other; need: evidence; group (items,) int;
    known: prices of evidence (k,), the first one 0, and completions at each of them (k, items + 1, cells); chosen
    (items,) bool: filled with that set; -> (float, whether all were seen, whether chosen is filled).
    """
    prices, tables = known
    n, rounding = cost.size, EVIDENCE_ROUNDING * max(1.0, need)
    left, spent, cell = np.empty(states + 1), np.empty(states + 1), np.zeros(states + 1, np.int64)
    new_left, new_spent = np.empty(2 * states + 2), np.empty(2 * states + 2)
    new_cell = np.zeros(2 * states + 2, np.int64)
    cheapest = np.empty(limits.cells)
    # each partial set's number in the list before, twice, and whether it has the item; lists lie one behind another
    came, begin = np.empty(TRAIL, np.int32), np.zeros(n + 1, np.int64)
    last = End(-1, 0, False, 0)
    left[0], spent[0], size = need, 0.0, 1
    for k in range(n):
        g, ends = group[k], k == n - 1 or group[k + 1] != group[k]
        cheapest[:] = np.inf
        out, a, b, ahead_least = 0, 0, 0, np.inf
        while a < size or b < size:
            # both lists ascend in what is left: the old one, and the same one with this item
            taken = a >= size or (b < size and left[b] - worth[k] <= left[a])
            if taken:
                at, b = b, b + 1
                rest, paid = left[at] - worth[k], spent[at] + cost[k]
            else:
                at, a = a, a + 1
                rest, paid = left[at], spent[at]
            here = _after(cell[at], taken, g, ends, limits)
            if here < 0:
                continue
            if rest <= rounding:  # the first table is that of no price: it completes such a set exactly
                if paid + tables[0, k + 1, here] < top:
                    top, last = paid + tables[0, k + 1, here], End(k, at, taken, here)
                continue
            if paid >= cheapest[here]:
                continue
            ahead = -np.inf
            for p in range(prices.size):
                ahead = max(ahead, paid + prices[p] * rest + tables[p, k + 1, here])
            if ahead >= top:
                continue
            cheapest[here] = paid
            ahead_least = min(ahead_least, ahead)
            new_left[out], new_spent[out], new_cell[out] = rest, paid, here
            if begin[k] + out < TRAIL:
                came[begin[k] + out] = 2 * at + taken
            out += 1
        if out > states:
            return min(top, ahead_least), False, False
        for at in range(out):
            left[at], spent[at], cell[at] = new_left[at], new_spent[at], new_cell[at]
        size, begin[k + 1] = out, begin[k] + out
        if not size:
            break
    if last.item < 0 or begin[last.item] > TRAIL:
        return top, True, False
    _trace(cost, group, limits, tables[0], came, begin, last, chosen)
    return top, True, True


@njit(cache=True, nogil=True)
def _trace(cost, group, limits, rest, came, begin, last, chosen):
    """The set that ended there: back to the first item by the trail, on to the last one by the completions."""
    at, chosen[last.item] = last.at, last.taken
    for k in range(last.item - 1, -1, -1):
        step = came[begin[k] + at]
        at, chosen[k] = step // 2, step % 2
    cell, n = last.cell, cost.size
    for k in range(last.item + 1, n):
        ends = k == n - 1 or group[k + 1] != group[k]
        without, having = _after(cell, False, group[k], ends, limits), _after(cell, True, group[k], ends, limits)
        value = rest[k + 1, without] if without >= 0 else np.inf
        chosen[k] = having >= 0 and rest[k + 1, having] + cost[k] < value
        cell = having if chosen[k] else without


@njit(cache=True, nogil=True)
def cheapest_bounds(kind, row, need, starts, barred, worth, price, close, states, value):
    """``value[i] = min sum_j p_ij y_j  s.t.  sum_j q_ij y_j >= need_i``, from below.

    Partial sets go through the workers by ratio, both with and without each; of two the one that is dearer and has
    less evidence is dropped, and one whose completion, with a last worker in part, is no better than the best set.

    kind, row, need (tasks,) int, int, float: type, row of prices and C of each task; starts (tasks + 1,) int: task i's
    own are ``barred[starts[i]]`` to the one before ``barred[starts[i + 1]]``; barred (k,) int: workers left out of each
    task: those it may not have, and those it must, whom the caller counts; worth (types, workers): q; price (rows,
    workers): p; close: relative; by how much the bound may be below the minimum anyway; states: partial sets that are
    followed; beyond, the least completion is the bound; value (tasks,), written: the bounds.
    """
    m = price.shape[1]
    skip = np.zeros(m, np.bool_)
    for i in range(row.size):
        for t in range(starts[i], starts[i + 1]):
            skip[barred[t]] = True
        quality, paid = worth[kind[i]], price[row[i]]
        base, lack, n = 0.0, need[i], 0
        for j in range(m):
            if not skip[j]:
                if paid[j] <= 0:
                    base += paid[j]
                    lack -= quality[j]
                elif quality[j] > 0:
                    n += 1
        if lack > EVIDENCE_ROUNDING:
            some, k = np.empty(n, np.int64), 0
            for j in range(m):
                if not skip[j] and paid[j] > 0 and quality[j] > 0:
                    some[k], k = j, k + 1
            some = some[np.argsort(paid[some] / quality[some])]
            value[i] = base + _cheapest(paid[some], quality[some], lack, close, states)
        else:
            value[i] = base
        for t in range(starts[i], starts[i + 1]):
            skip[barred[t]] = False


@njit(cache=True, nogil=True)
def _cheapest(price, quality, need, close, states):
    """A lower bound on the minimum."""
    n = price.size
    sums, paid = np.zeros(n + 1), np.zeros(n + 1)
    for k in range(n):
        sums[k + 1], paid[k + 1] = sums[k] + quality[k], paid[k] + price[k]
    if sums[n] < need - EVIDENCE_ROUNDING:
        return np.inf
    last = min(n - 1, np.searchsorted(sums[1:], need - EVIDENCE_ROUNDING))
    rate = price[last] / quality[last]
    linear = paid[last] + rate * max(0.0, need - sums[last])
    best = paid[last + 1]
    left, spent = np.empty(2 * states + 2), np.empty(2 * states + 2)
    other, dear = np.empty(2 * states + 2), np.empty(2 * states + 2)
    left[0], spent[0], size = need, 0.0, 1
    for k in range(n):
        if best - linear <= close * best:
            return linear
        found, a, b, cheapest = 0, 0, 0, np.inf
        while a < size or b < size:  # both lists ascend in what is left, so their union does
            if b < size and (a >= size or left[b] - quality[k] <= left[a]):
                rest, cost, b = left[b] - quality[k], spent[b] + price[k], b + 1
            else:
                rest, cost, a = left[a], spent[a], a + 1
            if rest <= EVIDENCE_ROUNDING:
                best = min(best, cost)
                continue
            if cost >= cheapest:
                continue
            at = np.searchsorted(sums, sums[k + 1] + rest - EVIDENCE_ROUNDING)
            if at > n:
                continue
            at = max(at, k + 2)
            whole = cost + paid[at] - paid[k + 1]
            best = min(best, whole)
            part = rest - (sums[at - 1] - sums[k + 1])
            if whole - price[at - 1] + price[at - 1] * part / quality[at - 1] >= best * (1 - close):
                continue
            cheapest = cost
            other[found], dear[found], found = rest, cost, found + 1
        left, other, spent, dear, size = other, left, dear, spent, found
        if size == 0:
            break
        if size > states:
            ahead = _least(left, spent, size, k, sums, paid, price, quality)
            return max(linear, min(ahead, best * (1 - close)))
    return max(linear, best * (1 - close))


@njit(cache=True, nogil=True)
def _least(left, spent, size, k, sums, paid, price, quality):
    """The least completion of partial sets, a last worker in part."""
    least = np.inf
    for s in range(size):
        at = np.searchsorted(sums, sums[k + 1] + left[s] - EVIDENCE_ROUNDING)
        if at < sums.size:
            at = max(at, k + 2)
            part = left[s] - (sums[at - 1] - sums[k + 1])
            least = min(least, spent[s] + paid[at - 1] - paid[k + 1] + price[at - 1] * part / quality[at - 1])
    return least

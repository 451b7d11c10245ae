"""Compiled search for a task's cheapest set within limits on labels: partial sets together, one dropped for another."""

from __future__ import annotations

import numpy as np

from crowdopt.compiled_kernels import njit

HAIR = 1e-12  # evidence, relative to the need above 1; rounding in a sum of labels
CUTS = 40  # prices of evidence that are tried, at most


@njit(cache=True, nogil=True)
def _step(state, count, wide, full_group, full):
    """The cell after one label more: its group's labels, and all, counted up to where they say nothing more."""
    own, every = state // wide, state % wide
    return min(own + 1, full_group[count]) * wide + min(every + 1, full)


@njit(cache=True, nogil=True)
def _open(state, count, wide, full_group, full, most_group, most):
    """Whether there is room for one label more."""
    own, every = state // wide, state % wide
    group_full = most_group[count] >= 0 and own >= most_group[count]
    return not group_full and not (most >= 0 and every >= most)


@njit(cache=True, nogil=True)
def completions(cost, worth, group, least_group, most_group, least, most, full_group, full, cells):
    """``rest[k, cell]``: what items k and after cost at least, counts kept; ``gives``: the evidence of those.

    A cell says how many labels of the item's group, and how many in all, there are already. Beyond a group's last item
    its labels are held against its fewest, and the next group starts from none. A most below 0 is none.

    cost, worth (items,): of single labels, those of a group next to each other; group (items,) int; least_group,
    most_group (groups,) int: labels of each group; a most below 0 is none; least, most: labels in all; full_group, full
    (groups,) int, int: counts of labels beyond which one more says nothing; cells: pairs of counts told apart; -> two
    (items + 1, cells) arrays.
    """
    n, wide = cost.size, full + 1
    rest, gives = np.full((n + 1, cells), np.inf), np.zeros((n + 1, cells))
    for every in range(least, wide):
        rest[n, every] = 0.0
    for k in range(n - 1, -1, -1):
        ends = k == n - 1 or group[k + 1] != group[k]
        for cell in range((full_group[group[k]] + 1) * wide):
            for taken in range(2):
                if taken and not _open(cell, group[k], wide, full_group, full, most_group, most):
                    continue
                after = _step(cell, group[k], wide, full_group, full) if taken else cell
                if ends:
                    if after // wide < least_group[group[k]]:
                        continue
                    after %= wide
                value = rest[k + 1, after] + (cost[k] if taken else 0.0)
                if value < rest[k, cell]:
                    rest[k, cell] = value
                    gives[k, cell] = gives[k + 1, after] + (worth[k] if taken else 0.0)
    return rest, gives


@njit(cache=True, nogil=True)
def evidence_price(cost, worth, need, group, least_group, most_group, least, most, full_group, full, cells):
    """``max_x x need + min over sets within the limits of sum (cost - x worth)``: x, the bound, a set's cost above it.

    By lines: the sets of two prices, one short of the need and one not, name the price at which they are alike. All
    three are infinite where no set meets the need.

    cost, worth (items,): of single labels, those of a group next to each other; need: evidence; group (items,) int;
    least_group, most_group (groups,) int: labels of each group; a most below 0 is none; least, most: labels in all;
    full_group, full (groups,) int, int: counts of labels beyond which one more says nothing; cells: pairs of counts
    told apart.
    """
    limits = group, least_group, most_group, least, most, full_group, full, cells
    hair = HAIR * max(1.0, need)
    rest, gives = completions(-worth, worth, *limits)
    if rest[0, 0] == np.inf or gives[0, 0] < need - hair:
        return np.inf, np.inf, np.inf
    many = gives[0, 0]
    dear = _cost_of(cost, worth, rest, limits)
    rest, gives = completions(cost, worth, *limits)
    low, high, best = rest[0, 0], dear, rest[0, 0]
    few, price = gives[0, 0], 0.0
    if few >= need - hair:
        return 0.0, low, low
    for _ in range(CUTS):
        if many <= few:
            break
        x = (high - low) / (many - few)
        rest, gives = completions(cost - x * worth, worth, *limits)
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
def _cost_of(cost, worth, rest, limits):
    """What the set of the most evidence costs, by going through its table."""
    group, least_group, most_group, _, most, full_group, full, _ = limits
    n, wide, cell, total = cost.size, full + 1, 0, 0.0
    for k in range(n):
        ends = k == n - 1 or group[k + 1] != group[k]
        best, choice, to = np.inf, 0, 0
        for taken in range(2):
            if taken and not _open(cell, group[k], wide, full_group, full, most_group, most):
                continue
            after = _step(cell, group[k], wide, full_group, full) if taken else cell
            if ends:
                if after // wide < least_group[group[k]]:
                    continue
                after %= wide
            value = rest[k + 1, after] - (worth[k] if taken else 0.0)
            if value < best:
                best, choice, to = value, taken, after
        total += cost[k] * choice
        cell = to
    return total


@njit(cache=True, nogil=True)
def cheapest_below(
    cost, worth, need, group, least_group, most_group, least, most, full_group, full, cells, prices, tables, top, states
):
    """The cheapest set that costs less than ``top``, or top where there is none; and whether all of them were seen.

    Item by item, each partial set with it and without it; dropped where a completion at some price of evidence says
    that it gets no cheaper than top, and where another with the same counts has more evidence and costs less. Where
    more than ``states`` are left, the least completion is the bound.

    cost, worth (items,): of single labels, those of a group next to each other; need: evidence; group (items,) int;
    least_group, most_group (groups,) int: labels of each group; a most below 0 is none; least, most: labels in all;
    full_group, full (groups,) int, int: counts of labels beyond which one more says nothing; cells: pairs of counts
    told apart; prices (k,): of evidence, the first one 0; tables (k, items + 1, cells): completions at each price;
    -> (float, bool).
    """
    n, wide, hair = cost.size, full + 1, HAIR * max(1.0, need)
    left, spent, cell = np.empty(states + 1), np.empty(states + 1), np.zeros(states + 1, np.int64)
    new_left, new_spent = np.empty(2 * states + 2), np.empty(2 * states + 2)
    new_cell = np.zeros(2 * states + 2, np.int64)
    cheapest = np.empty(cells)
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
                if not _open(cell[at], g, wide, full_group, full, most_group, most):
                    continue
                here, rest, paid = _step(cell[at], g, wide, full_group, full), left[at] - worth[k], spent[at] + cost[k]
            else:
                at, a = a, a + 1
                here, rest, paid = cell[at], left[at], spent[at]
            if ends:
                if here // wide < least_group[g]:
                    continue
                here %= wide
            if rest <= hair:  # the first table is that of no price: it completes such a set exactly
                top = min(top, paid + tables[0, k + 1, here])
                continue
            if paid >= cheapest[here]:
                continue
            ahead = 0.0
            for p in range(prices.size):
                value = paid + prices[p] * rest + tables[p, k + 1, here]
                ahead = value if p == 0 else max(ahead, value)
            if ahead >= top:
                continue
            cheapest[here] = paid
            ahead_least = min(ahead_least, ahead)
            new_left[out], new_spent[out], new_cell[out] = rest, paid, here
            out += 1
        if out > states:
            return min(top, ahead_least), False
        for at in range(out):
            left[at], spent[at], cell[at] = new_left[at], new_spent[at], new_cell[at]
        size = out
        if not size:
            break
    return top, True

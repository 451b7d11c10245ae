"""Every kind of task priced at given prices of labels: a bound on its cheapest set, and sets; compiled loops.

``v_k = min sum_{j in S} p_j`` over sets S of the row's labels with the kind's evidence that keep the row's limits. Rows
without limits are minimum knapsacks (least_set); where labels are counted, a table of completions knows what groups
and numbers of labels still ask for (completion_kernels). Both give a lower bound whatever the effort.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.assign.completion_kernels import ANY, SPARE, cheapest, completions, through_each
from crowdopt.assign.least_set import HAIR, least_set, new_desk, no_rests, rank, rests_of
from crowdopt.kernels import njit


class Effort(NamedTuple):
    """How hard kinds are looked at."""

    nodes: int  # of a search
    quick: int  # the same, before a table is made for one kind alone
    kinds: int  # of a row, from which a table serves all of them
    least_cells: int  # of evidence in a table of completions
    most_cells: int
    counted: int  # labels up to which a most is counted in the table; more are only counted in the search
    searched: int  # kinds of a row up to which completions prove what a search has left open
    kept: int  # sets of a search
    for_each: int  # sets through other workers for a kind, about
    close: float  # how far a bound may stay below its set, relatively
    numbers: int  # in the tables of completions of all rows together
    through: int  # sets through other workers, of all kinds of a row together
    turn: int  # of which kinds, by turns
    varied: int  # sets at prices that chance moves, for kinds whose row has few
    spread: float  # how far it moves them, relatively
    slack: float  # of a kind's price: sets that much dearer than the cheapest are of interest
    hair: float  # of a price: what rounding hides
    rung: np.ndarray  # (1,) bool: whether time is up; what is not priced then is of no use


class Found(NamedTuple):
    """What a sweep brings; written."""

    value: np.ndarray  # (K,): bounds
    cost: np.ndarray  # (K,): prices of the cheapest sets found; infinite: none
    rate: np.ndarray  # (K,): prices of evidence in the linear programs of rows without limits


@njit(cache=True, nogil=True)
def _more(array, size):
    """Twice the room, so many entries kept."""
    larger = np.empty(max(64, 2 * array.size), array.dtype)
    for k in range(size):
        larger[k] = array[k]
    return larger


@njit(cache=True, nogil=True, inline="always")
def _items(r, rows, price, room, needs, dear, which, kinds, slack, hair, item):
    """Labels of a row that some set of interest may have, class after class; their number. item, written: the classes.

    price (G,); room (G,): labels that classes have left; needs, dear (k,): evidence of kinds, and what sets of interest
    cost at most.
    """
    t, worth = rows.type[r], rows.worth[rows.type[r]]
    g_count, low, top, group = price.size, rows.low[r], rows.top[r], rows.group
    copies = np.zeros(g_count, np.int64)
    most_need = 0.0
    for k in range(needs.size):
        most_need = max(most_need, needs[k])
    for g in range(g_count):
        use = min(min(rows.size[g], room[g]), min(top[group[g]], rows.most[r]))
        if use > 0 and price[g] > 0:
            useful = 0
            if worth[g] > 0 and most_need > 0:
                useful = int(min(1e9, np.ceil(most_need / worth[g])))
            useful = max(useful, max(rows.fewest[r], low[group[g]]))
            for h in range(rows.member.shape[0]):
                if rows.member[h, g]:
                    useful = max(useful, rows.low_beside[r, h])
            use = min(use, useful)
        copies[g] = max(0, use)
    for s in range(rows.shut_at[r], rows.shut_at[r + 1]):
        copies[rows.shut[s]] = min(copies[rows.shut[s]], rows.shut_left[s])
    _bound_dear(r, rows, price, copies, needs, dear, which, kinds, slack, hair)
    _drop_dear(price, worth, copies, needs, dear, hair)
    n = 0
    for g in range(g_count):
        for _ in range(copies[g]):
            if n == item.size:
                item = _more(item, n)
            item[n] = g
            n += 1
    return t, n, item


@njit(cache=True, nogil=True, inline="always")
def _drop_dear(price, worth, copies, needs, dear, hair):
    """No copies of labels that are in no set as cheap as those of interest: the linear program of each kind says so."""
    for k in range(dear.size):
        if dear[k] == np.inf:
            return
    g_count = price.size
    able = np.empty(g_count, np.int64)
    ratio = np.empty(g_count)
    base, lifted, n = 0.0, 0.0, 0
    for g in range(g_count):
        if copies[g] > 0 and price[g] <= 0:
            base += copies[g] * price[g]
            lifted += copies[g] * worth[g]
        elif copies[g] > 0 and worth[g] > 0:
            able[n], ratio[n], n = g, price[g] / worth[g], n + 1
    ladder = _ladder(able, ratio, n, price, worth, copies)
    gain = np.full(g_count, -np.inf)  # how far above its linear program a set with the label may be
    for k in range(needs.size):
        left = needs[k] - lifted
        value, rate = _relaxed(left, ladder)
        if rate == np.inf:
            continue
        value += base
        for g in range(g_count):
            gain[g] = max(gain[g], dear[k] - value + rate * worth[g])
    for g in range(g_count):
        if price[g] > gain[g] + hair:
            copies[g] = 0


@njit(cache=True, nogil=True)
def _ranked(r, rows, price, copies, by_worth):
    """Classes that have copies, by ratio of price to evidence, or the most evidence first."""
    worth, n = rows.worth[rows.type[r]], 0
    key, able = np.empty(price.size), np.empty(price.size, np.int64)
    for g in range(price.size):
        if copies[g] > 0:
            ratio = -1e200 if price[g] <= 0 else (price[g] / worth[g] if worth[g] > 0 else 1e200)
            key[n], able[n], n = -worth[g] if by_worth else ratio, g, n + 1
    return able[:n][np.argsort(key[:n])]


@njit(cache=True, nogil=True)
def _allowed(g, r, rows, inside, beside, only_low):
    """Whether groups let one more label of class g join, or, with ``only_low``, ask for it."""
    a = rows.group[g]
    asked = inside[a] < rows.low[r, a]
    if inside[a] >= rows.top[r, a]:
        return False
    for h in range(beside.size):
        if rows.member[h, g]:
            asked |= beside[h] < rows.low_beside[r, h]
            if beside[h] >= rows.top_beside[r, h]:
                return False
    return asked or not only_low


@njit(cache=True, nogil=True)
def _greedy(r, rows, price, copies, order, need, taken):
    """What the set costs that takes what groups ask for and then the first labels of an order; infinite: none.

    taken (G,): written, its labels.
    """
    worth = rows.worth[rows.type[r]]
    taken[:] = 0
    inside, beside = np.zeros(rows.low.shape[1], np.int64), np.zeros(rows.member.shape[0], np.int64)
    have, paid, labels = 0.0, 0.0, 0
    asks = rows.low[r].max() > 0
    for h in range(beside.size):
        asks |= rows.low_beside[r, h] > 0
    for only_low in (True, False):
        if only_low and not asks:
            continue
        for z in range(order.size):
            g = order[z]
            if not only_low and have >= need - HAIR and labels >= rows.fewest[r]:
                break
            while taken[g] < copies[g] and labels < rows.most[r]:
                if not only_low and have >= need - HAIR and labels >= rows.fewest[r]:
                    break
                if not _allowed(g, r, rows, inside, beside, only_low):
                    break
                taken[g] += 1
                labels += 1
                have += worth[g]
                paid += price[g]
                inside[rows.group[g]] += 1
                for h in range(beside.size):
                    beside[h] += rows.member[h, g]
    short = have < need - HAIR or labels < rows.fewest[r]
    for a in range(inside.size):
        short |= inside[a] < rows.low[r, a]
    for h in range(beside.size):
        short |= beside[h] < rows.low_beside[r, h]
    return np.inf if short else paid


@njit(cache=True, nogil=True)
def _spare(k, kinds, copies, spare):
    """Copies of each class that a kind may have, written to ``spare``."""
    for g in range(copies.size):
        spare[g] = copies[g]
    for b in range(kinds.bar_at[k], kinds.bar_at[k + 1]):
        spare[kinds.bar[b]] = min(spare[kinds.bar[b]], kinds.bar_left[b])


@njit(cache=True, nogil=True)
def _shut(k, kinds, item, shut):
    """Which items a kind may not have, written: classes stand together."""
    for j in range(item.size):
        shut[j] = False
    for b in range(kinds.bar_at[k], kinds.bar_at[k + 1]):
        seen = 0
        for j in range(item.size):
            if item[j] == kinds.bar[b]:
                seen += 1
                shut[j] = seen > kinds.bar_left[b]


@njit(cache=True, nogil=True, inline="always")
def _bound_dear(r, rows, price, copies, needs, dear, which, kinds, slack, hair):
    """What sets of interest cost at most, of kinds for which no set is known: by a greedy one."""
    unknown = False
    for k in range(needs.size):
        unknown |= dear[k] == np.inf
    if not unknown:
        return
    first, spare, taken = _ranked(r, rows, price, copies, False), copies.copy(), copies.copy()
    second = first if rows.free[r] else _ranked(r, rows, price, copies, True)
    for z in range(needs.size):
        if dear[z] < np.inf:
            continue
        k = which[z]
        _spare(k, kinds, copies, spare)
        cost = _greedy(r, rows, price, spare, first, needs[z], taken)
        if cost == np.inf and not rows.free[r]:
            cost = _greedy(r, rows, price, spare, second, needs[z], taken)
        dear[z] = cost + slack * abs(cost) + hair


@njit(cache=True, nogil=True)
def _ladder(able, ratio, n, price, worth, copies):
    """Evidence and price of the first classes by ratio, all copies, summed up (n + 1,), and their ratios (n,)."""
    order = np.argsort(ratio[:n])
    have, paid, rate = np.zeros(n + 1), np.zeros(n + 1), np.empty(n)
    for z in range(n):
        g = able[order[z]]
        have[z + 1], paid[z + 1] = have[z] + copies[g] * worth[g], paid[z] + copies[g] * price[g]
        rate[z] = ratio[order[z]]
    return have, paid, rate


@njit(cache=True, nogil=True)
def _relaxed(need, ladder):
    """What evidence costs in shares of labels, and its rate: the ratio of the last one needed."""
    have, paid, rate = ladder
    if need <= HAIR:
        return 0.0, 0.0
    if have[-1] < need - HAIR:
        return 0.0, np.inf
    low, high = 0, rate.size  # the first ``low`` classes are too little, the first ``high`` enough, but for a hair
    while high - low > 1:
        middle = (low + high) // 2
        if have[middle] < need:
            low = middle
        else:
            high = middle
    return paid[low] + rate[low] * (need - have[low]), rate[low]


@njit(cache=True, nogil=True)
def sweep_rows(begin, end, rows, kinds, price, room, known, effort, found, cuts):
    """Price the kinds of rows begin, ..., end - 1; -> labels of sets, where each ends, and the kind of each.

    price (T, G); room (G,): labels that classes have left; known (K,): what a set of each kind is known to cost at
    these prices; infinite where none is; found: a Found; cuts (K,) bool: kinds that are priced.
    """
    label, ends, of = np.empty(1024, np.int64), np.empty(256, np.int64), np.empty(256, np.int64)
    size = labels = 0
    item = np.empty(64, np.int64)
    for r in range(begin, end):
        first, last = kinds.at[r], kinds.at[r + 1]
        some = 0
        for k in range(first, last):
            some += cuts[k]
        if some == 0 or effort.rung[0]:
            continue
        needs, dear, which = np.empty(some), np.empty(some), np.empty(some, np.int64)
        some = 0
        for k in range(first, last):
            if cuts[k]:
                needs[some], which[some] = kinds.need[k], k
                barred = kinds.bar_at[k] < kinds.bar_at[k + 1]
                dear[some] = np.inf if barred else known[k] + effort.slack * abs(known[k]) + effort.hair
                some += 1
        cost = price[rows.type[r]]
        t, n, item = _items(r, rows, cost, room, needs, dear, which, kinds, effort.slack, effort.hair, item)
        mine = item[:n].copy()
        if rows.free[r]:
            chosen, sizes = _swept_free(r, mine, rows, price[t], needs, which, kinds, effort, found)
        else:
            chosen, sizes = _swept_limited(r, mine, rows, price[t], needs, which, kinds, effort, found)
        for s in range(sizes.shape[0]):
            if sizes[s, 1] < 0:
                continue
            while labels + sizes[s, 1] > label.size:
                label = _more(label, labels)
            if size == ends.size:
                ends, of = _more(ends, size), _more(of, size)
            for e in range(sizes[s, 1]):
                label[labels + e] = mine[chosen[sizes[s, 2] + e]]
            labels += sizes[s, 1]
            ends[size], of[size] = labels, sizes[s, 0]
            size += 1
    return label[:labels].copy(), ends[:size].copy(), of[:size].copy()


@njit(cache=True, nogil=True)
def _moved(price, x, spread, moved):
    """Prices that chance moves by a part of themselves, written; x: chance, by xorshift; -> the next one."""
    for j in range(price.size):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        moved[j] = price[j] * (1.0 + spread * (np.int64(x >> np.uint64(12)) * 2.0**-52 - 0.5))
    return x


@njit(cache=True, nogil=True)
def _noted(k, desk, forced, chosen, used, sizes, at):
    """The set on a desk, and the labels that are had anyhow, written down at a place."""
    count = desk.labels[0]
    sizes[at, 0], sizes[at, 2] = k, used
    while used + count + forced.size > chosen.size:
        chosen = _more(chosen, used)
    for e in range(count):
        chosen[used], used = desk.found[e], used + 1
    for j in forced:
        if not desk.skip[j]:
            chosen[used], used = j, used + 1
    sizes[at, 1] = used - sizes[at, 2]
    return used, chosen


@njit(cache=True, nogil=True, inline="always")
def _swept_free(r, item, rows, price_of, needs, which, kinds, effort, found):
    """Minimum knapsacks: one set for each kind; -> items of sets; of each: its kind, how many, where they begin."""
    n, some = item.size, needs.size
    price, worth = price_of[item], rows.worth[rows.type[r]][item]
    order, ratio, desk = np.empty(n, np.int64), np.empty(n), new_desk(n)
    order_v = np.empty(n, np.int64)
    forced, base, lifted = np.empty(n, np.int64), 0.0, 0.0
    many = 0
    for j in range(n):
        if price[j] <= 0:
            forced[many], many = j, many + 1
            base += price[j]
            lifted += worth[j]
    ranked = rank(price, worth, order, ratio)
    rests, most = no_rests(), 0.0
    for k in range(some):
        most = max(most, needs[k] - lifted)
    tabled = some >= effort.kinds and most > HAIR
    if tabled:
        rests = rests_of(ranked, order, price, worth, most)
    varied = effort.varied if some < effort.kinds and effort.through == 0 else 0
    sizes, used = np.full((some * (2 + varied) + effort.through, 3), -1), 0
    chosen, moved = np.empty(64 * some, np.int64), np.empty(n)
    for z in range(some):
        k = which[z]
        below, need = base, needs[z] - lifted
        _shut(k, kinds, item, desk.skip)
        for e in range(many):
            if desk.skip[forced[e]]:
                below -= price[forced[e]]
                need += worth[forced[e]]
        first = effort.nodes if tabled else min(effort.nodes, effort.quick)
        bound, cost = least_set(ranked, order, price, worth, need, effort.close, first, rests, desk)
        if first < effort.nodes and cost < np.inf and cost - bound > 2 * effort.close * cost:
            own = rests_of(ranked, order, price, worth, need)
            bound, cost = least_set(ranked, order, price, worth, need, effort.close, effort.nodes, own, desk)
        found.value[k], found.cost[k], found.rate[k] = below + bound, below + cost, desk.rate[0]
        if cost < np.inf:
            used, chosen = _noted(k, desk, forced[:many], chosen, used, sizes, z)
        x = np.uint64(88172645463325252 + 7919 * k + 104729 * effort.turn)
        for v in range(varied if cost < np.inf else 0):
            x = _moved(price, x, effort.spread, moved)
            ranked_v = rank(moved, worth, order_v, ratio)
            least_set(ranked_v, order_v, moved, worth, need, 1.0, 0, no_rests(), desk)
            used, chosen = _noted(k, desk, forced[:many], chosen, used, sizes, some + z * varied + v)
    if effort.through > 0 and n > 0:
        table = _completed(r, item, rows, price_of, needs, effort)
        left, written = np.zeros(some, np.bool_), some
        for z in range(some if some <= effort.searched else 0):
            k = which[z]
            gap = found.cost[k] - found.value[k]
            left[z] = found.cost[k] < np.inf and gap > 4 * effort.close * abs(found.cost[k])
        chosen, used, written = _searched(
            r, item, rows, needs, which, kinds, left, effort, found, table, chosen, used, sizes, written, 1
        )
        chosen = _through(r, item, rows, needs, which, effort, found, table, chosen, used, sizes, written)
    return chosen, sizes


@njit(cache=True, nogil=True)
def _searched(r, item, rows, needs, which, kinds, left, effort, found, table, chosen, used, sizes, written, keep):
    """Completions for the kinds that are ``left``: better bounds, and some sets of each, written down."""
    place, task, rest, beside = table
    last = beside[0].shape[0] - 1  # who is barred
    apart = beside[0][last:], np.zeros(1, np.int64), np.zeros(1, np.int64)
    sets, lengths = np.empty((keep, item.size + 1), np.int64), np.empty(keep, np.int64)
    others, other_lengths = np.empty((1, item.size + 1), np.int64), np.empty(1, np.int64)
    steps, placed = effort.nodes + 4 * item.size, item[place]
    for z in range(needs.size):
        k = which[z]
        if not left[z] or effort.rung[0]:
            continue
        _shut(k, kinds, placed, beside[0][last])
        bound, cost = cheapest(task, rest, needs[z], rows.most[r], beside, (steps, effort.close), sets, lengths)
        if not rows.proven and last > 0:
            bound, _ = cheapest(task, rest, needs[z], rows.most[r], apart, (steps, effort.close), others, other_lengths)
        found.value[k], found.cost[k] = max(found.value[k], bound), min(found.cost[k], cost)
        used, written, chosen = _written(sets, lengths, k, place, chosen, used, sizes, written)
    for j in range(item.size):
        beside[0][last, j] = False
    return chosen, used, written


@njit(cache=True, nogil=True)
def _in_order(item, price, worth, group):
    """Places of items, group after group, and in each the best ratio first, those of a class together."""
    ratio = np.empty(item.size)
    for j in range(item.size):
        ratio[j] = -1e300 if price[j] <= 0 else (price[j] / worth[j] if worth[j] > 0 else 1e300)
    order = np.argsort(ratio, kind="mergesort")
    return order[np.argsort(group[item[order]], kind="mergesort")]


@njit(cache=True, nogil=True)
def _completed(r, item, rows, price_of, needs, effort):
    """The table of completions of a row's items; places of items in its order, and what searches ask for."""
    n, t = item.size, rows.type[r]
    place = _in_order(item, price_of[item], rows.worth[t][item], rows.group)
    who = item[place]
    price, worth, group = price_of[who], rows.worth[t][who], rows.group[who]
    after = np.empty(n, np.int64)
    for j in range(n - 1, -1, -1):
        after[j] = after[j + 1] if j + 1 < n and who[j + 1] == who[j] else j + 1
    low, top, most = rows.low[r], rows.top[r], rows.most[r]
    inside, own, need = np.zeros(low.size, np.int64), 0, 0.0
    for j in range(n):
        inside[group[j]] += 1
    for a in range(low.size):
        own = max(own, min(inside[a], top[a] if top[a] < ANY else low[a]))
    for k in range(needs.size):
        need = max(need, needs[k])
    exact = most <= effort.counted
    fewest_here, least_need, best = rows.fewest[r], np.inf, np.sort(worth)[::-1]
    for k in range(needs.size):
        least_need = min(least_need, needs[k])
    if best[: max(0, fewest_here - 1)].sum() < least_need - HAIR:
        fewest_here = 0  # the need alone asks for as many
    counted = most if exact else fewest_here
    rows_here = (n + 1) * (own + 1) * (counted + 1)
    cells = min(effort.most_cells, max(effort.least_cells, effort.numbers // rows_here))
    unit = max(need, 1e-9) / cells
    width = np.empty(n, np.int64)
    for j in range(n):
        width[j] = min(int(np.ceil(worth[j] / unit - 1e-9)), cells + SPARE)
    rest = np.empty((n + 1, own + 1, counted + 1, cells + SPARE + 1))
    completions((price, width, group, after), (low, top), fewest_here, exact, rest)
    task = (price, worth, group, after), (low, top), unit, exact
    others = rows.member.shape[0]
    member = np.zeros((others + 1, n), np.bool_)
    fewest, tops = np.zeros(others + 1, np.int64), np.zeros(others + 1, np.int64)
    for h in range(others):
        fewest[h], tops[h] = rows.low_beside[r, h], rows.top_beside[r, h]
        for j in range(n):
            member[h, j] = rows.member[h, who[j]]
    beside = member, fewest, tops  # the last one, of no label, is of who is barred
    return place, task, rest, beside


@njit(cache=True, nogil=True, inline="always")
def _is_able(r, item, rows):
    """Whether there are workers of each group that a task needs labels of."""
    inside = np.zeros(rows.low.shape[1], np.int64)
    for j in range(item.size):
        inside[rows.group[item[j]]] += 1
    lacks = 0
    for a in range(inside.size):
        lacks += inside[a] < rows.low[r, a]
    return lacks == 0


@njit(cache=True, nogil=True, inline="always")
def _swept_limited(r, item, rows, price_of, needs, which, kinds, effort, found):
    """Completions: some sets for each kind, and sets through other workers; -> as :func:`_swept_free`."""
    n, some = item.size, needs.size
    large = (n + 1) * (int(rows.low[r].max()) + 2) * (rows.fewest[r] + 1) * effort.least_cells > effort.numbers
    varied = effort.varied if some < effort.kinds else 0
    if effort.through > 0 and large:
        varied = max(1, effort.through // some)
    extra = max(effort.through, varied * some)
    sizes, chosen = np.full((some * (effort.kept + 1) + extra, 3), -1), np.empty(64 * some, np.int64)
    able, used, written = _is_able(r, item, rows), 0, 0
    if not able or n == 0:
        for z in range(some):
            empty = able and needs[z] <= HAIR and rows.fewest[r] == 0
            found.value[which[z]] = found.cost[which[z]] = 0.0 if empty else np.inf
            if empty:
                sizes[z, 0], sizes[z, 1], sizes[z, 2] = which[z], 0, 0
        return chosen, sizes
    closed, used, written, chosen = _closed(r, item, rows, price_of, needs, which, kinds, effort, found, chosen, sizes)
    if varied > 0 and n > 0:
        known = which, kinds, effort, found
        used, written, chosen = _varied(r, item, rows, price_of, needs, known, varied, chosen, used, sizes, written)
    if effort.nodes == 0 or (closed.all() and (effort.through == 0 or large)):
        return chosen, sizes
    table = _completed(r, item, rows, price_of, needs, effort)
    for z in range(some):
        if not closed[z]:
            found.value[which[z]], found.cost[which[z]], found.rate[which[z]] = -np.inf, np.inf, 0.0
    chosen, used, written = _searched(
        r, item, rows, needs, which, kinds, ~closed, effort, found, table, chosen, used, sizes, written, effort.kept
    )
    if large:
        return chosen, sizes
    return _through(r, item, rows, needs, which, effort, found, table, chosen, used, sizes, written), sizes


@njit(cache=True, nogil=True)
def _copies(item, classes):
    """How many items of each class there are, and where they begin."""
    copies, begin = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    for j in range(item.size):
        begin[item[j]] = j if copies[item[j]] == 0 else begin[item[j]]
        copies[item[j]] += 1
    return copies, begin


@njit(cache=True, nogil=True)
def _laid(taken, begin, k, chosen, used, sizes, written):
    """A set of so many labels of each class written down after those that are there."""
    size = taken.sum()
    while used + size > chosen.size:
        chosen = _more(chosen, used)
    sizes[written, 0], sizes[written, 1], sizes[written, 2] = k, size, used
    for g in range(taken.size):
        for e in range(taken[g]):
            chosen[used], used = begin[g] + e, used + 1
    return used, written + 1, chosen


@njit(cache=True, nogil=True, inline="always")
def _closed(r, item, rows, price_of, needs, which, kinds, effort, found, chosen, sizes):
    """Kinds of which a greedy set is seen to be the cheapest, without a table; its set is written down.

    A set has at least so many labels as the best ones need for its evidence, and these cost at least what the cheapest
    ones do; it costs at least what shares of labels do.
    """
    n, used, written = item.size, 0, 0
    worth_of, closed = rows.worth[rows.type[r]], np.zeros(needs.size, np.bool_)
    copies, begin = _copies(item, price_of.size)
    if price_of[item].min() <= 0:
        return closed, used, written, chosen
    able, ratio, ables = np.empty(price_of.size, np.int64), np.empty(price_of.size), 0
    for g in range(price_of.size):
        if copies[g] > 0 and worth_of[g] > 0:
            able[ables], ratio[ables], ables = g, price_of[g] / worth_of[g], ables + 1
    ladder = _ladder(able, ratio, ables, price_of, worth_of, copies)
    best, cheap = np.sort(worth_of[item])[::-1], np.sort(price_of[item])
    first, second = _ranked(r, rows, price_of, copies, False), _ranked(r, rows, price_of, copies, True)
    taken, spare = np.zeros(price_of.size, np.int64), copies.copy()
    for z in range(needs.size):
        k = which[z]
        _spare(k, kinds, copies, spare)
        cost = _greedy(r, rows, price_of, spare, second, needs[z], taken)
        other = _greedy(r, rows, price_of, spare, first, needs[z], taken)
        if cost < other:
            other = _greedy(r, rows, price_of, spare, second, needs[z], taken)
        cost = other
        if cost == np.inf:
            continue
        least, have, labels = 0.0, 0.0, 0
        while labels < n and (have < needs[z] - HAIR or labels < rows.fewest[r]):
            have += best[labels]
            least += cheap[labels]
            labels += 1
        least = max(least, _relaxed(needs[z], ladder)[0])
        if cost - least > effort.close * cost:
            continue
        closed[z] = True
        found.value[k], found.cost[k], found.rate[k] = min(least, cost), cost, 0.0
        used, written, chosen = _laid(taken, begin, k, chosen, used, sizes, written)
    return closed, used, written, chosen


@njit(cache=True, nogil=True, inline="always")
def _varied(r, item, rows, price_of, needs, known, varied, chosen, used, sizes, written):
    """Greedy sets at prices that chance moves, so many for each kind; room is kept for one set of each kind more."""
    which, kinds, effort, _ = known
    copies, begin = _copies(item, price_of.size)
    moved, taken, spare = np.empty(price_of.size), np.zeros(price_of.size, np.int64), copies.copy()
    x = np.uint64(88172645463325252 + 7919 * r + 104729 * effort.turn)
    for v in range(varied):
        x = _moved(price_of, x, effort.spread, moved)
        order = _ranked(r, rows, moved, copies, False)
        for z in range(needs.size):
            if needs.size > varied and (z + v) % (1 + needs.size // varied) > 0:
                continue  # kinds by turns, where there are many
            k = which[z]
            _spare(k, kinds, copies, spare)
            cost = _greedy(r, rows, moved, spare, order, needs[z], taken)
            if cost == np.inf or written >= sizes.shape[0] - effort.kept * needs.size:
                continue
            used, written, chosen = _laid(taken, begin, k, chosen, used, sizes, written)
    return used, written, chosen


@njit(cache=True, nogil=True)
def _through(r, item, rows, needs, which, effort, found, table, chosen, used, sizes, written):
    """Sets through other workers for some kinds of a row, taken evenly; -> the room for items of sets."""
    place, task, rest, beside = table
    (price, worth, _, after), _, _, _ = task
    n = item.size
    kinds_here = min(needs.size, max(1, effort.through // effort.for_each))
    if effort.through == 0 or n == 0:
        return chosen
    first, heads = np.empty(n, np.int64), 0
    for j in range(n):
        if j == 0 or after[j - 1] == j:
            first[heads], heads = j, heads + 1
    first = first[:heads].copy()
    for step in range(kinds_here):
        z = needs.size - 1 - (effort.turn + step * needs.size // kinds_here) % needs.size
        k = which[z]
        if found.cost[k] == np.inf:
            continue
        rate = found.cost[k] / max(needs[z], 1e-9)
        best = np.argsort(price[first] - rate * worth[first], kind="mergesort")[: effort.through // kinds_here]
        sets, lengths = np.empty((best.size, n + 1), np.int64), np.empty(best.size, np.int64)
        through_each(task, rest, needs[z], rows.most[r], beside, first[best], sets, lengths)
        used, written, chosen = _written(sets, lengths, k, place, chosen, used, sizes, written)
    return chosen


@njit(cache=True, nogil=True)
def _written(sets, lengths, k, place, chosen, used, sizes, written):
    """Sets of a kind, by the places of their items, written down after those that are there."""
    for s in range(lengths.size):
        if lengths[s] < 0:
            continue
        while used + lengths[s] > chosen.size:
            chosen = _more(chosen, used)
        sizes[written, 0], sizes[written, 1], sizes[written, 2] = k, lengths[s], used
        for e in range(lengths[s]):
            chosen[used], used = place[sets[s, e]], used + 1
        written += 1
    return used, written, chosen

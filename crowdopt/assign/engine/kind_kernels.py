"""Tasks of many kinds, one after another: compiled loops over tasks, each with the cheapest set that its vote allows.

A task is looked at in four steps, each a bound or a set: (1) with how many of the best workers it reaches its target;
so many of the cheapest labels it pays at least; (2) sets of the best workers, and of those with most evidence for their
price, less what is not needed; (3) workers of whom as many as a cheaper set can have are no dearer and no worse are
left out; (4) what evidence enough costs among the others, and the search of :mod:`crowdopt.assign.law_kernels`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.law_kernels import ANY, cheapest_vote, completions, error_of, error_with, grow, large_sets
from crowdopt.compiled_kernels import njit

CELLS = 100  # of evidence
SPARE = 1e-7  # evidence; room for rounding where it only saves work
HAIR = 1e-9  # of a price: sets are the same then
HOLDERS = 24  # tasks that are asked to give a worker up


class ManyTasks(NamedTuple):
    """Tasks that differ in their skills; what is fixed or in is counted in no other field."""

    kind: Ints  # (tasks,): rows of the next three
    accuracy: Floats  # (kinds, workers)
    evidence: Floats  # (kinds, workers)
    cost: Floats  # (1 or kinds, workers)
    prior: Floats  # (1 or tasks, classes)
    # the error allowed, and the evidence that every vote has which errs no more
    target: Floats  # (tasks,)
    need: Floats  # (tasks,)
    # limits on new labels
    fewest: Ints  # (tasks,)
    most: Ints  # (tasks,)
    # of task i from the first number to the next: workers whose labels it has, and those whose it cannot have
    known_from: Ints  # (tasks + 1,)
    known: Ints
    barred_from: Ints  # (tasks + 1,)
    barred: Ints


class LabelPrices(NamedTuple):
    """What a label costs: its price, less the worker's multiplier, and a hair that tells sets of one cost apart."""

    duals: Floats  # (workers,): at most 0
    dither: float  # at most so much more, for each pair as drawn by lot


class Hands(NamedTuple):
    """A set of workers for each task, and what room they leave."""

    sets: NDArray[np.int32]  # (tasks, labels)
    sizes: Ints  # (tasks,): -1 where none is known
    held: Bools  # (tasks,): whether the task has it, or would if there were room
    fewest: Ints  # (tasks,): labels that every set has, as far as is known
    room: Ints  # (workers,)


@njit(cache=True, nogil=True)
def _skill(tasks, i, j):
    """What a worker knows, as a chance of at least 1/K to be right."""
    p = tasks.accuracy[tasks.kind[i], j]
    return min(1 - 1e-6, max(p, 1 - p) if tasks.prior.shape[1] == 2 else p)


@njit(cache=True, nogil=True)
def _price(tasks, i, j, prices):
    """Of worker j's label for task i."""
    paid = tasks.cost[min(tasks.kind[i], tasks.cost.shape[0] - 1), j] - prices.duals[j]
    if prices.dither > 0.0:
        drawn = (i * 0x9E3779B1 + j * 0x85EBCA77) & 0x7FFFFFFF
        drawn = ((drawn ^ (drawn >> 15)) * 0x2C1B3C6D) & 0x7FFFFFFF
        drawn = ((drawn ^ (drawn >> 12)) * 0x297A2D39) & 0x7FFFFFFF
        paid += prices.dither * (drawn ^ (drawn >> 15)) / 0x7FFFFFFF
    return max(0.0, paid)


@njit(cache=True, nogil=True)
def _cost(tasks, i, prices, labels):
    paid = 0.0
    for j in labels:
        paid += _price(tasks, i, j, prices)
    return paid


@njit(cache=True, nogil=True)
def _begin(tasks, i, laws):
    """Laws before any label to be chosen: their outcomes, evidence, and labels to follow; 0 where too many are in."""
    k, classes = laws.shape[0] - 1, laws.shape[2]
    row = min(i, tasks.prior.shape[0] - 1)
    for t in range(classes):
        laws[0, 0, t, 0] = tasks.prior[row, t]
    begun, worth, skill = 1, 0.0, np.empty(1)
    for place in range(tasks.known_from[i], tasks.known_from[i + 1]):
        j = tasks.known[place]
        if tasks.evidence[tasks.kind[i], j] <= 0.0:
            continue
        k -= 1
        if k < 1:
            return 0, 0.0, 0
        skill[0] = _skill(tasks, i, j)
        grow(laws, 0, begun, skill)
        begun *= classes
        laws[0, :, :, :begun] = laws[1, :, :, :begun]
        worth += tasks.evidence[tasks.kind[i], j]
    return begun, worth, k


@njit(cache=True, nogil=True)
def _workers(tasks, i, prices, closed, best, fewest):
    """Whom the task may have, the best first, of like skill the cheapest first: worker, price, skill; rising prices.

    best: what a known set costs; fewest: labels that every set has: who is too dear to be in a cheaper one is left out.
    """
    out = closed.copy()
    for place in range(tasks.barred_from[i], tasks.barred_from[i + 1]):
        out[tasks.barred[place]] = True
    kind, m = tasks.kind[i], closed.size
    worker, price, skill = np.empty(m, np.int64), np.empty(m), np.empty(m)
    n = 0
    for j in range(m):
        if not out[j] and tasks.evidence[kind, j] > 0.0:
            worker[n], price[n], skill[n] = j, _price(tasks, i, j, prices), -_skill(tasks, i, j)
            n += 1
    if best < np.inf and n:
        most, kept = (best - (fewest - 1) * price[:n].min()) * (1 + HAIR), 0
        for k in range(n):
            if price[k] <= most:
                worker[kept], price[kept], skill[kept] = worker[k], price[k], skill[k]
                kept += 1
        n = kept
    by_price = np.argsort(price[:n], kind="mergesort")
    order = by_price[np.argsort(skill[by_price], kind="mergesort")]
    return worker[order], price[order], -skill[order], price[by_price]


@njit(cache=True, nogil=True)
def _fewest(laws, begun, deepest, skill, target):
    """With how many labels of the best workers the target is reached; -1 where with none that are followed."""
    if error_of(laws, 0, begun) <= target:
        return 0
    outcomes, classes = begun, laws.shape[2]
    for d in range(min(deepest, skill.size)):
        if error_with(laws, d, outcomes, skill[d : d + 1]) <= target:
            return d + 1
        grow(laws, d, outcomes, skill[d : d + 1])
        outcomes *= classes
    return -1


@njit(cache=True, nogil=True)
def _does(laws, begun, skill, chosen, size, left_out, target):
    """Whether a set without one of its labels keeps the target; without none where that place is -1."""
    outcomes, d, classes = begun, 0, laws.shape[2]
    for s in range(size):
        if s != left_out:
            grow(laws, d, outcomes, skill[chosen[s] : chosen[s] + 1])
            outcomes *= classes
            d += 1
    return error_of(laws, d, outcomes) <= target


@njit(cache=True, nogil=True)
def _greedy(laws, begun, deepest, items, target, fewest, most, chosen):
    """A set of those with most evidence for their price, without those it does not need: its size, or -1."""
    price, skill, worth = items
    order = np.argsort(price / worth, kind="mergesort")
    size, outcomes, classes = 0, begun, laws.shape[2]
    done = error_of(laws, 0, begun) <= target
    while size < min(deepest, min(most, order.size)) and not (done and size >= fewest):
        j = order[size]
        grow(laws, size, outcomes, skill[j : j + 1])
        outcomes *= classes
        chosen[size] = j
        size += 1
        done = done or error_of(laws, size, outcomes) <= target
    if not done or size < fewest:
        return -1
    while size > fewest:
        drop = -1
        for s in range(size):
            if (drop < 0 or price[chosen[s]] > price[chosen[drop]]) and _does(
                laws, begun, skill, chosen, size, s, target
            ):
                drop = s
        if drop < 0:
            break
        size -= 1
        chosen[drop] = chosen[size]
    return size


@njit(cache=True, nogil=True)
def _of_use(price, most):
    """All but items to whom as many as a set can have are preferred: no worse, and no dearer."""
    kept, cheapest = np.empty(price.size, np.int64), np.full(max(1, most), np.inf)
    n = 0
    for k in range(price.size):
        if price[k] >= cheapest[cheapest.size - 1]:
            continue
        kept[n] = k
        n += 1
        s = cheapest.size - 1
        while s > 0 and cheapest[s - 1] > price[k]:
            cheapest[s] = cheapest[s - 1]
            s -= 1
        cheapest[s] = price[k]
    return kept[:n]


@njit(cache=True, nogil=True)
def _searched(laws, begun, deepest, items, need, limits, effort, chosen):
    """A lower bound on sets that cost less than the one known, and the size of a cheaper one, or -1."""
    price, skill, worth = items
    fewest, most, target, beside = limits
    limit, work = effort
    n = price.size
    cell, after, first = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    cells = 0
    for k in range(n):
        if k == 0 or skill[k] != skill[k - 1]:
            first[cells] = k
            cells += 1
        cell[k] = cells - 1
    for k in range(n):
        after[k] = first[cell[k] + 1] if cell[k] + 1 < cells else n
    skills = np.empty((1, cells))
    for c in range(cells):
        skills[0, c] = skill[first[c]]
    unit = max(need, 1e-6) / CELLS
    width = np.empty(n, np.int64)
    for k in range(n):
        width[k] = min(CELLS, int(np.ceil(worth[k] / unit - 1e-9)))
    rest, cheap = completions(price, width, CELLS, deepest + 1)
    lacking = min(CELLS, max(0, int(np.ceil(need / unit - 1e-9)))) if need > 0.0 else 0
    least = rest[0, lacking]
    if least >= limit or work <= 0:
        return least, -1
    large = np.zeros(CELLS + 1)
    if most > deepest:
        each = cheap[0, deepest + 1] / (deepest + 1)
        parts = np.array([0.0, 0.5, 0.8, 0.9, 1.0]) * (each if each < np.inf else 0.0)
        large = large_sets(price, width, CELLS, deepest + 1, parts)
    none, free = np.zeros(1, np.int64), np.full(1, ANY)
    sets, sizes = np.zeros((1, deepest + 1), np.int64), np.empty(1, np.int64)
    bound, _ = cheapest_vote(
        (price, worth, np.zeros(n, np.int64), after, skills),
        (rest, cheap, large, cell),
        (none, free, fewest, most, beside),
        (laws[: deepest + 1], begun, target, need, unit, np.ones(1), False),
        (limit, HAIR, work),
        sets,
        sizes,
    )
    for s in range(max(0, sizes[0])):
        chosen[s] = sets[0, s]
    return max(least, bound), sizes[0]


@njit(cache=True, nogil=True)
def cheapest_set(tasks, i, prices, closed, beside, work, laws, known, size, labels):
    """A lower bound on what any set costs task i, what the best one found costs, its size, and that of any cheaper one.

    prices: of labels; closed (workers,) bool: who has no room; work: answers that a search looks at, at most; laws
    (depth, 1, K, outcomes): room; known: labels that every set has, at least; size: of a set that is known, in
    ``labels``, -1 without one; labels (depth,), written: the best set; -> (float, float, int, int): infinite where
    there is no set, or none was found; a size of -1 then.
    """
    begun, had, deepest = _begin(tasks, i, laws)
    if begun == 0:
        return 0.0, np.inf, -1, 0
    best = np.inf if size < 0 else _cost(tasks, i, prices, labels[:size])
    worker, price, skill, rising = _workers(tasks, i, prices, closed, best, max(1, known))
    n, target, need = worker.size, tasks.target[i], max(0.0, tasks.need[i] - had - SPARE)
    k, most = _fewest(laws, begun, deepest, skill, target), min(tasks.most[i], n)
    fewest = max(k, tasks.fewest[i])
    if k < 0 and n > deepest:
        fewest = max(deepest + 1, fewest)
    elif k < 0:
        fewest = n + 1
    if fewest > most:
        return best, best, size, fewest
    least = rising[:fewest].sum()
    if fewest > deepest:
        return min(least, best), best, size, fewest
    paid = price[:fewest].sum()
    if paid < best:
        best, size = paid, fewest
        labels[:size] = worker[:size]
    if best <= least + HAIR * best:
        return min(least, best), best, size, fewest
    worth = np.empty(n)
    for s in range(n):
        worth[s] = tasks.evidence[tasks.kind[i], worker[s]]
    chosen = np.empty(deepest + 1, np.int64)
    found = _greedy(laws, begun, deepest, (price, skill, worth), target, tasks.fewest[i], most, chosen)
    if found >= 0 and price[chosen[:found]].sum() < best:
        best, size = price[chosen[:found]].sum(), found
        labels[:size] = worker[chosen[:size]]
    wide, spent = 0, 0.0
    while wide < most and spent + rising[wide] < best:
        spent += rising[wide]
        wide += 1
    if wide < fewest:
        return best, best, size, fewest
    kept = _of_use(price, wide)
    items = price[kept], skill[kept], worth[kept]
    limits = tasks.fewest[i], wide, target, beside
    bound, found = _searched(laws, begun, deepest, items, need, limits, (best, work), chosen)
    bound = max(least, min(best, bound))
    if found >= 0:
        best, size = items[0][chosen[:found]].sum(), found
        labels[:size] = worker[kept[chosen[:size]]]
    return min(bound, best), best, size, fewest


@njit(cache=True, nogil=True)
def sweep_tasks(tasks, some, prices, closed, beside, work, laws, hands, least):
    """The cheapest set of some tasks at these prices, room or none; written to ``hands``, bounds to ``least``."""
    labels = np.empty(hands.sets.shape[1], np.int64)
    for i in some:
        size = hands.sizes[i]
        if size >= 0:
            labels[:size] = hands.sets[i, :size]
        new = size < 0
        given = hands.fewest[i]
        least[i], _, size, fewest = cheapest_set(tasks, i, prices, closed, beside, work, laws, given, size, labels)
        if new:
            hands.fewest[i] = fewest
        hands.sizes[i] = size
        if size >= 0:
            hands.sets[i, :size] = labels[:size]


@njit(cache=True, nogil=True)
def _move(hands, i, by):
    """Give a task's labels back, or take them."""
    for s in range(hands.sizes[i]):
        hands.room[hands.sets[i, s]] -= by
    hands.held[i] = by > 0


@njit(cache=True, nogil=True)
def keep_tasks(some, hands):
    """Each of some tasks takes the set it would have, if there is room for it."""
    for i in some:
        fits = hands.sizes[i] >= 0 and not hands.held[i]
        for s in range(hands.sizes[i]):
            fits = fits and hands.room[hands.sets[i, s]] > 0
        if fits:
            _move(hands, i, 1)


@njit(cache=True, nogil=True)
def serve_tasks(tasks, some, prices, beside, work, laws, hands):
    """Some tasks anew, one after another: each the cheapest set at these prices among workers with room."""
    labels = np.empty(hands.sets.shape[1], np.int64)
    for i in some:
        size = hands.sizes[i] if hands.held[i] else -1
        if hands.held[i]:
            _move(hands, i, -1)
            labels[:size] = hands.sets[i, :size]
        closed, fewest = hands.room <= 0, hands.fewest[i]
        _, _, size, _ = cheapest_set(tasks, i, prices, closed, beside, work, laws, fewest, size, labels)
        if size >= 0:
            _change(hands, i, labels[:size])


@njit(cache=True, nogil=True)
def _give_up(tasks, j, begin, kept, prices, beside, work, laws, hands, log):
    """Let another task do without worker j at the least price: what that costs more; infinite where none can.

    begin: the task that is asked first; kept: the task that asks, which is not; log: written: who it was, and its set.
    """
    closed, best, who, size_of = hands.room <= 0, np.inf, -1, 0
    closed[j] = True
    n, asked, depth = hands.sizes.size, 0, hands.sets.shape[1]
    labels, chosen = np.empty(depth, np.int64), np.empty(depth, np.int64)
    for step in range(n):
        h = (begin + step) % n
        mine = hands.sets[h, : max(0, hands.sizes[h])]
        if h == kept or not hands.held[h] or not (mine == j).any():
            continue
        for k in mine:
            closed[k] = k == j
        _, paid, size, _ = cheapest_set(tasks, h, prices, closed, beside, work, laws, 0, -1, labels)
        for k in mine:
            closed[k] = k == j or hands.room[k] <= 0
        paid -= _cost(tasks, h, prices, mine)
        if size >= 0 and paid < best:
            best, who, size_of = paid, h, size
            chosen[:size] = labels[:size]
        asked += 1
        if asked >= HOLDERS or best <= HAIR:
            break
    log[0] = who
    if who >= 0:
        log[1] = hands.sizes[who]
        log[2 : 2 + log[1]] = hands.sets[who, : log[1]]
        _change(hands, who, chosen[:size_of])
    return best


@njit(cache=True, nogil=True)
def _change(hands, i, labels):
    """Another set for a task, which takes it."""
    if hands.held[i]:
        _move(hands, i, -1)
    hands.sizes[i] = labels.size
    hands.sets[i, : labels.size] = labels
    _move(hands, i, 1)


@njit(cache=True, nogil=True)
def trade_tasks(tasks, some, prices, dear, beside, work, laws, hands):
    """Some tasks anew, where other tasks give up workers without room: kept where all together pays.

    A task without labels takes what there is. dear: what a label of a worker without room costs more at first, so that
    few others are asked.
    """
    depth = hands.sets.shape[1]
    labels, old = np.empty(depth, np.int64), np.empty(depth, np.int64)
    log, nobody = np.empty((depth, depth + 2), np.int64), np.zeros(hands.room.size, np.bool_)
    for i in some:
        had, before = hands.sizes[i] if hands.held[i] else -1, np.inf
        if had >= 0:
            old[:had] = hands.sets[i, :had]
            before = _cost(tasks, i, prices, old[:had])
            _move(hands, i, -1)
        asked = LabelPrices(prices.duals - dear * (hands.room <= 0), prices.dither)
        _, _, size, _ = cheapest_set(tasks, i, asked, nobody, beside, work, laws, 0, -1, labels)
        total, taken, changes = _cost(tasks, i, prices, labels[: max(0, size)]), 0, 0
        while taken < size and total < before - HAIR:
            j = labels[taken]
            if hands.room[j] <= 0:
                total += _give_up(tasks, j, i, i, prices, beside, work, laws, hands, log[changes])
                if total == np.inf:
                    break
                changes += 1
            hands.room[j] -= 1
            taken += 1
        hands.room[labels[:taken]] += 1
        if size >= 0 and taken == size and total < before - HAIR:
            _change(hands, i, labels[:size])
            continue
        for c in range(changes - 1, -1, -1):
            _change(hands, log[c, 0], log[c, 2 : 2 + log[c, 1]])
        if had >= 0:
            _change(hands, i, old[:had])

"""The cheapest set of labels over which the best vote errs little enough: compiled depth-first search.

Items are single labels in *cells*: workers of equal skill and group, the cheapest first, cells in order of falling
skill. ``after[i]`` is the first item of the next cell. A set takes the first labels of each cell that it uses.

The laws of the answers are carried along: ``laws[d, e, t, o]`` is the chance of class t, of a task of kind e (easy or
hard) and of answers o of the first d labels. The best vote errs by ``sum over e, o of (total - largest) over t``. No
vote errs less for a label of less skill, or for a label less (Blackwell). So a partial set is given up by the number of
labels that can still be paid, all as good as the next one; by the evidence that can still be paid, which must reach the
need (Cauchy and Schwarz); and by what that evidence makes of each combination of answers (Kailath).
The last label is found by bisection over cells.
"""

from math import exp

import numpy as np

from crowdopt.assign.band_kernels import chances, next_count, plain_loss
from crowdopt.assign.completion_kernels import has_all, has_room
from crowdopt.compiled_kernels import njit

ANY = 1 << 40  # labels of a group without a most
REPEATS = 9  # labels of one skill that are counted together


@njit(cache=True, nogil=True)
def completions(price, width, cells, count):
    """What items from i on cost at least: ``rest[i, x]`` for x cells of evidence, ``cheap[i, k]`` for k labels."""
    n = price.size
    rest, cheap = np.full((n + 1, cells + 1), np.inf), np.full((n + 1, count + 1), np.inf)
    rest[n, 0] = cheap[n, 0] = 0.0
    some = np.full(count, np.inf)
    for i in range(n - 1, -1, -1):
        p, w = price[i], width[i]
        for x in range(cells + 1):
            rest[i, x] = min(rest[i + 1, x], p + rest[i + 1, max(0, x - w)])
        k = count
        while k > 0 and some[k - 1] > p:
            if k < count:
                some[k] = some[k - 1]
            k -= 1
        if k < count:
            some[k] = p
        cheap[i, 0] = 0.0
        for k in range(count):
            cheap[i, k + 1] = cheap[i, k] + some[k]
    return rest, cheap


@njit(cache=True, nogil=True)
def large_sets(price, width, cells, count, prices):
    """What sets of at least so many labels cost at least that have x cells of evidence, (cells + 1,).

    ``max_l count l + min sum (price - l) over sets of x cells``, l from the prices of a label that are given.
    """
    floor, least = np.zeros(cells + 1), np.empty(cells + 1)
    for each in prices:
        least[:] = np.inf
        least[0] = 0.0
        for i in range(price.size):
            p, w = price[i] - each, width[i]
            for x in range(cells, -1, -1):
                least[x] = min(least[x], p + least[max(0, x - w)])
        for x in range(cells + 1):
            floor[x] = max(floor[x], count * each + least[x])
    return floor


@njit(cache=True, nogil=True)
def grow(laws, d, outcomes, skill):
    """Split the laws of depth d by one label more, of skill ``skill[e]``."""
    kinds, classes = laws.shape[1], laws.shape[2]
    for e in range(kinds):
        right = skill[e]
        wrong = (1 - right) / (classes - 1)
        for t in range(classes):
            for a in range(classes):
                p = right if a == t else wrong
                for o in range(outcomes):
                    laws[d + 1, e, t, a * outcomes + o] = laws[d, e, t, o] * p


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def error_with(laws, d, outcomes, skill):
    """Error of the best vote with one label more."""
    kinds, classes = laws.shape[1], laws.shape[2]
    error = 0.0
    for e in range(kinds):
        right = skill[e]
        wrong = (1 - right) / (classes - 1)
        if classes == 2:
            for o in range(outcomes):
                a, b = laws[d, e, 0, o], laws[d, e, 1, o]
                error += min(a * right, b * wrong) + min(a * wrong, b * right)
            continue
        for o in range(outcomes):
            for a in range(classes):
                total = most = 0.0
                for t in range(classes):
                    v = laws[d, e, t, o] * (right if a == t else wrong)
                    total += v
                    most = max(most, v)
                error += total - most
    return error


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def plain_error_with(laws, d, outcomes, skill):
    """Error, with one label more, of the vote that takes every task for an easy one, at least; two classes."""
    right, wrong, error = skill, 1 - skill, 0.0
    for o in range(outcomes):
        for a in range(2):
            first, second = (right, wrong) if a == 0 else (wrong, right)
            x, y = laws[d, 0, 0, o] * first[0], laws[d, 0, 1, o] * second[0]
            all_x, all_y = x, y
            for e in range(1, laws.shape[1]):
                all_x += laws[d, e, 0, o] * first[e]
                all_y += laws[d, e, 1, o] * second[e]
            error += plain_loss(x, y, all_x, all_y)
    return error


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def error_of(laws, d, outcomes):
    """Error of the best vote over the first d labels."""
    error = 0.0
    for e in range(laws.shape[1]):
        for o in range(outcomes):
            total = most = 0.0
            for t in range(laws.shape[2]):
                total += laws[d, e, t, o]
                most = max(most, laws[d, e, t, o])
            error += total - most
    return error


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def error_with_more(laws, d, outcomes, skill, more):
    """A lower bound on the error with so many labels more of one skill; 0 where those are too many to be counted."""
    if more == 0:
        return error_of(laws, d, outcomes)
    if more > REPEATS:
        return 0.0
    if laws.shape[2] > 2:
        return _error_with_counts(laws, d, outcomes, skill, more)
    error = 0.0
    for e in range(laws.shape[1]):
        p = skill[e]
        ways = 1.0
        for h in range(more + 1):
            a = ways * p ** float(more - h) * (1 - p) ** float(h)
            b = ways * (1 - p) ** float(more - h) * p ** float(h)
            for o in range(outcomes):
                error += min(laws[d, e, 0, o] * a, laws[d, e, 1, o] * b)
            ways *= (more - h) / (h + 1)
    return error


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _error_with_counts(laws, d, outcomes, skill, more):
    """The error with labels more of one skill, by how many of them name each class."""
    classes = laws.shape[2]
    count, chance = np.zeros(classes, np.int64), np.empty(classes)
    error = 0.0
    for e in range(laws.shape[1]):
        count[:] = 0
        count[0] = more
        while True:
            chances(skill[e], count, chance)
            for o in range(outcomes):
                total = most = 0.0
                for t in range(classes):
                    v = laws[d, e, t, o] * chance[t]
                    total += v
                    most = max(most, v)
                error += total - most
            if not next_count(count):
                break
    return error


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def error_with_evidence(laws, d, outcomes, evidence, left):
    """A lower bound on the error with labels of so much evidence more; ``left[e]`` of it on tasks of kind e.

    Between two classes with chances a and b after answers o the best vote errs with ``(a + b - sqrt((a + b)^2 - 4 a b
    e^-A)) / 2`` at least (Kailath). Among more it errs with no less than the sum of that over the likeliest class and
    each other: whatever is answered, ``sum over t of min(g_c, g_t)`` is at most what all but the largest g add up to.
    """
    error = 0.0
    for e in range(laws.shape[1]):
        shrink = exp(-evidence * left[e])
        for o in range(outcomes):
            c = 0
            for t in range(1, laws.shape[2]):
                if laws[d, e, t, o] > laws[d, e, c, o]:
                    c = t
            a = laws[d, e, c, o]
            for t in range(laws.shape[2]):
                b = laws[d, e, t, o]
                if t != c and b > 0.0:
                    total = a + b
                    error += 0.5 * (total - np.sqrt(max(0.0, total * total - 4 * a * b * shrink)))
    return error


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _keep(path, size, paid, sets, sizes, worths):
    """Keep a set if it is among the cheapest, the best first."""
    k = sizes.size - 1
    if paid >= worths[k]:
        return
    while k > 0 and worths[k - 1] > paid:
        worths[k], sizes[k] = worths[k - 1], sizes[k - 1]
        for e in range(sizes[k]):
            sets[k, e] = sets[k - 1, e]
        k -= 1
    worths[k], sizes[k] = paid, size
    for e in range(size):
        sets[k, e] = path[e]


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _last_cell(laws, d, outcomes, skill, cell, first, target):
    """How many cells from the first one on would do as the last label, by bisection."""
    low, high = cell[first], cell[cell.size - 1] + 1
    begin = low
    while low < high:
        middle = begin if low == begin and high == cell[cell.size - 1] + 1 else (low + high) // 2
        if error_with(laws, d, outcomes, skill[:, middle]) <= target:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _may_do(laws, d, outcomes, skill, target, money, tables, i, room, unit, left):
    """Whether labels from item i on that cost less than this money could bring the error down to the target."""
    rest, cheap, _, cell = tables
    more = 0
    while more < room and cheap[i, more + 1] < money:
        more += 1
    if more == 0:
        return False
    if error_with_more(laws, d, outcomes, skill[:, cell[i]], more) > target:
        return False
    cells = rest.shape[1] - 1
    if rest[i, cells] < money:
        return True
    low, high = 0, cells  # rest at low is less than the money, at high it is not
    while high - low > 1:
        middle = (low + high) // 2
        if rest[i, middle] < money:
            low = middle
        else:
            high = middle
    return error_with_evidence(laws, d, outcomes, low * unit, left) <= target


@njit(cache=True, nogil=True)
def cheapest_vote(items, tables, limits, law, effort, sets, sizes):
    """Search for the cheapest set; a lower bound on what any costs, at most the limit.

    items: price, worth, group and after, (items,) each; skill (kinds, cells); tables: rest and cheap, of
    :func:`completions`; what :func:`large_sets` cost; the cell of each item; limits: low and top of each group; fewest
    and most labels; the Overlaps of items; law: laws, of which ``laws[0]`` is filled in; outcomes there; target; need,
    of evidence; evidence of a cell of ``rest``; evidence that is left on tasks of each kind; whether the vote takes
    all tasks for easy ones, so that a set may have to grow beyond what the best vote asks for; effort: what a known set
    costs; how far below it, relatively, others are looked for; answers to sets looked at; sets (k, labels), sizes (k,):
    written: the cheapest sets met, the best first; sizes of -1 where there are fewer; -> float, bool: infinite where
    there is no set and no limit was given; whether all sets were looked at that are not too large.
    """
    price, worth, group, after, skill = items
    rest, cheap, large, cell = tables
    low, top, fewest, most, beside = limits
    laws, begun, target, need, unit, left, plain = law
    limit, close, work = effort
    n, classes, deepest, cells = price.size, laws.shape[2], laws.shape[0] - 1, rest.shape[1] - 1
    sizes[:] = -1
    worths, path = np.full(sizes.size, np.inf), np.zeros(deepest + 1, np.int64)
    at = np.zeros(deepest + 1, np.int64)
    spent, have, out = np.zeros(deepest + 1), np.zeros(deepest + 1), np.ones(deepest + 1, np.int64)
    enough_to = np.zeros(deepest + 1, np.int64)
    used, lack = np.zeros(low.size, np.int64), low.sum()
    out[0] = begun
    for d in range(deepest):
        out[d + 1] = out[d] * classes
    done = error_of(laws, 0, begun) <= target
    # the skills of a guess are laid out as others are, so that one loop is compiled and not two
    well = done and not (plain and plain_error_with(laws, 0, begun, np.full((laws.shape[1], 1), 0.5)[:, 0]) > target)
    if well and need <= 0.0 and fewest <= 0 and lack == 0 and has_all(beside, path, 0):
        sizes[0] = 0
        return min(limit, 0.0), True
    best, d = limit, 0
    floor = np.inf
    if most > deepest:  # sets that are too large to be followed
        floor = max(cheap[0, deepest + 1], large[min(cells, max(0, int(np.ceil(need / unit - 1e-9))))])
    every = cell[n - 1] + 1 if n else 0
    if n:
        enough_to[0] = every if done else _last_cell(laws, 0, begun, skill, cell, 0, target)
    if deepest == 0:
        return 0.0, False
    while d >= 0:
        i, near = at[d], best - close * abs(best) if best < np.inf else np.inf
        if i >= n or spent[d] + cheap[i, 1] >= near or work < 0:
            if work < 0 and i < n:
                floor = min(floor, spent[d] + cheap[i, 1])
            d -= 1
            if d >= 0:
                used[group[path[d]]] -= 1
                if used[group[path[d]]] < low[group[path[d]]]:
                    lack += 1
            continue
        at[d] = after[i]
        g, paid = group[i], spent[d] + price[i]
        if paid >= near or used[g] >= top[g] or d >= most or not has_room(beside, path, d, i):
            continue
        missing = lack - (1 if used[g] < low[g] else 0)
        sure = cell[i] < enough_to[d]  # the vote is; the evidence may not be there
        lacking = need - have[d] - worth[i]
        enough = sure and lacking <= 0.0
        path[d] = i
        whole = has_all(beside, path, d + 1)
        if enough and plain:
            work -= out[d + 1]
            enough = plain_error_with(laws, d, out[d], skill[:, cell[i]]) <= target
        if enough and missing == 0 and d + 1 >= fewest and whole:
            _keep(path, d + 1, paid, sets, sizes, worths)
            best = min(best, paid)
            continue
        more = max(missing, fewest - d - 1)
        if not (enough and whole):
            more = max(more, 1)
        if d + 1 + more > most or i + 1 >= n:
            continue
        if d + 1 + more > deepest:
            continue
        if paid + cheap[i + 1, more] >= near:
            continue
        if lacking > 0.0:
            x = int(np.ceil(lacking / unit - 1e-9))
            if x > cells or paid + rest[i + 1, x] >= near:
                continue
        work -= out[d + 1] * classes
        grow(laws, d, out[d], skill[:, cell[i]])
        if not sure:
            room = min(most, deepest) - d - 1
            if not _may_do(laws, d + 1, out[d + 1], skill, target, near - paid, tables, i + 1, room, unit, left):
                continue
        used[g] += 1
        lack = missing
        spent[d + 1], have[d + 1] = paid, have[d] + worth[i]
        enough_to[d + 1] = every if sure else _last_cell(laws, d + 1, out[d + 1], skill, cell, i + 1, target)
        d += 1
        at[d] = i + 1
    return (min(best - close * abs(best), floor) if np.isfinite(best) else floor), work >= 0


@njit(cache=True, nogil=True)
def last_cell_beside(laws, begun, skill, beside, target):
    """How many cells would do as the last label beside labels of these skills, (kinds, labels)."""
    outcomes = begun
    for d in range(beside.shape[1]):
        grow(laws, d, outcomes, beside[:, d])
        outcomes *= laws.shape[2]
    low, high = 0, skill.shape[1]
    while low < high:
        middle = (low + high) // 2
        if error_with(laws, beside.shape[1], outcomes, skill[:, middle]) <= target:
            low = middle + 1
        else:
            high = middle
    return low

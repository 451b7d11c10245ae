"""The law of a weighted vote's sum, label by label: compiled loops, imported only where they run."""

from math import log

import numpy as np

from crowdopt.compiled_kernels import njit

EQUAL = 1e-13  # of the sum of |weights|: sums this close are the same, so equal workers convolve
TIE = 1e-11  # of the sum of |weights|: a vote this close to its threshold is a tie


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _merged(sums, mass, size, weight, right, near, out_sums, out_mass):
    """Add one label."""
    # ``s - w`` with chance 1 - p, ``s + w`` with chance p, sorted, neighbours within ``near`` joined.
    # Joined sums take the lowest of them. Returns their number (-1: no room) and the farthest that one was lowered.
    low, high, count, moved = 0, 0, 0, 0.0
    while low < size or high < size:
        # two ascending lists, all sums less w and all sums plus w, merged: the law stays sorted without a sort
        if high >= size or (low < size and sums[low] - weight <= sums[high] + weight):
            value, chance = sums[low] - weight, mass[low] * (1 - right)
            low += 1
        else:
            value, chance = sums[high] + weight, mass[high] * right
            high += 1
        if count > 0 and value - out_sums[count - 1] <= near:
            moved = max(moved, value - out_sums[count - 1])
            out_mass[count - 1] += chance
        else:
            if count == out_sums.size:
                return -1, moved
            out_sums[count], out_mass[count] = value, chance
            count += 1
    return count, moved


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _law(weight, right, chosen, total, room):
    """Law of the sum of the chosen labels, ascending: ``(sums, mass, lowered)``, both in ``room`` (4, cells)."""
    # Label by label; exact while it has at most ``cells`` values, then on a lattice of so many, whose sums are
    # rounded down: ``lowered`` is by how much at most.
    cells = room.shape[1]
    room[0, 0], room[1, 0], size, lowered, swapped = 0.0, 1.0, 1, 0.0, False
    reach = 0.0
    for j in chosen:
        reach += weight[j]
    for j in chosen:
        here, there = (2, 0) if swapped else (0, 2)
        a, b, c, d = room[here], room[here + 1], room[there], room[there + 1]
        count, moved = _merged(a, b, size, weight[j], right[j], EQUAL * total, c, d)
        if count < 0:
            # no room: the same label again, on a lattice so coarse that its values fit between -reach and reach
            count, moved = _merged(a, b, size, weight[j], right[j], 2 * reach / (cells - 2), c, d)
            lowered += moved
        size, swapped = count, not swapped
    here = 2 if swapped else 0
    return room[here, :size], room[here + 1, :size], lowered


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _halves(weight, right):
    """Labels in two halves, equal ones together, so that both halves' sums take about equally many values."""
    order = np.argsort(weight, kind="mergesort")
    k = order.size
    starts, counts = np.empty(k, np.int64), np.empty(k, np.int64)
    runs = 0
    for place in range(k):
        j = order[place]
        if runs > 0 and weight[order[starts[runs - 1]]] == weight[j] and right[order[starts[runs - 1]]] == right[j]:
            counts[runs - 1] += 1
        else:
            starts[runs], counts[runs] = place, 1
            runs += 1
    fewer = np.empty(runs)
    for run in range(runs):
        fewer[run] = -counts[run]
    first, second = np.empty(k, np.int64), np.empty(k, np.int64)
    sizes, values = np.zeros(2, np.int64), np.zeros(2)
    # the longest runs first, each to the half of fewer values: a run of c equal labels multiplies them by c + 1
    for run in np.argsort(fewer, kind="mergesort"):
        half = 0 if values[0] <= values[1] else 1
        values[half] += log(counts[run] + 1.0)
        for place in range(starts[run], starts[run] + counts[run]):
            if half == 0:
                first[sizes[0]] = order[place]
            else:
                second[sizes[1]] = order[place]
            sizes[half] += 1
    return first[: sizes[0]], second[: sizes[1]]


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _below(sums, mass, other_sums, other_heads, threshold):
    """``P(S < t)`` of the sum of two laws; ``other_heads`` are the second one's sums of masses."""
    # As the first sum grows the largest second sum that stays below only falls: one pass over both.
    total, place = 0.0, other_sums.size
    for k in range(sums.size):
        while place > 0 and sums[k] + other_sums[place - 1] >= threshold:
            place -= 1
        if place == 0:
            break
        total += mass[k] * other_heads[place - 1]
    return total


@njit(cache=True, nogil=True, no_cpython_wrapper=True)
def _middle(sums, mass, other_sums, other_heads, threshold, tie):
    """``P(S < t) + P(S = t) / 2``."""
    under = _below(sums, mass, other_sums, other_heads, threshold - tie)
    return 0.5 * (under + _below(sums, mass, other_sums, other_heads, threshold + tie))


@njit(cache=True, nogil=True)
def errors(votes, cells, above, width, first, last):
    """Error of each task's vote, tasks ``first`` to ``last``: an upper bound and how far below it the error may lie.

    The labels are split into two halves, equal ones together; each half's law is built label by label, and the two are
    met in the middle: 2^(k/2) values each in place of 2^k. Each label is turned so that its weight is positive, so
    that one law serves both classes: ``P(wrong) = pi P(S < -b) + (1 - pi) P(S < b)``, ties half. A lattice lowers sums
    only, which makes the error too large, by no more than what the same thresholds less all that was lowered give.

    cells: values that a half's law may take before it is put on a lattice; above, width (tasks,), written: the upper
    bound, and how far below it the error may lie.
    """
    room = np.empty((8, cells))
    for i in range(first, last):
        start, k, bias, total = votes.starts[i], votes.starts[i + 1] - votes.starts[i], votes.bias[i], 0.0
        w, p = np.empty(k), np.empty(k)
        for j in range(k):
            weight, accuracy = votes.weight[start + j], votes.accuracy[start + j]
            w[j], p[j] = abs(weight), 1 - accuracy if weight < 0 else accuracy
            total += w[j]
        tie = TIE * (total + abs(bias)) + 1e-300  # without any label all is a tie
        one, two = _halves(w, p)
        a, b, down = _law(w, p, one, total, room[:4])
        c, d, sunk = _law(w, p, two, total, room[4:])
        # masses of the second half summed up, so that the pass in the middle reads tails at once
        for j in range(1, d.size):
            d[j] += d[j - 1]
        lowered = down + sunk
        yes, no = votes.prior[i], 1 - votes.prior[i]
        above[i] = yes * _middle(a, b, c, d, -bias, tie) + no * _middle(a, b, c, d, bias, tie)
        width[i] = 0.0
        # had no sum been lowered, each threshold would be met at most `lowered` later: the least the error can be
        if lowered > 0:
            least = yes * _middle(a, b, c, d, -bias - lowered, tie)
            least += no * _middle(a, b, c, d, bias - lowered, tie)
            width[i] = above[i] - least

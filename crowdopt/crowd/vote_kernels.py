"""The law of a weighted vote's sum, label by label: compiled loops, imported only where they run."""

import numpy as np

from crowdopt.compiled_kernels import njit

EQUAL = 1e-13  # of the sum of |weights|: sums this close are the same, so equal workers convolve
TIE = 1e-11  # of the sum of |weights|: a vote this close to its threshold is a tie


@njit(cache=True, nogil=True)
def _merged(sums, mass, size, weight, right, near, out_sums, out_mass):
    """Add one label: ``s - w`` with chance 1 - p, ``s + w`` with chance p, sorted, neighbours within ``near`` joined.

    Joined sums take the lowest of them. Returns their number (-1: no room) and the farthest that one was lowered.
    """
    low, high, count, moved = 0, 0, 0, 0.0
    while low < size or high < size:
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


@njit(cache=True, nogil=True)
def _law(weight, right, chosen, total, cells, sums, mass, spare_sums, spare_mass):
    """Law of the sum of the chosen labels; exact while it has at most ``cells`` values, then on a lattice of so many.

    Returns its size, by how much the lattice may have lowered a sum, and whether the law lies in the spare arrays.
    """
    sums[0], mass[0], size, lowered, swapped = 0.0, 1.0, 1, 0.0, False
    reach = 0.0
    for j in chosen:
        reach += weight[j]
    for j in chosen:
        a, b, c, d = (spare_sums, spare_mass, sums, mass) if swapped else (sums, mass, spare_sums, spare_mass)
        count, moved = _merged(a, b, size, weight[j], right[j], EQUAL * total, c[:cells], d[:cells])
        if count < 0:
            count, moved = _merged(a, b, size, weight[j], right[j], 2 * reach / (cells - 2), c[:cells], d[:cells])
            lowered += moved
        size, swapped = count, not swapped
    return size, lowered, swapped


@njit(cache=True, nogil=True)
def _halves(weight, right):
    """Labels in two halves, equal ones together, so that both halves' sums take about equally many values."""
    order = np.argsort(weight)
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
    first, second = np.empty(k, np.int64), np.empty(k, np.int64)
    sizes, values = np.zeros(2, np.int64), np.zeros(2)
    for run in np.argsort(-counts[:runs], kind="mergesort"):
        half = 0 if values[0] <= values[1] else 1
        values[half] += np.log(counts[run] + 1.0)
        for place in range(starts[run], starts[run] + counts[run]):
            if half == 0:
                first[sizes[0]] = order[place]
            else:
                second[sizes[1]] = order[place]
            sizes[half] += 1
    return first[: sizes[0]], second[: sizes[1]]


@njit(cache=True, nogil=True)
def _below(a_sums, a_mass, a_size, b_sums, b_heads, b_size, threshold):
    """``P(S < t)`` of the sum of two laws; ``b_heads`` are the second one's sums of masses."""
    total, place = 0.0, b_size
    for k in range(a_size):
        while place > 0 and a_sums[k] + b_sums[place - 1] >= threshold:
            place -= 1
        if place == 0:
            break
        total += a_mass[k] * b_heads[place - 1]
    return total


@njit(cache=True, nogil=True)
def _middle(a_sums, a_mass, a_size, b_sums, b_heads, b_size, threshold, tie):
    """``P(S < t) + P(S = t) / 2``."""
    under = _below(a_sums, a_mass, a_size, b_sums, b_heads, b_size, threshold - tie)
    return 0.5 * (under + _below(a_sums, a_mass, a_size, b_sums, b_heads, b_size, threshold + tie))


@njit(cache=True, nogil=True)
def errors(starts, accuracy, weight, bias, prior, cells, above, width, first, last):
    """Error of each task's vote, tasks ``first`` to ``last``: an upper bound and how far below it the error may lie.

    Task i's labels are ``starts[i]`` to ``starts[i + 1]``; the vote says class 1 where ``bias + sum w l > 0``, l = +-1.
    Both halves' laws are built label by label and met in the middle.
    """
    buffers = np.empty((8, cells))
    for i in range(first, last):
        here = slice(starts[i], starts[i + 1])
        w, p = np.abs(weight[here]), np.where(weight[here] < 0, 1 - accuracy[here], accuracy[here])
        total = w.sum()
        tie = TIE * (total + abs(bias[i])) + 1e-300  # without any label all is a tie
        one, two = _halves(w, p)
        m, down, turned = _law(w, p, one, total, cells, buffers[0], buffers[1], buffers[2], buffers[3])
        n, sunk, flipped = _law(w, p, two, total, cells, buffers[4], buffers[5], buffers[6], buffers[7])
        a, b = (buffers[2], buffers[3]) if turned else (buffers[0], buffers[1])
        c, d = (buffers[6], buffers[7]) if flipped else (buffers[4], buffers[5])
        for k in range(1, n):
            d[k] += d[k - 1]
        lowered = down + sunk
        yes, no = prior[i], 1 - prior[i]
        above[i] = yes * _middle(a, b, m, c, d, n, -bias[i], tie) + no * _middle(a, b, m, c, d, n, bias[i], tie)
        width[i] = 0.0
        if lowered > 0:
            least = yes * _middle(a, b, m, c, d, n, -bias[i] - lowered, tie)
            least += no * _middle(a, b, m, c, d, n, bias[i] - lowered, tie)
            width[i] = above[i] - least

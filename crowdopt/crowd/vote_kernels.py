"""Laws of votes, label by label: compiled loops, imported only where they run.

**Of fixed weights between two classes** (`errors`). Each label is turned so that its weight is positive, so that one
law of the sum S serves both classes: ``P(wrong) = pi P(S < -b) + (1 - pi) P(S < b)``, ties half. The labels are split
into two halves, equal ones together; each half's law is built label by label, and the two are met in the middle:
2^(k/2) values each in place of 2^k. Where these are too many, sums are rounded down to a lattice. That makes the error
too large, by no more than what the same thresholds less all that was lowered give.

**Of the likeliest among K classes** (`class_errors`). One coin: a label is right with chance p and else wrong
uniformly, u = (1 - p) / (K - 1). A *state* is a vector L, ``L_k = P(class k, and labels that led here)``, sorted,
largest first. A label of class l makes ``L_k p`` of L_l and ``L_k u`` of the others. The best vote errs in state L with
``sum L - max L``; what it errs with after more labels,

    V(L) = sum over what they say x of (sum_k L_k P_k(x) - max_k L_k P_k(x)),

is symmetric in the classes (so states are sorted), homogeneous, concave, and grows with each L_k. Three consequences:

1. A class that cannot win any more, ``ln(L_1 / L_k)`` beyond all weights to come, errs for certain: its L_k is counted
   and leaves the state. A state with one class left is decided.
2. States L, M in one cell may be *joined* to L + M: V(L + M) >= V(L) + V(M), so the error only seems larger.
3. A state may be *spread* over corners C of its cell with ``L = sum of a_i C_i``: V(L) >= sum a_i V(C_i), so the error
   only seems smaller.

While all different states have room nothing is joined or spread but what is equal up to rounding: then it is exact.
Cells are squares in ``2 (1 - sqrt(L_k / L_1))``, where what a join adds is about the same everywhere.
"""

from math import exp, log

import numpy as np

from crowdopt.kernels import njit

EQUAL = 1e-13  # of the sum of |weights|: sums this close are the same, so equal workers convolve
TIE = 1e-11  # of the sum of |weights|: a vote this close to its threshold is a tie
ALIKE = 1e-9  # width of a cell that only joins beliefs that are equal but for rounding
WIDTH, GROWTH = 0.02, 1.3  # of the first cells that join more, and how they grow until all states have room


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
    run, counts = np.zeros(order.size, np.int64), np.zeros(order.size, np.int64)  # runs of equal labels
    for place in range(order.size):
        j, last = order[place], order[place - 1]
        if place > 0:
            run[place] = run[place - 1] + (weight[j] != weight[last] or right[j] != right[last])
        counts[run[place]] += 1
    values, half, rank = np.zeros(2), np.zeros(order.size, np.int64), np.zeros(order.size, np.int64)
    # the longest runs first, each to the half of fewer values: a run of c equal labels multiplies them by c + 1
    for place, longest in enumerate(np.argsort(-counts, kind="mergesort")):
        half[longest], rank[longest] = values[0] > values[1], place
        values[half[longest]] += log(counts[longest] + 1.0)
    places = np.argsort(rank[run], kind="mergesort")
    return order[places[half[run[places]] == 0]], order[places[half[run[places]] == 1]]


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
def error_of(w, p, yes, bias, room):
    """Error of the vote over labels of weights w and accuracies p, changed: an upper bound, and how far it may be off.

    yes: probability of class 1; room (8, cells): for values that a half's law may take before it is on a lattice.
    """
    total = 0.0
    for j in range(w.size):
        if w[j] < 0:
            w[j], p[j] = -w[j], 1 - p[j]
        total += w[j]
    tie = TIE * (total + abs(bias)) + 1e-300  # without any label all is a tie
    one, two = _halves(w, p)
    a, b, down = _law(w, p, one, total, room[:4])
    c, d, sunk = _law(w, p, two, total, room[4:])
    # masses of the second half summed up, so that the pass in the middle reads tails at once
    for j in range(1, d.size):
        d[j] += d[j - 1]
    lowered, no = down + sunk, 1 - yes
    above = yes * _middle(a, b, c, d, -bias, tie) + no * _middle(a, b, c, d, bias, tie)
    if lowered <= 0:
        return above, 0.0
    # had no sum been lowered, each threshold would be met at most `lowered` later: the least the error can be
    least = yes * _middle(a, b, c, d, -bias - lowered, tie) + no * _middle(a, b, c, d, bias - lowered, tie)
    return above, above - least


@njit(cache=True, nogil=True)
def errors(votes, tasks, cells, above, width, first, last):
    """Errors of the votes on tasks ``tasks[first:last]``: upper bounds, and how far below the errors may lie.

    cells: values that a half's law may take before it is put on a lattice; above, width (all tasks,), written.
    """
    room = np.empty((8, cells))
    for i in tasks[first:last]:
        labels = slice(votes.starts[i], votes.starts[i + 1])
        w, p = votes.weight[labels].copy(), votes.accuracy[labels].copy()
        above[i], width[i] = error_of(w, p, votes.prior[i], votes.bias[i], room)


@njit(cache=True, nogil=True)
def _key(cell, classes):
    """A number for a cell; two cells that meet in one are joined, which is allowed."""
    key = np.uint64(1469598103934665603)
    for k in range(1, classes):
        key = (key ^ np.uint64(cell[k] + 2)) * np.uint64(1099511628211)
        key ^= key >> np.uint64(29)
    return key


@njit(cache=True, nogil=True)
def _add(state, cell, share, table, stamp, kept, count):
    """Add a state's share to that of its cell; the number of states, or -1 where there is no room for one more."""
    keys, place_of, marks = table
    classes = state.size
    key = _key(cell, classes)
    # a hash table with open addressing; a stamp in place of clearing it for each label
    mask = np.uint64(keys.size - 1)
    place = (key ^ (key >> np.uint64(32))) & mask
    while marks[place] == stamp and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    if marks[place] == stamp:
        row = place_of[place]
        for k in range(classes):
            kept[row, k] += share * state[k]
        return count
    if count == len(kept):
        return -1
    marks[place], keys[place], place_of[place] = stamp, key, count
    for k in range(classes):
        kept[count, k] = share * state[k]
    return count + 1


@njit(cache=True, nogil=True)
def _joined(states, size, width, kept, table, stamp):
    classes, count = states.shape[1], 0
    cell = np.empty(classes, np.int64)
    for s in range(size):
        top = states[s, 0]
        for k in range(1, classes):
            cell[k] = -1 if states[s, k] <= 0 else np.int64(np.rint((1 - np.sqrt(states[s, k] / top)) * 2 / width))
        count = _add(states[s], cell, 1.0, table, stamp, kept, count)
        if count < 0:
            return -1
    return count


@njit(cache=True, nogil=True)
def _spread(states, size, width, kept, table, stamp):
    """States spread over corners of their cells, as in Kuhn's triangulation; -1 where these are too many."""
    # With ``x_k = L_k / L_1`` between the corners' ``low_k <= x_k <= high_k``, ``f_k`` its share of the way: the
    # corner where all are low gets 1 minus the largest f, and each further one, where one more is high in order of f,
    # the difference to the next f. That is x again: each k is high in a share of f_k.
    classes, count = states.shape[1], 0
    cell, corner, share = np.empty(classes, np.int64), np.empty(classes), np.empty(classes)
    for s in range(size):
        top = states[s, 0]
        corner[0], share[0] = top, -1.0
        for k in range(1, classes):
            x = states[s, k] / top
            if x <= 0:
                cell[k], corner[k], share[k] = -1, 0.0, -1.0
                continue
            cell[k] = np.int64((1 - np.sqrt(min(x, 1.0))) * 2 / width) + 1
            low, high = max(0.0, 1 - cell[k] * width / 2) ** 2, (1 - (cell[k] - 1) * width / 2) ** 2
            share[k], corner[k] = min(1.0, max(0.0, (x - low) / (high - low))), top * low
        # from the corner where all are low upwards, raising the coordinate of the largest share left each time
        left = 1.0
        for _ in range(classes):
            k = int(np.argmax(share))
            part = left - max(0.0, share[k])
            if part > 0:
                count = _add(corner, cell, part, table, stamp, kept, count)
                if count < 0:
                    return -1
            if share[k] <= 0:
                break
            left, share[k], cell[k] = share[k], -1.0, cell[k] - 1
            corner[k] = top * (1 - cell[k] * width / 2) ** 2
    return count


@njit(cache=True, nogil=True)
def _after(states, count, right, wrong, reach, grown):
    """States after one more label, and how much in them can only be wrong; ``reach``: least share that may yet win."""
    classes, size, lost = states.shape[1], 0, 0.0
    for s in range(count):
        said = 0
        while said < classes:
            same = 1  # classes that no label has told apart so far
            while said + same < classes and states[s, said + same] == states[s, said]:
                same += 1
            # `same` labels of equal effect are one state of that many times the mass: symmetric states count once
            new = grown[size]
            for k in range(classes):
                new[k] = same * wrong * states[s, k]
            value, k = same * right * states[s, said], said
            # the class named moves to its place, so that states stay sorted
            while k > 0 and new[k - 1] < value:
                new[k], k = new[k - 1], k - 1
            while k < classes - 1 and new[k + 1] > value:
                new[k], k = new[k + 1], k + 1
            new[k] = value
            k = classes - 1
            # consequence 1: a class out of reach errs for certain; a state of one class left is decided and dropped
            while k > 0 and new[k] < reach * new[0]:
                lost, new[k], k = lost + new[k], 0.0, k - 1
            size += k > 0
            said += same
    return size, lost


@njit(cache=True, nogil=True)
def _last(states, count, right, wrong):
    error = 0.0
    for s in range(count):
        error += states[s].sum()
        for said in range(states.shape[1]):  # states are sorted: of the other classes the first is the likeliest
            error -= max(right * states[s, said], wrong * states[s, int(said == 0)])
    return error


@njit(cache=True, nogil=True)
def class_error(accuracy, prior, cells, below, room, grown, table, stamp):
    """Error of one task's vote; an upper bound, or a lower one, and 0 width if it is exact; and the next stamp."""
    classes, width, states, count, lost = prior.size, ALIKE, room, 1, 0.0
    states[0] = -np.sort(-prior)
    if accuracy.size == 0:
        return 1 - states[0, 0], 0.0, stamp
    weight = np.abs(np.log(accuracy) + np.log(classes - 1.0) - np.log1p(-accuracy))
    # strongest labels first: classes fall out of reach early, and states stay few
    order, left = np.argsort(-weight, kind="mergesort"), weight.sum()
    wrong = (1 - accuracy) / (classes - 1)
    for j in order[:-1]:
        left -= weight[j]
        # the weights to come, with a hair for rounding: what they cannot turn is settled now
        size, gone = _after(states, count, accuracy[j], wrong[j], exp(-max(0.0, left) * (1 + 1e-12)), grown)
        lost += gone
        count = -1
        while count < 0:
            stamp += 1
            if width > ALIKE and below:
                count = _spread(grown, size, width, states, table, stamp)
            else:
                count = _joined(grown, size, width, states, table, stamp)
            if count < 0:  # too many states: coarser cells from here on, for later labels too
                width = max(width * GROWTH, WIDTH)
    lost += _last(states, count, accuracy[order[-1]], wrong[order[-1]])
    return max(0.0, lost), width if width > ALIKE else 0.0, stamp


@njit(cache=True, nogil=True)
def class_room(cells, classes):
    """Room for so many states, for those that a label makes of them, and a table that finds them."""
    size = 8
    while size < 2 * cells:
        size *= 2
    table = np.empty(size, np.uint64), np.empty(size, np.int64), np.zeros(size, np.int64)
    return np.zeros((cells, classes)), np.zeros((cells * classes + 1, classes)), table


@njit(cache=True, nogil=True)
def class_errors(votes, tasks, cells, below, error, width, first, last):
    """Errors of the best votes on tasks ``tasks[first:last]``.

    cells: states that are told apart; below: whether a lower bound is wanted where they are more, in place of an upper
    one; error, width (all tasks,), written: width of the cells that were joined or spread, 0 where the error is exact.
    """
    room, grown, table = class_room(cells, votes.prior.shape[1])
    stamp = 0
    for i in tasks[first:last]:
        p = votes.accuracy[votes.starts[i] : votes.starts[i + 1]]
        error[i], width[i], stamp = class_error(p, votes.prior[i], cells, below, room, grown, table, stamp)

"""Laws of beliefs among many classes, label by label: compiled loops, imported only where they run.

One coin: a label is right with chance p and else wrong uniformly, u = (1 - p) / (K - 1). A *state* is a vector L,
``L_k = P(class k, and labels that led here)``, sorted, largest first. A label of class l makes ``L_k p`` of L_l and
``L_k u`` of the others. The best vote errs in state L with ``sum L - max L``; what it errs with after more labels,

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

from math import exp, log, log1p

import numpy as np

from crowdopt.compiled_kernels import njit

EQUAL = 1e-9  # width of a cell that only joins what is equal but for rounding
WIDTH, GROWTH = 0.02, 1.3  # of the first cells that join more, and how they grow until all states have room


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
    classes, error = states.shape[1], 0.0
    for s in range(count):
        for k in range(classes):
            error += states[s, k]
        for said in range(classes):
            best = right * states[s, said]
            for k in range(classes):
                if k != said:
                    best = max(best, wrong * states[s, k])
            error -= best
    return error


@njit(cache=True, nogil=True)
def _error(accuracy, prior, cells, below, room, grown, table, stamp):
    """Error of one task's vote; an upper bound, or a lower one, and 0 width if it is exact; and the next stamp."""
    classes, n, width = prior.size, accuracy.size, EQUAL
    weight = np.empty(n)
    for k in range(n):
        weight[k] = abs(log(accuracy[k]) + log(classes - 1.0) - log1p(-accuracy[k]))
    # strongest labels first: classes fall out of reach early, and states stay few
    order, left = np.argsort(-weight, kind="mergesort"), weight.sum()
    states, count, lost = room, 1, 0.0
    states[0] = -np.sort(-prior)
    if n == 0:
        return 1 - states[0, 0], 0.0, stamp
    for step in range(n):
        right = accuracy[order[step]]
        wrong = (1 - right) / (classes - 1)
        left -= weight[order[step]]
        if step == n - 1:
            break
        # the weights to come, with a hair for rounding: what they cannot turn is settled now
        size, gone = _after(states, count, right, wrong, exp(-max(0.0, left) * (1 + 1e-12)), grown)
        lost += gone
        while True:
            stamp += 1
            if width > EQUAL and below:
                count = _spread(grown, size, width, states, table, stamp)
            else:
                count = _joined(grown, size, width, states, table, stamp)
            if count >= 0:
                break
            # too many states: coarser cells from here on, for later labels too
            width = max(width * GROWTH, WIDTH)
    return max(0.0, lost + _last(states, count, right, wrong)), width if width > EQUAL else 0.0, stamp


@njit(cache=True, nogil=True)
def errors(votes, cells, below, error, width, first, last):
    """Error of the best vote of each task, tasks ``first`` to ``last``.

    cells: states that are told apart; below: whether a lower bound is wanted where they are more, in place of an upper
    one; error (tasks,); width (tasks,), written: of the cells that were joined or spread; 0 where the error is
    exact.
    """
    classes, size = votes.prior.shape[1], 8
    while size < 2 * cells:
        size *= 2
    table = np.empty(size, np.uint64), np.empty(size, np.int64), np.zeros(size, np.int64)
    room, grown, stamp = np.zeros((cells, classes)), np.zeros((cells * classes + 1, classes)), 0
    for i in range(first, last):
        accuracy = votes.accuracy[votes.starts[i] : votes.starts[i + 1]]
        error[i], width[i], stamp = _error(accuracy, votes.prior[i], cells, below, room, grown, table, stamp)

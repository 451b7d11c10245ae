"""Compiled loops of asking orders: the least price of a task over beliefs, a cheap order at it, what an order comes to.

Beliefs b = P(class 1) stand at knots whose log-odds are the multiples of a step. ``likely[j, y]`` is the chance that
worker j says 1 where y is true.
"""

from typing import NamedTuple

import numpy as np

from crowdopt.kernels import njit

FADED = 1e-5  # of a task: an order ends where no more than that would go on


class WorkerVotes(NamedTuple):
    """Workers' labels of one kind of task."""

    likely: np.ndarray  # (workers, 2)
    adds: np.ndarray  # (workers, 2) int: steps by which a label 0 or 1 moves the log-odds, rounded
    price: np.ndarray  # (workers,)


class Knots(NamedTuple):
    """Beliefs, and prices of a task there."""

    belief: np.ndarray  # (knots,), rising, symmetric about 1/2
    answer: np.ndarray  # (knots,): the price of the best answer
    stop: np.ndarray  # (knots,): the price of that or of the expert
    value: np.ndarray  # (knots,): the least price, at least about
    sure: float  # the least price where the class is certain: below 0 where votes are worth having whatever they say


class Room(NamedTuple):
    """Whom a task may ask."""

    free: np.ndarray  # (workers,) bool
    members: np.ndarray  # (groups, workers) int: 0 or 1
    left: np.ndarray  # (groups,) int: labels
    most: int  # labels


@njit(cache=True, nogil=True)
def _between(belief, after, guess):
    """The knot at or below a belief, -1 where there is none; a guess that is about right."""
    k = min(max(guess, -1), belief.size - 1)
    while k >= 0 and belief[k] > after:
        k -= 1
    while k + 1 < belief.size and belief[k + 1] <= after:
        k += 1
    return k


@njit(cache=True, nogil=True)
def splits(votes, belief):
    """How each label moves each knot: chance, knot at or below where it leads, and how much of it lies there.

    A posterior between two knots is shared out between them with its mean kept, beyond the last between that one and
    certainty: whoever stood on the knots would know more, so the price that follows is never too high.
    """
    workers, knots = votes.price.size, belief.size
    chance = np.zeros((workers, knots, 2))
    below = np.zeros((workers, knots, 2), np.int32)
    weight = np.zeros((workers, knots, 2))
    for j in range(workers):
        for s in range(knots):
            for v in range(2):
                a = votes.likely[j, 1] if v else 1.0 - votes.likely[j, 1]
                b = votes.likely[j, 0] if v else 1.0 - votes.likely[j, 0]
                whole = belief[s] * a + (1.0 - belief[s]) * b
                if whole <= 0.0:
                    continue
                after = belief[s] * a / whole
                k = _between(belief, after, s + votes.adds[j, v])
                left = belief[k] if k >= 0 else 0.0
                right = belief[k + 1] if k + 1 < knots else 1.0
                chance[j, s, v], below[j, s, v] = whole, k
                weight[j, s, v] = min(1.0, max(0.0, (right - after) / (right - left)))
    return chance, below, weight


@njit(cache=True, nogil=True, inline="always")
def _least(price, moves, stop, value, s):
    """``min(stop, min_j price_j + E V)`` at knot s; ``value`` has certainty, which costs nothing, at both ends."""
    chance, below, weight = moves
    best = stop[s]
    for j in range(price.size):
        total = price[j]
        for v in range(2):
            k, w = below[j, s, v] + 1, weight[j, s, v]
            total += chance[j, s, v] * (w * value[k] + (1.0 - w) * value[k + 1])
        best = min(best, total)
    return best


@njit(cache=True, nogil=True)
def settled(price, moves, stop, value, sweeps, tolerance):
    """Sweep ``V(b) = min(stop, min_j price_j + E V(b'))`` until it stands; by how much V is above its right side.

    value (knots,): where to begin, at most stop.
    """
    knots = stop.size
    whole = np.zeros(knots + 2)
    whole[1:-1] = value
    for sweep in range(sweeps):
        change = 0.0
        for i in range(knots):
            s = i if sweep % 2 == 0 else knots - 1 - i
            best = _least(price, moves, stop, whole, s)
            change = max(change, abs(best - whole[s + 1]))
            whole[s + 1] = best
        if change <= tolerance:
            break
    above = 0.0
    for s in range(knots):
        above = max(above, whole[s + 1] - _least(price, moves, stop, whole, s))
    return whole[1:-1].copy(), above


@njit(cache=True, nogil=True)
def within(price, moves, stop, labels):
    """The least price with at most so many labels, step by step: as :func:`settled`, for prices of 0 or less.

    (knots + 2,): certainty at both ends.
    """
    whole = np.zeros(stop.size + 2)
    whole[1:-1] = stop
    for _ in range(labels):
        after = whole + min(0.0, price.min())
        for s in range(stop.size):
            after[s + 1] = _least(price, moves, stop, whole, s)
        if np.array_equal(after, whole):
            break
        whole = after
    return whole


@njit(cache=True, nogil=True, inline="always")
def _ends(votes, j, s, last):
    """The knots that worker j's label 1, and 0, lead to from knot s: the last ones where they lead beyond."""
    return min(last, max(0, s + votes.adds[j, 1])), min(last, max(0, s + votes.adds[j, 0]))


@njit(cache=True, nogil=True)
def _most_useful(votes, extra, knots, law, free):
    """The worker after whom the tasks that go on cost least, by the prices at the knots; -1 where there is none."""
    mass, low, high = 0.0, -1, -1
    for s in range(knots.belief.size):
        whole = law[0, s] + law[1, s]
        if whole > 0.0:
            mass += whole
            low = s if low < 0 else low
            high = s
    best, chosen, last = np.inf, -1, knots.belief.size - 1
    for j in range(votes.price.size):
        if not free[j] or (votes.adds[j, 0] == 0 and votes.adds[j, 1] == 0):
            continue
        total = (votes.price[j] + extra[j]) * mass
        for s in range(low, high + 1):
            one = law[1, s] * votes.likely[j, 1] + law[0, s] * votes.likely[j, 0]
            up, down = _ends(votes, j, s, last)
            total += one * knots.value[up] + (law[0, s] + law[1, s] - one) * knots.value[down]
        if total < best:
            best, chosen = total, j
    return chosen


@njit(cache=True, nogil=True)
def _moved(votes, law, j):
    """Chances of scores after worker j's label; scores that leave the knots stay at the last."""
    after, last = np.zeros(law.shape), law.shape[1] - 1
    for y in range(2):
        p = votes.likely[j, y]
        for s in range(law.shape[1]):
            if law[y, s] > 0.0:
                up, down = _ends(votes, j, s, last)
                after[y, up] += law[y, s] * p
                after[y, down] += law[y, s] * (1.0 - p)
    return after


@njit(cache=True, nogil=True)
def chosen_order(votes, extra, knots, start, law, room):
    """Workers one after another, each the most useful to those tasks that would go on; (n,).

    extra (workers,): added to prices, so that orders differ; start: the knot of the score 0; law (2,).
    """
    free, left, n = room.free.copy(), room.left.copy(), 0
    order, at = np.empty(max(0, room.most), np.int64), np.zeros((2, knots.belief.size))
    at[0, start], at[1, start] = law[0], law[1]
    while n < room.most:
        mass = 0.0
        for s in range(knots.belief.size):
            if knots.value[s] >= knots.stop[s] - 1e-9:
                at[0, s] = at[1, s] = 0.0
            mass += at[0, s] + at[1, s]
        if mass <= FADED:
            break
        j = _most_useful(votes, extra, knots, at, free)
        if j < 0:
            break
        order[n], free[j] = j, False
        n += 1
        for g in range(left.size):
            left[g] -= room.members[g, j]
            if left[g] <= 0 and room.members[g, j]:
                for k in range(free.size):
                    free[k] = free[k] and not room.members[g, k]
        at = _moved(votes, at, j)
    return order[:n].copy()


@njit(cache=True, nogil=True)
def limits_of(votes, order, knots, expert):
    """Where the order goes on, by recursion from its end at the knots' beliefs: first and last knot before each worker.

    expert: what the expert costs where the last worker has been heard, infinite where there is none. A step without
    knots that go on has its first above its last.
    """
    count, last = knots.belief.size, knots.belief.size - 1
    first, final = np.full(order.size + 1, count), np.full(order.size + 1, -1)
    value = knots.answer.copy()
    for s in range(count):
        if expert < value[s]:
            value[s] = expert
            first[order.size], final[order.size] = min(first[order.size], s), s
    for n in range(order.size - 1, -1, -1):
        j, before = order[n], knots.answer.copy()
        for s in range(1, last):
            one = knots.belief[s] * votes.likely[j, 1] + (1.0 - knots.belief[s]) * votes.likely[j, 0]
            up, down = _ends(votes, j, s, last)
            asked = votes.price[j] + one * value[up] + (1.0 - one) * value[down]
            if asked < before[s]:
                before[s] = asked
                first[n], final[n] = min(first[n], s), s
        value = before
    return first, final


@njit(cache=True, nogil=True)
def comes_to(likely, adds, low, high, law, heard, score):
    """What an order comes to from a score after so many workers: chances to ask each, to be wrong, to need the expert.

    likely (n, 2), adds (n, 2), low and high (n + 1,): of the order's workers, see ``AskingOrder``; law (2,): chances of
    the classes now. Scores are whole numbers, so nothing is rounded but floats.
    """
    n, width = likely.shape[0], 0
    for k in range(n):
        width += max(abs(adds[k, 0]), abs(adds[k, 1]))
    at = np.zeros((2, 2 * width + 1 + 2 * abs(score)))
    middle = width + abs(score)
    at[0, middle + score], at[1, middle + score] = law[0], law[1]
    asked, wrong, expert = np.zeros(n), 0.0, 0.0
    for k in range(heard, n + 1):
        after = np.zeros(at.shape)
        for i in range(at.shape[1]):
            whole = at[0, i] + at[1, i]
            if whole == 0.0:
                continue
            if i - middle <= low[k]:
                wrong += at[1, i]
            elif i - middle >= high[k]:
                wrong += at[0, i]
            elif k == n:
                expert += whole
            else:
                asked[k] += whole
                for y in range(2):
                    after[y, i + adds[k, 1]] += at[y, i] * likely[k, y]
                    after[y, i + adds[k, 0]] += at[y, i] * (1.0 - likely[k, y])
        at = after
    return asked, wrong, expert

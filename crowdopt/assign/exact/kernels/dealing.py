"""Compiled loops on the labels of tasks: chance, counting, dealing; see assign.dealt for the arrays."""

from __future__ import annotations

import numpy as np

from crowdopt.compiled_kernels import njit


@njit(cache=True, no_cpython_wrapper=True)
def draw(state, below):
    """A whole number in [0, below), by xorshift."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x % np.uint64(below))


@njit(cache=True, no_cpython_wrapper=True)
def count(hands, held, i, g):
    """Labels that task i has from class g.

    hands (tasks, widest), held (tasks,): as in Dealt; i, g: the task and the class.
    """
    labels = 0
    for k in range(held[i]):
        if hands[i, k] == g:
            labels += 1
    return labels


@njit(cache=True, no_cpython_wrapper=True)
def too_many(hand, n, size):
    """Whether a hand has more labels of a class than the class has workers."""
    for t in range(n):
        if size[hand[t]] > 1:
            same = 0
            for s in range(n):
                same += hand[s] == hand[t]
            if same > size[hand[t]]:
                return True
    return False


@njit(cache=True, no_cpython_wrapper=True)
def _sink(heap, size, slack, at):
    """Restore the heap, least slack on top, from a place downwards."""
    moved = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and slack[heap[child + 1]] < slack[heap[child]]:
            child += 1
        if slack[heap[child]] >= slack[moved]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = moved


@njit(cache=True, no_cpython_wrapper=True)
def _rise(heap, slack, at):
    """Restore the heap from a place upwards."""
    moved = heap[at]
    while at > 0:
        above = (at - 1) // 2
        if slack[heap[above]] <= slack[moved]:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = moved


@njit(cache=True)
def deal(tasks, groups, amounts, worth, dealt):
    """Deal ``amounts[g]`` labels of each group, in the given order, always to the tasks that lack most.

    It makes the least slack large: the next label goes where slack is least, kept on top of a heap, and with the best
    groups first the coarse labels are dealt while there are finer ones to even them out. In a round a task gets at
    most one label of a group, and a group gives at most as many rounds as it has workers: so nobody labels a task
    twice. The heap is restored label by label, in log(tasks) each.

    groups (k,) int: worker classes, in the order in which they are dealt; amounts, worth (G,): labels to deal, and the
    evidence of one for these tasks.
    """
    hands, held, slack = dealt.hands, dealt.held, dealt.slack
    n = tasks.size
    heap = tasks.copy()
    for at in range(n // 2 - 1, -1, -1):
        _sink(heap, n, slack, at)
    for g in groups:
        out = amounts[g]
        while out > 0:
            some = min(out, n)
            out -= some
            size = n
            for _ in range(some):  # the taken tasks gather behind the heap
                size -= 1
                heap[0], heap[size] = heap[size], heap[0]
                _sink(heap, size, slack, 0)
            for k in range(size, n):
                i = heap[k]
                hands[i, held[i]] = g
                held[i] += 1
                slack[i] += worth[g]
                _rise(heap, slack, k)

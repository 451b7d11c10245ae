"""What multipliers prove: a task's least price by backward recursion, whatever the multipliers are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import PolicyProof
from crowdopt.programs.cascade import Asking, Cascade


def proven_bound(cascade: Cascade, proof: PolicyProof) -> float:
    """``sum n V - mu epsilon n + sum M w + budget``: below the cost of every adaptive plan, for any mu >= 0, w <= 0.

    ``V(s) = min(mu P(wrong | s), c_E, min_a c_a - w_a + sum_v P(v | s, a) V(s, v))``, the price of a task that stands
    in s where errors, votes and money have these prices; without the first or the second where a task may not stop so.
    With limits d_k by true class a wrong answer costs mu + nu_k where k is true, and ``sum nu_k d_k N_k`` is taken off.
    """
    told, total = cascade.told, 0.0
    for t in range(len(told.states)):
        here = told.start[t] > 0  # elsewhere a price may be infinite
        total += float((told.start[t][here] * _values(cascade, proof, t)[0][here]).sum())
    total -= float((proof.error * cascade.times * told.epsilon * told.tasks_in).sum())
    if cascade.class_error:
        some, most = cascade.class_limits
        total -= float((np.array(proof.classes)[some] * most).sum())
    total += float((told.capacity * proof.capacity).sum())
    total += sum(row.side * dual for row, (*_, dual) in zip(told.label_rows, proof.limits, strict=True))
    return float(total + proof.budget * (told.instance.budget or 0.0))


def can_end(cascade: Cascade, kind: int) -> Bools:
    """Where tasks of a kind can go on to a stop, however votes fall, (levels, states)."""
    told = cascade.told
    limits = tuple((row.limit, row.name, 0.0) for row in told.label_rows)
    free = PolicyProof(np.zeros(told.first.size), np.zeros(told.capacity.size), 0.0, limits)
    return np.isfinite(_values(cascade, free, kind))


def _values(cascade: Cascade, proof: PolicyProof, kind: int) -> Floats:
    """V of a kind, (levels, states)."""
    money = 1.0 - proof.budget
    weighed = cascade.told.belief[kind] * (proof.error[kind] + np.array(proof.classes or 0.0))
    stop = np.where(cascade.may_answer[kind], weighed.sum(axis=1) - weighed.max(axis=1), np.inf)
    if cascade.expert is not None:
        stop = np.where(cascade.may_stop[kind], np.minimum(stop, cascade.expert * money), stop)
    value = stop.copy()
    askings = [one for one in cascade.askings if one.kind == kind]
    limits = proof.capacity + sum(
        (row.weight[kind] * dual for row, (*_, dual) in zip(cascade.told.label_rows, proof.limits, strict=True)),
        np.zeros(proof.capacity.size),
    )
    for one, some in _backward(cascade, askings, kind):
        onward = one.level + (cascade.rounds is not None)
        price = one.price * money - float((limits * np.array(one.votes)).sum())
        chance = one.chance[some]
        after = np.where(chance > 0, value[onward, one.reached[some]], 0.0)  # some states have no end: no price either
        asked = price + (chance * after).sum(axis=1)
        where = one.states[some]
        value[one.level, where] = np.minimum(value[one.level, where], asked)
    return value


def _backward(cascade: Cascade, askings: list[Asking], kind: int) -> Iterator[tuple[Asking, Ints]]:
    """Parts of the columns that ask, last rounds or most votes first, so that where they lead is known."""
    if cascade.rounds is not None:
        for one in sorted(askings, key=lambda one: -one.level):
            yield one, np.arange(one.states.size)
        return
    votes = cascade.told.states[kind].asked.sum(axis=0)
    orders = [np.argsort(-votes[one.states], kind="stable") for one in askings]
    told = [votes[one.states[order]] for one, order in zip(askings, orders, strict=True)]
    for step in range(int(votes.max(initial=0)), -1, -1):
        for one, order, sorted_votes in zip(askings, orders, told, strict=True):
            start, end = np.searchsorted(-sorted_votes, [-step, -step + 1])
            if start < end:
                yield one, order[start:end]

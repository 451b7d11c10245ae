"""What multipliers prove: a task's least price by backward recursion, whatever the multipliers are."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.cascade.adaptive_plan import Proof
from crowdopt.programs.cascade import Cascade


def proven_bound(cascade: Cascade, proof: Proof) -> float:
    """``sum n V - mu epsilon n + sum M w + budget``: below the cost of every adaptive plan, for any mu >= 0, w <= 0.

    ``V(s) = min(mu P(wrong | s), c_E, min_a c_a - w_a + sum_v P(v | s, a) V(s, v))``, the price of a task that stands
    in s where errors, votes and money have these prices.
    """
    told = cascade.told
    value = _values(cascade, proof)
    total = float((told.start * value[:, 0]).sum())
    total -= float((proof.error * cascade.times * told.epsilon * told.tasks_in).sum())
    total += float((told.capacity * proof.capacity).sum())
    return total + proof.budget * (told.instance.budget or 0.0)


def _values(cascade: Cascade, proof: Proof) -> Floats:
    """V, (kinds, levels, states)."""
    told, money = cascade.told, 1.0 - proof.budget
    total = told.joint.sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(total > 0, 1.0 - told.joint.max(axis=2) / total, 0.0)
    stop = proof.error[:, None] * error
    if cascade.expert is not None:
        stop = np.minimum(stop, cascade.expert * money)
    value = np.repeat(stop[:, None], cascade.levels, axis=1)
    votes = told.states.asked.sum(axis=0)
    steps = range(int(votes.max(initial=0)), -1, -1) if cascade.rounds is None else [None]
    for level in range(cascade.levels - 1, -1, -1):
        onward = level + (cascade.rounds is not None)
        mine = [one for one in cascade.askings if one.level == level]
        for step in steps:
            for one in mine:
                some = slice(None) if step is None else np.flatnonzero(votes[one.states] == step)
                price = one.price * money - float((proof.capacity * np.array(one.votes)).sum())
                asked = price + (one.chance[some] * value[one.kind, onward, one.reached[some]]).sum(axis=1)
                where = one.states[some]
                value[one.kind, level, where] = np.minimum(value[one.kind, level, where], asked)
    return value

"""Whole labels between classes that miss the least evidence for a sum of money: a bound for every plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program, extended
from crowdopt.crowd.alike import Classes
from crowdopt.programs import aggregated


def of_classes(classes: Classes, money: float, margin: float = 0.0) -> Program:
    """``min sum_t lack_t  s.t.  sum_g q_tg u_tg + lack_t >= n_t (C_t + margin)``, ``sum c u <= money``, whole u.

    The other rows are the aggregated LP's. The labels of a plan, summed over classes, are a point of it; so no plan
    costs at most ``money`` where its optimum exceeds ``margin`` times the number of tasks.

    Columns: ``u`` (T, G), ``lack`` (T,). Rows as in ``aggregated`` with whole labels, and the money in the row
    ``budget``.

    margin: evidence per task that is asked for beyond the need.
    """
    budget = replace(classes.instance, budget=money)
    base = aggregated.of_classes(replace(classes, instance=budget), whole=True)
    cover, lack = base.row("cover").span, classes.need.size
    side = base.row_lower.copy()
    side[cover] += margin * classes.tasks_in
    entries = np.zeros((side.size, lack))
    entries[cover, np.arange(lack)] = 1.0
    base = replace(base, name="whole-amounts", row_lower=side)
    program = extended(base, [("lack", (lack,))], sparse.csc_array(entries), cost=1.0, upper=np.inf)
    return replace(program, integer=np.arange(program.cost.size) < base.cost.size)


def boxed(program: Program, relaxed: Program, multipliers: Floats, bound: float, money: float) -> Program:
    """The same where every amount stays as near its end as money allows: reduced costs fix it, or keep it in a box.

    With multipliers of the aggregated LP that prove ``bound``, a label beyond the end that its reduced cost pulls it
    to costs that reduced cost more: points that cost at most ``money`` have no more than ``(money - bound) / |r|``.

    Columns: those of ``program``.

    program: of :func:`of_classes`; relaxed: the aggregated LP with whole labels; bound: what they prove.
    """
    reduced = relaxed.cost - relaxed.matrix.T @ multipliers
    many = np.floor((money - bound) / np.maximum(np.abs(reduced), 1e-12) * (1 + 1e-9) + 1e-6)
    low = np.where(reduced < 0, np.maximum(relaxed.lower, relaxed.upper - many), relaxed.lower)
    high = np.where(reduced > 0, np.minimum(relaxed.upper, relaxed.lower + many), relaxed.upper)
    lower, upper = program.lower.copy(), program.upper.copy()
    lower[: low.size], upper[: high.size] = low, np.maximum(low, high)
    return replace(program, lower=lower, upper=upper)

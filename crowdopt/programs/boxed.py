"""The aggregated LP's undecided amounts, with prices of evidence held in a box: one step of the box-step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack


@dataclass(frozen=True, eq=False)
class OpenAmounts:
    """Amounts to be decided."""

    # class of workers and class of tasks of each
    worker: Ints  # (k,)
    kind: Ints  # (k,)
    # of a label
    evidence: Floats  # (k,)
    cost: Floats  # (k,)
    upper: Floats  # (k,): the most labels


def of_amounts(amounts: OpenAmounts, need: Floats, left: Floats, lowest: Floats, highest: Floats) -> Program:
    """``min c u + h^+ had - h^- given  s.t.  sum_g q_tg u_tg + had_t - given_t = d_t,  sum_t u_tg <= r_g``.

    Evidence may be had at the box's upper price ``h^+`` and given back at its lower one ``h^-``, which holds the
    multiplier of the need d_t, the price of evidence, between them (Marsten, Hogan & Blankenship 1975). Where the
    upper price is infinite the row is a plain need, ``>= d_t``. A worker class with a single open amount needs no row.

    Columns: ``amount`` (k,), ``had`` and ``given`` (task classes with a box,). Rows: ``cover`` (T,), ``worker``
    (worker classes with several open amounts,).

    need (T,): d_t, evidence that the amounts decided leave to find, of all tasks of the class; left (G,): r_g, labels
    that they leave; lowest, highest (T,): h^- (at least 0 is used) and h^+ (inf: no box), cost per unit of evidence.
    """
    kinds, pairs = need.size, amounts.worker.size
    shared = np.bincount(amounts.worker, minlength=left.size)[amounts.worker] > 1
    several, row = np.unique(amounts.worker[shared], return_inverse=True)
    elastic = np.isfinite(highest)
    ends, busy = np.flatnonzero(elastic), several.size
    each = np.arange(pairs)
    entry = [amounts.evidence, np.ones(row.size), np.ones(ends.size), -np.ones(ends.size)]
    rows = [amounts.kind, kinds + row, ends, ends]
    columns = [each, each[shared], pairs + np.arange(ends.size), pairs + ends.size + np.arange(ends.size)]
    size = pairs + 2 * ends.size
    return Program(
        name="boxed",
        cost=np.concatenate([amounts.cost, highest[ends], -np.maximum(0.0, lowest[ends])]),
        matrix=sparse.csc_array(
            (np.concatenate(entry), (np.concatenate(rows), np.concatenate(columns))), shape=(kinds + busy, size)
        ),
        row_lower=np.concatenate([need, np.full(busy, -np.inf)]),
        row_upper=np.concatenate([np.where(elastic, need, np.inf), left[several]]),
        lower=np.zeros(size),
        upper=np.concatenate([np.minimum(amounts.upper, left[amounts.worker]), np.full(2 * ends.size, np.inf)]),
        integer=np.zeros(size, bool),
        columns=stack([("amount", (pairs,)), ("had", (ends.size,)), ("given", (ends.size,))]),
        rows=stack([("cover", (kinds,)), ("worker", (busy,))]),
    )

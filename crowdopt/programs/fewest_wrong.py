"""The fewest wrong answers that money buys, as an LP: a convex error curve held from below by its tangents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program, stack
from crowdopt.crowd.alike import Classes
from crowdopt.programs import aggregated

FAR = 1e3  # evidence; no vote has as much


@dataclass(frozen=True, eq=False)
class Tangents:
    """Points at which tangents touch each class's curve."""

    evidence: Floats  # (T,): there
    value: Floats  # (T,): the curve's value
    slope: Floats  # (T,): its slope


def of_tangents(classes: Classes, held: Floats, tangents: list[Tangents]) -> Program:
    """``min sum_t n_t e_t  s.t.  e_t >= phi_t(a) + phi_t'(a) (A_t - a),  n_t A_t <= n_t D_t + sum_g q_tg u_tg``.

    For each tangent at a, with the aggregated LP's capacities and budget; e_t is the error of a task of class t, A_t
    its evidence, D_t what is in already, phi the curve.

    Columns: ``u`` (T, G), ``evidence`` (T,), ``error`` (T,). Rows: those of ``aggregated``, ``cover`` as above,
    and ``tangent`` (tangents, T).

    classes: of an instance with a budget; tangents: each touches the curves of all classes of tasks.
    """
    base = aggregated.of_classes(classes)
    kinds, columns, n = classes.tasks_in.size, base.cost.size, classes.tasks_in.astype(np.float64)
    cover, rows = base.row("cover"), base.row_lower.size
    unit = sparse.eye_array(kinds, format="csr")
    spread = sparse.csr_array((-n, (np.arange(cover.start, cover.stop), np.arange(kinds))), shape=(rows, kinds))
    top = sparse.hstack([base.matrix, spread, sparse.csr_array((rows, kinds))])
    cuts = [sparse.hstack([sparse.csr_array((kinds, columns)), sparse.diags_array(-t.slope), unit]) for t in tangents]
    row_lower, row_upper = base.row_lower.copy(), base.row_upper.copy()
    row_lower[cover.span], row_upper[cover.span] = -n * held, np.inf
    sides = [tangent.value - tangent.slope * tangent.evidence for tangent in tangents]
    return Program(
        name="fewest-wrong",
        cost=np.concatenate([np.zeros(columns + kinds), n]),
        matrix=sparse.vstack([top, *cuts], format="csc"),
        row_lower=np.concatenate([row_lower, *sides]),
        row_upper=np.concatenate([row_upper, np.full(kinds * len(tangents), np.inf)]),
        lower=np.concatenate([base.lower, np.zeros(2 * kinds)]),
        upper=np.concatenate([base.upper, np.full(kinds, FAR), np.ones(kinds)]),
        integer=np.zeros(columns + 2 * kinds, bool),
        columns=stack([("u", base.columns[0].shape), ("evidence", (kinds,)), ("error", (kinds,))]),
        rows=stack([*((block.name, block.shape) for block in base.rows), ("tangent", (len(tangents), kinds))]),
    )

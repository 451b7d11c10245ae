"""A program as the arguments of scipy.optimize.linprog, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.backends.claims import Sides
from crowdopt.backends.modelling.modelled import OWN, Modelled, Stated, Told, came_back
from crowdopt.core.program import Program
from crowdopt.core.solution import Solution, Status

MEANING = {0: Status.OPTIMAL, 2: Status.INFEASIBLE, 3: Status.UNBOUNDED}


def modelled(program: Program) -> Modelled:
    """``c, A_ub, b_ub, A_eq, b_eq, bounds, integrality, method``; in A_ub the lower sides, turned, come first."""
    sides, by_row = Sides.of(program), program.matrix.tocsr()
    model = {
        "c": program.cost.copy(),
        "A_ub": sparse.vstack([-by_row[sides.least], by_row[sides.most]], format="csr"),
        "b_ub": np.concatenate([-program.row_lower[sides.least], program.row_upper[sides.most]]),
        "A_eq": sparse.csr_array(by_row[sides.equal]),
        "b_eq": program.row_lower[sides.equal],
        "bounds": np.column_stack([program.lower, program.upper]),
        "integrality": program.integer.astype(int),
        "method": "highs",
    }
    columns, rows = np.arange(program.cost.size), np.arange(program.row_lower.size)
    return Modelled(
        program,
        "scipy",
        model,
        {block.name: block.view(columns) for block in program.columns},
        {block.name: block.view(rows) for block in program.rows},
        sides,
    )


def solution_of(model: Modelled, result: Any, gap: float) -> Solution:
    """What ``linprog(**model.model)`` returned, of the program that these arguments state now."""
    given, base, sides = model.model, model.program, model.parts
    count = np.asarray(given["c"]).size
    upper, equal = (sparse.csr_array(given[name]) for name in ("A_ub", "A_eq"))
    below, level = np.asarray(given["b_ub"], float), np.asarray(given["b_eq"], float)
    turned = np.ones(below.size)
    turned[: sides.least.size] = -1.0
    place = np.full(below.size + level.size, OWN)
    place[: sides.least.size + sides.most.size] = np.concatenate([sides.least, sides.most])
    place[below.size : below.size + sides.equal.size] = sides.equal
    box = np.broadcast_to(np.asarray(given["bounds"], float), (count, 2))
    whole = np.broadcast_to(np.asarray(given.get("integrality", 0)) == 1, count)
    stated = Stated(
        np.asarray(given["c"], float),
        np.where(np.isnan(box[:, 0]), -np.inf, box[:, 0]),
        np.where(np.isnan(box[:, 1]), np.inf, box[:, 1]),
        whole,
        sparse.vstack([sparse.diags_array(turned) @ upper, equal], format="csr"),
        place,
        np.concatenate([np.where(turned < 0, -below, -np.inf), level]),
        np.concatenate([np.where(turned < 0, np.inf, below), level]),
    )
    status = MEANING.get(result.status, Status.UNDECIDED)
    price = None if whole.any() else _prices(result, turned)
    bound = getattr(result, "mip_dual_bound", None) if whole.any() else None
    return came_back(base, "scipy", stated, Told(status, result.x, price, bound, str(result.message)), gap)


def _prices(result: Any, turned: Floats) -> Floats | None:
    """A marginal is the change of the optimum per unit of the side; that of a turned row is minus its lower side's."""
    parts = getattr(result, "ineqlin", None), getattr(result, "eqlin", None)
    if any(part is None or getattr(part, "marginals", None) is None for part in parts):
        return None
    upper, equal = (np.asarray(part.marginals, dtype=np.float64) for part in parts if part is not None)
    return np.concatenate([turned * upper, equal]) if upper.size == turned.size else None

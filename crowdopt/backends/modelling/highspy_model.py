"""A program as a highspy.Highs, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.backends.highs import FEASIBLE_POINT, MEANING, hand_over, variable, word_of
from crowdopt.backends.modelling.modelled import OWN, Modelled, Stated, Told, by_block, came_back
from crowdopt.core.program import Program
from crowdopt.core.solution import Options, Solution, Status
from crowdopt.errors import InputError


def modelled(program: Program, columns: Sequence[str], rows: Sequence[str]) -> Modelled:
    """The program in a Highs object, named."""
    model = hand_over(program.with_whole_sides(), Options())
    model.setOptionValue("time_limit", np.inf)
    for k, name in enumerate(columns):
        model.passColName(k, name)
    for k, name in enumerate(rows):
        model.passRowName(k, name)
    variables = by_block(program.columns, [variable(model, k) for k in range(program.cost.size)])
    places = np.arange(program.row_lower.size)
    return Modelled(program, "highspy", model, variables, {block.name: block.view(places) for block in program.rows})


def solution_of(model: Modelled, gap: float) -> Solution:
    """What the Highs object says, of the program that it holds now."""
    highs, base = model.model, model.program
    lp, info, point = highs.getLp(), highs.getInfo(), highs.getSolution()
    if lp.offset_ != 0 or "Minimize" not in str(lp.sense_):
        raise InputError("the model is a maximum or has a constant in its objective; a program here is a minimum")
    raw = word_of(highs)
    status = MEANING.get(raw, Status.UNDECIDED)
    integer = np.array([str(kind).endswith("kInteger") for kind in lp.integrality_], bool)
    whole = integer if integer.size else np.zeros(lp.num_col_, bool)
    rows, own = int(lp.num_row_), base.row_lower.size
    if rows < own:
        raise InputError("rows of the program are gone from the model; free their sides instead of deleting them")
    place = np.where(np.arange(rows) < own, np.arange(rows), OWN)
    stated = Stated(
        np.array(lp.col_cost_),
        np.array(lp.col_lower_),
        np.array(lp.col_upper_),
        whole,
        _matrix(lp),
        place,
        np.array(lp.row_lower_),
        np.array(lp.row_upper_),
    )
    primal = np.array(point.col_value) if info.primal_solution_status == FEASIBLE_POINT else None
    dual = np.array(point.row_dual) if point.dual_valid and not whole.any() else None
    if status is Status.INFEASIBLE and not whole.any():
        _, there, values = highs.getDualRay()
        dual = np.array(values) if there else None
    bound = float(info.mip_dual_bound) if whole.any() and np.isfinite(info.mip_dual_bound) else None
    return came_back(base, "highspy", stated, Told(status, primal, dual, bound, raw), gap)


def _matrix(lp: Any) -> Any:
    matrix = lp.a_matrix_
    parts = np.array(matrix.value_), np.array(matrix.index_), np.array(matrix.start_)
    shape = (int(lp.num_row_), int(lp.num_col_))
    by_row = "Rowwise" in str(matrix.format_)
    return sparse.csr_array(parts, shape=shape) if by_row else sparse.csr_array(sparse.csc_array(parts, shape=shape))

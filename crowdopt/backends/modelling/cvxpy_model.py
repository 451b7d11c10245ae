"""A program as a cvxpy.Problem, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.backends.cvxpy import MEANING, load, proven_bound
from crowdopt.backends.modelling.modelled import OWN, Modelled, Stated, Told, came_back, own_sides
from crowdopt.core.program import Block, Program
from crowdopt.core.solution import Solution, Status
from crowdopt.errors import InputError

EQUAL, LEAST, MOST = 0, 1, 2


def modelled(program: Program) -> Modelled:
    """The program as a Problem: a variable per block of columns, a constraint per block of rows and kind of side."""
    cvxpy = load()
    variables = [_variable(cvxpy, program, block) for block in program.columns]
    flat = cvxpy.hstack([cvxpy.reshape(one, (one.size,), order="C") for one in variables])
    by_row = program.matrix.tocsr()
    rows: dict[str, Any] = {}
    mine: dict[int, tuple[int, Ints]] = {}
    for block in program.rows:
        kinds = _kinds(program, block)
        sides = program.row_lower, program.row_lower, program.row_upper
        made = []
        for kind, where in enumerate(kinds):
            if not where.size:
                continue
            left, right = by_row[where] @ flat, sides[kind][where]
            constraint = left == right if kind == EQUAL else left >= right if kind == LEAST else left <= right
            mine[constraint.id] = (kind, where)
            made.append(constraint)
        rows[block.name] = made
    everything = [constraint for made in rows.values() for constraint in made]
    problem = cvxpy.Problem(cvxpy.Minimize(program.cost @ flat), everything)
    columns = {block.name: one for block, one in zip(program.columns, variables, strict=True)}
    return Modelled(program, "cvxpy", problem, columns, rows, mine)


def _variable(cvxpy: Any, program: Program, block: Block) -> Any:
    box = [block.view(program.lower), block.view(program.upper)]
    whole = block.view(program.integer)
    kind: Any = {"integer": True} if whole.all() else {"integer": np.nonzero(whole)} if whole.any() else {}
    return cvxpy.Variable(block.shape, name=block.name, bounds=box, **kind)


def _kinds(program: Program, block: Block) -> tuple[Ints, Ints, Ints]:
    """Rows of a block with two equal sides, a lower one, an upper one; rows without entries are left out."""
    place = np.arange(block.start, block.stop)
    place = place[np.diff(program.matrix.tocsr().indptr)[place] > 0]
    low, high = program.row_lower[place], program.row_upper[place]
    equal = low == high
    return place[equal], place[np.isfinite(low) & ~equal], place[np.isfinite(high) & ~equal]


def solution_of(model: Modelled, problem: Any, gap: float) -> Solution:
    """What a Problem says, the modeller's own or the one handed out, of the program that it states."""
    problem, base = problem or model.model, model.program
    stated, prices, values = _stated(model, problem)
    raw = str(problem.status)
    price = None if any(one is None for one in prices) else np.concatenate([np.zeros(0), *prices])
    point = None if any(value is None for value in values) else _flat(values)
    status = MEANING.get(raw, Status.UNDECIDED)
    return came_back(base, "cvxpy", stated, Told(status, point, price, proven_bound(problem), raw), gap)


def _stated(model: Modelled, problem: Any) -> tuple[Stated, list[Any], list[Any]]:
    """The program that a Problem states, the prices of its rows and the values of its columns, None where unknown."""
    base = model.program
    if not problem.objective.is_dcp() or type(problem.objective).__name__ != "Minimize":
        raise InputError("the model is a maximum; a program here is a minimum, so turn the objective's sign")
    own = list(model.columns.values())
    others = [one for one in problem.variables() if all(one is not known for known in own)]
    variables = [*own, *others]
    starts = np.concatenate([[0], np.cumsum([one.size for one in variables])]).astype(np.int64)
    values = [one.value for one in variables]
    with _at_zero(variables):
        cost = _form(problem.objective.expr, variables, starts)
        added = [_added(one, variables, starts) for one in problem.constraints if one.id not in model.parts]
    if cost[1].any():
        raise InputError("the model's objective has a constant; leave it out, for a program here has none")
    mine = [one for one in problem.constraints if one.id in model.parts]
    lists = [_own(base, model.parts[one.id], starts[-1], one) for one in mine] + added
    return _of_parts(base, cost[0], others, lists), [part[4] for part in lists], values


def _of_parts(base: Program, cost: Any, others: list[Any], lists: list[Any]) -> Stated:
    """The program out of its costs, columns beyond the base's, and lists of sides."""
    extra, nothing = [_box(one) for one in others], np.zeros(0)
    parts = [np.concatenate([nothing, *(part[k] for part in lists)]) for k in (1, 2, 3)]
    return Stated(
        cost.toarray().reshape(-1),
        np.concatenate([base.lower, *(low for low, _, _ in extra)]),
        np.concatenate([base.upper, *(high for _, high, _ in extra)]),
        np.concatenate([base.integer, *(whole for _, _, whole in extra)]),
        sparse.vstack([sparse.csr_array((0, cost.shape[1])), *(part[0] for part in lists)], format="csr"),
        parts[0].astype(np.int64),
        parts[1],
        parts[2],
    )


def _flat(values: list[Any]) -> Floats:
    return np.concatenate([np.asarray(value, float).reshape(-1) for value in values])


class _at_zero:
    """While affine expressions are taken apart, every variable is 0: an expression's value is its constant."""

    def __init__(self, variables: list[Any]) -> None:
        self.variables, self.values = variables, [one.value for one in variables]

    def __enter__(self) -> None:
        for one in self.variables:
            one.save_value(np.zeros(one.shape))

    def __exit__(self, *_: object) -> None:
        for one, value in zip(self.variables, self.values, strict=True):
            one.save_value(value)


def _form(expression: Any, variables: list[Any], starts: Ints) -> tuple[Any, Floats]:
    """An affine expression as coefficients (its size, columns), the variables in C order, and its constant."""
    if not expression.is_affine():
        raise InputError(f"the model is not linear: {str(expression)[:60]}; a program here is")
    constant = np.asarray(expression.value, float).reshape(-1, order="F")
    parts = []
    grad = expression.grad
    for k, one in enumerate(variables):
        size = int(starts[k + 1] - starts[k])
        there = next((value for known, value in grad.items() if known is one), None)
        if there is None:
            parts.append(sparse.csr_array((constant.size, size)))
            continue
        order = np.arange(size).reshape(one.shape, order="F").reshape(-1)  # CVXPY counts column by column
        table = sparse.csr_array(np.atleast_2d(there) if np.isscalar(there) else there)
        parts.append(sparse.csr_array(table[order].T))
    return sparse.hstack(parts, format="csr"), constant


def _added(constraint: Any, variables: list[Any], starts: Ints) -> Any:
    """A modeller's constraint as sides: coefficients, places, least, most, prices."""
    kind = type(constraint).__name__
    if kind not in ("Equality", "Inequality", "Zero", "NonNeg", "NonPos"):
        raise InputError(f"the model has a constraint of the kind {kind}, which a program does not have")
    expression = constraint.args[0] if kind in ("Zero", "NonNeg", "NonPos") else constraint.expr
    matrix, constant = _form(expression, variables, starts)
    side, size = -constant, constant.size
    least = np.full(size, -np.inf) if kind in ("Inequality", "NonPos") else side
    most = np.full(size, np.inf) if kind == "NonNeg" else side
    return matrix, np.full(size, OWN), least, most, _price(constraint, 1.0 if kind == "NonNeg" else -1.0)


def _own(base: Program, mine: tuple[int, Ints], columns: int, constraint: Any) -> Any:
    kind, rows = mine
    least = np.full(rows.size, -np.inf) if kind == MOST else base.row_lower[rows]
    most = np.full(rows.size, np.inf) if kind == LEAST else base.row_upper[rows]
    return own_sides(base, rows, columns), rows, least, most, _price(constraint, 1.0 if kind == LEAST else -1.0)


def _price(constraint: Any, sign: float) -> Floats | None:
    """CVXPY's duals of inequalities are >= 0, those of equalities go with ``y'(Ax - b)``: both turned our way."""
    value = constraint.dual_value
    return None if value is None else sign * np.asarray(value, float).reshape(-1, order="F")


def _box(variable: Any) -> tuple[Floats, Floats, Any]:
    given = {key: value for key, value in variable.attributes.items() if value is not None and value is not False}
    known = {"nonneg", "nonpos", "bounds", "integer", "boolean"}
    if set(given) - known:
        raise InputError(f"the model has a variable with the attribute {sorted(set(given) - known)[0]}; no column has")
    low, high = given.get("bounds", (-np.inf, np.inf))
    shape = variable.shape
    low, high = (np.array(np.broadcast_to(end, shape), float).reshape(-1) for end in (low, high))
    if "nonneg" in given or "boolean" in given:
        low = np.maximum(low, 0.0)
    if "nonpos" in given:
        high = np.minimum(high, 0.0)
    if "boolean" in given:
        high = np.minimum(high, 1.0)
    return low, high, _whole(given, "integer", shape) | _whole(given, "boolean", shape)


def _whole(given: dict[str, Any], name: str, shape: Any) -> Any:
    mark = np.zeros(shape, bool)
    if given.get(name) is True:
        mark[...] = True
    elif name in given:
        mark[tuple(np.asarray(part) for part in zip(*given[name], strict=True))] = True
    return mark.reshape(-1)

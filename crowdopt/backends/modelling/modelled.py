"""A program in the objects of a modelling library, and what comes back from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.backends.claims import solution
from crowdopt.core.program import Program, stack
from crowdopt.core.solution import Solution, Status
from crowdopt.errors import InputError

ADDED = "added"  # what the block of columns, and that of rows, is called that a modeller added
OWN = -1  # in place of a row's number: it is none of the program's


@dataclass(frozen=True, eq=False)
class Modelled:
    """A program in another library's objects, to go on modelling with.

    Parameters
    ----------
    program : Program
        What was handed over.
    library : str
        ``highspy``, ``pulp``, ``cvxpy`` or ``scipy``.
    model : object
        The library's own: ``highspy.Highs``, ``pulp.LpProblem``, ``cvxpy.Problem``, or the arguments of
        ``scipy.optimize.linprog``.
    columns, rows : dict
        Block name -> the library's variables, or its constraints, as an array of the block's shape (CVXPY: an
        expression; rows of a side that no row of the block has are absent). SciPy has no objects: there they are the
        positions of the columns in ``c``, and of the rows in the program.
    parts : object
        What the way back needs to know.
    """

    program: Program
    library: str
    model: Any
    columns: dict[str, Any]
    rows: dict[str, Any]
    parts: Any = None


@dataclass(frozen=True, eq=False)
class Stated:
    """The program as a library's objects state it now: columns, and one entry for each side of a row."""

    # the program's own columns first
    cost: Floats  # (columns,)
    lower: Floats  # (columns,)
    upper: Floats  # (columns,)
    integer: Bools  # (columns,)
    sides: Any  # (k, columns) sparse array: coefficients
    place: Ints  # (k,): row of the program whose side it is; OWN for the modeller's
    # what the side is held to
    least: Floats  # (k,)
    most: Floats  # (k,)


@dataclass(frozen=True, eq=False)
class Told:
    """What the library says of its solve: see Solution. ``price``: one multiplier per side, in the house's sign."""

    status: Status
    primal: Any
    price: Floats | None
    bound: float | None
    raw: str


def came_back(base: Program, library: str, stated: Stated, told: Told, gap: float) -> Solution:
    """The library's answer as a solution of the program that its objects state, what was added included.

    A search that calls a point optimal and names no bound claims one ``gap`` (relative) below its value.

    gap: relative; the library's own limit.
    """
    program, row = assembled(base, stated)
    bound = told.bound if program.integer.any() else None
    if program.integer.any() and bound is None and told.status is Status.OPTIMAL and told.primal is not None:
        value = float(program.cost @ np.asarray(told.primal, float).reshape(-1))
        bound = value - gap * abs(value)
    price = None
    if told.price is not None and told.price.size == row.size and np.isfinite(told.price).all():
        price = np.bincount(row, told.price, program.row_lower.size)
    return solution(program, library, told.status, told.primal, price, price, bound, 0.0, told.raw)


def assembled(base: Program, stated: Stated) -> tuple[Program, Ints]:
    """The program as stated, and the row of it that each side belongs to.

    stated: the program as the library's objects state it now; -> row (sides,): the row of it that each side belongs to.
    Raises InputError if two sides of one row have different coefficients, or columns of the program are gone.
    """
    own, count = base.row_lower.size, base.cost.size
    if stated.cost.size < count:
        raise InputError("columns of the program are gone from the model; fix them at 0 instead of removing them")
    added = np.flatnonzero(stated.place == OWN)
    row = stated.place.copy()
    row[added] = own + np.arange(added.size)
    rows, columns = own + added.size, stated.cost.size - count
    first = np.full(rows, -1)
    first[row[::-1]] = np.arange(row.size)[::-1]
    _refuse_two_forms(base, sparse.csr_array(stated.sides), row, first)
    there = first >= 0
    pick = sparse.csr_array((np.ones(there.sum()), (np.flatnonzero(there), first[there])), shape=(rows, row.size))
    low, high = np.full(rows, -np.inf), np.full(rows, np.inf)
    np.maximum.at(low, row, stated.least)
    np.minimum.at(high, row, stated.most)
    more = [(_free(base.rows), (added.size,))] * bool(added.size)
    wider = [(_free(base.columns), (columns,))] * bool(columns)
    program = Program(
        name=base.name,
        cost=np.array(stated.cost, dtype=np.float64),
        matrix=sparse.csc_array(pick @ stated.sides),
        row_lower=low,
        row_upper=high,
        lower=np.array(stated.lower, dtype=np.float64),
        upper=np.array(stated.upper, dtype=np.float64),
        integer=np.array(stated.integer, dtype=bool),
        columns=stack([*((block.name, block.shape) for block in base.columns), *wider]),
        rows=stack([*((block.name, block.shape) for block in base.rows), *more]),
    )
    return program, row


def _refuse_two_forms(base: Program, sides: Any, row: Ints, first: Ints) -> None:
    again = np.flatnonzero(first[row] != np.arange(row.size))
    for k in again.tolist():
        if abs(sides[[k]] - sides[[first[row[k]]]]).sum() != 0:
            block = next(block for block in base.rows if block.start <= row[k] < block.stop)
            raise InputError(f"a row of {block.name} has other coefficients on one side than on the other; change both")


def _free(blocks: Any) -> str:
    """A name for what was added that no block has."""
    names = {block.name for block in blocks}
    return next(name for name in [ADDED, *(f"{ADDED}-{k}" for k in range(2, 1000))] if name not in names)


def own_sides(program: Program, rows: Ints, columns: int) -> Any:
    """Coefficients of some rows of the program, (k, columns), with room for the columns that were added."""
    part = sparse.csr_array(program.matrix.tocsr()[rows])
    return sparse.csr_array((part.data, part.indices, part.indptr), shape=(part.shape[0], columns))


def by_block(blocks: Any, items: Any) -> dict[str, Any]:
    """Items in a row as arrays of the blocks' shapes."""
    flat = np.empty(len(items), dtype=object)
    flat[:] = items
    return {block.name: block.view(flat) for block in blocks}

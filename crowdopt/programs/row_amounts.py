"""The linear program over lots of tasks: how many labels of each class of workers the tasks of each lot get in all."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program, stack

MOST = 10.0  # units of evidence per task; more slack than this is of no use


class Side(NamedTuple):
    """Rows ``lower <= matrix u <= upper`` over the amounts, lot after lot."""

    matrix: sparse.csc_array  # (rows, L G)
    lower: Floats
    upper: Floats


def of_rows(worth: Floats, cost: Floats, upper: Floats, need: Floats, limits: Side, ties: Side) -> Program:
    """``min sum c_rg u_rg  s.t.  sum_g q_rg u_rg >= C_r, limits of rows and what ties them, 0 <= u <= upper``.

    A plan's labels of each lot and class, added up, are a point of it. Columns: ``u`` (L, G). Rows: ``cover`` (L,),
    ``limit``, ``tie``.

    worth, cost, upper (L, G); need (L,): what the tasks of a lot need in all.
    """
    rows, groups = worth.shape
    owner = np.repeat(np.arange(rows), groups)
    cover = sparse.csc_array((worth.reshape(-1), (owner, np.arange(owner.size))), shape=(rows, owner.size))
    return Program(
        name="row-amounts",
        cost=cost.reshape(-1).copy(),
        matrix=sparse.csc_array(sparse.vstack([cover, limits.matrix, ties.matrix], format="csc")),
        row_lower=np.concatenate([need, limits.lower, ties.lower]),
        row_upper=np.concatenate([np.full(rows, np.inf), limits.upper, ties.upper]),
        lower=np.zeros(owner.size),
        upper=upper.astype(np.float64).reshape(-1),
        integer=np.zeros(owner.size, bool),
        columns=stack([("u", (rows, groups))]),
        rows=stack([("cover", (rows,)), ("limit", (limits.lower.size,)), ("tie", (ties.lower.size,))]),
    )


def in_part(program: Program, price: Floats) -> Program:
    """The same where a part ``z_r`` of each lot may be left short: ``sum_g q_rg u_rg + C_r z_r >= C_r``, at a price.

    Columns: ``u`` (L, G), ``without`` (L,), in parts of a lot. Limits' lower sides are left out where they may be.

    price (L,): of leaving all tasks of a lot short.
    """
    lots, cover, limit = price.size, program.row("cover"), program.row("limit")
    part = sparse.csc_array(
        (cover.view(program.row_lower), (np.arange(lots), np.arange(lots))), shape=(program.row_lower.size, lots)
    )
    lower = program.row_lower.copy()
    lower[limit.span] = np.minimum(limit.view(lower), 0.0)
    return replace(
        program,
        name="row-amounts-in-part",
        cost=np.append(program.cost, price),
        matrix=sparse.csc_array(sparse.hstack([program.matrix, part], format="csc")),
        row_lower=lower,
        lower=np.append(program.lower, np.zeros(lots)),
        upper=np.append(program.upper, np.ones(lots)),
        integer=np.append(program.integer, np.zeros(lots, bool)),
        columns=stack([*((block.name, block.shape) for block in program.columns), ("without", (lots,))]),
    )


def most_slack(program: Program, count: Floats, money: float) -> Program:
    """``max s  s.t.  sum_g q_rg u_rg >= C_r + n_r s``, ``sum c u <= money`` and the program's other rows, as a minimum.

    Columns: ``u`` (L, G), ``slack`` (1,). Rows: those of the program, and ``money`` (1,).

    count (L,): tasks.
    """
    spent = sparse.csc_array(program.cost[None])
    slack = np.zeros((program.row_lower.size + 1, 1))
    slack[program.row("cover").span, 0] = -count
    matrix = sparse.hstack([sparse.vstack([program.matrix, spent]), sparse.csc_array(slack)], format="csc")
    return Program(
        name="most-slack",
        cost=np.append(np.zeros(program.cost.size), -1.0),
        matrix=sparse.csc_array(matrix),
        row_lower=np.append(program.row_lower, -np.inf),
        row_upper=np.append(program.row_upper, money),
        lower=np.append(program.lower, 0.0),
        upper=np.append(program.upper, MOST),
        integer=np.zeros(program.cost.size + 1, bool),
        columns=stack([("u", program.column("u").shape), ("slack", (1,))]),
        rows=stack([*((block.name, block.shape) for block in program.rows), ("money", (1,))]),
    )

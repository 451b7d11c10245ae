"""Restricted masters and small programs: over sets, orders of asking, and amounts or pairs that are left open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack


def of_sets(
    sides: tuple[Floats, Floats],
    tasks_in: Ints,
    cost: Floats,
    matrix: sparse.csc_array,
    dear: float | Floats,
    slack: tuple[Floats, Floats],
) -> Program:
    """``min sum c_s x_s + D sum without_t + sum d_r short_r + e_r over_r  s.t.  sum_{s of t} x_s + without_t >= n_t``.

    And the shared rows, ``l_r - short_r <= sum_s a_rs x_s <= u_r + over_r``, a_rs what the set s takes of row r: loads,
    shares of groups, money. A set keeps what is of its task alone. What is short or over is paid for, so that there is
    always a point, and the multiplier of a shared row is from -e_r to d_r.

    Columns: ``without`` (T,), ``short`` (rows,), ``over`` (rows,), ``set`` (S,).
    Rows: ``task`` (T,), ``shared`` (rows,).

    sides two (rows,) arrays: l and u; tasks_in (T,): n_t; cost (S,); matrix (T + rows, S) sparse array; dear: D, or
    (T,) of each kind; slack two (rows,) arrays: d and e.
    """
    kinds, rows = tasks_in.size, slack[0].size
    short = sparse.eye_array(kinds + rows, format="csc")
    over = sparse.eye_array(kinds + rows, rows, k=-kinds, format="csc")
    size = before_sets(kinds, rows) + cost.size
    return Program(
        name="set-choice",
        cost=np.concatenate([np.broadcast_to(dear, (kinds,)), *slack, cost]),
        matrix=sparse.csc_array(sparse.hstack([short, -over, matrix], format="csc")),
        row_lower=np.concatenate([tasks_in.astype(np.float64), sides[0]]),
        row_upper=np.concatenate([np.full(kinds, np.inf), sides[1]]),
        lower=np.zeros(size),
        upper=np.full(size, np.inf),
        integer=np.zeros(size, bool),
        columns=stack([("without", (kinds,)), ("short", (rows,)), ("over", (rows,)), ("set", (cost.size,))]),
        rows=stack([("task", (kinds,)), ("shared", (rows,))]),
    )


def before_sets(kinds: int, rows: int) -> int:
    """The number of columns before those of sets."""
    return kinds + 2 * rows


@dataclass(frozen=True, eq=False)
class OrderLimits:
    """The rows' sides: of each start its tasks, of each target its wrong answers, of what ties tasks together."""

    tasks: Floats  # (starts,)
    wrong: Floats  # (targets,)
    lower: Floats  # (shared,)
    upper: Floats  # (shared,)

    @property
    def size(self) -> int:
        """Rows in all."""
        return self.tasks.size + self.wrong.size + self.lower.size


def of_orders(limits: OrderLimits, cost: Floats, matrix: sparse.csc_array, dear: float) -> Program:
    """``min sum c_o x_o + D sum_r W_r excess + D sum (short_r + over_r)``, ``sum_{o of start} x_o = n``,

    ``sum_o wrong_o x_o <= (1 + excess) W_r``, ``l_r - short_r <= sum_o use_ro x_o <= u_r + over_r``: x_o tasks follow
    the order o, wrong_o of whose answers are expected to be wrong. What is beyond a limit is paid for, so that there is
    always a point; for errors it is one multiple of all targets.

    Columns: ``excess`` (1,), ``short`` (shared,), ``over`` (shared,), ``order`` (k,).
    Rows: ``task`` (starts,), ``error`` (targets,), ``shared`` (shared,).

    limits: n, W, l and u; cost (k,): c; matrix (rows, k) sparse array: what a task that follows the order takes of each
    row; dear: D, what a wrong answer too many costs.
    """
    starts, targets, shared = limits.tasks.size, limits.wrong.size, limits.lower.size
    beyond = sparse.csc_array(-np.concatenate([np.zeros(starts), limits.wrong, np.zeros(shared)])[:, None])
    slack = sparse.eye_array(limits.size, shared, k=-(starts + targets), format="csc")
    size = before_orders(limits) + cost.size
    return Program(
        name="order-choice",
        cost=np.concatenate([[dear * max(1e-9, limits.wrong.sum())], np.full(2 * shared, dear), cost]),
        matrix=sparse.csc_array(sparse.hstack([beyond, slack, -slack, matrix], format="csc")),
        row_lower=np.concatenate([limits.tasks, np.full(targets, -np.inf), limits.lower]),
        row_upper=np.concatenate([limits.tasks, limits.wrong, limits.upper]),
        lower=np.zeros(size),
        upper=np.full(size, np.inf),
        integer=np.zeros(size, bool),
        columns=stack([("excess", (1,)), ("short", (shared,)), ("over", (shared,)), ("order", (cost.size,))]),
        rows=stack([("task", (starts,)), ("error", (targets,)), ("shared", (shared,))]),
    )


def before_orders(limits: OrderLimits) -> int:
    """The number of columns before those of orders."""
    return 1 + 2 * limits.lower.size


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


@dataclass(frozen=True, eq=False)
class SomePairs:
    """Pairs that may have shares of labels."""

    # whose they are; kinds of tasks and workers are 0, 1, ..
    task: Ints  # (k,)
    worker: Ints  # (k,)
    worth: Floats  # (k,): evidence
    cost: Floats  # (k,): price of the label
    most: Floats  # (k,): labels: so many tasks are of the kind


@dataclass(frozen=True, eq=False)
class PairLimits:
    """What kinds of tasks need in all, workers have room for, and money there is."""

    need: Floats  # (n,): C
    # labels of a task; inf where there is no limit
    fewest: Floats  # (n,)
    most: Floats  # (n,)
    least: Floats  # (m,): L
    room: Floats  # (m,): M
    money: float  # B; inf where there is no budget


def of_pairs(pairs: SomePairs, sides: PairLimits, dear: tuple[float, float]) -> Program:
    """``min sum c y + d sum_i short_i + e (sum_i few_i + sum_j under_j)`` over the pairs given, the others at 0.

    s.t. ``sum_j q_ij y_ij + short_i >= C_i``, ``L_j <= sum_i y_ij + under_j``, ``sum_i y_ij <= M_j``,
    ``a_i <= sum_j y_ij + few_i``, ``sum_j y_ij <= b_i``, ``sum c y <= B``, ``0 <= y <= n``. There is always a point.

    Columns: ``y`` (k,), ``short`` (n,), ``few`` (n,), ``under`` (m,). Rows: ``cover`` (n,), ``capacity`` (m,),
    ``labels`` (n,), ``budget`` (1,).

    dear (float, float): d, of a unit of evidence that is not there, and e, of a label.
    """
    k, n, m = pairs.task.size, sides.need.size, sides.room.size
    one, place, task, worker = np.ones(k), np.arange(k), np.arange(n), np.arange(m)
    labels, budget = n + m, 2 * n + m
    # without label limits a task's pairs have no entry in its row `labels`: large programs stay sparse
    limited = np.isfinite(sides.most) | (sides.fewest > 0)
    counts = limited[pairs.task]
    row = [pairs.task, n + pairs.worker, labels + pairs.task[counts], task, labels + task, n + worker]
    column = [place, place, place[counts], k + task, k + n + task, k + 2 * n + worker]
    value = [pairs.worth, one, one[counts], np.ones(n), np.ones(n), np.ones(m)]
    if np.isfinite(sides.money):
        row, column, value = [*row, np.full(k, budget)], [*column, place], [*value, pairs.cost]
    entries = np.concatenate(value), (np.concatenate(row), np.concatenate(column))
    return Program(
        name="some-pairs",
        cost=np.concatenate([pairs.cost, np.full(n, dear[0]), np.full(n + m, dear[1])]),
        matrix=sparse.csc_array(entries, shape=(budget + 1, k + 2 * n + m)),
        row_lower=np.concatenate(
            [
                sides.need,
                np.where(sides.least > 0, sides.least, -np.inf),
                np.where(sides.fewest > 0, sides.fewest, -np.inf),
                [-np.inf],
            ]
        ),
        row_upper=np.concatenate([np.full(n, np.inf), sides.room, sides.most, [sides.money]]),
        # what is short or over may only be bought where a limit stands; the columns exist everywhere
        lower=np.zeros(k + 2 * n + m),
        upper=np.concatenate(
            [
                pairs.most,
                np.where(sides.need > 0, np.inf, 0.0),
                np.where(sides.fewest > 0, np.inf, 0.0),
                np.where(sides.least > 0, np.inf, 0.0),
            ]
        ),
        integer=np.zeros(k + 2 * n + m, bool),
        columns=stack([("y", (k,)), ("short", (n,)), ("few", (n,)), ("under", (m,))]),
        rows=stack([("cover", (n,)), ("capacity", (m,)), ("labels", (n,)), ("budget", (1,))]),
    )

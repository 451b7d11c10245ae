"""The cheapest adaptive plan: which votes to ask for after which votes, and where to stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.core.program import Program, extended, find, stack


@dataclass(frozen=True, eq=False)
class Asking:
    """Columns that ask for the same votes of one kind in one round: in which places, at what price, and where to."""

    kind: int
    votes: tuple[int, ...]  # of each asker
    price: float
    at: Ints  # (k,)
    to: Ints  # (k, outcomes): -1 where that cannot be
    chance: Floats  # (k, outcomes)


@dataclass(frozen=True, eq=False)
class Places:
    """Where tasks can stand: a kind, the rounds that are over, a state of votes."""

    kind: Ints  # (places,)
    start: Floats  # (places,): tasks that stand there now
    belief: Floats  # (places, classes)
    may_answer: Bools  # (places,)
    may_stop: Bools  # (places,)

    def answers(self, every: bool) -> tuple[Ints, Ints]:
        """Place and class of each column that answers: the likeliest class, or every one."""
        count, classes = self.belief.shape
        if not every:
            return np.arange(count), self.belief.argmax(axis=1)
        return np.tile(np.arange(count), classes), np.repeat(np.arange(classes), count)


@dataclass(frozen=True, eq=False)
class Sides:
    """The sides of what ties tasks together."""

    tasks: Ints  # (kinds,)
    error_rows: Ints  # (kinds,)
    wrong: Floats  # (error rows,)
    capacity: Floats  # (askers,)
    budget: float | None = None
    labels: tuple[Floats, Floats] | None = None  # weights (rows, kinds, askers) of votes, and sides (rows,)
    of_class: tuple[Ints, Floats] | None = None  # classes with a limit, and how many tasks may be answered otherwise


def of_places(places: Places, askings: Sequence[Asking], sides: Sides, expert: float | None, whole: bool) -> Program:
    """``min sum c_a z(t, s, a) + c_E sum e(t, s)`` over kinds t, states s and sets of votes a, subject to

    ``sum_a z(t,s,a) + w(t,s) + e(t,s) = n(t,s) + sum over (s', a) that lead to s of P(s | s', a) z(t,s',a)``,
    ``sum_s w(t,s) (1 - max_k P(k | s)) <= epsilon_t n_t``, ``sum votes of an asker <= M_j``, money and other
    linear limits on votes.

    Numbers of tasks: z asks, whole where that is wanted, w stops with the likeliest class, e goes to the expert;
    neither of these before a task has the labels that it must have. Rule mean-error has one error row for all kinds.
    Independence of votes is nowhere used: the joint law enters as P. With limits by true class d_k a stop with any
    class a is w(t, s, a), and ``sum over t, s, a not k of P(k | s) w(t, s, a) <= d_k N_k``, N_k the tasks of class k
    expected.

    Columns: ``ask`` (k,), ``answer`` (places,) or (classes of places,) [, ``expert`` (places,)]. Rows: ``flow``
    (places,), ``error`` (kinds,) or (1,), ``capacity`` (askers,) [, ``budget`` (1,)] [, ``limit`` (rows,)]
    [, ``class_error`` (classes that have a limit,)].
    """
    stops, kind, (at, chosen) = places.kind.size, places.kind, places.answers(sides.of_class is not None)
    ask, loads, prices, of_kind = _ask_columns(askings, stops, sides.capacity.size)
    answer = np.arange(at.size)
    answered = sparse.csr_array((np.ones(at.size), (at, answer)), shape=(stops, at.size))
    error = 1.0 - places.belief[at, chosen], (sides.error_rows[kind[at]], answer)
    weighed = sparse.csr_array(error, shape=(sides.wrong.size, at.size))
    parts = [[ask, answered], [None, weighed], [loads, None]]
    upper = sides.tasks.astype(np.float64)
    cost, high = [prices, np.zeros(at.size)], [upper[of_kind], (upper[kind] * places.may_answer)[at]]
    columns = [("ask", (prices.size,)), ("answer", (at.size,))]
    if expert is not None:
        parts = [[*part, sparse.eye_array(stops) if k == 0 else None] for k, part in enumerate(parts)]
        cost, high = [*cost, np.full(stops, expert)], [*high, upper[kind] * places.may_stop]
        columns.append(("expert", (stops,)))
    costs, matrix = np.concatenate(cost), sparse.block_array(parts, format="csc")
    rows = [("flow", places.start), ("error", sides.wrong), ("capacity", sides.capacity)]
    if sides.budget is not None:
        matrix = sparse.vstack([matrix, sparse.csr_array(costs[None])], format="csc")
        rows.append(("budget", np.array([sides.budget])))
    if sides.labels is not None:
        taken = np.stack([loads.multiply(weight[of_kind].T).sum(axis=0) for weight in sides.labels[0]])
        matrix = sparse.vstack([matrix, _padded(taken, 0, costs.size)], format="csc")
        rows.append(("limit", sides.labels[1]))
    if sides.of_class is not None:
        some, most = sides.of_class
        missed = np.where(chosen == some[:, None], 0.0, places.belief[at][:, some].T)
        matrix = sparse.vstack([matrix, _padded(missed, prices.size, costs.size)], format="csc")
        rows.append(("class_error", most))
    row_upper = np.concatenate([side for _, side in rows])
    return Program(
        name="cascade",
        cost=costs,
        matrix=sparse.csc_array(matrix),
        row_lower=np.where(np.arange(row_upper.size) < stops, row_upper, -np.inf),
        row_upper=row_upper,
        lower=np.zeros(costs.size),
        upper=np.concatenate(high),
        integer=np.arange(costs.size) < prices.size * whole,
        columns=stack(columns),
        rows=stack((name, side.shape) for name, side in rows),
    )


def _padded(entries: Floats, before: int, columns: int) -> sparse.csr_array:
    """Rows of which only some columns have entries."""
    row, column = np.nonzero(entries)
    return sparse.csr_array((entries[row, column], (row, before + column)), shape=(len(entries), columns))


def _ask_columns(
    askings: Sequence[Asking], places: int, askers: int
) -> tuple[sparse.csr_array, sparse.csr_array, Floats, Ints]:
    """Of the columns that ask: entries of the flow rows, votes (askers, k), prices and kinds (k,)."""
    if not askings:
        return sparse.csr_array((places, 0)), sparse.csr_array((askers, 0)), np.zeros(0), np.zeros(0, np.int64)
    rows, columns, values, start = [], [], [], 0
    for one in askings:
        column, possible = start + np.arange(one.at.size), one.chance > 0
        rows += [one.at, one.to[possible]]
        columns += [column, np.broadcast_to(column[:, None], one.chance.shape)[possible]]
        values += [np.ones(one.at.size), -one.chance[possible]]
        start += one.at.size
    index, many = (np.concatenate(rows), np.concatenate(columns)), [one.at.size for one in askings]
    flow = sparse.csr_array((np.concatenate(values), index), shape=(places, start))
    votes = np.repeat(np.array([one.votes for one in askings], np.float64), many, axis=0)
    prices, kinds = np.repeat([one.price for one in askings], many), np.repeat([one.kind for one in askings], many)
    return flow, sparse.csr_array(votes.T), prices, kinds


def least_excess(program: Program, sides: Sides) -> Program:
    """By what share all targets would have to grow for a plan to be there: ``min x`` with ``(1 + x) epsilon_t n_t``.

    Columns: the cascade's, and ``excess`` (1,).
    """
    entries = np.zeros((program.row_lower.size, 1))
    find(program.rows, "error").view(entries[:, 0])[:] = -sides.wrong
    if sides.of_class is not None:
        find(program.rows, "class_error").view(entries[:, 0])[:] = -sides.of_class[1]
    return extended(program, [("excess", (1,))], sparse.csr_array(entries), cost=1.0, upper=np.inf)

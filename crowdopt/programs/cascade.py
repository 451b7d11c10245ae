"""The cheapest adaptive plan: which votes to ask for after which votes, and where to stop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.core.program import Program, extended, find, stack
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.told_tasks import ToldTasks, told_tasks
from crowdopt.errors import InputError
from crowdopt.programs import Formulation

ENTRIES = 4_000_000  # of the matrix; beyond, a program takes minutes


@dataclass(frozen=True, eq=False)
class Asking:
    """Columns that ask for the same votes of one kind in one round: from where, at what price, and where to."""

    kind: int
    level: int  # rounds over before these votes
    votes: tuple[int, ...]
    states: Ints  # (k,)
    price: float
    reached: Ints  # (k, outcomes)
    chance: Floats  # (k, outcomes)


@dataclass(frozen=True, eq=False)
class Cascade:
    """``min sum c_a z(t, s, a) + c_E sum e(t, s)`` over kinds t, states s and sets of votes a, subject to

    ``sum_a z(t,s,a) + w(t,s) + e(t,s) = n(t,s) + sum over (s', a) that lead to s of P(s | s', a) z(t,s',a)``,
    ``sum_s w(t,s) (1 - max_k P(k | s)) <= epsilon_t n_t``, ``sum votes of an asker <= M_j``, money.

    Numbers of tasks: z asks, w stops with the likeliest class, e goes to the expert. Without rounds a set is one vote
    and votes come one by one; with R rounds every set is there, and states are told apart by the rounds that are over.
    Rule mean-error has one error row for all kinds. Independence of votes is nowhere used: the joint law enters as P.
    """

    told: ToldTasks
    expert: float | None = None
    rounds: int | None = None
    times: float = 1.0  # of all targets: more where they are out of reach

    @property
    def levels(self) -> int:
        """How many rounds are told apart, and one."""
        return 1 if self.rounds is None else self.rounds + 1

    @cached_property
    def asks(self) -> list[tuple[int, ...]]:
        """The sets of votes that can be asked for at once."""
        members = self.told.states.members.tolist()
        if self.rounds is None:
            return [tuple(int(g == h) for h in range(len(members))) for g in range(len(members))]
        return [votes for votes in product(*(range(size + 1) for size in members)) if any(votes)]

    @cached_property
    def reached(self) -> Bools:
        """Which states tasks can come to, (kinds, levels, states)."""
        start, joint = self.told.start, self.told.joint
        reached = np.zeros((len(start), self.levels, self.told.states.size), bool)
        reached[:, 0] = start > 0
        possible = joint.sum(axis=2) > 0
        steps = int(self.told.states.members.sum()) if self.rounds is None else self.rounds
        for step in range(steps):
            level, onward = (0, 0) if self.rounds is None else (step, step + 1)
            before = int(reached.sum())
            for votes in self.asks:
                allowed = self._allowed[votes] & reached[:, level]
                where = np.flatnonzero(allowed.any(axis=0))
                for outcome in self.told.states.outcomes(votes) if where.size else ():
                    after = self.told.states.after(outcome, where)
                    reached[:, onward, after] |= allowed[:, where] & possible[:, after]
            if int(reached.sum()) == before:
                break
        return reached

    @cached_property
    def _allowed(self) -> dict[tuple[int, ...], Bools]:
        return {votes: self.told.may_ask(votes) for votes in self.asks}

    @cached_property
    def askings(self) -> list[Asking]:
        """All columns that ask, by kind, level and set."""
        found = list(self._askings())
        if sum(asking.chance.size for asking in found) > ENTRIES:
            raise InputError(
                f"{self.rounds or 'unlimited'} rounds of these judges make a program of more than {ENTRIES:,} entries: "
                "plan with fewer judges" + (", or without --rounds" if self.rounds else "")
            )
        return found

    def _askings(self) -> Iterator[Asking]:
        price = self.told.price
        for level in range(self.levels if self.rounds is None else self.rounds):
            for votes in self.asks:
                outcomes = list(self.told.states.outcomes(votes))
                for t in range(len(price)):
                    states = np.flatnonzero(self._allowed[votes][t] & self.reached[t, level])
                    if not states.size:
                        continue
                    mass = self.told.joint[t].sum(axis=1)
                    reached = np.stack([self.told.states.after(one, states) for one in outcomes], axis=1)
                    orders = np.array([float(one.orders) for one in outcomes])
                    chance = orders * mass[reached] / mass[states][:, None]
                    cost = float((price[t] * np.array(votes)).sum())
                    yield Asking(t, level, votes, states, cost, reached, chance)

    @cached_property
    def stops(self) -> tuple[Ints, Ints, Ints]:
        """Kind, level and state of each stop."""
        kind, level, state = np.nonzero(self.reached)
        return kind, level, state

    @cached_property
    def error(self) -> Floats:
        """P(the likeliest class is wrong | votes) at each stop."""
        kind, _, state = self.stops
        law = self.told.joint[kind, state]
        error: Floats = 1.0 - law.max(axis=1) / law.sum(axis=1)
        return error

    @property
    def error_rows(self) -> Ints:
        """The error row of each kind, (kinds,)."""
        kinds = self.told.first.size
        return np.zeros(kinds, np.int64) if self.told.instance.the_rule.average else np.arange(kinds)

    @property
    def wrong(self) -> Floats:
        """Wrong answers that each error row allows, (rows,)."""
        wrong = self.times * self.told.epsilon * self.told.tasks_in
        return np.bincount(self.error_rows, weights=wrong).astype(np.float64)

    @cached_property
    def program(self) -> Program:
        """The program.

        Columns: ``ask`` (k,), ``answer`` (stops,) [, ``expert`` (stops,)]. Rows: ``flow`` (stops,), ``error`` (kinds,)
        or (1,), ``capacity`` (askers,) [, ``budget`` (1,)].
        """
        kind, level, state = self.stops
        shape = (self.told.first.size, self.levels, self.told.states.size)
        place = np.full(shape, -1)
        place[kind, level, state] = np.arange(state.size)
        width, stops, errors = sum(one.states.size for one in self.askings), state.size, self.wrong.size
        ask, loads, prices, of_kind = self._ask_columns(place)
        stop = sparse.eye_array(stops)
        weighed = sparse.csr_array((self.error, (self.error_rows[kind], np.arange(stops))), shape=(errors, stops))
        has_expert, budget = self.expert is not None, self.told.instance.budget
        paid = np.full(stops, self.expert or 0.0)
        cost = np.concatenate([prices, np.zeros(stops), paid if has_expert else []])
        upper = self.told.tasks_in.astype(np.float64)
        parts = [[ask, stop], [None, weighed], [loads, None]]
        if has_expert:
            parts = [[*part, stop if k == 0 else None] for k, part in enumerate(parts)]
        matrix = sparse.block_array(parts, format="csc")
        sides = [self.told.start[kind, state] * (level == 0), self.wrong, self.told.capacity]
        names = [("flow", (stops,)), ("error", (errors,)), ("capacity", (self.told.capacity.size,))]
        if budget is not None:
            matrix = sparse.vstack([matrix, sparse.csr_array(cost[None])], format="csc")
            sides, names = [*sides, np.array([budget])], [*names, ("budget", (1,))]
        high = np.concatenate(sides)
        low = np.concatenate([sides[0], np.full(high.size - stops, -np.inf)])
        columns = [("ask", (width,)), ("answer", (stops,)), *([("expert", (stops,))] if has_expert else [])]
        ends = np.concatenate([upper[of_kind], upper[kind], upper[kind] if has_expert else []])
        return Program(
            name="cascade",
            cost=cost,
            matrix=sparse.csc_array(matrix),
            row_lower=low,
            row_upper=high,
            lower=np.zeros(cost.size),
            upper=ends,
            integer=np.zeros(cost.size, bool),
            columns=stack(columns),
            rows=stack(names),
        )

    def _ask_columns(self, place: Ints) -> tuple[sparse.csr_array, sparse.csr_array, Floats, Ints]:
        """Flow rows and capacity rows of the columns that ask, their prices and kinds."""
        rows, columns, values, loads = [], [], [], []
        prices, kinds, start = [], [], 0
        for one in self.askings:
            column = start + np.arange(one.states.size)
            onward = one.level + (self.rounds is not None)
            possible = one.chance > 0
            rows += [place[one.kind, one.level, one.states], place[one.kind, onward, one.reached[possible]]]
            columns += [column, np.broadcast_to(column[:, None], one.chance.shape)[possible]]
            values += [np.ones(one.states.size), -one.chance[possible]]
            loads.append(np.broadcast_to(np.array(one.votes, np.float64), (one.states.size, len(one.votes))))
            prices.append(np.full(one.states.size, one.price))
            kinds.append(np.full(one.states.size, one.kind))
            start += one.states.size
        askers, stops = self.told.capacity.size, self.stops[0].size
        if not start:
            return sparse.csr_array((stops, 0)), sparse.csr_array((askers, 0)), np.zeros(0), np.zeros(0, np.int64)
        index = np.concatenate(rows), np.concatenate(columns)
        flow = sparse.csr_array((np.concatenate(values), index), shape=(stops, start))
        return flow, sparse.csr_array(np.concatenate(loads).T), np.concatenate(prices), np.concatenate(kinds)


def least_excess(cascade: Cascade) -> Program:
    """By what share all targets would have to grow for a plan to be there: ``min x`` with ``(1 + x) epsilon_t n_t``.

    Columns: the cascade's, and ``excess`` (1,).
    """
    base = cascade.program
    entries = np.zeros((base.row_lower.size, 1))
    find(base.rows, "error").view(entries[:, 0])[:] = -cascade.wrong
    return extended(base, [("excess", (1,))], sparse.csr_array(entries), cost=1.0, upper=np.inf)


def build(instance: AssignmentInstance) -> Program:
    """The program of an instance whose tasks have no labels yet; see :class:`Cascade`."""
    return Cascade(told_tasks(instance)).program


PROGRAM = Formulation(
    "cascade",
    "the cheapest adaptive plan: whom to ask after which votes, and where to stop",
    "own; a constrained Markov decision process over what a task has been told",
    "cascade.mod",
)

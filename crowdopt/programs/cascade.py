"""The cheapest adaptive plan: which votes to ask for after which votes, and where to stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import comb, prod

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.core.program import Program, extended, find, stack
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.states.told_tasks import ManyStates, ToldTasks, told_tasks

ENTRIES = 4_000_000  # of the matrix; beyond, a program takes minutes
ROUNDED = 1e-9  # relative; by how much an answer's error may exceed a limit given its votes: rounding of float64


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
    ``sum_s w(t,s) (1 - max_k P(k | s)) <= epsilon_t n_t``, ``sum votes of an asker <= M_j``, money and other
    linear limits on votes.

    Numbers of tasks: z asks, w stops with the likeliest class, e goes to the expert; neither of these before a task has
    the labels that it must have. Without rounds a set is one vote
    and votes come one by one; with R rounds every set is there, and states are told apart by the rounds that are over.
    Rule mean-error has one error row for all kinds. Independence of votes is nowhere used: the joint law enters as P.
    With ``given_votes`` w(t, s) is 0 where ``1 - max_k P(k | s) > epsilon_t``: each answer keeps its target given its
    votes. With limits by true class d_k a stop with any class a is w(t, s, a), and
    ``sum over t, s, a not k of P(k | s) w(t, s, a) <= d_k N_k``, N_k the tasks of class k expected.
    With ``each_task``, of one round, z is whole, and a set of votes a is asked for in s only where
    ``sum_s' P(s' | s, a) (1 - max_k P(k | s')) <= epsilon_t``: each task keeps the target, no mean of several does.
    """

    told: ToldTasks
    expert: float | None = None
    rounds: int | None = None
    times: float = 1.0  # of all targets: more where they are out of reach
    given_votes: bool = False
    class_error: tuple[float, ...] = ()  # by true class: the share that may be answered otherwise, infinity for any
    each_task: bool = False

    @property
    def levels(self) -> int:
        """The number of rounds told apart, plus one."""
        return 1 if self.rounds is None else self.rounds + 1

    def asks(self, kind: int) -> list[tuple[int, ...]]:
        """The sets of votes that can be asked for at once of a kind."""
        members = self.told.states[kind].members.tolist()
        if self.rounds is None:
            return [tuple(int(g == h) for h in range(len(members))) for g in range(len(members)) if members[g]]
        return [votes for votes in product(*(range(size + 1) for size in members)) if any(votes)]

    @cached_property
    def _allowed(self) -> list[dict[tuple[int, ...], Bools]]:
        kinds = range(len(self.told.states))
        return [{votes: self._may_ask(t, votes) for votes in self.asks(t)} for t in kinds]

    def _may_ask(self, kind: int, votes: tuple[int, ...]) -> Bools:
        fits = self.told.may_ask(kind, votes)
        if self.each_task:
            where = np.flatnonzero(fits & (self.told.start[kind] > 0))
            fits = np.zeros_like(fits)
            fits[where] = self.set_errors(kind, votes, where) <= self._limit[kind]
        return fits

    def set_errors(self, kind: int, votes: tuple[int, ...], where: Ints) -> Floats:
        """Error of the likeliest class after these votes, before they are seen, in each of some states (k,)."""
        states, joint = self.told.states[kind], self.told.joint[kind]
        wrong = joint.sum(axis=1) - joint.max(axis=1)
        reached, orders = states.ahead(votes, where)
        return (orders * wrong[reached]).sum(axis=1) / joint[where].sum(axis=1)

    @property
    def _limit(self) -> Floats:
        """Of each kind: the error that an answer, or a set of votes, may have where that is limited."""
        return self.times * self.told.epsilon * (1 + ROUNDED)

    @cached_property
    def reached(self) -> list[Bools]:
        """Which states tasks of each kind can come to, (levels, states)."""
        return [self._reached_by(kind) for kind in range(len(self.told.states))]

    def _reached_by(self, kind: int) -> Bools:
        states, possible = self.told.states[kind], self.told.joint[kind].sum(axis=1) > 0
        reached = np.zeros((self.levels, states.size), bool)
        reached[0] = self.told.start[kind] > 0
        news = reached[0].copy()  # what the last step came to
        for step in range(int(states.members.sum()) if self.rounds is None else self.rounds):
            onward = 0 if self.rounds is None else step + 1
            before = reached[onward].copy()
            for votes in self.asks(kind):
                where = np.flatnonzero(self._allowed[kind][votes] & news)
                if where.size:
                    after = states.ahead(votes, where)[0]
                    reached[onward, after[possible[after]]] = True
            news = reached[onward] & ~before if self.rounds is None else reached[onward]
            if not news.any():
                break
        return reached

    @cached_property
    def askings(self) -> list[Asking]:
        """All columns that ask, by kind, level and set."""
        found, total = [], 0
        for asking in self._askings():
            found.append(asking)
            total += asking.chance.size
            if total > ENTRIES:
                raise ManyStates(
                    f"{self.rounds or 'unlimited'} rounds of these judges make a program of more than {ENTRIES:,} "
                    "entries: plan with fewer judges" + (", or without --rounds" if self.rounds else "")
                )
        return found

    @property
    def most_entries(self) -> float:
        """Entries of the columns that ask, were there no limits: askings times the ways in which votes can fall."""
        total, classes = 0.0, int(self.told.instance.classes)
        for states, start in zip(self.told.states, self.told.start, strict=True):
            if self.rounds is None:
                total += states.size * states.members.size * classes
                continue
            falls = [[comb(n + classes - 1, n) for n in range(size + 1)] for size in states.members.tolist()]
            at_once = prod(float(sum(ways)) for ways in falls)
            later = prod(float(sum(w * sum(ways[: len(ways) - h]) for h, w in enumerate(ways))) for ways in falls)
            total += np.count_nonzero(start) * at_once + (self.rounds - 1) * later
        return total

    def _askings(self) -> Iterator[Asking]:
        for t, states in enumerate(self.told.states):
            mass = self.told.joint[t].sum(axis=1)
            for votes in self.asks(t):
                cost = float((self.told.price[t] * np.array(votes)).sum())
                for level in range(self.levels if self.rounds is None else self.rounds):
                    where = np.flatnonzero(self._allowed[t][votes] & self.reached[t][level])
                    if where.size:
                        reached, orders = states.ahead(votes, where)
                        chance = orders * mass[reached] / mass[where][:, None]
                        yield Asking(t, level, votes, where, cost, reached, chance)

    @cached_property
    def stops(self) -> tuple[Ints, Ints, Ints]:
        """Kind, level and state of each stop."""
        places = [np.nonzero(reached) for reached in self.reached]
        kind = np.repeat(np.arange(len(places)), [level.size for level, _ in places])
        return kind, np.concatenate([level for level, _ in places]), np.concatenate([state for _, state in places])

    @cached_property
    def may_stop(self) -> list[Bools]:
        """Of each kind: where a task has all the labels that it must have, (levels, states)."""
        return [np.tile(self.told.may_stop(t), (self.levels, 1)) for t in range(len(self.told.states))]

    @cached_property
    def may_answer(self) -> list[Bools]:
        """Of each kind: where a task may stop with an answer, (levels, states)."""
        held = np.full(self.levels, self.given_votes)
        held[0] |= self.each_task
        every = zip(self.may_stop, self.told.error, self._limit.tolist(), strict=True)
        return [enough & (~held[:, None] | (error <= limit)) for enough, error, limit in every]

    @cached_property
    def answers(self) -> tuple[Ints, Ints]:
        """Stop and class of each column that answers: the likeliest class; with limits by class, every one."""
        stops, classes = self.stops[0].size, int(self.told.instance.classes)
        if not self.class_error:
            return np.arange(stops), self._at_stops(self.told.belief).argmax(axis=1)
        return np.tile(np.arange(stops), classes), np.repeat(np.arange(classes), stops)

    @property
    def class_limits(self) -> tuple[Ints, Floats]:
        """Classes with a limit, and how many of their tasks may be answered otherwise."""
        limits = np.array(self.class_error)
        some = np.flatnonzero(np.isfinite(limits))
        return some, self.times * limits[some] * self.told.of_class[some]

    def _at_stops(self, of_states: Sequence[Floats]) -> Floats:
        """What is said of each kind's states, at each stop."""
        kind, _, state = self.stops
        return np.concatenate([some[state[kind == t]] for t, some in enumerate(of_states)])

    def _allowed_at_stops(self, of_places: Sequence[Bools]) -> Bools:
        """The same of what is said of levels and states."""
        kind, level, state = self.stops
        return np.concatenate([some[level[kind == t], state[kind == t]] for t, some in enumerate(of_places)])

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

    @property
    def relaxed(self) -> Program:
        """The linear program under the cascade's own name, by which its LP method is chosen."""
        return replace(self.program, integer=np.zeros_like(self.program.integer))

    @cached_property
    def program(self) -> Program:
        """The program.

        Columns: ``ask`` (k,), ``answer`` (stops,) or (classes of stops,) [, ``expert`` (stops,)]. Rows: ``flow``
        (stops,), ``error`` (kinds,) or (1,), ``capacity`` (askers,) [, ``budget`` (1,)] [, ``limit`` (rows,)]
        [, ``class_error`` (classes that have a limit,)].
        """
        kind, level, state = self.stops
        place, number = [np.full(reached.shape, -1) for reached in self.reached], np.arange(state.size)
        for t, rows in enumerate(place):
            rows[level[kind == t], state[kind == t]] = number[kind == t]
        width, stops, errors = sum(one.states.size for one in self.askings), state.size, self.wrong.size
        ask, loads, prices, of_kind = self._ask_columns(place)
        at, chosen = self.answers
        answered = sparse.csr_array((np.ones(at.size), (at, np.arange(at.size))), shape=(stops, at.size))
        error = 1.0 - self._at_stops(self.told.belief)[at, chosen]
        weighed = sparse.csr_array((error, (self.error_rows[kind[at]], np.arange(at.size))), shape=(errors, at.size))
        has_expert, budget = self.expert is not None, self.told.instance.budget
        paid = np.full(stops, self.expert or 0.0)
        cost = np.concatenate([prices, np.zeros(at.size), paid if has_expert else []])
        upper = self.told.tasks_in.astype(np.float64)
        answering, ending = (upper[kind] * self._allowed_at_stops(some) for some in (self.may_answer, self.may_stop))
        parts = [[ask, answered], [None, weighed], [loads, None]]
        if has_expert:
            parts = [[*part, sparse.eye_array(stops) if k == 0 else None] for k, part in enumerate(parts)]
        matrix = sparse.block_array(parts, format="csc")
        start = np.concatenate([one[state[kind == t]] for t, one in enumerate(self.told.start)])
        sides = [start * (level == 0), self.wrong, self.told.capacity]
        names = [("flow", (stops,)), ("error", (errors,)), ("capacity", (self.told.capacity.size,))]
        more = [] if budget is None else [("budget", sparse.csr_array(cost[None]), np.array([budget]))]
        if self.told.label_rows:
            more.append(self._limit_rows(loads, of_kind, cost.size))
        if self.class_error:
            more.append(self._class_rows(width, cost.size))
        for name, rows, ends in more:
            matrix = sparse.vstack([matrix, rows], format="csc")
            sides, names = [*sides, ends], [*names, (name, ends.shape)]
        high = np.concatenate(sides)
        low = np.concatenate([sides[0], np.full(high.size - stops, -np.inf)])
        columns = [("ask", (width,)), ("answer", (at.size,)), *([("expert", (stops,))] if has_expert else [])]
        ends = np.concatenate([upper[of_kind], answering[at], ending if has_expert else []])
        return Program(
            name="cascade",
            cost=cost,
            matrix=sparse.csc_array(matrix),
            row_lower=low,
            row_upper=high,
            lower=np.zeros(cost.size),
            upper=ends,
            integer=np.arange(cost.size) < width * self.each_task,
            columns=stack(columns),
            rows=stack(names),
        )

    def _limit_rows(self, loads: sparse.csr_array, of_kind: Ints, columns: int) -> tuple[str, sparse.csr_array, Floats]:
        limits = self.told.label_rows
        taken = np.stack([loads.multiply(row.weight[of_kind].T).sum(axis=0) for row in limits])
        spare = sparse.csr_array((len(limits), columns - loads.shape[1]))
        rows = sparse.hstack([sparse.csr_array(taken), spare], format="csr")
        return "limit", rows, np.array([row.side for row in limits])

    def _class_rows(self, before: int, columns: int) -> tuple[str, sparse.csr_array, Floats]:
        (at, chosen), (some, most) = self.answers, self.class_limits
        wrong = np.where(chosen == some[:, None], 0.0, self._at_stops(self.told.belief)[at][:, some].T)
        row, column = np.nonzero(wrong)
        index = row, before + column
        return "class_error", sparse.csr_array((wrong[row, column], index), shape=(some.size, columns)), most

    def _ask_columns(self, place: list[Ints]) -> tuple[sparse.csr_array, sparse.csr_array, Floats, Ints]:
        rows, columns, values, loads = [], [], [], []
        prices, kinds, start = [], [], 0
        for one in self.askings:
            column = start + np.arange(one.states.size)
            onward = one.level + (self.rounds is not None)
            possible = one.chance > 0
            mine = place[one.kind]
            rows += [mine[one.level, one.states], mine[onward, one.reached[possible]]]
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
    if cascade.class_error:
        find(base.rows, "class_error").view(entries[:, 0])[:] = -cascade.class_limits[1]
    return extended(base, [("excess", (1,))], sparse.csr_array(entries), cost=1.0, upper=np.inf)


def build(instance: AssignmentInstance) -> Program:
    """The program of an instance whose tasks have no labels yet; see :class:`Cascade`."""
    return Cascade(told_tasks(instance)).program

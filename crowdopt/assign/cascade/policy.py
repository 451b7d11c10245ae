"""What an adaptive plan of few askers may do: where tasks can come to, what may be asked there, and where it ends.

From a point of the program to a policy, and what that policy comes to when it is walked from the start.

The first round of a policy: which tasks go to whom now, by lots from a seed, within every capacity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import comb, prod
from operator import itemgetter

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import PolicyProof, PolicyRow, by_place, dealt
from crowdopt.assign.cascade.panels import ManyStates, VotePanel
from crowdopt.core.program import Program, find
from crowdopt.crowd.labels import ANSWER, ASK, EXPERT, OrderShare
from crowdopt.programs.cascade import Asking, Places, Sides, of_places

ENTRIES = 4_000_000  # of the matrix; beyond, a program takes minutes
ROUNDED = 1e-9  # relative; by how much an answer's error may exceed a limit given its votes: rounding of float64


@dataclass(frozen=True, eq=False)
class Cascade:
    """A panel's policies, and what they promise; :func:`crowdopt.programs.cascade.of_places` has the program.

    Without rounds a set of votes is one vote, and votes come one by one; with R rounds every set is there, and states
    are told apart by the rounds that are over. With ``given_votes`` an answer is given only where
    ``1 - max_k P(k | s) <= epsilon_t``: each answer keeps its target given its votes. With ``each_task``, of one round,
    tasks are whole, and a set of votes a is asked for in s only where
    ``sum_s' P(s' | s, a) (1 - max_k P(k | s')) <= epsilon_t``: each task keeps the target, no mean of several does.
    """

    panel: VotePanel
    expert: float | None = None
    rounds: int | None = None
    times: float = 1.0  # of all targets: more where they are out of reach
    given_votes: bool = False
    class_error: tuple[float, ...] = ()  # by true class: the share that may be answered otherwise, infinity for any
    each_task: bool = False

    @property
    def _limit(self) -> Floats:
        """Of each kind: the error that an answer, or a set of votes, may have where that is limited."""
        return self.times * self.panel.epsilon * (1 + ROUNDED)

    @cached_property
    def sets(self) -> list[tuple[int, tuple[int, ...], Ints]]:
        """Kind, votes of each asker, and the states in which these may be asked for at once."""
        found = []
        for kind, states in enumerate(self.panel.states):
            members = states.members.tolist()
            if self.rounds is None:
                asks = [tuple(int(g == h) for h in range(len(members))) for g, size in enumerate(members) if size]
            else:
                asks = [votes for votes in product(*(range(size + 1) for size in members)) if any(votes)]
            for votes in asks:
                where = self.panel.may_ask(kind, votes)
                if self.each_task:
                    where = where[self.panel.start[where] > 0]
                    where = where[self.set_errors(votes, where) <= self._limit[kind]] if where.size else where
                found.append((kind, votes, where))
        return found

    def set_errors(self, votes: tuple[int, ...], where: Ints) -> Floats:
        """Error of the likeliest class after these votes, before they are seen, in each of some states (k,)."""
        reached, chance = self.panel.ahead(votes, where)
        return np.asarray((chance * self.panel.error[reached]).sum(axis=1))

    @cached_property
    def reached(self) -> Bools:
        """Which states tasks can come to, by the number of rounds that are over, (levels, states)."""
        reached = np.zeros((1 + (self.rounds or 0), self.panel.mass.size), bool)
        news = reached[0] = self.panel.start > 0  # what the last step came to
        most = max(int(states.members.sum()) for states in self.panel.states)
        for step in range(most if self.rounds is None else self.rounds):
            onward = reached[0 if self.rounds is None else step + 1]
            before = onward.copy()
            for _, votes, may in self.sets:
                if (where := may[news[may]]).size:
                    after = self.panel.ahead(votes, where)[0]
                    onward[after[self.panel.mass[after] > 0]] = True
            news = onward & ~before
            if not news.any():
                break
        return reached

    @cached_property
    def at(self) -> tuple[Ints, Ints]:
        """Level and state of each place where tasks can stand, (places,): by kind, level and state."""
        level, state = np.nonzero(self.reached)
        order = np.argsort(self.panel.of_kind[state], kind="stable")
        return level[order], state[order]

    @cached_property
    def votes(self) -> Ints:
        """Votes in each place, (places,)."""
        return np.asarray(self.panel.asked.sum(axis=0)[self.at[1]])

    @cached_property
    def askings(self) -> list[Asking]:
        """All columns that ask, by kind, set and level."""
        (level, state), found, total = self.at, [], 0
        number = np.full(self.reached.shape, -1)
        number[level, state] = np.arange(state.size)
        for kind, votes, may in self.sets:
            price = float((self.panel.price[kind] * np.array(votes)).sum())
            for over in range(self.rounds or 1):
                if (where := may[self.reached[over, may]]).size:
                    after, chance = self.panel.ahead(votes, where)
                    to = number[over + (self.rounds is not None), after]
                    found.append(Asking(kind, votes, price, number[over, where], to, chance))
                    total += chance.size
                if total > ENTRIES:
                    raise ManyStates(
                        f"{self.rounds or 'unlimited'} rounds of these judges make a program of more than {ENTRIES:,} "
                        "entries: plan with fewer judges" + (", or without rounds" if self.rounds else "")
                    )
        return found

    @property
    def most_entries(self) -> float:
        """Entries of the columns that ask, were there no limits: askings times the ways in which votes can fall."""
        total, classes = 0.0, int(self.panel.instance.classes)
        stand = np.bincount(self.panel.of_kind[self.panel.start > 0], minlength=self.panel.first.size)
        for states, started in zip(self.panel.states, stand.tolist(), strict=True):
            if self.rounds is None:
                total += states.size * states.members.size * classes
                continue
            falls = [[comb(n + classes - 1, n) for n in range(size + 1)] for size in states.members.tolist()]
            at_once = prod(float(sum(ways)) for ways in falls)
            later = prod(float(sum(w * sum(ways[: len(ways) - h]) for h, w in enumerate(ways))) for ways in falls)
            total += started * at_once + (self.rounds - 1) * later
        return total

    @cached_property
    def places(self) -> Places:
        """Where tasks can stand; answers are limited where that is promised of each, or no votes were asked for."""
        (level, state), panel = self.at, self.panel
        kind, enough = panel.of_kind[state], panel.may_stop[state]
        free = ~(np.full(level.size, self.given_votes) | (self.each_task & (level == 0)))
        may_answer = enough & (free | (panel.error[state] <= self._limit[kind]))
        return Places(kind, panel.start[state] * (level == 0), panel.belief[state], may_answer, enough)

    @cached_property
    def sides(self) -> Sides:
        """What ties tasks together."""
        panel, limits = self.panel, np.array(self.class_error)
        some = np.flatnonzero(np.isfinite(limits))
        of_class = (some, self.times * limits[some] * panel.of_class[some]) if self.class_error else None
        labels = panel.limits[1:] if panel.limits[0] else None
        wrong, budget = panel.wrong(self.times), panel.instance.budget
        return Sides(panel.tasks_in, panel.error_rows, wrong, panel.capacity, budget, labels, of_class)

    @cached_property
    def program(self) -> Program:
        """The program."""
        return of_places(self.places, self.askings, self.sides, self.expert, whole=self.each_task)

    @property
    def relaxed(self) -> Program:
        """The linear program under the cascade's own name, by which its LP method is chosen."""
        return replace(self.program, integer=np.zeros_like(self.program.integer))

    @cached_property
    def backward(self) -> list[tuple[Asking, Ints]]:
        """Parts of the columns that ask, most votes first, so that where they lead is known."""
        parts = []
        for one in self.askings:
            votes = self.votes[one.at]
            parts += [(n, one, np.flatnonzero(votes == n)) for n in np.unique(votes).tolist()]
        return [(one, some) for _, one, some in sorted(parts, key=itemgetter(0), reverse=True)]

    def values(self, proof: PolicyProof) -> Floats:
        """``V(s) = min(mu P(wrong | s), c_E, min_a c_a - w_a + sum_v P(v | s, a) V(s, v))``, (places,).

        The price of a task that stands in s where errors, votes and money have these prices; without the first or the
        second where a task may not stop so. With limits by true class a wrong answer costs mu + nu_k where k is true.
        """
        places, asking = self.places, self.panel.asking(proof)
        weighed = places.belief * (proof.error[places.kind, None] + np.array(proof.classes or 0.0))
        value = np.where(places.may_answer, weighed.sum(axis=1) - weighed.max(axis=1), np.inf)
        if self.expert is not None:
            by_expert = np.minimum(value, self.expert * (1.0 - proof.budget))
            value = np.where(places.may_stop, by_expert, value)
        for one, some in self.backward:
            chance, at = one.chance[some], one.at[some]
            after = np.where(chance > 0, value[one.to[some]], 0.0)  # some states have no end: no price either
            price = float((asking[one.kind] * np.array(one.votes)).sum())
            value[at] = np.minimum(value[at], price + (chance * after).sum(axis=1))
        return value

    @cached_property
    def can_end(self) -> Bools:
        """Where tasks can go on to a stop, however votes fall, (places,)."""
        return np.isfinite(self.values(self.panel.proof(0.0)))

    def bound(self, proof: PolicyProof) -> float:
        """``sum n V - mu epsilon n + sum M w + budget``, below what any adaptive plan costs, for any mu >= 0, w <= 0.

        With limits d_k by true class ``sum nu_k d_k N_k`` is taken off, N_k the tasks of class k expected.
        """
        start = self.places.start
        here = start > 0  # elsewhere a price may be infinite
        total = float((start[here] * self.values(proof)[here]).sum()) + self.panel.allowed(proof, self.times)
        if self.sides.of_class is not None:
            some, most = self.sides.of_class
            total -= float((np.array(proof.classes)[some] * most).sum())
        return total


NOISE = 1e-9  # of the tasks in a state, relative: what a solver leaves where it means 0


@dataclass(frozen=True)
class Turn:
    """An action in a place, and how much of the point takes it."""

    action: str
    amount: float
    answer: int = -1  # the class
    asking: Asking | None = None
    row: int = 0  # the place's in the asking


@dataclass
class Walk:
    """The policy, and its expected figures."""

    loads: Floats  # (askers,)
    wrong: Floats  # (kinds,) tasks
    expert: Floats  # (kinds,) tasks
    missed: Floats  # (classes,) tasks that are answered otherwise
    cost: float = 0.0
    rows: list[PolicyRow] = field(default_factory=list)


def walked(cascade: Cascade, point: Floats, law: VotePanel | None = None) -> Walk:
    """The policy that a point of the program follows, and what it comes to.

    Figures are not the point's own: shares are, and the walk from the start makes loads and errors of them. law: the
    same panel by the law that is true, where that is another: shares alone lead to a state, so tasks without labels
    come there in the ratio of the laws' chances of its votes.
    """
    panel, places, (level, state) = cascade.panel, cascade.places, cascade.at
    turns, tasks = _turns(cascade, np.clip(point, 0.0, cascade.program.upper)), places.start.copy()
    belief = (law or panel).belief[state]
    ratio = np.ones(state.size) if law is None else law.mass[state] / panel.mass[state]
    kinds, nothing = panel.first.size, np.zeros(belief.shape[1])
    walk = Walk(np.zeros(len(panel.workers)), np.zeros(kinds), np.zeros(kinds), nothing)
    for at in np.argsort(cascade.votes, kind="stable").tolist():
        if not tasks[at]:
            continue
        kind, votes = int(places.kind[at]), panel.votes(int(state[at]))
        for turn, share in _shares(turns.get(at, [])) or [(_fallback(cascade, at), 1.0)]:
            moved, what = float(tasks[at] * share), tuple([turn.answer] * (turn.action == ANSWER))
            come = moved * float(ratio[at])
            if turn.asking is not None:
                what, to, chance = turn.asking.votes, turn.asking.to[turn.row], turn.asking.chance[turn.row]
                tasks[to[chance > 0]] += moved * chance[chance > 0]
                walk.cost += come * turn.asking.price
                walk.loads += come * np.array(what)
            elif turn.action == EXPERT:
                walk.cost += come * float(cascade.expert or 0.0)
                walk.expert[kind] += come
            else:
                walk.wrong[kind] += come * float(1.0 - belief[at, turn.answer])
                walk.missed += come * np.where(np.arange(belief.shape[1]) == turn.answer, 0.0, belief[at])
            walk.rows.append(PolicyRow(kind, int(level[at]), votes, turn.action, what, share, come))
    walk.rows.sort(key=_order)
    return walk


def _order(row: PolicyRow) -> tuple[object, ...]:
    return row.kind, row.round, sum(number for *_, number in row.votes), row.votes


def _fallback(cascade: Cascade, at: int) -> Turn:
    """Where the point never comes: to stop, or to ask where a task may not stop yet."""
    likeliest = int(cascade.places.belief[at].argmax())
    if cascade.places.may_answer[at]:
        return Turn(ANSWER, 1.0, likeliest)
    if cascade.places.may_stop[at] and cascade.expert is not None:
        return Turn(EXPERT, 1.0)
    for one in cascade.askings:
        for row in np.flatnonzero(one.at == at).tolist():
            if _leads_on(cascade, one)[row]:
                return Turn(ASK, 1.0, asking=one, row=row)
    return Turn(ANSWER, 1.0, likeliest)


def _leads_on(cascade: Cascade, one: Asking) -> Bools:
    """Whether, however the votes fall, a task can still come to a stop, (k,)."""
    return np.asarray((cascade.can_end[one.to] | (one.chance <= 0)).all(axis=1))


def _turns(cascade: Cascade, point: Floats) -> dict[int, list[Turn]]:
    """The actions that a point takes in each place; a solver's noise may ask where no stop can follow."""
    found: dict[int, list[Turn]] = {}
    columns, start = cascade.program.columns, 0
    for one in cascade.askings:
        amounts = find(columns, "ask").view(point)[start : start + one.at.size]
        for k in np.flatnonzero((amounts > 0) & _leads_on(cascade, one)).tolist():
            found.setdefault(int(one.at[k]), []).append(Turn(ASK, float(amounts[k]), asking=one, row=k))
        start += one.at.size
    at, chosen = cascade.places.answers(bool(cascade.class_error))
    ends: list[tuple[str, Ints, Ints]] = [(ANSWER, at, chosen)]
    if cascade.expert is not None:
        ends.append((EXPERT, np.arange(cascade.votes.size), np.full(cascade.votes.size, -1)))
    for action, stops, classes in ends:
        amounts = find(columns, action).view(point)
        for k in np.flatnonzero(amounts > 0).tolist():
            found.setdefault(int(stops[k]), []).append(Turn(action, float(amounts[k]), int(classes[k])))
    return found


def _shares(turns: list[Turn]) -> list[tuple[Turn, float]]:
    """Each action's share, without a solver's noise; none in a place that the point never comes to."""
    total = sum(turn.amount for turn in turns)
    real = [turn for turn in turns if turn.amount > NOISE * max(1.0, total)]
    whole = sum(turn.amount for turn in real)
    return [(turn, turn.amount / whole) for turn in real]


def first_round(panel: VotePanel, rows: Sequence[PolicyRow], seed: int) -> Ints:
    """Task and worker of each label to ask for now, (k, 2), by task.

    Tasks that stand alike are shuffled and dealt to the actions there by their shares. A task that would break a
    capacity waits for the next round; workers of an asker with most room are asked first.
    """
    rng, here, left = np.random.default_rng(seed), by_place(rows), panel.instance.capacity.copy()
    known = set(map(tuple, panel.instance.collected.tolist()))
    pairs: list[tuple[int, int]] = []
    for state in np.unique(panel.standing).tolist():
        some = here.get((int(panel.of_kind[state]), 0, panel.votes(state)), [])
        for task, k in dealt([row.share for row in some], np.flatnonzero(panel.standing == state), rng) if some else ():
            chosen: list[int] = []
            for asker, number in enumerate(some[k].what if some[k].action == ASK else ()):
                free = [
                    (-int(left[j]), j) for j in panel.workers[asker].tolist() if left[j] > 0 and (task, j) not in known
                ]
                chosen += [j for _, j in sorted(free)[:number]] if len(free) >= number else [-1]
            if -1 not in chosen:
                left[chosen] -= 1
                pairs += [(task, worker) for worker in chosen]
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def first_asked(orders: Sequence[OrderShare], order_of: Ints, capacity: Ints) -> Ints:
    """Task and first worker of each order dealt, (k, 2), by task; a task whose worker has no room waits."""
    left, pairs = capacity.copy(), []
    for task, number in enumerate(order_of.tolist()):
        action, worker = orders[number].order.turn({})
        if action == ASK and left[worker] > 0:
            left[worker] -= 1
            pairs.append((task, worker))
    return np.array(pairs, np.int64).reshape(-1, 2)

"""From a point of the program to a policy, and what that policy comes to when it is walked from the start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import PolicyRow
from crowdopt.assign.cascade.stopping_bound import can_end
from crowdopt.core.program import find
from crowdopt.crowd.states.asking_orders import ANSWER, ASK, EXPERT
from crowdopt.programs.cascade import Asking, Cascade

NOISE = 1e-9  # of the tasks in a state, relative: what a solver leaves where it means 0

Place = tuple[int, int, int]  # kind, level, state


@dataclass(frozen=True)
class Turn:
    """An action in a state, and how much of the point takes it."""

    action: str
    amount: float
    asking: Asking | None = None
    at: int = 0  # the state's place in the asking
    answer: int = -1  # the class; -1: the likeliest


@dataclass
class Walk:
    """The policy, and its expected figures."""

    loads: Floats  # (askers,)
    wrong: Floats  # (kinds,) tasks
    expert: Floats  # (kinds,) tasks
    missed: Floats  # (classes,) tasks that are answered otherwise
    cost: float = 0.0
    rows: list[PolicyRow] = field(default_factory=list)


def walked(cascade: Cascade, point: Floats) -> Walk:
    """The policy that a point of the program follows, and what it comes to.

    Figures are not the point's own: shares are, and the walk from the start makes loads and errors of them.
    """
    told = cascade.told
    ends = [can_end(cascade, t) for t in range(told.first.size)]
    turns = _turns(cascade, np.clip(point, 0.0, cascade.program.upper), ends)
    kinds, askers = told.first.size, told.capacity.size
    walk = Walk(np.zeros(askers), np.zeros(kinds), np.zeros(kinds), np.zeros(int(told.instance.classes)))
    votes = [states.asked.sum(axis=0) for states in told.states]
    most = max(int(some.max(initial=0)) for some in votes)
    waiting: dict[tuple[int, int], dict[Place, float]] = {}

    def arrive(place: Place, tasks: float) -> None:
        bucket = waiting.setdefault((place[1], int(votes[place[0]][place[2]])), {})
        bucket[place] = bucket.get(place, 0.0) + tasks

    for t, start in enumerate(told.start):
        for s in np.flatnonzero(start).tolist():
            arrive((t, 0, s), float(start[s]))
    for level in range(cascade.levels):
        for step in range(most + 1):
            for place, tasks in sorted(waiting.pop((level, step), {}).items()):
                for turn, share in _shares(turns.get(place, [])) or [(_fallback(cascade, ends, place), 1.0)]:
                    for reached, more in _taken(cascade, walk, place, turn, share, tasks):
                        arrive(reached, more)
    walk.rows.sort(key=lambda row: (row.kind, row.round, sum(n for *_, n in row.votes), row.votes))
    return walk


def _fallback(cascade: Cascade, ends: list[Bools], place: Place) -> Turn:
    """Where the point never comes: to stop, or to ask where a task may not stop yet."""
    kind, level, state = place
    for action, allowed in ((ANSWER, cascade.may_answer), (EXPERT, cascade.may_stop)):
        if allowed[kind][level, state] and (action == ANSWER or cascade.expert is not None):
            return Turn(action, 1.0)
    for one in cascade.askings:
        if (one.kind, one.level) == (kind, level) and state in one.states:
            at = int(np.flatnonzero(one.states == state)[0])
            if _leads_on(cascade, ends, one, np.array([at]))[0]:
                return Turn(ASK, 1.0, one, at)
    return Turn(ANSWER, 1.0)


def _leads_on(cascade: Cascade, ends: list[Bools], one: Asking, at: Ints) -> Bools:
    """Whether, however the votes fall, a task can still come to a stop; at: places in the asking."""
    onward = one.level + (cascade.rounds is not None)
    return (ends[one.kind][onward, one.reached[at]] | (one.chance[at] <= 0)).all(axis=1)


def _turns(cascade: Cascade, point: Floats, ends: list[Bools]) -> dict[Place, list[Turn]]:
    """The actions that a point takes in each state; a solver's noise may ask where no stop can follow."""
    found: dict[Place, list[Turn]] = {}
    columns, start = cascade.program.columns, 0
    ask = find(columns, "ask").view(point)
    for one in cascade.askings:
        amounts = ask[start : start + one.states.size]
        at = np.flatnonzero(amounts > 0)
        for k in at[_leads_on(cascade, ends, one, at)].tolist():
            turn = Turn(ASK, float(amounts[k]), one, k)
            found.setdefault((one.kind, one.level, int(one.states[k])), []).append(turn)
        start += one.states.size
    kind, level, state = cascade.stops
    at, chosen = cascade.answers
    ways = [(ANSWER, at, chosen)]
    if cascade.expert is not None:
        ways.append((EXPERT, np.arange(kind.size), np.full(kind.size, -1)))
    for name, stops, classes in ways:
        amounts = find(columns, name).view(point)
        for k in np.flatnonzero(amounts > 0).tolist():
            stop = int(stops[k])
            turn = Turn(name, float(amounts[k]), answer=int(classes[k]))
            found.setdefault((int(kind[stop]), int(level[stop]), int(state[stop])), []).append(turn)
    return found


def _shares(turns: list[Turn]) -> list[tuple[Turn, float]]:
    """Each action's share, without a solver's noise; none in a state that the point never comes to."""
    total = sum(turn.amount for turn in turns)
    real = [turn for turn in turns if turn.amount > NOISE * max(1.0, total)]
    whole = sum(turn.amount for turn in real)
    return [(turn, turn.amount / whole) for turn in real]


def _taken(
    cascade: Cascade, walk: Walk, place: Place, turn: Turn, share: float, tasks: float
) -> Iterator[tuple[Place, float]]:
    """Count an action's cost, loads and errors; where it leads, and how many tasks."""
    told, (kind, level, state) = cascade.told, place
    law, moved = told.joint[kind][state], tasks * share
    what: tuple[int, ...] = ()
    if turn.asking is not None:
        one, what = turn.asking, turn.asking.votes
        walk.cost += moved * one.price
        walk.loads += moved * np.array(what)
        onward = level + (cascade.rounds is not None)
        for reached, chance in zip(one.reached[turn.at].tolist(), one.chance[turn.at].tolist(), strict=True):
            if chance > 0:
                yield (kind, onward, reached), moved * chance
    elif turn.action == EXPERT:
        walk.cost += moved * float(cascade.expert or 0.0)
        walk.expert[kind] += moved
    else:
        chosen = int(np.argmax(law)) if turn.answer < 0 else turn.answer
        what = (chosen,)
        walk.wrong[kind] += moved * float(1.0 - law[chosen] / law.sum())
        walk.missed += moved * np.where(np.arange(law.size) == chosen, 0.0, law / law.sum())
    votes = tuple(told.states[kind].votes(state))
    walk.rows.append(PolicyRow(kind, level, votes, turn.action, what, share, moved))

"""From a point of the program to a policy, and what that policy comes to when it is walked from the start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.cascade.adaptive_plan import PolicyRow
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


@dataclass
class Walk:
    """The policy, and its expected figures."""

    loads: Floats  # (askers,)
    wrong: Floats  # (kinds,) tasks
    expert: Floats  # (kinds,) tasks
    cost: float = 0.0
    rows: list[PolicyRow] = field(default_factory=list)


def walked(cascade: Cascade, point: Floats) -> Walk:
    """The policy that a point of the program follows, and what it comes to.

    Figures are not the point's own: shares are, and the walk from the start makes loads and errors of them.
    """
    told, turns = cascade.told, _turns(cascade, point)
    kinds, askers = told.first.size, told.capacity.size
    walk = Walk(np.zeros(askers), np.zeros(kinds), np.zeros(kinds))
    votes = [states.asked.sum(axis=0) for states in told.states]
    most = max(int(some.max(initial=0)) for some in votes)
    waiting: dict[tuple[int, int], dict[Place, float]] = {}

    def fallback(place: Place) -> Turn:
        """Where the point never comes: to answer, or to ask while labels that must be had are missing."""
        here = [one for one in cascade.askings if (one.kind, one.level) == place[:2] and place[2] in one.states]
        if told.may_stop(place[0])[place[2]] or not here:
            return Turn(ANSWER, 1.0)
        return Turn(ASK, 1.0, here[0], int(np.flatnonzero(here[0].states == place[2])[0]))

    def arrive(place: Place, tasks: float) -> None:
        bucket = waiting.setdefault((place[1], int(votes[place[0]][place[2]])), {})
        bucket[place] = bucket.get(place, 0.0) + tasks

    for t, start in enumerate(told.start):
        for s in np.flatnonzero(start).tolist():
            arrive((t, 0, s), float(start[s]))
    for level in range(cascade.levels):
        for step in range(most + 1):
            for place, tasks in sorted(waiting.pop((level, step), {}).items()):
                for turn, share in _shares(turns.get(place, [])) or [(fallback(place), 1.0)]:
                    for reached, more in _taken(cascade, walk, place, turn, share, tasks):
                        arrive(reached, more)
    walk.rows.sort(key=lambda row: (row.kind, row.round, sum(n for *_, n in row.votes), row.votes))
    return walk


def _turns(cascade: Cascade, point: Floats) -> dict[Place, list[Turn]]:
    """The actions that a point takes in each state."""
    found: dict[Place, list[Turn]] = {}
    columns, start = cascade.program.columns, 0
    ask = find(columns, "ask").view(point)
    for one in cascade.askings:
        amounts = ask[start : start + one.states.size]
        for k in np.flatnonzero(amounts > 0).tolist():
            turn = Turn(ASK, float(amounts[k]), one, k)
            found.setdefault((one.kind, one.level, int(one.states[k])), []).append(turn)
        start += one.states.size
    kind, level, state = cascade.stops
    for name in (ANSWER, EXPERT) if cascade.expert is not None else (ANSWER,):
        amounts = find(columns, name).view(point)
        for k in np.flatnonzero(amounts > 0).tolist():
            found.setdefault((int(kind[k]), int(level[k]), int(state[k])), []).append(Turn(name, float(amounts[k])))
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
        what = (int(np.argmax(law)),)
        walk.wrong[kind] += moved * float(1.0 - law.max() / law.sum())
    votes = tuple(told.states[kind].votes(state))
    walk.rows.append(PolicyRow(kind, level, votes, turn.action, what, share, moved))

"""From a point of the program to a policy, and what that policy comes to when it is walked from the start."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import PolicyRow
from crowdopt.assign.cascade.cascade import Cascade
from crowdopt.assign.cascade.panels import VotePanel
from crowdopt.core.program import find
from crowdopt.crowd.asking_orders import ANSWER, ASK, EXPERT
from crowdopt.programs.cascade import Asking

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

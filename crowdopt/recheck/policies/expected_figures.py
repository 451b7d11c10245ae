"""What a policy comes to: followed forward from where tasks stand, with the campaign's own law of votes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from math import factorial, prod

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.recheck.policies.stopping_recursion import ways
from crowdopt.recheck.policies.told_law import Counts, ToldLaw

NOTHING = 1e-15  # tasks; fewer need no row of the policy


@dataclass(frozen=True)
class Move:
    """A row of policy.csv: its place in the table; ``what`` is votes of each asker, or a class."""

    row: int
    action: str
    what: tuple[int, ...]
    share: float


@dataclass
class Figures:
    """Expected loads, wrong answers, answers of the expert and cost; tasks that take each row; what went wrong."""

    loads: Floats
    wrong: float = 0.0
    expert: float = 0.0
    cost: float = 0.0
    of_class: dict[int, float] = field(default_factory=dict)  # wrong answers by true class
    tasks: dict[int, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def expected_figures(
    law: ToldLaw,
    standing: dict[Counts, int],
    moves: dict[tuple[int, Counts], list[Move]],
    rounds: int | None,
    expert: float | None,
) -> Figures:
    """Follow the moves; standing: tasks by their votes; moves: by rounds over and votes.

    ``paths`` is the tasks that come to votes over the chance of those votes in one order: shares alone make it.
    """
    figures = Figures(np.zeros(law.members.size))
    paths: dict[tuple[int, Counts], float] = {}
    for votes, count in standing.items():
        paths[0, votes] = count / float(law.weight(votes).sum())
    while paths:
        at = min(paths, key=lambda key: (key[0], sum(map(sum, key[1])), key[1]))
        path, weight = paths.pop(at), law.weight(at[1])
        tasks = path * float(weight.sum())
        if at not in moves:
            if tasks > NOTHING:
                figures.problems.append(f"{tasks:.6g} tasks come to votes that policy.csv has no row for")
                return figures
            continue
        for move in moves[at]:
            figures.tasks[move.row] = tasks * move.share
            for onward, more in _moved(law, figures, at, move, path * move.share, weight, rounds, expert):
                paths[onward] = paths.get(onward, 0.0) + more
    return figures


def _moved(
    law: ToldLaw,
    figures: Figures,
    at: tuple[int, Counts],
    move: Move,
    path: float,
    weight: Floats,
    rounds: int | None,
    expert: float | None,
) -> Iterator[tuple[tuple[int, Counts], float]]:
    tasks, (over, votes) = path * float(weight.sum()), at
    if move.action != "ask" and tasks > NOTHING and not law.is_enough([sum(labels) for labels in votes]):
        figures.problems.append(f"policy.csv, row {move.row + 1}: stops before a task has the labels that it must have")
        return
    if move.action == "answer":
        wrong = weight.sum() - weight[move.what[0]]
        if not law.is_sure(wrong, weight.sum()) and tasks > NOTHING:
            figures.problems.append(
                f"policy.csv, row {move.row + 1}: answers where votes leave more than {law.surest:.6g} of error"
            )
            return
        figures.wrong += path * float(wrong)
        for k in range(weight.size):
            if k != move.what[0]:
                figures.of_class[k] = figures.of_class.get(k, 0.0) + path * float(weight[k])
    elif move.action == "expert":
        if expert is None:
            figures.problems.append(f"policy.csv, row {move.row + 1}: ends with the expert, and there is none")
            return
        figures.expert += tasks
        figures.cost += tasks * expert
    else:
        number = [sum(labels) + more for labels, more in zip(votes, move.what, strict=True)]
        late = over + 1 > rounds if rounds is not None else sum(move.what) != 1
        if late or not law.allows(number, move.what):
            figures.problems.append(f"policy.csv, row {move.row + 1}: asks for votes that the limits do not allow")
            return
        figures.cost += tasks * float((law.price * np.array(move.what)).sum())
        figures.loads += tasks * np.array(move.what)
        yield from fallen(votes, move.what, over + (rounds is not None), path)


def fallen(votes: Counts, what: tuple[int, ...], over: int, path: float) -> Iterator[tuple[tuple[int, Counts], float]]:
    """Every way in which votes can fall, and the paths that lead there: one for each order."""
    classes = len(votes[0])
    for fall in product(*(ways(number, classes) for number in what)):
        orders = prod(factorial(sum(labels)) // prod(map(factorial, labels)) for labels in fall)
        after = tuple(tuple(a + b for a, b in zip(old, new, strict=True)) for old, new in zip(votes, fall, strict=True))
        yield (over, after), path * orders

"""The first round of a policy: which tasks go to whom now, by lots from a seed, within every capacity."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.cascade.adaptive_plan import PolicyRow
from crowdopt.crowd.states.asking_orders import ASK
from crowdopt.crowd.states.told_tasks import ToldTasks


def first_round(told: ToldTasks, rows: list[PolicyRow], seed: int) -> Ints:
    """Task and worker of each label to ask for now, (k, 2), by task.

    Tasks that stand alike are shuffled and dealt to the actions there by their shares, so each action has its share of
    them up to one task. A task that would break a capacity waits for the next round.
    """
    rng = np.random.default_rng(seed)
    left = told.instance.capacity.copy()
    known = set(map(tuple, told.instance.collected.tolist()))
    pairs: list[tuple[int, int]] = []
    for key, here in _by_place(told, rows).items():
        tasks = np.flatnonzero((told.kind == key[0]) & (told.standing == key[1]))
        lots = (rng.permutation(tasks.size) + rng.random()) / max(1, tasks.size)
        heads = np.cumsum([row.share for row in here])
        for task, lot in zip(tasks.tolist(), lots.tolist(), strict=True):
            row = here[min(int((lot >= heads).sum()), len(here) - 1)]
            if row.action == ASK:
                pairs += _dealt(told, row.what, task, left, known)
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def _by_place(told: ToldTasks, rows: list[PolicyRow]) -> dict[tuple[int, int], list[PolicyRow]]:
    """The rows for each state in which tasks stand now."""
    standing = set(zip(told.kind.tolist(), told.standing.tolist(), strict=True))
    votes = {(kind, tuple(told.states[kind].votes(state))): state for kind, state in standing}
    found: dict[tuple[int, int], list[PolicyRow]] = {}
    for row in rows:
        if row.round == 0 and (row.kind, row.votes) in votes:
            found.setdefault((row.kind, votes[row.kind, row.votes]), []).append(row)
    return dict(sorted(found.items()))


def _dealt(
    told: ToldTasks, votes: tuple[int, ...], task: int, left: Ints, known: set[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The task's workers, those with most room first; none where one of them has no room."""
    chosen: list[int] = []
    for asker, number in enumerate(votes):
        some = [j for j in told.workers[asker].tolist() if left[j] > 0 and (task, j) not in known]
        some.sort(key=lambda j: (-int(left[j]), j))
        if len(some) < number:
            return []
        chosen += some[:number]
    left[chosen] -= 1
    return [(task, worker) for worker in chosen]

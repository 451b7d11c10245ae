"""What a policy still errs with, given the votes so far: the targets with which its next round is solved."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.cascade.adaptive_plan import ANSWER, EXPERT, PolicyRow, Votes
from crowdopt.crowd.told_tasks import ToldTasks

LEAST, MOST = 1e-9, 0.49  # a target lies between 0 and 1/2


def onward_targets(told: ToldTasks, rows: Sequence[PolicyRow], rounds: int | None) -> Floats:
    """Expected error of the policy from where tasks stand now, the mean of each kind, (tasks,).

    The promise of an adaptive plan is about errors before votes are seen. Given votes its expected error moves, up as
    often as down in the mean; to ask for the first target again would promise more than was asked for, or what no vote
    can keep. Solved with these targets each round keeps the promise of the one before. A task with votes that the
    policy does not come to, because labels were lost, keeps its target.
    """
    here: dict[tuple[int, int, Votes], list[PolicyRow]] = {}
    for row in rows:
        here.setdefault((row.kind, row.round, row.votes), []).append(row)

    @cache
    def error(kind: int, over: int, state: int) -> float:
        law, total = told.joint[kind, state], 0.0
        for row in here[kind, over, tuple(told.states.votes(state))]:
            if row.action == ANSWER:
                total += row.share * float(1 - law[row.what[0]] / law.sum())
            elif row.action != EXPERT:
                for outcome in told.states.outcomes(row.what):
                    after = int(told.states.after(outcome, np.array([state]))[0])
                    chance = outcome.orders * float(told.joint[kind, after].sum() / law.sum())
                    if chance > 0:
                        total += row.share * chance * error(kind, over + (rounds is not None), after)
        return total

    expected = told.instance.epsilon.copy()
    for i in range(expected.size):
        kind, state = int(told.kind[i]), int(told.standing[i])
        votes = tuple(told.states.votes(state))
        known = [over for over in ((1, 0) if rounds is not None else (0,)) if (kind, over, votes) in here]
        if known:
            expected[i] = error(kind, known[0], state)
    mean = np.bincount(told.kind, weights=expected) / told.tasks_in
    targets: Floats = np.clip(mean, LEAST, MOST)[told.kind]
    return targets

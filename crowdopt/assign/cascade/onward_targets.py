"""What a policy still errs with, given the votes so far: the targets with which its next round is solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import GOLDEN, PolicyRow, row_at
from crowdopt.crowd.states.asking_orders import ANSWER, ASK, EXPERT, Votes
from crowdopt.crowd.states.told_tasks import ToldTasks
from crowdopt.errors import InputError

Places = dict[tuple[int, int, Votes], list[PolicyRow]]
LEAST, MOST = 1e-9, 0.49  # a target lies between 0 and 1/2


def onward_targets(told: ToldTasks, rows: Sequence[PolicyRow], rounds: int | None) -> tuple[Floats, Floats]:
    """Expected error of the policy from where tasks stand now.

    The mean of each kind, (tasks,); and of each true class, (classes,), the share that is answered otherwise.

    The promise of an adaptive plan is about errors before votes are seen. Given votes its expected error moves, up as
    often as down in the mean; to ask for the first target again would promise more than was asked for, or what no vote
    can keep. Solved with these targets each round keeps the promise of the one before. A task with votes that the
    policy does not come to, because labels were lost, keeps its target.
    """
    here = _by_place(rows)

    @cache
    def missed(kind: int, over: int, state: int) -> Floats:
        law, votes = told.joint[kind][state], tuple(told.states[kind].votes(state))
        total = np.zeros(law.size)
        if (kind, over, votes) not in here:
            raise InputError("policy.csv has no row for votes that its tasks come to; solve the campaign again")
        for row in here[kind, over, votes]:
            if row.action == ANSWER:
                total += row.share * np.where(np.arange(law.size) == row.what[0], 0.0, law / law.sum())
            elif row.action != EXPERT:
                for outcome in told.states[kind].outcomes(row.what):
                    after = int(told.states[kind].after(outcome, np.array([state]))[0])
                    chance = outcome.orders * float(told.joint[kind][after].sum() / law.sum())
                    if chance > 0:
                        total += row.share * chance * missed(kind, over + (rounds is not None), after)
        return total

    expected, of_class = told.instance.epsilon.copy(), np.zeros(int(told.instance.classes))
    for i in range(expected.size):
        kind, state = int(told.kind[i]), int(told.standing[i])
        over = _rounds_over(told, here, rounds, kind, state)
        if over is not None:
            wrong = missed(kind, over, state)
            expected[i] = wrong.sum()
            of_class += wrong
    mean = np.bincount(told.kind, weights=expected) / told.tasks_in
    targets: Floats = np.clip(mean, LEAST, MOST)[told.kind]
    return targets, np.clip(of_class / np.maximum(told.of_class, LEAST), LEAST, 1.0)


def policy_answers(told: ToldTasks, rows: Sequence[PolicyRow], rounds: int | None, likeliest: Ints, seed: int) -> Ints:
    """The class that the policy answers each task with where it stands, the likeliest where it does not, (tasks,).

    Limits by true class may ask for another class than the likeliest, and for a lot between two: tasks that stand alike
    take them in turn, as those of ``AdaptivePlan.next``.
    """
    here, answer, before = _by_place(rows), likeliest.copy(), Counter[tuple[int, int]]()
    for i, place in enumerate(zip(told.kind.tolist(), told.standing.tolist(), strict=True)):
        over = _rounds_over(told, here, rounds, *place)
        votes = tuple(told.states[place[0]].votes(place[1]))
        ends = [] if over is None else [row for row in here[place[0], over, votes] if row.action == ANSWER]
        if ends:
            before[place] += 1
            lot = (np.random.default_rng([seed, *place]).random() + before[place] * GOLDEN) % 1.0
            answer[i] = row_at(ends, lot).what[0]
    return answer


def asks_more(told: ToldTasks, rows: Sequence[PolicyRow], rounds: int | None) -> bool:
    """Whether the policy asks anything where tasks stand now, or tasks have votes that it does not come to."""
    here = _by_place(rows)
    for kind, state in set(zip(told.kind.tolist(), told.standing.tolist(), strict=True)):
        over = _rounds_over(told, here, rounds, kind, state)
        if over is None or any(row.action == ASK for row in here[kind, over, tuple(told.states[kind].votes(state))]):
            return True
    return False


def _by_place(rows: Sequence[PolicyRow]) -> Places:
    here: Places = {}
    for row in rows:
        here.setdefault((row.kind, row.round, row.votes), []).append(row)
    return here


def _rounds_over(told: ToldTasks, here: Places, rounds: int | None, kind: int, state: int) -> int | None:
    """After which round the policy has these votes, once the first is over; None where it does not come to them."""
    votes = tuple(told.states[kind].votes(state))
    known = [over for over in ((1, 0) if rounds is not None else (0,)) if (kind, over, votes) in here]
    return known[0] if known else None

"""A worker takes a label back for another one: what the campaign and its policy know of it changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.crowd.labels import GOLD, REFUSED
from crowdopt.errors import InputError
from crowdopt.live.seat import Seat


def check_unlearning(policy: Any, judged: bool) -> None:
    """Raises InputError if the policy cannot unlearn a label; judged: an expert told the task's answer."""
    if not policy.amends:
        raise InputError(f"policy {policy.name} takes no label back; sequential, adaptive and greedy do")
    if judged:
        raise InputError("an expert has looked at this task; its labels stay as they are")


def correct_work(course: Any, seat: Seat, task: int, label: int) -> None:
    """A label of a task: one that the policy was not told yet is exchanged, one that it was told it learns anew."""
    row = next(k for k in range(len(course.work) - 1, -1, -1) if course.work[k][1:3] == (task, seat.place))
    course.work.correct(row, 3, label)
    if (k := _untold(seat, task, gold=False)) is not None:
        seat.got[k] = label
    elif not course.work[row][0] or not course.repairs.replace(task, seat.number, label):
        course.turns.enter(seat.own)
        course.policy.amend(seat.number, task, label)


def correct_gold(course: Any, seat: Seat, gold: int, label: int, late: bool) -> None:
    """An answer to a gold task. A policy hears of none that came late, and knows preliminary workers no more."""
    if late:
        return
    pair, truth = (seat.place, gold), int(course.gold.truth[gold])
    before, course.gold_said[pair] = course.gold_said.get(pair, label), label
    if (k := _untold(seat, gold, gold=True)) is not None:
        seat.got[k] = label
    elif not course.sent:
        right = np.zeros(course.instance.n_types, np.int64)
        right[course.gold.kind[gold]] = int(label == truth) - int(before == truth)
        course.turns.enter(seat.own)
        course.policy.amend_gold(seat.number, right)


def _untold(seat: Seat, task: int, gold: bool) -> int | None:
    """Place of a task among those of the worker's decision, if its label is in and the policy does not know it."""
    if seat.decision is None or (seat.decision.kind == GOLD) != gold:
        return None
    return next((k for k in np.flatnonzero(seat.asked == task).tolist() if seat.got[k] != REFUSED), None)

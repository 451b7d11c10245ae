"""What the expert's answers show."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.answers.audit.audited import Audited, Draw
from crowdopt.answers.audit.exact_bound import most_left
from crowdopt.answers.audit.martingale import most_left_path
from crowdopt.arrays import Bools, Ints
from crowdopt.errors import InputError


def conclude(draw: Draw, wrong: Any, certain: tuple[int, int] = (0, 0), others: tuple[int, int] = (0, 0)) -> Audited:
    """The claim after the first answers in the order of the draw have been looked at.

    For ``sequential`` and ``assisted`` it holds at all times together: feed answers one by one or in batches, and stop
    when it is enough. For ``exact`` the number of checks was fixed with the draw.

    "Wrong" is what the expert calls wrong, a property of each answer that no draw changes. So the claim first bounds
    how many answers are left that the expert would correct; where they err on a share of the tasks, at most that many
    more answers are wrong in truth.

    wrong (k,): of the first k answers of ``draw.order``; at least one; certain (int, int): least sure answers looked
    at, and wrong ones among them; those not looked at count as wrong; others (int, int): further answers that the
    expert looked at, chosen in any way: wrong ones are corrected, and no longer left.
    """
    found = np.asarray(wrong, dtype=bool)
    _check(draw, found)
    left = _left(draw, found)
    unseen = draw.certain.size - certain[0]
    most = max(0, int(left[-1]) - others[1]) + unseen
    return Audited(draw, found, *certain, *others, left, min(draw.answers, most + expert_allowance(draw)))


def expert_allowance(draw: Draw) -> int:
    """Answers that may be wrong because the expert is."""
    return int(draw.terms.expert_error * draw.answers + 1e-9)


def _left(draw: Draw, wrong: Bools) -> Ints:
    if draw.fixed:
        return np.array([most_left(draw.order.size, wrong.size, int(wrong.sum()), draw.terms.delta)])
    return most_left_path(draw, wrong)


def _check(draw: Draw, wrong: Bools) -> None:
    planned = draw.checks - draw.certain.size
    if not 1 <= wrong.size <= draw.order.size:
        raise InputError(f"{wrong.size} of {draw.order.size} drawn answers were looked at; at least one is needed")
    if draw.fixed and wrong.size != planned:
        raise InputError(
            f"this audit fixed its {planned} drawn answers beforehand and {wrong.size} were looked at; "
            "look at all of them, or draw anew with the method sequential"
        )

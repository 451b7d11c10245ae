"""A bound by multipliers: a combination of constraints, completed by the bounds of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from crowdopt.proofs.exact_program import NONE, ZERO, Constraint, ExactProgram
from crowdopt.proofs.unproven import Unproven


class Used(NamedTuple):
    """A constraint that takes part in a combination: its number, what it says, and its factor."""

    number: int
    constraint: Constraint
    factor: Fraction


class Completed(NamedTuple):
    """A side that follows, and the factors by which it does."""

    side: Fraction
    factors: list[tuple[int, Fraction]]


class Assumed(NamedTuple):
    """Sides of columns that a case assumes, as number and value, in place of the program's own."""

    low: Mapping[int, tuple[int, Fraction]]
    high: Mapping[int, tuple[int, Fraction]]


OWN = Assumed({}, {})


def rows_used(exact: ExactProgram, multipliers: Sequence[Fraction]) -> list[Used]:
    """The sides that multipliers pull on, >= 0 on the lower one; on a side that is not there they count as 0."""
    found = []
    for row, factor in enumerate(multipliers):
        number = exact.row_low[row] if factor > 0 else exact.row_high[row]
        if factor and number != NONE:
            found.append(Used(number, exact.constraints[number], factor))
    return found


def completed(exact: ExactProgram, goal: Mapping[int, Fraction], used: Iterable[Used], box: Assumed = OWN) -> Completed:
    """``sum_k goal_k x_k >= side`` by the constraints used and, for what they leave, sides of columns.

    goal: factor by column; box: of a case. Raises Unproven if a column that is left has no side where it needs one.
    """
    left, side, factors = dict(goal), ZERO, []
    for number, constraint, factor in used:
        side += factor * constraint.side
        factors.append((number, factor))
        for k, value in zip(constraint.columns, constraint.values, strict=True):
            left[k] = left.get(k, ZERO) - factor * value
    for k, rest in left.items():
        if not rest:
            continue
        numbers, assumed = (exact.low, box.low) if rest > 0 else (exact.high, box.high)
        if k in assumed:
            number, value = assumed[k]
        elif numbers[k] == NONE:
            raise Unproven("the multipliers prove nothing in fractions: they leave a column that has no bound")
        else:
            number, value = numbers[k], exact.constraints[numbers[k]].side
        side += rest * value
        factors.append((number, rest))
    return Completed(side, factors)

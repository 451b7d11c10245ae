"""The least set of one task as steps of a derivation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NamedTuple

from crowdopt.proofs.deep import Deep, run
from crowdopt.proofs.derivation import Derivation
from crowdopt.proofs.exact_program import ExactProgram
from crowdopt.proofs.set_search import SCALE, Cases, Closed, Half, LeastSet, SetProof, Tree


class TaskColumns(NamedTuple):
    """Where a task's question stands in the program."""

    columns: Sequence[int]
    evidence: int  # number of the constraint ``sum worth y >= need``


def write_set(steps: Derivation, exact: ExactProgram, place: TaskColumns, question: LeastSet, proof: SetProof) -> int:
    """``sum cost y >= target`` over the task's columns; -> its number.

    Where one price is enough it is a combination that is rounded up. Else the contrary is assumed, ``sum cost y <=
    target - 1``, perhaps for few and for many labels apart: with each price that leaves a short constraint over the
    items that cases branch on, and each case contradicts one of them.
    """
    goal = list(zip(place.columns, question.cost.tolist(), strict=True))
    if not proof.halves and isinstance(proof.cases[0].tree, Closed):
        price = proof.cases[0].prices[proof.cases[0].tree.price]
        ends = [(number, Fraction(left, SCALE)) for number, left in _ends(exact, place, question, price)]
        return steps.combined("G", proof.target, goal, [(place.evidence, Fraction(price, SCALE)), *ends], whole=True)
    few = steps.assumed("L", proof.target - 1, goal)
    if proof.halves:
        halves = zip(proof.halves, proof.cases, strict=True)
        below, above = [_half(steps, exact, place, question, half, cases, few) for half, cases in halves]
        refuted = steps.either("G", 1, (), below, above)
    else:
        refuted = _refuted(steps, exact, place, question, proof.cases[0], few)
    many = steps.assumed("G", proof.target, goal)
    return steps.either("G", proof.target, goal, (refuted, few), (many, many))


def _half(
    steps: Derivation, exact: ExactProgram, place: TaskColumns, question: LeastSet, half: Half, cases: Cases, few: int
) -> tuple[int, int]:
    """``0 >= 1`` under an assumption of how many labels there are, and the number of that."""
    labels = steps.assumed(half.sense, half.labels, [(k, 1) for k in place.columns])
    priced = half.priced(question)
    cheap = zip(place.columns, priced.cost.tolist(), strict=True)
    paid = steps.combined("L", cases.target - 1, cheap, [(few, 1), (labels, half.price)])
    return _refuted(steps, exact, place, priced, cases, paid), labels


def _refuted(
    steps: Derivation, exact: ExactProgram, place: TaskColumns, question: LeastSet, cases: Cases, few: int
) -> int:
    """``0 >= 1`` where ``few`` is assumed, sets that cost less than the cases' target."""
    short = [_short(steps, exact, place, question, cases, few, price) for price in cases.prices]
    return run(_Refutations(steps, exact, place, short).refute(cases.tree, {}))


def _ends(
    exact: ExactProgram, place: TaskColumns, question: LeastSet, price: int, kept: Collection[int] = ()
) -> list[tuple[int, int]]:
    """Bounds of columns, and the factors with which they complete a price; not of the items that are kept."""
    found = []
    for item, (column, cost, worth) in enumerate(
        zip(place.columns, question.cost.tolist(), question.worth.tolist(), strict=True)
    ):
        left = SCALE * cost - price * worth
        if left and item not in kept:
            found.append((exact.low[column] if left > 0 else exact.high[column], left))
    return found


class _Short(NamedTuple):
    """``sum_k left_k x_k <= side`` over few columns, as ``sum -left_k x_k >= -side``."""

    number: int
    left: dict[int, int]  # by item


def _short(
    steps: Derivation,
    exact: ExactProgram,
    place: TaskColumns,
    question: LeastSet,
    proof: Cases,
    few: int,
    price: int,
) -> _Short:
    items = set(proof.items)
    ends = _ends(exact, place, question, price, items)
    side = price * question.need - SCALE * (proof.target - 1)
    side += sum(left * int(exact.side_of(number)) for number, left in ends)
    left = {k: SCALE * int(question.cost[k]) - price * int(question.worth[k]) for k in proof.items}
    terms = [(place.columns[k], -value) for k, value in left.items()]
    return _Short(steps.combined("G", side, terms, [(place.evidence, price), (few, -SCALE), *ends]), left)


class _Refutations:
    """Writes cases from the leaves up."""

    def __init__(self, steps: Derivation, exact: ExactProgram, place: TaskColumns, short: list[_Short]) -> None:
        self.steps, self.exact, self.place, self.short = steps, exact, place, short

    def refute(self, tree: Tree, assumed: dict[tuple[int, int], int]) -> Deep[int]:
        """``0 >= 1`` under what is assumed of items: (item, 0 or 1) -> the number of that assumption."""
        steps = self.steps
        if isinstance(tree, Closed):
            number, left = self.short[tree.price]
            return steps.combined("G", 1, (), [(number, 1), *self._pulled(left, assumed)])
        column = self.place.columns[tree.item]
        out = steps.assumed("L", 0, [(column, 1)])
        without = yield self.refute(tree.out, {**assumed, (tree.item, 0): out})
        inside = steps.assumed("G", 1, [(column, 1)])
        with_it = yield self.refute(tree.inside, {**assumed, (tree.item, 1): inside})
        return steps.either("G", 1, (), (without, out), (with_it, inside))

    def _pulled(self, left: dict[int, int], assumed: dict[tuple[int, int], int]) -> list[tuple[int, int]]:
        """For each item the side that its factor pulls on: the assumed one, or the column's own."""
        own = [self.exact.high, self.exact.low]
        found = []
        for item, value in left.items():
            up = int(value > 0)
            bound = assumed.get((item, up), own[up][self.place.columns[item]])
            found.append((bound, value))
        return found

"""The bound of a plan of whole labels as a derivation: by multipliers of rows, or by the least set of each task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, lcm
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.proofs.derivation import Derivation
from crowdopt.proofs.exact_program import NONE, ONE, ZERO, Constraint, ExactProgram
from crowdopt.proofs.linear_proof import Completed, Used, completed, rows_used
from crowdopt.proofs.set_search import SCALE, Answer, Cheaper, LeastSet, SetProof, TooMany, answer, prove, scaled
from crowdopt.proofs.set_steps import TaskColumns, write_set
from crowdopt.proofs.whole_values import raised, value_step

FINE = (1 << 16, 1 << 40)  # multipliers are rounded to multiples of one over this: the first that is enough
PARTS = (1, 10, 100, 1_000, 10_000, 100_000)  # of a price step, to which multipliers of loads are rounded
EVIDENCE = 1 << 24  # evidence is counted in parts of this, rounded up
LARGEST = 1 << 40  # of a whole number in a question of sets


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers of an assignment program: of rows by the program's numbers, and of the fewest labels of each task."""

    rows: Floats  # (rows,)
    labels: Floats  # (tasks,): of labels, where the program has no rows for them too


def prove_by_rows(steps: Derivation, exact: ExactProgram, multipliers: Multipliers, aim: Fraction) -> Completed:
    """Multipliers, rounded so far as the aim allows, with the fewest labels of each task as rows of their own."""
    fewest = list(_fewest(steps, exact, multipliers.labels))
    best = None
    for fine in FINE:
        used = rows_used(exact, _rounded(multipliers.rows, fine))
        for task, number, constraint in fewest:
            factor = _rounded(multipliers.labels[[task]], fine)[0]
            used.append(Used(number, constraint, factor))
        found = completed(exact, dict(enumerate(exact.cost)), used)
        if best is None or found.side > best.side:
            best = found
        if raised(best.side, value_step(exact)) >= aim:
            break
    assert best is not None
    return best


def _rounded(values: Floats, fine: int) -> list[Fraction]:
    return [Fraction(round(value * fine), fine) if np.isfinite(value) else ZERO for value in values.tolist()]


def _fewest(steps: Derivation, exact: ExactProgram, labels: Floats) -> Iterator[tuple[int, int, Constraint]]:
    """For each task whose labels have a price: with how many labels it reaches its need at all, rounded up."""
    if not (labels > 0).any():
        return
    cover, columns = exact.program.row("cover"), exact.program.column("y")
    places = columns.view(np.arange(exact.program.cost.size))
    for task in np.flatnonzero(labels > 0).tolist():
        number = exact.row_low[cover.start + task]
        if number == NONE:
            continue
        price = _price_of_last(exact, exact.constraints[number])
        if price is None:
            continue
        goal = dict.fromkeys(places[task].tolist(), ONE)
        side, factors = completed(exact, goal, [Used(number, exact.constraints[number], price)])
        whole = Constraint("G", Fraction(ceil(side)), list(goal), list(goal.values()))
        done = steps.combined("G", whole.side, goal.items(), factors, whole=True)
        yield task, done, whole


def _price_of_last(exact: ExactProgram, cover: Constraint) -> Fraction | None:
    """One over the evidence of the last label that the best need; None where all together do not reach the need."""
    allowed = [w for k, w in zip(cover.columns, cover.values, strict=True) if exact.side_of(exact.high[k]) > 0]
    reached = ZERO
    for value in sorted(allowed, reverse=True):
        reached += value
        if reached >= cover.side:
            return 1 / value
    return None


@dataclass(frozen=True, eq=False)
class SetBounds:
    """Questions of all tasks at one rounding of the multipliers, what their least sets cost, and the rest."""

    parts: int  # of one in which prices are counted
    questions: list[LeastSet]
    used: list[Used]  # rows of whatever ties tasks together, with their factors
    answers: dict[object, Answer]  # by the question's key

    @property
    def total(self) -> Fraction:
        """The bound."""
        return self.total_of(1)

    def total_of(self, scale: int) -> Fraction:
        """The bound, where answers are counted in parts of ``scale``."""
        rows = sum((one.factor * one.constraint.side for one in self.used), ZERO)
        values = sum(self.answers[question.key].value for question in self.questions)
        return Fraction(values, self.parts * scale) + rows

    def answered(self, how: Callable[[LeastSet], Answer]) -> SetBounds:
        """The same with each question answered so, once where several tasks ask it; ValueError: one has no set."""
        asked = {question.key: question for question in self.questions}
        return replace(self, answers={key: how(question) for key, question in asked.items()})


def can_be_sets(exact: ExactProgram) -> bool:
    """Whether a program is one of whole labels of tasks that each have a need, tied together by rows of any kind."""
    program = exact.program
    if program.name != "assignment" or not all(exact.integer):
        return False
    return [block.name for block in program.columns] == ["y"] and NONE not in exact.row_low[program.row("cover").span]


def bound_by_sets(exact: ExactProgram, multipliers: Multipliers, aim: Fraction) -> SetBounds | None:
    """The coarsest rounding of the multipliers by which least sets reach the aim; the best where none does."""
    step = value_step(exact)
    if step is None:
        return None
    tasks = list(_tasks(exact))
    below = lcm(*{cost.denominator for cost in exact.cost})
    found = [one for parts in PARTS if (one := _at(exact, tasks, multipliers, below * parts)) is not None]
    try:
        simple = [one.answered(lambda question: Answer(scaled(question))).total_of(SCALE) for one in found]
        best: SetBounds | None = None
        for one, linear in zip(found, simple, strict=True):
            if linear < max(simple) - step:  # sets add about as much to each
                continue
            sets = one.answered(answer)
            if best is None or sets.total > best.total:
                best = sets
            if raised(best.total, step) >= aim:
                break
    except ValueError:
        return None
    return best


class _Task(NamedTuple):
    """What one task asks for: the evidence of its labels in whole parts, rounded up, its need, and its columns' box."""

    worth: Ints
    need: int
    low: Ints
    high: Ints


def _tasks(exact: ExactProgram) -> Iterator[_Task]:
    program = exact.program
    known: dict[object, Ints] = {}
    for task, places in enumerate(program.column("y").view(np.arange(program.cost.size)).tolist()):
        _, need, mine, worth = exact.constraints[exact.row_low[program.row("cover").start + task]]
        own = dict(zip(mine, worth, strict=True))
        key = tuple(own.get(k, ZERO) for k in places)
        if key not in known:
            known[key] = np.array([ceil(EVIDENCE * value) for value in key], np.int64)
        box = program.lower[places].astype(np.int64), program.upper[places].astype(np.int64)
        yield _Task(known[key], ceil(EVIDENCE * need), *box)


def _at(exact: ExactProgram, tasks: list[_Task], multipliers: Multipliers, parts: int) -> SetBounds | None:
    """What each task asks for where every row but the needs is paid by its multiplier; costs are rounded down."""
    program = exact.program
    kept = multipliers.rows.copy()
    kept[program.row("cover").span] = 0.0
    used = rows_used(exact, _rounded(kept, parts))
    left = list(exact.cost)
    for _, constraint, factor in used:
        for k, value in zip(constraint.columns, constraint.values, strict=True):
            left[k] -= factor * value
    questions = []
    for task, places in zip(tasks, program.column("y").view(np.arange(program.cost.size)).tolist(), strict=True):
        cost = np.array([floor(left[k] * parts) for k in places], object)
        if np.abs(cost).max(initial=0) >= LARGEST:
            return None
        questions.append(LeastSet(cost.astype(np.int64), task.worth, task.need, task.low, task.high))
    return SetBounds(parts, questions, used, {})


def write_sets(steps: Derivation, exact: ExactProgram, bounds: SetBounds, aim: Fraction) -> Completed:
    """The least set of each task, no higher than the aim asks for, and what they come to with the rows."""
    step = value_step(exact)
    assert step is not None
    spare = (bounds.total - (aim - step)) * bounds.parts
    less = max(0, floor((spare - Fraction(1, 2)) / len(bounds.questions))) if spare > 1 else 0
    known: dict[object, SetProof] = {}
    used = list(bounds.used)
    for task, question in enumerate(bounds.questions):
        if question.key not in known:
            known[question.key] = _proof(question, bounds.answers[question.key], less)
        proof, place = known[question.key], _place(steps, exact, task, question)
        number = write_set(steps, exact, place, question, proof)
        cost = [Fraction(one) for one in question.cost.tolist()]
        said = Constraint("G", Fraction(proof.target), place.columns, cost)
        used.append(Used(number, said, Fraction(1, bounds.parts)))
    return completed(exact, dict(enumerate(exact.cost)), used)


def _proof(question: LeastSet, known: Answer, less: int) -> SetProof:
    target = known.value - less
    while True:
        try:
            return prove(question, target, known.halves)
        except (Cheaper, TooMany):
            target -= 1


def _place(steps: Derivation, exact: ExactProgram, task: int, question: LeastSet) -> TaskColumns:
    program = exact.program
    places = program.column("y").view(np.arange(program.cost.size))[task].tolist()
    number = exact.row_low[program.row("cover").start + task]
    _, _, mine, worth = exact.constraints[number]
    own = dict(zip(mine, worth, strict=True))
    whole = question.worth.tolist()
    factors = [(number, Fraction(EVIDENCE))]
    factors += [(exact.low[k], w - EVIDENCE * own.get(k, ZERO)) for k, w in zip(places, whole, strict=True)]
    return TaskColumns(places, steps.combined("G", question.need, zip(places, whole, strict=True), factors, whole=True))

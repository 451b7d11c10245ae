"""Exact optima of tiny instances, in rationals and without any of the package: every assignment, every vertex."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

Rationals = list[Fraction]
CLEAR = Fraction(1, 10**6)  # how far every sum of evidence must be from its task's need: floats then decide alike


@dataclass(frozen=True)
class Exact:
    """The program of one tiny instance in rationals: evidence, price and box of each pair; the sides of each row."""

    evidence: list[Rationals]
    price: list[Rationals]
    least: list[list[int]]
    most: list[list[int]]
    need: Rationals
    labels: list[tuple[int, int | None]]
    load: list[tuple[int, int]]
    budget: Fraction | None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(i, j) for i, row in enumerate(self.evidence) for j in range(len(row))]


def program_of(facts: dict[str, Any]) -> Exact:
    """The facts of a file of models/tiny as numbers; labels already in are taken off what they serve."""
    tasks, workers, kinds = facts["tasks"], facts["workers"], facts["task_type"]
    place = {name: k for names in (tasks, workers) for k, name in enumerate(names)}
    pairs = {key: {(place[t], place[w]) for t, w in facts.get(key, [])} for key in ("forbidden", "fixed", "collected")}
    evidence = [[(2 * Fraction(p) - 1) ** 2 for p in facts["accuracy"][kind]] for kind in kinds]
    price = [
        [Fraction(c) for c in facts["cost"][kind]] if "cost" in facts else [Fraction(1)] * len(workers)
        for kind in kinds
    ]
    had = {i: [j for k, j in pairs["collected"] if k == i] for i in range(len(tasks))}
    fewest, most = facts.get("min_labels", [0] * len(tasks)), facts.get("max_labels", [None] * len(tasks))
    return Exact(
        evidence,
        price,
        least=[[int((i, j) in pairs["fixed"]) for j in range(len(workers))] for i in range(len(tasks))],
        most=[
            [int((i, j) not in pairs["forbidden"] | pairs["collected"]) for j in range(len(workers))]
            for i in range(len(tasks))
        ],
        need=[max(Fraction(0), Fraction(c) - sum(evidence[i][j] for j in had[i])) for i, c in enumerate(facts["need"])],
        labels=[
            (max(0, low - len(had[i])), None if high is None else max(0, high - len(had[i])))
            for i, (low, high) in enumerate(zip(fewest, most, strict=True))
        ],
        load=list(zip(facts.get("min_load", [0] * len(workers)), facts["capacity"], strict=True)),
        budget=Fraction(facts["budget"]) if "budget" in facts else None,
    )


def integer_optimum(program: Exact) -> Fraction | None:
    """The least cost over all assignments, None if there is none: every choice of a set of workers per task."""
    best: Fraction | None = None
    for chosen in product(*(_crews(program, i) for i in range(len(program.need)))):
        loads = [sum(j in crew for crew in chosen) for j in range(len(program.load))]
        cost = sum((program.price[i][j] for i, crew in enumerate(chosen) for j in crew), Fraction(0))
        kept = all(low <= load <= high for load, (low, high) in zip(loads, program.load, strict=True))
        if kept and (program.budget is None or cost <= program.budget) and (best is None or cost < best):
            best = cost
    return best


def _crews(program: Exact, task: int) -> list[tuple[int, ...]]:
    """Every set of workers that serves one task within its own limits."""
    low, high = program.labels[task]
    able = [j for j, upper in enumerate(program.most[task]) if upper]
    fixed = {j for j, lower in enumerate(program.least[task]) if lower}
    sizes = range(low, len(able) + 1 if high is None else min(high, len(able)) + 1)
    crews = (crew for size in sizes for crew in combinations(able, size) if fixed <= set(crew))
    return [crew for crew in crews if sum(program.evidence[task][j] for j in crew) >= program.need[task]]


def is_clear(program: Exact) -> bool:
    """Whether no set of workers comes within CLEAR of a need without being 0 = 0."""
    for row, need in zip(program.evidence, program.need, strict=True):
        for size in range(len(row) + 1):
            for crew in combinations(row, size):
                if abs(sum(crew) - need) < CLEAR and not sum(crew) == need == 0:
                    return False
    return True


def linear_optimum(program: Exact) -> Fraction | None:
    """The optimum of the relaxation, None if it is infeasible."""
    rows, sides = [], []
    for row, lower, upper in _rows(program):
        if upper is not None:
            rows, sides = [*rows, row], [*sides, Fraction(upper)]
        if lower is not None:
            rows, sides = [*rows, [-a for a in row]], [*sides, -Fraction(lower)]
    return minimum([program.price[i][j] for i, j in program.pairs], rows, sides)


def _rows(program: Exact) -> list[tuple[Rationals, Any, Any]]:
    pairs, one, zero = program.pairs, Fraction(1), Fraction(0)
    rows: list[tuple[Rationals, Any, Any]] = []
    for i, need in enumerate(program.need):
        rows.append(([program.evidence[k][j] if k == i else zero for k, j in pairs], need, None))
        rows.append(([one if k == i else zero for k, _ in pairs], *program.labels[i]))
    rows += [([one if k == j else zero for _, k in pairs], *program.load[j]) for j in range(len(program.load))]
    rows += [
        ([one if pair == (i, j) else zero for pair in pairs], program.least[i][j], program.most[i][j]) for i, j in pairs
    ]
    if program.budget is not None:
        rows.append(([program.price[i][j] for i, j in pairs], None, program.budget))
    return rows


def minimum(cost: Rationals, rows: list[Rationals], sides: Rationals) -> Fraction | None:
    """``min c'x  s.t.  A x <= b, x >= 0`` for c >= 0: the dual simplex method with Bland's rule, in rationals.

    With c >= 0 the slack basis is dual feasible, so no first phase is needed; None means that no point exists.
    """
    size = len(rows)
    table = [
        [*row, *(Fraction(i == k) for k in range(size)), side]
        for i, (row, side) in enumerate(zip(rows, sides, strict=True))
    ]
    reduced = [*cost, *[Fraction(0)] * size, Fraction(0)]
    basis = list(range(len(cost), len(cost) + size))
    while True:
        leaving = min((i for i in range(size) if table[i][-1] < 0), key=lambda i: basis[i], default=None)
        if leaving is None:
            return -reduced[-1]
        pivots = [k for k in range(len(reduced) - 1) if table[leaving][k] < 0]
        if not pivots:
            return None
        entering = min(pivots, key=lambda k: (reduced[k] / -table[leaving][k], k))
        _pivot(table, reduced, leaving, entering)
        basis[leaving] = entering


def _pivot(table: list[Rationals], reduced: Rationals, leaving: int, entering: int) -> None:
    scale = table[leaving][entering]
    table[leaving] = [a / scale for a in table[leaving]]
    for row in [*(row for i, row in enumerate(table) if i != leaving), reduced]:
        factor = row[entering]
        if factor:
            row[:] = [a - factor * b for a, b in zip(row, table[leaving], strict=True)]

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
    """The program of one tiny instance in rationals: each pair's price, task by task, and rows with their sides."""

    price: Rationals
    rows: list[tuple[Rationals, Any, Any]]
    evidence: list[Rationals]
    need: Rationals


def program_of(facts: dict[str, Any]) -> Exact:
    """The facts of a file of models/tiny as numbers; labels already in are taken off what they serve."""
    kinds, n, m = facts["task_type"], len(facts["tasks"]), len(facts["workers"])
    place = {name: k for names in (facts["tasks"], facts["workers"]) for k, name in enumerate(names)}
    said = {key: {(place[t], place[w]) for t, w in facts.get(key, [])} for key in ("forbidden", "fixed", "collected")}
    pairs, barred = list(product(range(n), range(m))), said["forbidden"] | said["collected"]
    evidence = [[(2 * Fraction(p) - 1) ** 2 for p in facts["accuracy"][kind]] for kind in kinds]
    price = [Fraction(facts["cost"][kinds[i]][j] if "cost" in facts else 1) for i, j in pairs]
    had = [[j for k, j in said["collected"] if k == i] for i in range(n)]
    need = [max(Fraction(0), Fraction(c) - sum(evidence[i][j] for j in had[i])) for i, c in enumerate(facts["need"])]
    fewest, most = facts.get("min_labels", [0] * n), facts.get("max_labels", [None] * n)
    rows: list[tuple[Rationals, Any, Any]] = [(price, None, Fraction(facts["budget"]))] if "budget" in facts else []
    for i in range(n):
        high = None if most[i] is None else max(0, most[i] - len(had[i]))
        rows.append(([evidence[k][j] * (k == i) for k, j in pairs], need[i], None))
        rows.append(([Fraction(k == i) for k, _ in pairs], max(0, fewest[i] - len(had[i])), high))
    for j, load in enumerate(zip(facts.get("min_load", [0] * m), facts["capacity"], strict=True)):
        rows.append(([Fraction(k == j) for _, k in pairs], *load))
    for pair in pairs:
        rows.append(([Fraction(pair == one) for one in pairs], int(pair in said["fixed"]), int(pair not in barred)))
    return Exact(price, rows, evidence, need)


def integer_optimum(program: Exact) -> Fraction | None:
    """The least cost over all assignments, None if there is none: every set of pairs."""
    best: Fraction | None = None
    for point in product((0, 1), repeat=len(program.price)):
        cost = _at(program.price, point)
        if (best is None or cost < best) and all(_kept(row, point) for row in program.rows):
            best = cost
    return best


def _at(row: Rationals, point: tuple[int, ...]) -> Fraction:
    return sum((a for a, x in zip(row, point, strict=True) if x), Fraction(0))


def _kept(row: tuple[Rationals, Any, Any], point: tuple[int, ...]) -> bool:
    value, (_, low, high) = _at(row[0], point), row
    return (low is None or low <= value) and (high is None or value <= high)


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
    for row, lower, upper in program.rows:
        if upper is not None:
            rows, sides = [*rows, row], [*sides, Fraction(upper)]
        if lower is not None:
            rows, sides = [*rows, [-a for a in row]], [*sides, -Fraction(lower)]
    return minimum(program.price, rows, sides)


def minimum(cost: Rationals, rows: list[Rationals], sides: Rationals) -> Fraction | None:
    """``min c'x  s.t.  A x <= b, x >= 0`` for c >= 0: the dual simplex method with Bland's rule, in rationals.

    With c >= 0 the slack basis is dual feasible, so no first phase is needed; None means that no point exists.
    """
    size = len(rows)
    table = [[*row, *(Fraction(i == k) for k in range(size)), sides[i]] for i, row in enumerate(rows)]
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

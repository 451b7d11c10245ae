"""False answers of solvers as they are installed, each a file of a few lines: what is true is worked out in fractions.

The files say who is wrong, and how, by version; another version is not asked. None of these claims is passed on as
proven. One is of a presolve.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdopt import certify, solve_program
from crowdopt.core.program import Program
from crowdopt.core.solution import Options
from crowdopt.io.programs import read_program
from crowdopt.solvers import named
from crowdopt.solvers.probe import version_of_library

FOLDER = Path(__file__).parent / "false_answers"
FILES = sorted(FOLDER.glob("*.mps"))
CLAIM = re.compile(r"^\* (optimal|infeasible|unbounded): (.+)$", re.MULTILINE)
QUICK = ("highs", "scip", "pulp-cbc")
CLAIMS = [
    pytest.param(path, status, *who.split(), marks=() if who.startswith(QUICK) else pytest.mark.slow)
    for path in FILES
    for status, several in CLAIM.findall(path.read_text(encoding="utf-8"))
    for who in several.split(", ")
]


def fractions(values: Any) -> list[Any]:
    """Each number as it is written in decimals; what is infinite stays so."""
    return [value if abs(value) == inf else Fraction(repr(value)) for value in values.tolist()]


def cost_of(program: Program, point: Any) -> Fraction | None:
    """What a point costs; None where it breaks its box or a row; whole or not is not asked."""
    sides = [*zip(fractions(program.lower), fractions(program.upper), strict=True)]
    sides += zip(fractions(program.row_lower), fractions(program.row_upper), strict=True)
    *sums, cost = (np.dot(fractions(row), point) for row in [*program.matrix.toarray(), program.cost])
    kept = all(low <= total <= high for (low, high), total in zip(sides, [*point, *sums], strict=True))
    return cost if kept else None


def optimum(program: Program) -> Fraction | None:
    """The least cost of a point, in fractions: over the whole box, or over the ends and where the one row ends."""
    low, high = fractions(program.lower), fractions(program.upper)
    if program.integer.all():
        points = set(product(*(map(Fraction, range(int(a), int(b) + 1)) for a, b in zip(low, high, strict=True))))
    else:
        (row,) = map(fractions, program.matrix.toarray())
        points = set(product(*zip(low, high, strict=True)))
        ends = [side for side in fractions(np.append(program.row_lower, program.row_upper)) if abs(side) != inf]
        for corner, k, side in product(tuple(points), range(len(row)), ends):
            rest = sum(row[j] * corner[j] for j in range(len(row)) if j != k)
            points.add((*corner[:k], (side - rest) / row[k], *corner[k + 1 :]))
    return min((cost for point in points if (cost := cost_of(program, point)) is not None), default=None)


@pytest.mark.parametrize(("path", "status", "backend", "version"), CLAIMS)
def test_a_false_claim_is_false_and_not_passed_on(path, status, backend, version):
    """The library says so, it is not so, and what is recomputed of it calls nothing proven."""
    installed = version_of_library(named(backend).library)
    if installed != version:
        pytest.skip(f"{backend} {installed} is installed, not {version}")
    program = read_program(path)
    best = optimum(program)
    said = solve_program(program, backend, Options(time_limit=20.0), isolated=backend.startswith(("cvxpy", "ortools")))
    assert said.status.value == status
    if status != "optimal":
        assert best is not None  # in a box that is finite: neither empty nor unbounded
        assert not certify(said).proves_infeasible()
        return
    assert said.primal is not None
    cost = cost_of(program, fractions(said.primal))
    assert cost is None or cost != best
    proof = certify(said)
    assert best is None or proof.proof != "certificate" or proof.value == float(best)


def test_a_presolve_loses_the_best_point():
    """CP-SAT calls 1 optimal where 0 can be had: a row of two sides; ours is two rows there."""
    pytest.importorskip("ortools")
    program = read_program(FOLDER / "presolve" / "one_side_lost.mps")
    assert optimum(program) == 0
    assert certify(solve_program(program, "ortools-cpsat", Options(time_limit=20.0), isolated=True)).value == 0.0

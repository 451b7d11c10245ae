"""False answers of solvers as they are installed, each a file of a few lines: what is true is worked out in fractions.

The files say who is wrong, and how, by version; another version is not asked. None of these claims is passed on as
proven. Two are of a start from the basis of the program before (hot_start), one is of a presolve.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pytest

from crowdopt import certify, solve_program
from crowdopt.core.program import Program
from crowdopt.core.solution import Options
from crowdopt.io.programs import read_program
from crowdopt.solvers import named
from crowdopt.solvers.probe import version_of_library
from crowdopt.solvers.session import session

FOLDER = Path(__file__).parent / "false_answers"
FILES = sorted(FOLDER.glob("*.mps"))
CLAIM = re.compile(r"^\* (optimal|infeasible|unbounded): (.+)$", re.MULTILINE)
CLAIMS = [
    pytest.param(
        path, status, *who.split(), marks=() if who.startswith(("highs", "scip", "pulp")) else pytest.mark.slow
    )
    for path in FILES
    for status, several in CLAIM.findall(path.read_text(encoding="utf-8"))
    for who in several.split(", ")
]


def fractions(values: Any) -> list[Any]:
    """Each number as it is written in decimals; what is infinite stays so."""
    return [value if abs(value) == inf else Fraction(repr(value)) for value in values.tolist()]


def cost_of(program: Program, point: list[Fraction]) -> Fraction:
    """What a point costs."""
    return sum((c * x for c, x in zip(fractions(program.cost), point, strict=True)), Fraction(0))


def keeps(program: Program, point: list[Fraction]) -> bool:
    """Whether a point keeps its box and every row; whole or not is not asked."""
    sides = [*zip(fractions(program.lower), fractions(program.upper), strict=True)]
    sides += zip(fractions(program.row_lower), fractions(program.row_upper), strict=True)
    sums = [sum(a * x for a, x in zip(fractions(row), point, strict=True)) for row in program.matrix.toarray()]
    return all(low <= total <= high for (low, high), total in zip(sides, [*point, *sums], strict=True))


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
    return min((cost_of(program, list(point)) for point in points if keeps(program, list(point))), default=None)


@pytest.mark.parametrize(("path", "status", "backend", "version"), CLAIMS)
def test_a_false_claim_is_false_and_not_passed_on(path, status, backend, version):
    """The library says so, it is not so, and what is recomputed of it calls nothing proven."""
    try:
        installed = version_of_library(named(backend).library)
    except ImportError:
        installed = None
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
    point = fractions(said.primal)
    assert not keeps(program, point) or cost_of(program, point) != best
    proof = certify(said)
    assert best is None or proof.proof != "certificate" or proof.value == float(best)


HOT = {  # the program's numbers before and after, the best point, and what HiGHS ends with
    "loose_slack": ({"cost": [0.0, -1.0, 0.0]}, {"cost": [0.0, -1.0, -1.0]}, (-2000, 1, 1), "Optimal", -1.6),
    "no_ray": ({"upper": [0.0, np.inf, 0.0]}, {"upper": [np.inf, np.inf, 0.0]}, (0, 0, 0), "Unbounded", None),
}


def _set(model: highspy.Highs, cost: Any = None, upper: Any = None) -> str:
    """Change costs or upper sides, solve_program on, and say how it ended."""
    columns = np.arange(3, dtype=np.int32)
    if cost is not None:
        model.changeColsCost(3, columns, np.array(cost))
    if upper is not None:
        model.changeColsBounds(3, columns, np.array(model.getLp().col_lower_), np.array(upper))
    model.run()
    return model.modelStatusToString(model.getModelStatus())


@pytest.mark.parametrize("name", HOT)
def test_going_on_from_a_basis_ends_wrong_and_a_session_does_not(name):
    """HiGHS as it comes ends off the best point, from nothing it does not; multipliers prove what a session says."""
    before, after, best, said, value = HOT[name]
    path = FOLDER / "hot_start" / f"{name}.mps"
    if version_of_library("highspy") != "1.15.1":
        pytest.skip("another version of HiGHS")
    program = read_program(path)
    point = [Fraction(x) for x in best]
    assert keeps(program, point)
    hot, cold = highspy.Highs(), highspy.Highs()
    for model in (hot, cold):
        model.setOptionValue("output_flag", False)
        model.readModel(str(path))
    assert _set(hot, **before) == "Optimal" and _set(hot, **after) == said
    assert value is None or hot.getInfo().objective_function_value == pytest.approx(value, abs=1e-6)
    assert _set(cold, **after) == "Optimal"
    assert cold.getInfo().objective_function_value == pytest.approx(float(cost_of(program, point)), abs=1e-6)
    asked = session(program, "highs")
    for numbers in (before, after):
        if "cost" in numbers:
            asked.set_cost(numbers["cost"])
        else:
            asked.set_bounds(upper=numbers["upper"])
        found = certify(asked.solve())
    assert found.proves_optimal() and found.value == pytest.approx(float(cost_of(program, point)), abs=1e-6)


def test_a_presolve_loses_the_best_point():
    """CP-SAT calls 1 optimal where 0 can be had: a row of two sides; ours is two rows there."""
    pytest.importorskip("ortools")
    program = read_program(FOLDER / "presolve" / "one_side_lost.mps")
    assert optimum(program) == 0
    assert certify(solve_program(program, "ortools-cpsat", Options(time_limit=20.0), isolated=True)).value == 0.0

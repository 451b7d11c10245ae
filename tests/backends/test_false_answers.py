"""False answers of solvers as they are installed, each a file of a few lines: what is true is worked out in fractions.

The files say who is wrong, and how, by version; another version is not asked. None of these claims is passed on as
proven. Two are of a start from the basis of the program before (hot_start), one is of a presolve.
"""

from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pytest

from crowdopt import certify, session, solve
from crowdopt.backends import named
from crowdopt.backends.probe import version_of_library
from crowdopt.core.solution import Options
from crowdopt.io.programs.program_files import read_program
from crowdopt.proofs.exact_program import NONE, ExactProgram, fractions

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


def optimum(exact: ExactProgram) -> Fraction | None:
    """The least cost of a point, in fractions: over the whole box, or over the ends and where the one row ends."""
    low, high = ([exact.side_of(k) for k in numbers] for numbers in (exact.low, exact.high))
    if all(exact.integer):
        points = product(*(map(Fraction, range(int(a), int(b) + 1)) for a, b in zip(low, high, strict=True)))
    else:
        (row,) = exact.constraints[exact.bounds :]
        points = set(product(*zip(low, high, strict=True)))
        for corner, k in product(tuple(points), row.columns):
            rest = sum(a * corner[j] for j, a in zip(row.columns, row.values, strict=True) if j != k)
            end = (row.side - rest) / row.values[row.columns.index(k)]
            points.add((*corner[:k], end, *corner[k + 1 :]))
    kept = [exact.value(list(point)) for point in points if exact.broken(list(point)) == NONE]
    return min(kept, default=None)


def test_there_are_six_and_each_names_who_is_wrong():
    """Programs of one row and at most two columns."""
    assert len(FILES) == 6 and len(CLAIMS) >= 15
    assert all(read_program(path).matrix.shape <= (1, 2) for path in FILES)


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
    exact = ExactProgram(program)
    best = optimum(exact)
    said = solve(program, backend, Options(time_limit=20.0), isolated=backend.startswith(("cvxpy", "ortools")))
    assert said.status.value == status
    if status != "optimal":
        assert best is not None  # in a box that is finite: neither empty nor unbounded
        assert not certify(said).proves_infeasible()
        return
    assert said.primal is not None
    point = fractions(said.primal)
    assert exact.broken(point) != NONE or exact.value(point) != best
    proof = certify(said)
    assert best is None or proof.proof != "certificate" or proof.value == float(best)


HOT = {  # the program's numbers before and after, the best point, and what HiGHS ends with
    "loose_slack": ({"cost": [0.0, -1.0, 0.0]}, {"cost": [0.0, -1.0, -1.0]}, (-2000, 1, 1), "Optimal", -1.6),
    "no_ray": ({"upper": [0.0, np.inf, 0.0]}, {"upper": [np.inf, np.inf, 0.0]}, (0, 0, 0), "Unbounded", None),
}


def _set(model: highspy.Highs, cost: Any = None, upper: Any = None) -> str:
    """Change costs or upper sides, solve on, and say how it ended."""
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
    exact = ExactProgram(program)
    point = [Fraction(x) for x in best]
    assert exact.broken(point) == NONE
    hot, cold = highspy.Highs(), highspy.Highs()
    for model in (hot, cold):
        model.setOptionValue("output_flag", False)
        model.readModel(str(path))
    assert _set(hot, **before) == "Optimal" and _set(hot, **after) == said
    assert value is None or hot.getInfo().objective_function_value == pytest.approx(value, abs=1e-6)
    assert _set(cold, **after) == "Optimal"
    assert cold.getInfo().objective_function_value == pytest.approx(float(exact.value(point)), abs=1e-6)
    asked = session(program, "highs")
    for numbers in (before, after):
        if "cost" in numbers:
            asked.set_cost(numbers["cost"])
        else:
            asked.set_bounds(upper=numbers["upper"])
        found = certify(asked.solve())
    assert found.proves_optimal() and found.value == pytest.approx(float(exact.value(point)), abs=1e-6)


CPSAT = """
import sys
from pathlib import Path
from ortools.sat.python import cp_model
from crowdopt.io.programs.program_files import read_program
program, model, solver = read_program(Path(sys.argv[1])), cp_model.CpModel(), cp_model.CpSolver()
columns = [model.new_bool_var("") for _ in program.cost]
values = [int(value) for value in program.matrix.toarray()[0]]
row = cp_model.LinearExpr.weighted_sum(columns, values)
model.add_linear_constraint(row, int(program.row_lower[0]), int(program.row_upper[0]))
model.minimize(cp_model.LinearExpr.weighted_sum(columns, [int(value) for value in program.cost]))
solver.parameters.cp_model_presolve = sys.argv[2] == "presolve"
print(solver.status_name(solver.solve(model)), solver.objective_value)
"""


@pytest.mark.slow
def test_a_presolve_loses_the_best_point():
    """CP-SAT calls 1 optimal where 0 can be had, and finds that without presolve."""
    pytest.importorskip("ortools")
    if version_of_library("ortools") != "9.15.6755":
        pytest.skip("another version of CP-SAT")
    path = FOLDER / "presolve" / "one_side_lost.mps"
    program = read_program(path)
    assert optimum(ExactProgram(program)) == 0
    ours = solve(program, "ortools-cpsat", Options(time_limit=20.0), isolated=True)  # a row of two sides is two there
    assert certify(ours).value == 0.0
    for how, said in (("presolve", "OPTIMAL 1.0"), ("none", "OPTIMAL 0.0")):
        words = [sys.executable, "-c", CPSAT, str(path), how]
        assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == said

"""False answers of solvers as they are installed, each a file of a few lines: what is true is worked out in fractions.

The files say who is wrong, and how, by version; another version is not asked. None of these claims is passed on as
proven.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from crowdopt import certify, solve
from crowdopt.backends import named
from crowdopt.backends.probe import version_of_library
from crowdopt.core.solution import Options
from crowdopt.io.programs.program_files import read_program
from crowdopt.proofs.exact_program import NONE, ExactProgram, fractions

FILES = sorted((Path(__file__).parent / "false_answers").glob("*.mps"))
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

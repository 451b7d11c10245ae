"""Small instances with exact optima, against everything that solves them here."""

from __future__ import annotations

from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import pytest

import crowdopt
from crowdopt.core.program import relax
from crowdopt.programs import assignment
from tests.models import golden
from tests.models.data import section
from tests.models.reading import translated
from tests.models.tiny import FILES, facts_of, instance_of, optima

files = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def stated(path: Path) -> dict[str, float | None]:
    return {
        name: None if text == "infeasible" else float(Fraction(text))
        for name, text in facts_of(path)["optimum"].items()
    }


@files
def test_the_builder_s_program_has_the_exact_optimum(path: Path) -> None:
    """Stated as recomputed in rationals: all assignments for the program, the simplex method for its relaxation.

    No sum of evidence is within 1e-6 of a need, so float64 and rationals admit the same assignments.
    """
    facts = facts_of(path)
    assert optima(facts) == facts["optimum"]
    program = assignment.build(instance_of(facts))
    for name, built in {"ip": program, "lp": relax(program)}.items():
        exact, found = stated(path)[name], crowdopt.certify(crowdopt.solve_program(built))
        if exact is None:
            assert found.bound == float("inf")
        else:
            assert found.proves_optimal(1e-9) and found.value == pytest.approx(exact, abs=1e-6)


@files
@pytest.mark.skipif(find_spec("swiglpk") is None, reason="needs GLPK: pip install swiglpk")
def test_the_specification_has_the_exact_optimum(path: Path, tmp_path: Path) -> None:
    """GLPK solves models/assignment.mod itself, with neither our builder nor our solver; the dual meets the LP."""
    instance = instance_of(facts_of(path))
    found = translated("assignment", section(instance), tmp_path)
    assert {name: found[name] for name in ("ip", "lp")} == pytest.approx(stated(path), abs=1e-7)
    if path.stem in ("capacity", "priced", "infeasible"):  # those whose limits the paper's dual knows
        dual = translated("assignment_dual", section(instance, dual=True), tmp_path)
        assert dual["lp"] == pytest.approx(found["lp"], abs=1e-7)


@pytest.mark.parametrize("name", sorted({*golden.BUILT, *(path.stem for path in golden.FOLDER.glob("*.mps"))}))
def test_the_exported_program_has_not_drifted(name: str) -> None:
    """Other programs read these files: names, order and layout stay; numbers up to a logarithm's last digit.

    After a change that is meant: ``python -m tests.models.make_tiny``.
    """
    kept = (golden.FOLDER / f"{name}.mps").read_text(encoding="utf-8").splitlines()
    now = golden.text_of(name).splitlines()
    assert [line.split()[:-1] for line in now] == [line.split()[:-1] for line in kept]
    for one, other in zip(now, kept, strict=True):
        assert one == other or float(one.split()[-1]) == pytest.approx(float(other.split()[-1]), rel=1e-12), one

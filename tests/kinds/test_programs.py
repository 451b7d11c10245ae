"""Programs as strangers bring them: integer columns between odd sides, solvers that claim too much, files of others."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from math import ceil, floor
from pathlib import Path

import highspy
import numpy as np
import pulp
import pytest

import crowdopt
from crowdopt import solvers as backends
from crowdopt.core.program import Program, relax
from crowdopt.errors import ProgramWarning
from crowdopt.solvers import Backend, highs
from crowdopt.testing.backend_contract import program
from tests.typed import run

INF = np.inf


def between(seed: int) -> Program:
    """An integer column and one that is so for even seeds, sides in tenths, and a row that both serve."""
    rng = np.random.default_rng(seed)
    lower = np.round(rng.uniform(0, 2, 2), 1)
    upper = np.round(lower + rng.uniform(0.2, 3, 2), 1)
    row = (round(float(rng.uniform(1, 6)), 1), rng.integers(1, 4, 2).tolist(), INF)
    return program(rng.integers(1, 6, 2).tolist(), [row], lower, upper, [True, seed % 2 == 0])


def least(built: Program) -> float:
    """The optimum: for each integer of the first column, the least of the second that serves the row."""
    (a, b), best = built.matrix.toarray()[0], INF
    for x in range(ceil(built.lower[0]), floor(built.upper[0]) + 1):
        y = max(built.lower[1], (built.row_lower[0] - a * x) / b)
        y = ceil(y - 1e-9) if built.integer[1] else y
        if y <= built.upper[1] + 1e-9:
            best = min(best, built.cost[0] * x + built.cost[1] * y)
    return best


def answering(monkeypatch: pytest.MonkeyPatch, **changes) -> list[Program]:
    """Registers a backend ``other`` that answers the truth but for these changes; what it was given is listed."""
    given: list[Program] = []

    def run(built, options, listener):
        given.append(built)
        return replace(highs.run("choose", built, options, None), **changes)

    other = Backend("other", "numpy", "pip install numpy", integers=True, duals=True, run=run)
    known = backends.registered()
    monkeypatch.setattr(backends, "registered", lambda: {**known, "other": other})
    return given


@pytest.mark.parametrize("backend", ["highs", "pulp-cbc"])
def test_integer_columns_between_integers_have_their_true_optimum(backend):
    """HiGHS 1.15 calls other values optimal where sides are no integers; every integer is tried here."""
    for seed in range(10):
        built = between(seed)
        best, found = least(built), crowdopt.solve_program(built, backend)
        if best == INF:
            assert found.status is crowdopt.Status.INFEASIBLE
        else:
            held = crowdopt.certify(found)
            assert found.status is crowdopt.Status.OPTIMAL and held.proves_optimal()
            assert held.value == pytest.approx(best, abs=1e-6) == held.bound
        if backend == "highs":
            model, _ = crowdopt.to_highspy(built)
            model.run()
            value = model.getObjectiveValue() if highs.word_of(model) == "kOptimal" else INF
            assert value == pytest.approx(best, abs=1e-6)


def test_every_backend_gets_integer_columns_between_integers(monkeypatch):
    """Rounded inwards, but for what too few digits left out; linear programs are left alone, and so is the answer's.

    That there is no integer between the sides needs no solver's word; one that calls 4.5 optimal is named.
    """
    given = answering(monkeypatch)
    sides = {"lower": [-1.5, 0.2, 0.0], "upper": [2.9999999999, 3.7, 0.5], "integer": [True, True, False]}
    built = program([-1, -1, -1], [(-INF, [1, 1, 1], 9)], **sides)
    assert crowdopt.solve_program(built, "other").program is built
    assert (given[0].lower.tolist(), given[0].upper.tolist()) == ([-1, 1, 0], [3, 3, 0.5])
    assert crowdopt.certify(crowdopt.solve_program(relax(built), "other")).value == pytest.approx(-7.2)
    assert given[1].upper.tolist() == built.upper.tolist()
    empty = program([1, 1], [(1, [1, 1], INF)], [1.2, 0], [1.8, 4], [True, False])
    found = crowdopt.solve_program(empty, "other")
    assert found.status is crowdopt.Status.INFEASIBLE and len(given) == 2
    assert crowdopt.certify(found).proves_infeasible()
    assert crowdopt.certify(crowdopt.solve_program(relax(empty), "other")).value == pytest.approx(1.2)
    answering(monkeypatch, primal=np.array([4.5]), claimed_bound=-4.5)
    with pytest.raises(crowdopt.BackendFailed, match="other claims optimal, but its plan is fractional: 0.5"):
        crowdopt.solve_program(program([-1], [(0, [1], 9)], upper=7, integer=True), "other")


def test_solving_prints_nothing():
    """HiGHS 1.16 prints a banner when its first object is made; output of ours must stay what a program can read."""
    code = "import crowdopt; from crowdopt.solvers.probe import tiny; crowdopt.solve_program(tiny(True), 'highs')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def drawn(seed: int) -> tuple[Program, bool]:
    """A small program with every kind of side, whose optimum is finite, and whether it is to be a maximum."""
    rng = np.random.default_rng(seed)
    rows = [(-INF, rng.integers(1, 4, 4).tolist(), 7.5), (-9.5, rng.integers(-2, 3, 4).tolist(), 9.0)]
    sides = rng.permutation([[0, 2.5], [-3, -1], [1, 4], [0, 1]])
    built = program(rng.integers(1, 6, 4).tolist(), rows, sides[:, 0], sides[:, 1], rng.random(4) < 0.6)
    return built, bool(rng.random() < 0.5)


def by_pulp(built: Program, maximum: bool, path: Path) -> float:
    model, _ = crowdopt.to_pulp(built)
    model.sense = pulp.LpMaximize if maximum else pulp.LpMinimize
    model.writeMPS(str(path))
    model.solve(pulp.PULP_CBC_CMD(msg=False))
    return float(pulp.value(model.objective)) if model.sol_status == 1 else INF


def by_highs(built: Program, maximum: bool, path: Path) -> float:
    model, _ = crowdopt.to_highspy(built)
    model.changeObjectiveSense(highspy.ObjSense.kMaximize if maximum else highspy.ObjSense.kMinimize)
    model.changeObjectiveOffset(3.0)
    model.silent()
    model.writeModel(str(path))
    model.run()
    return float(model.getObjectiveValue()) if highs.word_of(model) == "kOptimal" else INF


@pytest.mark.filterwarnings("ignore:Direct::", "ignore::DeprecationWarning")
@pytest.mark.parametrize("writer", [by_pulp, by_highs])
def test_what_others_write_has_the_optimum_that_they_find(writer, tmp_path):
    """Also a maximum, which PuLP writes in a comment alone; it is told, and so is what a constant is taken for."""
    for seed in range(8):
        built, maximum = drawn(seed)
        theirs = writer(built, maximum, tmp_path / "x.mps")
        with pytest.warns() as told:
            read = crowdopt.read_program(tmp_path / "x.mps")
            crowdopt.errors.tell("the end", ProgramWarning)  # a minimum of PuLP's needs no word
        words = " ".join(str(one.message) for one in told)
        assert ("is a maximum" in words) == maximum and ("constant 3" in words) == (writer is by_highs)
        assert ("*SENSE:Maximize" in words) == (maximum and writer is by_pulp)
        found = crowdopt.solve_program(read)
        value = crowdopt.certify(found).value if theirs != INF else None
        if value is None:
            assert found.status is crowdopt.Status.INFEASIBLE
        else:
            assert (-value if maximum else value) == pytest.approx(theirs, abs=1e-6)


FILE = """NAME small
ROWS
 N cost
 G need
 L room
COLUMNS
 a cost 2 need 1
 a room 1
 b cost 3 need 1
RHS
 S need 2 room 5
BOUNDS
 UP T a 4
ENDATA
"""
REFUSED = {  # what is replaced in the file by what, and the sentence
    "semi-continuous": ("UP T a 4", "SC T a 4", "line 13.*semi-continuous"),
    "special ordered sets": (" b cost", " M 'MARKER' 'SOSORG'\n b cost", "line 9.*'SOSORG'"),
    "a right side in the first column": (" S need", "RHS need", "line 11.*behind RHS"),
    "a second set of right sides": ("room 5", "\n U room 5", "line 12.*second set of RHS"),
    "a bound twice": ("UP T a 4", "UP T a 4\n UP T a 5", "line 14.*UP of a"),
    "an entry twice": ("a room 1", "a room 1\n a room 2", "line 9.*room a second time"),
    "a column in two places": ("RHS\n", " a room 3\nRHS\n", "line 10.*column a was there before"),
    "names with blanks": (" b cost", " b b cost", "line 9.*blanks"),
    "digits in groups": ("a room 1", "a room 1_0", "line 8.*not a number"),
    "a lower side of infinity": ("UP T a 4", "LO T a 1e30", "a is held to infinity"),
    "two senses": ("NAME small\n", "*SENSE:Maximize\nNAME small\nOBJSENSE\n MIN\n", "line 4.*maximum.*minimum"),
    "quadratic costs": ("BOUNDS\n", "QUADOBJ\n a a 1\nBOUNDS\n", "line 12.*QUADOBJ"),
    "a row that is not there": ("a room 1", "a rum 1", "line 8.*rum"),
    "an upper side below 0 alone": ("UP T a 4", "UP T a -1", "readers differ"),
    "a file that is cut": ("ENDATA\n", "", "ends before ENDATA"),
}


@pytest.mark.parametrize(("old", "new", "wanted"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_program_or_has_two_readings_is_refused(old, new, wanted, tmp_path):
    """With file and line."""
    path = tmp_path / "x.mps"
    path.write_text(FILE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(crowdopt.InputError, match=rf"(?s)^x\.mps, .*{wanted}"):
        crowdopt.read_program(path)


READ = {
    "exponents of Fortran": ("a room 1", "a room 1.5D0", lambda found: found.matrix.toarray()[1, 0] == 1.5),
    "ranges before right sides": ("RHS\n", "RANGES\n R room 3\nRHS\n", lambda found: found.row_lower[1] == 2),
    "a lower side of 0 that is stated": ("UP T a 4", "LO T a 0\n UP T a -1", lambda found: found.upper[0] == -1),
}


@pytest.mark.parametrize(("old", "new", "holds"), READ.values(), ids=READ)
def test_what_has_one_reading_is_read(old, new, holds, tmp_path):
    """The standard's table of ranges whichever section comes first; D for E; a stated 0 is no missing side."""
    (tmp_path / "x.mps").write_text(FILE.replace(old, new, 1), encoding="utf-8")
    assert holds(crowdopt.read_program(tmp_path / "x.mps"))


def test_a_file_that_cannot_be_read_is_refused_before_anything_runs(tmp_path):
    """LP files have as many readings as readers: one sentence says what to write in place of them."""
    path = tmp_path / "x.lp.gz"
    path.write_text("Minimize x\nEnd\n", encoding="utf-8")
    done = run("bench", path, "--backends", "highs", "-o", tmp_path / "out")
    assert done.exit_code == 2 and done.output.count("\n") == 1 and not (tmp_path / "out").exists()
    assert "write MPS in place of it" in done.output

"""A solution of anybody's model: what is said of it is true, false, or not shown, as fractions and multipliers say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from tests.typed import run

MODEL = """NAME knap
OBJSENSE
 MAX
ROWS
 N profit
 L room
 G least
COLUMNS
 MARKER MARKER 'MARKER' 'INTORG'
 x profit 3 room 2
 x least 1
 y profit 2 room 1
 MARKER MARKER 'MARKER' 'INTEND'
 z profit 1 room 1
 z least 1
RHS
 RHS room 4 least 1
BOUNDS
 UP BND x 2
 UP BND y 3
 UP BND z 1.5
ENDATA
"""  # best: y = 3, z = 1, worth 7; the relaxation is worth 7.5: x = .5, y = 3, z = 0 does not keep least, x + z >= 1
CASES = {  # point, multipliers, claim -> verdict, a word of why
    "best in whole numbers": ({"y": 3, "z": 1}, {"room": 1}, None, "not shown", "gap"),
    "feasible it is": ({"y": 3, "z": 1}, None, "feasible", "true", "kept"),
    "nothing proves it": ({"y": 3, "z": 1}, None, None, "not shown", "no multipliers"),
    "a row is broken by a hair too much": ({"y": 3, "z": 1 + 2e-6}, None, None, "false", "room by 2"),
    "a lower side is broken": ({"y": 3}, None, None, "false", "least by 1"),
    "a bound is broken": ({"z": 1.75}, None, None, "false", "z by 0.25"),
    "a half of a label": ({"x": 1.5, "y": 1}, None, None, "false", "x is 0.5 from a whole number"),
    "there is a point": ({"y": 3, "z": 1}, None, "infeasible", "false", "here is a point"),
}


@pytest.fixture
def model(tmp_path):
    """A file of somebody's."""
    (tmp_path / "model.mps").write_text(MODEL, encoding="utf-8")
    return tmp_path / "model.mps"


def table(kind: str, values):
    return None if values is None else {kind: list(values), "value": list(values.values())}


@pytest.mark.filterwarnings("ignore::crowdopt.errors.ProgramWarning")
@pytest.mark.parametrize("case", CASES)
def test_each_claim_gets_its_verdict(model, case):
    """A gap, a broken row, a broken bound, half a label: named, with its size."""
    point, duals, claim, verdict, why = CASES[case]
    found = crowdopt.check(model, table("column", point), table("row", duals), claim=claim)
    assert (found.verdict, why in found.why) == (verdict, True), found
    assert found.value == pytest.approx(3 * point.get("x", 0) + 2 * point.get("y", 0) + point.get("z", 0))


def drawn(seed: int):
    """Matrix, sides, costs of both signs: rows of one side, of two or of equal ones, around a point that keeps them."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-2, 5, (5, 6)).astype(float)
    middle = matrix @ rng.integers(0, 4, 6)
    low, high = middle - rng.choice([0, 2, np.inf], 5), middle + rng.choice([0, 3, np.inf], 5)
    return matrix, low, high, rng.integers(-4, 9, 6).astype(float)


def modelled(library: str, program, whole: bool = False, maximal: bool = False):
    """The least or largest c x where low <= A x <= high and 0 <= x <= 3, in a library's words, solved."""
    matrix, low, high, cost = program
    rows, columns = matrix.shape
    if library == "pulp":
        pulp = pytest.importorskip("pulp")
        x = [pulp.LpVariable(f"x{j}", 0, 3, "Integer" if whole else "Continuous") for j in range(columns)]
        problem = pulp.LpProblem("p", pulp.LpMaximize if maximal else pulp.LpMinimize)
        problem += pulp.lpDot(cost.tolist(), x)
        for i in range(rows):
            problem += pulp.lpDot(matrix[i].tolist(), x) <= min(high[i], 1e6)
            problem += pulp.lpDot(matrix[i].tolist(), x) >= max(low[i], -1e6)
        problem.solve(pulp.PULP_CBC_CMD(msg=False))
        return problem
    if library == "highspy":
        highspy = pytest.importorskip("highspy")
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        for j in range(columns):
            model.addVariable(
                0, 3, cost[j], highspy.HighsVarType.kInteger if whole else highspy.HighsVarType.kContinuous
            )
        for i in range(rows):
            model.addRow(low[i], high[i], columns, np.arange(columns), matrix[i])
        model.changeObjectiveSense(highspy.ObjSense.kMaximize if maximal else highspy.ObjSense.kMinimize)
        model.run()
        return model
    cvxpy = pytest.importorskip("cvxpy")
    x, below, above = cvxpy.Variable(columns, name="x", integer=whole), np.isfinite(high), np.isfinite(low)
    limits = [x >= 0, x <= 3, matrix[below] @ x <= high[below], matrix[above] @ x >= low[above]]
    problem = cvxpy.Problem((cvxpy.Maximize if maximal else cvxpy.Minimize)(cost @ x), limits)
    problem.solve(solver=cvxpy.HIGHS)
    return problem


@pytest.mark.filterwarnings("ignore::crowdopt.errors.ProgramWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("library", ["pulp", "highspy", "cvxpy"])
def test_what_a_library_solved_is_what_it_says(library):
    """Optima of linear programs are shown by the library's own multipliers; those in whole numbers are kept."""
    for seed in range(6):
        program, maximal = drawn(seed), seed % 2 == 0
        relaxed = crowdopt.check(modelled(library, program, maximal=maximal))
        assert relaxed.verdict == "true" and relaxed.bound == pytest.approx(relaxed.value, abs=1e-5), relaxed
        found = crowdopt.check(modelled(library, program, whole=True, maximal=maximal), claim="feasible")
        worse = relaxed.value - found.value if maximal else found.value - relaxed.value
        assert found.verdict == "true" and worse >= -1e-6


@pytest.mark.filterwarnings("ignore::crowdopt.errors.ProgramWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("seed", range(20))
def test_twenty_models_right_and_wrong(seed):
    """Right multipliers show an optimum; wrong ones do not; a moved point is held to every side by fractions."""
    program = matrix, low, high, cost = drawn(seed)
    model = modelled("highspy", program)
    point, dual = (np.array(getattr(model.getSolution(), name)) for name in ("col_value", "row_dual"))

    def verdict(values, multipliers, claim="optimal"):
        points = {"column": [f"c{j}" for j in range(cost.size)], "value": values}
        duals = {"row": [f"r{i}" for i in range(len(matrix))], "value": multipliers}
        return crowdopt.check(model, points, duals, claim=claim).verdict

    def bound(y):  # of Lagrange: each row at the side that its multiplier pulls to, each column at its cheapest end
        pulled = np.where(y > 0, low, high)
        if np.isinf(pulled[y != 0]).any():
            return -np.inf
        return y @ np.where(y != 0, pulled, 0.0) + np.minimum((cost - matrix.T @ y) * 3, 0).sum()

    value = float(cost @ point)
    for wrong in (dual, -dual, 0 * dual, 2 * dual, dual + 1, dual * (np.arange(dual.size) != np.abs(dual).argmax())):
        shown = abs(value - max(bound(wrong), bound(-wrong))) <= 1e-6 * max(1, abs(value))
        assert verdict(point, wrong) == ("true" if shown else "not shown")
    assert verdict(point, dual) == "true"
    exact = [[Fraction(entry) for entry in row] for row in matrix.tolist()]
    for moved in np.vstack([point + np.eye(cost.size), point - np.eye(cost.size)]):
        sums = [sum(a * Fraction(b) for a, b in zip(row, moved.tolist(), strict=True)) for row in exact]
        within = all(lo - 1e-6 <= one <= hi + 1e-6 for lo, one, hi in zip(low, sums, high, strict=True))
        holds = within and bool(((moved >= -1e-6) & (moved <= 3 + 1e-6)).all())
        assert verdict(moved, dual, "feasible") == ("true" if holds else "false")
        better = cost @ moved <= cost @ point + 1e-9
        assert not holds or verdict(moved, dual) == ("true" if better else "not shown")


@pytest.mark.filterwarnings("ignore::crowdopt.errors.ProgramWarning")
def test_a_solution_file_of_highs_is_read(tmp_path):
    """Point, multipliers and status; one that is changed is found out, and so is a column that is none."""
    solved = modelled("highspy", drawn(1))
    model, file = str(tmp_path / "m.mps"), tmp_path / "s.sol"
    solved.writeModel(model)
    solved.writeSolution(str(file), 0)
    assert crowdopt.check(model, file).verdict == "true"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("# Columns 6\nc0 ", "# Columns 6\nc0 9", 1), encoding="utf-8")
    assert crowdopt.check(model, file).verdict == "false"
    file.write_text(text.replace("c0", "d0"), encoding="utf-8")
    with pytest.raises(InputError, match="the model has no column 'd0'"):
        crowdopt.check(model, file)


@pytest.mark.filterwarnings("ignore::crowdopt.errors.ProgramWarning")
def test_the_command_is_a_gate(model, tmp_path):
    """Exit 0 where the claim is shown, 1 where it is not, 2 where there is nothing to check."""
    (tmp_path / "point.csv").write_text("column,value\ny,3\nz,1\n", encoding="utf-8")
    assert run("check", str(model), str(tmp_path / "point.csv"), "--claim", "feasible").exit_code == 0
    assert run("check", str(model), str(tmp_path / "point.csv")).exit_code == 1
    assert run("check", str(model)).exit_code == 2


def test_no_point_keeps_what_multipliers_refute(tmp_path):
    """X >= 2 and x <= 1 as rows: their sum is a proof, one of them is none."""
    text = "NAME e\nROWS\n N c\n G low\n L high\nCOLUMNS\n x c 1 low 1\n x high 1\nRHS\n R low 2 high 1\nENDATA\n"
    (tmp_path / "e.mps").write_text(text, encoding="utf-8")
    for multipliers, verdict in (([1.0, -1.0], "true"), ([1.0, 0.0], "not shown")):
        proof = {"row": ["low", "high"], "value": multipliers}
        assert crowdopt.check(tmp_path / "e.mps", duals=proof, claim="infeasible").verdict == verdict


def test_sums_are_exact(tmp_path):
    """A breach that floating point loses is seen: 1e16 + 1 - 1e16 is 1."""
    text = "NAME e\nROWS\n N c\n L row\nCOLUMNS\n x c 1 row 1\n y row 1\n z row -1\nRHS\n R row 0\nENDATA\n"
    (tmp_path / "e.mps").write_text(text, encoding="utf-8")
    found = crowdopt.check(tmp_path / "e.mps", {"column": ["x", "y", "z"], "value": [1e16, 1.0, 1e16]})
    assert (found.verdict, found.violation) == ("false", 1.0)

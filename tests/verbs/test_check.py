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
    "a row is broken": ({"x": 2, "y": 1}, None, None, "false", "room by 1"),
    "a row is broken by a hair too much": ({"y": 3, "z": 1 + 2e-6}, None, None, "false", "room by 2"),
    "a lower side is broken": ({"y": 3}, None, None, "false", "least by 1"),
    "a bound is broken": ({"z": 1.75}, None, None, "false", "z by 0.25"),
    "not whole": ({"x": 0.5, "y": 3}, None, "feasible", "false", "least by 0.5"),
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
    """A linear program with an optimum, as matrix, sides and costs, in whole numbers."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-3, 6, (4, 5)).astype(float)
    return matrix, rng.integers(5, 20, 4).astype(float), rng.integers(1, 9, 5).astype(float)


def modelled(library: str, matrix, side, cost, whole: bool):
    """The maximum of c x over A x <= b, 0 <= x <= 7, in a library's words, solved."""
    rows, columns = matrix.shape
    if library == "pulp":
        pulp = pytest.importorskip("pulp")
        kind = "Integer" if whole else "Continuous"
        x = [pulp.LpVariable(f"x{j}", 0, 7, kind) for j in range(columns)]
        problem = pulp.LpProblem("p", pulp.LpMaximize)
        problem += pulp.lpDot(cost.tolist(), x)
        for i in range(rows):
            problem += pulp.lpDot(matrix[i].tolist(), x) <= side[i]
        problem.solve(pulp.PULP_CBC_CMD(msg=False))
        return problem
    if library == "highspy":
        highspy = pytest.importorskip("highspy")
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        kind = highspy.HighsVarType.kInteger if whole else highspy.HighsVarType.kContinuous
        x = [model.addVariable(0, 7, cost[j], kind) for j in range(columns)]
        for i in range(rows):
            model.addConstr(sum(matrix[i, j] * x[j] for j in range(columns)) <= side[i])
        model.changeObjectiveSense(highspy.ObjSense.kMaximize)
        model.run()
        return model
    cvxpy = pytest.importorskip("cvxpy")
    x = cvxpy.Variable(columns, name="x", integer=whole)
    problem = cvxpy.Problem(cvxpy.Maximize(cost @ x), [x >= 0, x <= 7, matrix @ x <= side])
    problem.solve(solver=cvxpy.HIGHS)
    return problem


@pytest.mark.filterwarnings("ignore::crowdopt.errors.ProgramWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("library", ["pulp", "highspy", "cvxpy"])
def test_what_a_library_solved_is_what_it_says(library):
    """Optima of linear programs are shown by the library's own multipliers; those in whole numbers are kept."""
    for seed in range(6):
        matrix, side, cost = drawn(seed)
        relaxed = crowdopt.check(modelled(library, matrix, side, cost, whole=False))
        assert relaxed.verdict == "true" and relaxed.bound == pytest.approx(relaxed.value, abs=1e-5), relaxed
        found = crowdopt.check(modelled(library, matrix, side, cost, whole=True), claim="feasible")
        assert found.verdict == "true" and found.value <= relaxed.value + 1e-6


def covering(rng):
    """Rows that some columns must cover, all of them whole: like set covering of MIPLIB."""
    matrix = np.zeros((6, 9))
    for row in matrix:
        row[rng.choice(9, 3, replace=False)] = 1
    return matrix, np.ones(6), np.full(6, np.inf), rng.integers(1, 9, 9).astype(float), np.ones(9)


def partitioning(rng):
    """Every row once, by singles or pairs."""
    matrix = np.hstack([np.eye(5), np.eye(5) + np.roll(np.eye(5), 1, axis=0)])
    return matrix, np.ones(5), np.ones(5), rng.integers(2, 9, 10).astype(float), np.ones(10)


def transport(rng):
    """Supplies and demands as equalities, continuous."""
    rows = [np.kron(np.eye(3)[i], np.ones(4)) for i in range(3)] + [np.kron(np.ones(3), np.eye(4)[j]) for j in range(4)]
    amounts = np.array([4.0, 4, 4, 3, 3, 3, 3])
    return np.array(rows), amounts, amounts, rng.integers(1, 20, 12).astype(float), np.full(12, 7.0)


def fixed_charge(rng):
    """A demand met by plants that cost something to open."""
    matrix = np.vstack([np.hstack([np.ones(4), np.zeros(4)]), np.hstack([np.eye(4), -5 * np.eye(4)])])
    low, high = np.array([12.0, *[-np.inf] * 4]), np.array([np.inf, *[0.0] * 4])
    return matrix, low, high, rng.integers(1, 9, 8).astype(float), np.array([5.0] * 4 + [1.0] * 4)


def ranged(rng):
    """Rows with two sides, and costs of both signs."""
    matrix = rng.integers(-2, 4, (4, 6)).astype(float)
    middle = matrix @ np.ones(6)
    return matrix, middle - 2, middle + 3, rng.integers(-4, 5, 6).astype(float), np.full(6, 3.0)


@pytest.mark.filterwarnings("ignore::crowdopt.errors.ProgramWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("family", [covering, partitioning, transport, fixed_charge, ranged])
def test_twenty_models_right_and_wrong(family, seed):
    """Right multipliers show an optimum; wrong ones do not; a moved point is held to every side by fractions."""
    highspy = pytest.importorskip("highspy")
    matrix, low, high, cost, most = family(np.random.default_rng(seed))
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    x = [model.addVariable(0, most[j], cost[j]) for j in range(cost.size)]
    for i in range(len(matrix)):
        expression = sum(matrix[i, j] * x[j] for j in np.flatnonzero(matrix[i]).tolist())
        model.addConstr(low[i] <= expression <= high[i] if np.isfinite(low[i] + high[i]) else (
            expression >= low[i] if np.isfinite(low[i]) else expression <= high[i]))  # fmt: skip
    model.run()
    solution = model.getSolution()
    point, dual = np.array(solution.col_value), np.array(solution.row_dual)
    columns, rows = [f"c{j}" for j in range(cost.size)], [f"r{i}" for i in range(len(matrix))]

    def verdict(values, multipliers, claim="optimal"):
        return crowdopt.check(
            model,
            {"column": columns, "value": values},
            {"row": rows, "value": multipliers},
            claim=claim,
        ).verdict

    def bound(y):  # of Lagrange: each row at the side that its multiplier pulls to, each column at its cheapest end
        ends = [-np.inf if y_i and not np.isfinite(side) else y_i * side if y_i else 0.0 for y_i, side in zip(
            y, np.where(y > 0, low, high), strict=True)]  # fmt: skip
        return sum(ends) + np.minimum((cost - matrix.T @ y) * most, 0).sum()

    value = float(cost @ point)
    for wrong in (dual, -dual, 0 * dual, 2 * dual, dual + 1, dual * (np.arange(dual.size) != np.abs(dual).argmax())):
        shown = abs(value - max(bound(wrong), bound(-wrong))) <= 1e-6 * max(1, abs(value))
        assert verdict(point, wrong) == ("true" if shown else "not shown")
    assert verdict(point, dual) == "true"
    exact = [[Fraction(entry) for entry in row] for row in matrix.tolist()]
    for moved in np.vstack([point + np.eye(cost.size), point - np.eye(cost.size)]):
        sums = [sum(a * Fraction(b) for a, b in zip(row, moved.tolist(), strict=True)) for row in exact]
        within = all(lo - 1e-6 <= one <= hi + 1e-6 for lo, one, hi in zip(low, sums, high, strict=True))
        holds = within and bool(((moved >= -1e-6) & (moved <= most + 1e-6)).all())
        assert verdict(moved, dual, "feasible") == ("true" if holds else "false")
        better = cost @ moved <= cost @ point + 1e-9
        assert not holds or verdict(moved, dual) == ("true" if better else "not shown")


@pytest.mark.filterwarnings("ignore::crowdopt.errors.ProgramWarning")
def test_a_solution_file_of_highs_is_read(tmp_path):
    """Point, multipliers and status; one that is changed is found out, and so is a column that is none."""
    solved = modelled("highspy", *drawn(1), whole=False)
    model, file = str(tmp_path / "m.mps"), tmp_path / "s.sol"
    solved.writeModel(model)
    solved.writeSolution(str(file), 0)
    assert crowdopt.check(model, file).verdict == "true"
    text = file.read_text(encoding="utf-8")
    worse = text.replace("# Columns 5\nc0 ", "# Columns 5\nc0 9", 1)
    file.write_text(worse, encoding="utf-8")
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
    proof = {"row": ["low", "high"], "value": [1.0, -1.0]}
    assert crowdopt.check(tmp_path / "e.mps", duals=proof, claim="infeasible").verdict == "true"
    proof["value"] = [1.0, 0.0]
    assert crowdopt.check(tmp_path / "e.mps", duals=proof, claim="infeasible").verdict == "not shown"


def test_sums_are_exact(tmp_path):
    """A breach of 2^-60 that floating point loses is seen: 1e16 + 1 - 1e16 is 1."""
    text = "NAME e\nROWS\n N c\n L row\nCOLUMNS\n x c 1 row 1\n y row 1\n z row -1\nRHS\n R row 0\nENDATA\n"
    (tmp_path / "e.mps").write_text(text, encoding="utf-8")
    found = crowdopt.check(tmp_path / "e.mps", {"column": ["x", "y", "z"], "value": [1e16, 1.0, 1e16]})
    assert (found.verdict, found.violation) == ("false", float(Fraction(1)))

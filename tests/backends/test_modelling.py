"""A program goes out to any modeller's library, is changed there, and comes back with what was added, certified."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from scipy import sparse

import crowdopt
from crowdopt.backends.pulp import load
from crowdopt.core.program import Program, relax

LIBRARIES = ["highspy", "pulp", "cvxpy", "scipy"]
INSTANCE = crowdopt.recipe("R10:20x20", seed=0)
PROGRAM = crowdopt.programs.assignment.build(INSTANCE)
WISH = np.zeros((20, 20))  # worker 0 gets at least one task less than worker 1
WISH[:, 0], WISH[:, 1] = 1.0, -1.0


def by_hand(program: Program) -> Program:
    """The program with the wish as a row of its own."""
    return program.with_rows("wish", (1,), WISH.reshape(1, -1), -np.inf, -1.0)


def by_library(library: str, program: Program) -> crowdopt.api.modelling.Solution:
    """The program with the wish, added and solved in that library."""
    if library == "highspy":
        handed = crowdopt.to_highspy(program, INSTANCE)
        model, y = handed.model, handed.columns["y"]
        model.addConstr(model.qsum(y[:, 0]) - model.qsum(y[:, 1]) <= -1)
        model.run()
        return crowdopt.from_solution(handed)
    if library == "pulp":
        handed = crowdopt.to_pulp(program, INSTANCE)
        problem, y = handed.model, handed.columns["y"]
        problem += sum(y[:, 0]) - sum(y[:, 1]) <= -1
        return crowdopt.from_solution(handed, problem.solve(load().HiGHS(msg=False)))
    if library == "cvxpy":
        import cvxpy

        handed = crowdopt.to_cvxpy(program)
        y = handed.columns["y"]
        wish = cvxpy.sum(y[:, 0]) + 1 <= cvxpy.sum(y[:, 1])
        mine = cvxpy.Problem(handed.model.objective, [*handed.model.constraints, wish])
        mine.solve(solver="HIGHS")
        return crowdopt.from_solution(handed, mine)
    from scipy.optimize import linprog

    handed = crowdopt.to_scipy(program)
    given = handed.model
    given["A_ub"] = sparse.vstack([given["A_ub"], sparse.csr_array(WISH.reshape(1, -1))])
    given["b_ub"] = np.append(given["b_ub"], -1.0)
    return crowdopt.from_solution(handed, linprog(**given))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("integer", [False, True], ids=["lp", "ip"])
def test_a_wish_added_there_comes_back_certified(library: str, integer: bool) -> None:
    """The program that comes back states the wish, so its optimum is that of the row written by hand, and is proven."""
    if find_spec(library) is None:
        pytest.skip(f"needs {library}")
    program = PROGRAM if integer else relax(PROGRAM)
    wanted = crowdopt.certify(crowdopt.solve(by_hand(program)))
    assert wanted.value > crowdopt.certify(crowdopt.solve(program)).value, "the wish costs something"
    back = by_library(library, program)
    found = crowdopt.certify(back)
    assert back.program.rows[-1].name == "added"
    assert found.proves_optimal(1e-6) and found.value == pytest.approx(wanted.value, abs=1e-6)
    if not integer:
        assert found.proof == "certificate", "the library's multipliers, in our sign, prove it"


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_variable_of_one_s_own_comes_back(library: str) -> None:
    """A modeller adds columns too: here one that pays 5 for each label by which worker 0 exceeds 3."""
    program = relax(PROGRAM)
    if library == "pulp":
        handed = crowdopt.to_pulp(program)
        problem, y = handed.model, handed.columns["y"]
        over = problem.add_variable("over", 0, 9)
        problem += over >= sum(y[:, 0]) - 3
        problem.setObjective(sum(y[i, j] for i in range(20) for j in range(20)) + 5 * over)
        back = crowdopt.from_solution(handed, problem.solve(load().HiGHS(msg=False)))
    elif library == "cvxpy":
        import cvxpy

        handed = crowdopt.to_cvxpy(program)
        y, over = handed.columns["y"], cvxpy.Variable(nonneg=True)
        mine = cvxpy.Problem(
            cvxpy.Minimize(cvxpy.sum(y) + 5 * over),
            [*handed.model.constraints, over >= cvxpy.sum(y[:, 0]) - 3],
        )
        mine.solve(solver="HIGHS")
        back = crowdopt.from_solution(handed, mine)
    elif library == "highspy":
        handed = crowdopt.to_highspy(program)
        model, y = handed.model, handed.columns["y"]
        over = model.addVariable(lb=0, obj=5)
        model.addConstr(over - model.qsum(y[:, 0]) >= -3)
        model.run()
        back = crowdopt.from_solution(handed)
    else:
        pytest.skip("SciPy has no variables; its arrays grow as for rows")
    assert back.program.columns[-1].name == "added" and back.program.cost[-1] == 5
    assert crowdopt.certify(back).proves_optimal(1e-6)
    assert crowdopt.certify(back).proof == "certificate"


def test_names_lead_to_tasks_and_workers() -> None:
    """A model printed elsewhere is read by ids, not by numbers."""
    instance = crowdopt.AssignmentInstance(
        [[0.9, 0.8]], [0, 0], 2, 0.3, tasks=["photo-1", "photo-2"], workers=["ada", "bo"]
    )
    program = crowdopt.programs.assignment.build(instance)
    assert crowdopt.to_highspy(program, instance).model.getColName(1)[1] == "y[photo-1,bo]"
    assert crowdopt.to_pulp(program, instance).columns["y"][0, 1].name == "y(photo~1,bo)"
    assert crowdopt.to_cvxpy(program).columns["y"].shape == (2, 2)


def test_what_is_no_program_any_more_is_refused() -> None:
    """A maximum, a curve or a constant would be certified as something that was not asked."""
    import cvxpy

    handed = crowdopt.to_cvxpy(relax(PROGRAM))
    y = handed.columns["y"]
    maximum = cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(y)), handed.model.constraints)
    with pytest.raises(crowdopt.InputError, match="maximum"):
        crowdopt.from_solution(handed, maximum)
    curve = cvxpy.Problem(handed.model.objective, [*handed.model.constraints, cvxpy.sum_squares(y) <= 9])
    with pytest.raises(crowdopt.InputError, match="linear"):
        crowdopt.from_solution(handed, curve)
    with pytest.raises(crowdopt.InputError, match="linprog"):
        crowdopt.from_solution(crowdopt.to_scipy(PROGRAM))


def test_rows_of_one_s_own_are_part_of_the_proof() -> None:
    """The LP with the wish costs more, and the wish's multiplier is what proves it."""
    program = by_hand(relax(PROGRAM))
    solution = crowdopt.solve(program)
    assert crowdopt.certify(solution).proves_optimal(1e-6)
    without = solution.dual.copy()
    without[program.row("wish").span] = 0.0
    assert crowdopt.lagrangian_bound(program, without) < crowdopt.certify(solution).value - 1e-3
    with pytest.raises(ValueError, match="wish"):
        program.with_rows("wish", (1,), WISH.reshape(1, -1), 0.0)
    with pytest.raises(ValueError, match="matrix"):
        program.with_rows("other", (2,), WISH.reshape(1, -1), 0.0)

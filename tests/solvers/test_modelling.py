"""A program goes out to any modeller's library, and a row that is added there counts."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.core.certificate import lagrangian_bound
from crowdopt.core.program import Program, relax
from crowdopt.solvers.pulp import load, quiet
from crowdopt.testing.backend_contract import program as stated

INSTANCE = crowdopt.recipe("R10:20x20", seed=0)
PROGRAM = crowdopt.programs.assignment.build(INSTANCE)
WISH = np.zeros((20, 20))  # worker 0 gets at least one task less than worker 1
WISH[:, 0], WISH[:, 1] = 1.0, -1.0


def by_hand(program: Program) -> Program:
    """The program with the wish as a row of its own."""
    return program.with_rows("wish", (1,), WISH.reshape(1, -1), -np.inf, -1.0)


def by_highspy(program: Program, wish: bool) -> float:
    model, variables = crowdopt.to_highspy(program)
    if wish:
        model.addConstr(model.qsum(variables["y"][:, 0]) - model.qsum(variables["y"][:, 1]) <= -1)
    model.run()
    return float(model.getObjectiveValue())


def by_pulp(program: Program, wish: bool) -> float:
    problem, variables = crowdopt.to_pulp(program)
    with quiet():
        if wish:
            problem += sum(variables["y"][:, 0]) - sum(variables["y"][:, 1]) <= -1
        problem.solve(load().HiGHS(msg=False))
        return float(load().value(problem.objective))


def by_cvxpy(program: Program, wish: bool) -> float:
    import cvxpy

    problem, variables = crowdopt.to_cvxpy(program)
    if wish:
        more = cvxpy.sum(variables["y"][:, 0]) + 1 <= cvxpy.sum(variables["y"][:, 1])
        problem = cvxpy.Problem(problem.objective, [*problem.constraints, more])
    problem.solve(solver="HIGHS")
    return float(problem.value)


LIBRARIES = {"highspy": by_highspy, "pulp": by_pulp, "cvxpy": by_cvxpy}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_program_goes_out_and_a_wish_added_there_counts(library: str) -> None:
    """Its optimum is that of the row written by hand, and dearer than without.

    HiGHS 1.15 calls false optima of integer columns between other sides optimal: they go out between integers; a
    column that may be a fraction keeps its sides.
    """
    pytest.importorskip(library)
    wanted = crowdopt.certify(crowdopt.solve_program(by_hand(PROGRAM))).value
    assert wanted > crowdopt.certify(crowdopt.solve_program(PROGRAM)).value, "the wish costs something"
    assert LIBRARIES[library](PROGRAM, True) == pytest.approx(wanted, abs=1e-6)
    program = stated([-1, -1], [(-np.inf, [1, 1], 9)], lower=[0.2, 0.2], upper=[3.7, 0.5], integer=[True, False])
    assert LIBRARIES[library](program, False) == pytest.approx(-3.5)
    assert LIBRARIES[library](relax(program), False) == pytest.approx(-4.2)


def test_names_lead_to_tasks_and_workers() -> None:
    """A model printed elsewhere is read by ids, not by numbers."""
    instance = crowdopt.AssignmentInstance(
        [[0.9, 0.8]], [0, 0], 2, 0.3, tasks=["photo-1", "photo-2"], workers=["ada", "bo"]
    )
    program = crowdopt.programs.assignment.build(instance)
    assert crowdopt.to_highspy(program, instance)[0].getColName(1)[1] == "y[photo-1,bo]"
    _problem, variables = crowdopt.to_pulp(program, instance)  # PuLP 4's variables live as long as their problem
    assert variables["y"][0, 1].name == "y(photo~1,bo)"
    assert crowdopt.to_cvxpy(program)[1]["y"].shape == (2, 2)


def test_rows_of_one_s_own_are_part_of_the_proof() -> None:
    """The LP with the wish costs more, and the wish's multiplier is what proves it."""
    program = by_hand(relax(PROGRAM))
    solution = crowdopt.solve_program(program)
    assert crowdopt.certify(solution).proves_optimal(1e-6)
    without = solution.dual.copy()
    without[program.row("wish").span] = 0.0
    assert lagrangian_bound(program, without) < crowdopt.certify(solution).value - 1e-3
    with pytest.raises(ValueError, match="wish"):
        program.with_rows("wish", (1,), WISH.reshape(1, -1), 0.0)
    with pytest.raises(ValueError, match="matrix"):
        program.with_rows("other", (2,), WISH.reshape(1, -1), 0.0)

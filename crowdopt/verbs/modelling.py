"""Programs in the objects of the library that one models with.

>>> import crowdopt
>>> program = crowdopt.programs.assignment.build(crowdopt.recipe("R10:4x6", seed=0))
>>> problem, variables = crowdopt.to_pulp(program)
>>> y = variables["y"]                       # (tasks, workers)
>>> problem += sum(y[:, 0]) <= sum(y[:, 1])  # a wish that the program does not know
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from crowdopt.core.program import Program
from crowdopt.core.solution import Options
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import public
from crowdopt.io.programs import LP, MPS, Dialect, ids_of, names_of
from crowdopt.solvers import BackendMissing, cvxpy, highs, pulp


@public
def to_highspy(program: Program, instance: AssignmentInstance | None = None) -> tuple[Any, dict[str, Any]]:
    """The program as a ``highspy.Highs``: go on with ``highs.addConstr(...)``, ``highs.run()``.

    Parameters
    ----------
    program : Program
        Its integer columns get the integers between their sides, of which HiGHS calls false optima optimal otherwise.
    instance : AssignmentInstance, optional
        Whose ids the names are made of, as in ``y[photo-01,ada]``; numbers otherwise.

    Returns
    -------
    highs : highspy.Highs
    variables : dict
        Name of each block of columns -> its ``highs_var`` objects, an array of the block's shape.

    Raises
    ------
    BackendMissing
        If the library is not installed.
    """
    columns, rows = _names(program, instance, MPS)
    with _installed("highspy", highs.INSTALL):
        model = highs.hand_over(program.with_whole_sides(), Options())
        model.setOptionValue("time_limit", np.inf)
        for k, name in enumerate(columns):
            model.passColName(k, name)
        for k, name in enumerate(rows):
            model.passRowName(k, name)
        return model, _by_block(program, [highs.variable(model, k) for k in range(len(columns))])


@public
def to_pulp(program: Program, instance: AssignmentInstance | None = None) -> tuple[Any, dict[str, Any]]:
    """The program as a ``pulp.LpProblem``, of PuLP 3 or 4: go on with ``problem += ...``, ``problem.solve()``.

    A row with two sides is two constraints, whose names end in ``.lower`` and ``.upper``.

    Parameters
    ----------
    program : Program
        Its integer columns get the integers between their sides.
    instance : AssignmentInstance, optional
        Whose ids the names are made of, as in ``y(photo~01,ada)``; numbers otherwise.

    Returns
    -------
    problem : pulp.LpProblem
    variables : dict
        Name of each block of columns -> its variables, an array of the block's shape.

    Raises
    ------
    BackendMissing
        If the library is not installed.
    """
    with _installed("pulp", pulp.INSTALL), pulp.quiet():
        built = pulp.build(program.with_whole_sides(), *_names(program, instance, LP))
    return built.problem, _by_block(program, built.variables)


@public
def to_cvxpy(program: Program) -> tuple[Any, dict[str, Any]]:
    """The program as a ``cvxpy.Problem``: go on with ``cvxpy.Problem(problem.objective, [*problem.constraints, ...])``.

    Parameters
    ----------
    program : Program
        Its integer columns get the integers between their sides.

    Returns
    -------
    problem : cvxpy.Problem
    variables : dict
        Name of each block of columns -> its part of the problem's one variable, an expression of the block's shape.

    Raises
    ------
    BackendMissing
        If the library is not installed.
    """
    with _installed("cvxpy", cvxpy.INSTALL):
        built = cvxpy.build(program.with_whole_sides())
        reshaped = cvxpy.load().reshape
    parts = {one.name: reshaped(built.variable[one.span], one.shape, order="C") for one in program.columns}
    return built.problem, parts


def _names(program: Program, instance: AssignmentInstance | None, dialect: Dialect) -> tuple[Sequence[str], ...]:
    ids = {} if instance is None else ids_of(program, instance)
    return names_of(program.columns, ids, dialect), names_of(program.rows, ids, dialect)


def _by_block(program: Program, variables: Sequence[Any]) -> dict[str, Any]:
    flat = np.empty(len(variables), dtype=object)
    flat[:] = variables
    return {block.name: block.view(flat) for block in program.columns}


@contextmanager
def _installed(library: str, install: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise BackendMissing(f"{library} is not installed here: {install} ({error})") from error

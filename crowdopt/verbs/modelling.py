"""Programs in the objects of the library that one models with.

>>> import crowdopt
>>> program = crowdopt.programs.assignment.build(crowdopt.recipe("R10:4x6", seed=0))
>>> problem, variables = crowdopt.to_pulp(program)
>>> y = variables["y"]                       # (tasks, workers)
>>> problem += sum(y[:, 0]) <= sum(y[:, 1])  # a wish that the program does not know
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program, stack
from crowdopt.core.solution import Options
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError, public
from crowdopt.io.program_reading import NamedProgram
from crowdopt.io.programs import LP, MPS, Dialect, ids_of, names_of, read_named
from crowdopt.io.solutions import Stated, placed
from crowdopt.solvers import BackendMissing, cvxpy, highs, pulp

ENDS = ("lower_bounds", -np.inf), ("upper_bounds", np.inf)  # of CVXPY's columns


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


def stated_by(model: Any) -> Stated:
    """A program with the solution that it has: an object of PuLP, CVXPY or highspy; of a file, without one."""
    if isinstance(model, str | Path):
        return Stated(read_named(model), None, None)
    library = type(model).__module__.partition(".")[0]
    if library == "cvxpy":
        return _of_cvxpy(model)
    if library not in ("pulp", "highspy"):
        raise InputError(f"a model is an MPS file, or an object of PuLP, CVXPY or highspy, not {type(model).__name__}")
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PuLP's, of what its next edition will call otherwise
        path = str(Path(folder) / "model.mps")
        if library == "pulp":
            model.writeMPS(path, rename=0)
            named = read_named(path)
            point = {one.name: one.varValue for one in model.variables() if one.varValue is not None}
            dual = {name: row.pi for name, row in model.constraints.items() if row.pi is not None}
        else:
            model.writeModel(path)
            named, found = read_named(path), model.getSolution()
            point = dict(zip(_theirs(model.getLp().col_names_, "c", named.columns), found.col_value, strict=False))
            rows = _theirs(model.getLp().row_names_, "r", named.rows)
            dual = dict(zip(rows, found.row_dual, strict=False)) if found.dual_valid else {}
    return Stated(named, _all_of(named.columns, point, "column"), _all_of(named.rows, dual, "row"))


def _theirs(given: Sequence[str], letter: str, known: Sequence[str]) -> list[str]:
    return list(given) or [f"{letter}{k}" for k in range(len(known))]


def _all_of(names: Sequence[str], values: Mapping[str, float], what: str) -> Floats | None:
    return placed(names, list(values), list(values.values()), "the object", what) if values else None


def _of_cvxpy(model: Any) -> Stated:
    """By CVXPY's own canonical form, where each of its columns is an entry of a variable."""
    library = cvxpy.load()
    data, _, inverse = model.get_problem_data(library.SCIPY)
    offsets = next(one.var_offsets for one in reversed(inverse) if hasattr(one, "var_offsets"))
    variables, n = {one.id: one for one in model.variables()}, data["c"].size
    columns, point = [""] * n, np.full(n, np.nan)
    for key, start in offsets.items():
        if key not in variables:
            raise InputError("this CVXPY problem has columns of its own making (of abs, max, …): write linear rows")
        one = variables[key]
        columns[start : start + one.size] = [f"{one.name()}[{k}]" for k in range(one.size)]
        point[start : start + one.size] = np.nan if one.value is None else np.ravel(one.value, order="F")
    whole, boolean = np.zeros(n, bool), list(data["bool_vars_idx"])
    low, high = (np.full(n, end) if (own := data[name]) is None else own for name, end in ENDS)
    low[boolean], high[boolean], whole[[*boolean, *data["int_vars_idx"]]] = 0.0, 1.0, True
    sides = [(data[matrix], data[side]) for matrix, side in (("A", "b"), ("G", "h"))]
    parts = [(matrix, np.asarray(side, float)) for matrix, side in sides if matrix is not None]
    matrix = sparse.csc_array(sparse.vstack([part for part, _ in parts]) if parts else (0, n))
    upper = np.concatenate([np.zeros(0), *(side for _, side in parts)])
    lower = np.where(np.arange(upper.size) < (0 if data["A"] is None else len(data["b"])), upper, -np.inf)
    blocks = stack([("x", (n,))]), stack([("row", (upper.size,))])
    program = Program("cvxpy", np.asarray(data["c"], float), matrix, lower, upper, low, high, whole, *blocks)
    named = NamedProgram(program, columns, [f"row {k}" for k in range(upper.size)], model.objective.NAME == "maximize")
    equal = (library.constraints.zero.Equality, library.Zero)  # stand first
    ordered = sorted(model.constraints, key=lambda one: not isinstance(one, equal))
    told = [np.ravel(one.dual_value, order="F") for one in ordered if one.dual_value is not None]
    dual = np.concatenate(told) if told else np.zeros(0)
    return Stated(named, None if np.isnan(point).any() else point, dual if dual.size == upper.size else None)

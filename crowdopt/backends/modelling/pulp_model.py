"""A program as a pulp.LpProblem, of either major version, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, places
from crowdopt.backends.modelling.modelled import OWN, Modelled, Stated, Told, came_back
from crowdopt.backends.pulp import build, constraints_of, quiet, status_of
from crowdopt.core.program import Program
from crowdopt.core.solution import Solution
from crowdopt.errors import InputError


def modelled(program: Program, columns: Sequence[str], rows: Sequence[str]) -> Modelled:
    """The program as an LpProblem, named; a row with two sides is two constraints, ``.lower`` and ``.upper``."""
    with quiet():
        built = build(program, columns, rows)
    variables = np.empty(program.cost.size, dtype=object)
    variables[:] = built.variables
    constraints = np.full(program.row_lower.size, None, dtype=object)
    place: dict[str, int] = {}
    for part, where in zip(built.constraints, (built.sides.equal, built.sides.least, built.sides.most), strict=True):
        for constraint, row in zip(part, where.tolist(), strict=True):
            place[constraint.name] = row
            known = constraints[row]
            constraints[row] = constraint if known is None else (known, constraint)
    return Modelled(
        program,
        "pulp",
        built.problem,
        {block.name: block.view(variables) for block in program.columns},
        {block.name: block.view(constraints) for block in program.rows},
        place,
    )


def solution_of(model: Modelled, answer: Any, gap: float) -> Solution:
    """What the LpProblem says, and ``solve`` answered, of the program that it states now."""
    problem = model.model
    with quiet():
        stated, variables, constraints = _stated(model)
        values = [variable.varValue for variable in variables]
        idle = (np.diff(stated.sides.tocsc().indptr) == 0) & (stated.cost == 0)
        status, raw, bound = status_of(problem, answer)
        told = Told(status, _point(values, idle, stated), _prices(constraints), bound, raw)
    return came_back(model.program, "pulp", stated, told, gap)


def _stated(model: Modelled) -> tuple[Stated, list[Any], list[Any]]:
    problem = model.model
    variables = _variables(model)
    index = places(variable.name for variable in variables)
    if problem.sense != 1:
        raise InputError("the model is a maximum; a program here is a minimum, so turn the objective's sign")
    objective = problem.objective
    if objective is not None and objective.constant:
        raise InputError("the model's objective has a constant; leave it out, for a program here has none")
    constraints = constraints_of(problem)
    stated = Stated(
        _costs(objective, index),
        np.array([-np.inf if v.lowBound is None else v.lowBound for v in variables], float),
        np.array([np.inf if v.upBound is None else v.upBound for v in variables], float),
        np.array([v.cat == "Integer" for v in variables], bool),
        _coefficients(constraints, index),
        np.array([model.parts.get(one.name, OWN) for one in constraints], np.int64),
        np.array([-one.constant if one.sense >= 0 else -np.inf for one in constraints], float),
        np.array([-one.constant if one.sense <= 0 else np.inf for one in constraints], float),
    )
    return stated, variables, constraints


def _costs(objective: Any, index: dict[str, int]) -> Floats:
    cost = np.zeros(len(index))
    for variable, value in [] if objective is None else objective.items():
        cost[index[variable.name]] += value
    return cost


def _variables(model: Modelled) -> list[Any]:
    own = [variable for block in model.columns.values() for variable in block.reshape(-1)]
    names = {variable.name for variable in own}
    return own + [one for one in model.model.variables() if one.name not in names and one.name != "__dummy"]


def _coefficients(constraints: Sequence[Any], index: dict[str, int]) -> Any:
    row, column, value = [], [], []
    for k, constraint in enumerate(constraints):
        for variable, coefficient in constraint.items():
            row.append(k)
            column.append(index[variable.name])
            value.append(float(coefficient))
    return sparse.csr_array((np.array(value, float), (row, column)), shape=(len(constraints), len(index)))


def _point(values: list[float | None], idle: Any, stated: Stated) -> Floats | None:
    """The variables' values; one that nothing mentions never reaches the solver and rests within its box."""
    point = np.array([np.nan if value is None else value for value in values])
    resting = np.clip(0.0, stated.lower, stated.upper)
    point = np.where(np.isnan(point) & idle, resting, point)
    return None if np.isnan(point).any() else point


def _prices(constraints: Sequence[Any]) -> Floats | None:
    prices = [constraint.pi for constraint in constraints]
    return None if any(price is None for price in prices) else np.array(prices, float)

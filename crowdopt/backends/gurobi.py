"""Gurobi, through gurobipy: whole arrays in, whole arrays out.

The wheel's own licence allows 2000 rows and 2000 columns; a larger program without another licence raises
BackendMissing, for the backend that could solve it is not there. Gurobi knows no ranged rows: such a row becomes two.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.backends import Backend, BackendMissing
from crowdopt.backends.claims import Sides, solution
from crowdopt.backends.settings import checked, gurobi_options
from crowdopt.core.program import Program
from crowdopt.core.solution import Listener, Options, Progress, Solution, Status
from crowdopt.errors import InputError

MEANING = {  # GRB.Status
    2: Status.OPTIMAL,
    3: Status.INFEASIBLE,
    5: Status.UNBOUNDED,
}
INFINITE = 1e100  # what Gurobi says where it knows nothing
TOO_LARGE, NO_LICENCE = 10010, 10009  # GRB.Error


def run(program: Program, options: Options, listener: Listener | None) -> Solution:
    """Solve with Gurobi's own choice of method."""
    import gurobipy

    try:
        with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as model:
            _limit(model, options)
            _set_own(model, options)
            rows = hand_over(model, program)
            started = perf_counter()
            model.optimize(_heard(gurobipy, listener) if program.integer.any() else None)
            returned = perf_counter()
            return replace(_read_back(model, rows, program, options, returned - started), returned=returned)
    except gurobipy.GurobiError as error:
        if error.errno not in (TOO_LARGE, NO_LICENCE):
            raise
        size = f"{program.row_lower.size} rows and {program.cost.size} columns"
        raise BackendMissing(f"gurobi has no licence for {size} (the wheel's own allows 2000 each): {error}") from None


def _heard(gurobipy: Any, listener: Listener | None) -> Any:
    """A callback that passes on better points and bounds of a search; None without a listener."""
    if listener is None:
        return None
    code = gurobipy.GRB.Callback
    last: list[tuple[float | None, float | None]] = [(None, None)]

    def hear(model: Any, where: int) -> None:
        if where not in (code.MIP, code.MIPSOL):
            return
        asked = (code.MIP_OBJBST, code.MIP_OBJBND) if where == code.MIP else (code.MIPSOL_OBJ, code.MIPSOL_OBJBND)
        numbers = (float(model.cbGet(one)) for one in asked)
        value, bound = (number if abs(number) < INFINITE else None for number in numbers)
        if (value, bound) != last[0]:
            last[0] = (value, bound)
            listener(Progress(model.cbGet(code.RUNTIME), value, bound))

    return hear


def _limit(model: Any, options: Options) -> None:
    for option, value in {
        "TimeLimit": options.time_limit,
        "MIPGap": options.gap,
        "MIPGapAbs": 0.0,
        "Threads": options.threads,
        "Seed": options.seed,
        "FeasibilityTol": 1e-9,  # what a plan is held to
        "IntFeasTol": 1e-9,
        "DualReductions": 0,  # so that it tells unbounded from infeasible
        "InfUnbdInfo": 1,  # so that it keeps the ray
        **({} if options.nodes is None else {"NodeLimit": options.nodes}),
    }.items():
        model.setParam(option, value)


def _set_own(model: Any, options: Options) -> None:
    import gurobipy

    for key, value in checked("gurobi", options.settings, gurobi_options()).items():
        try:
            model.setParam(key, value)
        except (gurobipy.GurobiError, TypeError) as error:
            raise InputError(f"gurobi: option {key} cannot be {value!r}: {error}") from None


def hand_over(model: Any, program: Program) -> Any:
    """Put the program into the model; returns the rows: equal, then least, then most."""
    kinds = np.where(program.integer, "I", "C")
    box = {"lb": program.lower, "ub": program.upper}
    columns = model.addMVar(program.cost.size, **box, obj=program.cost, vtype=kinds)
    sides, by_row = Sides.of(program), program.matrix.tocsr()
    which = np.concatenate([sides.equal, sides.least, sides.most])
    least = sides.equal.size + sides.least.size
    values = np.concatenate([program.row_lower[which[:least]], program.row_upper[which[least:]]])
    senses = np.repeat(["=", ">", "<"], [sides.equal.size, sides.least.size, sides.most.size])
    return model.addMConstr(sparse.csr_matrix(by_row[which]), columns, senses, values)


def _read_back(model: Any, rows: Any, program: Program, options: Options, seconds: float) -> Solution:
    status = MEANING.get(model.Status, Status.UNDECIDED)
    linear = not program.integer.any()
    primal = np.array(model.getAttr("X")) if model.SolCount else None
    dual = _by_row(program, rows.Pi) if linear and status is Status.OPTIMAL else None
    ray = _by_row(program, rows.FarkasDual) if linear and status is Status.INFEASIBLE else None
    bound = model.ObjBound if not linear and abs(model.ObjBound) < 1e100 else None
    return solution(program, "gurobi", status, primal, dual, ray, bound, seconds, f"status {model.Status}")


def _by_row(program: Program, values: Any) -> Floats | None:
    sides = Sides.of(program)
    ends = np.cumsum([sides.equal.size, sides.least.size])
    return sides.multipliers(program.row_lower.size, *np.split(np.asarray(values), ends))


INSTALL = "pip install gurobipy"
BACKENDS = [Backend("gurobi", "gurobipy", INSTALL, integers=True, duals=True, run=run)]

"""SCIP, through PySCIPOpt.

PySCIPOpt takes columns one by one and entries one by one (``addCoefLinear``, several times as quick as its
expressions) and gives values back one by one: no bulk either way. SCIP keeps multipliers only where it has not
presolved, so linear programs are solved without.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.program import Program
from crowdopt.core.solution import Listener, Options, Progress, Solution, Status
from crowdopt.errors import InputError
from crowdopt.solvers import Backend
from crowdopt.solvers.claims import MEANING, solution
from crowdopt.solvers.settings import checked

INFINITE = 1e20  # what SCIP takes for infinity


def run(program: Program, options: Options, listener: Listener | None) -> Solution:
    """Solve by SCIP's branch and bound; a linear program at its root, without presolving."""
    import pyscipopt

    model = pyscipopt.Model("program")
    model.hideOutput()
    _limit(model, options)
    columns, rows = hand_over(model, program)
    linear = not program.integer.any()
    if linear:
        _keep_multipliers(model, pyscipopt)
    _set_own(model, options)
    if listener is not None and not linear:
        _listen(model, pyscipopt, listener)
    started = perf_counter()
    model.optimize()
    if model.getStatus() == "inforunbd":
        _settle(model, pyscipopt, options.time_limit - (perf_counter() - started))
    return _read_back(model, columns, rows, program, linear, perf_counter() - started)


def _listen(model: Any, pyscipopt: Any, listener: Listener) -> None:
    events = pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND, pyscipopt.SCIP_EVENTTYPE.NODESOLVED
    last: list[Any] = [None]

    class ScipListening(pyscipopt.Eventhdlr):  # type: ignore[misc]
        """Hears of new best points and of nodes that are done."""

        def eventinit(self) -> None:
            for event in events:
                self.model.catchEvent(event, self)

        def eventexit(self) -> None:
            for event in events:
                self.model.dropEvent(event, self)

        def eventexec(self, event: Any) -> None:
            numbers = self.model.getPrimalbound(), self.model.getDualbound()
            value, bound = (float(number) if abs(number) < INFINITE else None for number in numbers)
            if (value, bound) != last[0]:
                last[0] = (value, bound)
                listener(Progress(self.model.getSolvingTime(), value, bound))

    model.includeEventhdlr(ScipListening(), "listening", "passes on points and bounds")


def _limit(model: Any, options: Options) -> None:
    model.setParams(
        {
            "limits/time": options.time_limit,
            "limits/gap": options.gap,
            "limits/nodes": -1 if options.nodes is None else options.nodes,
            "lp/threads": options.threads,
            "randomization/randomseedshift": options.seed,
            "numerics/feastol": 1e-9,  # what a plan is held to
        }
    )


def _set_own(model: Any, options: Options) -> None:
    if not options.settings:
        return
    for key, value in checked("scip", options.settings, model.getParams()).items():
        try:
            model.setParam(key, value)
        except Exception as error:
            raise InputError(f"scip: option {key} cannot be {value!r}: {error}") from None


def hand_over(model: Any, program: Program) -> tuple[list[Any], list[Any]]:
    """Put the program into the model; returns its columns and its rows."""
    from pyscipopt.scip import Expr, ExprCons

    kinds = np.where(program.integer, "I", "C").tolist()
    given = zip(kinds, _sides(program.lower), _sides(program.upper), program.cost.tolist(), strict=True)
    columns = [model.addVar("", kind, low, high, cost) for kind, low, high, cost in given]
    sides = zip(_sides(program.row_lower), _sides(program.row_upper), strict=True)
    rows = [model.addCons(ExprCons(Expr({}), low, high), check=True) for low, high in sides]
    matrix = program.matrix.tocoo()
    entries = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    for row, column, value in entries:
        model.addCoefLinear(rows[row], columns[column], value)
    return columns, rows


def _sides(values: Floats) -> list[float]:
    return [max(-INFINITE, min(value, INFINITE)) for value in values.tolist()]


def _keep_multipliers(model: Any, pyscipopt: Any) -> None:
    model.setPresolve(pyscipopt.SCIP_PARAMSETTING.OFF)
    model.setHeuristics(pyscipopt.SCIP_PARAMSETTING.OFF)
    model.disablePropagation()


def _settle(model: Any, pyscipopt: Any, left: float) -> None:
    """Without presolving SCIP says which of the two it is: unbounded or infeasible."""
    if left > 0:
        model.freeTransform()
        model.setParam("limits/time", left)
        model.setPresolve(pyscipopt.SCIP_PARAMSETTING.OFF)
        model.optimize()


def _read_back(
    model: Any, columns: list[Any], rows: list[Any], program: Program, linear: bool, seconds: float
) -> Solution:
    raw = model.getStatus()
    status = MEANING.get(raw, Status.UNDECIDED)
    best = model.getBestSol() if model.getNSols() else None
    primal = None if best is None else [best[column] for column in columns]
    dual = [model.getDualsolLinear(row) for row in rows] if linear and status is Status.OPTIMAL else None
    ray = [model.getDualfarkasLinear(row) for row in rows] if linear and status is Status.INFEASIBLE else None
    bound = model.getDualbound() if not linear else None
    if bound is not None and abs(bound) >= INFINITE:
        bound = None
    found = solution(program, "scip", status, primal, dual, ray, bound, seconds, raw)
    return replace(found, interrupted=raw == "userinterrupt")  # SCIP takes Ctrl-C for itself


INSTALL = "pip install pyscipopt"
BACKENDS = [Backend("scip", "pyscipopt", INSTALL, integers=True, duals=True, run=run)]

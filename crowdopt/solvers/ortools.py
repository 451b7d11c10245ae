"""OR-Tools: GLOP and PDLP for linear programs, CP-SAT for programs in integers.

GLOP and PDLP take the matrix and give their vectors back in bulk. GLOP gives no ray through that interface; PDLP does.

CP-SAT knows integers only. What it gets is a *relaxation* in integers, row by row and side by side: with columns
measured from their lower sides (so that none is negative), a row ``a'z >= r`` is multiplied by a power of two, its
coefficients are rounded up and its side down to integers; for ``<=`` it is the other way round. A product with a power
of two is exact in float64, so every point of the program is a point of CP-SAT's, and a bound that holds there holds
here, as does infeasibility. Costs are multiplied likewise and rounded down, so the bound is divided by the same power
and nothing else. The power is the smallest that rounds nothing away, else the smallest that keeps a point of CP-SAT's
within POINT_ROUNDING of the row, as far as CP-SAT's 64 bits allow. Whether its point is one of ours is checked all the
same, as everywhere. Columns need finite sides; products beyond what 64 bits hold raise BackendMissing.

The ortools wheels and highspy carry two builds of HiGHS, so the two cannot be loaded into one process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, floor, fsum, inf, ldexp, log2, nextafter
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program
from crowdopt.core.solution import Listener, Options, Progress, Solution, Status
from crowdopt.errors import InputError
from crowdopt.solvers import Backend, BackendMissing
from crowdopt.solvers.claims import solution
from crowdopt.solvers.settings import attributes, checked

MEANING = {
    # GLOP's and CP-SAT's
    "OPTIMAL": Status.OPTIMAL,
    "INFEASIBLE": Status.INFEASIBLE,
    "UNBOUNDED": Status.UNBOUNDED,
    # PDLP's
    "TERMINATION_REASON_OPTIMAL": Status.OPTIMAL,
    "TERMINATION_REASON_PRIMAL_INFEASIBLE": Status.INFEASIBLE,
}
PDLP_GAP = 1e-8  # relative, at which PDLP stops
COARSE = 12  # powers of two that are tried for rounding nothing away: prices in quarters, whole capacities
POINT_ROUNDING = 5e-10  # absolute; what rounding may let a point of CP-SAT's break a row by
FINEST = 50  # power of two; finer than this, float64 itself is the limit
WIDEST = 2.0**60  # CP-SAT adds up products in 64 bits


def _refuse_beside_highs(backend: str) -> None:
    if "highspy" in sys.modules and "ortools.util" not in sys.modules:
        raise BackendMissing(
            f"{backend}: ortools cannot be loaded into a process that has loaded highspy; run it in one of its own"
        )


def run_glop(program: Program, options: Options, listener: Listener | None) -> Solution:
    """Solve a linear program with GLOP, the simplex method."""
    _refuse_beside_highs("ortools-glop")
    from ortools.linear_solver.python import model_builder_helper

    model: Any = model_builder_helper.ModelBuilderHelper()  # its stubs want arrays of no known shape
    sides = (program.row_lower, program.row_upper)
    by_row = sparse.csr_matrix(program.matrix)
    model.fill_model_from_sparse_data(program.lower, program.upper, program.cost, *sides, by_row)
    started = perf_counter()
    solver, raw = _glop(model_builder_helper, model, options, options.time_limit, "true")
    left = options.time_limit - (perf_counter() - started)
    if raw == "INFEASIBLE":  # with preprocessing that may mean unbounded
        solver, raw = _glop(model_builder_helper, model, options, left, "false") if left > 0 else (solver, "UNDECIDED")
    returned, status = perf_counter(), MEANING.get(raw, Status.UNDECIDED)
    has_point = solver.has_solution()
    primal = solver.variable_values() if has_point else None
    dual = solver.dual_values() if has_point else None
    return solution(program, "ortools-glop", status, primal, dual, None, None, returned - started, raw)


def _set_fields(message: Any, name: str, options: Options) -> None:
    """Fields of a protocol message by name, those inside another one as ``termination_criteria.iteration_limit``."""
    known: dict[str, Any] = {}
    for key, field in message.DESCRIPTOR.fields_by_name.items():
        if field.message_type is None:
            known[key] = getattr(message, key)
        else:
            inner = getattr(message, key)
            plain = [one for one, part in field.message_type.fields_by_name.items() if part.message_type is None]
            known |= {f"{key}.{one}": getattr(inner, one) for one in plain}
    for key, value in checked(name, options.settings, known).items():
        *outer, last = key.split(".")
        try:
            setattr(getattr(message, outer[0]) if outer else message, last, value)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name}: option {key} cannot be {value!r}: {error}") from None


def _glop(helper: Any, model: Any, options: Options, seconds: float, preprocessing: str) -> tuple[Any, str]:
    solver = helper.ModelSolverHelper("GLOP")
    solver.enable_output(False)
    solver.set_time_limit_in_seconds(seconds)
    from ortools.glop import parameters_pb2

    settings = parameters_pb2.GlopParameters()
    settings.random_seed, settings.num_omp_threads = options.seed, options.threads
    settings.use_preprocessing = preprocessing == "true"
    _set_fields(settings, "ortools-glop", options)
    solver.set_solver_specific_parameters(" ".join(str(settings).split()))
    solver.solve(model)
    return solver, str(solver.status()).rpartition(".")[2]


def run_pdlp(program: Program, options: Options, listener: Listener | None) -> Solution:
    """Solve a linear program with PDLP, a first-order method, to a relative gap of PDLP_GAP."""
    _refuse_beside_highs("ortools-pdlp")
    from ortools.pdlp import solve_log_pb2, solvers_pb2
    from ortools.pdlp.python import pdlp

    model = pdlp.QuadraticProgram()
    model.resize_and_initialize(program.cost.size, program.row_lower.size)
    model.objective_vector = program.cost
    model.constraint_matrix = sparse.csc_matrix(program.matrix, copy=True)  # ours is read-only
    model.constraint_lower_bounds, model.constraint_upper_bounds = program.row_lower, program.row_upper
    model.variable_lower_bounds, model.variable_upper_bounds = program.lower, program.upper
    settings = solvers_pb2.PrimalDualHybridGradientParams()
    settings.num_threads = options.threads
    settings.termination_criteria.time_sec_limit = options.time_limit
    settings.termination_criteria.simple_optimality_criteria.eps_optimal_relative = PDLP_GAP
    settings.termination_criteria.simple_optimality_criteria.eps_optimal_absolute = PDLP_GAP
    _set_fields(settings, "ortools-pdlp", options)
    started = perf_counter()
    ended = pdlp.primal_dual_hybrid_gradient(model, settings)
    returned = perf_counter()
    raw = solve_log_pb2.TerminationReason.Name(ended.solve_log.termination_reason)
    status, primal = MEANING.get(raw, Status.UNDECIDED), ended.primal_solution
    dual = ended.dual_solution  # a ray where PDLP says primal infeasible
    return solution(program, "ortools-pdlp", status, primal, dual, dual, None, returned - started, raw)


@dataclass(frozen=True, eq=False)
class Scaled:
    """A linear form in integers, ``coefficients / 2**power``, and the side it is held to, if any."""

    columns: Any
    coefficients: list[int]
    power: int
    side: int | None


def run_cpsat(program: Program, options: Options, listener: Listener | None) -> Solution:
    """Solve a program in integers with CP-SAT, which counts conflicts where others count nodes."""
    _refuse_beside_highs("ortools-cpsat")
    from ortools.sat.python import cp_model

    name = "ortools-cpsat"
    low, high = _box(program)
    model = cp_model.CpModel()
    columns = [model.new_int_var(first, last, "") for first, last in zip(low.tolist(), high.tolist(), strict=True)]
    for row in (*relaxed_rows(program, low, high, 1.0), *relaxed_rows(program, low, high, -1.0)):
        terms = cp_model.LinearExpr.weighted_sum([columns[k] for k in row.columns], row.coefficients)
        model.add(terms >= row.side)
    cost = relaxed(np.arange(low.size), -program.cost, None, low, high)
    model.maximize(cp_model.LinearExpr.weighted_sum(columns, cost.coefficients))
    solver = _cpsat_solver(cp_model, options)
    started = perf_counter()
    raw = solver.status_name(solver.solve(model, _heard(cp_model, solver, listener, program, columns, low, cost)))
    left = options.time_limit - (perf_counter() - started)
    if raw == "INFEASIBLE" and left > 0:  # its presolve has called a program with points infeasible: ask without
        solver = _cpsat_solver(cp_model, replace(options, time_limit=left))
        solver.parameters.cp_model_presolve = False
        raw = solver.status_name(solver.solve(model))
    returned, status = perf_counter(), MEANING.get(raw, Status.UNDECIDED)
    primal = [solver.value(column) for column in columns] if raw in ("OPTIMAL", "FEASIBLE") else None
    bound = _unscaled(program, low, cost, solver.best_objective_bound) if raw != "MODEL_INVALID" else None
    return solution(program, name, status, primal, None, None, bound, returned - started, raw)


def _heard(
    cp_model: Any, solver: Any, listener: Listener | None, program: Program, columns: Any, low: Any, cost: Scaled
) -> Any:
    """A callback that passes on better points, and bounds between them; None without a listener."""
    if listener is None:
        return None
    known: dict[str, float | None] = {"value": None, "bound": None}
    started = perf_counter()

    def tell(bound: float) -> None:
        found = _unscaled(program, low, cost, bound)
        if found is not None:
            known["bound"] = found
        listener(Progress(perf_counter() - started, known["value"], known["bound"]))

    class CpSatListening(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        """Hears of better points."""

        def on_solution_callback(self) -> None:
            point = np.array([self.value(column) for column in columns], dtype=np.float64)
            known["value"] = float(program.cost @ point)
            tell(self.best_objective_bound)

    solver.best_bound_callback = tell
    return CpSatListening()


def _cpsat_solver(cp_model: Any, options: Options) -> Any:
    solver = cp_model.CpSolver()
    settings = solver.parameters
    settings.max_time_in_seconds = options.time_limit
    settings.num_workers = options.threads
    settings.random_seed = options.seed
    settings.relative_gap_limit = options.gap
    if options.nodes is not None:
        settings.max_number_of_conflicts = options.nodes
    if options.settings:
        for key, value in checked("ortools-cpsat", options.settings, attributes(settings)).items():
            setattr(settings, key, value)
    return solver


def _box(program: Program) -> tuple[Any, Any]:
    sides = program.lower, program.upper  # integers: crowdopt.solvers rounds them
    if not (np.abs(sides[0]) < WIDEST).all() or not (np.abs(sides[1]) < WIDEST).all():
        raise BackendMissing("ortools-cpsat needs finite sides on every column; choose another backend")
    return sides[0].astype(np.int64), sides[1].astype(np.int64)


def relaxed_rows(program: Program, low: Any, high: Any, sign: float) -> Iterator[Scaled]:
    """Rows' finite lower sides (sign 1) or upper ones (-1), each as ``coefficients x >= side`` in integers."""
    by_row = program.matrix.tocsr()
    sides = sign * (program.row_lower if sign > 0 else program.row_upper)
    for row in np.flatnonzero(np.isfinite(sides)).tolist():
        span = slice(by_row.indptr[row], by_row.indptr[row + 1])
        yield relaxed(by_row.indices[span], sign * by_row.data[span], float(sides[row]), low, high)


def relaxed(columns: Any, values: Floats, side: float | None, low: Any, high: Any) -> Scaled:
    """``values x >= side`` in integers, such that every point of the box that satisfies it satisfies the integers.

    Rounding a coefficient up only adds to a column measured from its lower side; ``shift`` is what that measuring
    takes away again.

    columns (k,) array of int: columns of the form; values (k,): their coefficients; side: what the form is at least;
    without one only the coefficients are scaled; low, high (columns,) array of int: the box of all columns.
    """
    lowest, highest = low[columns].astype(np.float64), high[columns].astype(np.float64)
    power = _power(values, highest - lowest, np.maximum(np.abs(lowest), np.abs(highest)))
    exact = np.ldexp(values, power)
    rounded = np.ceil(exact)
    shift = fsum((rounded - exact) * lowest)
    scaled = None
    if side is not None:
        wanted = ldexp(side, power)
        near = ceil(wanted) if shift == 0 else floor(wanted + shift) - 1  # 1 for float64's rounding in the shift
        scaled = max(-int(WIDEST), min(near, int(WIDEST)))  # no product reaches that far
    return Scaled(columns.tolist(), [int(value) for value in rounded], power, scaled)


def _power(values: Floats, widths: Floats, sizes: Floats) -> int:
    """The power of two that multiplies a row: see the module's docstring."""
    coarse = next((k for k in range(COARSE) if (np.ldexp(values, k) % 1 == 0).all()), None)
    wanted = ceil(log2(max(1.0, float(widths.sum()) / POINT_ROUNDING))) if coarse is None else coarse
    reach = float(np.abs(values) @ sizes) + 1.0
    held = min(wanted, FINEST, floor(log2(WIDEST / reach)))
    if held < 0:
        raise BackendMissing("ortools-cpsat: products of coefficients and columns exceed 64 bits")
    return held


def _unscaled(program: Program, low: Any, cost: Scaled, bound: float) -> float | None:
    """CP-SAT's upper bound on minus the scaled cost, as a lower bound on the cost."""
    if abs(bound) >= WIDEST:
        return None
    start = low.astype(np.float64)
    given = np.array(cost.coefficients, dtype=np.float64) * start
    terms = [-nextafter(bound, inf) if abs(bound) >= 2**53 else -bound, *given]
    base = program.cost * start
    noise = np.finfo(np.float64).eps * float(np.abs(base).sum() + np.ldexp(np.abs(given), -cost.power).sum())
    return ldexp(fsum(terms), -cost.power) + fsum(base) - 4 * noise


INSTALL = "pip install ortools"
BACKENDS = [
    Backend("ortools-glop", "ortools", INSTALL, integers=False, duals=True, run=run_glop),
    Backend("ortools-pdlp", "ortools", INSTALL, integers=False, duals=True, run=run_pdlp),
    Backend("ortools-cpsat", "ortools", INSTALL, integers=True, duals=False, run=run_cpsat, continuous=False),
]

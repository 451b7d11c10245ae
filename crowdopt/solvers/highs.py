"""HiGHS, through highspy: whole arrays in, whole arrays out."""

from __future__ import annotations

from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt import stops
from crowdopt.arrays import Floats
from crowdopt.core.certificate import violation
from crowdopt.core.master import MasterPoint
from crowdopt.core.program import Program
from crowdopt.core.solution import Listener, Options, Progress, Solution, Status
from crowdopt.errors import InputError
from crowdopt.solvers import Backend
from crowdopt.solvers.claims import CREDIBLE, proving_ray
from crowdopt.solvers.settings import attributes, checked

MEANING = {
    "kOptimal": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
}
OVERTIME = 0.5  # seconds that HiGHS may take to notice its own time limit
TIGHT = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")  # of LPs: their bounds are to be certified
DUAL, PRIMAL = 1, 4  # HiGHS' numbers for its simplex methods: the latter goes on where only columns have come
QUICK = 20_000  # entries up to which simplex is done before anybody could press Ctrl-C: it needs no thread of its own
PATIENCE = 0.2  # seconds between looks for Ctrl-C; the end of a solve is noticed at once
FEASIBLE_POINT = 2  # HiGHS' kSolutionStatusFeasible: anything else in the solution arrays is not a point


def run(solver: str, program: Program, options: Options, listener: Listener | None) -> Solution:
    """Solve with one of HiGHS' solvers.

    solver: ``choose`` (branch and bound for integers), ``simplex``, ``ipm`` or ``pdlp``.
    """
    name, model = _set_up(solver, program, options)
    _listen(model, program, listener)
    started = perf_counter()
    if solver == "simplex" and program.matrix.nnz <= QUICK:
        interrupted = False
        model.run()
    else:
        interrupted = _run(model, started + options.time_limit + OVERTIME)
    raw = word_of(model)
    if raw in ("kUnboundedOrInfeasible", "kInfeasible") and not interrupted:
        raw = _settle(model, program, options, started)
    returned = perf_counter()
    found = _read_back(model, program, name, raw, returned - started, interrupted)
    model.clear()  # or the memory waits for the garbage collector
    return found


def _set_up(solver: str, program: Program, options: Options) -> tuple[str, Any]:
    name = "highs" if solver == "choose" else f"highs-{solver}"
    model = hand_over(program, options)
    model.setOptionValue("solver", solver)
    if solver != "pdlp" and not program.integer.any():  # a first-order method would not get there
        for option in TIGHT:
            model.setOptionValue(option, 1e-9)
    if not options.presolve:
        model.setOptionValue("presolve", "off")
    if options.settings:
        _set_own(model, name, options)
    return name, model


def hand_over(program: Program, options: Options) -> Any:
    """A Highs object that holds the program, silent and within the limits."""
    import highspy

    swallow_banner()
    model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    model.setOptionValue("output_flag", False)
    highspy.Highs.resetGlobalScheduler(True)  # the number of threads is the scheduler's, not the model's
    for option, value in {
        "threads": options.threads,
        "random_seed": options.seed,
        "time_limit": options.time_limit,
        "mip_rel_gap": options.gap,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": 1e-9,  # COVERAGE: what a plan is held to
        **({} if options.nodes is None else {"mip_max_nodes": options.nodes}),
    }.items():
        model.setOptionValue(option, value)
    matrix = program.matrix
    integrality = program.integer.astype(np.int32)
    model.passModel(
        program.cost.size,
        program.row_lower.size,
        matrix.nnz,
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        program.cost,
        program.lower,
        program.upper,
        program.row_lower,
        program.row_upper,
        matrix.indptr.astype(np.int32, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data,
        integrality if program.integer.any() else integrality[:0],
    )
    if options.start is not None:
        point = highspy.HighsSolution()
        point.col_value = options.start
        model.setSolution(point)
    return model


@cache
def swallow_banner() -> None:
    """Make the first object of a process one that logs nowhere: HiGHS 1.16 prints a banner as it makes that one."""
    import highspy

    class Silent(highspy.Highs):
        """Told to log nowhere before the first call that logs, which is in its constructor."""

        def enableCallbacks(self) -> None:
            self.setOptionValue("log_to_console", False)
            super().enableCallbacks()  # type: ignore[no-untyped-call]

    Silent()  # type: ignore[no-untyped-call]


def _set_own(model: Any, name: str, options: Options) -> None:
    import highspy

    for key, value in checked(name, options.settings, attributes(highspy.HighsOptions())).items():
        if model.setOptionValue(key, value) != highspy.HighsStatus.kOk:
            raise InputError(f"{name}: option {key} cannot be {value!r}")


def word_of(model: Any) -> str:
    """HiGHS' own word on how a solve ended, such as ``kOptimal``."""
    return str(model.getModelStatus()).rpartition(".")[2]


def variable(model: Any, column: int) -> Any:
    """A column of a Highs object as something to write expressions with."""
    import highspy

    return highspy.highs.highs_var(column, model)


def _listen(model: Any, program: Program, listener: Listener | None) -> None:
    if listener is None or not program.integer.any():
        return

    def hear(event: Any) -> None:
        value, bound = event.data_out.mip_primal_bound, event.data_out.mip_dual_bound
        listener(  # in a thread of HiGHS' own: that it stops is noticed in _run
            Progress(
                event.data_out.running_time,
                float(value) if abs(value) < 1e30 else None,
                float(bound) if abs(bound) < 1e30 else None,
            )
        )

    model.setOptionValue("log_to_console", False)
    model.setOptionValue("output_flag", True)  # a HiGHS that logs nothing, not even to nowhere, reports no bounds
    model.cbMipLogging.subscribe(hear)
    model.cbMipImprovingSolution.subscribe(hear)


def _run(model: Any, end: float) -> bool:
    """Run in a thread of its own, so that Ctrl-C stops the search and keeps its best point. Returns whether it did."""
    # HiGHS looks at its clock only now and then; past ``end`` it is told to stop.
    model.HandleUserInterrupt = True
    model.startSolve()
    done = stopped = False
    told = stops.current()
    while not done:
        try:
            if perf_counter() > end or told.is_set():
                model.cancelSolve()
            done, _ = model.wait(PATIENCE)  # not Thread.join, which forgets a running thread when interrupted
        except KeyboardInterrupt:
            stopped = True
            model.cancelSolve()
    return stopped


def _settle(model: Any, program: Program, options: Options, started: float) -> str:
    """Without presolve HiGHS says which of the two it is, and leaves the ray that proves an LP infeasible."""
    left = options.time_limit - (perf_counter() - started)
    if program.integer.any() or left <= 0:
        return word_of(model)
    model.setOptionValue("presolve", "off")
    model.setOptionValue("solver", "simplex")
    model.setOptionValue("time_limit", model.getRunTime() + left)
    model.clearSolver()
    model.run()
    return word_of(model)


def _read_back(model: Any, program: Program, name: str, raw: str, seconds: float, interrupted: bool) -> Solution:
    info, found = model.getInfo(), model.getSolution()
    is_lp = not program.integer.any()
    primal = np.array(found.col_value) if info.primal_solution_status == FEASIBLE_POINT else None
    has_dual = is_lp and found.dual_valid and info.dual_solution_status == FEASIBLE_POINT
    dual = np.array(found.row_dual) if has_dual else None
    status, primal = _credible(program, MEANING.get(raw, Status.UNDECIDED), primal)
    ray = proving_ray(program, model.getDualRay()[2]) if status is Status.INFEASIBLE and is_lp else None
    bound = info.objective_function_value if is_lp and status is Status.OPTIMAL else None
    if not is_lp and np.isfinite(info.mip_dual_bound) and status is not Status.INFEASIBLE:
        bound = float(info.mip_dual_bound)
    if status in (Status.INFEASIBLE, Status.UNBOUNDED):
        primal = dual = bound = None
    return Solution(program, name, status, primal, dual, ray, bound, seconds, raw, interrupted)


def _credible(program: Program, status: Status, primal: Floats | None) -> tuple[Status, Floats | None]:
    """What the status and the point are worth together."""
    if status is Status.UNDECIDED and primal is not None and violation(program, primal) > CREDIBLE:
        primal = None  # a first-order method's last iterate, which HiGHS calls feasible by a looser, relative measure
    if status is Status.OPTIMAL and primal is None:
        status = Status.UNDECIDED
    if status is Status.UNDECIDED and primal is not None:
        status = Status.FEASIBLE
    return status, primal


class HighsMaster:
    """A growing LP in HiGHS, solved on from its last basis (see core.master)."""

    def __init__(self, program: Program) -> None:
        self.model = hand_over(program, Options())
        self.model.setOptionValue("solver", "simplex")
        self.moved = True  # whether the rows' sides changed since the last basis, which is then dual feasible at best

    def add_columns(self, cost: Floats, matrix: sparse.csc_array) -> None:
        """Append columns, in [0, inf)."""
        starts, index = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        lower, upper = np.zeros(cost.size), np.full(cost.size, np.inf)
        self.model.addCols(cost.size, cost, lower, upper, matrix.nnz, starts, index, matrix.data)

    def solve(self, seconds: float) -> MasterPoint | None:
        """Solve on from the last basis; None where that fails or takes longer."""
        self.model.setOptionValue("simplex_strategy", DUAL if self.moved else PRIMAL)
        self.model.setOptionValue("time_limit", self.model.getRunTime() + seconds)
        self.model.run()
        self.moved = False
        if word_of(self.model) != "kOptimal":
            return None
        found, info = self.model.getSolution(), self.model.getInfo()
        return MasterPoint(info.objective_function_value, np.array(found.col_value), np.array(found.row_dual))


INSTALL = "pip install highspy"
SOLVERS = {"highs": "choose", "highs-simplex": "simplex", "highs-ipm": "ipm", "highs-pdlp": "pdlp"}
BACKENDS = [
    Backend(
        name,
        "highspy",
        INSTALL,
        integers=solver == "choose",
        duals=True,
        run=partial(run, solver),
    )
    for name, solver in SOLVERS.items()
]

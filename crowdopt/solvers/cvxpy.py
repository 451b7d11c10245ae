"""CVXPY: the matrix as a whole, its conic and quadratic solvers.

Offered are solvers that take a time limit. glop and pdlp are not: CVXPY's interfaces want old versions of ortools, and
ortools cannot be in one process with highspy; ``ortools-glop`` and ``ortools-pdlp`` go there directly.
A ranged row becomes two. Solutions are read back in bulk.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.program import Program
from crowdopt.core.solution import Listener, Options, Solution, Status
from crowdopt.solvers import Backend, BackendMissing, alone
from crowdopt.solvers.claims import MEANING, Sides, solution
from crowdopt.solvers.highs import swallow_banner
from crowdopt.solvers.settings import attributes, checked, gurobi_options, highs_options, scip_options

ENDLESS = 10**9  # iterations; the time limit ends a first-order method, not a count


@dataclass(frozen=True)
class CvxpySolver:
    """One of CVXPY's solvers: the settings that options amount to, and what to type if it is missing.

    ``again`` are settings for a second run, where the first could not tell unbounded from infeasible. ``known`` lists
    the solver's own options; ``inside`` is the setting that they stand in, where they do.
    """

    settings: Callable[[Options, bool], dict[str, Any]]
    install: str
    integers: bool = False
    again: tuple[tuple[str, Any], ...] = ()
    known: Callable[[], dict[str, Any]] = dict
    inside: str = ""


@dataclass(frozen=True, eq=False)
class CvxpyProgram:
    """A program as CVXPY's objects; ``constraints`` are those of the equal, least and most sides, None if empty."""

    problem: Any
    variable: Any
    constraints: tuple[Any, Any, Any]
    sides: Sides


def run(offer: str, program: Program, options: Options, listener: Listener | None) -> Solution:
    """Solve with the solver of an offer, a key of OFFERS; CVXPY tells a listener nothing on the way."""
    _check_installed(offer)
    return _attempt(offer, build(program), program, options)


def _attempt(offer: str, built: CvxpyProgram, program: Program, options: Options) -> Solution:
    chosen = OFFERS[offer]
    settings = chosen.settings(options, bool(program.integer.any()))
    own = checked(f"cvxpy-{offer}", options.settings, chosen.known() if options.settings else {})
    settings = {**settings, chosen.inside: {**settings[chosen.inside], **own}} if chosen.inside else {**settings, **own}
    started = perf_counter()
    raw = _solve(built.problem, offer, settings)
    left = options.time_limit - (perf_counter() - started)
    if raw == "infeasible_or_unbounded" and chosen.again and left > 0:
        raw = _solve(built.problem, offer, {**settings, "time_limit": left, **dict(chosen.again)})
    returned = perf_counter()
    return _read_back(built, program, f"cvxpy-{offer}", raw, options, returned - started)


def build(program: Program) -> CvxpyProgram:
    """The program as CVXPY's objects: one variable, and one matrix constraint per kind of side.

    Rows without an entry are left out, for some of CVXPY's interfaces break on them; what they say is known.
    """
    cvxpy = load()
    variable = _variable(program, bounds=[program.lower, program.upper])
    by_row = program.matrix.tocsr()
    sides = Sides.of(program, np.diff(by_row.indptr) > 0)
    equal, least, most = sides.equal, sides.least, sides.most
    constraints = (
        by_row[equal] @ variable == program.row_lower[equal] if equal.size else None,
        by_row[least] @ variable >= program.row_lower[least] if least.size else None,
        by_row[most] @ variable <= program.row_upper[most] if most.size else None,
    )
    present = [constraint for constraint in constraints if constraint is not None]
    problem = cvxpy.Problem(cvxpy.Minimize(program.cost @ variable), present)
    return CvxpyProgram(problem, variable, constraints, sides)


def _variable(program: Program, **box: Any) -> Any:
    whole: Any = bool(program.integer.all()) or (np.flatnonzero(program.integer),)
    return load().Variable(program.cost.size, **box, **({"integer": whole} if program.integer.any() else {}))


def _solve(problem: Any, offer: str, settings: dict[str, Any]) -> str:
    """Run; returns CVXPY's status. A library that raises has decided nothing."""
    _renew_threads()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "Solution may be inaccurate": the certificate says how inaccurate
            problem.solve(solver=offer.upper(), **settings)
    except Exception as error:
        cause = error.__cause__ or error.__context__ or error
        if "size-limited" in str(cause):
            raise BackendMissing(f"cvxpy-{offer}: its licence does not allow a program of this size") from None
        return f"{type(cause).__name__}: {cause}"
    return str(problem.status)


def _renew_threads() -> None:
    """HiGHS' number of threads is that of its scheduler, once per process, unless that is reset."""
    highspy = sys.modules.get("highspy")
    if highspy is not None:
        swallow_banner()
        highspy.Highs.resetGlobalScheduler(True)


def _read_back(
    built: CvxpyProgram, program: Program, name: str, raw: str, options: Options, seconds: float
) -> Solution:
    status = MEANING.get(raw, Status.UNDECIDED)
    prices = _multipliers(built, program)
    bound = proven_bound(built.problem) if program.integer.any() else None
    if bound is None and status is Status.OPTIMAL and options.gap == 0 and built.variable.value is not None:
        bound = float(program.cost @ np.asarray(built.variable.value))
    return solution(program, name, status, built.variable.value, prices, prices, bound, seconds, raw)


def _multipliers(built: CvxpyProgram, program: Program) -> Floats | None:
    """CVXPY's duals of inequalities are >= 0, those of equalities go with ``y'(Ax - b)``: both turned our way."""
    equal, least, most = (None if part is None else part.dual_value for part in built.constraints)
    turned = (None if equal is None else -np.asarray(equal), least, None if most is None else -np.asarray(most))
    return built.sides.multipliers(program.row_lower.size, *turned)


def proven_bound(problem: Any) -> float | None:
    """The branch-and-bound bound, where the solver's own statistics have one."""
    facts = None if problem.solver_stats is None else problem.solver_stats.extra_stats
    if isinstance(facts, dict):
        return facts.get("mip_dual_bound")
    return getattr(facts, "mip_dual_bound", None)


def load() -> Any:
    """CVXPY itself, without the solvers that cannot be in one process with HiGHS."""
    with alone("ortools"):
        import cvxpy
    return cvxpy


def _check_installed(offer: str) -> None:
    """Look among the solvers that CVXPY found when it was imported: asking it again would import ortools."""
    load()
    from cvxpy.reductions.solvers import defines

    if offer.upper() not in defines.INSTALLED_SOLVERS:
        raise BackendMissing(f"cvxpy-{offer} needs its solver: {OFFERS[offer].install}")


def _highs(options: Options, search: bool) -> dict[str, Any]:
    nodes = {} if options.nodes is None else {"mip_max_nodes": options.nodes}
    return {
        "time_limit": options.time_limit,
        "threads": options.threads,
        "random_seed": options.seed,
        "mip_rel_gap": options.gap,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": 1e-9,  # what a plan is held to
        **nodes,
    }


def _clarabel(options: Options, search: bool) -> dict[str, Any]:
    return {"time_limit": options.time_limit, "max_iter": 1000, "max_threads": options.threads}


def _scs(options: Options, search: bool) -> dict[str, Any]:
    return {"time_limit_secs": options.time_limit, "max_iters": ENDLESS, "eps_abs": 1e-8, "eps_rel": 1e-8}


def _osqp(options: Options, search: bool) -> dict[str, Any]:
    """A solver of quadratic programs, slow on linear ones: tighter than this it seldom ends, looser it is far off."""
    return {"time_limit": options.time_limit, "max_iter": ENDLESS, "eps_abs": 1e-6, "eps_rel": 1e-6}


def _scipy(options: Options, search: bool) -> dict[str, Any]:
    """SciPy's HiGHS takes neither threads nor a seed."""
    nodes = {} if options.nodes is None else {"node_limit": options.nodes}
    extra = {"mip_rel_gap": options.gap, **nodes} if search else {}
    return {"scipy_options": {"time_limit": options.time_limit, **extra}}


def _scip(options: Options, search: bool) -> dict[str, Any]:
    nodes = {} if options.nodes is None else {"limits/nodes": options.nodes}
    return {
        "scip_params": {
            "limits/time": options.time_limit,
            "limits/gap": options.gap,
            "randomization/randomseedshift": options.seed,
            **nodes,
        }
    }


def _gurobi(options: Options, search: bool) -> dict[str, Any]:
    nodes = {} if options.nodes is None else {"NodeLimit": options.nodes}
    limits = {"TimeLimit": options.time_limit, "MIPGap": options.gap, "Threads": options.threads}
    return {**limits, "Seed": options.seed, "DualReductions": 0, **nodes}  # 0: tell unbounded from infeasible


def _clarabel_options() -> dict[str, Any]:
    clarabel = sys.modules.get("clarabel")
    return {} if clarabel is None else attributes(clarabel.DefaultSettings())


SCS_OPTIONS = (
    "max_iters eps_abs eps_rel eps_infeas alpha rho_x scale adaptive_scale normalize acceleration_lookback "
    "acceleration_interval time_limit_secs use_indirect"
)
OSQP_OPTIONS = (
    "max_iter eps_abs eps_rel eps_prim_inf eps_dual_inf rho sigma alpha adaptive_rho scaling polishing "
    "check_termination time_limit warm_starting"
)
SCIPY_OPTIONS = "presolve mip_rel_gap node_limit time_limit disp maxiter"

OFFERS = {
    "highs": CvxpySolver(
        _highs, "pip install highspy", integers=True, again=(("presolve", "off"),), known=highs_options
    ),
    "clarabel": CvxpySolver(_clarabel, "pip install clarabel", known=_clarabel_options),
    "scs": CvxpySolver(_scs, "pip install scs", known=lambda: dict.fromkeys(SCS_OPTIONS.split())),
    "osqp": CvxpySolver(_osqp, "pip install osqp", known=lambda: dict.fromkeys(OSQP_OPTIONS.split())),
    "scipy": CvxpySolver(
        _scipy,
        "pip install scipy",
        integers=True,
        known=lambda: dict.fromkeys(SCIPY_OPTIONS.split()),
        inside="scipy_options",
    ),
    "scip": CvxpySolver(_scip, "pip install pyscipopt", integers=True, known=scip_options, inside="scip_params"),
    "gurobi": CvxpySolver(_gurobi, "pip install gurobipy, and a licence", integers=True, known=gurobi_options),
}
INSTALL = "pip install cvxpy"
BACKENDS = [
    Backend(
        f"cvxpy-{offer}",
        "cvxpy",
        INSTALL,
        integers=chosen.integers,
        duals=True,
        run=partial(run, offer),
    )
    for offer, chosen in OFFERS.items()
]

"""PuLP, major versions 3 and 4: its own objects, and the solvers that only it leads to, CBC and GLPK.

HiGHS and SCIP have backends of their own, Gurobi is reached through CVXPY. PuLP 3 brings a CBC along; for PuLP 4 it is
the package cbcbox, or any ``cbc`` on the path. PuLP's CP-SAT is not offered, for it rounds the bounds of continuous
columns; nor are its solvers that cannot be given a time limit. PuLP knows no ranged rows: such a row becomes two. It
reads a solution back variable by variable, never in bulk.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.certificate import INTEGRALITY, fraction
from crowdopt.core.program import Program
from crowdopt.core.solution import Listener, Options, Solution, Status
from crowdopt.solvers import Backend, BackendMissing, alone
from crowdopt.solvers.claims import Sides, solution
from crowdopt.solvers.settings import checked

MEANING = {
    # PuLP 3 and PuLP 4 name the same outcomes
    "Optimal Solution Found": Status.OPTIMAL,
    "Optimal": Status.OPTIMAL,
    "Infeasible": Status.INFEASIBLE,
    "Unbounded": Status.UNBOUNDED,
    "GapLimit": Status.OPTIMAL,  # of CBC: within the gap that was asked for
    # GLPK's own words
    "INTEGER OPTIMAL SOLUTION FOUND": Status.OPTIMAL,
    "INTEGER OPTIMAL SOLUTION FOUND BY MIP PREPROCESSOR": Status.OPTIMAL,
    "OPTIMAL LP SOLUTION FOUND": Status.OPTIMAL,
    "LP HAS NO PRIMAL FEASIBLE SOLUTION": Status.INFEASIBLE,
    "PROBLEM HAS NO PRIMAL FEASIBLE SOLUTION": Status.INFEASIBLE,
    "PROBLEM HAS NO INTEGER FEASIBLE SOLUTION": Status.INFEASIBLE,
    "LP HAS UNBOUNDED PRIMAL SOLUTION": Status.UNBOUNDED,
}
CBC_PRINTS = (1e-3, 1e-5)  # absolute, relative; CBC prints a bound with three decimals or with six digits


@dataclass(frozen=True)
class PulpSolver:
    """One of PuLP's solvers: how to make it, what it says, and what bound it claims once it has run.

    ``make(pulp, options, folder, linear)`` gives the solver; ``word(folder)`` its own status or None for PuLP's;
    ``bound(folder)`` a lower bound or None.
    ``rounds``: its bound was printed and lowered accordingly, so an optimum that close to it meets it.
    ``hasty``: when time runs out on it before it branches, it calls programs with points infeasible, and the optimum
    of the relaxation optimal.
    """

    make: Callable[[Any, Options, Path, bool], Any]
    word: Callable[[Path], str | None]
    bound: Callable[[Path], float | None]
    missing: str
    duals: bool = False
    rounds: bool = False
    hasty: bool = False


def run(offer: str, program: Program, options: Options, listener: Listener | None) -> Solution:
    """Solve with the solver of an offer, a key of OFFERS; PuLP tells a listener nothing on the way."""
    return _attempt(offer, None, program, options)


def _attempt(offer: str, ready: PulpProgram | None, program: Program, options: Options) -> Solution:
    pulp, chosen, linear = load(), OFFERS[offer], not program.integer.any()
    with TemporaryDirectory() as folder, quiet():
        solver = chosen.make(pulp, options, Path(folder), linear)
        if not solver.available():
            raise BackendMissing(f"pulp-{offer} needs {chosen.missing}")
        if options.settings:
            own = tuple(checked(f"pulp-{offer}", options.settings, dict.fromkeys(KNOWN.get(offer, []))).items())
            solver = chosen.make(pulp, replace(options, settings=own), Path(folder), linear)
        solver.tmpDir = folder
        built = ready or build(program)
        started = perf_counter()
        raw = _solve(built, solver, chosen, Path(folder))
        returned = perf_counter()
        bound = None if linear else chosen.bound(Path(folder))
    return _read_back(built, program, f"pulp-{offer}", chosen, raw, bound, options, returned - started)


CBC_OPTIONS = (  # that its command line takes with a value
    "presolve cuts heuristics strategy passPresolve passCuts maxNodes ratioGap allowableGap increment cutoff "
    "gomoryCuts knapsackCuts cliqueCuts probingCuts flowCoverCuts mixedIntegerRoundingCuts feasibilityPump "
    "nodeStrategy strongBranching trustPseudoCosts primalTolerance dualTolerance integerTolerance scaling crash "
    "perturbation preprocess maxSolutions hotStartMaxIts RINS diveOpt localTreeSearch tuneProcess"
)
KNOWN = {"cbc": CBC_OPTIONS.split()}  # GLPK's take no values


@dataclass(frozen=True, eq=False)
class PulpProgram:
    """A program as PuLP's objects; ``constraints`` holds one list per side: equal, least, most."""

    pulp: Any
    problem: Any
    variables: list[Any]
    constraints: tuple[list[Any], list[Any], list[Any]]
    sides: Sides


def build(program: Program, columns: Sequence[str] = (), rows: Sequence[str] = ()) -> PulpProgram:
    """The program as PuLP's objects, row by row from lists: the quickest way that both majors offer.

    Unless names are given, columns and rows bear their numbers.
    """
    pulp = load()
    problem = pulp.LpProblem("program")
    variables = _variables(pulp, problem, program, columns)
    problem.setObjective(_sum(pulp, list(zip(variables, program.cost.tolist(), strict=True))))
    sides = Sides.of(program)
    by_row = program.matrix.tocsr()
    add = partial(_add_rows, pulp, problem, variables, by_row)
    names = partial(_row_names, rows, np.intersect1d(sides.least, sides.most))
    constraints = (
        add(names("e", "", sides.equal), pulp.LpConstraintEQ, sides.equal, program.row_lower),
        add(names("l", ".lower", sides.least), pulp.LpConstraintGE, sides.least, program.row_lower),
        add(names("u", ".upper", sides.most), pulp.LpConstraintLE, sides.most, program.row_upper),
    )
    return PulpProgram(pulp, problem, variables, constraints, sides)


def _variables(pulp: Any, problem: Any, program: Program, names: Sequence[str]) -> list[Any]:
    """Named by rank unless named: PuLP 3 sorts its variables by name, and sorting what is sorted costs nothing."""
    names = names or [f"x{k:09d}" for k in range(program.cost.size)]
    kinds = np.where(program.integer, pulp.LpInteger, pulp.LpContinuous).tolist()
    boxes = zip(names, _finite(program.lower), _finite(program.upper), kinds, strict=True)
    return [problem.add_variable(*box) for box in boxes]


def _row_names(rows: Sequence[str], double: Any, mark: str, end: str, which: Any) -> list[str]:
    """Names of the constraints of some rows: theirs, with the side's where a row has two constraints."""
    if not rows:
        return [f"{mark}{row:09d}" for row in which.tolist()]
    twice = set(double.tolist())
    return [rows[row] + (end if row in twice else "") for row in which.tolist()]


def _finite(sides: Floats) -> list[float | None]:
    return [side if side - side == 0 else None for side in sides.tolist()]


def _sum(pulp: Any, pairs: list[tuple[Any, float]]) -> Any:
    return pulp.lpSum_vars_coefs(pairs) if _is_modern(pulp) else pulp.LpAffineExpression(pairs)


def _is_modern(pulp: Any) -> bool:
    return int(pulp.__version__.partition(".")[0]) >= 4


def _add_rows(
    pulp: Any, problem: Any, variables: list[Any], by_row: Any, names: list[str], sense: int, rows: Any, sides: Floats
) -> list[Any]:
    starts, columns, values = by_row.indptr.tolist(), by_row.indices.tolist(), by_row.data.tolist()
    added = []
    for name, row, side in zip(names, rows.tolist(), sides[rows].tolist(), strict=True):
        span = slice(starts[row], starts[row + 1])
        pairs = [(variables[k], value) for k, value in zip(columns[span], values[span], strict=True)]
        added.append(_add_row(pulp, problem, name, _sum(pulp, pairs), sense, side))
    return added


def _add_row(pulp: Any, problem: Any, name: str, terms: Any, sense: int, side: float) -> Any:
    if not _is_modern(pulp):
        constraint = pulp.LpConstraint(terms, sense, name, side)
        problem.addConstraint(constraint)
        return constraint
    terms.constant = -side
    terms.sense = sense
    return problem.addConstraint(terms, name)


def _solve(built: PulpProgram, solver: Any, chosen: PulpSolver, folder: Path) -> str:
    """Run the solver; returns the most telling word on how it ended. A library that raises has decided nothing."""
    said: Any = None
    failure = ""
    try:
        said = built.problem.solve(solver)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    own = chosen.word(folder)
    if own is not None or failure:
        return own or failure
    return str(said.status.name) if _is_modern(built.pulp) else _older_word(built.pulp, built.problem)


def _older_word(pulp: Any, problem: Any) -> str:
    """PuLP 3 has two words: the status knows of infeasible searches, the solution status of limits."""
    word: str = pulp.LpStatus[problem.status]
    return word if word in ("Infeasible", "Unbounded") else str(pulp.LpSolution[problem.sol_status])


def _read_back(
    built: PulpProgram,
    program: Program,
    name: str,
    chosen: PulpSolver,
    raw: str,
    bound: float | None,
    options: Options,
    seconds: float,
) -> Solution:
    status = MEANING.get(raw, Status.UNDECIDED)
    primal = _point(built, program)
    if chosen.hasty and seconds >= options.time_limit and _is_of_relaxation(program, status, primal):
        status, raw = Status.UNDECIDED, f"{raw}, said when time was over"
    if status is Status.OPTIMAL and options.gap == 0 and primal is not None:
        value = float(program.cost @ primal)
        met = bound is None or (chosen.rounds and value - bound <= 2 * _printing(value))
        bound = value if met else bound
    dual = _multipliers(built, program) if chosen.duals else None
    return solution(program, name, status, primal, dual, None, bound, seconds, raw)


def _is_of_relaxation(program: Program, status: Status, point: Floats | None) -> bool:
    """Whether what is said of an integer program may be true of its relaxation only."""
    fractional = point is not None and not fraction(program, point) <= INTEGRALITY
    return bool(program.integer.any()) and (status is Status.INFEASIBLE or (status is Status.OPTIMAL and fractional))


def _point(built: PulpProgram, program: Program) -> Floats | None:
    """The variables' values; a column that no row and no cost mentions never reaches the solver and rests."""
    values = [variable.varValue for variable in built.variables]
    point = np.array([np.nan if value is None else value for value in values])
    if np.isnan(point).all():
        return None
    idle = (np.diff(program.matrix.indptr) == 0) & (program.cost == 0)
    return np.where(np.isnan(point) & idle, np.clip(0.0, program.lower, program.upper), point)


def _multipliers(built: PulpProgram, program: Program) -> Floats | None:
    prices = [[constraint.pi for constraint in part] for part in built.constraints]
    if any(price is None for part in prices for price in part):
        return None
    return built.sides.multipliers(program.row_lower.size, *prices)


def load() -> Any:
    """PuLP itself, without the solvers that cannot be in one process with HiGHS."""
    with alone("ortools"):
        import pulp
    return pulp


@contextmanager
def quiet() -> Iterator[None]:
    """PuLP 3 warns of PuLP 4 on calls that both have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _cbc(pulp: Any, options: Options, folder: Path, linear: bool) -> Any:
    bundled = getattr(pulp, "PULP_CBC_CMD", None)
    path = None if bundled is None else bundled.pulp_cbc_path
    if path is not None and not pulp.COIN_CMD.executable(path):
        path = None
    settings = [f"randomSeed {options.seed}", f"randomCbcSeed {options.seed}"]
    settings += [f"{key} {value}" for key, value in options.settings]
    if linear and path is None:
        settings += ["singletonBounds off", "boundPropLevel off"]  # CBC 3 tightens bounds and loses multipliers by it
    return pulp.COIN_CMD(
        path=path,
        msg=False,
        timeLimit=options.time_limit,
        gapRel=options.gap,
        threads=options.threads if options.threads > 1 else None,
        maxNodes=options.nodes,
        options=settings,
        logPath=str(folder / "cbc.log"),
    )


def _cbc_bound(folder: Path) -> float | None:
    """The bound that CBC logs when it stops early, lowered by what printing may have added."""
    found = re.search(r"^Lower bound:\s+(\S+)", _log(folder / "cbc.log"), re.M)
    if found is None:
        return None
    printed = float(found[1])
    return printed - _printing(printed) if abs(printed) < 1e30 else None


def _printing(value: float) -> float:
    return CBC_PRINTS[0] + CBC_PRINTS[1] * abs(value)


def _log(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def _glpk(pulp: Any, options: Options, folder: Path, linear: bool) -> Any:
    seconds = max(1, ceil(options.time_limit))  # glpsol counts whole seconds
    settings = ["--log", str(folder / "glpk.log"), "--seed", str(options.seed)]
    settings += ["--nopresol"] if linear else ["--mipgap", str(options.gap)]  # the presolver cannot tell why it ends
    return pulp.GLPK_CMD(msg=False, timeLimit=seconds, options=settings)


def _glpk_word(folder: Path) -> str | None:
    """The last thing glpsol says: PuLP takes a search that ran out of time for an optimum."""
    found = re.findall(r"^[A-Z; ]{12,}$", _log(folder / "glpk.log"), re.M)
    return found[-1] if found else None


def _nothing(_: Path) -> None:
    return None


OFFERS = {
    "cbc": PulpSolver(
        _cbc,
        _nothing,
        _cbc_bound,
        "CBC, which PuLP 4 does not bring: pip install cbcbox",
        duals=True,
        rounds=True,
        hasty=True,
    ),
    "glpk": PulpSolver(_glpk, _glpk_word, _nothing, "glpsol on the path: apt install glpk-utils, brew install glpk"),
}
INSTALL = "pip install pulp"
BACKENDS = [
    Backend(
        f"pulp-{offer}",
        "pulp",
        INSTALL,
        integers=True,
        duals=chosen.duals,
        run=partial(run, offer),
    )
    for offer, chosen in OFFERS.items()
]

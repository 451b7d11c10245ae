"""Methods of our own: they see the instance where backends see the program.

What they import is loaded where they run: a process that measures a backend starts without it.

Who solves: a backend on the whole program, or a method of our own on the instance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.benching.sources import IP, LP, Problem, open_problem, source_of
from crowdopt.core.program import Program
from crowdopt.core.solution import Options
from crowdopt.crowd.alike import has_joint_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.solvers import available, named, solve_program
from crowdopt.solvers.probe import tiny, version_of_library
from crowdopt.version import __version__

if TYPE_CHECKING:
    from crowdopt.assign.plan import Plan
    from crowdopt.assign.standing import Solvers

WARM = "R10:60x40"
BACKEND = "highs"  # what the exact method solves its linear programs with


@dataclass(frozen=True)
class MethodRun:
    """What a method is given: the problem, which program of it, limits, and where answers go."""

    problem: Problem
    program: str
    method: str
    options: Options
    tell: Callable[..., None]  # tell(stage, **facts), for the events of a run
    folder: Path


@dataclass(frozen=True)
class Own:
    """A method of our own: what loads its compiled code, and what solves and leaves an answer in the run's folder."""

    warm_up: Callable[[], object]
    perform: Callable[[MethodRun], dict[str, Any]]


def solvers() -> Solvers:
    """What the exact method is given."""
    from crowdopt.assign.standing import Solvers
    from crowdopt.solvers.highs import HighsMaster

    return Solvers(solve_program, HighsMaster, BACKEND)


@cache
def _warm_exact() -> None:
    """Load the loops, and solve a small instance as far as its first nodes."""
    from crowdopt.assign.search import solve_exact
    from crowdopt.crowd.recipes import recipe

    solve_exact(recipe(WARM), solvers(), Options(time_limit=300.0, nodes=2))


def _warm_algorithm1() -> None:
    from crowdopt.hire.ranking import ranked

    ranked(SelectionInstance(correct=np.array([5, 8, 9]), asked=np.full(3, 10)))


def _exact(run: MethodRun) -> dict[str, Any]:
    if run.problem.instance is None:
        raise InputError("the exact method solves assignment problems only")
    from crowdopt.io.plan import write_plan

    run.tell("solving")
    started = perf_counter()
    plan = exact_plan(run.problem.instance, run.program, run.options)
    solved = perf_counter() - started
    run.tell("solved")
    if plan.found:
        write_plan(plan, run.folder / "plan")
    bound = plan.bound if np.isfinite(plan.bound) else None
    return {"status": plan.status.value, "raw": plan.proof, "claimed_bound": bound, "timings": whole(solved)}


def exact_plan(instance: AssignmentInstance, program: str, options: Options) -> Plan:
    """What ``crowdopt solve`` does under a linear rule: the stages, or for shares of labels their linear program."""
    from crowdopt.assign.direct import solve_full
    from crowdopt.assign.linear_plan import solve_linearly
    from crowdopt.assign.plan import presolved
    from crowdopt.assign.search import solve_exact

    def exact(part: AssignmentInstance) -> Plan:
        if program != LP:
            return solve_exact(part, solvers(), options)
        if has_joint_limits(part):
            return solve_full(part, LP, solve_program, BACKEND, options)
        return solve_linearly(part, solvers(), options)

    return presolved(instance, exact)


def _algorithm1(run: MethodRun) -> dict[str, Any]:
    """A point of the selection program and its multipliers in closed form, which are checked as any solver's are."""
    if run.problem.selection is None:
        raise InputError("Algorithm 1 solves selection problems only")
    from crowdopt.hire.ranking import ranked

    run.tell("solving")
    started = perf_counter()
    selection = ranked(run.problem.selection)
    solved = perf_counter() - started
    run.tell("solved")
    program = run.problem.build(LP)
    primal, dual = point(program, selection.members), multipliers(program, run.problem.selection)
    np.savez(run.folder / "solution.npz", primal=primal, dual=dual)
    claimed = {"status": selection.status.value, "raw": selection.method, "claimed_bound": selection.certificate.bound}
    return {**claimed, "timings": whole(solved)}


def point(program: Program, workers: Any) -> Floats:
    """The point of the selection program that hires these workers, at least one, each once; -> (columns,)."""
    values = np.zeros(program.cost.size)
    size = len(workers)
    program.column("u").view(values)[size - 1] = 1.0
    program.column("w").view(values)[size - 1, workers] = 1.0
    return values


def multipliers(program: Program, instance: SelectionInstance) -> Floats:
    """``lambda_k = G_(k)/sqrt(k)``, ``mu_ki = max(0, G_i/sqrt(k) - lambda_k)``, ``theta = max_k F_k``, in our sign.

    program: of selection, for the rows' places; -> (rows,).
    """
    k = np.arange(1, instance.sizes + 1)
    gains = instance.gain / np.sqrt(k)[:, None]
    threshold = np.sort(instance.gain)[::-1][: instance.sizes] / np.sqrt(k)
    above = np.maximum(0.0, gains - threshold[:, None])
    values = np.zeros(program.row_lower.size)
    program.row("member").view(values)[...] = -above
    program.row("count").view(values)[...] = -threshold
    program.row("one").view(values)[...] = -(above.sum(axis=1) + k * threshold).max()
    return values


def whole(seconds: float) -> dict[str, float]:
    """The timings of a method that has no parts."""
    return {"build": 0.0, "hand_over": 0.0, "solve": seconds, "read_back": 0.0, "total": seconds}


OWN = {"exact": Own(_warm_exact, _exact), "algorithm1": Own(_warm_algorithm1, _algorithm1)}


def warm_up(method: str, program: str) -> None:
    """Load the library, and compiled code, before the clock starts."""
    if method in OWN:
        OWN[method].warm_up()
    else:
        solve_program(tiny(program == IP and named(method).integers), method, Options(time_limit=30.0), isolated=False)


def perform(run: MethodRun) -> dict[str, Any]:
    """Solve, leave the answer in the folder, return what is claimed and how long its parts took."""
    return OWN[run.method].perform(run) if run.method in OWN else _backend(run)


def _backend(run: MethodRun) -> dict[str, Any]:
    started = perf_counter()
    program = run.problem.build(run.program)
    built = perf_counter()
    run.tell("solving", size=[program.cost.size, program.row_lower.size, int(program.matrix.nnz)])
    solution = solve_program(program, run.method, run.options, isolated=False)
    ended = perf_counter()
    run.tell("solved")
    arrays = {"primal": solution.primal, "dual": solution.dual, "ray": solution.ray}
    present: dict[str, Any] = {name: array for name, array in arrays.items() if array is not None}
    np.savez(run.folder / "solution.npz", **present)
    returned = solution.returned
    timings = {
        "build": built - started,
        "hand_over": (ended if returned is None else returned) - solution.seconds - built,
        "solve": solution.seconds,
        "read_back": None if returned is None else ended - returned,
        "total": ended - started,
    }
    bound = None if solution.claimed_bound is None else float(solution.claimed_bound)
    claimed = {"status": solution.status.value, "raw": str(solution.raw), "timings": timings}
    return {**claimed, "claimed_bound": bound if bound is not None and np.isfinite(bound) else None}


def handles(method: str, problem: str, program: str) -> bool:
    """Whether a method says that it takes such programs; what mixed ones need is found out by trying."""
    if method in OWN:
        takes = method in source_of(problem).own(problem)
        return takes and not (program == LP and open_problem(problem, 0).over_sets)  # shares keep no exact error
    backend = named(method)
    return backend.integers if program == IP else backend.continuous


def chosen(names: Sequence[str]) -> list[str]:
    """The methods of these names; without any, our own and every backend that works here."""
    if not names:
        return [*OWN, *(one.name for one in available() if one.works)]
    if len(set(names)) < len(names):
        raise InputError(f"a method is named twice in {', '.join(names)}")
    for name in names:
        if name not in OWN:
            named(name)
    return list(names)


def version_of(method: str) -> str:
    """The version of the library behind a method."""
    if method == "exact":
        return f"{__version__} with {BACKEND} {version_of(BACKEND)}"
    if method in OWN:
        return __version__
    return version_of_library(named(method).library) or "unknown"

"""Who solves: a backend on the whole program, or a method of our own on the instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from crowdopt.backends import available, named, solve
from crowdopt.backends.probe import tiny
from crowdopt.bench.sources import IP, Problem, source_of
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.errors import InputError
from crowdopt.crowd.synthetic import recipe
from crowdopt.io.plan_folder import write_plan
from crowdopt.offline.exact.method import solve_exact
from crowdopt.version import __version__

SEARCH = "highs"  # who searches where the exact method needs it
WARM = "R10:60x40"  # large enough that every compiled part is used

Tell = Callable[..., None]  # tell(stage, **facts), for the events of a run


@dataclass(frozen=True)
class Run:
    """What a method is given: the problem, which program of it, limits, who listens, and where answers go."""

    problem: Problem
    program: str
    method: str
    options: Options
    tell: Tell
    listener: Listener
    folder: Path


def warm_up(method: str, program: str) -> None:
    """Load the library, and compiled code, before the clock starts."""
    if method == "exact":
        solve_exact(recipe(WARM), IP, solve, SEARCH, Options(time_limit=300.0, nodes=2))
    else:
        solve(tiny(program == IP and named(method).integers), method, Options(time_limit=30.0))


def perform(run: Run) -> dict[str, Any]:
    """Solve, leave the answer in the folder, return what is claimed and how long its parts took."""
    return _exact(run) if run.method == "exact" else _backend(run)


def _exact(run: Run) -> dict[str, Any]:
    if run.problem.instance is None:
        raise InputError("the exact method solves assignment problems only")
    run.tell("solving")
    started = perf_counter()
    plan = solve_exact(run.problem.instance, run.program, solve, SEARCH, run.options, run.listener)
    solved = perf_counter() - started
    run.tell("solved")
    if plan.found:
        write_plan(plan, run.folder / "plan")
    bound = plan.bound if np.isfinite(plan.bound) else None
    timings = {"build": 0.0, "hand_over": 0.0, "solve": solved, "read_back": 0.0, "total": solved}
    return {"status": plan.status.value, "raw": plan.proof, "claimed_bound": bound, "timings": timings}


def _backend(run: Run) -> dict[str, Any]:
    started = perf_counter()
    program = run.problem.build(run.program)
    built = perf_counter()
    run.tell("solving", size=[program.cost.size, program.row_lower.size, int(program.matrix.nnz)])
    solution = solve(program, run.method, run.options, run.listener)
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
    if method == "exact":
        return source_of(problem).is_assignment
    backend = named(method)
    return backend.integers if program == IP else backend.continuous


def chosen(names: Sequence[str]) -> list[str]:
    """The methods of these names; without any, ``exact`` and every backend that works here.

    Raises
    ------
    InputError
        If a name is given twice.
    BackendMissing
        If there is no such backend.
    """
    if not names:
        return ["exact", *(one.name for one in available() if one.works)]
    if len(set(names)) < len(names):
        raise InputError(f"a method is named twice in {', '.join(names)}")
    for name in names:
        if name != "exact":
            named(name)
    return list(names)


def version_of(method: str) -> str:
    """The version of the library behind a method."""
    if method == "exact":
        return f"{__version__} with {SEARCH} {version_of(SEARCH)}"
    library = named(method).library
    for package in packages_distributions().get(library, [library]):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return "unknown"

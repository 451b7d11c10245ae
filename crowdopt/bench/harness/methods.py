"""Who solves: a backend on the whole program, or a method of our own on the instance."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from crowdopt.backends import available, named, solve
from crowdopt.backends.probe import tiny, version_of_library
from crowdopt.bench.harness.ours import BACKEND, OWN, MethodRun
from crowdopt.bench.sources import IP, source_of
from crowdopt.core.solution import Options
from crowdopt.errors import InputError
from crowdopt.version import __version__


def warm_up(method: str, program: str) -> None:
    """Load the library, and compiled code, before the clock starts."""
    if method in OWN:
        OWN[method].warm_up()
    else:
        solve(tiny(program == IP and named(method).integers), method, Options(time_limit=30.0), isolated=False)


def perform(run: MethodRun) -> dict[str, Any]:
    """Solve, leave the answer in the folder, return what is claimed and how long its parts took."""
    return OWN[run.method].perform(run) if run.method in OWN else _backend(run)


def _backend(run: MethodRun) -> dict[str, Any]:
    started = perf_counter()
    program = run.problem.build(run.program)
    built = perf_counter()
    run.tell("solving", size=[program.cost.size, program.row_lower.size, int(program.matrix.nnz)])
    solution = solve(program, run.method, run.options, isolated=False)
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
        return method in source_of(problem).own(problem)
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

"""One row: a backend on a program, or our own method on its instance, in a process of its own, judged here."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from crowdopt import isolated
from crowdopt.arrays import Floats
from crowdopt.benching.judge import (
    CRASHED,
    FAILED,
    GREEDY,
    LATE,
    REFUSED,
    WRONG,
    Judgement,
    judge_plan,
    judge_solution,
)
from crowdopt.benching.sources import IP, LP, Problem, open_problem
from crowdopt.core.program import Program
from crowdopt.core.solution import Options, Solution, Status
from crowdopt.crowd.alike import has_joint_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import recipe
from crowdopt.documents import finite
from crowdopt.errors import ProgramWarning
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.solvers import named
from crowdopt.solvers.isolated import timed

EXACT, BACKEND = "exact", "highs"  # our own method, and what it solves its linear programs with
WARM = "R10:60x40"
GRACE = 20.0  # seconds beyond the limit, for handing the program over, reading back, and late clocks
LOADING = 300.0  # seconds that loading, compiling once and building may take before the clock starts
THREAD_VARIABLES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"),
)
ENDED = {"memory": GREEDY, "time": LATE, "crash": CRASHED, "BackendMissing": REFUSED, "InputError": REFUSED}


def handles(method: str, problem: str, program: str) -> bool:
    """Whether a method says that it takes such programs; what mixed ones need is found out by trying."""
    if method != EXACT:
        backend = named(method)
        return backend.integers if program == IP else backend.continuous
    asked = open_problem(problem, 0)
    if asked.selection is not None:
        return asked.selection.is_plain
    return asked.instance is not None and not (program == LP and asked.over_sets)  # shares keep no exact error


def measure(
    versions: dict[str, str],
    problem: str,
    program: str,
    seed: int,
    method: str,
    seconds: float,
    megabytes: float,
    threads: int,
) -> dict[str, Any]:
    """Run a method on a case within limits, and judge what it says; other versions are other rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProgramWarning)  # told when the cases were listed
        asked = open_problem(problem, seed)
    how: dict[str, Any] = {
        "loading": LOADING,
        "late": GRACE,
        "environment": dict.fromkeys(THREAD_VARIABLES, str(threads)),
    }
    options, claimed, waited = Options(seconds, threads=threads, memory=megabytes), None, None
    try:
        if method == EXACT:
            judgement, claimed, waited, ending = _own(asked, problem, program, seed, options, how)
        else:
            solution, waited, ending = timed(method, asked.build(program), options, **how)
            judgement, claimed = judge_solution(solution), solution.status.value
    except isolated.Failure as failure:
        said = f"{failure.kind}: {failure}" if failure.kind not in (*ENDED, "BackendFailed") else str(failure)
        lies = failure.kind == "BackendFailed" and " failed: " not in said  # what it answers is no answer
        judgement, ending = Judgement(WRONG if lies else ENDED.get(failure.kind, FAILED), said), failure.ending
    facts = {key: finite(value) for key, value in asdict(judgement).items()}
    return {
        **facts,
        "gap": finite(judgement.gap),
        "claimed": claimed,
        "seconds": waited,
        "about": asked.about,
        "megabytes": ending.megabytes,
    }


def _own(
    asked: Problem, problem: str, program: str, seed: int, options: Options, how: dict[str, Any]
) -> tuple[Judgement, str, float, isolated.Ending]:
    with TemporaryDirectory(prefix="crowdopt-bench-") as scratch:
        folder = Path(scratch)
        task = {"problem": problem, "program": program, "seed": seed, "seconds": options.time_limit}
        (folder / "task.json").write_text(json.dumps({**task, "threads": options.threads}), encoding="utf-8")
        found, ending = isolated.run(exact, folder, options.time_limit, options.memory or np.inf, **how)
        claim, bound = found["status"], found["bound"]
        if asked.selection is None:
            assert asked.instance is not None
            return judge_plan(asked.instance, claim, bound, folder), claim, found["waited"], ending
        with np.load(folder / "solution.npz", allow_pickle=False) as stored:
            point, dual = stored["primal"], stored["dual"]
        whole = asked.build(program)
        solution = Solution(whole, EXACT, Status(claim), point, dual, None, bound, found["waited"], claim)
        return judge_solution(solution), claim, found["waited"], ending


def exact(folder: Path) -> dict[str, Any]:
    """Solve what the folder asks for by our own method; leaves the plan, or the point and its multipliers, there."""
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    asked, options = open_problem(task["problem"], task["seed"]), Options(task["seconds"], threads=task["threads"])
    if asked.selection is not None:
        return _hired(asked.build(task["program"]), asked.selection, folder)
    from crowdopt.io.plan import write_plan

    assert asked.instance is not None
    solved(recipe(WARM), IP, Options(time_limit=300.0, nodes=2))  # compiled loops are loaded
    isolated.working(folder)
    began = perf_counter()
    plan = solved(asked.instance, task["program"], options)
    waited = perf_counter() - began
    isolated.worked(folder)
    if plan.found:
        write_plan(plan, folder / "plan")
    return {"status": plan.status.value, "bound": finite(plan.bound), "waited": waited}


def solved(instance: AssignmentInstance, program: str, options: Options) -> Any:
    """The plan of ``crowdopt solve``: by the stages, or for shares of labels by their linear program."""
    from crowdopt.assign.direct import solve_full
    from crowdopt.assign.linear_plan import solve_linearly
    from crowdopt.assign.plan import presolved
    from crowdopt.assign.search import solve_exact
    from crowdopt.assign.standing import Solvers
    from crowdopt.solvers import solve_program
    from crowdopt.solvers.highs import HighsMaster

    given = Solvers(solve_program, HighsMaster, BACKEND)
    if program == IP:
        return presolved(instance, partial(solve_exact, solvers=given, options=options))
    if has_joint_limits(instance):
        return presolved(instance, lambda part: solve_full(part, LP, solve_program, BACKEND, options))
    return presolved(instance, partial(solve_linearly, solvers=given, options=options))


def _hired(program: Program, instance: SelectionInstance, folder: Path) -> dict[str, Any]:
    """Algorithm 1 with its multipliers in closed form, which are checked as any solver's are."""
    from crowdopt.hire.ranking import ranked

    ranked(SelectionInstance(correct=np.array([5, 8, 9]), asked=np.full(3, 10)))
    isolated.working(folder)
    began = perf_counter()
    selection = ranked(instance)
    waited = perf_counter() - began
    isolated.worked(folder)
    np.savez(folder / "solution.npz", primal=point(program, selection.members), dual=multipliers(program, instance))
    return {"status": selection.status.value, "bound": finite(selection.certificate.bound), "waited": waited}


def point(program: Program, workers: Sequence[int] | Any) -> Floats:
    """The point of the selection program that hires these workers, at least one, each once; -> (columns,)."""
    values = np.zeros(program.cost.size)
    program.column("u").view(values)[len(workers) - 1] = 1.0
    program.column("w").view(values)[len(workers) - 1, workers] = 1.0
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

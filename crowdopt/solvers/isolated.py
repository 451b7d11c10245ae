"""A backend in a process of its own: what it breaks there is not ours, and it is stopped when its limits are up."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt import isolated
from crowdopt.core.program import Program, stack
from crowdopt.core.solution import Listener, Options, Progress, Solution, Status
from crowdopt.errors import InputError
from crowdopt.solvers import BackendFailed, BackendMissing, named, solve_program

MOST = 1e9  # megabytes: no limit
SIDES = ("cost", "row_lower", "row_upper", "lower", "upper", "integer")
RAISED = {error.__name__: error for error in (BackendMissing, InputError, BackendFailed)}
ARRAYS = ("primal", "dual", "ray")


def run(name: str, program: Program, options: Options, listener: Listener | None) -> Solution:
    """Solve in a new process within the options' seconds and megabytes.

    A process that overruns them is stopped. Raises BackendMissing, BackendFailed: what the backend raised there; or
    that it was stopped, or fell over.
    """
    try:
        return timed(name, program, options, listener)[0]
    except isolated.Failure as failure:
        if failure.kind in RAISED:
            raise RAISED[failure.kind](str(failure)) from None
        raise BackendFailed(f"{name} {failure}; choose another backend, or other limits") from None


def timed(
    name: str, program: Program, options: Options, listener: Listener | None = None, **how: Any
) -> tuple[Solution, float, isolated.Ending]:
    """The same, with the seconds from handing the program over to having read the answer back, and its process.

    how: what else :func:`crowdopt.isolated.run` is told. Raises Failure.
    """
    with TemporaryDirectory(prefix="crowdopt-solve-") as scratch:
        folder = Path(scratch)
        _write_task(folder, name, program, options)
        moments = _Moments(folder / "moments.jsonl", listener)
        limits = options.time_limit, options.memory or MOST
        answer, ending = isolated.run(work, folder, *limits, watch=moments.pass_on, **how)
        with np.load(folder / "answer.npz", allow_pickle=False) as stored:
            arrays: dict[str, Any] = {key: stored[key] if key in stored.files else None for key in ARRAYS}
        status, seconds = Status(answer.pop("status")), answer.pop("waited")
        return Solution(program=program, backend=name, status=status, **arrays, **answer), seconds, ending


def _write_task(folder: Path, name: str, program: Program, options: Options) -> None:
    matrix = program.matrix
    arrays: dict[str, Any] = {side: getattr(program, side) for side in SIDES}
    arrays |= {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    if options.start is not None:
        arrays["start"] = options.start
    np.savez(folder / "program.npz", **arrays)
    blocks = {side: [[block.name, block.shape] for block in getattr(program, side)] for side in ("columns", "rows")}
    settings = asdict(replace(options, start=None))
    task = {"backend": name, "name": program.name, "options": settings, **blocks}
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")


def _read_task(folder: Path) -> tuple[str, Program, Options]:
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    with np.load(folder / "program.npz", allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    shape = (arrays["row_lower"].size, arrays["cost"].size)
    matrix = sparse.csc_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    sides: dict[str, Any] = {side: arrays[side] for side in SIDES}
    for side in ("columns", "rows"):
        sides[side] = stack([(name, tuple(size)) for name, size in task[side]])
    program = Program(name=task["name"], matrix=matrix, **sides)
    return task["backend"], program, Options(**_options(task["options"]), start=arrays.get("start"))


def _options(stored: dict[str, Any]) -> dict[str, Any]:
    named = {key: value for key, value in stored.items() if key != "start"}
    return {**named, "settings": tuple((key, value) for key, value in named["settings"])}


class _Moments:
    """Lines that the process has written so far, each told to the listener once."""

    def __init__(self, path: Path, listener: Listener | None) -> None:
        self.path, self.listener, self.told = path, listener, 0

    def pass_on(self) -> None:
        if self.listener is None or not self.path.exists():
            return
        lines = self.path.read_text(encoding="utf-8").split("\n")[:-1]
        for line in lines[self.told :]:
            self.listener(Progress(**json.loads(line)))
        self.told = len(lines)


def work(folder: Path) -> dict[str, Any]:
    """Solve what the folder asks for, and leave the point and the multipliers there."""
    name, program, options = _read_task(folder)

    def hear(moment: Progress) -> None:
        with (folder / "moments.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(moment)) + "\n")

    with suppress(BaseException):  # what is wrong with the library, solving says
        import_module(named(name).library)
    isolated.working(folder)
    began = perf_counter()
    solution = solve_program(program, name, options, hear, isolated=False)
    waited = perf_counter() - began
    isolated.worked(folder)
    arrays = {name: getattr(solution, name) for name in ARRAYS}
    np.savez(folder / "answer.npz", **{name: array for name, array in arrays.items() if array is not None})
    facts = {key: getattr(solution, key) for key in ("claimed_bound", "raw", "seconds", "interrupted")}
    return {**facts, "status": solution.status.value, "waited": waited}

"""A backend in a process of its own: what it breaks there is not ours, and it is stopped when its limits are up.

``python -m crowdopt.solvers.isolated FOLDER`` reads ``program.npz`` and ``task.json``, and leaves ``answer.npz``,
``moments.jsonl`` and, last, ``answer.json``.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.confine import Ending, die_with_parent, run_confined
from crowdopt.core.program import Program, stack
from crowdopt.core.solution import Listener, Options, Progress, Solution, Status
from crowdopt.errors import InputError
from crowdopt.solvers import BackendFailed, BackendMissing, named, solve_program

LOADING = 30.0  # seconds for starting, loading the library and reading the program; as many for writing the answer
LATE = 1.5  # seconds beyond its time limit before a solver is stopped
SHARE = 0.05  # of the time limit, beside these: solvers look at the clock less often in larger programs
SOLVING, SOLVED = "solving", "solved"  # files that tell how far the process is
MOST = 1e9  # megabytes: no limit
SIDES = ("cost", "row_lower", "row_upper", "lower", "upper", "integer")
RAISED = {"missing": BackendMissing, "refused": InputError, "failed": BackendFailed}
ARRAYS = ("primal", "dual", "ray")


def run(name: str, program: Program, options: Options, listener: Listener | None) -> Solution:
    """Solve in a new process within the options' seconds and megabytes.

    A process that overruns them is stopped. Raises BackendMissing, BackendFailed: what the backend raised there; or
    that it was stopped, or fell over.
    """
    with TemporaryDirectory(prefix="crowdopt-solve-") as scratch:
        folder = Path(scratch)
        _write_task(folder, name, program, options)
        moments = _Moments(folder / "moments.jsonl", listener)
        clock = _Clock(folder, options.time_limit)

        def is_over(seconds: float) -> bool:
            moments.pass_on()
            return clock.is_over(seconds)

        command = [sys.executable, "-m", "crowdopt.solvers.isolated", str(folder)]
        ending = run_confined(command, _environment(), folder / "said", options.memory or MOST, is_over)
        moments.pass_on()
        return _answer(folder, name, program, ending, options)


def _environment() -> dict[str, str]:
    """Ours, with everything on our path importable there."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(filter(None, sys.path)))}


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


class _Clock:
    """Seconds that the process may take: to load, to solve, to write."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.folder, self.until = folder, {SOLVING: limit * (1 + SHARE) + LATE, SOLVED: LOADING}
        self.deadline = LOADING

    def is_over(self, seconds: float) -> bool:
        """Whether time is up for what it is doing; looked at often, so that a stage is seen when it begins."""
        for stage in [stage for stage in self.until if (self.folder / stage).exists()]:
            self.deadline = seconds + self.until.pop(stage)
        return seconds > self.deadline


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


def _answer(folder: Path, name: str, program: Program, ending: Ending, options: Options) -> Solution:
    if not (folder / "answer.json").exists():
        raise BackendFailed(f"{name} {_how(folder, ending, options)}; choose another backend, or other limits")
    answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    for kind, error in RAISED.items():
        if kind in answer:
            raise error(answer[kind])
    with np.load(folder / "answer.npz", allow_pickle=False) as stored:
        arrays: dict[str, Any] = {key: stored[key] if key in stored.files else None for key in ARRAYS}
    return Solution(
        program=program,
        backend=name,
        status=Status(answer["status"]),
        claimed_bound=answer["claimed_bound"],
        seconds=answer["seconds"],
        raw=answer["raw"],
        interrupted=answer["interrupted"],
        **arrays,
    )


def _how(folder: Path, ending: Ending, options: Options) -> str:
    if ending.kind == "memory":
        return f"was stopped: it took more than the {options.memory:g} MB allowed"
    if ending.kind == "time" and not (folder / SOLVING).exists():
        return f"was stopped: it did not load within {LOADING:g} s"
    if ending.kind == "time":
        return f"was stopped: it did not keep its time limit of {options.time_limit:g} s"
    return f"ended its process with status {ending.status} and without an answer"


def main(folder: Path) -> None:
    """Solve what the folder asks for, and leave the answer, or what went wrong, in it."""
    die_with_parent()
    name, program, options = _read_task(folder)

    def hear(moment: Progress) -> None:
        with (folder / "moments.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(moment)) + "\n")

    with suppress(BaseException):  # what is wrong with the library, solving says
        import_module(named(name).library)
    (folder / SOLVING).touch()
    try:
        solution = solve_program(program, name, options, hear, isolated=False)
        (folder / SOLVED).touch()
        answer = _told(folder, solution)
    except tuple(RAISED.values()) as error:
        answer = {next(kind for kind, one in RAISED.items() if isinstance(error, one)): str(error)}
    part = folder / "answer.part"
    part.write_text(json.dumps(answer), encoding="utf-8")
    part.replace(folder / "answer.json")
    sys.stdout.flush()
    os._exit(0)  # libraries that fall over while they are unloaded have answered already


def _told(folder: Path, solution: Solution) -> dict[str, Any]:
    arrays = {name: getattr(solution, name) for name in ARRAYS}
    np.savez(folder / "answer.npz", **{name: array for name, array in arrays.items() if array is not None})
    facts = {"status": solution.status.value, "claimed_bound": solution.claimed_bound, "raw": solution.raw}
    return {**facts, "seconds": solution.seconds, "interrupted": solution.interrupted}


if __name__ == "__main__":
    main(Path(sys.argv[1]))

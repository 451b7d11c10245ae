"""One subject in this very process: ``python -m crowdopt.benching.child FOLDER``, watched by the harness.

Reads ``subject.json``; leaves ``events.jsonl`` (a line a stage), the answer
(``solution.npz`` or ``plan/``) and, last, ``done.json``.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from crowdopt.confine import die_with_parent

BORN = perf_counter()


def peak(reset: bool = False) -> float | None:
    """The most megabytes this process has held (since the reset); None where the system does not tell."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    except (OSError, IndexError, ValueError):
        return None


def teller(path: Path) -> Callable[..., None]:
    """``tell(stage, **facts)`` appends a line with the seconds since this process began to run."""
    lines = path.open("a", encoding="utf-8", buffering=1)

    def tell(stage: str, **facts: Any) -> None:
        lines.write(json.dumps({"stage": stage, "at": perf_counter() - BORN, **facts}) + "\n")

    return tell


def work(folder: Path, tell: Callable[..., None]) -> dict[str, Any]:
    """Load, warm up, open the problem, solve it."""
    from crowdopt.benching.methods import MethodRun, perform, warm_up
    from crowdopt.benching.sources import open_problem
    from crowdopt.benching.subject import Subject
    from crowdopt.core.solution import Options

    subject = Subject.of(json.loads((folder / "subject.json").read_text(encoding="utf-8")))
    tell("imported")
    warm_up(subject.method, subject.program)
    tell("warm")
    problem = open_problem(subject.problem, subject.seed)
    tell("open", family=problem.family, about=problem.about)
    before = peak(reset=True)
    limits = subject.limits
    options = Options(limits.seconds, threads=limits.threads, memory=limits.megabytes)

    run = MethodRun(problem, subject.program, subject.method, options, tell, folder)
    found = perform(run)
    return {**found, "megabytes_before": before, "megabytes": peak()}


def main(folder: Path) -> None:
    """Whatever happens, ``done.json`` says what; a crash in native code leaves none."""
    from crowdopt.files import write_text

    die_with_parent()
    tell = teller(folder / "events.jsonl")
    tell("started")
    try:
        done = work(folder, tell)
    except BaseException as error:
        traceback.print_exc()
        done = {"error": f"{type(error).__name__}: {error}"}
    write_text(folder / "done.json", json.dumps(done))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # libraries that fall over while they are unloaded have answered already


if __name__ == "__main__":
    main(Path(sys.argv[1]))

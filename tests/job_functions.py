"""Functions that rows are made of, in a module that worker processes can import; and a run of them, to be killed.

``python -m tests.job_functions FUNCTION COUNT FOLDER SCRATCH PROCESSES [ADDRESS]``
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import numpy as np

from crowdopt.jobs import Job, Row, cluster, run, seed_of


def draw(seed: int, size: int = 3) -> dict:
    return {"mean": np.random.default_rng(seed).normal(size=size).mean(), "draws": np.arange(size)}


def slow_draw(seed: int, log: str) -> dict:
    """Leaves a line in the log each time it is computed."""
    time.sleep(0.02)
    with Path(log).open("a") as lines:
        lines.write(f"{seed}\n")
    return draw(seed)


def refuse(number: int) -> int:
    if number % 3 == 1:
        raise ValueError(f"{number} will not do")
    return number


def vanish(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def leave(number: int) -> int:
    raise SystemExit(number)


def not_a_number() -> dict:
    return {"gap": float("nan")}


def wait_with(seed: int, log: str) -> None:
    """Leaves its process beside the log."""
    Path(log).with_name(str(seed)).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(60)


def table(rows: list[Row]) -> str:
    """The rows as JSON lines."""
    return "".join(f"{json.dumps(asdict(row))}\n" for row in rows)


def jobs(function: str, count: int, scratch: str | Path) -> list[Job]:
    """As many of ``slow_draw`` or of ``wait_with``."""
    named = f"tests.job_functions:{function}"
    return [Job(named, {"seed": seed_of(7, k), "log": f"{scratch}/log"}) for k in range(count)]


if __name__ == "__main__":
    function, count, folder, scratch, processes, *address = sys.argv[1:]
    with cluster(address[0]) if address else nullcontext() as executor:
        rows = run(jobs(function, int(count), scratch), Path(folder), int(processes), executor)
    Path(scratch, "table").write_text(table(rows), encoding="utf-8")

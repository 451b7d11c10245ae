"""A run to be killed: ``python -m tests.job_runner FUNCTION COUNT FOLDER SCRATCH PROCESSES [ADDRESS]``."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

from crowdopt.jobs import Job, Row, cluster, run, seed_of


def table(rows: list[Row]) -> str:
    """The rows as JSON lines."""
    return "".join(f"{json.dumps(asdict(row))}\n" for row in rows)


def jobs(function: str, count: int, scratch: str) -> list[Job]:
    if function == "wait_with":
        return [Job("tests.job_functions:wait_with", {"pids": scratch, "number": k}) for k in range(count)]
    named = f"tests.job_functions:{function}"
    return [Job(named, {"seed": seed_of(7, k), "log": f"{scratch}/log"}) for k in range(count)]


if __name__ == "__main__":
    function, count, folder, scratch, processes, *address = sys.argv[1:]
    with cluster(address[0]) if address else nullcontext() as executor:
        rows = run(jobs(function, int(count), scratch), Path(folder), int(processes), executor)
    Path(scratch, "table").write_text(table(rows), encoding="utf-8")

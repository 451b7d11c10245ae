"""What the harness of ``crowdopt bench`` costs, and how exactly it keeps a memory limit.

python benchmarks/harness.py [--repeats N]

A run is an interpreter that loads numpy and the solver's library, the solve, and files, watching, judging. The memory
limit is broken by a process that fills memory as fast as it can, and by two children of one.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from crowdopt.benching.measure import measure
from crowdopt.isolated import run_confined

EATER = "held = []\nwhile True: held.append(bytearray(b'x' * 4_000_000))"
BREEDER = f"import subprocess, sys\nfor one in [subprocess.Popen([sys.executable, '-c', {EATER!r}])] * 2: one.wait()"


def run(backend: str) -> tuple[float, float]:
    """Seconds of a run, and of its solve."""
    started = perf_counter()
    row = measure({}, "R10:10x20", "ip", 0, backend, 10.0, 2000.0, 1)
    return perf_counter() - started, row["seconds"]


def overshoot(code: str, limit: float) -> float:
    """How far above the limit a tree was when it was killed, relative to the limit."""
    with TemporaryDirectory() as folder:
        command, said = [sys.executable, "-c", code], Path(folder) / "said"
        return run_confined(command, os.environ, said, limit, lambda elapsed: elapsed > 60).megabytes / limit - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    runs = [run("highs") for _ in range(repeats + 1)][1:]
    whole, solving = (median(each) for each in zip(*runs, strict=True))
    print(
        f"a run of HiGHS on 10 tasks x 20 workers: {whole:.2f} s, solving {solving:.2f} s of it (medians of {repeats})"
    )
    for name, code in (("one process", EATER), ("two children", BREEDER)):
        for limit in (200.0, 1000.0):
            worst = max(overshoot(code, limit) for _ in range(repeats))
            print(f"{name:13} killed at most {100 * worst:.1f} % above {limit:g} MB, worst of {repeats}")
    print(f"psutil {version('psutil')}")


if __name__ == "__main__":
    main()

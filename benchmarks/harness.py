"""What the harness of ``crowdopt bench`` costs, and how exactly it keeps a memory limit.

python benchmarks/harness.py [--repeats N]

Overhead is all of a run but loading the solver's library and solving; beside it, in turn, the time that an interpreter
needs to import numpy and scipy.sparse, which is part of it. The memory limit is broken by a process that fills
memory as fast as it can, and by two children of one.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from crowdopt.bench.measure import measure
from crowdopt.bench.subject import Limits, Subject
from crowdopt.confine import run_confined

EATER = "held = []\nwhile True: held.append(bytearray(b'x' * 4_000_000))"
BREEDER = f"import subprocess, sys\nfor one in [subprocess.Popen([sys.executable, '-c', {EATER!r}])] * 2: one.wait()"


def overhead(backend: str) -> float:
    """Seconds of a run that are neither loading nor solving."""
    subject = Subject("R10:10x20", "ip", backend, 0, Limits(10.0, 2000.0))
    started = perf_counter()
    timings = measure({}, **subject.arguments())["timings"]
    return perf_counter() - started - timings["load"] - timings["total"]


def imports() -> float:
    started = perf_counter()
    subprocess.run([sys.executable, "-c", "import numpy, scipy.sparse"], check=True)
    return perf_counter() - started


def overshoot(code: str, limit: float) -> float:
    """How far above the limit a tree was when it was killed, relative to the limit."""
    with TemporaryDirectory() as folder:
        command, said = [sys.executable, "-c", code], Path(folder) / "said"
        return run_confined(command, os.environ, said, limit, lambda elapsed: elapsed > 60).megabytes / limit - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    pairs = [(overhead("highs"), imports()) for _ in range(repeats + 1)][1:]
    whole, loading = median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)
    apart = median(one - other for one, other in pairs)
    print(f"overhead of a run  {whole:.3f} s, median of {repeats}; numpy and scipy.sparse alone {loading:.3f} s")
    print(f"without them       {apart:.3f} s")
    for name, code in (("one process", EATER), ("two children", BREEDER)):
        for limit in (200.0, 1000.0):
            worst = max(overshoot(code, limit) for _ in range(repeats))
            print(f"{name:13} killed at most {100 * worst:.1f} % above {limit:g} MB, worst of {repeats}")
    print(f"crowdopt {version('crowdopt')}, psutil {version('psutil')}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()

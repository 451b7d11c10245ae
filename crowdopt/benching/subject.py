"""What is measured: a problem's program, by a method, with a seed, within limits.

When and on what a benchmark ran, and how quiet it was: everything that differs between two equal runs.

What the files of a benchmark's folder must look like to be read again.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from math import inf
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import psutil

from crowdopt.documents import NUMBER, TEXT, Each, Keys, Maybe, Value, each_of, misfit, number
from crowdopt.errors import InputError
from crowdopt.jobs import Row

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


LEAST = 50.0  # megabytes
FIELDS = ("problem", "program", "method", "seed")
LIMITS = ("seconds", "megabytes", "threads", "grace")


@dataclass(frozen=True)
class Limits:
    """What a subject may take."""

    seconds: float = 60.0  # handed to the solver. Past ``seconds`` and the grace the whole process tree is killed
    megabytes: float = 4000.0  # resident memory of the whole process tree, interpreter and libraries included
    threads: int = 1  # handed to the solver, and set for every library that reads it from the environment
    grace: float = 20.0  # seconds beyond the limit, for handing the program over, reading back, and late clocks

    def __post_init__(self) -> None:
        if not 0 < self.seconds < inf:
            raise InputError(f"a time limit must be a positive, finite number of seconds, not {self.seconds:g}")
        if not LEAST <= self.megabytes < inf:
            says = (
                f"a memory limit must be a finite number of megabytes and at least {LEAST:g}, what an interpreter needs"
            )
            raise InputError(f"{says}, not {self.megabytes:g}")

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that pin the threads of numerical libraries."""
        return dict.fromkeys(THREAD_VARIABLES, str(self.threads))


@dataclass(frozen=True)
class Subject:
    """One measurement to be made."""

    problem: str
    program: str
    method: str
    seed: int  # draws the problem, where it is drawn
    limits: Limits

    @property
    def case(self) -> tuple[str, str, int]:
        """What is to be solved, by whichever method."""
        return self.problem, self.program, self.seed

    def arguments(self) -> dict[str, Any]:
        """The subject as plain JSON, without nesting."""
        given = asdict(self)
        return {**{key: given[key] for key in FIELDS}, **given["limits"]}

    @staticmethod
    def of(arguments: dict[str, Any]) -> Subject:
        """What :meth:`arguments` wrote."""
        limits = Limits(**{key: arguments[key] for key in LIMITS})
        return Subject(**{key: arguments[key] for key in FIELDS}, limits=limits)


LIBRARIES = (
    *("numpy", "scipy", "numba", "highspy", "pulp", "cvxpy", "clarabel", "scs", "osqp", "ortools", "pyscipopt"),
    *("gurobipy", "psutil"),
)


def circumstances() -> dict[str, Any]:
    """The time, the machine, and the version of every library that solves or counts."""
    libraries = {}
    for name in LIBRARIES:
        try:
            libraries[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": psutil.cpu_count(),
        "load": round(psutil.getloadavg()[0], 2),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "blas": _blas(),
        "libraries": libraries,
    }


def _processor() -> str:
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    return platform.processor() or "unknown"


def _blas() -> str:
    blas = np.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


DISTURBED = 1.25  # times the quickest reference; a row beside a slower one is measured again
ROUNDS, BLOCK = 24, bytes(1 << 20)  # about a twentieth of a second
LISTS = 40_000


def reference() -> float:
    """Seconds of wall clock for a fixed piece of work, of native code and of the interpreter."""
    began = perf_counter()
    digest = sha256()
    for _ in range(ROUNDS):
        digest.update(BLOCK)
    sum(sorted(k * 7919 % 10007 for k in range(LISTS)))
    return perf_counter() - began


def slowdowns(references: Sequence[float | None]) -> list[float | None]:
    """Each reference as a multiple of the quickest; None where there is none; references: seconds, one for each row."""
    known = [seconds for seconds in references if seconds is not None]
    return [None if seconds is None else seconds / min(known) for seconds in references]


def sentence(references: Sequence[float | None]) -> str:
    """What the references, in seconds, one for each row, say of the machine; nothing where there are none."""
    known = sorted(ratio for ratio in slowdowns(references) if ratio is not None)
    if not known:
        return ""
    disturbed = sum(ratio > DISTURBED for ratio in known)
    said = (
        f"A fixed computation between the subjects took {median(known):.2f} times its quickest (median; at most "
        f"{known[-1]:.2f}): that is how quiet the machine was"
    )
    return (
        f"{said}; {disturbed} of {len(known)} rows stand beside one beyond {DISTURBED:g}." if disturbed else f"{said}."
    )


SUBJECT = Value(
    "a list of problem, program, seed and method",
    lambda value: isinstance(value, list) and [type(one) for one in value] == [str, str, int, str],
)
PLAN = Keys(  # bench.json
    required={
        "kind": TEXT,
        "title": TEXT,
        "subjects": Each(SUBJECT),
        "limits": Keys(dict.fromkeys(LIMITS, NUMBER)),
        "versions": Each(TEXT, dict),
    }
)
CIRCUMSTANCES = Keys({"libraries": Each(TEXT, dict)}, open=True)  # run.json
MEASURED = Keys(  # the result of a row
    required=each_of(
        {
            "value bound violation fraction gap megabytes": Maybe(NUMBER),
            "outcome why proof": TEXT,
            "claimed": Maybe(TEXT),
            "timings": Each(Maybe(number("a number of seconds", 0)), dict),
        }
    ),
    optional={"family": Maybe(TEXT), "about": TEXT, "reference": Maybe(NUMBER)},
    open=True,
)
BESIDE = Keys(each_of({"violation fraction": NUMBER}), open=True)  # what a value comes with


def check_plan(known: dict[str, Any]) -> None:
    """Refuse a bench.json whose subjects have methods of no known version."""
    missing = {"crowdopt", *(subject[-1] for subject in known["subjects"])} - set(known["versions"])
    if missing:
        raise InputError(f"bench.json: versions.{min(missing)} is missing")


def check_row(row: Row) -> None:
    """Refuse a row that no measurement has written."""
    complaint = misfit(row.error, TEXT, "error") if row.error is not None else misfit(row.result, MEASURED)
    if complaint is None and row.error is None and row.result["value"] is not None:
        complaint = misfit(row.result, BESIDE)
    if complaint is not None:
        subject = f"{row.arguments['problem']} by {row.arguments['method']}"
        raise InputError(f"the row of {subject}: {complaint}; delete the folder's rows, and run the same command again")

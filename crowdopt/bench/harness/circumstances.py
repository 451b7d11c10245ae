"""When and on what a benchmark ran, and how quiet it was: everything that differs between two equal runs."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import psutil

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

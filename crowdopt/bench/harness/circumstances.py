"""When and on what a benchmark ran: everything that differs between two equal runs."""

from __future__ import annotations

import platform
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
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

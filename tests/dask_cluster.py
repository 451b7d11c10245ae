"""A Dask cluster of two processes on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def two_workers(scratch: Path) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """The scheduler's address and the workers, each of one thread, without anybody who would start them again."""
    pytest.importorskip("dask.distributed", reason="the extra cluster is not installed")
    port = 20000 + os.getpid() % 20000
    address, dask = f"tcp://127.0.0.1:{port}", [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    place = ["--host", "127.0.0.1", "--no-dashboard"]
    alone = ["--no-nanny", "--nthreads", "1", "--local-directory", str(scratch)]
    started = [subprocess.Popen([*dask, "scheduler", *place, "--port", str(port)], **quiet)]
    started += [subprocess.Popen([*dask, "worker", address, *place, *alone], **quiet) for _ in range(2)]
    try:
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()

"""Programs that tests start and interrupt."""

from __future__ import annotations

import subprocess
import time

import psutil


def after_computing(child: subprocess.Popen, seconds: float, patience: float = 120.0) -> None:
    """Wait until a child has computed for so many seconds more: processor time, whatever else the machine does."""
    process, end = psutil.Process(child.pid), time.monotonic() + patience
    wanted = _computed(process) + seconds
    while child.poll() is None and _computed(process) < wanted:
        assert time.monotonic() < end, f"it computed for less than {seconds} s in {patience} s"
        time.sleep(0.02)


def _computed(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return float("inf")
    return times.user + times.system

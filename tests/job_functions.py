"""Functions that rows are made of, in a module that worker processes can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np


def draw(seed: int, size: int = 3) -> dict:
    return {"mean": np.random.default_rng(seed).normal(size=size).mean(), "draws": np.arange(size)}


def slow_draw(seed: int, log: str, seconds: float = 0.02) -> dict:
    """Leaves a line in the log each time it is computed."""
    time.sleep(seconds)
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


def wait_with(pids: str, number: int) -> int:
    Path(pids, str(number)).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(60)
    return number

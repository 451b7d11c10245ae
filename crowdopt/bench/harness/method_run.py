"""What a method is given when it is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crowdopt.bench.sources import Problem
from crowdopt.core.solution import Options

Tell = Callable[..., None]  # tell(stage, **facts), for the events of a run


@dataclass(frozen=True)
class MethodRun:
    """What a method is given: the problem, which program of it, limits, and where answers go."""

    problem: Problem
    program: str
    method: str
    options: Options
    tell: Tell
    folder: Path

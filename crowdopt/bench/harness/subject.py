"""What is measured: a problem's program, by a method, with a seed, within limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from crowdopt.errors import InputError

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

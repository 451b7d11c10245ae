"""Programs of others by path: free MPS."""

from __future__ import annotations

from pathlib import Path

from crowdopt.bench.sources import Problem, Source
from crowdopt.io.programs import FORMATS, format_of, read_program


def is_program(name: str) -> bool:
    """Whether the name is that of a file that holds a program."""
    path = Path(name)
    return format_of(path) in FORMATS and path.is_file()


def read(name: str, seed: int) -> Problem:
    """The program in the file; the seed is the solver's alone."""
    whole = read_program(name)
    return Problem(name, lambda: whole, family="foreign")


SOURCE = Source("the path of a program (.mps, also .mps.gz)", is_program, read, lambda _: ())

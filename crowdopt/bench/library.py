"""The instance library: the programs of any cases as files for any other solver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdopt.bench.sources import open_problem
from crowdopt.bench.suites import Case
from crowdopt.errors import InputError
from crowdopt.io.cells import write_csv
from crowdopt.io.folder import new_folder
from crowdopt.io.program_files import FORMATS, ids_of, write_program

INDEX = "index.csv"  # the file that tells an instance library
COLUMNS = ["file", "problem", "program", "seed", "columns", "rows", "entries", "integers"]


def export_library(cases: Sequence[Case], folder: Path, form: str, force: bool = False) -> list[str]:
    """Write each case's program as free MPS or CPLEX LP, and a table of them; returns the file names.

    Parameters
    ----------
    cases : sequence of (str, str, int)
        Problem, program and seed of each.
    folder : Path
    form : str
        ``mps`` or ``lp``.
    force : bool
        Whether a library that is there may be replaced.

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        If there is no such format, or the folder cannot be written.
    """
    if f".{form}" not in FORMATS:
        raise InputError(f"programs are written as {' or '.join(FORMATS)}, not {form!r}")
    lines: list[list[str | int]] = []
    with new_folder(folder, INDEX, force) as new:
        for problem, program, seed in cases:
            opened = open_problem(problem, seed)
            built = opened.build(program)
            name = f"{_plain(problem)}-{program}-{seed}.{form}"
            ids = {} if opened.instance is None else ids_of(built, opened.instance)
            write_program(built, new / name, ids)
            size = [built.cost.size, built.row_lower.size, int(built.matrix.nnz), int(built.integer.sum())]
            lines.append([name, problem, program, seed, *size])
        write_csv(new / INDEX, COLUMNS, [list(column) for column in zip(*lines, strict=True)])
    return [str(line[0]) for line in lines]


def _plain(problem: str) -> str:
    """A problem's name as part of a file name."""
    name = Path(problem).name if Path(problem).exists() else problem
    return "".join(letter if letter.isalnum() else "-" for letter in name)

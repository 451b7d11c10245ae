"""The instance library: the programs of any cases as files for any other solver, with what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.bench.harness.known import BestKnown, best_known
from crowdopt.bench.harness.suites import Case
from crowdopt.bench.sources import Problem, open_problem
from crowdopt.core.program import Block, Program
from crowdopt.core.solution import Options
from crowdopt.errors import InputError
from crowdopt.io.programs.naming import MPS, Ids, names_of
from crowdopt.io.programs.program_files import FORMATS, write_program
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import new_folder
from crowdopt.version import __version__

INDEX = "index.csv"  # the file that tells an instance library
CHECK = "check.py"  # proves the index with the standard library alone
KNOWN = ("value", "bound", "vouched", "by")
FACTS = ("file", "problem", "program", "seed", "kind", "columns", "rows", "entries", "integers")
COLUMNS = (*FACTS, *KNOWN, "origin", "licence")


def export_library(
    cases: Sequence[Case],
    folder: Path,
    form: str,
    force: bool = False,
    options: Options | None = None,
    page: Callable[[list[dict[str, Any]], Path], object] | None = None,
) -> list[dict[str, Any]]:
    """Write each case's program as free MPS or CPLEX LP, and a table of them; returns the table's rows.

    cases sequence of (str, str, int): problem, program and seed of each.
    form: ``mps`` or ``lp``.
    force: whether a library that is there may be replaced.
    options: limits within which each program is solved; its best point and multipliers then stand beside it (MPS only),
    with a script that checks them. Without any, values and bounds stay empty.
    page: what else is written of the rows into the folder, before it has its name.
    -> a row for each program, as ``index.csv`` has it. Raises InputError if there is no such format, it is ``lp`` and
    values are wanted, or the folder cannot be written.
    """
    if f".{form}" not in FORMATS:
        raise InputError(f"programs are written as {' or '.join(FORMATS)}, not {form!r}")
    if options is not None and form != "mps":
        raise InputError("what is known of a program is written beside MPS files only; export mps")
    rows: list[dict[str, Any]] = []
    with new_folder(folder, INDEX, force) as new:
        for problem, program, seed in cases:
            opened = open_problem(problem, seed)
            built = opened.build(program)
            name = f"{stem_of((problem, program, seed))}.{form}"
            ids = opened.ids(built)
            write_program(built, new / name, ids)
            known = BestKnown() if options is None else best_known(opened, program, options)
            _write_known(new / name, built, ids, known)
            rows.append(row_of(name, (problem, program, seed), opened, built, known))
        write_csv(new / INDEX, COLUMNS, [[_cell(row[name]) for row in rows] for name in COLUMNS])
        if options is not None:
            (new / CHECK).write_bytes((files("crowdopt.bench") / "assets" / CHECK).read_bytes())
        if page is not None:
            page(rows, new)
    return rows


def stem_of(case: Case) -> str:
    """The name of a case's files without an ending."""
    problem, program, seed = case
    return f"{_plain(problem)}-{program}-{seed}"


def row_of(name: str, case: Case, opened: Problem, built: Program, known: BestKnown) -> dict[str, Any]:
    """A program's row of the index, as facts."""
    size = built.cost.size, built.row_lower.size, int(built.matrix.nnz), int(built.integer.sum())
    drawn = not Path(case[0]).exists()
    origin = f"drawn by crowdopt {__version__}, seed {case[2]}" if drawn else f"the file or folder {Path(case[0]).name}"
    return {
        **dict(zip(("file", "problem", "program", "seed"), (name, *case), strict=True)),
        "kind": opened.family,
        **dict(zip(("columns", "rows", "entries", "integers"), size, strict=True)),
        **{key: getattr(known, key) for key in KNOWN},
        "origin": origin,
        "licence": "MIT, as crowdopt" if drawn else "its owner's",
    }


def _write_known(path: Path, program: Program, ids: Ids, known: BestKnown) -> None:
    """The point and the multipliers, by the names that the program's file has."""
    for values, blocks, what, heads in (
        (known.point, program.columns, "point", ("column", "value")),
        (known.multipliers, program.rows, "multipliers", ("row", "multiplier")),
    ):
        if values is not None:
            write_csv(path.with_name(f"{path.name}.{what}.csv"), heads, _named(values, blocks, ids))


def _named(values: Floats, blocks: tuple[Block, ...], ids: Ids) -> tuple[list[str], list[float]]:
    names, there = names_of(blocks, ids, MPS), np.flatnonzero(values)
    return [names[k] for k in there.tolist()], values[there].tolist()


def _cell(value: Any) -> Any:
    return "" if value is None else value


def _plain(problem: str) -> str:
    name = Path(problem).name if Path(problem).exists() else problem
    return "".join(letter if letter.isalnum() else "-" for letter in name)

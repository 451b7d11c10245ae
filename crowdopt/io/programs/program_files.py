"""Programs as files for any other solver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crowdopt.arrays import Ints
from crowdopt.core.program import Block, Program
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError, public
from crowdopt.files import write_text
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.io.programs import lp, mps, mps_reading
from crowdopt.io.programs.naming import Ids
from crowdopt.io.programs.program_reading import PACKED
from crowdopt.io.tables.folder import check_target

FORMATS = {".mps": mps.text, ".lp": lp.text}
DATA = ".dat"  # no program, but data for a model of models/ (crowdopt.io.programs.mathprog)
TASKS, WORKERS = ("tasks",), ("workers",)
AXES = {  # what a block's indices are, whichever program it is part of
    **dict.fromkeys(("y", "t", "value"), TASKS + WORKERS),
    **dict.fromkeys(("cover", "labels", "x"), TASKS),
    **dict.fromkeys(("capacity", "z"), WORKERS),
}


def check_file(path: Path, force: bool = False, data: bool = False) -> None:
    """Refuse a file whose ending is no format, or that cannot be written, before any work is done."""
    endings = [*FORMATS, *[DATA] * data]
    if path.suffix.lower() not in endings:
        raise InputError(f"{path} must end in {' or '.join(endings)}: the ending says the format")
    if path.is_dir():
        raise InputError(f"{path} is a folder; choose another name")
    check_target(path, None, force)


def write_program(program: Program, path: Path, ids: Ids | None = None, force: bool = False) -> None:
    """Write a program as free MPS or CPLEX LP, as the file's ending says: whole or not at all.

    path: ends in ``.mps`` or ``.lp``.
    ids: for each block the ids along its axes; names are made of them (io.programs.naming). Others get numbers.
    force: whether to replace a file that is there.
    """
    check_file(path, force)
    content = FORMATS[path.suffix.lower()](program, ids or {})
    write_text(path, content, replace=force)


@public
def read_program(path: str | Path) -> Program:
    """Read a program from a file of free MPS.

    Columns and rows whose names have the form ``y[a,b]`` come in blocks again, others in blocks of their own; a
    block's columns, or rows, stand together even where the file has others between them.

    Parameters
    ----------
    path : path
        Ends in ``.mps`` or ``.mps.gz``; need not be one of ours. A maximum is read as the minimum of its negative, a
        constant in the objective as the cost of a column that is 1, an integer column without bounds as 0 or 1; a
        warning (:class:`crowdopt.errors.ProgramWarning`) tells of each.

    Raises
    ------
    InputError
        If it cannot be read, says what no linear program says, or is an LP file; the sentence names the line.
    """
    place = Path(path)
    if format_of(place) == ".lp":
        own = "HiGHS: writeModel('x.mps'), PuLP: writeMPS, SCIP: writeProblem('x.mps'), crowdopt: export -o x.mps"
        raise InputError(f"{place}: LP files are not read, for their readers differ; write MPS in place of it ({own})")
    if format_of(place) != ".mps":
        raise InputError(f"{place} must end in .mps or .mps.gz: the ending says the format")
    return mps_reading.read(place)


def format_of(path: Path) -> str:
    """The ending that says the format: the one before ``.gz`` where a file is packed."""
    return (path.with_suffix("") if path.suffix.lower() == PACKED else path).suffix.lower()


def ids_of(program: Program, instance: AssignmentInstance) -> Ids:
    """Task and worker ids for the blocks of an assignment program, its dual, or one made of either."""
    known = {
        "tasks": instance.task_ids,
        "workers": instance.worker_ids,
    }
    blocks = (*program.columns, *program.rows)
    groups = instance.groups
    own = {
        "group": [[one.name for one in groups if one.has_task_limits], known["tasks"]],
        "most_share": [[one.name for one in groups if one.max_share < 1]],
        "least_share": [[one.name for one in groups if one.min_share > 0]],
        "own": [[] if instance.own_rows is None else list(instance.own_rows.names)],
    }
    joint = {block.name: own[block.name] for block in program.rows if block.name in own}
    return joint | {block.name: [known[axis] for axis in _axes(block)] for block in blocks if _axes(block)}


def selection_ids(instance: SelectionInstance) -> Ids:
    """Sizes from 1, workers and groups for the blocks of the selection program."""
    sizes = [str(k + 1) for k in range(instance.sizes)]
    workers = instance.worker_ids
    groups = list(instance.groups or [str(g) for g in range(instance.n_groups)])
    found = {"u": [sizes], "w": [sizes, workers], "hired": [workers], "member": [sizes, workers], "count": [sizes]}
    return {**found, "group": [sizes, groups], "family": [sizes, groups], "money": [sizes], "whole": [workers]}


def menu_ids(kinds: int, rows: tuple[Ints, Ints, Any], kind: Ints, pattern: Ints) -> Ids:
    """Ids of the program over patterns: kind and pattern, as in ``1:P2_0_1``, kinds, pool and depth.

    kinds: how many there are; rows: pool and depth of each supply row, and what it is; kind (k,), pattern (k, pools).
    """
    of_pools = ["_".join(map(str, one)) for one in pattern.tolist()]
    given = [f"{t + 1}:P{one}" for t, one in zip(kind.tolist(), of_pools, strict=True)]
    supply = [f"{g + 1}:{h}" for g, h in zip(rows[0].tolist(), rows[1].tolist(), strict=True)]
    return {"given": [given], "task": [[str(t + 1) for t in range(kinds)]], "supply": [supply]}


def _axes(block: Block) -> tuple[str, ...]:
    """The axes of ``cover``, and so of ``cover.lower`` (in a dual) and ``missing.cover`` (where it is elastic)."""
    return next((AXES[part] for part in block.name.split(".") if part in AXES), ())

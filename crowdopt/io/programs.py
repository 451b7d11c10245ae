"""Programs as files for any other solver: free MPS and CPLEX LP, with readable names within what a format allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats
from crowdopt.core.program import Block, Program
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError, public
from crowdopt.files import write_text
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.io.folders import check_target
from crowdopt.io.program_reading import PACKED, NamedProgram, read_mps

Ids: TypeAlias = Mapping[str, Sequence[Sequence[str]]]  # block name -> the ids along each of its axes

LONGEST = 255  # characters that the formats allow a name
OBJECTIVE = "objective"  # what the objective's row is called
RESERVED = frozenset(
    f"{OBJECTIVE} rhs rng bnd ranges bounds columns rows name endata marker min minimize minimise minimum max maximize "
    "maximise maximum subject such st s.t. bound general generals gen integer integers int binary binaries bin "
    "semi-continuous semi semis sos sos1 sos2 free inf infinity end".split()
)


@dataclass(frozen=True)
class Dialect:
    """How a format spells ``block[id,id]``: its brackets, and the text of one id, which can be read back."""

    opening: str
    closing: str
    spell: Callable[[str], str]

    def head(self, name: str) -> str:
        """A block's name, its first character escaped where it would read as a number or a keyword."""
        text = self.spell(name)
        if name[:1] in {*"eE.~", *"0123456789"} or name.lower() in RESERVED:
            return f"%{ord(name[0]):02X}" + self.spell(name[1:])
        return text


def _escaped(text: str, kept: str = "") -> str:
    """Percent-encoded but for ASCII letters, digits, ``_ . - ~`` and those kept."""
    return quote(text, safe=kept, errors="surrogatepass")


def _without_minus(text: str) -> str:
    return _escaped(text, "@#").replace("~", "%7E").replace("-", "~")


MPS = Dialect("[", "]", lambda text: _escaped(text, "@#/:+=!"))
LP = Dialect("(", ")", _without_minus)  # brackets and "-" mean something else there


def names_of(blocks: Sequence[Block], ids: Ids, dialect: Dialect) -> list[str]:
    """One name per index, such as ``y[photo-01,ada]``; distinct ids give distinct names.

    What a format refuses in an id (blanks, commas, brackets, anything but ASCII) is percent-encoded, and in LP files
    ``-`` becomes ``~``. A block without ids, or with names beyond LONGEST, is named by positions; one that is a
    single number has no brackets. Raises ValueError if ids do not fit a block's shape, or two indices would share a
    name.
    """
    found: list[str] = []
    for block in blocks:
        found += _block_names(block, ids.get(block.name), dialect)
    check_unique(found)
    return found


def check_unique(names: list[str]) -> None:
    """ValueError unless all names differ."""
    if len(set(names)) < len(names):
        raise ValueError("names must be unique: a block's name, or an id along one axis, is there twice")


def _block_names(block: Block, ids: Sequence[Sequence[str]] | None, dialect: Dialect) -> list[str]:
    head = dialect.head(block.name)
    if ids is None:
        return [head] if block.shape == (1,) else _bracketed(head, _positions(block), dialect)
    if tuple(len(axis) for axis in ids) != block.shape:
        raise ValueError(f"block {block.name} has shape {block.shape}, its ids have {[len(axis) for axis in ids]}")
    axes = [[dialect.spell(one) for one in axis] for axis in ids]
    longest = len(head) + 1 + sum(1 + max(map(len, axis), default=0) for axis in axes)
    return _bracketed(head, axes if longest <= LONGEST else _positions(block), dialect)


def _positions(block: Block) -> list[list[str]]:
    return [[str(k) for k in range(size)] for size in block.shape]


def _bracketed(head: str, axes: list[list[str]], dialect: Dialect) -> list[str]:
    start, end = head + dialect.opening, dialect.closing
    return [f"{start}{','.join(each)}{end}" for each in product(*axes)]


START, STOP = " MARKER 'MARKER' 'INTORG'", " MARKER 'MARKER' 'INTEND'"  # around a run of integer columns


def mps_text(program: Program, ids: Ids) -> str:
    """The program in free MPS, a minimum as everywhere here.

    A row with two sides is an L row with a range, which the format writes as a difference; every other number is
    exact. A row without sides is an N row behind the objective's: readers may drop it. What the program is about is a
    comment in front.
    """
    columns, rows = (names_of(blocks, ids, MPS) for blocks in (program.columns, program.rows))
    lines = [f"* {program.about}"] * bool(program.about)
    lines += [f"NAME {MPS.spell(program.name)}", "ROWS", f" N {OBJECTIVE}"]
    lines += [f" {kind} {name}" for kind, name in zip(_kinds(program), rows, strict=True)]
    lines += ["COLUMNS", *_entries(program, columns, rows)]
    lines += ["RHS", *_sides(program, rows), *_ranges(program, rows)]
    lines += ["BOUNDS", *_bounds(program, columns), "ENDATA"]
    return "\n".join(lines) + "\n"


def numbers(values: Floats) -> list[str]:
    """Each number in the fewest digits that read back as the same float64; values (k,): finite."""
    return [repr(value).removesuffix(".0") for value in (values + 0.0).tolist()]


def _kinds(program: Program) -> list[str]:
    below, above = np.isfinite(program.row_lower), np.isfinite(program.row_upper)
    equal = below & (program.row_lower == program.row_upper)
    kinds: list[str] = np.select([equal, above, below], ["E", "L", "G"], "N").tolist()
    return kinds


def _entries(program: Program, columns: list[str], rows: list[str]) -> Iterator[str]:
    """Column by column: the objective's entry first, then the rows'. A column without any gets a 0 there."""
    place, row, value = _triplets(program)
    texts, named = numbers(value), [*rows, OBJECTIVE]  # row -1 is the objective
    lines = [f" {columns[k]} {named[i]} {v}" for k, i, v in zip(place.tolist(), row.tolist(), texts, strict=True)]
    switches = np.flatnonzero(np.diff(program.integer, prepend=False))
    starts = np.searchsorted(place, switches).tolist()
    for begin, end, whole in zip([0, *starts], [*starts, len(lines)], [False, *program.integer[switches]], strict=True):
        yield from [START, *lines[begin:end], STOP] if whole else lines[begin:end]


def _triplets(program: Program) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    matrix = program.matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    per_column = np.diff(matrix.indptr)
    priced = np.flatnonzero((program.cost != 0) | (per_column == 0))
    place = np.concatenate([priced, np.repeat(np.arange(per_column.size), per_column)])
    row = np.concatenate([np.full(priced.size, -1), matrix.indices])
    order = np.argsort(place, kind="stable")
    return place[order], row[order], np.concatenate([program.cost[priced], matrix.data])[order]


def _sides(program: Program, rows: list[str]) -> list[str]:
    side = np.where(np.isfinite(program.row_upper), program.row_upper, program.row_lower)
    there = np.flatnonzero(np.isfinite(side) & (side != 0))
    return [f" RHS {rows[i]} {v}" for i, v in zip(there.tolist(), numbers(side[there]), strict=True)]


def _ranges(program: Program, rows: list[str]) -> list[str]:
    below, above = program.row_lower, program.row_upper
    there = np.flatnonzero(np.isfinite(below) & np.isfinite(above) & (below != above))
    spans = numbers(above[there] - below[there])
    return ["RANGES"] * bool(there.size) + [f" RNG {rows[i]} {v}" for i, v in zip(there.tolist(), spans, strict=True)]


def _bounds(program: Program, columns: list[str]) -> list[str]:
    """Every bound but 0 and infinity; those of integer columns all, since readers' defaults differ."""
    lower, upper = program.lower, program.upper
    stated = np.flatnonzero((lower != 0) | np.isfinite(upper) | program.integer)
    low, high = numbers(lower[stated]), numbers(upper[stated])
    lines: list[str] = []
    for k, down, up in zip(stated.tolist(), low, high, strict=True):
        lines += [f" {kind} BND {columns[k]}{value}" for kind, value in _bound(down, up)]
    return lines


def _bound(down: str, up: str) -> list[tuple[str, str]]:
    if down == up:
        return [("FX", f" {down}")]
    if down == "-inf" and up == "inf":
        return [("FR", "")]
    below = [("MI", "")] if down == "-inf" else [("LO", f" {down}")]
    above = [("PL", "")] if up == "inf" else [("UP", f" {up}")]
    return above if down == "0" and not up.startswith("-") else below + above


WIDTH = 120  # characters in a line, where a single name leaves room: readers refuse more than 560


def lp_text(program: Program, ids: Ids) -> str:
    """The program in the CPLEX LP format, a minimum as everywhere here; every number is exact.

    Not every reader of this format knows rows with two sides: such a row becomes two, ``capacity.lower(ada)`` and
    ``capacity.upper(ada)``. A row without sides is left out.
    """
    columns = names_of(program.columns, ids, LP)
    lines = [f"\\ {LP.spell(program.name)}", *[f"\\ {program.about}"] * bool(program.about)]
    lines += ["Minimize", *_objective(program, columns)]
    lines += ["Subject To", *_rows(program, columns, ids)]
    lines += ["Bounds", *_lp_bounds(program, columns), *_integers(program, columns), "End"]
    return "\n".join(lines) + "\n"


def _objective(program: Program, columns: list[str]) -> Iterator[str]:
    named = np.flatnonzero((program.cost != 0) | (np.diff(program.matrix.indptr) == 0))
    return _sum(f"{OBJECTIVE}:", numbers(program.cost[named]), [columns[k] for k in named.tolist()])


def _rows(program: Program, columns: list[str], ids: Ids) -> Iterator[str]:
    matrix = program.matrix.tocsr()
    matrix.sum_duplicates()
    ends, index, entries = matrix.indptr.tolist(), matrix.indices.tolist(), numbers(matrix.data)
    sides = list(_lp_sides(program, ids))
    check_unique([name for name, *_ in sides])
    for name, row, side in sides:
        span = slice(ends[row], ends[row + 1])
        names = [columns[k] for k in index[span]]
        yield from _sum(f"{name}:", entries[span] or ["0"], names or columns[:1])
        yield f" {side}"


def _lp_sides(program: Program, ids: Ids) -> Iterator[tuple[str, int, str]]:
    """Name, row and side of each line, block by block; a row with two sides comes twice."""
    below, above = np.isfinite(program.row_lower), np.isfinite(program.row_upper)
    equal = below & (program.row_lower == program.row_upper)
    low, high = numbers(program.row_lower), numbers(program.row_upper)
    plain, lower, upper = (names_of(_suffixed(program.rows, end), _also(ids, end), LP) for end in _ENDS)
    for row in range(below.size):
        if equal[row]:
            yield plain[row], row, f"= {low[row]}"
            continue
        both = below[row] and above[row]
        if below[row]:
            yield (lower if both else plain)[row], row, f">= {low[row]}"
        if above[row]:
            yield (upper if both else plain)[row], row, f"<= {high[row]}"


_ENDS = ("", ".lower", ".upper")


def _suffixed(blocks: Sequence[Block], end: str) -> list[Block]:
    return [replace(block, name=block.name + end) for block in blocks]


def _also(ids: Ids, end: str) -> Ids:
    return {name + end: axes for name, axes in ids.items()}


def _sum(head: str, entries: list[str], names: list[str]) -> Iterator[str]:
    """``head: + 0.64 y(a,b) - z(b) ...``, broken into lines of WIDTH characters or one term."""
    line = f" {head}"
    for entry, name in zip(entries, names, strict=True):
        sign, size = ("-", entry[1:]) if entry.startswith("-") else ("+", entry)
        term = f" {sign} {name}" if size == "1" else f" {sign} {size} {name}"
        if len(line) + len(term) > WIDTH:
            yield line
            line = " "
        line += term
    yield line


def _lp_bounds(program: Program, columns: list[str]) -> list[str]:
    stated = np.flatnonzero((program.lower != 0) | np.isfinite(program.upper))
    low, high = numbers(program.lower[stated]), numbers(program.upper[stated])
    return [_lp_bound(columns[k], down, up) for k, down, up in zip(stated.tolist(), low, high, strict=True)]


def _lp_bound(name: str, down: str, up: str) -> str:
    if down == up:
        return f" {name} = {down}"
    if down == "-inf" and up == "inf":
        return f" {name} free"
    return f" {name} >= {down}" if up == "inf" else f" {down} <= {name} <= {up}"


def _integers(program: Program, columns: list[str]) -> list[str]:
    whole = [f" {columns[k]}" for k in np.flatnonzero(program.integer).tolist()]
    return ["Generals", *whole] if whole else []


FORMATS = {".mps": mps_text, ".lp": lp_text}
DATA = ".dat"  # no program, but data for a model of models/ (crowdopt.io.mathprog)
TASKS, WORKERS = ("tasks",), ("workers",)
AXES = {  # what a block's indices are, whichever program it is part of
    **dict.fromkeys(("y", "t", "value", "link"), TASKS + WORKERS),
    **dict.fromkeys(("cover", "labels", "x", "choose"), TASKS),
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


def read_named(path: str | Path) -> NamedProgram:
    """As :func:`read_program`, with the names of columns and rows."""
    place = Path(path)
    if format_of(place) == ".lp":
        own = "HiGHS: writeModel('x.mps'), PuLP: writeMPS, SCIP: writeProblem('x.mps'), crowdopt: export -o x.mps"
        raise InputError(f"{place}: LP files are not read, for their readers differ; write MPS in place of it ({own})")
    if format_of(place) != ".mps":
        raise InputError(f"{place} must end in .mps or .mps.gz: the ending says the format")
    return read_mps(place)


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
    return read_named(path).program


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


def _axes(block: Block) -> tuple[str, ...]:
    """The axes of ``cover``, and so of ``cover.lower`` (in a dual) and ``missing.cover`` (where it is elastic)."""
    return next((AXES[part] for part in block.name.split(".") if part in AXES), ())

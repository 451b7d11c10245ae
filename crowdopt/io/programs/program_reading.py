"""Programs out of MPS files: ours, with their blocks, and other people's.

Why not HiGHS's own reader (highspy 1.15.1): it changes a program and reports no error. It takes ``1abc`` as 1, leaves
out NaN, a second entry of the same place, an entry of a row that is not there, and what is below 1e-9.
``tests/io/test_program_reading.py`` shows each. A proof about a program that was read otherwise than it stands would be
a proof about another one.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from scipy import sparse

from crowdopt.arrays import Ints, places
from crowdopt.core.program import Program, stack
from crowdopt.errors import InputError, ProgramWarning, tell

CONSTANT = ("constant", "constant_", "constant__")  # what the column of a constant is called
PACKED = ".gz"
INFINITE = 1e30  # from here on a file's number means infinity
NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(E[+-]?\d+)?|INF(INITY)?)", re.ASCII)


@dataclass
class Named:
    """A program as a file states it, by names in the order in which they come."""

    name: str = "program"
    cost: dict[str, float] = field(default_factory=dict)
    box: dict[str, list[float]] = field(default_factory=dict)  # of every column, in order: lower, upper
    integer: set[str] = field(default_factory=set)
    sides: dict[str, list[float]] = field(default_factory=dict)  # of every row, in order: lower, upper
    entries: list[tuple[str, str, float]] = field(default_factory=list)  # row, column, value
    constant: float = 0.0  # of the objective
    maximum: bool = False
    word: str = ""  # by what it is one, where that is no section of the format

    def as_minimum(self, source: str) -> None:
        """The objective as a program here has it: to be made small, its constant the cost of a column that is 1."""
        if self.constant:
            own = f"the right side {-self.constant:g} of the objective is read as the constant {self.constant:g}"
            tell(f"{source}: {own}, as HiGHS and SCIP do; GLPK means {-self.constant:g} by it", ProgramWarning)
        if self.maximum:
            tell(f"{source} is a maximum{self.word}; it is read as the minimum of its negative", ProgramWarning)
            self.cost = {column: -value for column, value in self.cost.items()}
            self.constant = -self.constant
        if self.constant:
            name = next(name for name in CONSTANT if name not in self.box)
            self.box[name], self.cost[name] = [1.0, 1.0], self.constant


class Line:
    """Where something stands in a file, to complain of it."""

    def __init__(self, path: Path, number: int) -> None:
        self.path, self.number = path, number

    def wrong(self, what: str) -> InputError:
        """The complaint: file, line, what is wrong."""
        return InputError(f"{self.path.name}, line {self.number}: {what}")

    def number_of(self, text: str) -> float:
        """A number, infinity included."""
        plain = text.upper().replace("D", "E")  # Fortran writes 1.0D3
        if not NUMBER.fullmatch(plain):
            raise self.wrong(f"{text[:40]!r} is not a number")
        value = float(plain)
        return float(np.copysign(np.inf, value)) if abs(value) >= INFINITE else value


def read_text(path: Path) -> list[str]:
    """The lines of a file, unpacked where its name ends in ``.gz``; InputError where it cannot be read."""
    try:
        with gzip.open(path) if path.suffix.lower() == PACKED else path.open("rb") as file:
            return file.read().decode("utf-8-sig").splitlines()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path.name} cannot be unpacked: {error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def assembled(named: Named) -> Program:
    """The program, its columns and rows in blocks by the heads of their names, ``y[a,b]`` in block ``y``."""
    columns, column_blocks = _blocks(list(named.box))
    rows, row_blocks = _blocks(list(named.sides))
    column_of, row_of = places(columns), places(rows)
    place = [(row_of[row], column_of[column]) for row, column, _ in named.entries]
    index = np.array(place, np.int64).reshape(-1, 2)
    value = np.array([entry for _, _, entry in named.entries], np.float64)
    box = np.array([named.box[name] for name in columns], np.float64).reshape(-1, 2)
    sides = np.array([named.sides[name] for name in rows], np.float64).reshape(-1, 2)
    matrix = sparse.csc_array(sparse.coo_array((value, (index[:, 0], index[:, 1])), shape=(len(rows), len(columns))))
    return Program(
        name=named.name,
        cost=np.array([named.cost.get(name, 0.0) for name in columns], np.float64),
        matrix=matrix,
        row_lower=sides[:, 0].copy(),
        row_upper=sides[:, 1].copy(),
        lower=box[:, 0].copy(),
        upper=box[:, 1].copy(),
        integer=np.array([name in named.integer for name in columns], bool),
        columns=stack(column_blocks),
        rows=stack(row_blocks),
    )


def _blocks(names: Sequence[str]) -> tuple[list[str], list[tuple[str, tuple[int, ...]]]]:
    """Names ordered by blocks, which come in the order of their first names, and the blocks' names and shapes."""
    members: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for name in names:
        head, bracket, rest = name.partition("[")
        if bracket and rest.endswith("]"):
            members.setdefault(unescaped(head), []).append((name, tuple(rest[:-1].split(","))))
        else:
            members.setdefault(unescaped(name), []).append((name, ()))
    ordered, blocks = [], []
    for head, several in members.items():
        shape, order = _table([ids for _, ids in several])
        ordered += [several[k][0] for k in order]
        blocks.append((head, shape))
    return ordered, blocks


def _table(ids: Sequence[tuple[str, ...]]) -> tuple[tuple[int, ...], list[int]]:
    """The shape of a block whose indices have these ids, and their order: a full table's, else a list's."""
    depth, plain = len(ids[0]), list(range(len(ids)))
    if depth < 2 or any(len(one) != depth for one in ids):
        return (len(ids),), plain
    axes = [list(dict.fromkeys(one[axis] for one in ids)) for axis in range(depth)]
    shape = tuple(len(axis) for axis in axes)
    if prod(shape) != len(ids):
        return (len(ids),), plain
    place = [places(axis) for axis in axes]
    index: Ints = np.array([[place[axis][one[axis]] for axis in range(depth)] for one in ids])
    at = np.ravel_multi_index(tuple(index.T), shape)
    return shape, np.argsort(at, kind="stable").tolist()


def unescaped(text: str) -> str:
    """Percent-encoded text as it was."""
    return unquote(text, errors="surrogatepass")

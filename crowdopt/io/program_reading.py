"""Programs out of MPS files: ours, with their blocks, and other people's.

Why not HiGHS's own reader (highspy 1.15.1): it changes a program and reports no error. It takes ``1abc`` as 1, leaves
out NaN, a second entry of the same place, an entry of a row that is not there, and what is below 1e-9.
``tests/io/test_program_reading.py`` shows each. A proof about a program that was read otherwise than it stands would be
a proof about another one.

Programs out of free MPS.
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


@dataclass(frozen=True, eq=False)
class NamedProgram:
    """A program of somebody's, and what they call its columns and rows."""

    program: Program
    columns: list[str]
    rows: list[str]
    maximum: bool = False  # whether theirs is one: values and multipliers have the other sign


def assembled(named: Named) -> NamedProgram:
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
    program = Program(
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
    return NamedProgram(program, columns, rows, named.maximum)


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


INF = float("inf")
SECTIONS = {"ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "OBJSENSE"}
KINDS = {"E": (0.0, 0.0), "L": (-INF, 0.0), "G": (0.0, INF), "N": (-INF, INF)}
WITHOUT = {"FR", "MI", "PL", "BV"}  # bounds that have no number
BOUNDS = WITHOUT | {"UP", "LO", "FX", "UI", "LI"}
SENSE = re.compile(r"\*\s*SENSE\s*:\s*(MAX|MIN)", re.IGNORECASE)  # PuLP's word for the objective's sense, in a comment


def read_mps(path: Path) -> NamedProgram:
    """The program in a file of free MPS (names without blanks).

    A maximum is read as the minimum of its negative, also where only PuLP's comment says that it is one; an integer
    column without bounds as 0 or 1 (as HiGHS reads it). Both are told. Raises InputError if it is no such file, or says
    what readers do not agree on: a second set, an entry or a bound given twice, an upper side below 0 and no lower one.
    """
    reader, number = _Mps(path), 0
    for number, text in enumerate(read_text(path), 1):
        if text.strip():
            reader.take(Line(path, number), text)
            if reader.section == "ENDATA":
                break
    if reader.section != "ENDATA":
        raise Line(path, number).wrong("the file ends before ENDATA")
    reader.check(Line(path, number))
    reader.named.as_minimum(path.name)
    return assembled(reader.named)


class _Mps:
    """What was read so far."""

    def __init__(self, path: Path) -> None:
        self.named, self.section, self.whole = Named(), "", False
        self.kind: dict[str, str] = {}
        self.objective: str | None = None
        self.sense = self.column = ""  # column: the one whose entries are being read
        self.entered: set[str] = set()  # its rows so far
        self.sets: dict[str, str] = {}  # of each section that may have several
        self.spans: dict[str, float] = {}  # of RANGES
        self.given: set[tuple[str, str]] = set()  # section, or kind of bound, and the name that has a number there
        self.above: set[str] = set()  # columns with an upper side below 0 and no word of the lower

    def take(self, line: Line, text: str) -> None:
        if text.startswith("*"):
            said = SENSE.match(text)
            if said is not None:
                self.named.word = f" by its comment {text.strip()[:40]}"
                self._objsense(line, [said[1]])
            return
        if not text[0].isspace():
            self._open(line, text.split())
            return
        words = text.split()
        if not hasattr(self, f"_{self.section.lower()}") or self.section not in SECTIONS:
            raise line.wrong("stands in no section of an MPS file")
        getattr(self, f"_{self.section.lower()}")(line, words)

    def _open(self, line: Line, words: list[str]) -> None:
        self.section = words[0].upper()
        if self.section == "NAME":
            self.named.name = unescaped(words[1]) if len(words) > 1 else "program"
        elif self.section == "OBJSENSE" and len(words) > 1:
            self._objsense(line, words[1:])
        elif self.section not in SECTIONS | {"ENDATA"}:
            raise line.wrong(f"has the section {words[0][:40]}, which a linear program in free MPS does not have")
        elif len(words) > 1:
            raise line.wrong(f"has {words[1][:40]} behind {words[0]}; begin lines that are no section with a blank")

    def _objsense(self, line: Line, words: list[str]) -> None:
        sense = words[0].upper()[:3]
        if sense not in ("MIN", "MAX"):
            raise line.wrong("the objective's sense is MIN or MAX")
        if self.sense not in ("", sense):
            raise line.wrong(
                "the objective is a maximum in one line and a minimum in another; keep the line that is true"
            )
        self.sense, self.named.maximum = sense, sense == "MAX"

    def _rows(self, line: Line, words: list[str]) -> None:
        if len(words) != 2 or words[0].upper() not in KINDS:
            raise line.wrong("a row is a kind (E, L, G or N) and a name without blanks")
        kind, name = words[0].upper(), words[1]
        if name in self.kind:
            raise line.wrong(f"the row {name[:60]} was there before")
        self.kind[name] = kind
        if kind == "N" and self.objective is None:
            self.objective = name
            return
        self.named.sides[name] = list(KINDS[kind])

    def _columns(self, line: Line, words: list[str]) -> None:
        if "'MARKER'" in words:
            if words[-1] not in ("'INTORG'", "'INTEND'"):
                raise line.wrong(f"has the marker {words[-1][:40]}; a program has 'INTORG' and 'INTEND' alone")
            self.whole, self.column = words[-1] == "'INTORG'", ""
            return
        if len(words) not in (3, 5):
            raise line.wrong(
                "an entry is a column, a row and a number, perhaps another row and number; no name has blanks"
            )
        column = words[0]
        if column != self.column and column in self.named.box:
            raise line.wrong(f"the column {column[:60]} was there before; its entries stand together")
        if column != self.column:
            self.column, self.entered = column, set()
            self.named.box[column] = [0.0, INF]
            if self.whole:
                self.named.integer.add(column)
        for row, value in zip(words[1::2], words[2::2], strict=True):
            self._entry(line, column, row, line.number_of(value))

    def _entry(self, line: Line, column: str, row: str, value: float) -> None:
        if row not in self.kind:
            raise line.wrong(f"names the row {row[:60]}, which ROWS does not")
        if np.isinf(value):
            raise line.wrong("a coefficient is infinite")
        if row in self.entered:
            raise line.wrong(
                f"{column[:60]} is in the row {row[:60]} a second time, and readers differ; keep one entry"
            )
        self.entered.add(row)
        if row == self.objective:
            self.named.cost[column] = value
        else:
            self.named.entries.append((row, column, value))

    def _once(self, line: Line, what: str, name: str) -> None:
        if (what, name) in self.given:
            raise line.wrong(f"{what} of {name[:60]} was there before, and readers differ; keep one")
        self.given.add((what, name))

    def _of_one_set(self, line: Line, name: str) -> None:
        if self.sets.setdefault(self.section, name) != name:
            raise line.wrong(f"begins a second set of {self.section}, {name[:40]}; keep the one that is meant")

    def _pairs(self, line: Line, words: list[str]) -> list[tuple[str, float]]:
        # the set's name before the pairs may be left out; an odd number of words has one
        if len(words) % 2:
            self._of_one_set(line, words[0])
            words = words[1:]
        named = [(row, line.number_of(value)) for row, value in zip(words[::2], words[1::2], strict=True)]
        strange = next((row for row, _ in named if row not in self.kind), None)
        if strange is not None or not named:
            raise line.wrong(f"names the row {str(strange)[:60]}, which ROWS does not")
        for row, _ in named:
            self._once(line, self.section, row)
        return named

    def _rhs(self, line: Line, words: list[str]) -> None:
        for row, value in self._pairs(line, words):
            if row == self.objective:
                self.named.constant = -value  # as if it stood on the row's other side
                continue
            sides = self.named.sides[row]
            # an infinite side stays: it is the kind of the row that says which sides there are
            self.named.sides[row] = [value if np.isfinite(side) else side for side in sides]

    def _ranges(self, line: Line, words: list[str]) -> None:
        for row, value in self._pairs(line, words):
            if self.kind[row] == "N":
                raise line.wrong("a row of the kind N has no range")
            self.spans[row] = value

    def _bounds(self, line: Line, words: list[str]) -> None:
        kind, column, value = self._bound_of(line, words)
        box = self.named.box[column]
        self._once(line, kind, column)
        if kind in ("UP", "UI"):
            box[1] = value
            # some readers then take the lower side as -inf, some as 0, some refuse: so do we, unless it is stated
            if value < 0 and box[0] == 0 and not {("LO", column), ("LI", column)} & self.given:
                self.above.add(column)
        elif kind in ("LO", "LI", "MI", "FR"):
            box[0] = value if kind in ("LO", "LI") else -INF
            self.above.discard(column)
            box[1] = INF if kind == "FR" else box[1]
        elif kind == "FX":
            box[:] = [value, value]
        elif kind == "BV":
            box[:] = [0.0, 1.0]
        else:
            box[1] = INF
        if kind in ("UI", "LI", "BV"):
            self.named.integer.add(column)

    def _bound_of(self, line: Line, words: list[str]) -> tuple[str, str, float]:
        kind = words[0].upper()
        if kind in ("SC", "SI"):
            raise line.wrong("a semi-continuous column is no column of a program; state it by a column that is 0 or 1")
        if kind not in BOUNDS:
            raise line.wrong(f"has a bound of the kind {words[0][:10]}, which no column of a program has")
        wanted = 2 if kind in WITHOUT else 3
        # the set's name may be left out here too
        if len(words) > wanted:
            self._of_one_set(line, words[1])
            words = [words[0], *words[2:]]
        if kind in WITHOUT:
            words = words[:2]  # a number behind it says nothing
        if len(words) != wanted:
            raise line.wrong("a bound is a kind, perhaps the name of a set, a column without blanks and its number")
        if words[1] not in self.named.box:
            raise line.wrong(f"names the column {words[1][:60]}, which COLUMNS does not; state its cost there, be it 0")
        return kind, words[1], line.number_of(words[2]) if wanted == 3 else 0.0

    def check(self, line: Line) -> None:
        """Widen rows by their ranges, whichever section came first, and refuse what readers do not agree on."""
        if self.objective is None:
            raise line.wrong("the file has no N row, so no objective")
        for row, value in self.spans.items():
            sides, kind = self.named.sides[row], self.kind[row]
            # the standard's table: L downwards, G upwards, E by the sign of the number
            if kind == "L":
                sides[0] = sides[1] - abs(value)
            elif kind == "G":
                sides[1] = sides[0] + abs(value)
            else:
                sides[1 if value > 0 else 0] += value
        boundless = self.named.integer - {name for what, name in self.given if what in BOUNDS}
        for column in boundless:
            self.named.box[column] = [0.0, 1.0]
        if boundless:
            some = f"{line.path.name}: {len(boundless)} integer column(s) without bounds are read as 0 or 1"
            tell(
                f"{some}, as HiGHS reads them: {min(boundless)[:60]}; state the bounds if others are meant",
                ProgramWarning,
            )
        if self.above:
            column = min(self.above)[:60]
            raise line.wrong(f"the column {column} has an upper side below 0 and no lower one, and readers differ")
        for name, (low, high) in (*self.named.box.items(), *self.named.sides.items()):
            if not (low < INF and high > -INF):
                raise line.wrong(f"{name[:60]} is held to infinity; state sides that are numbers")

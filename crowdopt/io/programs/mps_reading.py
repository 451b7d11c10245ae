"""Programs out of free MPS."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowdopt.core.program import Program
from crowdopt.errors import ProgramWarning, tell
from crowdopt.io.programs.program_reading import Line, Named, assembled, read_text, unescaped

INF = float("inf")
SECTIONS = {"ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "OBJSENSE"}
KINDS = {"E": (0.0, 0.0), "L": (-INF, 0.0), "G": (0.0, INF), "N": (-INF, INF)}
WITHOUT = {"FR", "MI", "PL", "BV"}  # bounds that have no number


def read(path: Path) -> Program:
    """The program in a file of free MPS (names without blanks).

    A maximum is read as the minimum of its negative, an integer column without bounds as 0 or 1 (as HiGHS reads it);
    both are told. Raises InputError if it is no such file, or leaves open what an upper side below 0 means for the
    lower.
    """
    reader = _Mps(path)
    for number, text in enumerate(read_text(path), 1):
        if text.strip() and not text.startswith("*"):
            reader.take(Line(path, number), text)
            if reader.section == "ENDATA":
                break
    if reader.section != "ENDATA":
        raise Line(path, number if text else 0).wrong("the file ends before ENDATA")
    reader.check(Line(path, number))
    reader.named.as_minimum(path.name)
    return assembled(reader.named, ("[", "]"), unescaped)


class _Mps:
    """What was read so far."""

    def __init__(self, path: Path) -> None:
        self.named, self.section, self.whole = Named(), "", False
        self.kind: dict[str, str] = {}
        self.objective: str | None = None
        self.bounded: set[str] = set()
        self.above: set[str] = set()  # columns with an upper side below 0 and no word of the lower

    def take(self, line: Line, text: str) -> None:
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

    def _objsense(self, line: Line, words: list[str]) -> None:
        sense = words[0].upper()[:3]
        if sense not in ("MIN", "MAX"):
            raise line.wrong("the objective's sense is MIN or MAX")
        self.named.maximum = sense == "MAX"

    def _rows(self, line: Line, words: list[str]) -> None:
        if len(words) != 2 or words[0].upper() not in KINDS:
            raise line.wrong("a row is a kind (E, L, G or N) and a name")
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
            self.whole = words[-1] == "'INTORG'"
            return
        if len(words) not in (3, 5):
            raise line.wrong("an entry is a column, a row and a number, perhaps another row and number")
        column = words[0]
        if column not in self.named.box:
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
        if row == self.objective:
            self.named.cost[column] = self.named.cost.get(column, 0.0) + value
        else:
            self.named.entries.append((row, column, value))

    def _pairs(self, line: Line, words: list[str]) -> list[tuple[str, float]]:
        # the set's name before the pairs may be left out; an odd number of words has one
        words = words[1:] if len(words) % 2 else words
        named = [(row, line.number_of(value)) for row, value in zip(words[::2], words[1::2], strict=True)]
        strange = next((row for row, _ in named if row not in self.kind), None)
        if strange is not None or not named:
            raise line.wrong(f"names the row {str(strange)[:60]}, which ROWS does not")
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
            kind, sides = self.kind[row], self.named.sides.get(row)
            if sides is None or kind == "N":
                raise line.wrong("the objective has no range")
            # the standard's table: L downwards, G upwards, E by the sign of the number
            if kind == "L":
                sides[0] = sides[1] - abs(value)
            elif kind == "G":
                sides[1] = sides[0] + abs(value)
            else:
                sides[1 if value > 0 else 0] += value

    def _bounds(self, line: Line, words: list[str]) -> None:
        kind, column, value = self._bound_of(line, words)
        box = self.named.box[column]
        self.bounded.add(column)
        if kind in ("UP", "UI"):
            box[1] = value
            # some readers then take the lower side as -inf, some as 0, some refuse: so do we, unless it is stated
            if value < 0 and box[0] == 0:
                self.above.add(column)
        elif kind in ("LO", "LI", "MI", "FR"):
            box[0] = value if kind in ("LO", "LI") else -INF
            self.above.discard(column)
            box[1] = INF if kind == "FR" else box[1]
        elif kind == "FX":
            box[:] = [value, value]
        elif kind == "BV":
            box[:] = [0.0, 1.0]
            self.named.integer.add(column)
        elif kind == "PL":
            box[1] = INF
        else:
            raise line.wrong(f"has a bound of the kind {words[0][:10]}, which no column of a program has")
        if kind in ("UI", "LI"):
            self.named.integer.add(column)

    def _bound_of(self, line: Line, words: list[str]) -> tuple[str, str, float]:
        kind = words[0].upper()
        wanted = 2 if kind in WITHOUT else 3
        # the set's name may be left out here too
        words = words if len(words) == wanted else [words[0], *words[2:]]
        if kind in WITHOUT:
            words = words[:2]  # a number behind it says nothing
        if len(words) != wanted or words[1] not in self.named.box:
            raise line.wrong("a bound is a kind, perhaps the name of a set, a column of COLUMNS and its number")
        return kind, words[1], line.number_of(words[2]) if wanted == 3 else 0.0

    def check(self, line: Line) -> None:
        """Refuse what readers do not agree on."""
        if self.objective is None:
            raise line.wrong("the file has no N row, so no objective")
        boundless = self.named.integer - self.bounded
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

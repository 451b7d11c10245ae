"""Checks a library of programs: python3 check.py [FILE.mps ...], beside index.csv; Python 3.11 and nothing else.

For each program: FILE.point.csv (column,value) must keep every row up to 1e-6 and every whole column whole, and cost
what index.csv says; FILE.multipliers.csv (row,multiplier) must prove its bound, in fractions: for any multipliers m
no point costs less than  b'm + sum over columns of min (c - A'm) x  over the column's bounds.
"""

import csv
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

INFINITY = float("inf")


class FreeMps:
    """Free MPS: cost and entries by column, sides by row, bounds and whole columns."""

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}
        self.cost: dict[str, Fraction] = {}
        self.entries: dict[str, dict[str, Fraction]] = defaultdict(dict)
        self.sides: dict[str, Fraction] = {}
        self.ranges: dict[str, Fraction] = {}
        self.bounds: dict[str, list[Any]] = {}
        self.whole: set[str] = set()
        self.goal: str | None = None
        self.marked = False

    def row(self, words: list[str]) -> None:
        """A line of ROWS; the first N row is the objective."""
        self.rows[words[1]] = words[0]
        self.goal = words[1] if self.goal is None and words[0] == "N" else self.goal
        self.sides[words[1]] = Fraction(0)

    def column(self, words: list[str]) -> None:
        """A line of COLUMNS: a marker, or a column's numbers."""
        name = words[0]
        if words[1] == "'MARKER'":
            self.marked = words[2] == "'INTORG'"
            return
        self.bounds.setdefault(name, [Fraction(0), INFINITY])
        self.cost.setdefault(name, Fraction(0))
        if self.marked:
            self.whole.add(name)
        for row, value in zip(words[1::2], words[2::2], strict=True):
            if row == self.goal:
                self.cost[name] = Fraction(value)
            else:
                self.entries[row][name] = Fraction(value)

    def side(self, words: list[str], numbers: dict[str, Fraction]) -> None:
        """A line of RHS or RANGES."""
        for row, value in zip(words[1::2], words[2::2], strict=True):
            numbers[row] = Fraction(value)

    def bound(self, words: list[str]) -> None:
        """A line of BOUNDS."""
        low, high = self.bounds[words[2]]
        number = Fraction(words[3]) if len(words) > 3 else Fraction(0)
        low = {"LO": number, "FX": number, "FR": -INFINITY, "MI": -INFINITY}.get(words[0], low)
        high = {"UP": number, "FX": number, "FR": INFINITY, "PL": INFINITY}.get(words[0], high)
        self.bounds[words[2]] = [low, high]

    def limits(self) -> dict[str, tuple[Any, Any]]:
        """Lower and upper side of each row; a range widens an L row downwards and a G row upwards."""
        limits: dict[str, tuple[Any, Any]] = {}
        for row, kind in self.rows.items():
            side, span = self.sides[row], self.ranges.get(row)
            none = kind == "N" or span is None
            low = side if kind in "GE" else -INFINITY if none else side - (span or 0)
            high = side if kind in "LE" else INFINITY if none else side + (span or 0)
            limits[row] = (low, high)
        return limits


def read(path: Path) -> tuple[Any, ...]:
    """Cost, entries, sides, bounds and whole columns of a file; other sections say nothing."""
    program, section = FreeMps(), ""
    lines = {
        "ROWS": program.row,
        "COLUMNS": program.column,
        "RHS": lambda words: program.side(words, program.sides),
        "RANGES": lambda words: program.side(words, program.ranges),
        "BOUNDS": program.bound,
    }
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not words or line.startswith("*"):
            continue
        # section names begin in the first column, entries do not
        if line[0] != " ":
            section = words[0]
        elif section in lines:
            lines[section](words)
    return program.cost, program.entries, program.limits(), program.bounds, program.whole


def table(path: Path) -> dict[str, Fraction]:
    """Two columns, a name and a number that float64 reads exactly."""
    with path.open(encoding="utf-8", newline="") as file:
        return {name: Fraction(float(value)) for name, value in list(csv.reader(file))[1:]}


def require(holds: bool, otherwise: str) -> None:
    """An error that says what does not hold."""
    if not holds:
        raise ValueError(otherwise)


def value_of(program: tuple[Any, ...], point: dict[str, Fraction]) -> Any:
    """What the point costs; an error where it breaks a limit."""
    cost, entries, limits, bounds, whole = program
    for column, (low, high) in bounds.items():
        x: Any = point.get(column, 0)
        require(low - 1e-6 <= x <= high + 1e-6, f"{column} is outside its bounds")
        require(column not in whole or abs(x - round(x)) <= 1e-6, f"{column} is not whole")
    for row, coefficients in entries.items():
        total = sum(a * point[column] for column, a in coefficients.items() if column in point)
        low, high = limits[row]
        slack = 1e-6 * max([1.0, *(float(abs(side)) for side in (low, high) if abs(side) != INFINITY)])
        require(low - slack <= total <= high + slack, f"row {row} is broken")
    return sum(c * point.get(column, 0) for column, c in cost.items())


def bound_of(program: tuple[Any, ...], multipliers: dict[str, Fraction]) -> Any:
    """What no point costs less than, by these multipliers; one that holds an infinite side counts as 0."""
    cost, entries, limits, bounds, _ = program
    reduced: dict[str, Any] = dict(cost)
    bound: Any = Fraction(0)
    for row, m in multipliers.items():
        side = limits[row][0] if m > 0 else limits[row][1]
        if m == 0 or abs(side) == INFINITY:
            continue
        bound += side * m
        for column, a in entries[row].items():
            reduced[column] -= a * m
    for column, c in reduced.items():
        side = bounds[column][0] if c > 0 else bounds[column][1]
        if c != 0:
            bound = bound + c * side if abs(side) != INFINITY else -INFINITY
    return bound


def main() -> int:
    """Every program named, or all of the index; ends with 1 if anything does not hold."""
    folder, wanted, wrong = Path(__file__).parent, set(sys.argv[1:]), 0
    with (folder / "index.csv").open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if not wanted or line["file"] in wanted]
    for line in lines:
        said, program = [], read(folder / line["file"])
        try:
            if line["value"]:
                value = float(value_of(program, table(folder / f"{line['file']}.point.csv")))
                require(abs(value - float(line["value"])) <= 1e-6 * max(1.0, abs(value)), f"the point costs {value}")
                said.append(f"value {value:.10g}")
            if line["bound"]:
                bound = float(bound_of(program, table(folder / f"{line['file']}.multipliers.csv")))
                require(bound >= float(line["bound"]) - 1e-9 * max(1.0, abs(bound)), f"only {bound} is proven")
                said.append(f"bound {bound:.10g}")
            print(f"{line['file']}: {', '.join(said) or 'nothing known'}")
        except (KeyError, OSError, ValueError, OverflowError) as error:
            wrong += 1
            print(f"{line['file']}: WRONG: {error}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

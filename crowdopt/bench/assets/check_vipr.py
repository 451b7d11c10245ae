"""Checks files of the format VIPR 1.0: python3 check_vipr.py FILE ...; Python 3.11 and nothing else.

Everything is done in fractions: the point keeps every constraint and costs what the file says, each derived constraint
follows from its reason, the last one says the bound without any assumption. It ends with 1 if a file shows less.
"""

import sys
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import NamedTuple

SENSE = {"L": -1, "E": 0, "G": 1}


class Wrong(Exception):
    """What does not follow."""


class Sum(NamedTuple):
    """``terms sense side``, and the numbers of the assumptions that it stands on."""

    sense: int
    side: Fraction
    terms: dict[int, Fraction]
    rests_on: frozenset[int] = frozenset()

    @property
    def absurd(self) -> bool:
        """Whether it says that 0 is not 0."""
        return not self.terms and ((self.sense >= 0 and self.side > 0) or (self.sense <= 0 and self.side < 0))

    def implies(self, other: "Sum") -> bool:
        """Whether it says at least as much."""
        if self.absurd or self.terms != other.terms:
            return self.absurd
        if other.sense == 0:
            return self.sense == 0 and self.side == other.side
        return self.sense in (0, other.sense) and (self.side - other.side) * other.sense >= 0


class Reader:
    """The words of a file, one after another."""

    def __init__(self, path: Path) -> None:
        lines = path.open(encoding="utf-8")
        self.words = (word for line in lines if not line.startswith("%") for word in line.split())
        self.goal: dict[int, Fraction] = {}
        self.columns = 0

    def word(self) -> str:
        """The next word."""
        need((found := next(self.words, "")) != "", "the file ends too early")
        return found

    def expect(self, word: str) -> None:
        """The next word, which must be this one."""
        need((found := self.word()) == word, f"{word} expected, not {found}")

    def count(self, below: float = float("inf")) -> int:
        """A whole number from 0 on."""
        word = self.word()
        need(word.isascii() and word.isdigit() and int(word) < below, f"no number in range: {word}")
        return int(word)

    def number(self) -> Fraction:
        """A fraction."""
        return Fraction(self.word())

    def pairs(self, below: int, size: int) -> dict[int, Fraction]:
        """Index and number, so often, no index twice; zeros are left out."""
        found: dict[int, Fraction] = {}
        for _ in range(size):
            index = self.count(below)
            need(index not in found, f"index {index} is there twice")
            found[index] = self.number()
        return {index: value for index, value in found.items() if value}

    def row(self) -> Sum:
        """Name, sense, side and terms."""
        self.word()
        sense = self.word()
        need(sense in SENSE, f"no sense: {sense}")
        side, size = self.number(), self.word()
        need(size == "OBJ" or size.isdigit(), f"no number of terms: {size}")
        return Sum(SENSE[sense], side, self.goal if size == "OBJ" else self.pairs(self.columns, int(size)))


def need(holds: bool, otherwise: str) -> None:
    """An error that says what does not hold."""
    if not holds:
        raise Wrong(otherwise)


def combined(rows: list[Sum], factors: dict[int, Fraction]) -> Sum:
    """The sum of constraints by factors; their senses must agree."""
    senses = {rows[k].sense * (1 if factor > 0 else -1) for k, factor in factors.items()} - {0}
    need(len(senses) <= 1, "factors pull both ways")
    terms: dict[int, Fraction] = {}
    for k, factor in factors.items():
        for column, value in rows[k].terms.items():
            terms[column] = terms.get(column, Fraction(0)) + factor * value
    side = sum((factor * rows[k].side for k, factor in factors.items()), Fraction(0))
    rests_on = frozenset().union(*(rows[k].rests_on for k in factors))
    return Sum(senses.pop() if senses else 0, side, {k: v for k, v in terms.items() if v}, rests_on)


def rounded(row: Sum, whole: set[int]) -> Sum:
    """A constraint over whole columns, its side at the next whole number."""
    need(all(k in whole and value.denominator == 1 for k, value in row.terms.items()), "is not whole, but rounded")
    return row._replace(side=Fraction(ceil(row.side) if row.sense > 0 else floor(row.side) if row.sense else row.side))


def unsplit(rows: list[Sum], said: Sum, four: list[int], whole: set[int]) -> Sum:
    """What follows on both sides of ``terms <= k`` and ``terms >= k + 1``."""
    one, low, two, high = four
    a, b = sorted((rows[low], rows[high]), key=lambda row: row.sense)
    apart = (a.sense, b.sense) == (-1, 1) and a.terms == b.terms and rounded(a, whole).side + 1 == b.side
    need(apart and a.side.denominator == 1, "are no two cases")
    need(rows[low].rests_on == {low} and rows[high].rests_on == {high}, "a case is no assumption")
    need(rows[one].implies(said) and rows[two].implies(said), "does not follow in both cases")
    return said._replace(rests_on=(rows[one].rests_on - {low}) | (rows[two].rests_on - {high}))


def derived(read: Reader, rows: list[Sum], whole: set[int]) -> Sum:
    """The next constraint, with what it rests on."""
    said = read.row()
    read.expect("{")
    reason, here = read.word(), len(rows)
    if reason == "asm":
        said = said._replace(rests_on=frozenset([here]))
    elif reason in ("lin", "rnd"):
        found = combined(rows, read.pairs(here, read.count()))
        found = rounded(found, whole) if reason == "rnd" else found
        need(found.implies(said), "does not follow")
        said = said._replace(rests_on=found.rests_on)
    else:
        need(reason == "uns", f"unknown reason {reason}")
        said = unsplit(rows, said, [read.count(here) for _ in range(4)], whole)
    read.expect("}")
    read.word()  # until when the step is used: of no matter here
    return said


def point_cost(read: Reader, rows: list[Sum], whole: set[int]) -> Fraction:
    """What the next point costs; Wrong if it is none of the program."""
    name, point = read.word(), read.pairs(read.columns, read.count())
    need(all(value.denominator == 1 for k, value in point.items() if k in whole), f"{name} is not whole")
    for number, row in enumerate(rows):
        over = valued(row.terms, point) - row.side
        need(over * row.sense >= 0 if row.sense else over == 0, f"{name} breaks constraint {number}")
    return valued(read.goal, point)


def valued(terms: dict[int, Fraction], point: dict[int, Fraction]) -> Fraction:
    """A sum of terms at a point, whose other columns are 0."""
    return sum((value * point[k] for k, value in terms.items() if k in point), Fraction(0))


def check(path: Path) -> str:
    """What a file shows; Wrong if it does not."""
    read = Reader(path)
    need([read.word() for _ in range(3)] == ["VER", "1.0", "VAR"], "is not of version 1.0")
    read.columns = len([read.word() for _ in range(read.count())])
    read.expect("INT")
    whole = {read.count(read.columns) for _ in range(read.count())}
    need([read.word(), read.word()] == ["OBJ", "min"], "is no minimum")
    read.goal = read.pairs(read.columns, read.count())
    read.expect("CON")
    rows = [read.row() for _ in range((read.count(), read.count())[0])]
    need([read.word(), read.word()] == ["RTP", "range"], "claims no range")
    low, high = read.number(), read.word()
    read.expect("SOL")
    values = [point_cost(read, rows, whole) for _ in range(read.count())]
    need(high == "inf" or (bool(values) and min(values) <= Fraction(high)), "no point costs so little")
    read.expect("DER")
    for number in range(read.count()):
        try:
            rows.append(derived(read, rows, whole))
        except Wrong as error:
            raise Wrong(f"step {number}: {error}") from None
    need(next(read.words, None) is None, "there are words behind the last step")
    need(rows[-1].implies(Sum(1, low, read.goal)) and not rows[-1].rests_on, "the last step does not say the bound")
    return f"every point costs from {low} on" + (f", one {high}" if values and high != "inf" else "")


def main() -> int:
    """Every file named; 1 if one is wrong."""
    wrong = len(sys.argv) < 2
    for name in sys.argv[1:]:
        try:
            print(f"{name}: {check(Path(name))}")
        except (Wrong, OSError, ValueError, ZeroDivisionError) as error:
            wrong = print(f"{name}: WRONG: {error}") is None
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())

"""Program, point, bound and derivation as a file of the format VIPR, version 1.0."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

from crowdopt.files import draft
from crowdopt.proofs.derivation import Derivation, listed
from crowdopt.proofs.exact_program import ExactProgram

Names: TypeAlias = tuple[list[str], list[str]]  # of columns, and of rows

A_LINE = 20  # names, or numbers, on one


class FileClaim(NamedTuple):
    """What a file shows: every point costs at least ``low``, and its own, where there is one, costs ``high``."""

    low: Fraction
    high: Fraction | None
    point: Sequence[Fraction]  # (columns,); empty without one


def write_vipr(path: Path, exact: ExactProgram, names: Names, shown: FileClaim, steps: Derivation, force: bool) -> int:
    """Write the file, whole or not at all; -> its bytes. The last step says that ``low`` bounds the objective."""
    names = _without_comments(names[0]), _without_comments(names[1])
    with draft(path, force) as file:
        for line in _before(exact, names, shown):
            file.write(f"{line}\n".encode())
        file.write(f"DER {steps.count}\n".encode())
        steps.spool.seek(0)
        shutil.copyfileobj(steps.spool, file)
        return file.tell()


def _before(exact: ExactProgram, names: Names, shown: FileClaim) -> Iterator[str]:
    columns, _ = names
    if exact.program.about:
        yield f"% {exact.program.name}, {exact.program.about}"
    yield "VER 1.0"
    yield f"VAR {len(columns)}"
    yield from _lines(columns)
    whole = [str(k) for k, is_whole in enumerate(exact.integer) if is_whole]
    yield f"INT {len(whole)}"
    yield from _lines(whole)
    yield "OBJ min"
    yield listed(enumerate(exact.cost))
    yield f"CON {len(exact.constraints)} {exact.bounds}"
    for name, (sense, side, places, values) in zip(_names_of_sides(exact, names), exact.constraints, strict=True):
        yield f"{name} {sense} {side} {listed(zip(places, values, strict=True))}"
    yield f"RTP range {shown.low} {'inf' if shown.high is None else shown.high}"
    yield f"SOL {int(shown.high is not None)}"
    if shown.high is not None:
        yield f"plan {listed(enumerate(shown.point))}"


def _without_comments(names: Sequence[str]) -> list[str]:
    """The names with ``$`` for ``%``, which begins a comment at the head of a line; none has a ``$`` otherwise."""
    return [name.replace("%", "$") for name in names]


def _lines(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    while some := list(islice(rest, A_LINE)):
        yield " ".join(some)


def _names_of_sides(exact: ExactProgram, names: Names) -> list[str]:
    found = [""] * len(exact.constraints)
    sides = (
        (exact.low, names[0], ">"),
        (exact.high, names[0], "<"),
        (exact.row_high, names[1], "<"),
        (exact.row_low, names[1], ">"),
    )
    for numbers, heads, mark in sides:
        for number, head in zip(numbers, heads, strict=True):
            if number >= 0:
                found[number] = f"{head}{mark}"
    return found

"""Readable names for the columns and rows of a program, within what a file format allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias
from urllib.parse import quote

from crowdopt.core.program import Block

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

"""A derivation: constraints that follow from those of a program, each with its reason, as lines of a VIPR file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from fractions import Fraction

from crowdopt.proofs.unproven import TooLong

MOST = 1_000_000_000  # bytes of a derivation: what is longer helps no reader
GOAL = None  # in place of terms: those of the objective

Terms = Iterable[tuple[int, Fraction | int]]  # numbers of columns, or of constraints, and their factors


class Derivation:
    """Steps, one after another, on disk until they are copied into a file; each gets the next number.

    first: the number of the first step; most: bytes beyond which :class:`TooLong` is raised.
    """

    def __init__(self, first: int, most: int = MOST) -> None:
        self.first = first
        self.count = 0
        self.bytes = 0
        self.most = most
        self.spool = tempfile.TemporaryFile("w+b")  # noqa: SIM115  it is closed by __exit__

    def __enter__(self) -> Derivation:
        return self

    def __exit__(self, *_: object) -> None:
        self.spool.close()

    def assumed(self, sense: str, side: Fraction | int, terms: Terms | None) -> int:
        """A constraint that is assumed (reason asm); -> its number, as of all that follow."""
        return self._step(sense, side, terms, "asm")

    def combined(
        self, sense: str, side: Fraction | int, terms: Terms | None, factors: Terms, whole: bool = False
    ) -> int:
        """A combination of constraints by factors (reason lin), its side rounded where ``whole`` (reason rnd)."""
        return self._step(sense, side, terms, f"{'rnd' if whole else 'lin'} {listed(factors)}")

    def either(
        self, sense: str, side: Fraction | int, terms: Terms | None, below: tuple[int, int], above: tuple[int, int]
    ) -> int:
        """What follows from each of two assumptions, one of which every whole point keeps (reason uns).

        below, above: the number of the constraint that follows, and that of the assumption.
        """
        return self._step(sense, side, terms, "uns {} {} {} {}".format(*below, *above))

    def _step(self, sense: str, side: Fraction | int, terms: Terms | None, reason: str) -> int:
        said = "OBJ" if terms is GOAL else listed(terms)
        line = f"d{self.count} {sense} {side} {said} {{ {reason} }} -1\n".encode()
        self.bytes += len(line)
        if self.bytes > self.most:
            raise TooLong(f"the derivation would take more than {self.most:,} bytes, and no file is written")
        self.spool.write(line)
        self.count += 1
        return self.first + self.count - 1


def listed(terms: Terms) -> str:
    """How many terms, then number and factor of each; those of factor 0 are left out."""
    pairs = [f"{number} {factor}" for number, factor in terms if factor]
    return " ".join([str(len(pairs)), *pairs])

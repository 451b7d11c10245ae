"""How quiet the machine is: a fixed computation, timed between subjects."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from statistics import median
from time import perf_counter

DISTURBED = 1.25  # times the quickest reference; a row beside a slower one is measured again
ROUNDS, BLOCK = 24, bytes(1 << 20)  # about a twentieth of a second
LISTS = 40_000


def reference() -> float:
    """Seconds of wall clock for a fixed piece of work, of native code and of the interpreter."""
    began = perf_counter()
    digest = sha256()
    for _ in range(ROUNDS):
        digest.update(BLOCK)
    sum(sorted(k * 7919 % 10007 for k in range(LISTS)))
    return perf_counter() - began


def slowdowns(references: Sequence[float | None]) -> list[float | None]:
    """Each reference as a multiple of the quickest; None where there is none; references: seconds, one for each row."""
    known = [seconds for seconds in references if seconds is not None]
    return [None if seconds is None else seconds / min(known) for seconds in references]


def sentence(references: Sequence[float | None]) -> str:
    """What the references, in seconds, one for each row, say of the machine; nothing where there are none."""
    known = sorted(ratio for ratio in slowdowns(references) if ratio is not None)
    if not known:
        return ""
    disturbed = sum(ratio > DISTURBED for ratio in known)
    said = (
        f"A fixed computation between the subjects took {median(known):.2f} times its quickest (median; at most "
        f"{known[-1]:.2f}): that is how quiet the machine was"
    )
    return (
        f"{said}; {disturbed} of {len(known)} rows stand beside one beyond {DISTURBED:g}." if disturbed else f"{said}."
    )

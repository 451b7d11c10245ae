"""What is said of a file of proof."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from crowdopt.api.proof_files import ProofFile

HOW = {
    "rows": "by multipliers of the program's rows",
    "sets": "by the least set of labels of each task",
    "cases": "by cases of whole columns",
}


def proof_said(file: ProofFile) -> str:
    """One sentence: what the file shows, how, its size, and how long it took."""
    point = "without a point" if file.high is None else f"and a point that costs {_short(file.high)}"
    return (
        f"wrote {file.path}: in fractions no point costs less than {_short(file.low)}, {HOW[file.how]}, {point}; "
        f"{file.steps} steps, {file.bytes:,} bytes, {file.seconds:.2f} s"
    )


def proof_facts(file: ProofFile) -> dict[str, Any]:
    """The same for a program to read; values as fractions."""
    return {
        "file": str(file.path),
        "low": str(file.low),
        "high": None if file.high is None else str(file.high),
        "by": file.how,
        "steps": file.steps,
        "bytes": file.bytes,
        "seconds": file.seconds,
    }


def _short(value: Fraction) -> str:
    return format(float(value), ".10g")

"""Optima that are proven: what programs are held against."""

from __future__ import annotations

from crowdopt import certify, solve_program
from crowdopt.core.program import Program


def optimum(program: Program) -> float:
    """The certified optimum of a linear program."""
    certificate = certify(solve_program(program))
    assert certificate.proves_optimal(1e-8)
    return certificate.value

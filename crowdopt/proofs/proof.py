"""A proof of a program's bound by derivations, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.program import Program
from crowdopt.notebooks import InNotebooks
from crowdopt.proofs.assignment_proof import Multipliers, bound_by_sets, can_be_sets, prove_by_rows, write_sets
from crowdopt.proofs.case_proof import Solve, prove_by_cases
from crowdopt.proofs.derivation import Derivation
from crowdopt.proofs.exact_program import NONE, ExactProgram, fractions
from crowdopt.proofs.unproven import Unproven
from crowdopt.proofs.vipr_file import FileClaim, write_vipr
from crowdopt.proofs.whole_values import raised, value_step, write_bound

# relative; how far a bound may stay below what is claimed where no value step rounds it up
BOUND_BELOW_CLAIM = Fraction(1, 10**9)
Found: TypeAlias = Fraction | None  # the bound that a derivation reaches
SMALL = 20_000  # columns up to which a program is worth a search of cases


@dataclass(frozen=True)
class ProofFile(InNotebooks):
    """What was written."""

    path: Path
    low: Fraction  # that every point costs at least
    high: Fraction | None  # what the point in the file costs
    how: str  # rows, sets or cases
    steps: int
    bytes: int
    seconds: float  # that it took


@dataclass(frozen=True, eq=False)
class Claim:
    """A bound of a program with what may show it, and a point with its value."""

    program: Program
    bound: float
    multipliers: Multipliers
    point: Floats | None


def write_proof(
    claim: Claim, names: tuple[list[str], list[str]], path: Path, solve: Solve | None, force: bool
) -> ProofFile:
    """Write the first derivation that reaches the bound; raises :class:`Unproven` where none does.

    names: of columns and rows; solve: linear programs, for a search of cases of small programs; None: no search.
    """
    started = perf_counter()
    exact = ExactProgram(claim.program)
    point = [] if claim.point is None else _whole(exact, claim.point)
    if exact.broken(point) != NONE:  # by what float64 does not show, as shares of labels do
        point = []
    step = value_step(exact)
    claimed = Fraction(claim.bound)
    near = claimed - BOUND_BELOW_CLAIM * max(Fraction(1), abs(claimed))
    aim = near if step is None else round(claimed / step) * step
    for how, attempt in _ATTEMPTS:
        with Derivation(len(exact.constraints)) as steps:
            low = attempt(steps, exact, claim, aim, solve)
            if low is None or low < aim:
                continue
            shown = FileClaim(low, exact.value(point) if point else None, point)
            size = write_vipr(path, exact, names, shown, steps, force)
            return ProofFile(path, low, shown.high, how, steps.count, size, perf_counter() - started)
    raise Unproven(
        f"no derivation from the multipliers reaches the bound {claim.bound:.10g}; it stays the word of what "
        "searched for it, and no file is written"
    )


def _whole(exact: ExactProgram, point: Floats) -> list[Fraction]:
    return fractions(np.where(exact.program.integer, np.rint(point), point))


def _by_rows(steps: Derivation, exact: ExactProgram, claim: Claim, aim: Fraction, _: Solve | None) -> Found:
    found = prove_by_rows(steps, exact, claim.multipliers, aim)
    step = value_step(exact)
    return None if raised(found.side, step) < aim else write_bound(steps, exact, found, step)


def _by_sets(steps: Derivation, exact: ExactProgram, claim: Claim, aim: Fraction, _: Solve | None) -> Found:
    if not can_be_sets(exact):
        return None
    bounds = bound_by_sets(exact, claim.multipliers, aim)
    step = value_step(exact)
    if bounds is None or raised(bounds.total, step) < aim:
        return None
    return write_bound(steps, exact, write_sets(steps, exact, bounds, aim), step)


def _by_cases(steps: Derivation, exact: ExactProgram, _: Claim, aim: Fraction, solve: Solve | None) -> Found:
    if solve is None or exact.program.cost.size > SMALL:
        return None
    return prove_by_cases(steps, exact, solve, aim)


Attempt: TypeAlias = Callable[[Derivation, ExactProgram, Claim, Fraction, Solve | None], Found]
_ATTEMPTS: Sequence[tuple[str, Attempt]] = (("rows", _by_rows), ("sets", _by_sets), ("cases", _by_cases))

"""A bound of the objective, raised to the next value that whole labels can cost."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, gcd, lcm

from crowdopt.proofs.derivation import GOAL, Derivation
from crowdopt.proofs.exact_program import ExactProgram
from crowdopt.proofs.linear_proof import Completed


def value_step(exact: ExactProgram) -> Fraction | None:
    """Of what the cost of every whole point is a multiple; None where it is of nothing."""
    prices = {cost for cost, whole in zip(exact.cost, exact.integer, strict=True) if cost or not whole}
    if not prices or any(cost and not whole for cost, whole in zip(exact.cost, exact.integer, strict=True)):
        return None
    below = lcm(*[price.denominator for price in prices])
    above = gcd(*[int(price * below) for price in prices])
    return Fraction(above, below) if above else None


def raised(side: Fraction, step: Fraction | None) -> Fraction:
    """The next multiple of the step."""
    return side if step is None else ceil(side / step) * step


def write_bound(steps: Derivation, exact: ExactProgram, proof: Completed, step: Fraction | None) -> Fraction:
    """The objective's bound, the last step; -> its side."""
    side = raised(proof.side, step)
    if side == proof.side:
        steps.combined("G", side, GOAL, proof.factors)
    elif step == 1:
        steps.combined("G", side, GOAL, proof.factors, whole=True)
    else:
        assert step is not None
        scaled = [(k, cost / step) for k, cost in enumerate(exact.cost)]
        factors = [(number, factor / step) for number, factor in proof.factors]
        whole = steps.combined("G", side / step, scaled, factors, whole=True)
        steps.combined("G", side, GOAL, [(whole, step)])
    return side

"""Whom to hire, by the explicit program: for what ranking cannot do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.core.certificate import Certificate, certify
from crowdopt.core.program import Program, relax
from crowdopt.core.solution import PROVEN, Options, Solution, Solve, Status, relative_gap
from crowdopt.crowd.hiring import gains
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.hire import ranking
from crowdopt.hire.frontier import cost_frontier
from crowdopt.hire.selected import Selection
from crowdopt.programs import selection

TABLE = "dynamic-programming"
MONEY = 1e-9  # relative to the limit; what rounding may add to a sum of prices


def solve_program(
    instance: SelectionInstance, solve: Solve, backend: str, options: Options, relaxation: str | None
) -> Selection:
    """Hire by ``programs/selection``; the set is read off, checked against every limit and scored anew.

    The bound is the best of three: the ranking's proof where the instance is problem (11) as printed; the certificate
    of the LP relaxation, which is tight unless money is limited; what the search claims.

    relaxation: the backend that solves the relaxation for its multipliers.
    """
    program = selection.build(instance)
    solution = solve(program, backend, options)
    certificate = certify(solution)
    proof = ranking.prove(instance) if instance.is_plain else None
    if proof is not None:
        certificate = replace(certificate, bound=-proof.bound, proof="certificate")
    elif relaxation is not None and certificate.proof != "certificate":
        certificate = _certified(certificate, certify(solve(relax(program), relaxation, options)))
    members = _members(instance, program, solution)
    if members is None:
        status = Status.INFEASIBLE if certificate.bound == np.inf else Status.UNDECIDED
        certificate = replace(certificate, value=None, violation=None, fraction=None)
        return Selection(instance, status, None, certificate, proof, "program", backend, options.seed)
    value, ranked = _scored(instance, members)
    certificate = replace(certificate, value=value, violation=0.0, fraction=0.0)
    status = Status.OPTIMAL if abs(certificate.gap) <= PROVEN else Status.FEASIBLE
    return Selection(instance, status, ranked, certificate, proof, "program", backend, options.seed)


def solve_table(instance: SelectionInstance) -> Selection:
    """Hire by dynamic programming over amounts of money: exact for prices on a common grid, much faster than a search.

    The last point of the frontier against cost; only the table vouches for its bound.
    """
    found = cost_frontier(instance)
    if found.size.size == 0:
        nothing = Certificate(None, np.inf, "solver", None, None)
        return Selection(instance, Status.INFEASIBLE, None, nothing, None, TABLE, TABLE)
    value, ranked = _scored(instance, found.set_of(-1, instance))
    return Selection(
        instance, Status.OPTIMAL, ranked, Certificate(value, value, "solver", 0.0, 0.0), None, TABLE, TABLE
    )


def _scored(instance: SelectionInstance, members: Ints) -> tuple[float, Ints]:
    """Minus the score of a set, and its members by gain, the greatest first."""
    return -gains.score(instance.gain[members]), members[np.argsort(instance.gain_levels.of[members], kind="stable")]


def _certified(claimed: Certificate, linear: Certificate) -> Certificate:
    """The search's certificate with the relaxation's bound, unless the search claims one that says more."""
    if linear.proof != "certificate":
        return claimed
    if claimed.proof == "solver" and relative_gap(claimed.bound, linear.bound) > PROVEN:
        return claimed
    return replace(claimed, bound=linear.bound, proof="certificate")


def _members(instance: SelectionInstance, program: Program, solution: Solution) -> Ints | None:
    if solution.primal is None:
        return None
    members = selection.chosen(program, solution.primal)
    return members if keeps_limits(instance, members) else None


def keeps_limits(instance: SelectionInstance, members: Ints) -> bool:
    """Whether a set (k,) has an allowed size, the required, no barred one, what groups may have, and can be paid."""
    if not 1 <= members.size <= instance.sizes or not np.isin(instance.required, members).all():
        return False
    if np.isin(members, instance.barred).any():
        return False
    if instance.price is not None and instance.money is not None:
        paid = float(instance.price[members].sum())
        if paid > instance.money + MONEY * max(1.0, instance.money):
            return False
    if instance.group is None:
        return True
    there = np.bincount(instance.group[members], minlength=instance.n_groups)
    return bool((there >= instance.fewest).all() and (there <= instance.most_each).all())

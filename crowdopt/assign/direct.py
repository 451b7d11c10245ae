"""The full program through one backend, its answer made strict and certified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.plan import Duals, Plan
from crowdopt.core.certificate import BOUND, INTEGRALITY, Certificate, certify, round_up
from crowdopt.core.clock import ENOUGH, Clock
from crowdopt.core.program import Program, relax
from crowdopt.core.solution import Listener, Options, Solution, Solve
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.vote_errors import breaches
from crowdopt.programs import assignment

ROUNDS = 4  # re-solves with the missed rows tightened, before a plan is topped up by hand
LEAST = 1e-12  # a share of a label below this is solver noise
HAIR = 5e-13  # evidence; rounding in the sum of a task's labels


class Proof(NamedTuple):
    """What is proven: the best bound, what multipliers prove by themselves, and the multipliers."""

    known: Certificate
    certified: float
    duals: Duals | None


class Asked(NamedTuple):
    """A program, and who searches it."""

    instance: AssignmentInstance
    program: Program
    solve: Solve
    backend: str
    clock: Clock
    options: Options
    listener: Listener | None


def solve_full(
    instance: AssignmentInstance,
    kind: str,
    solve: Solve,
    backend: str,
    options: Options,
    listener: Listener | None = None,
    lp_backend: str | None = None,
    head: Plan | None = None,
) -> Plan:
    """Build the whole program, solve it, and keep only what can be recomputed.

    The LP comes first: its multipliers are the certified bound, its ray proves infeasibility, and where its point is
    already integer there is nothing left to search. The search over integers gets the rest of the time; its bound is
    the solver's word.

    kind: ``ip`` or ``lp``; backend: who searches over integers, and solves the LP unless another is named; lp_backend:
    who solves the LP, where ``backend`` cannot give multipliers; head: what another method knows already: its bound
    and multipliers save the LP, its plan starts the search, and the better of both plans and of both bounds comes
    back.
    """
    program = assignment.of_sums(instance)
    clock = Clock(options.time_limit)
    asked = Asked(instance, program, solve, backend, clock, options, listener)
    if head is not None:
        return _resumed(head, asked)
    time = _within(options, clock.left if kind == "lp" else clock.left / 2)
    relaxed, point = strict(relax(program), clipped, solve, lp_backend or backend, time, None)
    known, interrupted = certify(relaxed), relaxed.interrupted
    if kind == "ip":
        known = replace(known, bound=round_up(program, known.bound))
    certified = known.bound if known.proof == "certificate" else -np.inf
    duals = None if relaxed.dual is None else Duals.of_rows(program, relaxed.dual)
    if kind == "ip" and (point is None or not _is_plan(instance, point)):
        point = None
        if known.bound < np.inf and not interrupted:
            searched, point = _search(asked)
            known, interrupted = _better(known, certify(searched)), searched.interrupted
    return _plan(asked, kind, Proof(known, certified, duals), point, backend, interrupted)


def _resumed(head: Plan, asked: Asked) -> Plan:
    """Search on from another method's plan and bound."""
    start = None
    if head.pairs is not None:
        start = np.zeros(head.instance.n_tasks * head.instance.n_workers)
        start[head.instance.pair_keys(head.pairs)] = 1.0
        asked = asked._replace(options=replace(asked.options, start=start))
    searched, point = _search(asked)
    known = _better(head.certificate, certify(searched))
    if start is not None and (point is None or asked.program.cost @ point >= asked.program.cost @ start):
        point = start
    proof = Proof(known, head.certified_bound, head.duals)
    return _plan(asked, "ip", proof, point, head.method, searched.interrupted)


def _better(linear: Certificate, searched: Certificate) -> Certificate:
    """The higher of two bounds; at a tie the one that anybody can check."""
    return searched if searched.bound > linear.bound + BOUND * max(1.0, abs(linear.bound)) else linear


def _search(asked: Asked) -> tuple[Solution, Floats | None]:
    """Branch and bound; a point that stays short of a need by the solver's tolerance is topped up."""
    options = _within(asked.options, asked.clock.left)
    first, point = strict(asked.program, _rounded, asked.solve, asked.backend, options, asked.listener)
    if point is None and first.primal is not None:
        point = _rounded(asked.program, first.primal)
    return first, _topped_up(asked.instance, asked.program, point)


def strict(
    program: Program,
    clean: Callable[[Program, Floats], Floats | None],
    solve: Solve,
    backend: str,
    options: Options,
    listener: Listener | None,
) -> tuple[Solution, Floats | None]:
    """Solve, and re-solve with missed rows tightened, until a cleaned point keeps every row as a plan must.

    The cover rows are loose by COVERAGE already: whole labels must keep them exactly, shares up to rounding.

    program: with a block of rows ``cover``; clean: ``clean(program, point)``: the point that is meant, or None; ->
    Solution, and (columns,) float or None: the first solution, whose bound and multipliers belong to the program as
    given, and the point.
    """
    clock = Clock(options.time_limit)
    first = solution = solve(program, backend, options, listener)
    short, long = np.zeros_like(program.row_lower), np.zeros_like(program.row_upper)
    cover, accepted = program.row("cover").span, COVERAGE * _scale(program)
    accepted[cover] = np.where(program.row_lower[cover] > 0, -HAIR if program.integer.any() else HAIR, COVERAGE)
    for attempt in range(ROUNDS + 1):
        point = None if solution.primal is None else clean(program, solution.primal)
        if point is None:
            return first, None
        activity = program.matrix @ point
        lack = np.maximum(0.0, program.row_lower - activity - accepted)
        excess = np.maximum(0.0, activity - program.row_upper - COVERAGE * _scale(program))
        if max(lack.max(initial=0.0), excess.max(initial=0.0)) <= 0:
            return first, point
        if clock.over or attempt == ROUNDS or solution.interrupted:
            return first, None
        short = short + np.where(lack > 0, 2 * lack + COVERAGE / 2, 0)
        long = long + np.where(excess > 0, 2 * excess + COVERAGE / 2, 0)
        tightened = replace(program, row_lower=program.row_lower + short, row_upper=program.row_upper - long)
        solution = solve(tightened, backend, _within(options, clock.left), listener)
    raise AssertionError("unreachable")


def _scale(program: Program) -> Floats:
    """What a row is measured by: 1, but for own rows their largest number, as their breaches are."""
    scale = np.ones_like(program.row_lower)
    own = next((block for block in program.rows if block.name == "own"), None)
    if own is not None:
        sizes = np.abs(program.matrix.tocsr()[own.span]).max(axis=1).toarray().reshape(-1)
        for side in (program.row_lower[own.span], program.row_upper[own.span]):
            sizes = np.maximum(sizes, np.where(np.isfinite(side), np.abs(side), 0.0))
        scale[own.span] = np.maximum(1.0, sizes)
    return scale


def clipped(program: Program, point: Floats) -> Floats | None:
    """The point inside its box; None if it is not one.

    point (columns,): as a solver returns it; -> (columns,) float or None.
    """
    if not np.isfinite(point).all():
        return None
    inside = np.clip(point, program.lower, program.upper)
    return np.where(inside < LEAST, 0.0, inside)


def _rounded(program: Program, point: Floats) -> Floats | None:
    """The whole point next to it, inside its box; None where there is none near."""
    if not np.isfinite(point).all():
        return None
    whole = np.rint(point)
    if np.abs(point - whole).max(initial=0.0) > INTEGRALITY:
        return None
    return np.clip(whole, program.lower, program.upper)


def _is_plan(instance: AssignmentInstance, point: Floats) -> bool:
    """Whether the LP's own point is made of whole labels and keeps every limit."""
    if np.abs(point - np.rint(point)).max(initial=0.0) > LEAST:
        return False
    return not breaches(instance, _pairs(point.reshape(instance.n_tasks, instance.n_workers)))


def _topped_up(instance: AssignmentInstance, program: Program, point: Floats | None) -> Floats | None:
    """Give each short task the cheapest free label that closes its lack; None where that is not possible."""
    if point is None:
        return None
    chosen = point.reshape(instance.n_tasks, instance.n_workers).copy()
    free = program.upper.reshape(chosen.shape) > chosen
    room = instance.capacity - chosen.sum(axis=0)
    for task in np.flatnonzero(instance.residual_need - instance.supply(_pairs(chosen)) > COVERAGE):
        kind = instance.task_type[task]
        lack = instance.residual_need[task] - instance.evidence[kind] @ chosen[task]
        helps = free[task] & (room >= 1) & (instance.evidence[kind] >= lack - COVERAGE)
        if not helps.any():
            return None
        worker = np.flatnonzero(helps)[instance.cost[kind][helps].argmin()]
        chosen[task, worker] = 1.0
        room[worker] -= 1
    return None if breaches(instance, _pairs(chosen)) else chosen.reshape(-1)


def _plan(asked: Asked, kind: str, proof: Proof, point: Floats | None, method: str, interrupted: bool) -> Plan:
    instance = asked.instance
    pairs = amounts = None
    if point is not None:
        table = point.reshape(instance.n_tasks, instance.n_workers)
        pairs = _pairs(table)
        amounts = table[tuple(pairs.T)] if kind == "lp" else None
    made = {"method": method, "backend": asked.backend, "seed": asked.options.seed, "interrupted": interrupted}
    return Plan.of(instance, kind, proof.known, proof.certified, proof.duals, pairs, amounts, **made)


def _pairs(table: Floats) -> Ints:
    return np.argwhere(table > 0)


def _within(options: Options, seconds: float) -> Options:
    return replace(options, time_limit=max(ENOUGH, seconds))

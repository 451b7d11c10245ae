"""Whom to hire where ranking cannot tell: the selection program, and a table over amounts of money."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.certificate import Certificate, certify
from crowdopt.core.program import Program, relax, stack
from crowdopt.core.solution import PROVEN, Options, Solve, Status, relative_gap
from crowdopt.errors import InputError
from crowdopt.hire.candidates import SelectionInstance, score
from crowdopt.hire.ranking import Frontier, Selection, by_gain, prove, records

TABLE = "dynamic-programming"
MONEY = 1e-9  # relative to the limit; what rounding may add to a sum of prices
LARGEST = 2 * 10**9  # bytes of decisions that are kept to read the sets off

Decisions: TypeAlias = list[tuple[int, NDArray[np.uint8]]]  # each worker and what each cell of the table does with them


def build(instance: SelectionInstance) -> Program:
    """``min - sum_ki G_i/sqrt(k) w_ki  s.t.  w_ki <= u_k,  sum_i w_ki = k u_k,  sum_k u_k = 1,  w >= 0,  u in {0, 1}``.

    Problem (11) of Li & Liu 2015 as a linear program but for u, whose relaxation has the same optimum: each size's w
    are the bases of a matroid. Beyond the paper, each only where the instance asks for it: a required worker is in
    (``w_ki = u_k`` in the row ``member``), a barred one out (``w_ki <= 0``); rows ``group``,
    ``sum_{i in g} w_ki >= r_g u_k``; rows ``family``, ``sum_{i in g} w_ki <= s_g u_k``; rows ``money``,
    ``sum_i c_i w_ki <= B u_k``, with ``hired_i = sum_k w_ki`` in {0, 1} by rows ``whole``, since money makes fractions
    worth while.

    Columns: ``u`` (sizes,), ``w`` (sizes, workers) [, ``hired`` (workers,)]. Rows: ``member`` (sizes, workers),
    ``count`` (sizes,), ``one`` (1,) [, ``group`` (sizes, groups)] [, ``family`` (sizes, groups)] [, ``money`` (sizes,),
    ``whole`` (workers,)].
    """
    sizes, m, price = instance.sizes, instance.n_workers, instance.price
    k, each, worker = np.arange(1.0, sizes + 1), sparse.eye_array(sizes), sparse.eye_array(m)
    required = np.isin(np.arange(m), instance.required)
    member = sparse.kron(each, np.full((m, 1), -1.0)), sparse.eye_array(sizes * m)
    # name, shape, coefficients of u and of w, least, most
    rows: list[tuple[str, tuple[int, ...], Any, Any, Any, float]] = [
        ("member", (sizes, m), *member, np.where(required, 0.0, -np.inf), 0.0),
        ("count", (sizes,), sparse.diags_array(-k), sparse.kron(each, np.ones((1, m))), 0.0, 0.0),
        ("one", (1,), np.ones((1, sizes)), sparse.csr_array((1, sizes * m)), 1.0, 1.0),
    ]
    shape, inside = (sizes, instance.n_groups), np.asarray(instance.group) == np.arange(instance.n_groups)[:, None]
    for name, number, used, low, high in (
        ("group", instance.fewest, instance.fewest.any(), 0.0, np.inf),
        ("family", instance.most_each, instance.limits_groups, -np.inf, 0.0),
    ):
        if used:
            on_u = sparse.kron(each, -number[:, None].astype(np.float64))
            rows.append((name, shape, on_u, sparse.kron(each, inside.astype(np.float64)), low, high))
    hired = m if instance.money is not None and price is not None else 0
    if instance.money is not None and price is not None:
        rows.append(("money", (sizes,), -instance.money * each, sparse.kron(each, price[None]), -np.inf, 0.0))
        rows.append(("whole", (m,), sparse.csr_array((m, sizes)), sparse.kron(np.ones((1, sizes)), worker), 0.0, 0.0))
    matrix = sparse.hstack([sparse.vstack([row[side] for row in rows]) for side in (2, 3)])
    if hired:
        above = sparse.csr_array((matrix.shape[0] - m, m))
        matrix = sparse.hstack([matrix, sparse.vstack([above, -worker])])
    matrix = sparse.csc_array(matrix)
    matrix.eliminate_zeros()
    upper = np.ones((sizes, m))
    upper[:, instance.barred] = 0.0
    return Program(
        name="selection",
        cost=np.concatenate([np.zeros(sizes), -(instance.gain / np.sqrt(k)[:, None]).reshape(-1), np.zeros(hired)]),
        matrix=matrix,
        row_lower=np.concatenate([np.broadcast_to(row[4], row[1]).reshape(-1) for row in rows]),
        row_upper=np.concatenate([np.full(np.prod(row[1]), row[5]) for row in rows]),
        lower=np.zeros(sizes + sizes * m + hired),
        upper=np.concatenate([np.ones(sizes), upper.reshape(-1), np.ones(hired)]),
        integer=np.repeat([True, False, True], [sizes, sizes * m, hired]),
        columns=stack([("u", (sizes,)), ("w", (sizes, m)), *[("hired", (m,))] * bool(hired)]),
        rows=stack([row[:2] for row in rows]),
    )


def chosen(program: Program, point: Floats) -> Ints:
    """The workers of a point, (columns,): of its largest ``u_k`` the k largest ``w_ki``, ascending."""
    u, w = program.column("u").view(point), program.column("w").view(point)
    size = int(np.argmax(u)) + 1
    return np.sort(np.argsort(-w[size - 1], kind="stable")[:size])


def keeps_limits(instance: SelectionInstance, members: Ints) -> bool:
    """Whether a set (k,) has an allowed size, the required, no barred one, what groups may have, and can be paid."""
    money = np.inf if instance.money is None else instance.money
    spent = 0.0 if instance.price is None else float(instance.price[members].sum())
    there = np.zeros(0) if instance.group is None else np.bincount(instance.group[members], minlength=instance.n_groups)
    in_groups = (there >= instance.fewest).all() and (there <= instance.most_each).all()
    named = np.isin(instance.required, members).all() and not np.isin(instance.barred, members).any()
    return bool(
        1 <= members.size <= instance.sizes and named and in_groups and spent <= money + MONEY * max(1.0, money)
    )


def solve_program(
    instance: SelectionInstance, solve: Solve, backend: str, options: Options, relaxation: str | None
) -> Selection:
    """Hire by the program; the set is read off, checked against every limit and scored anew.

    The bound is the best of three: the ranking's proof where the instance is problem (11) as printed; the certificate
    of the LP relaxation, which is tight unless money is limited; what the search claims.

    relaxation: the backend that solves the relaxation for its multipliers.
    """
    program = build(instance)
    solution = solve(program, backend, options)
    certificate = certify(solution)
    proof = prove(instance) if instance.is_plain else None
    if proof is not None:
        certificate = replace(certificate, bound=-proof.bound, proof="certificate")
    elif relaxation is not None and certificate.proof != "certificate":
        linear = certify(solve(relax(program), relaxation, options))
        # unless the search claims a bound that says more
        claims_more = certificate.proof == "solver" and relative_gap(certificate.bound, linear.bound) > PROVEN
        if linear.proof == "certificate" and not claims_more:
            certificate = replace(certificate, bound=linear.bound, proof="certificate")
    members = None if solution.primal is None else chosen(program, solution.primal)
    if members is not None and not keeps_limits(instance, members):
        members = None
    return _scored(Selection(instance, Status.UNDECIDED, members, certificate, proof, "program", backend, options.seed))


def solve_table(instance: SelectionInstance) -> Selection:
    """Hire by dynamic programming over amounts of money: exact for prices on a common grid, much faster than a search.

    The last point of the frontier against cost; only the table vouches for its bound.
    """
    found = cost_frontier(instance)
    members, bound = (found.members[-1], -float(found.score[-1])) if found.members else (None, np.inf)
    certificate = Certificate(None, bound, "solver", None, None)
    return _scored(Selection(instance, Status.UNDECIDED, members, certificate, None, TABLE, TABLE))


def _scored(found: Selection) -> Selection:
    """With the set's own score, the greatest gain first, and what follows from the bound; without a set, likewise."""
    if found.workers is None:
        status = Status.INFEASIBLE if found.certificate.bound == np.inf else Status.UNDECIDED
        certificate = replace(found.certificate, value=None, violation=None, fraction=None)
        return replace(found, status=status, certificate=certificate)
    value = -score(found.instance.gain[found.workers])
    certificate = replace(found.certificate, value=value, violation=0.0, fraction=0.0)
    status = Status.OPTIMAL if abs(certificate.gap) <= PROVEN else Status.FEASIBLE
    return replace(found, status=status, workers=by_gain(found.instance, found.workers), certificate=certificate)


def cost_frontier(instance: SelectionInstance) -> Frontier:
    """The frontier of ``(F-hat, -cost)`` under all of the instance's limits, exact for prices on any common grid.

    ``V[k, b]``: the largest sum of gains of exactly k workers who cost exactly b, worker after worker, group after
    group (with one more axis for how many of a group's fewest are in). Time and memory grow with workers x K x units of
    money, where the unit is the largest of which every price is a multiple.
    """
    if instance.price is None:
        raise InputError("a frontier against cost needs a price for each worker")
    if instance.limits_groups:
        raise InputError("a table over money does not know the most workers of a group; use the method program")
    sizes, m, paid = instance.sizes, instance.n_workers, instance.price
    exact = [Fraction(repr(one)) for one in paid.tolist()]  # as they are written in decimals
    unit = Fraction(gcd(*(one.numerator for one in exact)) or 1, lcm(*(one.denominator for one in exact)))
    price = [int(one / unit) for one in exact]
    most = sum(sorted(price)[-sizes:])
    if instance.money is not None:
        most = min(most, int(Fraction(repr(float(instance.money))) / unit))
    if (sizes + 1) * (most + 1) * (1 + int(instance.fewest.max(initial=0))) * m > LARGEST:
        raise InputError(
            f"the prices are multiples of {float(unit):g} and {float(most * unit):g} may be spent on {sizes} "
            "workers: too fine a grid for the frontier; round the prices, or lower the money or the number of workers"
        )
    group = np.zeros(m, np.int64) if instance.group is None else instance.group
    value = np.full((sizes + 1, most + 1), -np.inf)
    value[0, 0] = 0.0
    done: list[tuple[int, Decisions]] = []  # each group's fewest, and its workers
    for g, depth in enumerate([0] if instance.group is None else instance.fewest.tolist()):
        # layer j: j of the group's fewest are in; the last layer also takes more than those
        layers = np.full((depth + 1, *value.shape), -np.inf)
        layers[0] = value
        done.append((depth, []))
        for i in np.setdiff1d(np.flatnonzero(group == g), instance.barred).tolist():
            layers, code = _with_worker(layers, float(instance.gain[i]), price[i], i in instance.required)
            done[-1][1].append((i, code))
        # only tables with the group's fewest in go on to the next group
        value = layers[depth]
    scores = value[1:] / np.sqrt(np.arange(1, sizes + 1))[:, None]
    best, size = scores.max(axis=0), scores.argmax(axis=0) + 1
    sets = [_set(done, price, int(size[units]), int(units)) for units in records(best)]
    points = np.array([(one.size, score(instance.gain[one]), paid[one].sum()) for one in sets]).reshape(-1, 3)
    return Frontier(points[:, 0].astype(np.int64), points[:, 1], sets, points[:, 2])


def _with_worker(layers: Floats, worth: float, price: int, required: bool) -> tuple[Floats, NDArray[np.uint8]]:
    """The tables with one more worker to choose from; 0: left out, 1: taken towards the group's fewest, 2: beyond."""
    depth, left = layers.shape[0] - 1, max(0, layers.shape[2] - price)
    # a required worker leaves no cell as it was: only those that take them count
    after = np.full_like(layers, -np.inf) if required else layers.copy()
    code = np.zeros(layers.shape, np.uint8)
    for j in range(depth + 1):
        to = min(j + 1, depth)
        # one worker more and `price` units more: the table shifted by (1, price), from the tables before them
        taken, target = layers[j, :-1, :left] + worth, after[to, 1:, price:]
        better = taken > target
        target[better] = taken[better]
        code[to, 1:, price:][better] = 1 + (j == depth)
    return after, code


def _set(done: list[tuple[int, Decisions]], price: list[int], size: int, units: int) -> Ints:
    found: list[int] = []
    for inside, decisions in reversed(done):
        # a cell's mark says whether its best set took the worker, so one pass back finds the set
        for worker, code in reversed(decisions):
            mark = code[inside, size, units]
            if mark:
                found.append(worker)
                size, units, inside = size - 1, units - price[worker], inside - int(mark == 1)
    return np.sort(np.array(found, dtype=np.int64))

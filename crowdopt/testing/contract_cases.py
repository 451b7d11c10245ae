"""The programs that every backend is put to, with what is true of each: by hand, or by HiGHS' certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy import sparse

from crowdopt.backends import solve
from crowdopt.core.certificate import certify
from crowdopt.core.program import Program, relax, stack
from crowdopt.core.solution import Options, Status
from crowdopt.crowd.groups import Group, OwnRows
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import recipe as drawn
from crowdopt.programs import assignment
from crowdopt.testing.conformance import need

INF = np.inf
PATIENT = Options(time_limit=60.0)  # all end within a second where nothing else runs
EVERY_OPTION = Options(time_limit=60.0, nodes=100_000, threads=2, seed=3)


def program(
    cost: Sequence[float],
    rows: Sequence[tuple[float, Sequence[float], float]],
    lower: float | Sequence[float] = 0.0,
    upper: float | Sequence[float] = INF,
    integer: bool | Sequence[bool] = False,
) -> Program:
    """``min cost x  s.t.  low <= coefficients x <= high`` for each ``(low, coefficients, high)``."""
    count = len(cost)
    table = np.array([row[1] for row in rows], dtype=float).reshape(len(rows), count)
    return Program(
        name="case",
        cost=np.array(cost, dtype=float),
        matrix=sparse.csc_array(table),
        row_lower=np.array([row[0] for row in rows], dtype=float),
        row_upper=np.array([row[2] for row in rows], dtype=float),
        lower=np.broadcast_to(np.asarray(lower, dtype=float), count).copy(),
        upper=np.broadcast_to(np.asarray(upper, dtype=float), count).copy(),
        integer=np.broadcast_to(np.asarray(integer, dtype=bool), count).copy(),
        columns=stack([("x", (count,))]),
        rows=stack([("row", (len(rows),))]),
    )


@dataclass(frozen=True)
class ContractCase:
    """A program, what is true of it, and the limits it is solved under.

    ``optimum`` is None where HiGHS' certified value stands for it, and where there is none.
    """

    build: Callable[[], Program]
    truth: Status
    optimum: float | None = None
    options: Options = PATIENT


OPTIMAL = partial(ContractCase, truth=Status.OPTIMAL)


def badly_scaled() -> Program:
    """Evidence from 4e-6 to .8 in one program: workers from hardly better than a coin to nearly always right."""
    rng = np.random.default_rng(5)
    gain = np.concatenate([10 ** rng.uniform(-3, -1, 12), rng.uniform(0.2, 0.9, 18)])
    instance = AssignmentInstance(
        accuracy=np.stack([0.5 + gain / 2, 0.5 + rng.permutation(gain) / 2]),
        task_type=np.arange(6) % 2,
        capacity=np.full(30, 5),
        epsilon=0.1,
        rule="hoeffding",
        cost=rng.integers(1, 6, 30).astype(float),
    )
    return assignment.build(instance)


def recipe(name: str, linear: bool = False, priced: bool = False) -> Program:
    """A synthetic assignment program."""
    built = assignment.build(drawn(name, seed=0, priced=priced))
    return relax(built) if linear else built


def joint(linear: bool = False) -> Program:
    """Groups with limits per task and shares of all labels, a family, and an own row."""
    rng = np.random.default_rng(11)
    instance = AssignmentInstance(
        accuracy=rng.uniform(0.7, 0.95, (2, 9)),
        task_type=np.arange(5) % 2,
        capacity=4,
        epsilon=0.3,
        cost=rng.integers(1, 5, 9),
        groups={
            "senior": Group("", [0, 4], min_per_task=1),
            "a": Group("", range(5), max_share=0.5),
            "b": Group("", range(5, 9), max_per_task=1, dependent=True),
        },
        own_rows=OwnRows(
            ("wish",),
            np.zeros(2, np.int64),
            np.array([[0, 0], [1, 0]]),
            np.array([1.0, -1.0]),
            np.array([-INF]),
            np.array([-1.0]),
        ),
    )
    built = assignment.build(instance)
    return relax(built) if linear else built


LINEAR = {
    "optimal": OPTIMAL(lambda: program([2, 3], [(1.5, [1, 1], INF), (-INF, [1, 0], 1)]), optimum=3.5),
    "degenerate": OPTIMAL(
        lambda: program(
            [1, 1, 1],
            [(1, [1, 1, 0], INF), (1, [0, 1, 1], INF), (1, [1, 0, 1], INF), (1.5, [1, 1, 1], INF), (3, [2, 2, 2], INF)],
            upper=[0.5, 1, 1],
        ),
        optimum=1.5,
    ),
    "equality": OPTIMAL(lambda: program([1, 2, 3], [(2, [1, 1, 1], 2), (0.5, [1, -1, 0], 0.5)]), optimum=2.75),
    "free": OPTIMAL(
        lambda: program([1, 0], [(-3, [1, -1], INF), (3, [1, 1], INF), (7, [0, 1], INF)], lower=[-INF, -INF]),
        optimum=4.0,
    ),
    "fixed": OPTIMAL(
        lambda: program([1, 1, -1], [(4, [1, 2, 1], INF), (-INF, [1, 1, 1], 6)], [0, 1.5, 0], [9, 1.5, 0.25]),
        optimum=2.0,
    ),
    "ranged": OPTIMAL(
        lambda: program([-1, -2, 1, 3], [(1, [1, 1, 0, 0], 3), (2, [0, 0, 1, 1], 5)], upper=10), optimum=-4.0
    ),
    "zero-rows-and-columns": OPTIMAL(
        lambda: program(
            [1, 0, 2, -1, 0],
            [(-1, [0, 0, 0, 0, 0], 1), (1, [1, 0, 1, 0, 0], INF), (-INF, [0, 0, 0, 0, 0], INF), (0, [0] * 5, 0)],
            lower=[0, -1, 0, 0, 2],
            upper=[INF, 1, INF, 4, INF],
        ),
        optimum=-3.0,
    ),
    "signs": OPTIMAL(
        lambda: program(
            [1, -1, 1, -1, 1, -1],
            list(zip([2, -INF, 2, 2, 2, 1], np.eye(6).tolist(), [INF, 2, 2, 2, 7, 2], strict=True)),
            lower=-50,
            upper=50,
        ),
        optimum=0.0,
    ),
    "assignment": OPTIMAL(lambda: recipe("R10:50x20", linear=True)),
    "groups-and-own-rows": OPTIMAL(lambda: joint(linear=True)),
    "assignment-priced": OPTIMAL(lambda: recipe("L3:40x30", linear=True, priced=True)),
    "badly-scaled": OPTIMAL(lambda: relax(badly_scaled())),
    "options-linear": OPTIMAL(lambda: recipe("R10:20x20", linear=True), options=EVERY_OPTION),
    "no-columns": OPTIMAL(lambda: program([], [(-1, [], 0)]), optimum=0.0),
    "no-rows": OPTIMAL(lambda: program([1, -1, 0], [], lower=[-1, 0, 2], upper=[5, 3, 4]), optimum=-4.0),
    "no-columns-infeasible": ContractCase(lambda: program([], [(1, [], INF)]), Status.INFEASIBLE),
    "infeasible": ContractCase(lambda: program([1, 1], [(3, [1, 1], INF)], upper=1), Status.INFEASIBLE),
    "infeasible-rows": ContractCase(
        lambda: program([1, 0], [(2, [1, 1], INF), (-INF, [1, 2], 1), (0, [0, 1], INF)], lower=-INF), Status.INFEASIBLE
    ),
    "infeasible-zero-row": ContractCase(lambda: program([1, 1], [(1, [1, 1], INF), (1, [0, 0], 2)]), Status.INFEASIBLE),
    "unbounded": ContractCase(lambda: program([-1, 0], [(-INF, [1, -1], 1), (0.5, [1, 1], INF)]), Status.UNBOUNDED),
}
INTEGER = {
    "integer": OPTIMAL(lambda: program([3, 2], [(4, [2.5, 1.5], INF)], upper=9, integer=True), optimum=5.0),
    "integer-negative": OPTIMAL(
        lambda: program([1, -2], [(-7.5, [2.5, -1.5], INF), (-INF, [0.7, 1.1], 2.3)], -5, 5, integer=True),
        optimum=-5.0,
    ),
    "integer-equality": OPTIMAL(
        lambda: program([5, 3, 4], [(7, [2, 3, 1], 7), (1, [1, 0, 1], 2)], upper=7, integer=True), optimum=10.0
    ),
    "integer-zero-rows-and-columns": OPTIMAL(
        lambda: program([2, 0, -1], [(1.5, [1, 0, 0], INF), (0, [0, 0, 0], 1)], upper=[4, 4, 3], integer=True),
        optimum=1.0,
    ),
    "mixed": OPTIMAL(
        lambda: program(
            [2, 1, 0], [(2.25, [1, 0.5, 0], INF), (0.25, [0, 0, 1], 2)], 0, [9, 1, 3], [True, False, False]
        ),
        optimum=4.5,
    ),
    "assignment-integer": OPTIMAL(lambda: recipe("R10:20x20")),
    "assignment-integer-priced": OPTIMAL(lambda: recipe("L3:12x10", priced=True)),
    "groups-and-own-rows-integer": OPTIMAL(joint),
    "badly-scaled-integer": OPTIMAL(badly_scaled),
    "options": OPTIMAL(
        lambda: program([3, 2, 4], [(4, [2.5, 1.5, 3.1], INF)], upper=9, integer=True),
        optimum=5.0,
        options=EVERY_OPTION,
    ),
    "integer-infeasible": ContractCase(
        lambda: program([1, 1], [(1, [2, -2], 1), (1, [1, 1], INF)], upper=5, integer=True), Status.INFEASIBLE
    ),
    "integer-infeasible-relaxation": ContractCase(
        lambda: program([1, 1], [(3, [1, 1], INF)], upper=1, integer=True), Status.INFEASIBLE
    ),
    "no-rows-integer": OPTIMAL(lambda: program([1, -1], [], [0.5, 0], [5, 3.5], integer=True), optimum=-2.0),
}
LIMITED = {
    "no-incumbent": OPTIMAL(lambda: recipe("R10:150x60"), options=Options(time_limit=0.05)),
    "stopped": OPTIMAL(lambda: recipe("L3:100x40"), optimum=300.0, options=Options(time_limit=0.4)),
    "within-gap": OPTIMAL(
        lambda: recipe("L3:12x10", priced=True), optimum=105.0, options=Options(time_limit=60.0, gap=0.2)
    ),
    "stopped-linear": OPTIMAL(
        lambda: recipe("R10:200x100", linear=True), optimum=1672.3938452695, options=Options(time_limit=0.02)
    ),
}
CASES = LINEAR | INTEGER | LIMITED


@cache
def optimum(name: str) -> float | None:
    """What is true, by hand or by HiGHS where its certificate (in a search, its word) meets its value; else None."""
    case = CASES[name]
    if case.optimum is not None or case.truth is not Status.OPTIMAL:
        return case.optimum
    certificate = certify(solve(case.build(), "highs", PATIENT))
    proof = "certificate" if name in LINEAR else "solver"
    need(certificate.proof == proof, f"HiGHS' optimum of {name} has the proof {certificate.proof}")
    value = certificate.value if certificate.value is not None else INF
    apart = abs(value - certificate.bound)
    need(apart <= 1e-9 * max(1.0, abs(value)), f"HiGHS' value and bound of {name} are {apart:.3g} apart")
    return value

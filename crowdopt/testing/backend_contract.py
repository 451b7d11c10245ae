"""The contract of a backend as checks that can be run anywhere the backend is registered.

A check: a name, and a claim that either holds or raises.

What a theorem about a backend may be about: everything of a solution that can be recomputed, recomputed.

The programs that every backend is put to, with what is true of each: by hand, or by HiGHS' certificate.

The contract of backends, claim by claim; each is judged by recomputation alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from crowdopt.core.certificate import INTEGRALITY, certify, lagrangian_bound, proves_empty
from crowdopt.core.program import Program, relax, stack
from crowdopt.core.solution import Options, Solution, Status
from crowdopt.crowd.groups import Group, OwnRows
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import recipe as drawn
from crowdopt.programs import assignment
from crowdopt.solvers import Backend, named, solve_program


@dataclass(frozen=True)
class Check:
    """One claim about one subject.

    Parameters
    ----------
    name : str
        Subject, case and claim.
    claim : callable
        Returns where the claim holds; raises AssertionError, with what was seen, where it does not.
    """

    name: str
    claim: Callable[[], None]

    def __call__(self) -> None:
        """Make the claim."""
        self.claim()

    def __str__(self) -> str:
        return self.name


def need(holds: bool, told: str) -> None:
    """Raise AssertionError with what was seen unless the claim holds; also where Python leaves out assertions."""
    if not holds:
        raise AssertionError(told)


def failures(checks: Iterable[Check]) -> dict[str, str]:
    """Run checks one after another.

    Parameters
    ----------
    checks : iterable of Check

    Returns
    -------
    dict
        Name -> what was seen, of those that do not hold; empty where all do.
    """
    found = {}
    for check in checks:
        try:
            check()
        except AssertionError as error:
            found[check.name] = str(error)
    return found


Facts: TypeAlias = dict[str, Any]

FREE = 100.0  # an optimum of every case lies within this box; it keeps bounds finite where columns are free
FEW = 50  # multipliers that are kept one by one


def suits(backend: Backend, program: Program) -> bool:
    """Whether the backend says that it handles such columns."""
    if program.integer.any() and not backend.integers:
        return False
    return backend.continuous or bool(program.integer.all())


def facts(solution: Solution) -> Facts:
    """Plain values: what was claimed, and what the point, the multipliers and the ray are worth."""
    program, certificate = solution.program, certify(solution)
    dual = solution.dual
    boxed = replace(program, lower=np.maximum(program.lower, -FREE), upper=np.minimum(program.upper, FREE))
    return {
        "status": solution.status.value,
        "raw": solution.raw,
        "seconds": solution.seconds,
        "value": certificate.value,
        "bound": certificate.bound,
        "proof": certificate.proof,
        "violation": certificate.violation,
        "fraction": certificate.fraction,
        "claimed_bound": solution.claimed_bound,
        "dual": None if dual is None or dual.size > FEW else dual.tolist(),
        "has_dual": dual is not None,
        "dual_bound": None if dual is None else lagrangian_bound(boxed, dual),
        "has_ray": solution.ray is not None,
        "ray_proves": solution.ray is not None and proves_empty(program, solution.ray),
    }


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
    certificate = certify(solve_program(case.build(), "highs", PATIENT))
    proof = "certificate" if name in LINEAR else "solver"
    need(certificate.proof == proof, f"HiGHS' optimum of {name} has the proof {certificate.proof}")
    value = certificate.value if certificate.value is not None else INF
    apart = abs(value - certificate.bound)
    need(apart <= 1e-9 * max(1.0, abs(value)), f"HiGHS' value and bound of {name} are {apart:.3g} apart")
    return value


LEFT = 1e-4  # rows that a point which a limit left behind may miss
Judge: TypeAlias = Callable[[Facts, ContractCase, float | None, float], None]


@dataclass(frozen=True)
class ContractClaim:
    """A sentence about backends, the cases it is about, and who judges it.

    ``judge(facts, case, best, accuracy)``: best is the case's optimum, None where there is none; accuracy is relative
    to ``max(1, |best|)`` for values, absolute for rows.
    """

    says: str
    cases: tuple[str, ...]
    judge: Judge
    needs_duals: bool = False


def _named(cases: dict[str, ContractCase], *truths: Status) -> tuple[str, ...]:
    return tuple(name for name, case in cases.items() if not truths or case.truth in truths)


def _margin(best: float | None, accuracy: float) -> float:
    return accuracy * max(1.0, abs(best or 0.0))


def _is(facts: Facts, truth: Status) -> None:
    need(facts["status"] == truth.value, f"it said {facts['raw']!r}, {facts['status']}; true is {truth.value}")


def an_optimum(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """Value, violation and integrality come from the point: a claim of optimality has to survive that."""
    _is(facts, Status.OPTIMAL)
    need(facts["violation"] <= accuracy, f"a row is missed by {facts['violation']:.3g}")
    need(facts["fraction"] <= INTEGRALITY, f"an integer column is off by {facts['fraction']:.3g}")
    off = abs(facts["value"] - (best or 0.0))
    need(off <= _margin(best, accuracy), f"the point is worth {facts['value']!r}, the optimum is {best!r}")


def multipliers(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """The Lagrangian bound holds for any multipliers; it meets the optimum only for optimal ones of the right sign."""
    _is(facts, Status.OPTIMAL)
    need(facts["has_dual"], "there are no multipliers, though the backend says that it gives them")
    off = abs(facts["dual_bound"] - (best or 0.0))
    need(off <= _margin(best, accuracy), f"the multipliers prove {facts['dual_bound']!r}, the optimum is {best!r}")


def signs(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """Each row of this program holds one column at one side: its multiplier is 1 at a lower, -1 at an upper."""
    _is(facts, Status.OPTIMAL)
    off = np.abs(np.array(facts["dual"]) - [1, -1, 1, -1, 1, -1]).max()
    need(bool(off <= 100 * accuracy), f"the multipliers are {facts['dual']}, not 1 and -1 in turn")


def infeasible(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """There is no point and no bound but infinity; a ray is a proof or it is not handed out."""
    _is(facts, Status.INFEASIBLE)
    need(facts["value"] is None and not facts["has_dual"], "there is a point, or multipliers, of what has none")
    need(facts["bound"] == np.inf, f"the bound is {facts['bound']!r}")
    need(facts["has_ray"] == facts["ray_proves"], "the ray does not prove that there is no point")
    proof = "certificate" if facts["has_ray"] else "solver"
    need(facts["proof"] == proof, f"the proof is called {facts['proof']}, not {proof}")


def unbounded(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """Presolvers know only that it is one of the two; to say infeasible of a program with points would be false."""
    _is(facts, Status.UNBOUNDED)
    need(facts["value"] is None and facts["bound"] == -np.inf, f"value {facts['value']!r}, bound {facts['bound']!r}")


def left_behind(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """Libraries leave zeros or fractional points when time runs out: a point is feasible or it is absent."""
    known = (Status.OPTIMAL.value, Status.FEASIBLE.value, Status.UNDECIDED.value)
    need(facts["status"] in known, f"it said {facts['raw']!r}, {facts['status']}")
    there = facts["value"] is not None
    need(there == (facts["status"] != Status.UNDECIDED.value), f"{facts['status']} with the value {facts['value']!r}")
    if not there:
        return
    need(facts["violation"] <= LEFT, f"a row is missed by {facts['violation']:.3g}")
    need(facts["fraction"] <= INTEGRALITY, f"an integer column is off by {facts['fraction']:.3g}")
    if case.optimum is not None:
        least = case.optimum * (1 - accuracy)
        need(facts["value"] >= least, f"the value {facts['value']!r} is below the optimum {case.optimum!r}")
    if facts["proof"] != "none":
        most = facts["value"] * (1 + accuracy)
        need(facts["bound"] <= most, f"the bound {facts['bound']!r} is above the value {facts['value']!r}")


def within_a_gap(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """A search may stop at a relative gap: the value is then at most that far above the optimum."""
    if facts["status"] == Status.OPTIMAL.value and case.optimum is not None:
        most = case.optimum / (1 - case.options.gap) + 1e-6
        need(facts["value"] <= most, f"the value {facts['value']!r} is above {most!r}, which the gap allows")


def a_lower_bound(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """In a minimum a bound above the optimum would call a better plan impossible; absent is allowed, wrong is not."""
    bound = facts["claimed_bound"]
    if bound is None:
        return
    need(case.truth is Status.OPTIMAL, f"a bound of {bound!r} is claimed where there is no optimum")
    if best is not None:
        need(bound <= best + _margin(best, accuracy), f"the bound {bound!r} is above the optimum {best!r}")
    elif facts["value"] is not None:
        most = facts["value"] * (1 + accuracy)
        need(bound <= most, f"the bound {bound!r} is above the value {facts['value']!r}")


def no_multipliers(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """Libraries fill them with 0.0 there; what is absent is None, never zero."""
    need(not facts["has_dual"], "a search over integers handed out multipliers")


DECIDED = LINEAR | INTEGER
CLAIMS = (
    ContractClaim("an optimum is a feasible point of the optimal value", _named(DECIDED, Status.OPTIMAL), an_optimum),
    ContractClaim("multipliers prove the optimum", _named(LINEAR, Status.OPTIMAL), multipliers, True),
    ContractClaim("a multiplier has the sign of the side it pulls on", ("signs",), signs, True),
    ContractClaim("infeasible leaves nothing but a ray that proves it", _named(DECIDED, Status.INFEASIBLE), infeasible),
    ContractClaim("unbounded is not taken for infeasible", _named(DECIDED, Status.UNBOUNDED), unbounded),
    ContractClaim("what a limit leaves behind is true", tuple(LIMITED), left_behind),
    ContractClaim("a gap is kept", ("within-gap",), within_a_gap),
    ContractClaim("a claimed bound is a lower bound", tuple(DECIDED | LIMITED), a_lower_bound),
    ContractClaim("a search over integers has no multipliers", tuple(INTEGER), no_multipliers),
)


EXACT = 1e-6  # what simplex and branch and bound are good for


def backend_checks(backend: str, *, accuracy: float = EXACT, exclude: Collection[str] = ()) -> list[Check]:
    """Every claim of the contract with every case that the backend says it handles.

    The cases are solved in this process, each once, when its first check runs; the largest takes seconds.

    Parameters
    ----------
    backend : str
        Name of a backend that is installed: ours, or one under the entry point ``crowdopt.solvers``.
    accuracy : float
        What its optima may be off by, relative to ``max(1, |optimum|)``; first-order methods need 1e-4 or so.
    exclude : collection of str
        Cases that are left out, such as those that the library does not come to an end with; names of ``CASES``.

    Returns
    -------
    list of Check

    Raises
    ------
    ValueError
        If a case to be left out is none.
    BackendMissing
        If there is no such backend.
    """
    strange = sorted(set(exclude) - set(CASES))
    if strange:
        raise ValueError(f"there is no case {strange[0]!r} to leave out; there are {', '.join(CASES)}")
    able = named(backend)
    chosen = {name for name, case in CASES.items() if name not in exclude and suits(able, case.build())}
    return [
        Check(f"{backend}: {name}: {claim.says}", partial(_judge, claim, backend, name, accuracy))
        for claim in CLAIMS
        if able.duals or not claim.needs_duals
        for name in claim.cases
        if name in chosen
    ]


def _judge(claim: ContractClaim, backend: str, name: str, accuracy: float) -> None:
    claim.judge(_facts(backend, name), CASES[name], best_of(name), accuracy)


def best_of(name: str) -> float | None:
    """The optimum that a claim is held against; None where a limit may leave anything, or there is none."""
    return None if name in LIMITED else optimum(name)


@cache
def _facts(backend: str, name: str) -> Facts:
    case = CASES[name]
    return facts(solve_program(case.build(), backend, case.options, isolated=False))

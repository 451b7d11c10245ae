"""Backends that lie: whatever one says, nothing false is printed; claims are recomputed from the caller's program."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from crowdopt import AssignmentInstance, BackendFailed, solve, verify, write_campaign
from crowdopt import solvers as backends
from crowdopt.core.program import Program
from crowdopt.core.solution import Options, Solution, Status
from crowdopt.crowd.vote_errors import breaches
from crowdopt.notebooks import number
from crowdopt.solvers import Backend, highs
from tests.sampled import first_of
from tests.typed import run

Lie = Callable[[Program, Solution], Any]
NOTHING = {"primal": None, "dual": None, "ray": None, "claimed_bound": None}
INF, NAN = float("inf"), float("nan")


def other(program: Program) -> Program:
    """A program of the same shape in which the point of 0 is the optimum."""
    empty = sparse.csc_array(program.matrix.shape)
    free = np.full(program.row_lower.size, INF)
    return replace(program, cost=0 * program.cost, matrix=empty, row_lower=-free, row_upper=free)


def dropped(program: Program, truth: Solution) -> Solution:
    """A point without one label."""
    if truth.primal is None:
        return truth
    label = np.arange(truth.primal.size) == np.argmax(truth.primal > 0.5)
    return replace(truth, primal=np.where(label, 0.0, truth.primal))


def raising(error: BaseException) -> Lie:
    """Breaks down in place of answering."""

    def lie(program: Program, truth: Solution) -> Solution:
        raise error

    return lie


def said(**changes: Any) -> Lie:
    """The truth with some fields changed; those that are functions are made for the program."""
    return lambda p, t: replace(t, **{name: new(p) if callable(new) else new for name, new in changes.items()})


def optimal(point: Any, bound: float | None = None, **more: Any) -> Lie:
    """A point that is called optimal: all of the one value, or made for the program."""
    made = point if callable(point) else lambda p: np.full_like(p.cost, point)
    return said(status=Status.OPTIMAL, primal=made, claimed_bound=bound, **more)


def claimed(status: Status, **fields: Any) -> Lie:
    """A bare claim."""
    return said(status=status, **{**NOTHING, **fields})


def multipliers(made: Any) -> Lie:
    """In place of those that belong to the optimum, but made of these."""
    return lambda p, t: replace(t, dual=None if t.dual is None else made(t.dual), claimed_bound=None)


def random(program: Program) -> np.ndarray:
    """Multipliers of any sign and size."""
    return np.random.default_rng(0).normal(0, 1e6, program.row_lower.size)


def ones(program: Program) -> np.ndarray:
    """All labels at once."""
    return program.upper.copy()


NUMBERS = {"zeros": 0.0, "halves": 0.5, "negative": -1.0, "huge": 1e30, "NaN": NAN, "infinite": INF}
BOUNDS = {"of -1e9": -1e9, "NaN": NAN, "infinite": INF, "of words": "100", "true": True}
ERRORS = {
    "raises ValueError": ValueError("no\nsuch\nthing"),
    "raises ZeroDivisionError": ZeroDivisionError(),
    "exits with 0": SystemExit(0),
    "raises GeneratorExit": GeneratorExit(),
    "cannot import": ModuleNotFoundError("No module named 'elsewhere'", name="elsewhere"),
}
LIES: dict[str, Lie] = {
    "of another program": said(program=other),
    "dearer program": said(program=lambda p: replace(p, cost=p.cost + 1), claimed_bound=None),
    # points
    "no point, optimal": said(primal=None),
    **{f"{name}, optimal": optimal(value) for name, value in NUMBERS.items()},
    "zeros, optimal, with a bound of 0": optimal(0.0, 0.0),
    "ones, optimal": optimal(ones),
    "ones, optimal, with their own cost as bound": optimal(ones, lambda p: float(p.cost @ p.upper), dual=None),
    "short point": optimal(lambda p: np.zeros(3)),
    "square point": optimal(lambda p: np.zeros((p.cost.size, 2))),
    "a point of words": optimal(lambda p: ["yes"] * p.cost.size),
    "one label dropped": dropped,
    # bounds
    "bound of 1e9, feasible": said(status=Status.FEASIBLE, dual=None, claimed_bound=1e9),
    "bound of 1e9, nothing else": claimed(Status.UNDECIDED, claimed_bound=1e9),
    "ones, feasible, bound 1e9": said(status=Status.FEASIBLE, primal=ones, dual=None, claimed_bound=1e9),
    **{f"bound {name}": said(claimed_bound=value, dual=None) for name, value in BOUNDS.items()},
    # multipliers
    "multipliers of 2^60": multipliers(lambda dual: 2.0**60 * dual),
    "multipliers of 1e300": multipliers(lambda dual: 1e300 * dual),
    "multipliers turned round": multipliers(np.negative),
    "multipliers NaN": said(dual=lambda p: np.full_like(p.row_lower, NAN), claimed_bound=None),
    "too few multipliers": said(dual=np.zeros(1)),
    "random multipliers": said(dual=random, claimed_bound=None),
    # statuses
    **{status.value: claimed(status) for status in (Status.INFEASIBLE, Status.UNBOUNDED, Status.UNDECIDED)},
    "infeasible with a ray of ones": claimed(Status.INFEASIBLE, ray=lambda p: np.ones_like(p.row_lower)),
    "infeasible with a huge ray": claimed(Status.INFEASIBLE, ray=lambda p: np.full_like(p.row_lower, 1e300)),
    "infeasible with the optimum beside it": said(status=Status.INFEASIBLE),
    "optimal and empty": claimed(Status.OPTIMAL),
    "status of words": said(status="optimal"),
    "status None": said(status=None),
    # no solution at all
    "None": lambda p, t: None,
    "a number": lambda p, t: 42,
    "something like a solution": lambda p, t: SimpleNamespace(**vars(t)),
    # what it does
    **{name: raising(error) for name, error in ERRORS.items()},
}


def liar(lie: Lie) -> Backend:
    """A backend that answers with the lie."""

    def run(program: Program, options: Options, listener: Any) -> Any:
        kept = replace(program, matrix=program.matrix.copy(), cost=program.cost.copy())
        return lie(program, highs.run("choose", kept, options, None))

    return Backend("liar", "numpy", "pip install numpy", integers=True, duals=True, run=run)


SKILL = np.random.default_rng(3).uniform(0.6, 0.95, (2, 9))
COST = np.arange(1.0, 10.0)
FEASIBLE = AssignmentInstance(SKILL, np.arange(6) % 2, np.full(9, 4), 0.2, rule="bhattacharyya", cost=COST)
CASES = {"feasible": FEASIBLE, "infeasible": replace(FEASIBLE, capacity=np.ones(9, np.int64))}
KINDS = ("ip", "lp")


@pytest.fixture(scope="module")
def optimum() -> dict[tuple[str, str], float]:
    """The true optimum of each case, infinite where there is no plan."""
    table = {}
    for case, kind in product(CASES, KINDS):
        plan = solve(CASES[case], "highs", require="served", program=kind)
        assert plan.proven
        table[case, kind] = INF if plan.objective is None else plan.objective
    assert table["feasible", "ip"] < INF == table["infeasible", "lp"]
    return table


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch):
    """Registers a lie as the backend ``liar``."""
    known = backends.registered()

    def register(name: str) -> None:
        monkeypatch.setattr(backends, "registered", lambda: {**known, "liar": liar(LIES[name])})

    return register


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("lie", LIES)
def test_no_lie_becomes_a_claim_of_ours(lie, case, kind, lying, optimum):
    """A plan keeps every limit and costs what it says; what is called a certificate is true; lies have a name."""
    lying(lie)
    instance, best = CASES[case], optimum[case, kind]
    try:
        plan = solve(instance, "liar", require="served", program=kind, time_limit=5)
    except BackendFailed as error:
        assert "liar" in str(error) and "\n" not in str(error)
        return
    slack = 1e-6 * max(1.0, best) if best < INF else 0.0
    if plan.pairs is not None:
        assert not breaches(instance, plan.pairs, plan.amounts)
        assert plan.objective is not None and plan.objective >= best - slack
        assert plan.gap >= -1e-4
    if plan.proof == "certificate":
        assert plan.bound <= best + slack
        assert plan.status is not Status.INFEASIBLE or best == INF
        assert not plan.proven or plan.objective is None or plan.objective <= best + slack
    assert plan.certified_bound <= best + slack


@pytest.mark.parametrize("kind", first_of(KINDS))
@pytest.mark.parametrize(
    "lie", [pytest.param(lie, marks=pytest.mark.slow if place % 6 else ()) for place, lie in enumerate(LIES)]
)
def test_no_lie_is_printed(lie, kind, lying, optimum, tmp_path: Path):
    """Words of proof name the liar unless they are true; exit 0 goes with a plan that verifies, and only with one."""
    lying(lie)
    campaign, plan, best = tmp_path / "campaign", tmp_path / "plan", optimum["feasible", kind]
    write_campaign(FEASIBLE, campaign)
    done = run("solve", campaign, "--method", "liar", "--program", kind, "--time-limit", 5, "-o", plan)
    some = " tasks are served; for the others this is the best that was found:" in done.output  # as it says
    assert done.exit_code in (0, 1) and plan.exists() == (done.exit_code == 0 or some), done.output
    assert "-100 %" not in done.output and "Traceback" not in done.output
    for line in done.output.splitlines():
        if "anyone can recompute" in line and "proven optimal" in line:
            assert f"cost {number(best)}" in done.output
        assert not re.search(r"infeasible( by rule \S+)? \(proven\)", line)
        bound = re.search(r"(?:no plan|none)(?: by rule \S+)? costs less than ([-\d.e+]+)", line)
        assert not bound or float(bound[1]) <= best + 1e-6 or "liar's word" in line, line
    if plan.exists():
        assert verify(campaign, plan).holds


def test_a_refuted_claim_proves_nothing_and_costs_no_plan(lying):
    """A bound of 1e9 beside labels that cost 112 says more of the liar than of the labels.

    Where there is said to be no plan, a solver of ours serves as many tasks as it can: all, so there is one.
    """
    lying("bound of 1e9, feasible")
    plan = solve(FEASIBLE, "liar", time_limit=5)
    assert not plan.proven and plan.bound <= plan.objective
    lying("infeasible")
    plan = solve(FEASIBLE, "liar", time_limit=5)
    assert plan.found and not breaches(FEASIBLE, plan.pairs)
    assert not plan.proven or plan.objective == solve(FEASIBLE).objective

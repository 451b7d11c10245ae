"""Whatever a backend says, nothing false is printed: claims are recomputed from the caller's own program."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from crowdopt import AssignmentInstance, BackendFailed, Status, solve, verify, write_campaign
from crowdopt import solvers as backends
from crowdopt.crowd.vote_errors import breaches
from crowdopt.notebooks import number
from tests.sampled import first_of
from tests.solvers.liars import LIES, liar
from tests.typed import run

FEASIBLE = AssignmentInstance(
    np.random.default_rng(3).uniform(0.6, 0.95, (2, 9)),
    np.arange(6) % 2,
    np.full(9, 4),
    0.2,
    rule="bhattacharyya",
    cost=np.arange(1.0, 10.0),
)
CASES = {"feasible": FEASIBLE, "infeasible": replace(FEASIBLE, capacity=np.ones(9, np.int64))}
KINDS = ("ip", "lp")


@pytest.fixture(scope="module")
def optimum() -> dict[tuple[str, str], float]:
    """The true optimum of each case, infinite where there is no plan."""
    table = {}
    for case, kind in product(CASES, KINDS):
        plan = solve(CASES[case], "highs", require="served", program=kind)
        assert plan.proven
        table[case, kind] = np.inf if plan.objective is None else plan.objective
    assert table["feasible", "ip"] < np.inf == table["infeasible", "lp"]
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
    slack = 1e-6 * max(1.0, best) if best < np.inf else 0.0
    if plan.pairs is not None:
        assert not breaches(instance, plan.pairs, plan.amounts)
        assert plan.objective is not None and plan.objective >= best - slack
        assert plan.gap >= -1e-4
    if plan.proof == "certificate":
        assert plan.bound <= best + slack
        assert plan.status is not Status.INFEASIBLE or best == np.inf
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
    words = ["solve", str(campaign), "--method", "liar", "--program", kind, "--time-limit", "5", "-o", str(plan)]
    done = run(*words)
    some = " tasks are served; for the others this is the best that was found:" in done.output  # as it says
    assert done.exit_code in (0, 1) and plan.exists() == (done.exit_code == 0 or some), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "-100 %" not in done.output and "Traceback" not in done.output
    for line in done.output.splitlines():
        if "anyone can recompute" in line and "proven optimal" in line:
            assert f"cost {number(best)}" in done.output
        assert not re.search(r"infeasible( by rule \S+)? \(proven\)", line)
        bound = re.search(r"(?:no plan|none)(?: by rule \S+)? costs less than ([-\d.e+]+)", line)
        assert not bound or float(bound[1]) <= best + 1e-6 or "liar's word" in line, line
    if plan.exists():
        assert verify(campaign, plan).holds


def test_a_plan_that_is_refuted_is_not_called_proven(lying):
    """A bound of 1e9 beside labels that cost 112 says more of the liar than of the labels."""
    lying("bound of 1e9, feasible")
    plan = solve(FEASIBLE, "liar", time_limit=5)
    assert not plan.proven and plan.bound <= plan.objective


def test_a_lie_that_there_is_no_plan_costs_no_plan(lying):
    """What serves the most tasks is then looked for by a solver of ours, and serves all: so there is a plan."""
    lying("infeasible")
    plan = solve(FEASIBLE, "liar", time_limit=5)
    assert plan.found and not breaches(FEASIBLE, plan.pairs)
    assert not plan.proven or plan.objective == solve(FEASIBLE).objective

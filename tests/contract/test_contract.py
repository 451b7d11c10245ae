"""One contract for every backend, judged by recomputation alone: nothing counts because a solver says so."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from crowdopt import Options, certify, solve_program
from crowdopt.core.certificate import FEASIBILITY, INTEGRALITY
from crowdopt.core.program import Program
from crowdopt.core.solution import Status
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import build, chosen
from crowdopt.hire.ranking import ranked
from crowdopt.programs import assignment
from crowdopt.solvers import BackendMissing, registered
from crowdopt.testing.backend_contract import CASES, CLAIMS, ContractClaim, best_of, suits
from tests.contract.rows import ACCURACY, BACKENDS, MORE, ROOT, SAMPLE, row
from tests.contract.worker import HARMLESS, SILENT, instance
from tests.sampled import first_of
from tests.strangers import environment, installed

SEARCHING = [name for name in BACKENDS if registered()[name].integers]
PRICING = [name for name in BACKENDS if registered()[name].continuous and registered()[name].duals]
UNDECIDED = 0.1  # share of instances on which a first-order method may come to no end
SLACK = 1e-9  # what an enumerated point may lack, as everywhere


@cache
def built(name: str) -> Program:
    return CASES[name].build()


def claims() -> list[object]:
    """Every backend with every claim and case that it says it handles."""
    return [
        pytest.param(claim, backend, name, id=f"{backend}:{name}:{claim.says}")
        for claim in CLAIMS
        for backend in BACKENDS
        if registered()[backend].duals or not claim.needs_duals
        for name in claim.cases
        if suits(registered()[backend], built(name))
    ]


@pytest.mark.parametrize(("claim", "backend", "name"), claims())
def test_the_contract(claim: ContractClaim, backend: str, name: str) -> None:
    """What crowdopt.testing asks of any backend; a silent library may decide nothing, but then says so."""
    facts = row(backend, name)
    if (backend, name) in SILENT and facts["status"] in (Status.UNDECIDED.value, Status.FEASIBLE.value):
        pytest.skip(f"{backend} {SILENT[backend, name]}")
    claim.judge(facts, CASES[name], best_of(name), ACCURACY[backend])


@cache
def brute_force(seed: int) -> float:
    """The least cost of all 0-1 points that keep every row and the box; infinity if none does."""
    program = assignment.build(instance(seed))
    points = (np.arange(2**program.cost.size)[:, None] >> np.arange(program.cost.size)) & 1
    activity = points @ program.matrix.toarray().T
    kept = (activity >= program.row_lower - SLACK).all(1) & (activity <= program.row_upper + SLACK).all(1)
    kept &= (points >= program.lower).all(1) & (points <= program.upper).all(1)
    return float((points[kept] @ program.cost).min(initial=np.inf))


@pytest.mark.parametrize("seeds", first_of([SAMPLE, MORE]))
@pytest.mark.parametrize("backend", SEARCHING)
def test_every_search_proves_what_enumeration_finds(backend: str, seeds: range) -> None:
    """The optimum is unique as a value: a backend that proves another one, or none, is wrong."""
    for seed in seeds:
        found, best = row(backend, f"agreement/{seed}")["integer"], brute_force(seed)
        if best == np.inf:
            assert found["status"] == "infeasible", (seed, found)
            continue
        assert found["status"] == "optimal", (seed, found)
        assert found["violation"] <= FEASIBILITY and found["fraction"] <= INTEGRALITY, (seed, found)
        assert [found["value"], found["bound"]] == pytest.approx([best, best], rel=1e-6), (seed, found)


@pytest.mark.parametrize("seeds", first_of([SAMPLE, MORE]))
@pytest.mark.parametrize("backend", PRICING)
def test_every_linear_optimum_is_proven_by_its_own_multipliers(backend: str, seeds: range) -> None:
    """Weak duality: value and Lagrangian bound enclose the optimum, and neither exceeds the best whole plan."""
    silent, margin = 0, ACCURACY[backend]
    for seed in seeds:
        found = row(backend, f"agreement/{seed}")["linear"]
        if found["status"] == "infeasible":
            assert brute_force(seed) == np.inf, (seed, found)
        elif found["status"] != "optimal":
            silent += 1
        else:
            scale = max(1.0, abs(found["value"]))
            assert found["violation"] <= margin, (seed, found)
            assert abs(found["value"] - found["dual_bound"]) <= margin * scale, (seed, found)
            assert found["dual_bound"] <= brute_force(seed) + margin * scale, (seed, found)
    assert silent <= (UNDECIDED * len(seeds) if margin > 1e-6 else 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_options_of_the_library_s_own(backend: str) -> None:
    """A harmless one leaves the optimum; one that is not there is a sentence, never ignored."""
    facts = row(backend, "own-options")
    if backend.endswith(tuple(HARMLESS)):
        optimum = 5.0 if backend == "ortools-cpsat" else 3.5
        assert facts["value"] == pytest.approx(optimum, abs=10 * ACCURACY[backend])
    assert "presolvv" in facts["said"] and "\n" not in facts["said"]


@pytest.mark.long
@pytest.mark.parametrize("backend", [name for name in SEARCHING if registered()[name].continuous])
def test_algorithm_1_and_the_program_agree_on_300_workers(backend: str) -> None:
    """At most 100 hired, each with a number of their own of control questions: 30,100 columns.

    The search's set scores what Algorithm 1's does, whose proof bounds all; and the search claims no more.
    """
    rng = np.random.default_rng(0)
    asked = rng.integers(5, 40, 300)
    full = SelectionInstance(rng.binomial(asked, rng.beta(2.3, 2, 300)), asked, 2, 100)
    try:
        solution = solve_program(build(full), backend, Options(time_limit=250.0), isolated=True)
    except BackendMissing as missing:
        pytest.skip(str(missing))
    held, found = certify(solution), ranked(full)
    assert found.proven and solution.status is Status.OPTIMAL
    assert -held.value == pytest.approx(found.score, rel=ACCURACY[backend])
    assert -held.bound >= found.score * (1 - ACCURACY[backend])
    assert sorted(chosen(solution.program, solution.primal)) == sorted(found.workers)


@pytest.mark.slow
def test_the_example_keeps_the_contract(tmp_path: Path) -> None:
    """What stands in the documentation has to hold there, by the checks that a third party runs; and it solves."""
    code = Path(__file__).with_name("example_backend.py").read_text(encoding="utf-8")
    folder = installed(tmp_path, "example_backend", code, "[crowdopt.solvers]\nmilp = example_backend:BACKENDS\n")
    checked = (
        "import crowdopt; from crowdopt.testing import backend_checks, failures;"
        "checks = backend_checks('milp', exclude={'stopped', 'within-gap', 'badly-scaled-integer'});"
        "instance = crowdopt.recipe('R10:10x20');"
        "print(len(checks) > 60, crowdopt.solve(instance, 'milp').proven, failures(checks))"
    )
    given = {"cwd": ROOT, "env": environment(folder), "capture_output": True, "text": True, "check": True}
    assert subprocess.run([sys.executable, "-c", checked], **given).stdout == "True True {}\n"

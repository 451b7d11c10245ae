"""One contract for every backend, judged by recomputation alone: nothing counts because a solver says so."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest

from crowdopt.backends import registered
from crowdopt.core.certificate import INTEGRALITY
from crowdopt.core.solution import Status
from tests.contract.accuracy import accuracy
from tests.contract.cases import CASES, INTEGER, LIMITED, LINEAR, SILENT, Case
from tests.contract.rows import BACKENDS, PROMISED, row

DECIDED = LINEAR | INTEGER


@cache
def wholes(name: str) -> tuple[bool, bool]:
    """Whether some columns of a case are integer, and whether all are."""
    integer = CASES[name].build().integer
    return bool(integer.any()), bool(integer.all())


def suited(backend: str, name: str) -> bool:
    some, every = wholes(name)
    able = registered()[backend]
    return (able.integers or not some) and (able.continuous or every)


def pairs(cases: dict[str, Case], *truths: Status, duals: bool = False) -> list[object]:
    """Every backend (or every one that gives multipliers) with every case that it says it handles."""
    chosen = [name for name, case in cases.items() if case.truth in (truths or tuple(Status))]
    return [
        pytest.param(backend, name, id=f"{backend}:{name}")
        for backend in BACKENDS
        for name in chosen
        if suited(backend, name) and (registered()[backend].duals or not duals)
    ]


def optimum(name: str) -> float:
    """What is true: by hand, or HiGHS' value where its certificate (in a search, its word) meets it."""
    if CASES[name].optimum is not None:
        return CASES[name].optimum
    facts = row("highs", name)
    assert facts["proof"] == ("certificate" if name in LINEAR else "solver")
    assert abs(facts["value"] - facts["bound"]) <= 1e-9 * max(1.0, abs(facts["value"]))
    return facts["value"]


def margin(backend: str, name: str) -> float:
    return accuracy(backend) * max(1.0, abs(optimum(name)))


def said(backend: str, name: str, truth: Status) -> dict:
    """The row, if the backend claims the truth; nothing if it may stay silent and does."""
    facts = row(backend, name)
    if (backend, name) in SILENT and facts["status"] != truth.value:
        assert facts["status"] in (Status.UNDECIDED.value, Status.FEASIBLE.value), SILENT[backend, name]
        pytest.skip(f"{backend} {SILENT[backend, name]}")
    assert facts["status"] == truth.value, f"it said {facts['raw']!r}"
    return facts


@pytest.mark.parametrize(("backend", "name"), pairs(DECIDED, Status.OPTIMAL))
def test_an_optimum_is_a_feasible_point_of_the_optimal_value(backend: str, name: str) -> None:
    """Value, violation and integrality are recomputed from the point: a claim of optimality has to survive that."""
    facts = said(backend, name, Status.OPTIMAL)
    assert facts["violation"] <= accuracy(backend)
    assert facts["fraction"] <= INTEGRALITY
    assert abs(facts["value"] - optimum(name)) <= margin(backend, name)


@pytest.mark.parametrize(("backend", "name"), pairs(LINEAR, Status.OPTIMAL, duals=True))
def test_multipliers_of_a_linear_program_prove_its_optimum(backend: str, name: str) -> None:
    """The Lagrangian bound holds for any multipliers; it meets the optimum only for optimal ones of the right sign."""
    facts = said(backend, name, Status.OPTIMAL)
    assert facts["has_dual"]
    assert abs(facts["dual_bound"] - optimum(name)) <= margin(backend, name)


@pytest.mark.parametrize(("backend", "name"), pairs({"signs": LINEAR["signs"]}, duals=True))
def test_a_multiplier_has_the_sign_of_the_side_it_pulls_on(backend: str, name: str) -> None:
    """Each row of this program holds one column at one side, so its multiplier is +1 at a lower and -1 at an upper."""
    facts = said(backend, name, Status.OPTIMAL)
    assert facts["dual"] == pytest.approx([1, -1, 1, -1, 1, -1], abs=100 * accuracy(backend))


@pytest.mark.parametrize(("backend", "name"), pairs(DECIDED, Status.INFEASIBLE))
def test_infeasible_leaves_nothing_but_a_ray_that_proves_it(backend: str, name: str) -> None:
    """There is no point and no bound but infinity; a ray is a proof or it is not handed out."""
    facts = said(backend, name, Status.INFEASIBLE)
    assert facts["value"] is None
    assert not facts["has_dual"]
    assert facts["bound"] == float("inf")
    assert facts["proof"] == ("certificate" if facts["has_ray"] else "solver")
    assert facts["has_ray"] == facts["ray_proves"]


@pytest.mark.parametrize(("backend", "name"), pairs(DECIDED, Status.UNBOUNDED))
def test_unbounded_is_not_taken_for_infeasible(backend: str, name: str) -> None:
    """Presolvers know only that it is one of the two; to say infeasible of a program with points would be false."""
    facts = said(backend, name, Status.UNBOUNDED)
    assert facts["value"] is None
    assert facts["bound"] == float("-inf")


@pytest.mark.parametrize(("backend", "name"), pairs(LIMITED))
def test_what_a_limit_leaves_behind_is_true(backend: str, name: str) -> None:
    """Libraries leave zeros or fractional points when time runs out: a point is feasible or it is absent."""
    facts = row(backend, name)
    best = CASES[name].optimum
    assert facts["status"] in (Status.OPTIMAL.value, Status.FEASIBLE.value, Status.UNDECIDED.value)
    assert (facts["value"] is None) == (facts["status"] == Status.UNDECIDED.value)
    if facts["value"] is not None:
        assert facts["violation"] <= 1e-4
        assert facts["fraction"] <= INTEGRALITY
    if facts["value"] is not None and best is not None:
        assert facts["value"] >= best * (1 - accuracy(backend))
    if facts["value"] is not None and facts["proof"] != "none":
        assert facts["bound"] <= facts["value"] * (1 + accuracy(backend))


@pytest.mark.parametrize(("backend", "name"), pairs({"within-gap": LIMITED["within-gap"]}))
def test_a_gap_is_kept(backend: str, name: str) -> None:
    """A search may stop at a relative gap: the value is then at most that far above the optimum."""
    facts = row(backend, name)
    if facts["status"] == Status.OPTIMAL.value:
        assert facts["value"] <= CASES[name].optimum / (1 - CASES[name].options.gap) + 1e-6


@pytest.mark.parametrize(("backend", "name"), pairs(CASES))
def test_a_claimed_bound_is_a_lower_bound(backend: str, name: str) -> None:
    """In a minimum a bound above the optimum would call a better plan impossible; absent is allowed, wrong is not."""
    facts = row(backend, name)
    if facts["claimed_bound"] is None:
        return
    assert CASES[name].truth is Status.OPTIMAL
    if name not in LIMITED:
        assert facts["claimed_bound"] <= optimum(name) + margin(backend, name)
    elif facts["value"] is not None:
        assert facts["claimed_bound"] <= facts["value"] + accuracy(backend) * facts["value"]


@pytest.mark.parametrize(("backend", "name"), pairs(INTEGER))
def test_a_search_over_integers_has_no_multipliers(backend: str, name: str) -> None:
    """Libraries fill them with 0.0 there; what is absent is None, never zero."""
    assert not row(backend, name)["has_dual"]


@pytest.mark.parametrize("backend", PROMISED)
def test_the_promised_backends_are_here(backend: str) -> None:
    """They belong to the package's own dependencies (CBC, under PuLP 4, to the extra `test`)."""
    assert row(backend, "optimal")["status"] == Status.OPTIMAL.value


def test_importing_the_backends_loads_no_solver() -> None:
    """``import crowdopt`` has to be quick, and ortools and highspy cannot be loaded together."""
    libraries = sorted({backend.library for backend in registered().values()} | {"scipy.optimize", "scipy.stats"})
    code = (
        "import sys, json; from crowdopt.backends import registered; registered();"
        f"print(json.dumps([name for name in {libraries!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []

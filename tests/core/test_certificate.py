"""Programs, their duals, and certificates: what may be believed of a solution."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from crowdopt import Options, Status, certify, relax, solve_program
from crowdopt.core.certificate import lagrangian_bound, proves_empty
from crowdopt.core.program import Block, Program, dualize, stack
from crowdopt.core.solution import Solution


def small_program(rng: np.random.Generator) -> Program:
    """A random integer program over a small box, with rows of every kind."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    matrix = rng.integers(-3, 4, (m, n)).astype(float)
    middle = matrix @ rng.integers(0, 3, n)
    row_lower = np.where(rng.random(m) < 0.5, -np.inf, middle - rng.integers(0, 2, m))
    row_upper = np.where(rng.random(m) < 0.5, np.inf, middle + rng.integers(0, 2, m))
    return Program(
        name="small",
        cost=rng.integers(-4, 5, n).astype(float),
        matrix=sparse.csc_array(matrix),
        row_lower=row_lower,
        row_upper=row_upper,
        lower=np.zeros(n),
        upper=np.full(n, 2.0),
        integer=np.ones(n, bool),
        columns=stack([("x", (n,))]),
        rows=stack([("row", (m,))]),
    )


def points(program: Program):
    """Every integer point of the box that keeps the rows."""
    for values in itertools.product(range(3), repeat=program.cost.size):
        point = np.array(values, float)
        activity = program.matrix @ point
        if (activity >= program.row_lower - 1e-9).all() and (activity <= program.row_upper + 1e-9).all():
            yield point


def claim(program: Program, **claims) -> Solution:
    """A solution that claims what it is told to."""
    given = {"status": Status.OPTIMAL, "primal": None, "dual": None, "ray": None, "claimed_bound": None}
    return Solution(program, "test", seconds=0.0, raw="made up", **{**given, **claims})


@given(st.integers(0, 10**6))
def test_any_multipliers_bound_the_optimum(seed):
    """Weak duality: no feasible point costs less than the bound; Farkas: where they prove it, there is none."""
    rng = np.random.default_rng(seed)
    program = small_program(rng)
    bound = lagrangian_bound(program, rng.normal(0, 3, program.row_lower.size))
    assert all(program.cost @ point >= bound - 1e-9 for point in points(program))
    if proves_empty(program, rng.normal(0, 1, program.row_lower.size)):
        assert not list(points(program))


def test_a_bound_from_the_optimal_multipliers_meets_the_optimum():
    """Min x1 + x2, x1 + 2 x2 >= 2 over [0, 1]^2: the multiplier 1/2 proves the value 1 at (0, 1)."""
    program = replace(small_program(np.random.default_rng(0)), **_one_row(np.array([[1.0, 2.0]])))
    certificate = certify(claim(program, primal=np.array([0.0, 1.0]), dual=np.array([0.5])))
    assert certificate.value == 1.0
    assert 1.0 - 1e-13 <= certificate.bound <= 1.0  # less what rounding may have added
    assert certificate.proof == "certificate" and certificate.proves_optimal()


def _one_row(matrix: np.ndarray, need: float = 2.0, integer: bool = False) -> dict:
    n = matrix.shape[1]
    return {
        "cost": np.ones(n),
        "matrix": sparse.csc_array(matrix),
        "row_lower": np.array([need]),
        "row_upper": np.array([np.inf]),
        "lower": np.zeros(n),
        "upper": np.ones(n),
        "integer": np.full(n, integer),
        "columns": stack([("x", (n,))]),
        "rows": stack([("row", (1,))]),
    }


@pytest.fixture
def covering() -> Program:
    """Min x1 + x2 + x3 with .7 x1 + .7 x2 + .7 x3 >= 1, integer: the LP bound 10/7 rounds up to the optimum 2."""
    return replace(small_program(np.random.default_rng(0)), **_one_row(np.full((1, 3), 0.7), 1.0, integer=True))


def test_integral_costs_round_the_bound_up(covering):
    """Every feasible point has an integer value, so 10/7 means 2; and then nothing is left to the solver's word."""
    certificate = certify(claim(covering, primal=np.array([1.0, 1.0, 0.0]), dual=np.array([1 / 0.7])))
    assert (certificate.value, certificate.bound, certificate.proof) == (2.0, 2.0, "certificate")
    assert certificate.proves_optimal()


def test_a_bound_beyond_the_multipliers_is_the_solvers_word(covering):
    """A claimed bound above what can be recomputed is reported as such, never as a certificate."""
    certificate = certify(claim(covering, primal=np.array([1.0, 1.0, 1.0]), dual=np.zeros(1), claimed_bound=3.0))
    assert (certificate.bound, certificate.proof) == (3.0, "solver")


@pytest.mark.parametrize(
    ("claims", "flaw"),
    [
        ({"primal": np.zeros(3), "claimed_bound": 0.0}, "violation"),  # the bogus zeros of a solver out of time
        ({"primal": np.array([0.5, 0.5, 0.5]), "claimed_bound": 1.5}, "fraction"),
        ({"primal": np.array([np.nan, 1.0, 1.0]), "claimed_bound": 2.0}, "violation"),
        ({"primal": np.array([1.0, 1.0, 0.0]), "claimed_bound": 3.0}, "gap"),  # a bound above the value: a lie
        ({"primal": np.array([1.0, 1.0, 1.0]), "claimed_bound": 2.0}, "gap"),
        ({"primal": np.array([1.0, 1.0, 0.0])}, "proof"),
        ({}, "point"),
    ],
)
def test_a_false_claim_of_optimality_is_refused(covering, claims, flaw):
    """Optimal is a claim: each of these says OPTIMAL and none of them is believed."""
    assert not certify(claim(covering, **claims)).proves_optimal(), flaw


def test_infeasibility_needs_a_ray(covering):
    """A solver that says infeasible is quoted; only multipliers that prove it make a certificate."""
    hopeless = replace(covering, row_lower=np.array([3.0]))
    said = certify(claim(hopeless, status=Status.INFEASIBLE))
    assert said.bound == np.inf and said.proof == "solver" and not said.proves_infeasible()
    proved = certify(claim(hopeless, status=Status.INFEASIBLE, ray=np.array([1.0])))
    assert proved.proves_infeasible()
    assert not certify(claim(covering, status=Status.INFEASIBLE, ray=np.array([1.0]))).proves_infeasible()


def test_unbounded_columns_admit_rounding_but_no_more(covering):
    """A reduced cost of rounding size on a free column counts as zero; a real one makes the bound -inf."""
    free = replace(relax(covering), upper=np.full(3, np.inf), lower=np.full(3, -np.inf))
    exact = 1 / 0.7
    assert lagrangian_bound(free, np.array([exact])) == pytest.approx(exact, abs=1e-12)
    assert lagrangian_bound(free, np.array([exact * (1 + 1e-6)])) == -np.inf


@pytest.mark.parametrize(
    "wrong",
    [{"time_limit": 0.0}, {"time_limit": float("inf")}, {"gap": -1.0}, {"threads": 0}, {"nodes": -1}],
)
def test_limits_are_finite_and_positive(wrong):
    """A solve_program without a limit may never return, so no such options exist."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)


def test_blocks_are_views_of_one_vector():
    """A block reads and writes the flat vector it belongs to, in its own shape."""
    first, second = stack([("x", (2, 3)), ("level", (1,))])
    flat = np.arange(7.0)
    assert first.view(flat).tolist() == [[0, 1, 2], [3, 4, 5]]
    first.view(flat)[1, 2] = 9
    assert flat[5] == 9 and second == Block("level", (1,), 6)


def test_a_program_is_whole_and_frozen():
    """Arrays refuse to be written, NaN passes every check of feasibility, a gap of blocks is a column without a name.

    Entries that name a pair twice are added up: some versions of SciPy leave them apart, and HiGHS then comes to no
    end; the caller's matrix stays.
    """
    program = small_program(np.random.default_rng(1))
    with pytest.raises(ValueError, match="read-only"):
        program.cost[0] = 7
    for field in ("cost", "row_lower", "lower", "upper"):
        broken = getattr(program, field).copy()
        broken[0] = np.nan
        with pytest.raises(ValueError, match=f"{field} contains NaN"):
            replace(program, **{field: broken})
    with pytest.raises(ValueError, match="blocks name"):
        replace(program, columns=stack([("x", (program.cost.size + 1,))]))
    with pytest.raises(KeyError, match="no block 'y'"):
        program.column("y")
    twice = sparse.csc_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    added = replace(program, **(_one_row(twice, 6.0) | {"upper": np.full(1, np.inf)}))
    assert added.matrix.nnz == 1 and twice.nnz == 2
    assert certify(solve_program(added)).value == pytest.approx(2.0)


def test_integers_have_no_dual():
    """Linear duality needs a linear program; the message says what to do."""
    with pytest.raises(ValueError, match=r"dualize\(relax\(program\)\)"):
        dualize(small_program(np.random.default_rng(1)))


@given(st.integers(0, 10**6))
def test_strong_duality(seed):
    """A linear program and its mechanical dual have opposite optima; if one has none, nor has the other.

    Dualizing twice gives back the optimum (the program itself up to how it is written).
    """
    rng = np.random.default_rng(seed)
    program = relax(small_program(rng))
    if rng.random() < 0.5:
        loose = rng.random(program.cost.size) < 0.4
        program = replace(
            program,
            lower=np.where(loose, rng.choice([-np.inf, -1.0, 1.0], loose.size), program.lower),
            upper=np.where(rng.random(loose.size) < 0.3, np.inf, program.upper),
        )
    primal, dual, twice = (
        solve_program(program),
        solve_program(dualize(program)),
        solve_program(dualize(dualize(program))),
    )
    assert (primal.status is Status.OPTIMAL) == (dual.status is Status.OPTIMAL) == (twice.status is Status.OPTIMAL)
    if primal.status is Status.OPTIMAL:
        assert certify(primal).proves_optimal(1e-9) and certify(dual).proves_optimal(1e-9)
        assert certify(primal).value == pytest.approx(-certify(dual).value, abs=1e-8)
        assert certify(twice).value == pytest.approx(certify(primal).value, abs=1e-8)

"""Programs, their duals, and certificates: what may be believed of a solution (values by hand: tests/pins)."""

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
from crowdopt.core.program import Program, dualize, stack
from crowdopt.core.solution import Solution


def one_of(matrix: np.ndarray, cost: np.ndarray, row_lower: np.ndarray, row_upper: np.ndarray, most: float) -> Program:
    """The integer program of these rows in a box from 0."""
    m, n = matrix.shape
    box, blocks = {"lower": np.zeros(n), "upper": np.full(n, most)}, {"columns": stack([("x", (n,))])}
    sides = {"row_lower": row_lower, "row_upper": row_upper, "rows": stack([("row", (m,))])}
    return Program("small", cost, sparse.csc_array(matrix), **box, **blocks, **sides, integer=np.ones(n, bool))


def small_program(rng: np.random.Generator) -> Program:
    """A random integer program over a small box, with rows of every kind."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    matrix = rng.integers(-3, 4, (m, n)).astype(float)
    middle = matrix @ rng.integers(0, 3, n)
    row_lower = np.where(rng.random(m) < 0.5, -np.inf, middle - rng.integers(0, 2, m))
    row_upper = np.where(rng.random(m) < 0.5, np.inf, middle + rng.integers(0, 2, m))
    return one_of(matrix, rng.integers(-4, 5, n).astype(float), row_lower, row_upper, 2.0)


def points(program: Program):
    """Every integer point of the box that keeps the rows."""
    for values in itertools.product(range(3), repeat=program.cost.size):
        activity = program.matrix @ np.array(values, float)
        if (activity >= program.row_lower - 1e-9).all() and (activity <= program.row_upper + 1e-9).all():
            yield np.array(values, float)


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


@pytest.fixture
def covering() -> Program:
    """Min x1 + x2 + x3 with .7 x1 + .7 x2 + .7 x3 >= 1, integer: the LP bound 10/7 rounds up to the optimum 2."""
    return one_of(np.full((1, 3), 0.7), np.ones(3), np.ones(1), np.full(1, np.inf), 1.0)


@pytest.mark.parametrize(
    ("primal", "claims", "flaw"),
    [
        ([1.0, 1.0, 0.0], {"dual": np.array([1 / 0.7])}, ""),  # 2 by multipliers: nothing is left to the solver's word
        ([0.0, 0.0, 0.0], {"claimed_bound": 0.0}, "violation"),  # the bogus zeros of a solver out of time
        ([0.5, 0.5, 0.5], {"claimed_bound": 1.5}, "fraction"),
        ([np.nan, 1.0, 1.0], {"claimed_bound": 2.0}, "violation"),
        ([1.0, 1.0, 0.0], {"claimed_bound": 3.0}, "gap"),  # a bound above the value: a lie
        ([1.0, 1.0, 1.0], {"claimed_bound": 2.0}, "gap"),
        ([1.0, 1.0, 0.0], {}, "proof"),
        (None, {}, "point"),
    ],
)
def test_a_false_claim_of_optimality_is_refused(covering, primal, claims, flaw):
    """Optimal is a claim: each of these says OPTIMAL and only the one without a flaw is believed."""
    found = certify(claim(covering, primal=None if primal is None else np.array(primal), **claims))
    assert found.proves_optimal() == (not flaw)
    assert flaw or (found.bound, found.proof) == (2.0, "certificate")


def test_infeasibility_needs_a_ray(covering):
    """A solver that says infeasible is quoted; only multipliers that prove it make a certificate."""
    hopeless, nothing = replace(covering, row_lower=np.array([3.0])), {"status": Status.INFEASIBLE}
    said = certify(claim(hopeless, **nothing))
    assert said.bound == np.inf and said.proof == "solver" and not said.proves_infeasible()
    assert certify(claim(hopeless, **nothing, ray=np.array([1.0]))).proves_infeasible()
    assert not certify(claim(covering, **nothing, ray=np.array([1.0]))).proves_infeasible()


def test_unbounded_columns_admit_rounding_but_no_more(covering):
    """A reduced cost of rounding size on a free column counts as zero; a real one makes the bound -inf."""
    free = replace(relax(covering), upper=np.full(3, np.inf), lower=np.full(3, -np.inf))
    exact = 1 / 0.7
    assert lagrangian_bound(free, np.array([exact])) == pytest.approx(exact, abs=1e-12)
    assert lagrangian_bound(free, np.array([exact * (1 + 1e-6)])) == -np.inf


LIMITS = ({"time_limit": 0.0}, {"time_limit": float("inf")}, {"gap": -1.0}, {"threads": 0}, {"nodes": -1})


@pytest.mark.parametrize("wrong", LIMITS, ids=str)
def test_limits_are_finite_and_positive(wrong):
    """A solve_program without a limit may never return, so no such options exist."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)


def test_a_program_is_whole_and_frozen(covering):
    """Arrays refuse to be written, NaN passes every check of feasibility, a gap of blocks is a column without a name.

    Linear duality needs a linear program. Entries that name a pair twice are added up: some versions of SciPy leave
    them apart, and HiGHS then comes to no end; the caller's matrix stays.
    """
    with pytest.raises(ValueError, match="read-only"):
        covering.cost[0] = 7
    for field in ("cost", "row_lower", "lower", "upper"):
        with pytest.raises(ValueError, match=f"{field} contains NaN"):
            replace(covering, **{field: np.full(getattr(covering, field).size, np.nan)})
    with pytest.raises(ValueError, match="blocks name"):
        replace(covering, columns=stack([("x", (covering.cost.size + 1,))]))
    with pytest.raises(KeyError, match="no block 'y'"):
        covering.column("y")
    with pytest.raises(ValueError, match=r"dualize\(relax\(program\)\)"):
        dualize(covering)
    twice = sparse.csc_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    added = relax(one_of(twice, np.ones(1), np.full(1, 6.0), np.full(1, np.inf), np.inf))
    assert added.matrix.nnz == 1 and twice.nnz == 2
    assert certify(solve_program(added)).value == pytest.approx(2.0)


@given(st.integers(0, 10**6))
def test_strong_duality(seed):
    """A linear program and its mechanical dual have opposite optima; if one has none, nor has the other.

    Dualizing twice gives back the optimum (the program itself up to how it is written).
    """
    rng = np.random.default_rng(seed)
    program = relax(small_program(rng))
    if rng.random() < 0.5:
        loose = rng.random(program.cost.size) < 0.4
        lower = np.where(loose, rng.choice([-np.inf, -1.0, 1.0], loose.size), program.lower)
        program = replace(program, lower=lower, upper=np.where(rng.random(loose.size) < 0.3, np.inf, program.upper))
    primal, dual, twice = map(solve_program, (program, dualize(program), dualize(dualize(program))))
    assert (primal.status is Status.OPTIMAL) == (dual.status is Status.OPTIMAL) == (twice.status is Status.OPTIMAL)
    if primal.status is Status.OPTIMAL:
        assert certify(primal).proves_optimal(1e-9) and certify(dual).proves_optimal(1e-9)
        assert certify(primal).value == pytest.approx(-certify(dual).value, abs=1e-8)
        assert certify(twice).value == pytest.approx(certify(primal).value, abs=1e-8)

"""Programs and their duals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from crowdopt import Status, certify, relax, solve
from crowdopt.core.dual import dualize
from crowdopt.core.program import Block, Program, stack
from tests.core.test_certificate import small_program


def test_blocks_are_views_of_one_vector():
    """A block reads and writes the flat vector it belongs to, in its own shape."""
    first, second = stack([("x", (2, 3)), ("level", (1,))])
    flat = np.arange(7.0)
    assert first.view(flat).tolist() == [[0, 1, 2], [3, 4, 5]]
    first.view(flat)[1, 2] = 9
    assert flat[5] == 9 and second == Block("level", (1,), 6)


def test_a_program_is_frozen():
    """A program does not change under a solver's feet: arrays refuse to be written."""
    program = small_program(np.random.default_rng(1))
    with pytest.raises(ValueError, match="read-only"):
        program.cost[0] = 7


@pytest.mark.parametrize("field", ["cost", "row_lower", "lower", "upper"])
def test_nan_is_refused(field):
    """NaN compares false with everything and would pass every check of feasibility."""
    program = small_program(np.random.default_rng(1))
    broken = getattr(program, field).copy()
    broken[0] = np.nan
    with pytest.raises(ValueError, match=f"{field} contains NaN"):
        replace(program, **{field: broken})


def test_blocks_must_tile_the_indices():
    """A gap between blocks is a column without a name."""
    program = small_program(np.random.default_rng(1))
    with pytest.raises(ValueError, match="blocks name"):
        replace(program, columns=stack([("x", (program.cost.size + 1,))]))
    with pytest.raises(KeyError, match="no block 'y'"):
        program.column("y")


def test_integers_have_no_dual():
    """Linear duality needs a linear program; the message says what to do."""
    with pytest.raises(ValueError, match=r"dualize\(relax\(program\)\)"):
        dualize(small_program(np.random.default_rng(1)))


@given(st.integers(0, 10**6))
def test_strong_duality(seed):
    """A linear program and its mechanical dual have opposite optima; if one has none, nor has the other."""
    rng = np.random.default_rng(seed)
    program = relax(small_program(rng))
    if rng.random() < 0.5:
        loose = rng.random(program.cost.size) < 0.4
        program = replace(
            program,
            lower=np.where(loose, rng.choice([-np.inf, -1.0, 1.0], loose.size), program.lower),
            upper=np.where(rng.random(loose.size) < 0.3, np.inf, program.upper),
        )
    primal, dual = solve(program), solve(dualize(program))
    assert (primal.status is Status.OPTIMAL) == (dual.status is Status.OPTIMAL)
    if primal.status is Status.OPTIMAL:
        assert certify(primal).proves_optimal(1e-9) and certify(dual).proves_optimal(1e-9)
        assert certify(primal).value == pytest.approx(-certify(dual).value, abs=1e-8)


@given(st.integers(0, 10**6))
def test_the_dual_of_the_dual_is_the_program(seed):
    """Dualizing twice gives back the optimum (the program itself up to how it is written)."""
    program = relax(small_program(np.random.default_rng(seed)))
    once, twice = solve(program), solve(dualize(dualize(program)))
    assert (once.status is Status.OPTIMAL) == (twice.status is Status.OPTIMAL)
    if once.status is Status.OPTIMAL:
        assert certify(once).value == pytest.approx(certify(twice).value, abs=1e-8)


def test_entries_that_name_a_pair_twice_are_added_up():
    """SciPy leaves them apart in some versions, and HiGHS then comes to no end; the caller's matrix stays."""
    twice = sparse.csc_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    program = Program(
        name="twice",
        cost=np.ones(1),
        matrix=twice,
        row_lower=np.full(1, 6.0),
        row_upper=np.full(1, np.inf),
        lower=np.zeros(1),
        upper=np.full(1, np.inf),
        integer=np.zeros(1, bool),
        columns=stack([("x", (1,))]),
        rows=stack([("cover", (1,))]),
    )
    assert program.matrix.nnz == 1 and twice.nnz == 2
    assert certify(solve(program)).value == pytest.approx(2.0)

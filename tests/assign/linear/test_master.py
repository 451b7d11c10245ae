"""The smoothed master and its pool, against all sets that were brought."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from crowdopt.assign.master import Master, Pool
from crowdopt.assign.oracle import Sets
from crowdopt.assign.problem import Problem, problem_of
from tests.assign.linear.drawn import SEEDS, TIES, drawn, labels_of, multipliers, swept


def with_labels(problem: Problem) -> Pool:
    """Each label of each row alone."""
    pool, (rows, classes) = Pool(problem), (problem.rows.type.size, problem.room.size)
    row, label = np.divmod(np.arange(rows * classes), classes)
    assert pool.add(Sets(row, np.arange(row.size + 1), label)) == row.size
    return pool


def filled(problem: Problem, rng: np.random.Generator) -> Pool:
    """Sets that a few sweeps brought, each once, and each label alone, which may serve nobody."""
    pool = with_labels(problem)
    for turn in range(4):
        sets = swept(problem, multipliers(problem, rng), nodes=400, through=60, each=1, turn=turn).sets
        pool.add(sets)
        assert pool.add(sets) == 0
    return pool


@settings(max_examples=5)
@given(drawn(8, 7, TIES, 3))
def test_a_set_with_just_what_a_kind_needs_serves_it(one):
    """Where targets are the least worth of a label each label alone serves all kinds of its row."""
    problem = problem_of(one)
    asked = replace(problem, target=problem.rows.worth[problem.rows.type].min(axis=1)[problem.row_of])
    pool = with_labels(asked)
    assert (pool.start == pool.set_at[problem.row_of]).all()


@settings(max_examples=25)
@given(drawn(8, 7, [*TIES, "forbidden"], 3), SEEDS)
def test_a_pool_knows_which_sets_serve_a_kind(one, seed):
    """The cheapest is that of all sets of the row with the evidence; what sets use adds up to what labels use."""
    problem, rng = problem_of(one), np.random.default_rng(seed)
    pool, duals, rows, coupling = filled(problem, rng), multipliers(problem, rng), problem.rows, problem.coupling
    labels, kinds, price = labels_of(pool.sets), rows.type[pool.sets.row], pool.prices(duals)
    assert len({(r, *sorted(mine.tolist())) for r, mine in zip(pool.sets.row, labels, strict=True)}) == len(labels)
    for has, of in ((pool.power, rows.worth), (pool.cost, rows.cost), (price, coupling.prices(duals))):
        assert np.allclose(has, [of[t, mine].sum() for t, mine in zip(kinds, labels, strict=True)])
    least, place = pool.cheapest(price)
    serves = (pool.sets.row == problem.row_of[:, None]) & (pool.power >= problem.target[:, None])
    assert np.allclose(least, np.where(serves, price, np.inf).min(axis=1, initial=np.inf))
    assert np.allclose(least, np.append(price, np.inf)[place])
    duals[np.isfinite(coupling.lower)] += 2 * problem.unit  # more than a label for a load's sake costs
    solved = Master(pool, np.full(problem.count.size, 9 * problem.unit)).solve(duals, 0.01, 40)
    kept = coupling.valid(solved.duals)  # soft minima lie below minima, whatever sweeps would bring
    least = np.minimum(pool.cheapest(pool.prices(kept))[0], 9 * problem.unit)
    assert solved.value <= problem.count @ least + coupling.pull(kept) + 1e-6 * abs(solved.value) + 1e-6

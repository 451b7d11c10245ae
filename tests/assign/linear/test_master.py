"""The smoothed master's loops against sums by hand and differences; the ascent against another method."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from scipy.optimize import lsq_linear
from scipy.special import logsumexp

from crowdopt.assign.master import Master, Pool, ascend
from crowdopt.assign.master_kernels import least_from_behind, sampled, soft_least
from crowdopt.assign.problem import Problem, problem_of
from tests.assign.linear.drawn import SEEDS, TIES, drawn, labels_of, multipliers, swept


@given(SEEDS)
def test_soft_minima_are_those_of_every_set_by_itself(seed):
    """Weights are their derivatives: how many tasks take each set; picks are as many, up or down.

    Evidence is in whole numbers, so that some sets have just what is needed; some rows have no sets.
    """
    rng = np.random.default_rng(seed)
    sets, kinds = rng.integers([[0], [1]], 8, (2, int(rng.integers(1, 4))))
    set_at, kind_at = np.append(0, np.cumsum(sets)), np.append(0, np.cumsum(kinds))
    of_set, row = np.repeat(np.arange(sets.size), sets), np.repeat(np.arange(sets.size), kinds)
    power, need = rng.integers(0, 9, of_set.size), rng.integers(0, 10, row.size)
    power, need = power[np.lexsort((power, of_set))], need[np.lexsort((need, row))]
    serves = (of_set == row[:, None]) & (power >= need[:, None])
    start = set_at[row + 1] - serves.sum(axis=1)
    price, short = rng.normal(size=power.size) * rng.choice([1.0, 50.0]), rng.uniform(1, 40, need.size)
    count, heat = rng.integers(0, 4, need.size).astype(float), rng.choice([0.01, 0.3, 5.0], sets.size)
    weight, far, place = np.empty(price.size), np.empty(need.size), np.empty(need.size, np.int64)
    value = soft_least(set_at, price, kind_at, start, count, short, heat, weight, far)
    least_from_behind(set_at, price, kind_at, start, place)
    warm, both = heat[row][:, None], np.column_stack([np.where(serves, price, np.inf), short])
    all_far = logsumexp(-both / warm, axis=1)
    share = count[:, None] * np.exp(-both / warm - all_far[:, None])
    assert np.isclose(value, -(count * warm[:, 0] * all_far).sum(), rtol=1e-9, atol=1e-9)
    assert np.allclose(weight, share[:, :-1].sum(axis=0), rtol=1e-7, atol=1e-12) and np.allclose(far, all_far)
    assert (np.append(price, np.inf)[place] == both[:, :-1].min(axis=1, initial=np.inf)).all()
    kind = np.sort(rng.integers(0, need.size, 30))
    pick = sampled(np.arange(30), kind, row, set_at, start, price, heat, rng.random(30))
    able = serves[kind].any(axis=1)
    assert ((pick >= 0) == able).all()
    for k in np.unique(kind[able]):
        mine, heated = pick[kind == k], -both[k, :-1] / heat[row[k]]
        wanted = mine.size * np.exp(heated - logsumexp(heated))
        assert serves[k][mine].all() and (np.abs(np.bincount(mine, minlength=wanted.size) - wanted) < 1 + 1e-9).all()


def filled(problem: Problem, rng: np.random.Generator) -> Pool:
    """Sets that a few sweeps brought, each once."""
    pool = Pool(problem)
    for turn in range(4):
        sets = swept(problem, multipliers(problem, rng), nodes=400, through=60, each=1, turn=turn).sets
        pool.add(sets)
        assert pool.add(sets) == 0
    return pool


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


@given(SEEDS)
def test_the_ascent_finds_the_top_of_a_parabola_in_a_box(seed):
    """Where another method for bounded least squares finds it; it never leaves the box nor ends below its start."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    matrix, side = rng.normal(size=(size + 3, size)) * rng.choice([1.0, 20.0], size), rng.normal(size=size + 3)
    least = rng.normal(size=size) - 1
    most = least + np.where(rng.random(size) < 0.3, np.inf, rng.uniform(0.01, 2, size))

    def at(z: np.ndarray) -> tuple[float, np.ndarray]:
        assert (z >= least).all() and (z <= most).all()
        rest = matrix @ z - side
        return 10 - float(rest @ rest), -2 * matrix.T @ rest

    first = np.minimum(least + rng.uniform(0, 2, size), most)
    point, value = ascend(at, first, (least, most), 2000, 0.1)
    top = at(np.clip(lsq_linear(matrix, side, (least, most)).x, least, most))[0]
    assert value == at(point)[0] >= at(first)[0] and value >= top - 1e-5 * max(1.0, abs(top))

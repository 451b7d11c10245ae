"""The true minimum by levels: the cheapest sets by exact errors, plans, proofs that hold."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import assign, recipe, verify, write_campaign, write_plan
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.exact import kernels
from crowdopt.assign.exact.knapsacks import ErrorKnapsack
from crowdopt.assign.exact.levels import true_errors
from crowdopt.assign.exact.levels.true_errors import by_levels, knows
from crowdopt.assign.plan import breaches
from crowdopt.core.solution import Options, Status
from crowdopt.crowd.exactness import CERTAIN, exact_errors
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.voting import weighted_error
from crowdopt.recheck.sets_by_error import SetsByError
from tests.effort import examples

CLOSE = 1e-6


@st.composite
def rows(draw: st.DrawFn) -> ErrorKnapsack:
    """Up to seven workers, some alike, some at the same price; a prior, and limits on labels or none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    size = draw(st.integers(1, 7))
    skill = np.sort(
        rng.choice([0.55, 0.7, 0.8, 0.9, 0.96], size) if draw(st.booleans()) else rng.uniform(0.5, 0.99, size)
    )
    cost = rng.integers(0, 4, size).astype(float) if draw(st.booleans()) else rng.uniform(0.1, 3, size)
    fewest = draw(st.integers(0, 2))
    most = fewest + draw(st.integers(0, 7))
    return ErrorKnapsack(
        skill[::-1].copy(),
        cost,
        np.ones(size, np.int64),
        draw(st.sampled_from([0.5, 0.3, 0.1])),
        draw(st.sampled_from([0.02, 0.05, 0.1, 0.2])) + CERTAIN,
        fewest,
        most,
    )


def cheapest_of_all(row: ErrorKnapsack) -> float:
    """By every subset."""
    sizes = range(row.fewest, min(row.most, row.skill.size) + 1)
    every = (list(chosen) for size in sizes for chosen in itertools.combinations(range(row.skill.size), size))
    fine = (chosen for chosen in every if weighted_error(row.skill[chosen], prior=row.lean) <= row.target)
    return min((float(row.cost[chosen].sum()) for chosen in fine), default=np.inf)


@settings(max_examples=150, deadline=None)
@given(rows())
def test_both_searches_find_the_cheapest_set(row):
    """The method's and the proof's: two algorithms that share nothing but the law of a vote."""
    best = cheapest_of_all(row)
    sets, sizes = np.zeros((4, 12), np.int64), np.empty(4, np.int64)
    bound = kernels.cheapest_by_error(row, np.inf, 10**7, sets, sizes)
    proven = SetsByError(
        row.skill.copy(), row.cost.copy(), row.lean, row.target - CERTAIN, row.fewest, row.most
    ).value()
    assert proven == pytest.approx(best)
    assert bound <= best and (bound == best or bound == pytest.approx(best, rel=CLOSE))
    if np.isfinite(best):
        chosen = sets[0, : sizes[0]]
        assert weighted_error(row.skill[chosen], prior=row.lean) <= row.target
        assert row.cost[chosen].sum() == pytest.approx(best)


@settings(max_examples=40, deadline=None)
@given(rows(), st.integers(0, 200))
def test_a_search_that_ends_early_claims_no_more(row, work):
    """What was not looked at is bounded by what it costs at least."""
    sets, sizes = np.zeros((4, 2), np.int64), np.empty(4, np.int64)
    assert kernels.cheapest_by_error(row, np.inf, work, sets, sizes) <= cheapest_of_all(row)


@st.composite
def crowds(draw: st.DrawFn) -> AssignmentInstance:
    """Tasks of up to two types, workers of many skills, small enough for brute force."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, m, kinds = draw(st.sampled_from([(1, 7, 1), (2, 5, 2), (3, 3, 1), (2, 5, 1)]))
    return AssignmentInstance(
        accuracy=rng.uniform(0.1, 0.99, (kinds, m)),
        task_type=rng.integers(0, kinds, n),
        capacity=rng.integers(0, n + 1, m),
        epsilon=rng.choice([0.05, 0.1, 0.2, 0.3], size=n),
        prior=[0.7, 0.3] if draw(st.booleans()) else [0.5, 0.5],
        cost=rng.integers(1, 5, m).astype(float) if draw(st.booleans()) else 1.0,
        rule="exact-error",
    )


def least_of_all(instance: AssignmentInstance) -> float | None:
    """Least cost over all sets of pairs that keep every limit and every task's error; None if there is none."""
    pairs = np.array(list(itertools.product(range(instance.n_tasks), range(instance.n_workers))), dtype=np.int64)
    chosen = np.array(list(itertools.product([False, True], repeat=len(pairs))))
    costs = chosen @ instance.prices(pairs)
    for k in np.argsort(costs, kind="stable"):
        some = pairs[chosen[k]]
        if not breaches(instance, some) and (exact_errors(instance, some)[0] <= instance.epsilon + CERTAIN).all():
            return float(costs[k])
    return None


@examples(40, deadline=None)
@given(crowds())
def test_no_plan_costs_less_than_proven_and_none_is_missed(instance):
    """By brute force over all sets of pairs."""
    best = least_of_all(instance)
    plan = by_levels(instance, SOLVERS, Options(time_limit=30.0))
    if best is None:
        assert plan.pairs is None
        return
    assert plan.bound <= best + CLOSE
    assert plan.objective is None or plan.objective >= best - CLOSE
    if plan.status is Status.OPTIMAL:
        assert plan.objective == pytest.approx(best)


@settings(max_examples=25, deadline=None)
@given(crowds(), st.integers(0, 2**31))
def test_forbidden_pairs_and_rounded_targets_only_loosen_the_bound(instance, seed):
    """One target a type for the bound, the tasks' own for the plan; what must not be is not in it."""
    rng = np.random.default_rng(seed)
    barred = rng.integers(0, [instance.n_tasks, instance.n_workers], (2, 2))
    instance = replace(instance, forbidden=np.unique(barred, axis=0))
    best = least_of_all(instance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(true_errors, "TARGETS", 1)
        plan = by_levels(instance, SOLVERS, Options(time_limit=30.0))
    assert best is None or plan.bound <= best + CLOSE
    if plan.pairs is not None:
        assert not breaches(instance, plan.pairs) and plan.objective >= best - CLOSE
        assert (exact_errors(instance, plan.pairs)[0] <= instance.epsilon + CERTAIN).all()


@pytest.fixture(scope="module")
def settled():
    """A crowd of many skills whose true minimum levels prove."""
    instance = replace(recipe("B5:200x60"), rule="exact-error", epsilon=0.05)
    assert knows(instance)
    return instance, assign(instance, time_limit=60)


def test_where_skills_are_many_the_true_minimum_is_proven(settled, tmp_path):
    """By the workers' own skills, none rounded; verify agrees from the folder."""
    instance, plan = settled
    assert plan.status is Status.OPTIMAL and plan.duals.form == "patterns" and plan.duals.levels == 0
    write_campaign(instance, tmp_path / "campaign")
    write_plan(plan, tmp_path / "plan")
    assert verify(tmp_path / "campaign", tmp_path / "plan").holds


def test_a_bound_that_the_prices_do_not_prove_is_refuted(settled, tmp_path):
    """One label more than proven."""
    instance, plan = settled
    write_campaign(instance, tmp_path / "campaign")
    write_plan(plan, tmp_path / "plan")
    path = tmp_path / "plan" / "plan.json"
    claims = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(claims | {"certified_bound": claims["certified_bound"] + 1}), encoding="utf-8")
    assert not verify(tmp_path / "campaign", tmp_path / "plan").holds


@pytest.mark.parametrize(
    "own",
    [{"collected": [(0, 0)]}, {"fixed": [(0, 0)]}, {"budget": 500.0}, {"rule": "probit"}],
    ids=lambda own: next(iter(own)),
)
def test_what_levels_cannot_tell_apart_is_left_to_others(own):
    """Pairs and money of one's own, other rules."""
    assert not knows(replace(recipe("B5:60x40"), **{"rule": "exact-error", **own}))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("name", "epsilon"), [("B5", 0.05), ("B5", 0.01), ("R10", 0.01), ("L3", 0.05)])
def test_the_papers_size_is_proven_or_nearly(name, epsilon, seed):
    """A thousand tasks by three hundred workers: within two labels in a thousand of the bound."""
    instance = replace(recipe(f"{name}:1000x300", seed), rule="exact-error", epsilon=epsilon)
    plan = assign(instance, time_limit=120, gap=0.001)
    assert plan.gap <= 0.002

"""The paper's claims about online assignment, as far as they hold, and where they do not (Ho et al. 2013)."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdopt
from crowdopt.core.certificate import certify
from crowdopt.crowd.votes.voting import hoeffding_bound, vote_errors
from crowdopt.errors import InputError
from crowdopt.online import theorems
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.task_prices import prices
from crowdopt.programs import aggregated
from crowdopt.programs.approximated import transform
from crowdopt.programs.market import Market
from tests.chance import fewest, seeds
from tests.small import with_evidence


def run(text, instance, weights, seed=0):
    """The Primal Approximation Algorithm under given task weights, workers in the instance's order."""
    stream = simulated_stream(instance, (seed,), shuffle=False, prices=np.asarray(weights, dtype=float))
    return replay(named(text), stream, seed, crowdopt.solve)


def lack(played):
    instance = played.stream.instance
    return np.maximum(0.0, instance.need - played.covered)


@pytest.mark.chance
def test_the_smallest_instance_on_which_the_printed_algorithm_is_short():
    """Two tasks, M = 1, C = .8: the LP splits worker 3, so at x* = (5/3, 10/9) both tasks are worth 0 to worker 3.

    As printed it is chance whether a task stays short by all of its need; looking at coverage mends it. A fair coin
    decides: in 30 runs one side is not seen once in 500 million times.
    """
    instance = with_evidence(np.array([[0.6, 0.7, 0.6], [0.2, 0.4, 0.9]]), 0.8, 1)
    weights = crowdopt.assign(instance, program="lp").duals.task
    np.testing.assert_allclose(weights, [5 / 3, 10 / 9], atol=1e-7)
    best = crowdopt.assign(instance)
    assert best.proven and best.objective == 3
    worst = [lack(run("primal-approximation", instance, weights, seed)).max() for seed in seeds(30)]
    assert {round(one, 9) for one in worst} == {0.0, 0.8}
    assert not lack(run("primal-approximation:ties=least-covered", instance, weights)).any()


def test_where_no_tie_break_helps():
    """Four workers, M = 1: x* = (2, 2), and whichever task worker 1 gets, the other is short (models/README.md, 9).
    All capacity is spent, so no worker can be called back: the run says how much is lacking, whatever the options.
    """
    instance = with_evidence(np.array([[0.9, 0.7, 0.4, 0.5], [0.9, 0.6, 0.9, 0.4]]), 1.39, 1)
    weights = crowdopt.assign(instance, program="lp").duals.task
    for seed in range(10):
        for options in ("", ":ties=least-covered", ":stop:ties=least-covered:repair"):
            assert lack(run(f"primal-approximation{options}", instance, weights, seed)).max() > 0.08


@pytest.mark.chance
def test_repair_says_so_and_covers():
    """Labels of the repair step are counted apart, and no worker exceeds their capacity for them.

    Instances are independent: in 35 of 100 or more (of 300 in 53) something is short without it.
    """
    short = 0
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        instance = crowdopt.AssignmentInstance(
            accuracy=rng.uniform(0.6, 0.95, (2, 14)),
            task_type=np.arange(20) % 2,
            capacity=10,
            epsilon=0.3,
            rule="hoeffding",
        )
        plan = crowdopt.assign(instance, program="lp")
        if plan.duals is None or not plan.found:
            continue
        printed = run("primal-approximation", instance, plan.duals.task, seed)
        mended = run("primal-approximation:repair", instance, plan.duals.task, seed)
        short += (lack(printed) > 1e-9).any()
        assert lack(mended).sum() <= lack(printed).sum() + 1e-9
        assert mended.labels["work"] == printed.labels["work"]
        loads = np.bincount(mended.worker, minlength=14)
        assert (loads <= instance.capacity).all()
        assert len({*zip(mended.task.tolist(), mended.worker.tolist(), strict=True)}) == mended.task.size
    assert short >= fewest(40, 0.35)  # otherwise there was nothing to repair


@pytest.mark.chance
@pytest.mark.slow
def test_the_excess_is_at_most_m():
    """A worker gives the LP M_j labels, or all tasks of positive value and a part of those worth 0; the algorithm takes
    the latter whole. With at most one of them per worker it costs at most the LP plus m. One type per task.

    Instances are independent: a quarter of them or more has a plan and no further ties.
    """
    seen = 0
    for seed in seeds(700):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 9)), int(rng.integers(5, 14))
        instance = with_evidence(rng.uniform(0.05, 1, (n, m)), float(rng.uniform(0.5, 2)), int(rng.integers(1, n + 1)))
        plan = crowdopt.assign(instance, program="lp")
        if not plan.found:
            continue
        value = instance.evidence * plan.duals.task[:, None] - 1
        if (np.abs(value) < 1e-7).sum(axis=0).max() > 1:
            continue
        played = run("primal-approximation", instance, plan.duals.task, seed)
        assert played.total_labels <= plan.objective + m + 1e-6, seed
        seen += 1
    assert seen >= fewest(700, 0.25)


def test_type_prices_tie_everything():
    """Three tasks, m = 10, p = .9, M = 3, eps = .2: the IP takes 18 labels, the printed algorithm all 30.

    Stopping at covered tasks takes 18 again.
    """
    instance = crowdopt.AssignmentInstance(
        accuracy=np.full((1, 10), 0.9), task_type=[0, 0, 0], capacity=3, epsilon=0.2, rule="hoeffding"
    )
    plan = crowdopt.assign(instance)
    weights = crowdopt.assign(instance, program="lp").duals.task
    assert plan.proven and plan.objective == 18
    assert run("primal-approximation", instance, weights).total_labels == 30
    assert run("primal-approximation:stop:ties=least-covered", instance, weights).total_labels == 18


@pytest.mark.parametrize("recipe", ["HS:120x60", "K3:120x60", "R10:100x40", "T30:300x60", "R1:100x40"])
def test_prices_are_dual_optimal(recipe):
    """Strong duality: the prices' Lagrangian value is the certified optimum of the aggregated LP."""
    instance = crowdopt.recipe(recipe, seed=1)
    value = certify(crowdopt.solve(aggregated.build(instance), "highs-simplex")).bound
    kinds = np.bincount(instance.task_type)
    market = Market(instance.evidence, instance.cost, instance.capacity, kinds, np.full(kinds.size, instance.need[0]))
    found = prices(market, crowdopt.solve)
    if not np.isfinite(value):
        assert found.share < 1
        return
    price = found.price[instance.task_type]
    worth = np.maximum(0.0, instance.evidence[instance.task_type].T * price - instance.cost[instance.task_type].T)
    taken = np.minimum(instance.capacity, instance.n_tasks) - 1
    most = np.sort(worth)[:, ::-1].cumsum(axis=1)[np.arange(instance.n_workers), taken]
    assert instance.need @ price - most.sum() == pytest.approx(value, rel=1e-6)
    assert found.share == 1


def test_an_infeasible_market_is_scaled_to_what_it_can():
    """The paper's advice: raise epsilon, or drop tasks, and go on. The share that is reported is the largest one."""
    market = Market(np.array([[0.5, 0.2], [0.1, 0.4]]), np.ones((2, 2)), np.array([4, 4]), np.array([6, 6]), np.ones(2))
    scaled, dropped = prices(market, crowdopt.solve), prices(market, crowdopt.solve, "drop")
    assert scaled.share == pytest.approx((5 / 3) / 6)  # the first worker helps out with 2/3 of a label
    assert dropped.kept @ market.tasks_in == pytest.approx(2.0 + 1.6)
    assert np.isfinite(scaled.price).all() and np.isfinite(dropped.price).all()
    one = Market(np.array([[0.5, 0.0]]), np.ones((1, 2)), np.array([4, 4]), np.array([6]), np.ones(1))
    assert prices(one, crowdopt.solve).share == pytest.approx(2 / 6)


@given(
    st.lists(st.floats(0.02, 0.98), min_size=1, max_size=8),
    st.lists(st.floats(-1, 1), min_size=8, max_size=8),
)
def test_lemma_1(skills, weights):
    """Any weights with a drift towards the truth: the exact error keeps the bound."""
    p, w = np.array(skills), np.array(weights[: len(skills)])
    if np.abs(w).max() < 1e-3:
        return
    error = vote_errors(np.array([0, p.size]), p, w, np.array([0.5]), np.zeros(1))[0][0]
    assert error <= hoeffding_bound(p, w) + 1e-9


@pytest.mark.parametrize("tolerance", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("skill", [0.5, 0.7, 0.95])
def test_lemmas_2_and_3(tolerance, skill):
    """With s gold tasks, |p-hat - p| <= t but for a share delta of the times (exact binomial tail), and then
    |q-hat - q| <= 4t.
    """
    delta = 0.1
    s = ceil(log(2 / delta) / (2 * tolerance**2))
    tail, chance = 0.0, (1 - skill) ** s
    for k in range(s + 1):
        found = k / s
        tail += chance if abs(found - skill) > tolerance else 0.0
        if abs(found - skill) <= tolerance:
            change = abs((2 * found - 1) ** 2 - (2 * skill - 1) ** 2)
            assert change <= 4 * tolerance + 1e-12
        chance *= (s - k) / (k + 1) * skill / (1 - skill)
    assert tail <= delta


def test_theorem_3():
    """Any q-hat within 4t of q: under epsilon' the approximated LP costs no more than the true one."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        accuracy = rng.uniform(0.6, 0.95, (2, 30))
        instance = crowdopt.AssignmentInstance(
            accuracy=accuracy, task_type=np.arange(20) % 2, capacity=15, epsilon=0.2, rule="hoeffding"
        )
        true = crowdopt.assign(instance, program="lp")
        if not true.found:
            continue
        least = (true.evidence / true.task_labels).min()
        t = rng.uniform(0, least / 4) * 0.9
        guess = replace(instance, accuracy=np.clip(accuracy + rng.uniform(-t, t, accuracy.shape), 0, 1))
        approximated = crowdopt.assign(transform(guess, t, least), program="lp")
        assert approximated.objective <= true.objective + 1e-6
        np.testing.assert_allclose(transform(instance, t, least).need, -2 * (1 - 4 * t / least) * log(0.2))


def test_theorem_4():
    """What is covered under q-hat and epsilon' errs, exactly computed, no more than epsilon^((1-l1)(1-l3))."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = rng.uniform(0.75, 0.95, 14)
        q = (2 * p - 1) ** 2
        t, least, epsilon = 0.02, float(q.mean()), 0.1
        estimate = np.clip(p + rng.uniform(-t, t, p.size), 0, 1)
        need = -2 * (1 - 4 * t / least) * log(epsilon)
        chosen = np.arange(int(np.searchsorted(np.cumsum((2 * estimate - 1) ** 2), need)) + 1)
        if chosen.size > p.size:
            continue
        weights = 2 * estimate[chosen] - 1
        error = vote_errors(np.array([0, chosen.size]), p[chosen], weights, np.array([0.5]), np.zeros(1))[0][0]
        assert error <= theorems.error_after(epsilon, t, least, float(q[chosen].mean())) + 1e-12


def test_theorem_5_in_figures():
    """The errata's numbers: 3018 gold tasks per worker where the experiments use 20, and no promise at 20."""
    asked = theorems.theorem_5(1000, 300, 1, 0.1, 0.1, 0.16, 0.3, quality=0.16, assigned_quality=0.16)
    assert asked.gold == 3018 and asked.gold_labels == 390 * 3018
    assert asked.losses[0] <= 1 and asked.epsilon >= 0.1
    assert asked.error == 1.0  # l2 alone is above 1
    paid = theorems.theorem_5(1000, 300, 1, 0.1, 0.1, 0.16, 0.3, gold=20, quality=0.16, assigned_quality=0.16)
    assert paid.labels_ratio == float("inf") and paid.error == 1.0


def test_the_theorems_gold_is_counted_paid_and_warned_of():
    """Every gold label is in the run's account; s of Theorem 5 is said to be out of proportion."""
    rng = np.random.default_rng(0)
    instance = crowdopt.AssignmentInstance(
        accuracy=rng.uniform(0.8, 0.95, (2, 20)),
        task_type=np.arange(30) % 2,
        capacity=20,
        epsilon=0.2,
        cost=np.arange(1.0, 21.0),
        rule="hoeffding",
    )
    stream = simulated_stream(instance, (0,), preliminary=6)
    played = replay(named("main-algorithm:gold=20"), stream, 0, crowdopt.solve)
    assert played.labels["gold"] == 20 * 2 * 20 and played.labels["exploration"] == 6 * 2 * 20
    assert played.cost["gold"] == 40 * stream.instance.cost[0].sum()
    assert played.total_cost == sum(played.cost.values())
    asked = replay(named("main-algorithm:guaranteed:least-quality=.4"), stream, 0, crowdopt.solve)
    plan = theorems.theorem_5(30, 20, 2, 0.2, 0.1, 0.4, 0.3)
    assert asked.labels["gold"] == 2 * 20 * plan.gold
    assert any("more than the" in note for note in asked.notes)
    with pytest.raises(InputError, match="least-quality"):
        named("main-algorithm:guaranteed")


def test_underestimated_quality_makes_a_plan_arbitrarily_large():
    """Section 5.2: three workers with q = 1 and many with q = 1e-4, epsilon = .224 (C just below 3): taking q = .99 for
    the three buys hundreds of labels more.
    """
    m = 400
    skill = np.full((1, m), (1 + sqrt(1e-4)) / 2)
    skill[0, :3] = 1.0
    instance = crowdopt.AssignmentInstance(accuracy=skill, task_type=[0], capacity=1, epsilon=0.224, rule="hoeffding")
    low = skill.copy()
    low[0, :3] = (1 + sqrt(0.99)) / 2
    assert crowdopt.assign(instance, program="lp").objective <= 3
    assert crowdopt.assign(replace(instance, accuracy=low), program="lp").objective > 150


def test_prices_do_not_hang_on_one_solver_s_mood():
    """Simplex without presolve at times ends undecided: then others are asked, and the prices are as good."""
    market = Market(np.array([[0.5, 0.2], [0.1, 0.4]]), np.ones((2, 2)), np.array([4, 4]), np.array([6, 6]), np.ones(2))
    enough = replace(market, need=np.full(2, 0.2))

    def moody(program, backend, options):
        found = crowdopt.solve(program, backend, options)
        if options.presolve:
            return found
        return replace(found, status=crowdopt.Status.UNDECIDED, dual=None, primal=None)

    for one in (market, enough):
        sound, shaken = prices(one, crowdopt.solve), prices(one, moody)
        assert shaken.share == pytest.approx(sound.share)
        np.testing.assert_allclose(shaken.price, sound.price, rtol=1e-3)

"""Where tasks are many: samples tell the prices, sweeps mix to a plan, and some tasks settled anew make it better."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.individual.congestion import congested
from crowdopt.assign.individual.own_stages import solve_individually
from crowdopt.assign.individual.prices.ascent import Ascent
from crowdopt.assign.individual.prices.own_tasks import own_tasks
from crowdopt.assign.individual.prices.sampled_prices import sampled_prices, sizes
from crowdopt.assign.individual.prices.sweep import Prices, Sweeper
from crowdopt.assign.plan import breaches
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options
from crowdopt.recheck.bounds.proofs import prove_blocks
from tests.assign.individual.test_own_stages import individual

OPTIONS = Options(time_limit=60.0)


def many(n: int, m: int, seed: int = 1) -> AssignmentInstance:
    """Accuracies and prices of their own for every task; workers have just enough capacity to matter."""
    rng = np.random.default_rng(seed)
    return AssignmentInstance(
        accuracy=rng.uniform(0.75, 0.97, (n, m)),
        task_type=np.arange(n),
        capacity=np.full(m, 2 * n // m),
        epsilon=rng.uniform(0.2, 0.35, n),
        cost=np.round(rng.uniform(0.5, 3.0, m), 3),
    )


def test_parts_of_the_tasks_add_up():
    """Priced at the same prices, two halves of the tasks ask of workers what all of them ask, and cost as much.

    Barred, fixed and collected pairs and limits on labels go with their tasks.
    """
    tasks, clock = own_tasks(individual(3)), Clock(60.0)
    prices = Prices(-np.random.default_rng(0).uniform(0.0, 0.5, tasks.room.size))
    whole = Sweeper(tasks, 1).sweep(prices, clock)
    halves = [np.arange(tasks.size)[::2], np.arange(tasks.size)[1::2]]
    parts = [Sweeper(tasks.part(half), 1).sweep(prices, clock) for half in halves]
    for half, part in zip(halves, parts, strict=True):
        assert part.value == pytest.approx(whole.value[half], rel=1e-9)
    assert (sum(part.load.sum(axis=0) for part in parts) == whole.load.sum(axis=0)).all()


def test_a_samples_prices_bound_all_tasks():
    """Any prices bound; those of one task in five, capacity scaled, are within a thousandth of the best."""
    tasks, clock = own_tasks(many(10_000, 8)), Clock(60.0)
    assert sizes(tasks.size, 20) == [2_000] and not sizes(5_000, 20)
    sampled = sampled_prices(tasks, SOLVERS.solve, OPTIONS, clock, np.random.default_rng(0))
    ascent = Ascent(Sweeper(tasks, 1), SOLVERS.solve, OPTIONS, clock, 1.0)
    nothing = ascent.visit(Prices(np.zeros(8))).bound
    bound = ascent.visit(sampled.prices).bound
    ascent.climb(40, lambda _: False)
    assert nothing < 0.99 * ascent.best.bound
    assert bound > 0.999 * ascent.best.bound


@pytest.mark.slow
def test_many_tasks_are_planned_close_to_their_bound():
    """The gap of n tasks is about m + 1 tasks' cost: below a part in a thousand here, and both sides hold."""
    instance = many(10_000, 8, seed=2)
    plan = solve_individually(instance, SOLVERS, Options(time_limit=60.0, gap=1e-3), None).plan()
    assert plan.found and not breaches(instance, plan.pairs) and plan.gap <= 1e-3
    proven = prove_blocks(instance, plan.duals.worker, plan.duals.labels, plan.duals.budget)
    assert plan.certified_bound <= proven + 1e-9 * abs(proven)


def test_prices_that_follow_loads_settle_where_capacities_are_used_up():
    """Ties overload workers at any fixed prices; in a congestion game they are shared out, and its prices bound well.

    One accuracy for all but a few workers: whole classes of sets cost the same. Fixed prices leave hundreds of labels
    too many, responses a few in a thousand, and mended they are a plan within a thousandth of what their prices prove.
    """
    instance = replace(many(4_000, 12), accuracy=np.full((4_000, 12), 0.9), epsilon=np.asarray(0.3))
    tasks, clock, rng = own_tasks(instance), Clock(60.0), np.random.default_rng(0)
    ascent = Ascent(Sweeper(tasks, 1), SOLVERS.solve, OPTIONS, clock, 1.0)
    ascent.visit(Prices(np.zeros(12)))
    ascent.climb(60, lambda _: False)
    too_many = np.maximum(0.0, ascent.best.load.sum(axis=0) - tasks.room).sum()
    *_, dealt = congested(ascent.sweeper, ascent.best, clock, rng)
    assert np.maximum(0, -dealt.left).sum() <= 0.003 * tasks.room.sum() < too_many
    ascent.visit(dealt.prices)
    assert dealt.shed(rng, clock) and dealt.is_whole and not breaches(instance, dealt.pairs())
    assert instance.prices(dealt.pairs()).sum() <= 1.001 * ascent.best.bound

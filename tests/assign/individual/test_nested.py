"""Sets that serve every task of a row that needs no more: their master proves what it says, and its plans hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, recipe
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.individual import nested, own_stages
from crowdopt.assign.individual.nested import Nested
from crowdopt.assign.individual.prices.own_tasks import own_tasks
from crowdopt.assign.individual.prices.sweep import Prices, Sweep, Sweeper
from crowdopt.assign.individual.set_stages import completed, dealt_sets, whole_shares
from crowdopt.assign.plan import breaches
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options
from crowdopt.recheck.bounds.proofs import prove_blocks

CLOCK, OPTIONS = Clock(600.0), Options(time_limit=60.0)


def few_labels(seed: int, n: int = 150, m: int = 40) -> AssignmentInstance:
    """Two rows, a need of its own for each task, two or three labels each, and workers in demand."""
    rng = np.random.default_rng(seed)
    return AssignmentInstance(
        accuracy=rng.uniform(0.7, 0.98, (2, m)),
        task_type=np.arange(n) % 2,
        capacity=rng.integers(6, 20, m),
        epsilon=rng.uniform(0.3, 0.45, n),
    )


def grown(instance: AssignmentInstance) -> tuple[Nested, list[Sweep]]:
    tasks = own_tasks(instance)
    sweeper = Sweeper(tasks, 1)
    sets, heard = Nested(tasks, sweeper, SOLVERS.make_master), []

    def visit(prices: Prices, nodes: int) -> Sweep:
        heard.append(sweeper.sweep(prices, CLOCK, nodes=nodes))
        return heard[-1]

    start = Prices(np.zeros(tasks.room.size))
    first = sweeper.sweep(start, CLOCK)
    sets.add(tasks, first.hands, first.held)
    assert sets.grow(start, visit, CLOCK)
    return sets, heard


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))])
def test_the_masters_value_is_what_its_prices_prove(seed, monkeypatch):
    """When no set pays, linear programming says that value and bound agree: no sharing of sets was lost or made up."""
    monkeypatch.setattr(nested, "SAMPLE", 40)
    sets, heard = grown(few_labels(seed))
    instance, best = sets.tasks.instance, max(heard, key=lambda sweep: sweep.bound)
    proven = prove_blocks(instance, best.prices.worker, np.zeros(instance.n_tasks), 0.0)
    assert proven == pytest.approx(sets.point.value, rel=2 * nested.MEETS)
    assert sets.shares().sum() == pytest.approx(instance.n_tasks)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))])
def test_its_plan_holds_and_costs_what_its_sets_cost(seed):
    """Dealt out by need every task is served, at the cost of the numbers chosen, near the master's value."""
    sets, _ = grown(few_labels(seed))
    counts = completed(sets, whole_shares(sets), SOLVERS.solve, OPTIONS)
    dealt = dealt_sets(sets, counts, Prices(np.zeros(sets.tasks.room.size)))
    assert dealt.is_whole and not breaches(sets.tasks.instance, dealt.pairs())
    paid = float(sets.costs(sets.level, sets.workers) @ counts)
    assert len(dealt.pairs()) == paid >= sets.point.value - 1e-6
    assert paid <= sets.point.value + 5  # a vertex has few mixed tasks


def test_who_may_not_have_a_worker_gets_none():
    """The master does not know of forbidden pairs; a task that would have one is left without, and served later."""
    instance = few_labels(3)
    sets, _ = grown(instance)
    counts = completed(sets, whole_shares(sets), SOLVERS.solve, OPTIONS)
    no_prices = Prices(np.zeros(instance.n_workers))
    pair = dealt_sets(sets, counts, no_prices).pairs()[:1]
    sets.tasks = own_tasks(replace(instance, forbidden=pair))
    dealt = dealt_sets(sets, counts, no_prices)
    assert (dealt.held < 0).sum() == 1
    assert not (dealt.pairs() == pair).all(axis=1).any()


def test_priors_of_their_own_are_solved_to_the_end():
    """Few labels for each task and needs all different: the master's bound and plan meet."""
    instance = recipe("B5:1000x300", seed=0)
    first = np.random.default_rng(5).uniform(0.3, 0.7, 1000)
    instance = replace(instance, rule="bhattacharyya", prior=np.column_stack([first, 1 - first]))
    assert own_stages.is_individual(instance)
    plan = own_stages.solve_individually(instance, SOLVERS, Options(time_limit=60.0, gap=5e-4), None).plan()
    assert plan.found and plan.gap <= 5e-4 and not breaches(instance, plan.pairs)

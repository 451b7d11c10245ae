"""The first LP of many tasks that differ: its needs are lowered, so its optimum is a bound for the whole one's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import Options
from crowdopt.assign.engine import first_prices
from crowdopt.assign.engine.prepared import problem_of
from crowdopt.backends import solve
from crowdopt.core.certificate import certify
from crowdopt.core.solution import BY_SIZE
from crowdopt.crowd.classes import classes_of
from crowdopt.crowd.exactness import relaxation
from crowdopt.programs import aggregated


@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
@pytest.mark.parametrize("seed", range(6))
def test_fewer_needs_lower_the_optimum_and_lose_no_task(monkeypatch, rule, seed):
    """With all needs, the optimum is at least that of few; every task is in one of their classes."""
    rng = np.random.default_rng(seed)
    drawn = crowdopt.recipe("R10:60x12", seed=seed)
    few_labels = rng.integers(0, 3, 60)
    instance = replace(
        drawn,
        rule=rule,
        epsilon=rng.uniform(0.05, 0.3, 60),
        min_labels=few_labels,
        capacity=np.full(12, 40 + 20 * (seed > 0)),
    )
    problem = problem_of(instance)
    assert problem is not None
    whole = classes_of(relaxation(instance), joint=True)
    monkeypatch.setattr(first_prices, "WIDE", 0)
    monkeypatch.setattr(first_prices, "NEEDS", 3)
    few = first_prices.with_few_needs(whole, problem)
    assert few.tasks_in.sum() == instance.n_tasks and few.tasks_in.size < whole.tasks_in.size
    assert (few.fewest[few.task_class] <= whole.fewest[whole.task_class]).all()
    assert (few.floor[few.task_class] <= whole.floor[whole.task_class]).all()
    values = [certify(solve(aggregated.of_classes(c), BY_SIZE, Options(time_limit=20))).value for c in (few, whole)]
    assert values[1] is None or (values[0] is not None and values[0] <= values[1] + 1e-6)

"""Who takes a sentence takes its document: tasks whose labels rows of a campaign's own tie are planned as one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, OwnRows, solve
from crowdopt.crowd.vote_errors import breaches
from tests.assign.by_hand import report_on
from tests.checkers.plans import broken, least_cost
from tests.sampled import first_of


def documents(seed: int, size: int, count: int, workers: int) -> AssignmentInstance:
    """Documents of so many sentences, each tied to the next or to the first; some limits besides."""
    rng = np.random.default_rng(seed)
    n, chain = size * count, bool(rng.random() < 0.5)
    one, other = np.array([b for b in range(n) if b % size]), np.tile(np.arange(workers), (size - 1) * count)
    first = one - 1 if chain else one - one % size
    task = np.repeat(np.column_stack([first, one]), workers, axis=0)
    pairs, ties = np.column_stack([task.reshape(-1), np.repeat(other, 2)]), len(task)
    row, sign = np.repeat(np.arange(ties), 2), np.tile([1.0, -1.0], ties)
    lower, upper = np.zeros(ties), np.zeros(ties)
    if rng.random() < 0.5:  # a row that ties nothing
        pairs = np.concatenate([pairs, np.column_stack([np.arange(n), np.zeros(n, int)])])
        row, sign = np.append(row, np.full(n, ties)), np.append(sign, np.ones(n))
        lower, upper = np.append(lower, -np.inf), np.append(upper, float(rng.integers(0, n)))
    capacity = rng.integers(1, n + 1, workers)
    limits = [
        {},
        {"max_labels": rng.integers(2, 4, n)},
        {"min_load": np.minimum(capacity, rng.integers(0, 3, workers))},
        {"forbidden": [[int(rng.integers(0, n)), 0]]},
        {"fixed": [[int(rng.integers(0, n)), 1]]},
        {"budget": 14.0},
    ]
    return AssignmentInstance(
        accuracy=rng.uniform(0.6, 0.95, (2, workers)).round(2),
        task_type=np.repeat(rng.integers(0, 2, count), size),
        capacity=capacity,
        epsilon=rng.choice([0.1, 0.2, 0.3], n),
        rule=str(rng.choice(["exact-error", "bhattacharyya"])),
        cost=rng.integers(1, 3, workers).astype(float),
        own_rows=OwnRows([f"row {k}" for k in range(lower.size)], row, pairs, sign, lower, upper),
        **limits[seed % len(limits)],
    )


@pytest.mark.parametrize("seed", first_of(range(24), 12))
def test_documents_of_sentences_have_their_cheapest_plan(seed, tmp_path):
    """Against every plan of the sentences, by a checker of its own; the folder holds."""
    one = documents(seed, 2, 2, 4)
    plan, best = solve(one, time_limit=20, gap=0.0), least_cost(one)
    if not np.isfinite(best):
        assert not plan.found and (plan.pairs is None or not breaches(one, plan.pairs, short=plan.short))
        return
    assert plan.found and not broken(one, plan.pairs) and plan.objective == pytest.approx(best)
    assert plan.bound <= best + 1e-6 and plan.certified_bound <= plan.bound + 1e-6
    report = report_on(one, plan, tmp_path)
    assert report.holds, report.problems


def test_many_documents_are_planned_and_proven_at_once():
    """Thirty of ten sentences: no other plan would be found label by label."""
    one = documents(0, 10, 30, 12)
    one = replace(one, capacity=np.full(12, 90), epsilon=np.full(300, 0.12), rule="exact-error")
    plan = solve(one, time_limit=20)
    assert plan.found and plan.proven and not breaches(one, plan.pairs)
    assert plan.certified_bound >= 0.9 * plan.objective

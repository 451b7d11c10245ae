"""Small campaigns: everything that is said is held against every plan there is, and many workers against one plan.

Costs, bounds, infeasibility, what ``verify`` and the checker of folders make of the folder, and what any multipliers
of any form prove.
"""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.recheck.bounds import JointPull, prove, prove_sets
from tests.combinations.measured import NEAR, is_tiny, measure
from tests.draw import Planned, planned
from tests.sampled import first_of

SIZES = (3, 5), (2, 7), (4, 4), (1, 11), (3, 4), (2, 20)
AVERAGE = (  # what the rule mean-error meets
    *("", "least-labels", "most-labels", "budget", "prior", "prices-by-type", "forbidden", "collected", "fixed"),
    *("most-per-task", "least-per-task", "most-share", "least-share", "own-row", "overlapping"),
    *("forbidden most-per-task", "collected prior budget"),
)
FIRST = first_of((first, 20) for first in range(0, 160, 20))
LONG = [pytest.param(first, 200, marks=pytest.mark.long) for first in range(160, 20_000, 200)]
SECONDS = 20.0


def drawn(seed: int) -> Planned:
    """One in two tightened, one in ten with a promise on average."""
    average = ("mean-error", *AVERAGE[seed // 10 % len(AVERAGE)].split()) if seed % 10 == 9 else None
    size = (2, 5) if average else SIZES[seed % len(SIZES)]
    return planned(seed, *size, average, spoiled=bool(seed // 6 % 2))


def check(seed: int) -> bool:
    """Whether there is a plan; none is said to be what it is not, and none costs more than it must."""
    one = drawn(seed)
    row = measure(one, SECONDS, seed=seed)
    assert not row.false and not row.raised, row
    if is_tiny(one.instance):
        assert row.status == ("optimal" if row.feasible else "infeasible"), row
        if row.feasible and "difficulty" not in one.wishes:
            check_multipliers(one.instance, row.known, seed)
    return row.feasible


def check_multipliers(one: AssignmentInstance, best: float, seed: int) -> None:
    """Any numbers at all prove no more than the optimum, in any form."""
    rng, n, m = np.random.default_rng([seed, 92]), one.n_tasks, one.n_workers
    loose = relaxation(one)
    for scale in (0.3, 3.0):
        task, worker, labels = (rng.normal(0, scale, size) for size in (n, m, n))
        money = -float(rng.random() * scale)
        wrong = -float(rng.choice([1.0, 10.0, 100.0]))
        assert one.the_rule.average or prove(loose, task, worker, labels, money) <= best + NEAR, seed
        assert prove_sets(loose, worker, money, JointPull.none(loose), wrong) <= best + NEAR, seed


@pytest.mark.parametrize(("first", "count"), [*FIRST, *LONG])
def test_nothing_is_said_that_is_not_so(first, count):
    """Most have a plan; of twenty thousand where there is time."""
    assert sum(check(seed) for seed in range(first, first + count)) > count / 2


@pytest.mark.parametrize("limit", ["most-per-task", "most-labels", "families"])
def test_fixed_pairs_are_labels_of_the_plan(limit):
    """They count where labels that are in do, in bounds too; but no more of them fit than a task or group may have."""
    for seed in range(4):
        row = measure(planned(seed, 2, 6, ("exact-error", "fixed", limit), spoiled=True), SECONDS, seed=seed)
        assert not row.false and not row.raised and row.status != "undecided", row

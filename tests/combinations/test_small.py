"""Three tasks, five workers: everything that is said is held against every plan there is."""

from __future__ import annotations

import pytest

from tests.combinations.measured import drawn, measure
from tests.sampled import first_of

DEFAULT, LONG, EACH = 200, 5_000, 25
SECONDS = 20.0


def check(first: int, count: int, folders: bool) -> int:
    """How many have a plan; none is said to be what it is not, and none costs more than it must."""
    planned = 0
    for seed in range(first, first + count):
        row = measure(drawn(seed, 3, 5), SECONDS, folders)
        assert not row.false and not row.raised and not row.lacking, row
        assert row.feasible or row.status == "infeasible", row
        assert row.status in ("optimal", "infeasible"), row
        planned += row.feasible
    return planned


@pytest.mark.parametrize("first", first_of(range(0, DEFAULT, EACH)))
def test_nothing_differs_from_every_plan_looked_at(first):
    """Nine in ten have a plan."""
    assert check(first, EACH, folders=False) > EACH / 2


@pytest.mark.long
@pytest.mark.parametrize("first", range(DEFAULT, LONG, 4 * EACH))
def test_nothing_differs_from_every_plan_looked_at_of_many(first):
    """Five thousand, their folders held against ``verify`` as well."""
    check(first, min(4 * EACH, LONG - first), folders=True)

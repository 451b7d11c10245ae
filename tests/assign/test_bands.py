"""Sets band by band: the cheapest of all sets by exact errors, and bounds that hold wherever the search is ended."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from crowdopt.assign.band_kernels import ROOM, cheapest_counted
from tests.checkers.errors import error_bounds

ROUNDING = 1e-12


def error(prior: np.ndarray, skill: np.ndarray) -> float:
    """Of the vote, by arithmetic that imports no package."""
    return error_bounds(tuple(skill.tolist()), prior)[1] if skill.size else 1 - float(prior.max())


def evidence_of(skill: np.ndarray) -> np.ndarray:
    """Any that grows with the skill."""
    return 3 * skill**2


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Prior, price and cell of each label, skill of each cell, target."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 5))
    prior = np.full(classes, 1 / classes) if seed % 2 else rng.dirichlet(np.full(classes, 5.0))
    skill = -np.sort(-rng.uniform(1 / classes, 0.95, 5))
    cell = np.sort(rng.integers(0, 5, 7))
    return prior, rng.integers(0, 9, 7) / 2, cell, skill, float(rng.uniform(0.05, 0.4))


@pytest.mark.parametrize("seed", range(20))
def test_no_set_costs_less_and_a_bound_holds_after_any_number_of_errors(seed):
    """Against every set; groups that overlap, each with fewest and most labels, and in two of three cases evidence."""
    prior, price, cell, skill, target = drawn(seed)
    rng = np.random.default_rng([seed, 1])
    segment = np.sort(rng.integers(0, 3, 7))
    member = np.array([[True, False, False], [False, True, True]])
    low, top = rng.integers(0, 3, 2), rng.integers(1, 4, 2)
    cell = np.concatenate([np.sort(cell[segment == g]) for g in range(3)])
    sets = [list(one) for size in range(5) for one in combinations(range(7), size)]
    inside = [member[:, segment[one]].sum(axis=1) for one in sets]
    kept = [one for one, many in zip(sets, inside, strict=True) if (many >= low).all() and (many <= top).all()]
    need, worth = 2.0 * (seed % 3), evidence_of(skill)
    enough = [one for one in kept if evidence_of(skill[cell[one]]).sum() >= need]
    costs = [float(price[one].sum()) for one in enough if error(prior, skill[cell[one]]) <= target]
    wanted = min(costs, default=np.inf)
    for work in (1, 3, 10, 100_000):
        sets, sizes = np.zeros((2, 5), np.int64)[:, :4], np.empty(2, np.int64)  # part of an array, as the search has it
        kin, most = (segment > 0).astype(np.int64), top
        items, start, asked = (price, cell, segment, kin, most), prior[None, :, None], (target, need, worth, False)
        groups, effort = (member, low, top), (np.inf, np.inf, work)
        room = np.zeros((2, 6), np.int64), np.empty((2, prior.size, 2 * ROOM))
        bound, size = cheapest_counted(
            items, skill[None], start, asked, (0, 4), groups, effort, (sets, sizes), (*room[0], *room[1])
        )
        found = sets[0]
        assert size == sizes[0] and (sizes[0] >= 0 or sizes[1] < 0)
        assert bound <= wanted + ROUNDING
        if size >= 0:
            assert sorted(found[:size].tolist()) in enough
            assert error(prior, skill[cell[found[:size]]]) <= target + ROUNDING
    assert bound == pytest.approx(wanted, abs=ROUNDING)
    assert (size >= 0) == np.isfinite(wanted)

"""The stopping programme against every stopping rule there is."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
import pytest

from crowdopt.online.beliefs import stopping_program as programs
from crowdopt.online.beliefs.grid import CELLS, GRID, information
from crowdopt.online.beliefs.stopping_program import StoppingProgram


def some(seed, horizon=3):
    prior = np.random.default_rng(seed).dirichlet(np.full(CELLS, 0.2))
    return StoppingProgram(prior, np.minimum(information(GRID), 2.0), horizon)


def worth(one, price, rule):
    """Reward less price, and reward alone, of a rule: the set of histories after which another label is asked."""
    total, gross = 0.0, 0.0
    for k in range(one.horizon):
        for history in product((0, 1), repeat=k):
            if all(history[:cut] in rule for cut in range(k + 1)):
                mass = one.prior * GRID ** sum(history) * (1 - GRID) ** (k - sum(history))
                total += mass @ (one.reward - price)
                gross += mass @ one.reward
    return total, gross


def every_rule(horizon):
    histories = [h for k in range(horizon) for h in product((0, 1), repeat=k)]
    return chain.from_iterable(combinations(histories, k) for k in range(len(histories) + 1))


@pytest.mark.parametrize("seed", range(4))
def test_no_stopping_rule_does_better(seed):
    """All 2^7 rules over histories of up to three labels: the best one's worth is the programme's."""
    one = some(seed)
    for share in (0.5, 0.9, 1.01):
        price = share * one.top
        found = max((worth(one, price, set(rule)) for rule in every_rule(3)), key=lambda pair: pair[0])
        assert one._values(price)[0, 0] == pytest.approx(found[0], abs=1e-12)
        if share < 1:
            assert one.brings(price) == pytest.approx(found[1], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_top_price_is_where_it_stops_to_pay(seed):
    """Below it a worker is begun with, above it no worker."""
    one = some(seed, 40)
    assert one.brings(one.top * 0.999) > 0 and one.brings(one.top * 1.001) == 0
    for wanted in (0.1 * one.brings(0.0), 0.9 * one.brings(0.0)):
        price = one.price(wanted)
        assert price <= one.top
        assert one.brings(price) >= wanted * (1 - 1e-9) or price == programs.LEAST * one.top


@pytest.mark.parametrize("seed", range(4))
def test_thresholds_keep_whom_the_programme_keeps(seed):
    """The posterior mean of each tally with more right than wrong is above the threshold just where U > 0."""
    one = some(seed, 30)
    price = 0.8 * one.top
    least, kept = one.thresholds(price), one._values(price) > 0
    for k in range(30):
        for c in range((k + 1) // 2, k + 1):
            mass, reward = (table[k, c] for table in one.tables)
            if (kept[k, : c + 1] == kept[k, c]).all() or kept[k, c]:
                assert (reward / mass >= least[k] - 1e-12) == kept[k, c], (k, c)


def test_among_three_classes_a_third_right_is_a_guess():
    """A worker of .45 is worth keeping among three, and what decides are tallies of a third right, not of a half."""
    prior = np.where(np.abs(GRID - 0.3) < 0.04, 0.7, 0.0) + np.where(np.abs(GRID - 0.45) < 0.04, 0.3, 0.0)
    one = StoppingProgram(prior / prior.sum(), information(GRID, 3) * (GRID > 1 / 3), 60, 3)
    price = 0.9 * one.top
    least, kept, (mass, reward) = one.thresholds(price), one._values(price) > 0, one.tables
    below_half = 0
    for k in range(10, 60):
        first = next((c for c in range(k + 1) if 3 * c >= k and kept[k, c]), None)
        if first is not None and 3 * (first - 1) >= k and 2 * first < k:
            below_half += 1
            middle = (reward[k, first] / mass[k, first] + reward[k, first - 1] / mass[k, first - 1]) / 2
            assert least[k] == pytest.approx(middle, rel=1e-12)
    assert below_half


def test_classes_are_two_where_nothing_is_said():
    """Among three classes tallies of a third right decide too, so that thresholds are others."""
    one = some(0, 30)
    unsaid, two, three = (
        StoppingProgram(one.prior, one.reward, 30, *classes).thresholds(0.5 * one.top) for classes in ((), (2,), (3,))
    )
    np.testing.assert_array_equal(unsaid, two)
    assert (two != three).any()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_thresholds_lie_midway_between_the_last_kept_and_the_next(seed, classes):
    """Tallies of at least a guesser's share decide: the first of them that is kept, and the one below it."""
    prior = np.random.default_rng(seed).dirichlet(np.full(CELLS, 0.2))
    one = StoppingProgram(prior, np.minimum(information(GRID, classes), 2.0), 30, classes)
    price, found = 0.8 * one.top, 0
    least, kept, (mass, reward) = one.thresholds(price), one._values(price) > 0, one.tables
    for k in range(30):
        able = [c for c in range(k + 1) if classes * c >= k]
        first = next((c for c in able if kept[k, c]), None)
        if first is None:
            assert least[k] == np.inf
        elif first == able[0]:
            assert least[k] == -np.inf
        else:
            found += 1
            middle = (reward[k, first] / mass[k, first] + reward[k, first - 1] / mass[k, first - 1]) / 2
            assert least[k] == pytest.approx(middle, rel=1e-12)
    assert found > 3


def test_a_long_horizon_is_cut_without_promising_too_much(monkeypatch):
    """Beyond the cut the rest is taken or left as a whole, which is one of the rules: never better than the best."""
    long = some(1, 120)
    for share in (0.3, 0.8, 0.95):
        price = share * long.top
        whole = long._values(price)[0, 0]
        monkeypatch.setattr(programs, "LONGEST", 60)
        cut = some(1, 120)
        assert whole * 0.9 <= cut._values(price)[0, 0] <= whole + 1e-12
        monkeypatch.undo()

"""The stopping programme against every stopping rule there is."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
import pytest

from crowdopt.online.beliefs import worker_session
from crowdopt.online.beliefs.state import CELLS, GRID, information
from crowdopt.online.beliefs.worker_session import StoppingProgram


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
        assert one.brings(price) >= wanted * (1 - 1e-9) or price == worker_session.LEAST * one.top


DRAWN = np.random.default_rng(0).dirichlet(np.full(CELLS, 0.2))
GUESSERS = 0.7 * (np.abs(GRID - 0.3) < 0.04) + 0.3 * (np.abs(GRID - 0.45) < 0.04)  # and a few who are worth keeping


@pytest.mark.parametrize(("prior", "classes"), [(DRAWN, 2), (DRAWN, 3), (GUESSERS, 3)])
def test_thresholds_lie_midway_between_the_last_kept_and_the_next(prior, classes):
    """Tallies of at least a guesser's share decide, a third among three: the first that is kept, the one below it."""
    law = prior / prior.sum()
    one = StoppingProgram(law, np.minimum(information(GRID, classes), 2.0) * (1 / classes < GRID), 60, classes)
    price, found = 0.8 * one.top, 0
    least, kept, (mass, reward) = one.thresholds(price), one._values(price) > 0, one.tables
    for k in range(60):
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
        monkeypatch.setattr(worker_session, "LONGEST", 60)
        cut = some(1, 120)
        assert whole * 0.9 <= cut._values(price)[0, 0] <= whole + 1e-12
        monkeypatch.undo()

"""Liu & Liu 2015, what the code computes against values by hand: constants, bounds, weights, vetting, delays."""

from __future__ import annotations

from math import log, pi

import numpy as np
import pytest

from crowdopt.labelers import testers, theorems
from crowdopt.labelers.arrivals import KINDS, REPEAT, Labelers, simulated_tasks
from crowdopt.labelers.asking import known_of, picked, replay
from crowdopt.labelers.policies import named
from crowdopt.labelers.sets import best_set
from tests.chance import BASE, hoeffding

ZETA_3_2 = 2.6123753486854883
GIVEN = theorems.Constants(g1=2.0, g2=3.0, limit=1 / 12, alpha=0.05, epsilon=0.2, a_min=0.9)
SERIES = 2 * pi**2 / 6 + ZETA_3_2 / (0.05 * 0.2)  # 2 b_2 + b_(3/2) / (alpha epsilon)
LOG = log(1000)


def test_equation_6_by_hand():
    """P = (.9, .8, .7): pi of the three is .902, the best; the worst set is {.7}, so Delta_max = .202. Odd sizes:
    1 * 1 + 3 * 4 = 13; 2 * 13 + 3 = 29. Two kinds of the same skills: twice.
    """
    p, wanted = [0.9, 0.8, 0.7], 0.902 * 6 * LOG**2 + 0.202 * 29 * SERIES
    assert theorems.regret_bound(p, GIVEN, 1000) == pytest.approx(wanted, rel=1e-10)
    assert theorems.context_regret_bound([p, p], GIVEN, 1000) == pytest.approx(2 * wanted, rel=1e-10)


def test_equation_7_by_hand():
    """P = (.9, .6, .55): alone the first is best (.771 with the others). Costs .1, .2, .3: .5 outside of S*, .6 in all;
    M - |S*| = 2.
    """
    wanted = 0.5 * 2 * LOG + 0.6 * 6 * LOG**2 + 2 * 29 * SERIES
    found = theorems.cost_regret_bound([0.9, 0.6, 0.55], [0.1, 0.2, 0.3], GIVEN, 1000)
    assert found == pytest.approx(wanted, rel=1e-10)


def test_theorem_5_by_hand():
    """Every size: 1 + 2 * 2 + 3 * 4 = 17; 2 * 17 + 3 + 9/2 = 41.5."""
    wanted = 0.95 * 6 * LOG**2 + 0.3 * 41.5 * SERIES
    assert theorems.weighted_regret_bound(0.95, 0.3, 3, GIVEN, 1000) == pytest.approx(wanted, rel=1e-10)


def test_the_constants_by_hand():
    """M = 5: max m n(S_m) = 5 * 16 = 80. eps = .01, a_min = .9: G1 = (80/.01)^2, G2 = 1/.16; tight 2/(M+1) = 1/3. With
    alpha at half of its limit, twice as much; weighted by C = 10, max(4 * 10 * 5, 80) = 200.
    """
    for given, kind, g1, limit in (
        ({}, "printed", 6.4e7, 1 / 80),
        ({}, "tight", 9e4, 1 / 3),
        ({"alpha_share": 0.5}, "printed", 4 * 6.4e7, 1 / 80),
        ({"weighted": 10.0}, "printed", 4e8, 1 / 200),
        ({"weighted": 10.0}, "tight", 4e8, 1 / 200),
    ):
        one = theorems.constants(5, 0.01, 0.9, kind, **given)
        assert (one.g1, one.g2, one.limit) == pytest.approx((g1, 6.25, limit), rel=1e-9)
    assert [theorems.union_factor(*some) for some in ((5, 2.0), (4,), (4, 2.0))] == [80, 12, 32]


def started(text, skills, agree=None):
    """A policy that has begun, perhaps with ten testers and so many who agreed."""
    stream = simulated_tasks(Labelers(np.array([skills]), np.full(len(skills), 0.02)), 50, (0,))
    policy = named(text)
    policy.start(known_of(stream))
    if agree is not None:
        policy.testers.agree[0], policy.testers.seen[0], policy.testers.per_cell[0] = agree, 10, 10
    return policy


def test_testers_are_weighed_where_asked():
    """As printed a tester is a plain majority; with the option, and ten testers, votes weigh their log-odds."""
    assert started("ls-ol-weighted", [0.9, 0.6, 0.6], [9, 6, 6]).tester_weight(0) is None
    policy = started("ls-ol-weighted:weigh-testers", [0.9, 0.6, 0.6], [9, 6, 6])
    np.testing.assert_allclose(policy.tester_weight(0), [log(9), log(1.5), log(1.5)], rtol=1e-12)
    policy.testers.per_cell[0] = 9
    assert policy.tester_weight(0) is None


def test_weights_are_log_odds():
    """Estimates 9/10 and 3/5 of ten testers: ln 9 and ln 1.5, the tolerance with them; p = 1 is kept at 1 - .5/10."""
    ask = started("ls-ol-weighted:tolerance=.25", [0.9, 0.6, 0.6], [9, 6, 10]).best(0)
    assert ask.tolerance == 0.25
    np.testing.assert_allclose(ask.weight, [log(9), log(1.5), log(19)], rtol=1e-12)


def test_steps_by_hand():
    """D(t) = G ln t, and with eta = 1 from t = 3 on G ln^3 t."""
    assert theorems.steps(2.0, 10)[10] == pytest.approx(2 * log(10), rel=1e-12)
    assert theorems.steps(2.0, 10, 1.0)[[2, 10]] == pytest.approx([2 * log(2), 2 * log(10) ** 3], rel=1e-12)


def test_of_equal_sets_the_smallest_is_best():
    assert [best_set(p)[0].size for p in ([0.7, 0.7], [0.8, 0.8, 0.8])] == [1, 3]


def test_sums_within_the_tolerance_are_a_coin():
    """Sums 1 and 1.2: a difference of .2 is a tie at tolerance .25, decided by the coin, and none at .15."""
    for coin, tied in ((0.1, 0), (0.9, 1)):
        for tolerance, wanted in ((0.25, tied), (0.15, 1)):
            assert picked(np.array([[1.0, 1.2]]), tolerance, np.array([coin]))[0] == wanted


def test_when_vetting_drops():
    """One labeler always differs, the others never: exp(-N/2) falls below .1 at N = 5, below .4 at N = 2."""
    policy = started("ls-ol-vetting:threshold=.1", [0.9, 0.8, 0.7])
    for count in range(1, 6):
        policy.count_disagreement(np.array([1, 1, 0]), 1, count)
        assert policy.active.all() == (count < 5)
    assert not policy.active[2]


@pytest.mark.chance
def test_delays_are_waited_for():
    """One tester that always wants another label, each 1 to 19 steps after the last: about every tenth step.

    The waits are independent and 18 wide at most: their mean is near ten by Hoeffding's bound.
    """
    stream, repeats = simulated_tasks(Labelers(np.array([[0.8, 0.7, 0.6]]), np.full(3, 0.02)), 1500, (BASE,)), {}
    for delay in (0, 19):
        run = replay(named(f"ls-ol:g1=.01:g2=1000:delay={delay}"), stream, 0)
        repeats[delay] = int((run.kind == KINDS.index(REPEAT)).sum())
    assert repeats[0] > 1400
    assert abs(1500 / repeats[19] - 10) < hoeffding(repeats[19], 18)


def test_testers_by_hand():
    """First labels (1, 0), majority 1, then two rounds for 0: y* turns over, and so does who agreed."""
    told = testers.Testers(1, 2, 2)
    told.add(0, 0, 0.0, np.array([1, 0]), 1, 0)
    assert told.accuracy().tolist() == [[1.0, 0.0]]
    assert not told.repeat(0, 0, 0.9, 0) and told.repeat(0, 0, 0.9, 0)  # one each: the coin keeps 1
    assert told.accuracy().tolist() == [[0.0, 1.0]]
    assert told.under(3, 0).tolist() == [0] and told.under(2, 0).size == 0

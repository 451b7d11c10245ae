"""The bounds of tests/chance.py: their false alarms counted exactly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from tests.chance import FALSE_ALARM, between, fewest, hoeffding, mean_is_at_most, most


def tail(low: int, high: int, trials: int, chance: float) -> float:
    """Chance of a count outside, term by term."""
    counts = np.arange(trials + 1)
    return float(binom.pmf(counts, trials, chance)[(counts < low) | (counts > high)].sum())


@pytest.mark.parametrize(("trials", "chance"), [(40, 0.1), (1000, 0.003), (1000, 0.65), (40_000, 0.5)])
def test_a_true_claim_is_rejected_no_more_often_than_stated_and_nearly_so(trials, chance):
    """The sum of the binomial law outside; one count less would be outside too often."""
    high = most(trials, chance)
    assert tail(0, high, trials, chance) <= FALSE_ALARM < tail(0, high - 1, trials, chance)
    low = fewest(trials, 1 - chance)
    assert tail(low, trials, trials, 1 - chance) <= FALSE_ALARM < tail(low + 1, trials, trials, 1 - chance)
    assert tail(*map(int, between(trials, chance)), trials, chance) <= FALSE_ALARM


def test_cases_share_one_alarm():
    """A hundred coins, all within their bounds at once but for one time in a million."""
    low, high = between(np.full(100, 400), 0.5)
    assert 100 * tail(low[0], high[0], 400, 0.5) <= FALSE_ALARM < 100 * tail(200 - 40, 200 + 40, 400, 0.5)


def test_a_bound_that_cannot_be_crossed_is_refused():
    """Four coins out of four come up heads once in sixteen times: no count is an alarm, so nothing would be tested."""
    for vain, given in ((most, 4), (fewest, 4), (between, [4, 5]), (mean_is_at_most, [0] * 4)):
        with pytest.raises(ValueError, match="take more"):
            vain(given, 0.5)


@pytest.mark.parametrize(("trials", "mean"), [(20, 0.05), (200, 0.5)])
def test_a_mean_that_is_kept_raises_no_alarm_more_often_than_stated(trials, mean):
    """Values of 0 and 1: the bets depend on their number alone, so the chance of an alarm is a binomial sum."""
    values = [np.arange(trials) < ones for ones in range(trials + 1)]
    alarms = np.array([not mean_is_at_most(one, mean) for one in values])
    assert 0 < binom.pmf(np.arange(trials + 1), trials, mean)[alarms].sum() <= FALSE_ALARM


def test_a_narrow_law_is_told_from_a_lower_mean_by_few_values():
    """Sixty errors of .25, give or take .05, are not of mean .15; Hoeffding's bound would want 700."""
    values = 0.25 + 0.05 * (-1.0) ** np.arange(60)
    assert not mean_is_at_most(values, 0.15) and mean_is_at_most(values, 0.25)
    assert hoeffding(60) > 0.3 and hoeffding(725) == pytest.approx(0.1, abs=1e-3)


def test_hoeffding_holds_for_the_values_that_stray_most():
    """Coins of both ends of the interval: their exact tail is below the bound's."""
    for trials in (50, 1000):
        reach = hoeffding(trials, 2.0)  # values -1 and 1
        outside = np.abs(2 * np.arange(trials + 1) / trials - 1) >= reach
        assert 0 < binom.pmf(np.arange(trials + 1), trials, 0.5)[outside].sum() <= FALSE_ALARM

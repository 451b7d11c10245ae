"""Skills' priors, averaged over what gold leaves open: against sums over fine grids, and on crowds of known skills."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import binom
from scipy.stats import betabinom

from crowdopt.crowd.skills import FAMILIES, PRIORS, PriorParams, averaged, known, plug_in
from tests.chance import fewest, hoeffding, mean_is_at_most, rng, seeds

FINE = (np.arange(200) + 0.5) / 200
DOUBT = PriorParams().doubt
NAMES = [*((name,) for name in PRIORS), PRIORS]  # one or all


def tallies(seed: int, workers: int, gold: int) -> tuple[np.ndarray, np.ndarray]:
    """Of workers whose skills are uniform on [.4, .95]."""
    draws = np.random.default_rng(seed)
    asked = draws.integers(0, gold + 1, workers)
    return draws.binomial(asked, draws.uniform(0.4, 0.95, workers)).astype(float), asked.astype(float)


def by_sums(told: np.ndarray, more: np.ndarray, mean: np.ndarray) -> tuple[float, np.ndarray]:
    """Evidence and posterior means by a sum over parameters: l(c, s) and l(c + 1, s + 1), (parameters, workers)."""
    chance = np.where(mean > 0.5, 1.0, DOUBT) * told.prod(axis=1) / len(told)
    means = np.divide(more, told, out=np.zeros_like(told), where=told > 0)
    return float(np.log(chance.sum())), (chance / chance.sum()) @ means


def of_points(points: np.ndarray, weight: np.ndarray, c: np.ndarray, s: np.ndarray) -> tuple[float, np.ndarray]:
    """The same of priors on points, (parameters, points) with their weights."""
    each = weight[..., None] * points[..., None] ** c * (1 - points[..., None]) ** (s - c)
    return by_sums(each.sum(axis=1), (each * points[..., None]).sum(axis=1), (points * weight).sum(axis=1))


def of_beta(c: np.ndarray, s: np.ndarray) -> tuple[float, np.ndarray]:
    """The same of Beta laws: uniform means and correlations of answers."""
    mean, rho = (axis.ravel()[:, None] for axis in np.meshgrid(FINE[::2], FINE[::2]))
    law = mean * (1 / rho - 1), (1 - mean) * (1 / rho - 1)
    told = betabinom(s, *law).pmf(c) / binom(s, c)
    return by_sums(told, told * (law[0] + c) / (sum(law) + s), mean[:, 0])


def of_ranges(c: np.ndarray, s: np.ndarray) -> tuple[float, np.ndarray]:
    """The same of ranges between any two of FINE, by sums over ten skills a step."""
    skill = ((np.arange(2000) + 0.5) / 2000)[:, None]
    each = skill**c * (1 - skill) ** (s - c)
    told, more = (np.cumsum(part, axis=0)[5::10] for part in (each, each * skill))
    low, high = np.triu_indices(FINE.size, 1)
    count = 10 * (high - low)[:, None]
    return by_sums((told[high] - told[low]) / count, (more[high] - more[low]) / count, (FINE[low] + FINE[high]) / 2)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(2, 8))
def test_each_family_is_bayes(seed, workers):
    """Parameters uniform, crowds worse than a guess less likely: the lattice is as good as a fine one.

    Within .1 of the logarithm and .01 of a skill, a cell's part of what is doubted being a guess in either.
    """
    c, s = tallies(seed, workers, 12)
    axis, share = (np.arange(50) + 0.5) / 50, (np.arange(20) + 0.5) / 20
    ends = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)  # in either order: the same prior
    pairs = np.tile(np.column_stack([1 - share, share]), (len(ends), 1))
    sums = {
        "one-point": of_points(FINE[:, None], np.ones((FINE.size, 1)), c, s),
        "range": of_ranges(c, s),
        "two-points": of_points(np.repeat(ends, 20, axis=0), pairs, c, s),
        "beta": of_beta(c, s),
    }
    for name, (evidence, means) in sums.items():
        found = known(c, s, 2, (name,))
        assert found.fits[0].evidence == pytest.approx(evidence, abs=0.1), name
        np.testing.assert_allclose(found.means(c, s), means, atol=0.01, err_msg=name)


@pytest.mark.parametrize("name", FAMILIES)
@given(st.integers(0, 10**6), st.integers(0, 6))
def test_one_more_answer_is_right_or_wrong(name, seed, digits):
    """``l(c, s) = l(c + 1, s + 1) + l(c, s + 1)`` for any parameters and tallies, as far as they are apart.

    Logarithms of a million answers are right to 1e-9 of their size, and far tails to 1e-5 by their first two terms.
    """
    draws = np.random.default_rng(seed)
    theta = np.sort(draws.random((20, len(FAMILIES[name].cells))), axis=1)
    s = np.floor(10.0 ** draws.uniform(0, digits, 20))
    c = np.floor(draws.choice([0, 0.01, 0.5, 0.7, 1], 20) * s)
    now, right, wrong = (FAMILIES[name].likelihood(theta, c + a, s + b) for a, b in ((0, 0), (1, 1), (0, 1)))
    assert np.isfinite(now).all()
    np.testing.assert_allclose(np.logaddexp(right, wrong), now, rtol=1e-9, atol=1e-5)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("classes", [2, 3, 10])
def test_chances_of_all_that_gold_can_say_add_up(name, classes):
    """A worker's tallies exclude one another: their evidences, each as often as its order of answers, sum to the prior.

    That is what no answer leaves: less than 1 by the doubt of crowds below chance. .05 is the lattice's part.
    """
    of = [known([c], [6], classes, (name,)).fits[0].evidence for c in range(7)]
    nothing = known([0], [0], classes, (name,)).fits[0].evidence
    assert np.log((binom(6, np.arange(7)) * np.exp(of)).sum()) == pytest.approx(nothing, abs=0.05)


@given(st.integers(0, 10**6), st.integers(2, 60), st.sampled_from(NAMES))
@settings(max_examples=20)
def test_workers_are_exchangeable(seed, workers, names):
    """To the last bit: in any order, together or one by one; and who has no gold tells nothing of the others."""
    c, s = tallies(seed, workers, 30)
    s[0] = max(s[0], 1)
    order = np.random.default_rng(seed).permutation(workers)
    found = known(c, s, 2, names)
    means = found.means(c, s)
    assert (known(c[order], s[order], 2, names).means(c[order], s[order]) == means[order]).all()
    assert [found.means(c[j : j + 1], s[j : j + 1])[0] for j in order] == means[order].tolist()
    fresh = known(np.append(c, 0), np.append(s, 0), 2, names)
    assert [fresh.means(c[j : j + 1], s[j : j + 1])[0] for j in order] == means[order].tolist()


EXTREMES = [(c, s) for s in (0, 1, 20, 10**4, 10**6) for c in sorted({0, 1, s // 2, s - 1, s} & {*range(s + 1)})]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("names", NAMES, ids="+".join)
@pytest.mark.parametrize("classes", [2, 10])
def test_any_gold_tells_skills_of_any_worker(names, classes):
    """Nothing, all right, all wrong, opposites, one answer or a million: finite, without warnings, and in order.

    A million answers leave 1e-8 of a skill to rounding.
    """
    asked = np.array(EXTREMES, float).T
    for often in (0, 1, 20, 10**4, 10**6):
        for c in ([0], [often], [often // 2], [often] * 2, [0] * 40, [often] * 40, [0, often], [0, often] * 20):
            told = known(np.array(c, float), np.full(len(c), often, float), classes, names)
            means, drawn = told.means(*asked), told.draw(rng(), *asked)
            assert ((means >= 0) & (means <= 1) & (drawn >= 0) & (drawn <= 1)).all()
            assert all((np.diff(means[asked[1] == s]) >= -1e-8).all() for s in np.unique(asked[1]))


@given(st.integers(0, 10**6), st.sampled_from([1, 4, 16]), st.integers(0, 1))
@settings(max_examples=20)
def test_workers_who_come_later_count_as_if_they_had_come_first(seed, first, often):
    """A growing crowd's first quarter finds parameters, all weigh them: on average within .02 of what all find.

    That is the lattice's part, made for posteriors twice as wide, and the mixture's, which few workers do without. Who
    was not asked adds nothing.
    """
    c, s = tallies(seed, 4 * first - 1, 20)
    if often:  # all as often
        s[:], c = 20, np.minimum(c + 5, 20)
    s[0] = max(s[0], 1)
    priors = known(c[:first], s[:first])
    grown = priors.after(c[first:], s[first:])
    assert np.abs(grown.means(c, s) - known(c, s).means(c, s)).mean() < 0.02
    assert priors.after(np.zeros(3), np.zeros(3)) is priors


def test_of_very_many_tallies_some_tell_enough():
    """Of 600 workers who were all asked otherwise, a hundred tallies that stand for all leave skills as they are.

    Within .001 on average: the crowd's mean is known to .15/sqrt(600) = .006, and of that a skill with 20 answers or
    more takes over a seventh at most.
    """
    draws = rng()
    s = draws.permutation(600) + 20.0
    c = draws.binomial(s.astype(int), draws.uniform(0.5, 1, 600)).astype(float)
    part, whole = (known(c, s, params=PriorParams(tallies=most)).means(c, s) for most in (100, 600))
    assert np.abs(part - whole).mean() < 0.001


@pytest.mark.chance
def test_draws_have_the_moments_that_are_said():
    """Skills as gold leaves them open: their means, and of their squares ``l(c + 2, s + 2)/l(c, s)``."""
    c, s = tallies(3, 12, 10)
    for names in NAMES:
        priors, draws = known(c, s, 2, names), rng()
        drawn = np.stack([priors.draw(draws, c, s) for _ in range(1000)])
        square = priors.weight @ (priors.told(c, s)[1] * priors.told(c + 1, s + 1)[1])
        for power, said in ((1, priors.means(c, s)), (2, square)):
            assert np.abs((drawn**power).mean(axis=0) - said).max() < hoeffding(1000), (names, power)


@pytest.mark.chance
def test_nine_of_ten_skills_lie_in_their_ranges():
    """Of crowds drawn from a family that is averaged over: .88 or more, as quantiles of 200 draws allow.

    Workers of a crowd share what is believed of its prior, so crowds count, each with the share of its workers.
    """
    shares = []
    for seed in seeds(25):
        draws = np.random.default_rng(seed)
        true = draws.uniform(*np.sort(draws.random(2)), 100)
        c, s = draws.binomial(20, true).astype(float), np.full(100, 20.0)
        told = known(c, s, 2, ("range",))
        (low, high), means = told.ranges(c, s), told.means(c, s)
        assert ((low <= means) & (means <= high)).all()
        shares.append(((low <= true) & (true <= high)).mean())
    assert mean_is_at_most(1 - np.array(shares), 0.12)


@pytest.mark.chance
@pytest.mark.parametrize("gold", [20, 50])
@pytest.mark.parametrize("skills", [(0.5, 0.7), (0.6, 0.8), (0.8, 0.8)], ids=str)
def test_who_looks_best_is_as_good_as_is_said(skills, gold):
    """300 workers of two skills: of the best-looking 30 the mean is within .03, plain shares are .05 too high."""
    off = []
    for seed in seeds(12):
        draws = np.random.default_rng(seed)
        true = np.where(np.arange(300) % 2, *skills)
        c, s = draws.binomial(gold, true)[None], np.full((1, 300), gold)
        best = np.argsort(-c[0], kind="stable")[:30]
        off.append([estimate(c, s)[0, best].mean() - true[best].mean() for estimate in (averaged, plug_in)])
    mine, plain = np.array(off).T
    assert (np.abs(mine) < 0.03).sum() >= fewest(12, 0.95) and (plain > 0.05).sum() >= fewest(12, 0.95)


def test_a_type_without_gold_is_like_the_others():
    """And a worker without gold has the prior's mean."""
    found = averaged([[9, 4, 0], [0, 0, 0]], [[10, 10, 0], [0, 0, 0]])
    assert found[1] == pytest.approx(found[0]) and found[0, 1] < found[0, 2] < found[0, 0]

"""Gold: skills and tables by it, gold that cannot be right, and who errs together."""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import reduce
from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, betabinom, binom

import crowdopt
from crowdopt import InputError
from crowdopt.api.init import init
from crowdopt.crowd.error_correlation import chances_of_common, discoveries, error_correlation
from crowdopt.crowd.skills import (
    FALSE_ALARM,
    RHO,
    against_chance,
    confusions,
    empirical_bayes,
    heed,
    plug_in,
    tell_missing,
    unbiased,
    unbiased_evidence,
)
from crowdopt.errors import GoldWarning
from tests.chance import fewest, most, rng, seeds

ASKED = 20  # gold items of a worker


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_empirical_bayes_lies_between_the_tally_and_the_mean(seed, workers):
    """p~ = (c + mu t)/(s + t) is a convex combination of c/s and mu; no gold means mu."""
    rng = np.random.default_rng(seed)
    asked = rng.integers(0, 12, (2, workers))
    asked[0, 0] = max(asked[0, 0], 1)
    correct = rng.binomial(asked, rng.beta(3, 1.5, workers))
    estimate = empirical_bayes(correct, asked)
    assert ((estimate >= 0) & (estimate <= 1)).all()
    for c, s, row in zip(correct, asked, estimate, strict=True):
        if (s > 0).sum() < 2 or c.sum() in (0, s.sum()):
            continue
        mean, seen = c.sum() / s.sum(), s > 0
        low, high = np.minimum(c[seen] / s[seen], mean), np.maximum(c[seen] / s[seen], mean)
        assert (row[seen] >= low - 1e-12).all() and (row[seen] <= high + 1e-12).all()
        assert row[~seen] == pytest.approx(np.full((~seen).sum(), mean))


@pytest.mark.parametrize("workers", [5, 199, 200])
def test_equal_numbers_of_gold_follow_the_closed_form(workers):
    """For equal s: rho = (Var/(mu(1-mu)) - 1/s)/(1 - 1/s), t = 1/rho - 1.

    Of 200 workers the chance that all are alike draws to the mean: binomial chances against beta-binomial ones.
    """
    c, s = np.tile([9, 8, 6, 5, 4, 7, 8, 7, 9, 6] if workers > 5 else [9, 4, 7, 5, 10], 40)[:workers], 10
    p, mean = c / s, c.mean() / s
    rho = (p.var(ddof=1) / (mean * (1 - mean)) - 1 / s) / (1 - 1 / s)
    wanted = (c + mean * (1 / rho - 1)) / (s + 1 / rho - 1)
    if workers == 200:
        apart = np.mean([np.exp(betabinom(s, mean * t, (1 - mean) * t).logpmf(c).sum()) for t in 1 / RHO - 1])
        alike = 1 / (1 + apart / np.exp(binom.logpmf(c, s, mean).sum()))
        assert 0.85 < alike < 0.95
        wanted = alike * mean + (1 - alike) * wanted
    assert empirical_bayes([c], [np.full(workers, s)])[0] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("correct", "asked", "expected"),
    [
        ([7, 7, 7], [10, 10, 10], [0.7, 0.7, 0.7]),  # no spread: rho < 0, every worker is the mean
        ([10, 0, 10, 0], [10] * 4, [1.0, 0.0, 1.0, 0.0]),  # all or nothing: rho = 1, t = 0
        ([1, 0, 1], [1, 1, 1], [2 / 3] * 3),  # one question each says nothing about spread
        ([3, 3], [3, 3], [7 / 8, 7 / 8]),  # all right: the rule of succession, not certainty
        ([0, 0], [3, 3], [1 / 8, 1 / 8]),
        ([3, 0], [3, 0], [4 / 5, 1 / 2]),  # the first arrival: a uniform prior
    ],
)
def test_the_edges(correct, asked, expected):
    """Where the moments say nothing or too much, the decision is the stated one."""
    assert empirical_bayes([correct], [asked])[0] == pytest.approx(expected)


def test_a_type_without_gold_takes_the_mean_of_all():
    """No worker was asked about the second type: what is known of the crowd is its overall mean."""
    assert empirical_bayes([[8, 6], [0, 0]], [[10, 10], [0, 0]])[1] == pytest.approx([0.7, 0.7])


@pytest.mark.chance
def test_empirical_bayes_is_calibrated_where_plug_in_is_not():
    """Under a Beta(2.3, 2) crowd with 10 gold tasks: of the 30 who look best, the estimate is near their mean skill.

    That mean, given the tallies, is of Beta(2.3 + c, 12 - c). Crowds are independent; in 95 of 100 or more the estimate
    is within .03 of it and the plug-in's above it by .05.
    """
    seen = np.zeros(2, int)
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        correct = rng.binomial(10, rng.beta(2.3, 2, (1, 300)))
        best, asked = np.argsort(-correct[0], kind="stable")[:30], np.full_like(correct, 10)
        true = (2.3 + correct[0, best]).mean() / 14.3
        off = [estimate(correct, asked)[0, best].mean() - true for estimate in (empirical_bayes, plug_in)]
        seen += [abs(off[0]) < 0.03, off[1] > 0.05]
    assert (seen >= fewest(40, 0.95)).all()


@given(st.integers(2, 12), st.floats(0.05, 0.95))
def test_unbiased_evidence_is_unbiased_before_the_clip(s, p):
    """E (s q - 1)/(s - 1) = (2p - 1)^2 over the binomial law of the tally; whose side is kept."""
    c = np.arange(s + 1)
    raw = (s * (2 * c / s - 1) ** 2 - 1) / (s - 1)
    assert binom.pmf(c, s, p) @ raw == pytest.approx((2 * p - 1) ** 2)
    found = unbiased_evidence([c], [np.full(s + 1, s)])[0]
    assert found == pytest.approx(np.maximum(0, raw))
    assert unbiased([c], [np.full(s + 1, s)])[0] == pytest.approx(0.5 + np.where(2 * c < s, -0.5, 0.5) * np.sqrt(found))
    assert np.isnan(unbiased([[1, 0]], [[1, 0]])).all()  # of fewer than two questions nothing unbiased can be said


@pytest.mark.parametrize(
    ("correct", "asked"), [([[3]], [[2]]), ([[-1]], [[2]]), ([[0.5]], [[2]]), ([[1, 2]], [[3]]), ([[0]], [[0]])]
)
def test_impossible_tallies_are_refused(correct, asked):
    """More right than asked, fractions, negatives, no worker asked: no estimate comes out of these."""
    with pytest.raises(InputError):
        empirical_bayes(correct, asked)


@pytest.mark.chance
@pytest.mark.parametrize(("accuracy", "gold"), [(0.6414, 8), (0.8, 10)])
def test_the_luckiest_of_a_crowd_of_equals_are_no_better_than_the_crowd(accuracy, gold):
    """300 workers of one accuracy: in nine of ten independent crowds or more all get its share of right answers.

    By moments alone half of such crowds show a spread, and a plan buys from those who were lucky. Where half guess and
    half know everyone keeps a skill of their own.
    """
    right = (rng(seed).binomial(gold, accuracy, (1, 300)) for seed in seeds(40))
    assert sum(np.ptp(empirical_bayes(c, np.full((1, 300), gold))) == 0 for c in right) >= fewest(40, 0.9)
    assert np.ptp(empirical_bayes(np.repeat([10, 18], 150)[None], np.full((1, 300), 20))) > 0.3


@pytest.mark.chance
def test_tables_from_gold_are_shares_drawn_to_the_crowds():
    """Gold counts as it is; the crowd's table as one number of labels, which is all that a worker without gold has."""
    draws = rng()
    true = draws.dirichlet(np.array([8.0, 1.0, 1.0]), (40, 3))
    tallies = draws.multinomial(2000, np.stack([np.roll(true[:, k], k, axis=1) for k in range(3)], axis=1))
    tallies[-1] = 0
    found = confusions(tallies)
    np.testing.assert_allclose(found[-1], tallies.sum(axis=0) / tallies.sum(axis=(0, 2))[:, None], atol=1e-3)
    np.testing.assert_allclose(found.sum(axis=2), 1)
    share = tallies[:-1] / 2000
    drawn = (found[:-1] - share)[share != found[-1]] / (found[-1] - share)[share != found[-1]]
    assert np.ptp(drawn) < 1e-6 and 0 < drawn[0] < 0.5
    with pytest.raises(InputError, match="need gold"):
        confusions(np.zeros((2, 3, 3), int))


@pytest.mark.chance
def test_a_crowd_of_equals_is_one_table_for_all():
    """Five gold answers of each class and worker: in eight crowds of ten or more all are within .1 of their mean.

    Crowds are independent, of 300 it was nine of ten.
    """
    one, near = np.full((3, 3), 0.1) + 0.7 * np.eye(3), 0
    for seed in seeds(40):
        few = np.random.default_rng(seed).multinomial(5, np.broadcast_to(one, (40, 3, 3)))
        near += np.abs(confusions(few) - few.mean(axis=0) / 5).max() < 0.1
    assert near >= fewest(40, 0.8)


def tail(right: int, asked: int, classes: int) -> Fraction:
    """``P(Bin(s, 1/K) <= c)`` as a fraction."""
    chance = Fraction(1, classes)
    return sum((comb(asked, k) * chance**k * (1 - chance) ** (asked - k) for k in range(right + 1)), Fraction())


@given(
    st.lists(st.tuples(st.integers(0, 25), st.sampled_from([0, 1, 2, 9, 25])), min_size=1, max_size=12),
    st.integers(2, 4),
)
def test_tails_are_those_of_guessing_and_those_named_are_holms(pairs, classes):
    """Of each worker and of all together, against fractions; a worker without gold is never below chance.

    Holm: the k-th smallest tail is held against alpha / (m - k + 1), and the first that fails ends it.
    """
    asked = np.array([s for s, _ in pairs])
    right = np.array([min(s, c) for s, c in pairs])
    test = against_chance(right, asked, classes)
    wanted = [tail(c, s, classes) for c, s in zip(right.tolist(), asked.tolist(), strict=True)]
    np.testing.assert_allclose(test.tails, np.array(wanted, float), rtol=1e-9)
    assert test.tail == pytest.approx(float(tail(int(right.sum()), int(asked.sum()), classes)), rel=1e-9)
    known, named = int((asked > 0).sum()), []
    for worker in sorted(np.flatnonzero(asked).tolist(), key=lambda j: wanted[j]):
        if wanted[worker] > FALSE_ALARM / 2 / (known - len(named)):
            break
        named.append(worker)
    assert sorted(test.low.tolist()) == sorted(named)


@pytest.mark.chance
@pytest.mark.parametrize(("workers", "classes"), [(5, 2), (25, 3), (60, 4)])
def test_guessers_and_better_are_not_found_fault_with(workers, classes):
    """The law: where nobody is below chance, each of the two tests errs with half of FALSE_ALARM at most."""
    crowds = lows = 0
    for seed in seeds(300):
        draws = np.random.default_rng([seed, workers, classes])
        skill = np.where(draws.random(workers) < 0.5, 1 / classes, 1 / classes + (1 - 1 / classes) * draws.random())
        test = against_chance(draws.binomial(ASKED, skill), np.full(workers, ASKED), classes)
        crowds += test.is_crowd_low
        lows += test.low.size > 0
    assert max(crowds, lows) <= most(300, FALSE_ALARM / 2)


@pytest.mark.parametrize("classes", [2, 4])
def test_a_table_turned_round_is_found_99_times_in_100(classes):
    """25 workers of Beta(6, 3), labels moved round among the classes: right where an error had meant so.

    The law of the sum of 25 workers who are turned round, by convolving one worker's 24 times.
    """
    c, everything = np.arange(ASKED + 1), np.arange(25 * ASKED + 1)
    skill = (np.arange(2000) + 0.5) / 2000
    turned = binom.pmf(c[:, None], ASKED, (1 - skill) / (classes - 1)) @ beta.pdf(skill, 6, 3) / 2000
    found = reduce(np.convolve, [turned] * 25)
    refused = binom.cdf(everything, 25 * ASKED, 1 / classes) <= FALSE_ALARM / 2
    assert found[refused].sum() >= 0.99


def test_what_is_said_of_gold():
    """What, where, the test's figure, and how to go on; of gold that is right, nothing."""
    names, honest = "abcdefghij", [16] * 9
    with pytest.raises(InputError, match=r"gold.csv: 60 of 200 gold .* where guessing gets 100 .*--trust-gold"):
        heed(against_chance([6] * 10, [20] * 10, 2), names, "gold.csv")
    with pytest.warns(GoldWarning, match=r"1 of 10 worker\(s\) got fewer .*: j 0 of 20 \(9.5e-07\); their votes"):
        heed(against_chance([*honest, 0], [20] * 10, 2), names, "gold.csv")
    with pytest.warns(GoldWarning, match="10 of 20 gold answers are right, where guessing gets 10"):
        heed(against_chance([10], [20], 2), names, "gold.csv")
    with pytest.warns(GoldWarning, match="1 of 3 worker.s. without gold, counted with .*: c; 1 pair.s. of"):
        tell_missing(np.array([[20, 20, 0], [20, 0, 0]]), "abc", "gold.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heed(against_chance(honest, [20] * 9, 2), names, "gold.csv")
        tell_missing(np.full((2, 9), 20), names, "gold.csv")


def test_a_warning_points_to_the_line_of_the_user():
    """Not into the package."""
    gold = {"worker": [*"abcdefgh"], "correct": [16] * 7 + [0], "asked": [20] * 8}
    with pytest.warns(GoldWarning, match="h 0 of 20") as caught:
        crowdopt.skills(gold)
    assert caught[0].filename == __file__


def test_a_campaign_turned_round_is_refused_and_goes_on_where_it_is_trusted(tmp_path):
    """Every verb that decides; what only looks back at a plan does not ask again."""
    folder = tmp_path / "birds"
    init(folder)
    head, *rows = (folder / "gold.csv").read_text(encoding="utf-8").split()
    cells = [row.split(",") for row in rows]
    turned = [f"{worker},{kind},{int(s) - int(c)},{s}" for worker, kind, c, s in cells]
    (folder / "gold.csv").write_text("\n".join([head, *turned, ""]), encoding="utf-8")
    for call in (crowdopt.assign, crowdopt.explain, crowdopt.read_campaign):
        with pytest.raises(InputError, match="labels and truth do not fit each other"):
            call(folder)
    plan = crowdopt.assign(folder, trust_gold=True, output=tmp_path / "plan")
    assert plan.found and crowdopt.verify(folder, tmp_path / "plan").holds
    settings = folder / "campaign.toml"
    settings.write_text("trust_gold = true\n" + settings.read_text(encoding="utf-8"), encoding="utf-8")
    assert crowdopt.read_campaign(folder).n_workers == 10


def test_tables_of_labels_turned_round(tmp_path):
    """Import, select and weighted votes stop too; an imported campaign that was trusted goes on being so."""
    right = np.add.outer(np.arange(60), np.arange(8)) % 5 == 0
    labels = ["task,worker,label", *(f"t{i},w{j},{'ny'[i % 2 ^ ~right[i, j] & 1]}" for i, j in np.ndindex(60, 8)), ""]
    truth = ["task,label", *(f"t{i},{'ny'[i % 2]}" for i in range(60)), ""]
    (tmp_path / "labels.csv").write_text("\n".join(labels), encoding="utf-8")
    (tmp_path / "truth.csv").write_text("\n".join(truth), encoding="utf-8")
    with pytest.raises(InputError, match="truth: .* gold answers are right"):
        crowdopt.import_labels(tmp_path / "labels.csv", tmp_path / "truth.csv")
    made = {"output": tmp_path / "made", "trust_gold": True}
    crowdopt.import_labels(tmp_path / "labels.csv", tmp_path / "truth.csv", **made)
    assert crowdopt.read_campaign(tmp_path / "made").n_workers == 8
    tally = right.sum(axis=0)
    with pytest.raises(InputError, match="gold: .* gold answers are right"):
        crowdopt.select(tally, 60)
    assert crowdopt.select(tally, 60, trust_gold=True).found
    with pytest.raises(InputError, match="the table: .* gold answers are right"):
        crowdopt.skills({"worker": [*"abcdefgh"], "correct": tally, "asked": [60] * 8})


def cribs(tied: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six workers, 400 tasks; the first three copy a crib with probability ``tied``, all err with .2."""
    rng = np.random.default_rng(seed)
    wrong = rng.random((400, 6)) < 0.2
    crib, copies = rng.random(400) < 0.2, rng.random((400, 3)) < tied
    wrong[:, :3] = np.where(copies, crib[:, None], wrong[:, :3])
    task, worker = np.indices(wrong.shape)
    return task.ravel(), worker.ravel(), wrong.ravel()


@pytest.mark.chance
def test_a_crib_is_found_and_its_users_suggested_as_a_family():
    """Copies with probability .7 correlate by .49; three such are worth about 1.5 votes.

    Crowds are independent. In 95 of 100 or more the three are a family and their votes are near that number; the first
    pair's interval has .49 in it in 70 of 100 or more (of 1000 in 83: Fisher's transform is of normal errors).
    """
    seen, trials = np.zeros(3, int), 20
    for seed in seeds(trials):
        found = error_correlation(*cribs(0.7, seed), 6)
        inside = (found.first < 3) & (found.second < 3)
        family = found.warned[inside].all() and found.family.tolist()[:3] == [0, 0, 0]
        near = abs(found.effective_votes([0, 1, 2]) - 3 / (1 + 2 * 0.49)) < 0.25
        seen += [family, near, found.low[0] < 0.49 < found.high[0]]
    assert (seen >= [fewest(trials, 0.95), fewest(trials, 0.95), fewest(trials, 0.7)]).all()


def crowd(shape: tuple[int, int, int], low: float, high: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(tasks, workers, labels of a task): independent workers with skills between, and who labels what by chance."""
    tasks, workers, each = shape
    rng = np.random.default_rng(seed)
    wrong = rng.random((tasks, workers)) > rng.uniform(low, high, workers)
    there = np.argsort(rng.random((tasks, workers)), axis=1) < each
    task, worker = np.nonzero(there)
    return task, worker, wrong[there]


@pytest.mark.chance
@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [((400, 6, 6), 0.8, 0.8), ((60, 15, 15), 0.85, 0.98), ((200, 30, 10), 0.6, 0.85)],
)
def test_the_independent_are_left_in_peace(shape, low, high):
    """Of independent crowds one in twenty at most has any pair that is warned about, whatever the skills and shape."""
    trials = 60
    warned = sum(error_correlation(*crowd(shape, low, high, seed), shape[1]).warned.any() for seed in seeds(trials))
    assert warned <= most(trials, 0.05)


def test_the_chance_of_common_errors_is_that_of_all_orders():
    """Two types of four and five tasks: of all ways to lay the second worker's errors out, type by type."""
    first = [np.array([1, 1, 0, 0]), np.array([1, 1, 1, 0, 0])]
    seen = [np.array([1, 0, 1, 0]), np.array([1, 1, 0, 1, 0])]
    sums = [
        [int((mine * other).sum()) for other in set(permutations(theirs))]
        for mine, theirs in zip(first, seen, strict=True)
    ]
    ways = np.add.outer(*map(np.array, sums)).ravel()
    tallies = [np.array([[row.sum()] for row in rows]) for rows in (first, seen)]
    for common in range(6):
        chance = chances_of_common(np.array([common]), np.array([[4], [5]]), *tallies)[0]
        usual = 2 * 2 / 4 + 3 * 3 / 5
        assert chance == pytest.approx((ways >= common).mean() if common > usual else 1.0, abs=1e-12)


def test_within_types_it_is_the_correlation_of_what_is_left_of_errors():
    """Of errors less each worker's share in the type: that every sixth task is hard for all is no dependence."""
    task, worker, wrong = cribs(0.7, 0)
    wrong |= task % 6 == 1
    found = error_correlation(task, worker, wrong, 6, kind=task % 2)
    left = wrong.reshape(400, 6).astype(float)
    for type_ in range(2):
        left[type_::2] -= left[type_::2].mean(axis=0)
    assert found.correlation == pytest.approx(np.corrcoef(left.T)[found.first, found.second], abs=1e-12)


def test_pairs_that_share_too_little_are_left_out():
    """Eight tasks in common tell nothing; a label twice is an error.

    Holm: .01 <= .05/4, .0166 <= .05/3, .026 > .05/2; .04 is below .05, but behind it.
    """
    assert discoveries(np.array([0.04, 0.01, 0.026, 0.0166]), 0.05).tolist() == [False, True, False, True]
    task, worker, wrong = cribs(1.0, 0)
    assert error_correlation(task[:48], worker[:48], wrong[:48], 6).first.size == 0
    with pytest.raises(InputError, match="twice"):
        error_correlation([0, 0], [1, 1], [True, False], 2)

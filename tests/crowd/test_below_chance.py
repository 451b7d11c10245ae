"""Gold against guessing: a turned-round table is found, an honest one is not, whatever its skills."""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import reduce
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

import crowdopt
from crowdopt import InputError
from crowdopt.crowd.gold.below_chance import FALSE_ALARM, against_chance, heed, tell_missing
from crowdopt.errors import GoldWarning
from tests.chance import most, seeds

ASKED = 20  # gold items of a worker


def tail(right: int, asked: int, classes: int) -> Fraction:
    """``P(Bin(s, 1/K) <= c)`` as a fraction."""
    chance = Fraction(1, classes)
    return sum((comb(asked, k) * chance**k * (1 - chance) ** (asked - k) for k in range(right + 1)), Fraction())


@given(st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), min_size=1, max_size=6), st.integers(2, 4))
def test_tails_are_those_of_guessing(pairs, classes):
    """Of each worker and of all together, against fractions; a worker without gold is never below chance."""
    asked = np.array([s for s, _ in pairs])
    right = np.array([min(s, c) for s, c in pairs])
    test = against_chance(right, asked, classes)
    wanted = [float(tail(c, s, classes)) for c, s in zip(right.tolist(), asked.tolist(), strict=True)]
    np.testing.assert_allclose(test.tails, wanted, rtol=1e-9)
    assert test.tail == pytest.approx(float(tail(int(right.sum()), int(asked.sum()), classes)), rel=1e-9)
    assert not np.isin(test.low, np.flatnonzero(asked == 0)).any()


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_those_named_are_holms(seed, classes):
    """Holm: the k-th smallest tail is held against alpha / (m - k + 1), and the first that fails ends it."""
    draws = np.random.default_rng(seed)
    asked = draws.integers(1, 40, 12)
    right = draws.binomial(asked, draws.beta(0.5, 2, 12))
    test, named = against_chance(right, asked, classes), []
    for k, worker in enumerate(np.argsort(test.tails, kind="stable").tolist()):
        if test.tails[worker] > FALSE_ALARM / 2 / (12 - k):
            break
        named.append(worker)
    assert sorted(test.low.tolist()) == sorted(named)


@pytest.mark.chance
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("workers", [5, 25, 60])
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


@pytest.mark.parametrize("classes", [2, 3, 4])
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


def test_line_ends_left_in_one_table_are_found_with_few_answers():
    """Nothing fits then: 11 wrong of 11 for two classes are enough, ``2^-11 < 1/2000``."""
    assert against_chance([0], [11], 2).is_crowd_low and not against_chance([0], [10], 2).is_crowd_low


def test_sentences():
    """What, where, the test's figure, and how to go on."""
    with pytest.raises(
        InputError, match=r"gold.csv: 60 of 200 gold answers are right, where guessing gets 100 \(so few by chance"
    ):
        heed(against_chance([6] * 10, [20] * 10, 2), [f"w{j}" for j in range(10)], "gold.csv")
    with pytest.raises(InputError, match="--trust-gold"):
        heed(against_chance([0], [20], 2), ["ada"], "gold.csv")
    honest = [16] * 9
    with pytest.warns(GoldWarning, match=r"1 of 10 worker\(s\) got fewer .*: bo 0 of 20 \(9.5e-07\); their votes"):
        heed(against_chance([*honest, 0], [20] * 10, 2), [*"abcdefghi", "bo"], "gold.csv")
    with pytest.warns(
        GoldWarning, match="10 of 20 gold answers are right, where guessing gets 10, so it shows no skill"
    ):
        heed(against_chance([10], [20], 2), ["ada"], "gold.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heed(against_chance(honest, [20] * 9, 2), "abcdefghi", "gold.csv")
        tell_missing(np.full((2, 9), 20), "abcdefghi", "gold.csv")
    with pytest.warns(
        GoldWarning, match="1 of 3 worker.s. without gold, counted with the crowd's mean: c; 1 pair.s. of"
    ):
        tell_missing(np.array([[20, 20, 0], [20, 0, 0]]), "abc", "gold.csv")


@pytest.fixture
def upside_down(tmp_path):
    """The sample campaign with right and wrong exchanged."""
    from crowdopt.api.init import init

    init(tmp_path / "birds")
    gold = tmp_path / "birds" / "gold.csv"
    head, *rows = gold.read_text(encoding="utf-8").split()
    cells = [row.split(",") for row in rows]
    turned = [f"{worker},{kind},{int(s) - int(c)},{s}" for worker, kind, c, s in cells]
    gold.write_text("\n".join([head, *turned, ""]), encoding="utf-8")
    return tmp_path / "birds"


def test_a_warning_points_to_the_line_of_the_user():
    """Not into the package."""
    gold = {"worker": [*"abcdefgh"], "correct": [16] * 7 + [0], "asked": [20] * 8}
    with pytest.warns(GoldWarning, match="h 0 of 20") as caught:
        crowdopt.skills(gold)
    assert caught[0].filename == __file__


def test_a_campaign_turned_round_is_refused_and_goes_on_where_it_is_trusted(upside_down, tmp_path):
    """Every verb that decides; what only looks back at a plan does not ask again."""
    decide = (crowdopt.assign, crowdopt.explain, crowdopt.read_campaign)
    for call in decide:
        with pytest.raises(InputError, match="labels and truth do not fit each other"):
            call(upside_down)
    plan = crowdopt.assign(upside_down, trust_gold=True, output=tmp_path / "plan")
    assert plan.found and crowdopt.verify(upside_down, tmp_path / "plan").holds
    settings = upside_down / "campaign.toml"
    settings.write_text("trust_gold = true\n" + settings.read_text(encoding="utf-8"), encoding="utf-8")
    assert crowdopt.read_campaign(upside_down).n_workers == 10


def test_tables_of_labels_turned_round(tmp_path):
    """Import, select and weighted votes stop too; an imported campaign that was trusted goes on being so."""
    true = np.arange(60) % 3 % 2
    wrong = np.add.outer(np.arange(60), np.arange(8)) % 5 > 0
    names = ["no", "yes"]
    rows = [f"t{i},w{j},{names[true[i] ^ wrong[i, j]]}" for i in range(60) for j in range(8)]
    (tmp_path / "labels.csv").write_text("\n".join(["task,worker,label", *rows, ""]), encoding="utf-8")
    known = [f"t{i},{names[true[i]]}" for i in range(60)]
    (tmp_path / "truth.csv").write_text("\n".join(["task,label", *known, ""]), encoding="utf-8")
    right = (~wrong).sum(axis=0)
    gold = {"worker": [f"w{j}" for j in range(8)], "correct": right, "asked": [60] * 8}
    with pytest.raises(InputError, match="truth: .* gold answers are right"):
        crowdopt.import_labels(tmp_path / "labels.csv", tmp_path / "truth.csv")
    made = {"output": tmp_path / "made", "trust_gold": True}
    crowdopt.import_labels(tmp_path / "labels.csv", tmp_path / "truth.csv", **made)
    assert crowdopt.read_campaign(tmp_path / "made").n_workers == 8
    with pytest.raises(InputError, match="gold: .* gold answers are right"):
        crowdopt.select(right, 60)
    assert crowdopt.select(right, 60, trust_gold=True).found
    with pytest.raises(InputError, match="the table: .* gold answers are right"):
        crowdopt.skills(gold)

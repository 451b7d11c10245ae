"""Gold: skills and tables by it, gold that cannot be right, and who errs together."""

from __future__ import annotations

import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, dirichlet_multinomial

import crowdopt
from crowdopt import InputError
from crowdopt.crowd.error_correlation import chances_of_common, error_correlation
from crowdopt.crowd.skills import (
    FALSE_ALARM,
    STRENGTHS,
    against_chance,
    averaged,
    confusions,
    heed,
    tell_missing,
    unbiased,
)
from crowdopt.errors import GoldWarning
from crowdopt.verbs.generate import init
from tests.chance import fewest, most, seeds


@pytest.mark.parametrize(("correct", "asked"), [([3], [2]), ([-1], [2]), ([0.5], [2]), ([1, 2], [3]), ([0], [0])])
def test_impossible_tallies_are_refused(correct, asked):
    """More right than asked, negatives, fractions, other workers, no worker asked: no estimate comes out of these."""
    with pytest.raises(InputError):
        averaged([correct], [asked])


@given(st.integers(2, 12), st.floats(0.05, 0.95))
def test_the_evidence_of_the_unbiased_is_unbiased_before_the_clip(s, p):
    """E (s q - 1)/(s - 1) = (2p - 1)^2 over the binomial law of the tally; whose side is kept."""
    c = np.arange(s + 1)
    raw = (s * (2 * c / s - 1) ** 2 - 1) / (s - 1)
    assert binom.pmf(c, s, p) @ raw == pytest.approx((2 * p - 1) ** 2)
    found = unbiased([c], [np.full(s + 1, s)])[0]
    assert (2 * found - 1) ** 2 == pytest.approx(np.maximum(0, raw)) and ((found < 0.5) <= (2 * c < s)).all()
    assert np.isnan(unbiased([[1, 0]], [[1, 0]])).all()  # of fewer than two questions nothing unbiased can be said


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 4))
def test_tables_from_gold_are_shares_drawn_to_the_crowds(seed, workers, classes):
    """Gold counts as it is, and the crowd's table as the number of labels under which it is likeliest."""
    draws = np.random.default_rng(seed)
    tallies = draws.multinomial(draws.integers(1, 30), draws.dirichlet(np.ones(classes), (workers, classes)))
    tallies[0] = 0
    found, crowd, logs = confusions(tallies), tallies.sum(axis=0), np.zeros(STRENGTHS.size)
    table = found[0]  # of a worker without gold: the crowd's
    assert (np.abs(table * (crowd.sum(axis=1, keepdims=True) + 1) - crowd) <= 1).all()  # but for one label a class
    for j, k in np.argwhere(tallies.any(axis=2)):
        weights = STRENGTHS[:, None] * table[k]
        logs += dirichlet_multinomial(weights, tallies[j, k].sum()).logpmf(tallies[j, k])
    likeliest = STRENGTHS[logs > logs.max() - 1e-9]
    tables = [(tallies + a * table) / (tallies.sum(axis=2, keepdims=True) + a) for a in likeliest]
    assert any(np.allclose(found, one, rtol=1e-12) for one in tables)
    with pytest.raises(InputError, match="need gold"):
        confusions(0 * tallies)


@given(
    st.lists(st.tuples(st.integers(0, 25), st.sampled_from([0, 1, 2, 9, 25])), min_size=1, max_size=12),
    st.integers(2, 4),
)
def test_tails_are_those_of_guessing_and_those_named_are_holms(pairs, classes):
    """Of each worker and of all together; a worker without gold is never below chance.

    Holm: the k-th smallest tail is held against alpha / (m - k + 1), and the first that fails ends it.
    """
    right, asked = np.minimum(*np.transpose(pairs)), np.transpose(pairs)[1]
    of_all, tails, low = against_chance(right, asked, classes)
    wanted = [binom.pmf(np.arange(c + 1), s, 1 / classes).sum() for c, s in zip(right, asked, strict=True)]
    assert tails == pytest.approx(wanted, rel=1e-9)
    assert of_all == pytest.approx(binom.cdf(right.sum(), asked.sum(), 1 / classes), rel=1e-9)
    known, named = np.count_nonzero(asked), []
    for worker in sorted(np.flatnonzero(asked), key=wanted.__getitem__):
        if wanted[worker] > FALSE_ALARM / 2 / (known - len(named)):
            break
        named.append(worker)
    assert sorted(low) == sorted(named)


def test_what_is_said_of_gold():
    """What, where, the test's figure, and how to go on, at the line of the user; of gold that is right, nothing."""
    names, honest = "abcdefghij", [16] * 9
    with pytest.raises(InputError, match=r"gold.csv: 60 of 200 gold .* where guessing gets 100 .*--trust-gold"):
        heed([6] * 10, [20] * 10, 2, names, "gold.csv")
    with pytest.warns(GoldWarning, match=r"1 of 10 worker\(s\) got fewer .*: j 0 of 20 \(9.5e-07\); their") as caught:
        crowdopt.skills({"worker": [*names], "correct": [*honest, 0], "asked": [20] * 10})
    assert caught[0].filename == __file__
    with pytest.warns(GoldWarning, match="10 of 20 gold answers are right, where guessing gets 10"):
        heed([10], [20], 2, names, "gold.csv")
    with pytest.warns(GoldWarning, match="1 of 3 worker.s. without gold, counted with .*: c; 1 pair.s. of"):
        tell_missing(np.array([[20, 20, 0], [20, 0, 0]]), "abc", "gold.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heed(honest, [20] * 9, 2, names, "gold.csv")
        tell_missing(np.full((2, 9), 20), names, "gold.csv")


def test_gold_turned_round_is_refused_and_goes_on_where_it_is_trusted(tmp_path):
    """By every verb that decides; what only looks back at a plan does not ask again, nor a campaign that trusts."""
    folder, made = tmp_path / "birds", tmp_path / "made"
    init(folder)
    head, *rows = (folder / "gold.csv").read_text(encoding="utf-8").split()
    cells = [row.split(",") for row in rows]
    turned = [f"{worker},{kind},{int(s) - int(c)},{s}" for worker, kind, c, s in cells]
    (folder / "gold.csv").write_text("\n".join([head, *turned, ""]), encoding="utf-8")
    right = np.add.outer(np.arange(60), np.arange(8)) % 5 == 0
    task, worker = (place.ravel() for place in np.indices(right.shape))
    labels = {"task": task, "worker": worker, "label": task % 2 ^ ~right.ravel() & 1}
    truth = {"task": np.arange(60), "label": np.arange(60) % 2}
    for verb, *tables in (
        *((verb, folder) for verb in (crowdopt.solve, crowdopt.explain, crowdopt.read_campaign)),
        (crowdopt.import_labels, labels, truth),
        (crowdopt.select, right.sum(axis=0), 60),
    ):
        with pytest.raises(InputError, match=r"gold answers are right, .* labels and truth do not fit each other"):
            verb(*tables)
    assert crowdopt.solve(folder, trust_gold=True, output=tmp_path / "plan").found
    assert crowdopt.verify(folder, tmp_path / "plan").holds
    assert crowdopt.select(right.sum(axis=0), 60, trust_gold=True).found
    crowdopt.import_labels(labels, truth, output=made, trust_gold=True)
    assert crowdopt.read_campaign(made).n_workers == 8


def cribs(seed: int) -> np.ndarray:
    """Errors on 400 tasks of six workers: all err with .2, and the first three copy a crib with probability .7."""
    draws = np.random.default_rng(seed)
    wrong = draws.random((400, 6)) < 0.2
    crib, copies = draws.random(400) < 0.2, draws.random((400, 3)) < 0.7
    wrong[:, :3] = np.where(copies, crib[:, None], wrong[:, :3])
    return wrong


@pytest.mark.chance
def test_a_crib_is_found_and_its_users_suggested_as_a_family():
    """Copies with probability .7 correlate by .49; three such are worth about 1.5 votes.

    Crowds are independent. In 95 of 100 or more the three are a family and their votes are near that number; the first
    pair's interval has .49 in it in 70 of 100 or more (of 1000 in 83: Fisher's transform is of normal errors). One in
    twenty at most has another pair that is warned about.
    """
    trials, seen = 40, np.zeros(4, int)
    for seed in seeds(trials):
        wrong = cribs(seed)
        found = error_correlation(*(place.ravel() for place in (*np.indices(wrong.shape), wrong)), 6)
        inside = (found.first < 3) & (found.second < 3)
        family = found.warned[inside].all() and found.family.tolist()[:3] == [0, 0, 0]
        near = abs(found.effective_votes([0, 1, 2]) - 3 / (1 + 2 * 0.49)) < 0.25
        seen += [family, near, found.low[0] < 0.49 < found.high[0], found.warned[~inside].any()]
    assert (seen[:3] >= [fewest(trials, 0.95), fewest(trials, 0.95), fewest(trials, 0.7)]).all()
    assert seen[3] <= most(trials, 0.05)


def test_the_chance_of_common_errors_is_that_of_all_orders():
    """Two types of four and five tasks: of all ways to lay the second worker's errors out, type by type."""
    first, seen = [(1, 1, 0, 0), (1, 1, 1, 0, 0)], [(1, 0, 1, 0), (1, 1, 0, 1, 0)]
    sums = [[np.dot(a, b) for b in set(permutations(other))] for a, other in zip(first, seen, strict=True)]
    ways = np.add.outer(*sums).ravel()
    errors = [[[sum(row)] for row in rows] for rows in (first, seen)]
    for common in range(6):
        wanted = (ways >= common).mean() if common > 2 * 2 / 4 + 3 * 3 / 5 else 1.0
        assert chances_of_common([common], [[4], [5]], errors) == pytest.approx(wanted, abs=1e-12)


def test_within_types_it_is_the_correlation_of_what_is_left_of_errors():
    """Of errors less each worker's share in the type: that every sixth task is hard for all is no dependence.

    Of pairs that share eight tasks nothing is said.
    """
    wrong, (task, worker) = cribs(0), np.indices((400, 6)).reshape(2, -1)
    wrong[1::6] = True
    found = error_correlation(task, worker, wrong.ravel(), 6, kind=task % 2)
    left = wrong.astype(float)
    for type_ in range(2):
        left[type_::2] -= left[type_::2].mean(axis=0)
    assert found.correlation == pytest.approx(np.corrcoef(left.T)[found.first, found.second], abs=1e-12)
    assert error_correlation(task[:48], worker[:48], wrong[:8].ravel(), 6).first.size == 0

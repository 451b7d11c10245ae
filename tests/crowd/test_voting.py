"""Weighted votes and answers from labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erfcx

from crowdopt import InputError
from crowdopt.answers import majority, one_coin
from crowdopt.crowd.labels import Labels, tally
from crowdopt.crowd.votes.voting import plurality_error, vote_errors, weighted_error, weighted_vote
from tests.chance import FALSE_ALARM, fewest, rng, seeds
from tests.majorities import majority_accuracy


def drawn(tasks: int, workers: int, accuracy: np.ndarray, classes: int, seed: int) -> tuple[Labels, np.ndarray]:
    """A dense table of labels by one-coin workers, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, tasks)
    right = rng.random((tasks, workers)) < accuracy
    said = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, classes, (tasks, workers))) % classes)
    task, worker = (part.reshape(-1) for part in np.indices((tasks, workers)))
    names = [tuple(str(k) for k in range(count)) for count in (tasks, workers, classes)]
    return Labels(task, worker, said.reshape(-1), *names), truth


def test_a_weighted_vote_is_the_sign_of_the_weighted_sum():
    """Two classes: sign(sum w l), ties to the smaller class, a task without labels answers -1."""
    task = np.array([0, 0, 0, 1, 1])
    label = np.array([1, 0, 0, 0, 1])
    weight = np.array([3.0, 1.0, 1.0, 2.0, 2.0])
    assert weighted_vote(task, label, weight, 3).tolist() == [1, 0, -1]


def test_a_negative_weight_speaks_against():
    """Someone usually wrong who says 1 makes 0 more likely."""
    assert weighted_vote(np.array([0]), np.array([1]), np.array([-1.0]), 1).tolist() == [0]


@pytest.mark.chance
@pytest.mark.parametrize("classes", [2, 4])
def test_one_coin_em_finds_truth_and_skills(classes):
    """On labels drawn from its own model EM beats the majority and recovers who is good.

    It beats it in 99 of 100 independent crowds or more; a skill is off the share of right labels by no more than EM
    believes of wrong classes, and of 600 tasks it is right with a chance of at least .95 each.
    """
    accuracy, better, trials = np.linspace(0.5 if classes == 2 else 0.3, 0.95, 9), 0, 6
    for seed in seeds(trials):
        labels, truth = drawn(600, 9, accuracy, classes, seed=seed)
        found, right = one_coin(labels), np.bincount(labels.worker, truth[labels.task] == labels.label) / 600
        better += (found.answer == truth).mean() > (majority(labels).answer == truth).mean()
        assert (found.answer == truth).sum() >= fewest(600, 0.95, FALSE_ALARM / trials)
        off = 1 - found.posterior[np.arange(600), truth].mean()
        assert np.abs(found.accuracy - right).max() <= off + 1 / 600
        assert found.posterior.sum(axis=1) == pytest.approx(np.ones(600))
    assert better >= fewest(trials, 0.99)


def test_em_ignores_the_order_of_the_rows():
    """The table is a set of labels; the answer does not depend on how it is written down."""
    labels, _ = drawn(50, 5, np.linspace(0.6, 0.9, 5), 2, seed=1)
    order = np.random.default_rng(0).permutation(labels.task.size)
    shuffled = Labels(
        labels.task[order], labels.worker[order], labels.label[order], labels.tasks, labels.workers, labels.classes
    )
    assert one_coin(shuffled).posterior == pytest.approx(one_coin(labels).posterior, abs=1e-9)


def test_tallies_count_only_known_truth():
    """A task whose truth is unknown asks no worker anything."""
    labels = Labels.from_columns(["a", "a", "b", "b"], ["u", "v", "u", "v"], ["x", "y", "x", "x"])
    correct, asked = tally(labels, np.array([0, -1]), np.array([0, 0]), 1)
    assert correct.tolist() == [[1, 0]] and asked.tolist() == [[1, 1]]


def test_repeated_labels_are_refused():
    """One worker, one task, one label: which of two would count is not ours to guess."""
    with pytest.raises(InputError, match="worker u labelled task a more than once"):
        Labels.from_columns(["a", "a"], ["u", "u"], ["x", "y"])
    with pytest.raises(InputError, match="there is no label"):
        Labels.from_columns([], [], [])


def by_enumeration(p: np.ndarray, w: np.ndarray, prior: float = 0.5, bias: float = 0.0) -> float:
    """P(vote of two classes is wrong), from all outcomes; a fair coin at ties."""
    right = np.array(list(itertools.product([True, False], repeat=p.size))).reshape(2**p.size, p.size)
    chance = np.where(right, p, 1 - p).prod(axis=1)
    total = np.where(right, w, -w).sum(axis=1)
    near = 1e-9 * (1 + np.abs(w).sum())
    wrong_yes = np.where(total + bias < -near, 1.0, np.where(total + bias <= near, 0.5, 0.0))
    wrong_no = np.where(total - bias < -near, 1.0, np.where(total - bias <= near, 0.5, 0.0))
    return float(chance @ (prior * wrong_yes + (1 - prior) * wrong_no))


skills = st.lists(
    st.one_of(st.sampled_from([0.0, 1.0, 0.3, 0.5, 0.7, 0.9]), st.floats(0.01, 0.99)), min_size=0, max_size=14
)


@settings(max_examples=30)
@given(skills.map(np.array), st.integers(0, 1000), st.sampled_from([0.5, 0.2, 0.9]))
def test_exact_errors_are_those_of_enumeration(p, seed, prior):
    """Any weights, any skills, ties included: the same to 1e-12 (equal workers are convolved, distinct ones met)."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=p.size) if seed % 2 else rng.choice([-1.0, 1.0, 2.0], p.size)
    bias = float(np.log(prior / (1 - prior)))
    assert weighted_error(p, w, prior) == pytest.approx(by_enumeration(p, w, prior, bias), abs=1e-12)
    assert weighted_error(p, w, prior, bias=0.0) == pytest.approx(by_enumeration(p, w, prior), abs=1e-12)


@given(st.lists(st.floats(0.05, 0.95), min_size=1, max_size=10).map(np.array))
def test_the_identity_over_uniform_signs(p):
    """P_err = 1/2 e^(-A/2) E exp(-1/2 |sum sigma l|): what the log-odds vote errs, as an average over signs."""
    odds = np.log(p / (1 - p))
    signs = np.array(list(itertools.product([1, -1], repeat=p.size)))
    evidence = -np.log(4 * p * (1 - p)).sum()
    identity = 0.5 * np.exp(-evidence / 2) * np.exp(-np.abs(signs @ odds) / 2).mean()
    assert weighted_error(p) == pytest.approx(identity, rel=1e-9)


@given(st.lists(st.floats(0.02, 0.98), min_size=1, max_size=9).map(np.array), st.integers(0, 1000))
def test_no_vote_beats_log_odds_and_no_label_harms_it(p, seed):
    """Other weights err at least as much; one label fewer, or a worse worker, does too."""
    best, rng = weighted_error(p), np.random.default_rng(seed)
    assert best <= weighted_error(p, rng.normal(size=p.size)) + 1e-12
    assert best <= weighted_error(p[:-1]) + 1e-12
    worse = np.append(p[:-1], 0.5 + (p[-1] - 0.5) * rng.random())
    assert best <= weighted_error(worse) + 1e-12


@pytest.mark.chance
def test_the_error_is_close_to_its_normal_approximation():
    """Within 12 % of 1/2 e^(-A/2) erfcx(sqrt(sum l^2 / 8)) for nine independent crowds of ten, whatever their size."""
    draws = rng()
    for count in (5, 10, 20):
        off = []
        for _ in range(200):
            p = draws.uniform(0.55, 0.9, count)
            odds, evidence = np.log(p / (1 - p)), -np.log(4 * p * (1 - p)).sum()
            near = 0.5 * np.exp(-evidence / 2) * erfcx(np.sqrt((odds**2).sum() / 8))
            off.append(abs(near / weighted_error(p) - 1))
        assert sum(one < 0.12 for one in off) >= fewest(200, 0.9)


def test_ties_are_broken_by_a_coin():
    """Two workers of .7: with ties to class 1, class 0 errs .51 of the time, above the .42 that holds on average."""
    assert weighted_error([0.7, 0.7]) == pytest.approx(0.3)
    missed, bound_without_half = 1 - 0.7**2, np.sqrt(4 * 0.7 * 0.3) ** 2 / 2
    assert missed == pytest.approx(0.51) and missed > bound_without_half == pytest.approx(0.42)


@given(st.lists(st.floats(0, 1), max_size=12).map(np.array))
def test_majorities(p):
    """pi(S), ties half: a vote with equal weights."""
    assert majority_accuracy(p) == pytest.approx(1 - by_enumeration(p, np.ones(p.size)), abs=1e-12)


@pytest.mark.parametrize("count", [26, 34, 45, 70])
def test_the_lattice_brackets_the_error(count):
    """Coarse lattices contain what finer ones say, and the width shrinks with the cells."""
    rng = np.random.default_rng(count)
    p = rng.uniform(0.5, 0.8, count)
    given_ = (np.array([0, count]), p, np.log(p / (1 - p)), np.array([0.5]), np.zeros(1))
    coarse, fine = (vote_errors(*given_, cells=cells) for cells in (2**13, 2**17))
    assert coarse[0] - coarse[1] - 1e-12 <= fine[0] <= coarse[0] + 1e-12
    assert fine[1] <= coarse[1] and (count > 26 or coarse[1] == 0)
    assert fine[1] < 1e-3 * fine[0] + 1e-4


def test_many_tasks_at_once_are_each_alone():
    """Threads and neighbours change nothing, to the bit."""
    rng = np.random.default_rng(3)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 12, 300))])
    p = rng.uniform(0.3, 0.95, starts[-1])
    w = np.log(p / (1 - p))
    every, _ = vote_errors(starts, p, w, np.full(300, 0.5), np.zeros(300))
    alone = [weighted_error(p[a:b], w[a:b]) for a, b in itertools.pairwise(starts.tolist())]
    assert every.tolist() == alone


@settings(max_examples=10)
@given(st.lists(st.floats(0.1, 0.95), min_size=1, max_size=5).map(np.array), st.integers(2, 4), st.integers(0, 100))
def test_plurality_by_enumeration(p, classes, seed):
    """L classes with a prior: the law of score vectors gives what all label sequences give."""
    rng = np.random.default_rng(seed)
    w, prior = rng.choice([0.5, 1.0, 1.7], p.size), rng.dirichlet(np.full(classes, 5.0))
    total = 0.0
    for truth in range(classes):
        for said in itertools.product(range(classes), repeat=p.size):
            chance = np.prod(np.where(np.array(said) == truth, p, (1 - p) / (classes - 1)))
            scores = np.log(prior) + np.bincount(said, weights=w, minlength=classes)
            winners = np.flatnonzero(scores >= scores.max() - 1e-9)
            total += prior[truth] * chance * (1 - (truth in winners) / winners.size)
    assert plurality_error(p, w, prior) == pytest.approx(total, abs=1e-12)


def test_bad_votes_are_refused():
    """One sentence each."""
    with pytest.raises(InputError, match="accuracy must be a list of numbers"):
        weighted_error([1.2])
    with pytest.raises(InputError, match="2 finite numbers"):
        weighted_error([0.7, 0.8], [1.0])
    with pytest.raises(InputError, match="too many ways"):
        plurality_error(np.linspace(0.5, 0.9, 16), np.sqrt(np.arange(1.0, 17)), np.full(4, 0.25))

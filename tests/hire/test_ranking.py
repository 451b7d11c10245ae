"""Algorithm 1 and its neighbours, against every set there is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.core.program import relax
from crowdopt.core.solution import Status
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import build
from crowdopt.hire.ranking import RULES, RankingProof, prove
from crowdopt.hire.selection import ranked
from tests.selections import best_sets, drawn, exact_gains, squared

KINDS = ["any", "ties", "negative", "one", "large"]


def value(instance: SelectionInstance, members: np.ndarray) -> Fraction:
    gains = exact_gains(instance)
    return squared(sum((gains[i] for i in members), Fraction(0)), members.size)


@pytest.mark.parametrize("kind", KINDS)
def test_algorithm_1_is_the_best_of_all_sets_and_the_smallest_such(kind: str) -> None:
    """Theorem 4, exactly, in fractions; the proof says so every time, and the program's relaxation is tight: each
    size's w are the bases of a matroid.
    """
    rng = np.random.default_rng(KINDS.index(kind))
    for trial in range(40):
        instance = drawn(rng, 7, kind)
        found, (best, sets) = ranked(instance), best_sets(instance)
        assert value(instance, found.workers) == best and tuple(sorted(found.workers.tolist())) in sets
        assert found.workers.size == min(map(len, sets))
        assert found.proven and found.status is Status.OPTIMAL
        if trial < 3:
            certificate = crowdopt.certify(crowdopt.solve(relax(build(instance))))
            assert certificate.proves_optimal(1e-7) and -certificate.value == pytest.approx(found.score, abs=1e-7)


def test_every_rule_knows_its_distance_from_the_optimum() -> None:
    """The proof bounds every set, so a rule's answer is called optimal exactly where it is.

    And the plug-in rule is Algorithm 1 with another G: it solves the other problem, by the same theorem.
    """
    rng = np.random.default_rng(4)
    hit = {True: 0, False: 0}
    for trial in range(50):
        instance = drawn(rng, 6)
        best, _ = best_sets(instance)
        masks = (np.arange(1, 2**instance.n_workers)[:, None] >> np.arange(instance.n_workers)) & 1
        masks = masks[masks.sum(axis=1) <= instance.sizes]
        squares = (masks @ instance.plug_in_gain / np.sqrt(masks.sum(axis=1))).max()
        assert ranked(instance, "plug-in").plug_in_score == pytest.approx(squares, abs=1e-12)
        for found in (ranked(instance, rule, trial) for rule in RULES):
            optimal = value(instance, found.workers) == best
            hit[optimal] += 1
            assert found.proven == optimal == (found.status is Status.OPTIMAL)
            assert found.score <= found.best_score + 1e-12
    assert min(hit.values()) > 8


def test_top_k_breaks_ties_by_the_seed_and_ranks_by_the_share_of_correct_answers() -> None:
    """A worker who is always wrong has the largest gain and the smallest share."""
    instance = SelectionInstance([0, 7, 7, 7, 9], 10, 2, most=2)
    taken = {tuple(RULES["top-k"](instance, np.random.default_rng(seed)).tolist()) for seed in range(20)}
    assert taken == {(4, 1), (4, 2), (4, 3)}
    assert ranked(instance, "random-k", 9).workers.tolist() == ranked(instance, "random-k", 9).workers.tolist()


@pytest.mark.parametrize("most_asked", [60, 1200])
def test_one_worker_swapped_for_a_worse_one_is_rejected(most_asked: int) -> None:
    """Scores of 20,000 workers differ in the twelfth digit then: only fractions can tell, of a thousand digits too."""
    rng = np.random.default_rng(6)
    n = rng.integers(2, most_asked, 20_000)
    found = ranked(SelectionInstance(rng.binomial(n, rng.beta(2.3, 2, n.size)), n))
    instance, of, proof = found.instance, found.instance.gain_levels.of, found.ranking_proof
    assert proof.is_attained(instance, found.workers) and not proof.is_attained(instance, found.workers[:-1])
    for place in (0, found.workers.size // 2):
        swapped = found.workers.copy()
        outside = np.setdiff1d(np.arange(n.size), found.workers)
        swapped[place] = outside[of[outside] > of[swapped[place]]][0]
        assert not proof.is_attained(instance, swapped)
    assert np.isin(np.flatnonzero(of < of[found.workers[-1]]), found.workers).all()


def test_a_proof_that_claims_too_much_does_not_hold() -> None:
    """Lower the bound or leave a size uncovered: rejected. Sets that are not allowed attain nothing."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        instance = drawn(rng, 7)
        proof = prove(instance)
        assert proof.holds(instance)
        assert not replace(proof, total=proof.total - Fraction(1, 10**15)).holds(instance)
        assert not replace(proof, last=np.append(proof.last[:-1], instance.sizes + 1)).holds(instance)
        assert replace(proof, total=proof.total + 1).holds(instance)  # a weaker claim follows from the same thresholds
    empty = np.zeros(0, np.int64)
    assert not RankingProof(Fraction(9), 1, empty, empty, empty).holds(instance)
    instance = SelectionInstance([9, 9, 9, 9], 10, 2, most=2)
    assert prove(instance).is_attained(instance, np.array([0, 1]))
    for members in ([0, 0], [], [0, 4], [-1, 0], [0, 1, 2]):
        assert not prove(instance).is_attained(instance, np.array(members, dtype=np.int64))


def test_whatever_holds_is_true_of_every_size() -> None:
    """Random thresholds, stretches, claims: where the proof is accepted, each size's inequality holds in fractions."""
    rng = np.random.default_rng(11)
    accepted = 0
    for _ in range(200):
        instance = drawn(rng, 7)
        gains = exact_gains(instance)
        last = np.unique(np.append(rng.integers(1, instance.sizes + 1, rng.integers(0, 4)), instance.sizes))
        bottom = rng.integers(1, 60, last.size)
        top = np.rint(rng.choice(instance.gain, last.size) * bottom).astype(np.int64) + rng.integers(-1, 2, last.size)
        best = prove(instance)
        claim = best.total + Fraction(int(rng.integers(-2, 9)), 8)
        if not RankingProof(claim, best.size, top, bottom, last).holds(instance):
            continue
        accepted += 1
        for stretch, end in enumerate(last.tolist()):
            t = Fraction(int(top[stretch]), int(bottom[stretch]))
            for k in range(int(last[stretch - 1]) + 1 if stretch else 1, end + 1):
                most = k * t + sum(max(Fraction(0), g - t) for g in gains)
                assert squared(most, k) <= squared(claim, best.size)
    assert accepted > 12


def test_ranking_refuses_what_it_cannot_do() -> None:
    """With money, required workers or groups the first of a ranking need not be allowed, let alone best."""
    for limit in ({"required": [1]}, {"barred": [1]}, {"price": 1.0, "money": 2.0}, {"group": [0, 1], "fewest": 1}):
        with pytest.raises(InputError, match="use the method program"):
            ranked(SelectionInstance([9, 8], 10, 2, **limit))


def test_the_frontier_has_the_sizes_that_no_smaller_one_beats() -> None:
    """(F-hat, -|S|): Algorithm 1 with K = k for every k, less those that gain nothing."""
    rng = np.random.default_rng(8)
    for _ in range(40):
        instance = drawn(rng, 6)
        by_size = [ranked(replace(instance, most=k)) for k in range(1, instance.sizes + 1)]
        expected = {(tuple(found.workers.tolist()), round(found.score, 9)) for found in by_size}
        points = ranked(instance).frontier
        sets = [tuple(members.tolist()) for members in points.members]
        assert list(zip(sets, points.score.round(9), strict=True)) == sorted(expected, key=lambda point: len(point[0]))

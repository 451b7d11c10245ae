"""Algorithm 1 and its neighbours, against every set there is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import crowdopt
from crowdopt.core.program import relax
from crowdopt.core.solution import Status
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import build
from crowdopt.hire.ranking import RULES, RankingProof, prove, ranked
from tests.selections import best_sets, drawn, exact_gains, squared

KINDS = ["any", "ties", "negative", "one", "large"]


def value(instance: SelectionInstance, members: np.ndarray) -> Fraction:
    gains = exact_gains(instance)
    return squared(sum(gains[i] for i in members), members.size)


@pytest.mark.parametrize("kind", KINDS)
def test_algorithm_1_is_the_best_of_all_sets_and_the_smallest_such(kind: str) -> None:
    """Theorem 4, exactly, in fractions, and the proof says so every time. Every other rule is called optimal exactly
    where it is. The frontier has Algorithm 1's sets for every K, less those that gain nothing; and the program's
    relaxation is tight: each size's w are the bases of a matroid.
    """
    rng = np.random.default_rng(KINDS.index(kind))
    for trial in range(30):
        instance = drawn(rng, 7, kind)
        found, (best, sets) = ranked(instance), best_sets(instance)
        assert found.proven and tuple(sorted(found.workers.tolist())) in sets
        assert found.workers.size == min(map(len, sets))
        for other in (ranked(instance, rule, trial) for rule in RULES):
            assert other.proven == (other.status is Status.OPTIMAL) == (value(instance, other.workers) == best)
            assert other.score <= other.best_score + 1e-12
        by_size = [ranked(replace(instance, most=k)) for k in range(1, instance.sizes + 1)]
        points = sorted({(one.workers.size, round(one.score, 9)) for one in by_size})
        assert list(zip(found.frontier.size, found.frontier.score.round(9), strict=True)) == points
        assert found.frontier.members[-1].tolist() == by_size[-1].workers.tolist()
        if trial < 3:
            certificate = crowdopt.certify(crowdopt.solve_program(relax(build(instance))))
            assert certificate.proves_optimal(1e-7) and -certificate.value == pytest.approx(found.score, abs=1e-7)


def test_the_plug_in_rule_maximises_the_plug_in_score() -> None:
    """Algorithm 1 with another G solves the other problem, by the same theorem."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        instance = drawn(rng, 6)
        masks = (np.arange(1, 2**instance.n_workers)[:, None] >> np.arange(instance.n_workers)) & 1
        masks = masks[masks.sum(axis=1) <= instance.sizes]
        best = (masks @ instance.weight**2 / np.sqrt(masks.sum(axis=1))).max()
        assert ranked(instance, "plug-in").plug_in_score == pytest.approx(best, abs=1e-12)


def test_top_k_breaks_ties_by_the_seed_and_ranks_by_the_share_of_correct_answers() -> None:
    """A worker who is always wrong has the largest gain and the smallest share."""
    instance = SelectionInstance([0, 7, 7, 7, 9], 10, 2, most=2)
    assert {tuple(ranked(instance, "top-k", seed).workers.tolist()) for seed in range(20)} == {(4, 1), (4, 2), (4, 3)}


@pytest.mark.parametrize("most_asked", [60, 1200])
def test_one_worker_swapped_for_a_worse_one_is_rejected(most_asked: int) -> None:
    """Scores of 20,000 workers differ in the twelfth digit then: only whole numbers can tell, of many digits too."""
    rng = np.random.default_rng(6)
    n = rng.integers(2, most_asked, 20_000)
    found = ranked(SelectionInstance(rng.binomial(n, rng.beta(2.3, 2, n.size)), n))
    instance, of, proof = found.instance, found.instance.gain_levels.of, found.ranking_proof
    assert proof.is_attained(instance, found.workers) and not proof.is_attained(instance, found.workers[:-1])
    swapped = found.workers.copy()
    swapped[-1] = np.flatnonzero(of == of[swapped[-1]] + 1)[0]
    assert not proof.is_attained(instance, swapped)


def test_a_proof_that_claims_too_much_does_not_hold() -> None:
    """Lower the bound or leave a size uncovered: rejected. Sets that are not allowed attain nothing."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        instance = drawn(rng, 7)
        proof = prove(instance)
        assert proof.holds(instance)
        assert not replace(proof, total=proof.total - Fraction(1, 10**15)).holds(instance)
        assert not replace(proof, last=np.append(proof.last[:-1], instance.sizes + 1)).holds(instance)
    instance = SelectionInstance([9, 9, 9, 9], 10, 2, most=2)
    for members in ([0, 1], [0, 0], [], [0, 4], [-1, 0], [0, 1, 2]):
        assert prove(instance).is_attained(instance, np.array(members, np.int64)) == (members == [0, 1])


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
        if RankingProof(claim, best.size, top, bottom, last).holds(instance):
            accepted += 1
            for k in range(1, instance.sizes + 1):
                stretch = np.searchsorted(last, k)
                t = Fraction(int(top[stretch]), int(bottom[stretch]))
                assert squared(k * t + sum(max(0, g - t) for g in gains), k) <= squared(claim, best.size)
    assert accepted > 12

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
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.hire import ranking
from crowdopt.hire.ranking_proof import RankingProof
from crowdopt.programs import selection
from tests.selections import best_sets, drawn, exact_gains, squared

KINDS = ["any", "ties", "negative", "one", "large"]


def value(instance: SelectionInstance, members: np.ndarray) -> Fraction:
    gains = exact_gains(instance)
    return squared(sum((gains[i] for i in members), Fraction(0)), members.size)


@pytest.mark.parametrize("kind", KINDS)
def test_algorithm_1_is_the_best_of_all_sets_and_the_smallest_such(kind: str) -> None:
    """Theorem 4, exactly, in fractions: random cases of each kind, and the proof says so every time."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(40):
        instance = drawn(rng, 7, kind)
        found = ranking.algorithm1(instance)
        best, sets = best_sets(instance)
        assert value(instance, found.workers) == best
        assert found.workers.size == min(map(len, sets))
        assert found.proven and found.status is Status.OPTIMAL
        assert tuple(sorted(found.workers.tolist())) in sets


@pytest.mark.parametrize("kind", KINDS)
def test_the_program_and_its_relaxation_have_algorithm_1_s_value(kind: str) -> None:
    """Each size's w are the bases of a matroid, so the relaxation is tight; the value is the ranking's."""
    rng = np.random.default_rng(10 + KINDS.index(kind))
    for _ in range(6):
        instance = drawn(rng, 12, kind)
        score = ranking.algorithm1(instance).score
        for program in (selection.build(instance), relax(selection.build(instance))):
            certificate = crowdopt.certify(crowdopt.solve(program))
            assert certificate.proves_optimal(1e-7)
            assert -certificate.value == pytest.approx(score, abs=1e-7)


def test_every_rule_knows_its_distance_from_the_optimum() -> None:
    """The proof bounds every set, so a rule's answer is called optimal exactly where it is."""
    rng = np.random.default_rng(4)
    hit = {True: 0, False: 0}
    for _ in range(50):
        instance = drawn(rng, 6)
        best, _ = best_sets(instance)
        for found in (
            ranking.plug_in(instance),
            ranking.variance_normalised(instance),
            ranking.top_k(instance, rng),
            ranking.random_k(instance, rng),
        ):
            optimal = value(instance, found.workers) == best
            hit[optimal] += 1
            assert found.proven == optimal == (found.status is Status.OPTIMAL)
            assert found.score <= found.best_score + 1e-12
    assert min(hit.values()) > 8


def test_the_plug_in_rule_maximises_the_plug_in_score() -> None:
    """Algorithm 1 with another G solves the other problem, by the same theorem."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        instance = drawn(rng, 6)
        square = instance.plug_in_gain
        masks = (np.arange(1, 2**instance.n_workers)[:, None] >> np.arange(instance.n_workers)) & 1
        masks = masks[masks.sum(axis=1) <= instance.sizes]
        best = (masks @ square / np.sqrt(masks.sum(axis=1))).max()
        assert ranking.plug_in(instance).plug_in_score == pytest.approx(best, abs=1e-12)


def test_top_k_breaks_ties_by_the_seed_and_ranks_by_the_share_of_correct_answers() -> None:
    """A worker who is always wrong has the largest gain and the smallest share."""
    instance = SelectionInstance([0, 7, 7, 7, 9], 10, 2, most=2)
    taken = {tuple(ranking.top_k(instance, np.random.default_rng(seed)).workers.tolist()) for seed in range(20)}
    assert taken == {(4, 1), (4, 2), (4, 3)}
    again = [ranking.random_k(instance, np.random.default_rng(9)).workers.tolist() for _ in range(2)]
    assert again[0] == again[1]


def test_one_worker_swapped_for_a_worse_one_is_rejected() -> None:
    """Scores of 100,000 workers differ in the twelfth digit then: only fractions can tell."""
    rng = np.random.default_rng(6)
    n = rng.integers(2, 60, 100_000)
    found = ranking.algorithm1(SelectionInstance(rng.binomial(n, rng.beta(2.3, 2, n.size)), n))
    instance, of = found.instance, found.instance.gain_levels.of
    assert found.ranking_proof.is_attained(instance, found.workers)
    outside = np.setdiff1d(np.arange(n.size), found.workers)
    worse = outside[of[outside] > of[found.workers[0]]]
    for place in (0, found.workers.size // 2):
        stand_in = worse[of[worse] > of[found.workers[place]]][0]
        swapped = found.workers.copy()
        swapped[place] = stand_in
        assert not found.ranking_proof.is_attained(instance, swapped)
    last, better = found.workers[-1], np.flatnonzero(of < of[found.workers[-1]])
    assert np.isin(better, found.workers).all() and last not in better
    assert not found.ranking_proof.is_attained(instance, found.workers[:-1])


def test_a_proof_that_claims_too_much_does_not_hold() -> None:
    """Lower the bound, loosen a threshold, leave a size uncovered, or hand over another instance: rejected."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        instance = drawn(rng, 7)
        proof = ranking.prove(instance)
        assert proof.holds(instance)
        assert not replace(proof, total=proof.total - Fraction(1, 10**15)).holds(instance)
        short = replace(proof, last=np.append(proof.last[:-1], instance.sizes + 1))
        assert not short.holds(instance)
        assert replace(proof, total=proof.total + 1).holds(instance)  # a weaker claim follows from the same thresholds
    empty = np.zeros(0, np.int64)
    assert not RankingProof(Fraction(9), 1, empty, empty, empty).holds(instance)


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
        best = ranking.algorithm1(instance).ranking_proof
        claim = best.total + Fraction(int(rng.integers(-2, 9)), 8)
        proof = RankingProof(claim, best.size, top, bottom, last)
        if not proof.holds(instance):
            continue
        accepted += 1
        for stretch, end in enumerate(last.tolist()):
            t = Fraction(int(top[stretch]), int(bottom[stretch]))
            for k in range(int(last[stretch - 1]) + 1 if stretch else 1, end + 1):
                most = k * t + sum(max(Fraction(0), g - t) for g in gains)
                assert squared(most, k) <= squared(claim, best.size)
    assert accepted > 12


def test_sets_that_are_not_allowed_attain_nothing() -> None:
    """A repeated worker, none, an unknown one, too many."""
    instance = SelectionInstance([9, 9, 9, 9], 10, 2, most=2)
    proof = ranking.prove(instance)
    assert proof.is_attained(instance, np.array([0, 1]))
    for members in ([0, 0], [], [0, 4], [-1, 0], [0, 1, 2]):
        assert not proof.is_attained(instance, np.array(members, dtype=np.int64))


def test_ranking_refuses_what_it_cannot_do() -> None:
    """With money, required workers or groups the first of a ranking need not be allowed, let alone best."""
    for limit in ({"required": [1]}, {"barred": [1]}, {"price": 1.0, "money": 2.0}, {"group": [0, 1], "fewest": 1}):
        with pytest.raises(InputError, match="use the method program"):
            ranking.algorithm1(SelectionInstance([9, 8], 10, 2, **limit))


def test_the_frontier_has_the_sizes_that_no_smaller_one_beats() -> None:
    """(F-hat, -|S|): Algorithm 1 with K = k for every k, less those that gain nothing."""
    rng = np.random.default_rng(8)
    for _ in range(40):
        instance = drawn(rng, 6)
        by_size = [
            ranking.algorithm1(replace(instance, most=k)) for k in range(1, min(instance.sizes, instance.n_workers) + 1)
        ]
        expected = sorted({(found.workers.size, round(found.score, 9)) for found in by_size})
        points = ranking.algorithm1(instance).frontier
        assert [(k, round(v, 9)) for k, v in zip(points.size, points.score, strict=True)] == expected

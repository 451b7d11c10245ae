"""Hiring: Algorithm 1, its neighbours and the program, against every set there is; candidates refused in a sentence."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.core.program import relax
from crowdopt.core.solution import Options, Status
from crowdopt.hire.candidates import SelectionInstance, gain_fractions, levels, plug_in_fractions
from crowdopt.hire.program import build, cost_frontier, solve_program, solve_table
from crowdopt.hire.ranking import RULES, RankingProof, prove, ranked
from tests.selections import allowed, best_sets, drawn, exact_gains, limited, squared

GOOD = {"correct": [8, 5, 9], "asked": 10, "workers": ["ada", "bo", "chen"]}
BAD = [
    ({"correct": [8, 11, 9]}, r"worker bo has more correct .* \(11 of 10\)"),
    ({"asked": [10, 10, 0], "correct": [8, 5, 0]}, "worker chen has no control questions; ask some"),
    ({"asked": 20_000}, "worker ada was asked more than 10000"),
    ({"correct": [], "workers": None}, "correct must be a list"),
    ({"price": [1, -1, 1]}, "price must be finite and at least 0; it is -1.0 for bo"),
    ({"required": [1], "barred": [1]}, "worker bo is both required and barred"),
    ({"required": [0, 1], "most": 1}, "2 workers are required but at most 1"),
    ({"barred": [0, 1, 2]}, "every worker is barred"),
    ({"required": [3]}, "required has the worker 3, but there are 3"),
    ({"group": [0, 0, 1], "fewest": [0, 2]}, "group 1 has 1 workers to hire and is to have 2"),
    ({"group": [0, 0, 1], "fewest": 1, "most": 1}, "groups ask for 2 workers together"),
    ({"group": [0, 0, 1], "fewest": [2, 0], "most_each": 1}, "2 workers at least and 1 at most; change one of them"),
    ({"group": [0, 0, 1], "required": [0, 1], "most_each": 1}, "2 workers of group 0 are required, and it may have 1"),
]


@pytest.mark.parametrize(("change", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_input_gets_its_sentence(change, sentence):
    """Nothing is guessed: an estimate from one answer, or of none, would silently be infinite or zero."""
    with pytest.raises(InputError, match=sentence):
        SelectionInstance(**{**GOOD, **change})


@pytest.mark.parametrize("value", [gain_fractions, plug_in_fractions])
def test_levels_are_the_distinct_fractions(value):
    """Descending without repeats, each worker alone, whichever way tallies were told apart; and where float64 cannot:
    fractions over 1e8 may differ by 1e-16, which a quotient of size 1e6 does not show.
    """
    draws = np.random.default_rng(2)
    for low, high, most in [(2, 40, 7), (2, 7, 7), (9990, 10_001, 1001)] * 6:
        asked = draws.integers(low, high, 30)
        correct = draws.integers(0, asked + 1) if high < 100 else asked - draws.integers(0, 3, 30)
        instance = SelectionInstance(correct, asked, int(draws.integers(2, most)))
        found = levels(instance, value)
        exact = [Fraction(*map(int, pair)) for pair in zip(*value(correct, asked, instance.classes), strict=True)]
        distinct = [Fraction(*map(int, pair)) for pair in zip(found.numerator, found.denominator, strict=True)]
        assert distinct == sorted(set(exact), reverse=True)
        assert [distinct[k] for k in found.of] == exact and found.count.tolist() == list(map(exact.count, distinct))


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
    """Scores of 20,000 workers differ in the twelfth digit then: only whole numbers can tell, of many digits too.

    Sets that are not allowed attain nothing.
    """
    rng = np.random.default_rng(6)
    n = rng.integers(2, most_asked, 20_000)
    found = ranked(SelectionInstance(rng.binomial(n, rng.beta(2.3, 2, n.size)), n))
    instance, of, proof = found.instance, found.instance.gain_levels.of, found.ranking_proof
    assert proof.is_attained(instance, found.workers) and not proof.is_attained(instance, found.workers[:-1])
    swapped = found.workers.copy()
    swapped[-1] = np.flatnonzero(of == of[swapped[-1]] + 1)[0]
    assert not proof.is_attained(instance, swapped)
    four = SelectionInstance([9, 9, 9, 9], 10, 2, most=2)
    for members in ([0, 1], [0, 0], [], [0, 4], [-1, 0], [0, 1, 2]):
        assert prove(four).is_attained(four, np.array(members, np.int64)) == (members == [0, 1])


def test_whatever_holds_is_true_of_every_size() -> None:
    """Random thresholds, stretches, claims: where the proof is accepted, each size's inequality holds in fractions.

    The honest proof holds; with the bound lowered by a hair, or a size left uncovered, it does not.
    """
    rng = np.random.default_rng(11)
    accepted = 0
    for _ in range(200):
        instance = drawn(rng, 7)
        gains = exact_gains(instance)
        last = np.unique(np.append(rng.integers(1, instance.sizes + 1, rng.integers(0, 4)), instance.sizes))
        bottom = rng.integers(1, 60, last.size)
        top = np.rint(rng.choice(instance.gain, last.size) * bottom).astype(np.int64) + rng.integers(-1, 2, last.size)
        best = prove(instance)
        assert best.holds(instance) and not replace(best, total=best.total - Fraction(1, 10**15)).holds(instance)
        assert not replace(best, last=np.append(best.last[:-1], instance.sizes + 1)).holds(instance)
        claim = best.total + Fraction(int(rng.integers(-2, 9)), 8)
        if RankingProof(claim, best.size, top, bottom, last).holds(instance):
            accepted += 1
            for k in range(1, instance.sizes + 1):
                stretch = np.searchsorted(last, k)
                t = Fraction(int(top[stretch]), int(bottom[stretch]))
                assert squared(k * t + sum(max(0, g - t) for g in gains), k) <= squared(claim, best.size)
    assert accepted > 12


OPTIONS = Options(time_limit=20)
LIMITS = [{"money"}, {"required"}, {"barred"}, {"group"}, {"family"}, {"money", "required", "barred", "group"}]


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(sorted(limits)))
def test_the_program_finds_the_best_allowed_set(limits: set[str]) -> None:
    """Each limit by itself and all together, or that there is none, by brute force in fractions."""
    rng = np.random.default_rng(len(limits))
    infeasible = 0
    for _ in range(10):
        instance = limited(rng, 7, limits)
        best, sets = best_sets(instance)
        found = solve_program(instance, crowdopt.solve_program, "highs", OPTIONS, "highs")
        infeasible += best is None
        if best is None:
            assert not found.found and found.status is Status.INFEASIBLE
        else:
            assert tuple(sorted(found.workers.tolist())) in sets
            assert found.status is Status.OPTIMAL and found.proven
            assert "money" in limits or found.proof == "certificate"  # tight unless money is limited
    assert (0 < infeasible < 10) == ("money" in limits)


def test_the_frontier_against_cost_has_every_set_that_no_cheaper_one_matches() -> None:
    """Under all limits, by looking at every set; its last point is what the table hires, the best set of all."""
    rng = np.random.default_rng(9)
    for _ in range(40):
        instance = limited(rng, 6, {"money", *rng.choice(["required", "barred", "group"], 2)})
        gains, sets, expected = exact_gains(instance), [], []
        for k in range(1, instance.sizes + 1):
            for members in filter(partial(allowed, instance), combinations(range(instance.n_workers), k)):
                sets.append((sum(instance.price[i] for i in members), -squared(sum(gains[i] for i in members), k)))
        for cost, value in sorted(sets):
            if not expected or -value > expected[-1][1]:
                expected.append((cost, -value))
        found, hired = cost_frontier(instance), solve_table(instance)
        assert found.cost.tolist() == [cost for cost, _ in expected]
        assert found.score * np.abs(found.score) == pytest.approx([float(value) for _, value in expected], abs=1e-9)
        assert all(allowed(instance, tuple(members.tolist())) for members in found.members)
        assert hired.found == bool(expected) and hired.proof == "solver"
        assert not expected or sorted(hired.workers) == sorted(found.members[-1])


def test_prices_in_decimals_have_a_common_unit() -> None:
    """0.1 + 0.2 is not 0.3 in float64; the grid is that of the decimals as they are written, if it is not too fine."""
    instance = SelectionInstance([10, 9, 8], 10, 2, price=[0.3, 0.1, 0.2], money=0.3)
    assert [members.tolist() for members in cost_frontier(instance).members] == [[1], [0]]
    fine = {"correct": [9] * 200, "price": np.random.default_rng(1).random(200)}
    families = {"correct": [9, 8], "price": 1.0, "group": [0, 0], "most_each": 1}
    bad = [(fine, "round the prices"), ({"correct": [9, 8]}, "needs a price"), (families, "most workers of a group")]
    for given, sentence in bad:
        with pytest.raises(InputError, match=sentence):
            cost_frontier(SelectionInstance(**given, asked=10))


def test_a_solver_that_breaks_a_limit_is_not_believed() -> None:
    """A point that spends more than there is yields no set, whatever its status says."""

    def generous(program, backend="highs", options=OPTIONS, listener=None):
        solution = crowdopt.solve_program(program, backend, options)
        point = np.zeros_like(program.cost)
        for name in ("u", "w"):
            program.column(name).view(point)[1] = 1.0
        return replace(solution, primal=point, status=Status.OPTIMAL)

    instance = SelectionInstance([10, 9], 10, 2, price=[3.0, 3.0], money=4.0)
    found = solve_program(instance, generous, "highs", OPTIONS, None)
    assert not found.found and found.status is Status.UNDECIDED

"""What the three printed papers get wrong (models/README.md, "Errata"), each by its smallest example in numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

import crowdopt
from benchmarks.papers.li_liu_trials import LINEAR, simulated
from crowdopt.core.program import relax
from crowdopt.crowd.rules import HOEFFDING
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.ranking import FIXED_IN_ADVANCE, linear_vote_bound, ranked
from crowdopt.jobs import seed_of
from crowdopt.programs import assignment
from tests.chance import BASE, fewest, mean_is_at_most, most, rng
from tests.majorities import majority_accuracy
from tests.models.reading import MODELS
from tests.small import with_evidence
from tests.weighted import weighted_error

TIE = 1e-7  # task values this close are equal: the weights come from a solver


def task_weights(instance: crowdopt.AssignmentInstance) -> np.ndarray:
    """x* of the relaxed program, certified optimal."""
    solution = crowdopt.solve_program(relax(assignment.build(instance)))
    assert crowdopt.certify(solution).proves_optimal(1e-9)
    return solution.program.row("cover").view(solution.dual)


def outcomes(weights: np.ndarray, evidence: np.ndarray, capacity: int) -> list[np.ndarray]:
    """What the Primal Approximation Algorithm (their Algorithm 1) may return: one 0-1 table per way to break ties."""
    choices = [_choices(weights * column - 1, capacity) for column in evidence.T]
    return [np.column_stack(columns) for columns in product(*choices)]


def _choices(values: np.ndarray, capacity: int) -> list[np.ndarray]:
    """One worker's possible sets of tasks: those of value >= 0, highest first, at most ``capacity``."""
    able = np.flatnonzero(values >= -TIE)
    if able.size <= capacity:
        return [np.isin(np.arange(values.size), able)]
    threshold = np.sort(values)[-capacity]
    sure = values > threshold + TIE
    tied = np.flatnonzero(np.abs(values - threshold) <= TIE)
    return [sure | np.isin(np.arange(values.size), rest) for rest in combinations(tied, capacity - int(sure.sum()))]


SPLIT = np.array([[0.9, 0.7, 0.4, 0.5], [0.9, 0.6, 0.9, 0.4]])  # q: two tasks, four workers of capacity 1


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_the_primal_approximation_algorithm_may_be_infeasible(noise: float) -> None:
    """Theorem 1 says that its output is feasible. The LP splits worker 1 between both tasks, so by complementary
    slackness the worker's two values are equal at x*, perturb q as you will; whichever task they then get, the other is
    short.
    """
    evidence = SPLIT * (1 + noise * np.random.default_rng(1).uniform(-1, 1, SPLIT.shape))
    instance = with_evidence(evidence, 1.39, 1)
    best, weights = crowdopt.solve(instance), task_weights(instance)
    assert best.proven and best.objective == 4
    assert weights == pytest.approx([2, 2], rel=4 * noise + 1e-9)
    found = outcomes(weights, evidence, 1)
    assert len(found) == 2
    assert all(((evidence * plan).sum(axis=1) < 1.39 - 0.1).any() for plan in found)


def best_and_taken(tasks: int) -> tuple[float, int]:
    """Labels of the best plan and of the algorithm's only one: equal tasks, ten equal workers with time for all."""
    instance = crowdopt.AssignmentInstance(np.full((1, 10), 0.9), [0] * tasks, tasks, 0.2, rule="hoeffding")
    (plan,) = outcomes(task_weights(instance), np.full((tasks, 10), 0.8**2), tasks)
    best = crowdopt.solve(instance)
    assert best.proven
    return best.objective, plan.sum()


def test_the_excess_may_be_above_the_number_of_tasks() -> None:
    """Theorem 1 bounds the excess by min(m, n). One task has no other to tie with, so the perturbation assumption
    says nothing, and all ten equal workers have value 0: all are taken where six do. The bound m holds.
    """
    assert best_and_taken(1) == (6, 10)


def test_the_excess_may_be_above_the_number_of_workers_where_types_tie_everything() -> None:
    """The bound m needs that each worker has at most one task at their threshold; equal tasks all sit there."""
    assert best_and_taken(3) == (18, 30)


def test_weights_against_the_truth_break_lemma_1() -> None:
    """Lemma 1 claims its bound for any weights; it squares sum w (2p - 1), which must not be negative for that."""
    weight, skill = -1.0, 0.9
    error = skill  # the vote is wrong whenever the label is right
    assert error > np.exp(-((weight * (2 * skill - 1)) ** 2) / weight**2 / 2)


def test_theorem_2_s_error_bound_says_nothing_at_usual_sizes() -> None:
    """Printed or mended, it exceeds 1 until gamma C passes (6 ln(2/delta))^2, about 323 at delta = .1."""
    epsilon, delta, gamma = 0.05, 0.1, 1.0
    root, spread = np.sqrt(gamma * HOEFFDING.need(epsilon, 2)), 6 * np.log(2 / delta)
    assert epsilon ** (1 - spread) / root > 1
    assert epsilon ** (1 - spread / root) > 1
    assert spread**2 == pytest.approx(323, abs=0.1)


def test_theorem_5_asks_for_thousands_of_gold_tasks() -> None:
    """8 ln(4 T (1 + gamma) m / delta) / qmin^2, where the paper's experiments use 10 and 20 (gamma = .3, m = 300)."""
    assert 8 * np.log(4 * 1 * 1.3 * 300 / 0.1) / 0.16**2 == pytest.approx(3017.2, abs=0.1)


def test_li_and_liu_s_theorem_1_fails_for_eight_classes() -> None:
    """One gold question, L = 8, w = .84, 69 workers: a weight is 7 with chance w, else -1. That one given wrong class
    beats the right one has probability e^-45.12, more than the printed bound e^-45.16 on all errors; every term of the
    convolution is positive, so float64 is exact to 13 digits. The corrected bound holds.
    """
    classes, skill, workers = 8, 0.84, 69
    other = (1 - skill) / (classes - 1)
    step = np.zeros(15)  # what a worker adds to the wrong class's score less the right one's: -7 to 7
    for weight, chance in ((classes - 1, skill), (-1, 1 - skill)):
        step[7 + weight] += chance * other
        step[7 - weight] += chance * skill
    step[7] += 1 - step.sum()
    law = np.polynomial.polynomial.polypow(step, workers)
    beaten = law[7 * workers + 1 :].sum()
    score = np.sqrt(workers) * (classes * skill - 1) ** 2
    assert np.log(beaten) == pytest.approx(-45.12, abs=0.01)
    printed = np.log(classes - 1) - 2 * score**2 / (classes * (classes - 1)) ** 2
    assert printed == pytest.approx(-45.16, abs=0.01) and printed < np.log(beaten)
    assert (classes - 1) * law[7 * workers :].sum() <= linear_vote_bound(score, classes)


def score_gap(skills: list[Fraction], classes: int) -> Fraction:
    """``E[s_k - s_l]`` of the right class k and a wrong class l, votes weighted L w - 1, by all ways to label."""
    gap = Fraction(0)
    for labels in product(range(classes), repeat=len(skills)):  # class 0 is right, class 1 is l
        chance, lead = Fraction(1), Fraction(0)
        for w, label in zip(skills, labels, strict=True):
            chance *= w if label == 0 else (1 - w) / (classes - 1)
            lead += (classes * w - 1) * ((label == 0) - (label == 1))
        gap += chance * lead
    return gap


def test_the_score_f_is_no_gap_of_votes() -> None:
    """Remark (i) calls F the expected gap of voting scores. The gap is sqrt|S| F / (L - 1): for four workers of 3/4 and
    64 of 5/8, F = 1/2 both times, it is 1 and 4. (21) sums it over the workers once more than its right side does.
    """
    skills, classes = [Fraction(2, 3), Fraction(1, 2), Fraction(5, 6)], 3
    squares = sum((classes * w - 1) ** 2 for w in skills)
    assert score_gap(skills, classes) == Fraction(squares, classes - 1)
    assert len(skills) * score_gap(skills, classes) != Fraction(squares, classes - 1)
    small, large = [Fraction(3, 4)] * 4, [Fraction(5, 8)] * 64
    squared = [sum((2 * w - 1) ** 2 for w in crew) for crew in (small, large)]
    assert float(squared[0]) / 4**0.5 == float(squared[1]) / 64**0.5 == 0.5
    assert score_gap(small, 2) == squared[0] == 1
    assert 64 * score_gap(large[:1], 2) == squared[1] == 4  # gaps of single workers add up


@pytest.mark.chance
def test_theorem_3_does_not_cover_the_selected_set() -> None:
    """Workers who guess, two questions each: those selected look better than they are. For the best of 4000 the
    80 % interval misses the true score, 0; for a set fixed in advance it covers it as often as promised.

    Crowds are independent: one in fifty at most is covered (of 300 none), and eight of ten or more of those fixed.
    """
    draws, covered = rng(), np.zeros(2, int)
    for _ in range(40):
        found = ranked(SelectionInstance(draws.binomial(2, 0.5, 4000), 2, 2))
        fixed = replace(found, workers=np.arange(found.workers.size))
        covered += [low <= 0 <= high for low, high in (found.interval(0.8), fixed.interval(0.8))]
        assert FIXED_IN_ADVANCE in found.warnings
    assert covered[0] <= most(40, 0.02) and covered[1] >= fewest(40, 0.8)


def test_algorithm_1_hires_a_worker_whose_vote_weighs_nothing() -> None:
    """All shares 1/2, L = 2: G is negative for every worker, k* = 1, and the one hired has weight 0; we say so."""
    found = ranked(SelectionInstance([5, 5, 5], 10, 2))
    assert found.proven and found.workers.tolist() == [0]
    assert found.weights.tolist() == [0.0] and found.score < 0
    assert any("weigh nothing" in warning for warning in found.warnings)


def test_one_control_question_has_no_variance() -> None:
    """(10) divides by n - 1."""
    with pytest.raises(crowdopt.InputError, match="a variance needs two"):
        SelectionInstance([1, 0], 1, 2)


@pytest.mark.chance
def test_selected_workers_neither_dominate_nor_beat_the_plug_in() -> None:
    """Section 4.1, Figure 1(a) claims both. In its own setting at K = 31 all workers together and the plug-in's are
    each more accurate than Algorithm 1's; the selected are below 10 on average.

    Pools are independent: where two differ in accuracy Algorithm 1 is behind in three of four or more (of 300 in 93, 87
    and 88 of 100).
    """
    pools = 40
    rows = [simulated(seed_of(BASE, 99, k), sizes=[31]) for k in range(pools)]
    accuracy = {name: np.array([row["accuracy"][name][0] for row in rows]) for name in LINEAR}
    selected = accuracy.pop("selected (Algorithm 1)")
    for other in ("top K", "plug-in", "variance-normalised (ours)"):
        differ = np.count_nonzero(accuracy[other] != selected)
        assert (accuracy[other] > selected).sum() >= fewest(differ, 0.75), other
    assert mean_is_at_most([row["used"]["selected (Algorithm 1)"][0] for row in rows], 10, top=31)


def test_float64_breaks_algorithm_1_s_ties_wrongly() -> None:
    """L = 2, n = 6, c = (6, 5, 5, 5): G is (1, 1/3, 1/3, 1/3), so F_1 = F_4 = 1 exactly and k* = 1, the smallest.

    With the gains (8), (10) in float64 F_4 comes out above F_1.
    """
    c, n = np.array([6, 5, 5, 5]), 6
    floats = (2 * (c / n) - 1) ** 2 - 4 * (c * (n - c) / (n**2 * (n - 1)))
    scores = np.cumsum(floats) / np.sqrt(np.arange(1, 5))
    assert int(np.argmax(scores)) + 1 == 4
    assert ranked(SelectionInstance(c, n, 2)).workers.tolist() == [0]


def test_the_priced_objective_sums_over_tasks() -> None:
    """Section 7 prints ``sum_{j=1}^n sum_{j=1}^m c_ij y_ij``: i is bound by neither sum. Over tasks and workers it is
    what the program minimises; n times the workers' sum for one task, the other reading, is another number.
    """
    instance = crowdopt.AssignmentInstance(np.full((2, 3), 0.9), [0, 1], 2, 0.4, cost=[[1, 2, 3], [4, 5, 6]])
    everything = np.ones(6)
    assert assignment.build(instance).cost @ everything == 21
    assert {2 * sum(row) for row in ([1, 2, 3], [4, 5, 6])} == {12, 30}


TABLE_1 = np.array([0.763, 0.781, 0.625, 0.783, 0.727])  # skills of Liu & Liu's simulation


def majority_subsets(m: int) -> int:
    """n(S_m): subsets of m labelers with more than half of them."""
    return sum(comb(m, k) for k in range(m // 2 + 1, m + 1))


def test_the_exploration_constant_is_beyond_reach() -> None:
    """D_1(t) = ln t / ((1 / max m n(S_m) - alpha)^2 eps^2), eps < min(Delta_min, delta_min) / 2: at T = 2000 with the
    skills of Table 1 above 4.8e10 testers, even with alpha = 0. The mended 2 / (M + 1) in place of 1 / 80 takes 6.8e7.
    """
    sets = [np.array(one) for k in range(1, 6) for one in combinations(TABLE_1, k)]
    utility = np.sort([majority_accuracy(one) for one in sets])
    eps = min(utility[-1] - utility[-2], np.min(np.diff(np.sort(TABLE_1)))) / 2
    assert eps == pytest.approx(0.001)
    assert max(m * majority_subsets(m) for m in (1, 3, 5)) == 80
    assert np.log(2000) / (eps / 80) ** 2 == pytest.approx(4.86e10, rel=1e-2)
    assert np.log(2000) / (eps * 2 / 6) ** 2 == pytest.approx(6.84e7, rel=1e-2)


def test_the_factor_of_the_union_bound_is_not_needed() -> None:
    """``|pi(S; p^) - pi(S; p)| <= (m+1)/2 max |p^ - p|`` in place of ``m n(S_m)``: for 500 pairs of skills."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        m = int(rng.choice([1, 3, 5, 7]))
        true, seen = rng.random((2, m))
        off = abs(majority_accuracy(true) - majority_accuracy(seen))
        assert off <= (m + 1) / 2 * np.abs(true - seen).max() + 1e-12


def test_an_even_set_may_be_as_good() -> None:
    """Theorem 1: the optimal number is odd. With equal skills {.7} and {.7, .7} tie, so it need not be."""
    assert majority_accuracy([0.7]) == pytest.approx(majority_accuracy([0.7, 0.7]), abs=1e-15)


DOMINATED = np.array([0.9, 0.6, 0.55])  # the first outweighs the others together


def weighted_utilities() -> dict[tuple[int, ...], float]:
    """pi~(S) of every set of DOMINATED under the weighted majority."""
    return {one: 1 - weighted_error(DOMINATED[list(one)]) for k in (1, 2, 3) for one in combinations(range(3), k)}


def test_an_optimal_set_need_not_be_monotone() -> None:
    """Theorem 4 as worded: i in S* and j not in S* means p_i > p_j. p = (.9, .6, .55): {1, 3} is optimal and leaves out
    the second. Some monotone set is optimal: all of them together always are.
    """
    value = weighted_utilities()
    best = max(value.values())
    assert value[0, 2] == pytest.approx(best, abs=1e-12) and DOMINATED[1] > DOMINATED[2]
    assert value[0, 1, 2] == pytest.approx(best, abs=1e-12)


def test_the_least_difference_may_be_zero() -> None:
    """Theorem 5 needs eps below half of Delta_min = min U(S*) - U(S) over other sets: 0 where one labeler dominates."""
    value = sorted(weighted_utilities().values())
    assert value[-1] - value[-2] == pytest.approx(0, abs=1e-12)


def test_the_constant_of_theorem_5_is_too_small() -> None:
    """C > max((1 + e/4)/p, (1 - e/4)/(1 - p), ...) is to bound |ln(1 - p^) - ln(1 - p)| by C |p^ - p|. p = .9, e = .1,
    p^ = p + e/4: 11.5 |p^ - p|, and the printed C is 9.75. 1 / min(p, 1-p, p^, 1-p^) = 13.3 holds.
    """
    p, e = 0.9, 0.1
    seen = p + e / 4
    printed = max((1 + e / 4) / p, (1 - e / 4) / (1 - p), e / 4 / p, e / 4 / (1 - p))
    slope = abs(np.log(1 - seen) - np.log(1 - p)) / (seen - p)
    assert printed == pytest.approx(9.75)
    assert printed < slope < 1 / min(p, 1 - p, seen, 1 - seen)


def test_exploration_takes_more_steps_than_lemma_1_counts() -> None:
    """Explore while |E| <= D_1 or some N_k <= D_2 (their Fig. 1), D_1 = 2, D_2 = 1: 5 steps after the first tester,
    (2 + 1)(1 + 1) - 1, where the lemma counts at most D_1 D_2 = 2.
    """
    testers, most, times, steps = [1], 2, 1, 0
    while len(testers) <= most or min(testers) <= times:
        rare = [k for k, count in enumerate(testers) if count <= times]
        if rare:
            testers[rare[0]] += 1
        else:
            testers.append(1)
        steps += 1
    assert steps == (most + 1) * (times + 1) - 1 == 5 > most * times


def test_vetting_may_drop_the_best_labeler() -> None:
    """(12) says pi(M) + p_i (1 - 2 pi(M)), as if i were not in the majority. p = (.99, .4, .3): it says that the first
    differs least; they differ most. Right: E[Z_i - Z_j] = (2 r_ij - 1)(p_j - p_i), r_ij = pi(M without i and j).
    """
    p, rates = np.array([0.99, 0.4, 0.3]), np.zeros(3)
    for right in map(np.array, product((0, 1), repeat=3)):  # how often each differs from the majority
        rates += np.prod(np.where(right, p, 1 - p)) * (right != (right.sum() > 1))
    all_right = majority_accuracy(p)
    assert all_right > 0.5 and np.mean(p) > 0.5
    assert rates == pytest.approx([0.417, 0.181, 0.279], abs=5e-4)
    printed = all_right + p * (1 - 2 * all_right)
    assert printed.argmin() == 0 and rates.argmax() == 0
    for i, j in combinations(range(3), 2):
        without = majority_accuracy(np.delete(p, [i, j]))
        assert rates[i] - rates[j] == pytest.approx((2 * without - 1) * (p[j] - p[i]))


def test_with_the_skills_of_table_1_everybody_is_best() -> None:
    """The five together have pi = .8834, and no other set has more: nothing can be gained by selecting there."""
    value = {one: majority_accuracy(TABLE_1[list(one)]) for k in range(1, 6) for one in combinations(range(5), k)}
    assert max(value, key=lambda one: value[one]) == (0, 1, 2, 3, 4)
    assert value[0, 1, 2, 3, 4] == pytest.approx(0.8834, abs=5e-5)


def test_table_2_s_full_majority_fits_no_law() -> None:
    """Skills drawn independently from one law of mean mu: the majority of M is right as if all had skill mu. The
    mu that each printed number asks for go from .508 to .594: no law gives .5154, .5686, .7000, .7997 at 5, 10, 15, 20.
    """
    means = []
    for m, printed in ((5, 0.5154), (10, 0.5686), (15, 0.7000), (20, 0.7997)):
        low, high = 0.5, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if majority_accuracy([middle] * m) < printed else (low, middle)
        means.append(low)
    assert np.ptp(means) > 0.08 and means[0] == pytest.approx(0.508, abs=1e-3)
    assert means[-1] == pytest.approx(0.594, abs=2e-3)


def test_the_constant_of_the_regret_grows_faster_than_printed() -> None:
    """Section 3.2 says of max m n(S_m) "roughly O(2^m sqrt(m) / sqrt(2 pi))", as if majorities were those of
    (m + 1) / 2 labelers alone. There are 2^(m - 1): sqrt(pi m / 2) times the printed order, which no constant mends.
    """
    for m in range(1, 15, 2):
        assert majority_subsets(m) == sum(2 * sum(way) > m for way in product((0, 1), repeat=m)) == 2 ** (m - 1)
    odd = np.arange(1, 100, 2)
    printed = 2.0**odd * np.sqrt(odd) / np.sqrt(2 * np.pi)
    assert odd * 2.0 ** (odd - 1) / printed == pytest.approx(np.sqrt(np.pi * odd / 2))
    assert printed[2] == pytest.approx(28.5, abs=0.1)


LINK = re.compile(r"\[`(test_\w+)`\]\((\.\./tests/[\w/]+\.py)\)")


def test_every_erratum_links_to_a_test_that_is_there() -> None:
    """A mathematician who reads models/README.md must find what it points to: the file, and the test in it."""
    page = (MODELS / "README.md").read_text(encoding="utf-8")
    linked = dict(LINK.findall(page))
    assert [n for n, path in linked.items() if f"def {n}(" not in (MODELS / path).read_text(encoding="utf-8")] == []
    assert set(re.findall(r"`(test_\w+)`", page)) - {"test_errata", "test_models"} == linked.keys()
    items = re.split(r"\n(?=\d+\. )", page[page.index("\n## 9. Errata") :])[1:]
    assert len(items) >= 20 and all(map(LINK.search, items))

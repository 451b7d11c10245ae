"""Sets band by band: the cheapest of all sets by exact errors, and bounds that hold wherever the search is ended."""

from __future__ import annotations

from itertools import combinations, product
from math import factorial

import numpy as np
import pytest

from crowdopt import AssignmentInstance, assign
from crowdopt.assign.engine.band_kernels import cheapest_counted, error_of_counts, last_cell_to_counts
from tests.sampled import first_of

ROUNDING = 1e-12
FREE = np.zeros((0, 1), bool), np.zeros(0, np.int64), np.zeros(0, np.int64)  # no limits on groups


def start_of(prior: list[float]) -> np.ndarray:
    return np.array(prior)[None, :, None]


def error(prior: list[float], skill: np.ndarray) -> float:
    """``1 - sum over answers of the largest joint chance``, answer by answer."""
    classes, right = len(prior), 0.0
    for answers in product(range(classes), repeat=skill.size):
        joint = [
            prior[t] * np.prod([p if a == t else (1 - p) / (classes - 1) for a, p in zip(answers, skill, strict=True)])
            for t in range(classes)
        ]
        right += max(joint)
    return float(1 - right)


def evidence_of(skill: np.ndarray) -> np.ndarray:
    """Any that grows with the skill."""
    return 3 * skill**2


def asked_of(seed: int, skill: np.ndarray, target: float) -> tuple[float, float, np.ndarray]:
    """Target, evidence that is needed, and that of a label of each cell: in two of three cases some is needed."""
    return target, 2.0 * (seed % 3), evidence_of(skill)


def drawn(seed: int) -> tuple[list[float], np.ndarray, np.ndarray, np.ndarray, float]:
    """Prior, price and cell of each label, skill of each cell, target."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 5))
    prior = np.full(classes, 1 / classes) if seed % 2 else rng.dirichlet(np.full(classes, 5.0))
    skill = -np.sort(-rng.uniform(1 / classes, 0.95, 5))
    cell = np.sort(rng.integers(0, 5, 7))
    return prior.tolist(), rng.integers(0, 9, 7) / 2, cell, skill, float(rng.uniform(0.05, 0.4))


def least(prior: list[float], price: np.ndarray, skill: np.ndarray, asked: tuple[float, float], sizes: range) -> float:
    """By every set; asked: target and evidence."""
    best = np.inf
    for size in sizes:
        for one in map(list, combinations(range(price.size), size)):
            if (
                price[one].sum() < best
                and evidence_of(skill[one]).sum() >= asked[1]
                and error(prior, skill[one]) <= asked[0]
            ):
                best = float(price[one].sum())
    return best


@pytest.mark.parametrize("seed", range(12))
def test_no_set_costs_less_and_a_bound_holds_after_any_number_of_errors(seed):
    """The optimum where the search ends by itself; a lower bound, and only sets that do, where it is ended."""
    prior, price, cell, skill, target = drawn(seed)
    fewest, most = seed % 3, 4
    target, need, worth = asked_of(seed, skill, target)
    wanted = least(prior, price, skill[cell], (target, need), range(fewest, most + 1))
    for work in (1, 3, 10, 100_000):
        found = np.zeros(most, np.int64)
        items, sizes, effort = (price, cell, 0 * cell), (fewest, most), (np.inf, np.inf, work)
        asked = items, skill[None], start_of(prior), (target, need, worth, False), sizes, FREE, effort, found
        bound, size = cheapest_counted(*asked)
        assert bound <= wanted + ROUNDING
        if size >= 0:
            chosen = found[:size]
            assert np.unique(chosen).size == size and fewest <= size <= most
            assert error(prior, skill[cell[chosen]]) <= target + ROUNDING
            assert evidence_of(skill[cell[chosen]]).sum() >= need - ROUNDING
            assert price[chosen].sum() >= wanted - ROUNDING
    assert bound == pytest.approx(wanted, abs=ROUNDING)
    assert (size >= 0) == np.isfinite(wanted)


@pytest.mark.parametrize("seed", range(40))
def test_limits_on_groups_are_kept_and_cost_no_more_than_they_must(seed):
    """Groups that overlap, each with fewest and most labels of a set, against every set that keeps them."""
    prior, price, cell, skill, target = drawn(seed)
    rng = np.random.default_rng([seed, 1])
    segment = np.sort(rng.integers(0, 3, 7))
    member = np.array([[True, False, False], [False, True, True]])
    low, top = rng.integers(0, 3, 2), rng.integers(1, 4, 2)
    cell = np.concatenate([np.sort(cell[segment == g]) for g in range(3)])
    sets = [list(one) for size in range(5) for one in combinations(range(7), size)]
    inside = [member[:, segment[one]].sum(axis=1) for one in sets]
    kept = [one for one, many in zip(sets, inside, strict=True) if (many >= low).all() and (many <= top).all()]
    target, need, worth = asked_of(seed, skill, target)
    enough = [one for one in kept if evidence_of(skill[cell[one]]).sum() >= need]
    costs = [float(price[one].sum()) for one in enough if error(prior, skill[cell[one]]) <= target]
    wanted = min(costs, default=np.inf)
    for work in (1, 10, 100_000):
        found = np.zeros(4, np.int64)
        items, effort = (price, cell, segment), (np.inf, np.inf, work)
        asked = (
            items,
            skill[None],
            start_of(prior),
            (target, need, worth, False),
            (0, 4),
            (member, low, top),
            effort,
            found,
        )
        bound, size = cheapest_counted(*asked)
        assert bound <= wanted + ROUNDING
        if size >= 0:
            assert sorted(found[:size].tolist()) in enough
            assert error(prior, skill[cell[found[:size]]]) <= target + ROUNDING
    assert bound == pytest.approx(wanted, abs=ROUNDING)
    assert (size >= 0) == np.isfinite(wanted)


def plain_error(start: np.ndarray, skill: np.ndarray) -> float:
    """Of the vote that takes every task for one of the first kind, ties by lot: answer by answer, two classes."""
    wrong = 0.0
    for answers in product(range(2), repeat=skill.shape[1]):
        right = np.array(answers)[:, None] == np.arange(2)
        each = np.array(
            [
                s[:, 0] * np.where(right, p[:, None], 1 - p[:, None]).prod(axis=0)
                for s, p in zip(start, skill, strict=True)
            ]
        )
        voted = np.isclose(each[0], each[0].max(), rtol=1e-9)
        wrong += each.sum() - each.sum(axis=0)[voted].mean()
    return float(wrong)


@pytest.mark.parametrize("seed", range(40))
def test_sets_serve_votes_that_do_not_know_hard_tasks(seed):
    """The least of all sets by such votes, which err more than those that know, and may for a better label."""
    rng = np.random.default_rng(seed)
    easy = -np.sort(-rng.uniform(0.5, 0.95, 4))
    skill, part = np.array([easy, 0.5 + rng.uniform(0, 0.8) * (easy - 0.5)]), rng.uniform(0.02, 0.3)
    first = rng.uniform(0.5, 0.7)
    start = np.array([[1 - part], [part]])[:, :, None] * np.array([first, 1 - first])[None, :, None]
    cell, price = np.sort(rng.integers(0, 4, 7)), rng.integers(1, 9, 7) / 2
    target = rng.uniform(0.05, 0.4)
    sets = [list(one) for size in range(8) for one in combinations(range(7), size)]
    wanted = min(
        (float(price[s].sum()) for s in sets if plain_error(start, skill[:, cell[s]]) <= target), default=np.inf
    )
    for work in (1, 10, 100_000):
        found, effort = np.zeros(7, np.int64), (np.inf, np.inf, work)
        asked = (price, cell, 0 * cell), skill, start, (target, 0.0, np.zeros(4), True), (0, 7), FREE, effort, found
        bound, size = cheapest_counted(*asked)
        assert bound <= wanted + ROUNDING
        if size >= 0:
            assert plain_error(start, skill[:, cell[found[:size]]]) <= target + ROUNDING
    assert bound == pytest.approx(wanted, abs=ROUNDING)
    assert (size >= 0) == np.isfinite(wanted)


@pytest.mark.parametrize("seed", range(6))
def test_a_label_tells_no_more_than_a_lottery_between_two_skills(seed):
    """What own bounds rest on: the vote errs no less than the mean over lotteries that make each label's skill."""
    rng = np.random.default_rng(seed)
    classes = 2 + seed % 3
    prior = rng.dirichlet(np.full(classes, 5.0)).tolist()
    ends = 1 / classes + np.array([0.1, 0.3])
    chance = rng.random(4)
    mean = 0.0
    for won in product((False, True), repeat=4):
        likely = np.prod(np.where(won, chance, 1 - chance))
        mean += likely * error(prior, np.where(won, ends[1], ends[0]))
    assert error(prior, ends[0] + chance * (ends[1] - ends[0])) >= mean - ROUNDING


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_the_cheapest_set_of_sixty_workers_is_proven_soon(classes):
    """Prices near what labels are worth: sets of many kinds cost about as much, and a bound meets the best one."""
    rng = np.random.default_rng(classes)
    skill = -np.sort(-rng.uniform(0.45, 0.75, 60)) if classes > 2 else -np.sort(-rng.uniform(0.6, 0.8, 60))
    price = np.log(skill * (classes - 1) / (1 - skill)) * rng.uniform(0.99, 1.01, 60)
    found, none = np.zeros(40, np.int64), np.zeros(60, np.int64)
    items, asked, effort = (price, np.arange(60), none), (0.1, 0.0, np.zeros(60), False), (np.inf, np.inf, 1_500)
    bound, size = cheapest_counted(
        items, skill[None], start_of([1 / classes] * classes), asked, (0, 60), FREE, effort, found
    )
    assert bound == pytest.approx(price[found[:size]].sum(), rel=ROUNDING)


def test_known_costs_end_a_search():
    """Where no set costs less than one that is known, that is the bound."""
    prior, price, cell, skill, target = drawn(1)
    asked = asked_of(1, skill, target)
    wanted = least(prior, price, skill[cell], asked[:2], range(5))
    found = np.zeros(4, np.int64)
    asked = (price, cell, 0 * cell), skill[None], start_of(prior), (*asked, False), (0, 4), FREE
    assert cheapest_counted(*asked, (wanted, np.inf, 100_000), found) == (wanted, -1)


@pytest.mark.parametrize("up", [True, False])
def test_errors_of_many_labels_lie_on_one_side(up):
    """Sixteen labels of sixteen skills among three classes: too many answers to tell apart, so skills are joined."""
    skill = np.linspace(0.8, 0.4, 16)[None]
    law, other = (np.empty((3, 1 << 15)) for _ in range(2))

    def of(chosen: list[int], amount: list[int]) -> float:
        cell = np.array(chosen, np.int64)
        start = start_of([1 / 3] * 3)
        return error_of_counts(start, skill, cell, np.array(amount, np.int64), len(chosen), up, law, other)

    assert of([0, 4, 9], [1, 1, 1]) == pytest.approx(error([1 / 3] * 3, skill[0, [0, 4, 9]]), abs=ROUNDING)
    assert of([0, 4], [2, 1]) == pytest.approx(error([1 / 3] * 3, skill[0, [0, 0, 4]]), abs=ROUNDING)
    whole = of(list(range(16)), [1] * 16)
    rng, draws = np.random.default_rng(0), 40_000
    hit = rng.random((draws, 16)) < skill[0]
    answers = np.where(hit, 0, rng.integers(1, 3, (draws, 16)))
    score = np.stack([np.where(answers == t, np.log(2 * skill[0] / (1 - skill[0])), 0).sum(axis=1) for t in range(3)])
    best = score.max(axis=0)
    wrong = float(np.mean(np.where(score[0] >= best, 1 - 1 / (score >= best).sum(axis=0), 1.0)))
    room = 5 * np.sqrt(wrong / draws)
    assert whole <= wrong + room if up else whole >= wrong - room


@pytest.mark.parametrize("seed", range(6))
def test_the_last_cell_is_the_poorest_label_that_does(seed):
    """Every cell before it does beside the labels that are there, and none from it on."""
    prior, _, cell, skill, target = drawn(seed)
    beside = cell[:3]
    last = last_cell_to_counts(beside, skill[None], start_of(prior), target)
    does = [error(prior, skill[np.append(beside, c)]) <= target for c in range(skill.size)]
    assert does == [c < last for c in range(skill.size)]


def test_sets_that_are_too_long_are_bounded_by_what_they_cost():
    """Of seven labels none does without three; where two are followed, what longer ones cost is all that is known."""
    price, cell, skill = np.arange(1.0, 8.0), np.zeros(7, np.int64), np.array([[0.7]])
    asked = (price, cell, cell), skill, start_of([1 / 3] * 3)
    found = np.zeros(2, np.int64)
    target = error([1 / 3] * 3, np.full(4, 0.7)), 0.0, np.ones(1), False
    assert error([1 / 3] * 3, np.full(2, 0.7)) > target[0]
    assert cheapest_counted(*asked, target, (0, 7), FREE, (np.inf, 6.0, 1_000), found) == (6.0, -1)
    assert cheapest_counted(*asked, target, (3, 7), FREE, (np.inf, 6.0, 1_000), found) == (6.0, -1)
    assert cheapest_counted(*asked, target, (3, 2), FREE, (np.inf, 6.0, 1_000), found) == (np.inf, -1)


def error_of_alike(skill: float, labels: int) -> float:
    """Of three classes as likely, by how often each is named."""
    right, wrong, kept = skill, (1 - skill) / 2, 0.0
    for a in range(labels + 1):
        for b in range(labels - a + 1):
            most = max(a, b, labels - a - b)
            ways = factorial(labels) // (factorial(a) * factorial(b) * factorial(labels - a - b))
            kept += ways * right**most * wrong ** (labels - most) / 3
    return 1 - kept


@pytest.mark.parametrize(("skill", "target", "least"), first_of([(0.6, 0.1, 45), (0.6, 0.02, 0), (0.6, 0.003, 0)]))
def test_workers_alike_give_as_many_labels_as_their_target_needs(skill, target, least):
    """More labels of one skill than there are combinations of answers to follow: each task takes the fewest that do."""
    fewest = next(n for n in range(least, 80) if error_of_alike(skill, n) <= target)
    limits = {"min_labels": np.full(5, least)} if least else {}
    plan = assign(
        AssignmentInstance(
            np.full((1, 60), skill), np.zeros(5, int), np.full(60, 5), target, rule="exact-error", classes=3, **limits
        ),
        time_limit=20,
        gap=0.0,
    )

    assert plan.proven and plan.objective == 5 * fewest

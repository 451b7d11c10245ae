"""Escalation: no threshold stands that leaves too many wrong answers below it, but with the chance that is stated."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.answers.audit.audited import Strata
from crowdopt.answers.audit.escalated import EscalationDraw, EscalationTerms, Planned
from crowdopt.answers.audit.escalation_draw import draw_escalation, escalate, next_looks
from crowdopt.answers.audit.prediction import mixture
from crowdopt.answers.audit.threshold_test import certified_groups
from crowdopt.errors import InputError
from tests.answers.audit.paths import worst_chance
from tests.answers.audit.test_broken_crowds import answered
from tests.chance import most, seeds

N, EPSILON, DELTA, LOOKS = 60, 0.1, 0.05, 25
CASES = {  # sizes of the groups, claims, rates, wrong answers allowed, delta
    "claims that may be true": ([2, 2, 2], [0.02, 0.1, 0.4], [0.8, 1.0, 1.5], 1, 0.3),
    "claims turned round": ([2, 2, 2], [0.5, 0.2, 0.01], [1.0, 1.0, 0.3], 1, 0.1),
    "no wrong answer allowed": ([3, 3], [0.05, 0.3], [1.0, 1.0], 0, 0.1),
}


def small(size, claim, rate, allowed, stratum, delta) -> EscalationDraw:
    strata = Strata(np.array(size), np.array(claim, float), np.array(rate, float))
    terms, none = EscalationTerms(allowed, delta), Planned(0, 0, 0, 0, 0.0)
    versions = mixture(strata.claim, (allowed + 1) / (sum(size) + 1))
    return EscalationDraw(terms, strata, np.arange(sum(size)), np.array(stratum), versions, 1, none)


def worst(size, claim, rate, allowed, delta) -> float:
    """The largest chance that at any time too many are below the threshold."""

    def false(sequence, wrong, counts):
        groups = certified_groups(small(size, claim, rate, allowed, sequence, delta), wrong)
        return (np.concatenate([[0], np.cumsum(counts)])[groups] > allowed).any()

    return worst_chance(size, rate, false)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_no_placement_of_the_errors_makes_any_threshold_false_too_often(case):
    """The theorem by enumeration: all placements, all orders of drawing, and a claim after every single look."""
    assert worst(*CASES[case]) <= CASES[case][-1] + 1e-12


def test_two_groups_by_enumeration():
    """The same for four answers, and that the enumeration can fail: with delta .9 some claims are false."""
    for delta in (0.1, 0.3):
        assert worst([2, 2], [0.05, 0.4], [0.8, 1.5], 1, delta) <= delta + 1e-12
    assert 0 < worst([2, 3], [0.05, 0.4], [0.8, 1.5], 1, 0.9) <= 0.9


def laws(seed: int):
    """Claims and wrong answers, by name: six ways in which they may go together, and three broken crowds."""
    chance = np.random.default_rng([seed, 8])
    claims = np.minimum(0.5, chance.beta(0.4, 2.4, N))
    allowed = int(EPSILON * N)
    surest = np.argsort(claims, kind="stable")
    hidden = np.zeros(N, bool)
    hidden[chance.choice(surest[: 3 * allowed], allowed + 1, replace=False)] = True  # the least that is too many
    yield "true", claims, chance.random(N) < claims
    yield "half of the truth", claims / 2, chance.random(N) < claims
    yield "turned round", claims, chance.random(N) < 0.6 * (0.5 - claims)
    yield "meaningless", claims, chance.random(N) < 0.2
    yield "all alike", np.full(N, 0.05), chance.random(N) < 0.15
    yield "one too many among the surest", claims, hidden
    for how in ("difficulty=.4", "clique=.5", "drift=.4"):
        yield how, *answered(how, seed)


def too_many_below(claims, wrong, seed: int) -> bool:
    """Whether after any look more wrong answers stand than are claimed: whenever the expert stops, they do not."""
    allowed = int(EPSILON * N)
    draw = draw_escalation(claims, EscalationTerms(allowed, DELTA, seed))
    seen = wrong[draw.order[:LOOKS]]
    by_group = np.bincount(draw.stratum, weights=wrong[draw.order], minlength=draw.strata.size.size)
    below = np.concatenate([[0], np.cumsum(by_group)])
    return bool((below[certified_groups(draw, seen)] > allowed).any())


@pytest.mark.chance
@pytest.mark.parametrize("trials", [5, pytest.param(10_000, marks=pytest.mark.long)])
def test_thresholds_hold_for_nine_laws(trials):
    """Each run's claim is false with a chance of at most DELTA, so their count is binomial at most."""
    false: dict[str, int] = {}
    for seed in seeds(trials):
        for name, claims, wrong in laws(seed):
            false[name] = false.get(name, 0) + too_many_below(claims, wrong, seed)
    print(false)
    assert len(false) == 9
    for name, count in false.items():
        assert count <= most(trials, DELTA), name


def ended(claims, wrong, terms):
    """Look as the draw proposes, until no further look is expected to save money."""
    draw = draw_escalation(claims, terms)
    count = draw.checks
    while True:
        done = escalate(draw, wrong[draw.order[:count]])
        if done.finished or count == wrong.size:
            return done
        count = next_looks(draw, count, done.planned)


def test_claims_that_tell_right_from_wrong_leave_little_to_the_expert():
    """Half of 400 answers are surely right, half are guesses: the guesses go up, the others stand."""
    claims = np.repeat([0.005, 0.5], 200)
    wrong = np.concatenate([np.zeros(200, bool), np.random.default_rng(0).random(200) < 0.5])
    done = ended(claims, wrong, EscalationTerms(20, 0.05, 1))
    assert 200 <= done.stand <= 260
    calls = done.wrong.size + int((done.draw.stratum[done.wrong.size :] >= done.groups).sum())
    assert calls < 260, "fewer than half of the sure answers are looked at"


def test_as_many_as_may_be_wrong_stand_without_a_look():
    """L answers hold at most L wrong ones: whatever was seen, the L surest need not go up."""
    claims = np.random.default_rng(0).random(50) * 0.3
    done = escalate(draw_escalation(claims, EscalationTerms(5, 0.05, 1)), np.ones(10, bool))
    assert done.stand >= 5 and done.left <= 5


def test_a_cheap_next_tier_takes_more():
    """Looks are dear and going up is cheap: fewer looks are planned than where both cost the same."""
    claims = np.minimum(0.5, np.random.default_rng(0).beta(0.4, 2.4, 400))
    even, cheap = (draw_escalation(claims, EscalationTerms(20, 0.05, 1, 40, price)).planned for price in (40, 1))
    assert cheap.checks < even.checks and cheap.up > even.up


def test_what_cannot_be_drawn_is_refused():
    """A sentence each."""
    for claims, terms, words in (
        (np.zeros(0), EscalationTerms(), "no answer"),
        (np.array([0.1, 1.2]), EscalationTerms(), "probabilities"),
        (np.array([0.1]), EscalationTerms(delta=0.0), "chance of a false claim"),
        (np.array([0.1]), EscalationTerms(allowed=-1), "at least 0"),
        (np.array([0.1]), EscalationTerms(next_price=0.0), "price next"),
    ):
        with pytest.raises(InputError, match=words):
            draw_escalation(claims, terms)
    with pytest.raises(InputError, match="looked at"):
        escalate(draw_escalation(np.full(4, 0.1), EscalationTerms(1)), np.zeros(0, bool))

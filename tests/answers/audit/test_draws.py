"""Draws: by a seed, as often from each group as it says; claims on simulated crowds are false as often as stated."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance
from crowdopt.answers import one_coin
from crowdopt.answers.audit.draws import METHODS, AuditTerms, conclude, draw
from crowdopt.answers.audit.escalation import EscalationTerms, draw_escalation, escalate, next_looks
from crowdopt.online.crowds import breach, breached, simulated_stream
from tests.answers.tables import table
from tests.chance import binomial, fewest, most, rng, seeds

N, WORKERS, CHECKS, TARGET, DELTA = 60, 9, 25, 0.1, 0.05
BREACHES = ("difficulty=.4", "clique=.5", "drift=.4")


def answered(how: str, seed: int):
    """Claimed errors and which answers are wrong, of one-coin EM on a broken crowd's labels."""
    skill = np.random.default_rng([seed, 5]).uniform(0.5, 0.9, (1, WORKERS))
    of = AssignmentInstance(skill, np.zeros(N, np.int64), np.full(WORKERS, N), 0.1)
    stream = breached(simulated_stream(of, (seed,)), breach(how))
    every = np.arange(N)
    label = np.concatenate([stream.crowd.label(j, every) for j in range(WORKERS)])
    answers = one_coin(table(np.tile(every, WORKERS), np.repeat(np.arange(WORKERS), N), label, N, WORKERS))
    return 1 - answers.confidence, answers.answer != stream.truth


def laws(seed: int):
    """Claims and wrong answers, by name: six ways in which they may go together, and three broken crowds."""
    chance = np.random.default_rng([seed, 8])
    claims = np.minimum(0.5, chance.beta(0.4, 2.4, N))
    allowed = int(TARGET * N)
    hidden = np.zeros(N, bool)  # the least that is too many
    hidden[chance.choice(np.argsort(claims, kind="stable")[: 3 * allowed], allowed + 1, replace=False)] = True
    yield "true", claims, chance.random(N) < claims
    yield "half of the truth", claims / 2, chance.random(N) < claims
    yield "turned round", claims, chance.random(N) < 0.6 * (0.5 - claims)
    yield "meaningless", claims, chance.random(N) < 0.2
    yield "all alike", np.full(N, 0.05), chance.random(N) < 0.15
    yield "one too many among the surest", claims, hidden
    yield from ((how, *answered(how, seed)) for how in BREACHES)


def false_claim(claims, wrong, method: str, seed: int) -> bool:
    """Whether a claim after any of the checks is false: whenever the expert stops, it is not."""
    if method == "escalate":
        of = draw_escalation(claims, EscalationTerms(N, TARGET, seed=seed))
        by_group = np.bincount(of.stratum, weights=wrong[of.order], minlength=of.strata.size.size)
        groups = escalate(of, wrong[of.order[:CHECKS]]).certified
        return bool((np.append(0, np.cumsum(by_group))[groups] > of.terms.allowed).any())
    of = draw(N, AuditTerms(method, TARGET, DELTA, seed), claims if method == "assisted" else None, CHECKS)
    seen = wrong[of.order[:CHECKS]]
    left = wrong.sum() - np.cumsum(seen)
    return bool((conclude(of, seen).left < (left[-1:] if of.fixed else left)).any())


@pytest.mark.chance
@pytest.mark.parametrize("trials", [10, pytest.param(10_000, marks=pytest.mark.long)])
def test_claims_hold_for_any_law(trials):
    """Each is false with a chance of at most DELTA, so the count of each law and method is binomial at most.

    Crowds with hard tasks, colluding workers, workers who tire: in nine of ten the model claims too little by a third.
    """
    false: dict[tuple[str, str], int] = {}
    fooled: dict[str, int] = {}
    for seed in seeds(trials):
        for law, claims, wrong in laws(seed):
            fooled[law] = fooled.get(law, 0) + (wrong.sum() > 1.3 * claims.sum())
            for method in (*METHODS, "escalate"):
                false[law, method] = false.get((law, method), 0) + false_claim(claims, wrong, method, seed)
    assert len(false) == 36 and max(false.values()) <= most(trials, DELTA), false
    assert min(fooled[how] for how in BREACHES) >= fewest(trials, 0.9), fooled


@pytest.mark.chance
def test_the_draw_takes_each_group_as_often_as_it_says():
    """The first answer drawn comes from a group in proportion to size times rate: binomial counts over 60 seeds."""
    claims = rng().beta(0.2, 3.8, 40)
    draws = [draw(40, AuditTerms("assisted", 0.1, 0.05, seed), claims, 5) for seed in seeds(60)]
    weight = draws[0].strata.size * draws[0].strata.rate
    first = np.bincount([one.stratum[0] for one in draws], minlength=weight.size)
    assert binomial(first, 60, weight / weight.sum())


def test_claims_that_tell_right_from_wrong_leave_little_to_the_expert():
    """Half of 400 answers are surely right, half are guesses: the guesses go up, the others stand.

    The expert looks as the draw proposes, until no further look is expected to save money.
    """
    claims = np.repeat([0.005, 0.5], 200)
    wrong = np.concatenate([np.zeros(200, bool), np.random.default_rng(0).random(200) < 0.5])
    of = draw_escalation(claims, EscalationTerms(400, 0.05, seed=1))
    done = escalate(of, wrong[of.order[: of.checks]])
    while not done.finished:
        done = escalate(of, wrong[of.order[: next_looks(400, done.wrong.size, done.planned)]])
    assert 200 <= done.stand <= 260
    calls = done.wrong.size + int((of.stratum[done.wrong.size :] >= done.groups).sum())
    assert calls < 260, "fewer than half of the sure answers are looked at"


def test_a_cheap_next_tier_takes_more():
    """Looks are dear and going up is cheap: fewer looks are planned than where both cost the same."""
    claims = np.minimum(0.5, np.random.default_rng(0).beta(0.4, 2.4, 400))
    terms = [EscalationTerms(400, 0.05, seed=1, expert_price=40, next_price=price) for price in (40, 1)]
    even, cheap = (draw_escalation(claims, one).planned for one in terms)
    assert cheap.checks < even.checks and cheap.up > even.up

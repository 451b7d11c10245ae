"""Draws: by a seed, as often from each group as it says; claims, of slices too, are false as often as stated."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest

from crowdopt import AssignmentInstance
from crowdopt.answers import one_coin
from crowdopt.answers.audit.draws import METHODS, AuditTerms, conclude, draw, recall_at_least, slice_claims
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
@pytest.mark.parametrize("trials", [7, pytest.param(10_000, marks=pytest.mark.long)])
def test_claims_hold_for_any_law(trials):
    """Each is false with a chance of at most DELTA, so the count of each law and method is binomial at most.

    Crowds with hard tasks, colluding workers, workers who tire: in nine of ten the model claims too little by a third.
    """
    false, fooled = Counter[tuple[str, str]](), Counter[str]()
    for seed in seeds(trials):
        for law, claims, wrong in laws(seed):
            fooled[law] += wrong.sum() > 1.3 * claims.sum()
            for method in (*METHODS, "escalate"):
                false[law, method] += false_claim(claims, wrong, method, seed)
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
    calls = done.wrong.size + int((of.stratum[done.wrong.size :] >= done.groups).sum())
    assert 200 <= done.stand <= 260 and calls < 260, "fewer than half of the sure answers are looked at"


def test_a_cheap_next_tier_takes_more():
    """Looks are dear and going up is cheap: fewer looks are planned than where both cost the same."""
    claims = np.minimum(0.5, np.random.default_rng(0).beta(0.4, 2.4, 400))
    terms = [EscalationTerms(400, 0.05, seed=1, expert_price=40, next_price=price) for price in (40, 1)]
    even, cheap = (draw_escalation(claims, one).planned for one in terms)
    assert cheap.checks < even.checks and cheap.up > even.up


VALUES = ["a"] * 4 + ["b"] * 3  # of seven answers
CROWDS = {  # chance of an error of each answer, by its value and its claim
    "honest": lambda value, claim: claim,
    "claims turned round": lambda value, claim: 0.6 - claim,
    "one class is wrong": lambda value, claim: 0.5 * (value == "a"),
    "nothing is wrong": lambda value, claim: 0.0 * claim,
    "all of it is wrong": lambda value, claim: 0.0 * claim + 1.0,
    "the sure ones are wrong": lambda value, claim: 0.9 * (claim < 0.1),
    "the unsure ones are wrong": lambda value, claim: 0.9 * (claim > 0.4),
    "the sure ones of one class": lambda value, claim: 0.8 * ((claim < 0.15) & (value == "b")),
    "few, where few are": lambda value, claim: 0.3 * (value == "c"),
}


def looks(made, wrong, count):
    """The first so many answers of the draw, and the certain ones, all looked at."""
    places = [*made.certain.tolist(), *made.order[:count].tolist()]
    return wrong[made.order[:count]], {place: bool(wrong[place]) for place in places}


def left(claims, wrong, looked, values):
    """What is claimed of each slice against how many are left that are wrong."""
    unseen = np.array([place not in looked for place in range(wrong.size)])
    return [(one.wrong_at_most, int((wrong & unseen & (values == one.value)).sum())) for one in claims]


@pytest.mark.parametrize("checks", [3, 5])
def test_a_fixed_draw_of_seven_is_false_of_a_slice_no_more_often_than_its_share(checks):
    """All placements of the errors, all subsets: a claim is false with a chance of at most delta / 4 for each slice.

    Answers of a slice are alike, so that a placement is how many are wrong in each.
    """
    values, terms = np.array(VALUES), AuditTerms("exact", 0.3, 0.6, by="kind")
    made = draw(7, terms, checks=checks, values=VALUES)
    drawn = list(combinations(range(7), checks))
    for a, b in product(range(5), range(4)):
        wrong, false = np.arange(7) < np.repeat([a, 4 + b], [4, 3]), np.zeros(2)
        for chosen in drawn:
            one = replace(made, order=np.array([*chosen, *sorted({*range(7)} - {*chosen})]))
            seen, looked = looks(one, wrong, checks)
            false += [most < there for most, there in left(slice_claims(one, seen, looked), wrong, looked, values)]
        assert (false / len(drawn) <= terms.delta / 4 + 1e-9).all()


@pytest.mark.parametrize("wrong", [(1, 0, 0, 1, 1, 0), (1, 1, 1, 0, 0, 0), (1, 1, 0, 0, 0, 0), (1, 1, 1, 1, 1, 1)])
def test_looks_at_six_in_any_order_are_false_of_a_slice_at_any_time_no_more_often_than_its_share(wrong):
    """All orders, after each look: a claim is ever false with a chance of at most delta / 4.

    Answers alike in value and outcome may change places, so each way to see these is as likely as any other.
    """
    wrong, values, terms = (
        np.array(wrong, bool),
        np.repeat(["a", "b"], 3),
        AuditTerms("sequential", 0.3, 0.8, by="kind"),
    )
    made, false = draw(6, terms, values=values.tolist()), np.zeros(2)
    orders = {(*values[[*order]], *wrong[[*order]]): order for order in permutations(range(6))}
    for order in orders.values():
        one, ever = replace(made, order=np.array(order)), np.zeros(2, bool)
        for count in range(1, 7):
            seen, looked = looks(one, wrong, count)
            claims = slice_claims(one, seen, looked)
            ever |= [most < there for most, there in left(claims, wrong, looked, values)]
        false += ever
    assert (false / len(orders) <= terms.delta / 4 + 1e-9).all()


def false_slice(crowd: str, method: str, seed: int) -> bool:
    """Whether any claim of a slice, or any recall, is false of one draw."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 90))
    values, claims = rng.choice(["a", "b", "c"], n, p=[0.5, 0.4, 0.1]), rng.beta(1, 4, n)
    wrong = rng.random(n) < np.clip(CROWDS[crowd](values, claims), 0, 1)
    truth = np.where(wrong, np.where(values == "a", "b", "a"), values)
    terms = AuditTerms(method, 0.1, 0.2, seed, int(rng.integers(0, 5)) if method == "assisted" else 0, by="label")
    made = draw(n, terms, claims if method == "assisted" else None, values=values.tolist())
    count = made.checks - made.certain.size if method == "exact" else int(rng.integers(1, made.order.size + 1))
    seen, looked = looks(made, wrong, count)
    shown = slice_claims(made, seen, looked)
    now = values.copy()
    now[list(looked)] = truth[list(looked)]
    recall = recall_at_least(shown, {name: int((now == name).sum()) for name in sorted(set(now))})
    real = {name: (now == name)[truth == name].mean() for name in recall if (truth == name).any()}
    too_much = any(recall[name] > share + 1e-9 for name, share in real.items())
    return too_much or any(most < there for most, there in left(shown, wrong, looked, values))


@pytest.mark.chance
@pytest.mark.parametrize("draws", [10, pytest.param(560, marks=pytest.mark.long)])
def test_all_claims_of_all_slices_hold_together(draws):
    """Crowds that err where it is hardest to find, three methods, stopped anywhere: with recalls, false in a tenth."""
    for crowd in CROWDS:
        for method in ("assisted", "sequential", "exact"):
            false = sum(false_slice(crowd, method, seed) for seed in seeds(draws))
            assert false <= most(draws, 0.1), (crowd, method)


def test_a_slice_that_is_looked_at_whole_is_known():
    """Nothing is left where all was looked at; nothing is said of what nobody looked at."""
    made = draw(7, AuditTerms("sequential", 0.3, 0.1, by="kind"), values=VALUES)
    made = replace(made, order=np.arange(7))
    wrong = np.array([0, 1, 0, 0, 1, 0, 0], bool)
    first, second = slice_claims(made, *looks(made, wrong, 4))
    assert (first.checked, first.corrected, first.wrong_at_most) == (4, 1, 0)
    assert (second.checked, second.wrong_at_most) == (0, 3)
    assert recall_at_least([first, second], {"a": 3, "b": 4}) == {"a": 0.5, "b": 1.0}

"""Claims by class and by slice: each holds for every placement of the errors, and all of them hold together."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations, product
from math import factorial

import numpy as np
import pytest

from crowdopt.answers.audit.draws import AuditTerms, draw, recall_at_least, slice_claims
from tests.chance import most, seeds

VALUES = ["a"] * 4 + ["b"] * 3  # of seven answers
CROWDS = {  # chance of an error of each answer, by its value and its claim
    "honest": lambda value, claim: claim,
    "claims turned round": lambda value, claim: 0.6 - claim,
    "one class is wrong": lambda value, claim: 0.5 * (value == "a"),
    "the other class is wrong": lambda value, claim: 0.4 * (value == "b"),
    "nothing is wrong": lambda value, claim: 0.0 * claim,
    "all of it is wrong": lambda value, claim: 0.0 * claim + 1.0,
    "the sure ones are wrong": lambda value, claim: 0.9 * (claim < 0.1),
    "the unsure ones are wrong": lambda value, claim: 0.9 * (claim > 0.4),
    "the sure ones of one class": lambda value, claim: 0.8 * ((claim < 0.15) & (value == "b")),
    "a coin": lambda value, claim: 0.0 * claim + 0.5,
    "few, alike": lambda value, claim: 0.0 * claim + 0.08,
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
    """All placements of the errors, all subsets: a claim is false with a chance of at most delta / 4 for each slice."""
    values, terms = np.array(VALUES), AuditTerms("exact", 0.3, 0.6, by="kind")
    made = draw(7, terms, checks=checks, values=VALUES)
    drawn = list(combinations(range(7), checks))
    for wrong in map(np.array, product((False, True), repeat=7)):
        false = np.zeros(2)
        for chosen in drawn:
            rest = [place for place in range(7) if place not in chosen]
            one = replace(made, order=np.array([*chosen, *rest]))
            seen, looked = looks(one, wrong, checks)
            false += [most < there for most, there in left(slice_claims(one, seen, looked), wrong, looked, values)]
        assert (false / len(drawn) <= terms.delta / 4 + 1e-9).all()


def test_looks_at_six_in_any_order_are_false_of_a_slice_at_any_time_no_more_often_than_its_share():
    """All placements, all orders, after each look: a claim is ever false with a chance of at most delta / 4."""
    texts = ["a"] * 3 + ["b"] * 3
    values, terms = np.array(texts), AuditTerms("sequential", 0.3, 0.8, by="kind")
    made = draw(6, terms, values=texts)
    for wrong in ([1, 0, 0, 1, 1, 0], [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]):
        wrong, false = np.array(wrong, bool), np.zeros(2)
        for order in permutations(range(6)):
            one, ever = replace(made, order=np.array(order)), np.zeros(2, bool)
            for count in range(1, 7):
                seen, looked = looks(one, wrong, count)
                claims = slice_claims(one, seen, looked)
                ever |= [most < there for most, there in left(claims, wrong, looked, values)]
            false += ever
        assert (false / factorial(6) <= terms.delta / 4 + 1e-9).all()


def trial(crowd: str, method: str, seed: int) -> bool:
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
    real = {name: float((now == name)[truth == name].mean()) for name in recall if (truth == name).any()}
    return any(most < there for most, there in left(shown, wrong, looked, values)) or any(
        recall[name] > share + 1e-9 for name, share in real.items()
    )


@pytest.mark.chance
@pytest.mark.parametrize("draws", [15, pytest.param(560, marks=pytest.mark.slow)])
def test_all_claims_of_all_slices_hold_together(draws):
    """Crowds that err where it is hardest to find, three methods, stopped anywhere: with recalls, false in a tenth."""
    for crowd in CROWDS:
        for method in ("assisted", "sequential", "exact"):
            false = sum(trial(crowd, method, seed) for seed in seeds(draws))
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

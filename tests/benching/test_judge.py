"""An answer is worth what can be recomputed, whatever is said of it; figures that comparisons rest on."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.benching.figures import par2, profile, shifted_mean, times_as_long
from crowdopt.benching.judge import Result, crossed, judge_solution
from crowdopt.benching.measure import multipliers, point
from crowdopt.core.solution import Solution, Status
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import build
from crowdopt.hire.ranking import ranked
from crowdopt.solvers.probe import tiny
from tests.chance import binomial

LP, IP = tiny(False), tiny(True)  # min 2a + 3b, a + b >= 1.5, a <= 1, both in [0, 4]: 3.5 at (1, .5); 5 at (1, 1)
DUAL = [3.0, -1.0]


POINT = [1.0, 0.5]


def judged(program, claim, bound, primal, dual):
    arrays = (None if values is None else np.array(values) for values in (primal, dual))
    return judge_solution(Solution(program, "", Status(claim), *arrays, None, bound, 0.0, ""))


@pytest.mark.parametrize(
    ("program", "claim", "bound", "primal", "dual", "outcome"),
    [
        (LP, "optimal", 3.5, POINT, DUAL, "proven"),
        (LP, "feasible", None, POINT, DUAL, "proven"),
        (LP, "optimal", 3.5, POINT, None, "vouched"),
        (LP, "optimal", None, POINT, None, "vouched"),
        (LP, "optimal", 3.5, [1.0, 0.49995], DUAL, "rough"),
        (LP, "optimal", 3.6, [1.0, 0.6], DUAL, "rough"),
        (LP, "optimal", 3.5, [1.0, 0.4], DUAL, "wrong"),
        (LP, "optimal", 3.5, [1.0, 0.6], None, "wrong"),
        (LP, "feasible", 3.9, [1.0, 0.6], None, "wrong"),
        (LP, "feasible", 3.1, [1.0, 0.6], None, "feasible"),
        (LP, "undecided", None, [0.0, 0.0], None, "nothing"),
        (LP, "optimal", 3.5, None, None, "wrong"),
        (LP, "unbounded", None, None, None, "wrong"),
        (LP, "infeasible", None, None, None, "infeasible"),
        (LP, "infeasible", None, POINT, None, "wrong"),
        (IP, "optimal", 5.0, [1.0, 1.0], None, "vouched"),
        (IP, "optimal", 4.2, [1.0, 1.0], None, "vouched"),  # values are whole, so nothing is below 5
        (IP, "optimal", 3.5, [1.0, 1.0], None, "wrong"),
        (IP, "optimal", 3.5, POINT, None, "wrong"),
    ],
)
def test_claims(program, claim, bound, primal, dual, outcome):
    """Proven by multipliers, vouched for by the solver, rough within a thousandth, or not true.

    Fractions are no plan; a search's bound is the solver's word, but must fit its own value.
    """
    found = judged(program, claim, bound, primal, dual)
    assert found.outcome == outcome and (found.why or outcome in ("proven", "feasible", "nothing"))


def test_what_is_recomputed_is_what_is_shown():
    """Value, violation, bound and gap come from the program, not from the claim."""
    found = judged(LP, "optimal", 3.5, [1.0, 0.6], DUAL)
    assert (found.value, found.bound, found.violation, found.gap) == pytest.approx((3.8, 3.5, 0.0, 0.3 / 3.5))
    assert found.proof == "certificate"


def test_lies_that_only_others_reveal():
    """A plan that holds is not the cheapest, a bound is too high, there is a plan after all: seen side by side."""
    alone, dear = [], [0.0, 2.0]
    for claim in (
        ("optimal", 5.0, [1.0, 1.0]),
        ("optimal", 6.0, dear),
        ("feasible", 5.5, dear),
        ("infeasible", None, None),
    ):
        found = judged(IP, *claim, None)
        alone.append(Result("tiny", "ip", 0, "a", found.outcome, found.why, asdict(found) | {"claimed": claim[0]}))
    assert [one.outcome for one in alone] == ["vouched", "vouched", "feasible", "infeasible"]
    honest, *liars = crossed(alone)
    assert honest.outcome == "vouched" and [liar.outcome for liar in liars] == ["wrong"] * 3
    said = [liar.why.split(", but")[0] for liar in liars]
    assert said == ["claims optimal at 6", "claims that nothing is below 6", "claims infeasible"]


@given(st.lists(st.integers(0, 10), min_size=1, max_size=12), st.integers(1, 12), st.integers(2, 4))
def test_the_closed_form_dual_proves_the_integer_optimum(correct, most, classes):
    """The relaxation is tight (Li & Liu's problem (11) as sizes of prefixes), so the gap is rounding."""
    instance = SelectionInstance(correct=np.array(correct), asked=np.full(len(correct), 10), classes=classes, most=most)
    program = build(instance)
    arrays = point(program, ranked(instance).members), multipliers(program, instance)
    found = judged(program, "optimal", None, *arrays)
    assert found.outcome == "proven" and abs(found.gap) <= 1e-12, found


NAN = np.nan
SECONDS = st.lists(st.lists(st.one_of(st.floats(0.001, 100), st.just(NAN)), min_size=3, max_size=3), min_size=1)


def test_means_by_their_definitions():
    """A case that was not settled counts the limit, or twice the limit (par2), as does one settled after it."""
    assert shifted_mean(np.full((4, 2), 3.0), 10.0) == pytest.approx([3.0, 3.0])
    assert shifted_mean(np.array([[NAN, 12.0, 10.0]]), 10.0) == pytest.approx([10.0, 10.0, 10.0])
    assert shifted_mean(np.array([[0.0], [3.0]]), 10.0) == pytest.approx([1.0])  # sqrt(1 * 4) - 1
    assert par2(np.array([[NAN, 4.0], [2.0, 12.0]]), 10.0) == pytest.approx([11.0, 7.0])


def test_the_ratio_s_interval_covers_as_often_as_it_says():
    """Paired cases whose log differences are normal: Student's interval holds 95 % of the time, by the binomial law."""
    rng, inside, runs = np.random.default_rng(0), 0, 1000
    for _ in range(runs):
        first = rng.lognormal(1, 1, 6)
        second = (first + 1) * np.exp(rng.normal(0.4, 0.2, 6)) - 1
        _, low, high = times_as_long(np.column_stack([first, second]), 1e9)
        inside += low <= np.exp(0.4) <= high
    assert binomial(inside, runs, 0.95)
    assert times_as_long(np.array([[1.0, 3.0]]), 10.0) == pytest.approx((2.0, 0.0, np.inf))


@given(SECONDS)
def test_means_keep_order_and_range_and_profiles_their_ends(rows):
    """A method that is never slower than another has no larger mean; none lies outside its own times.

    Shares never fall; at factor 1 they are how often a method was the fastest, at the end how often it settled.
    """
    seconds = np.array(rows)
    counted = np.minimum(np.where(np.isnan(seconds), 50.0, seconds), 50.0)
    means = shifted_mean(np.column_stack([seconds, counted.min(axis=1)]), 50.0)
    assert (means[3] <= means[:3] + 1e-9).all()
    assert ((counted.min(axis=0) - 1e-9 <= means[:3]) & (means[:3] <= counted.max(axis=0) + 1e-9)).all()
    factors, shares = profile(seconds)
    assert factors[0] == 1.0 and (np.diff(factors) > 0).all() and (np.diff(shares, axis=0) >= 0).all()
    if np.isfinite(seconds).any():
        assert shares[-1] == pytest.approx(np.isfinite(seconds).mean(axis=0))
        best = np.min(np.where(np.isnan(seconds), np.inf, seconds), axis=1, keepdims=True)
        assert shares[0] == pytest.approx((seconds == best).mean(axis=0))

"""An answer is worth what can be recomputed, whatever is said of it: all on one program whose optimum is known."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.benching.judge import judge_solution
from crowdopt.core.solution import Solution, Status
from crowdopt.solvers.probe import tiny

LP, IP = tiny(False), tiny(True)  # min 2a + 3b, a + b >= 1.5, a <= 1, both in [0, 4]: 3.5 at (1, .5); 5 at (1, 1)
DUAL = [3.0, -1.0]


def judged(program, claim, bound=None, primal=None, dual=None):
    point, multipliers = (None if values is None else np.array(values) for values in (primal, dual))
    return judge_solution(Solution(program, "", Status(claim), point, multipliers, None, bound, 0.0, ""))


@pytest.mark.parametrize(
    ("claim", "bound", "arrays", "outcome"),
    [
        ("optimal", 3.5, {"primal": [1.0, 0.5], "dual": DUAL}, "proven"),
        ("feasible", None, {"primal": [1.0, 0.5], "dual": DUAL}, "proven"),
        ("optimal", 3.5, {"primal": [1.0, 0.5]}, "vouched"),
        ("optimal", None, {"primal": [1.0, 0.5]}, "vouched"),
        ("optimal", 3.5, {"primal": [1.0, 0.49995], "dual": DUAL}, "rough"),
        ("optimal", 3.6, {"primal": [1.0, 0.6], "dual": DUAL}, "rough"),
        ("optimal", 3.5, {"primal": [1.0, 0.4], "dual": DUAL}, "wrong"),
        ("optimal", 3.5, {"primal": [1.0, 0.6]}, "wrong"),
        ("feasible", 3.9, {"primal": [1.0, 0.6]}, "wrong"),
        ("feasible", 3.1, {"primal": [1.0, 0.6]}, "feasible"),
        ("undecided", None, {"primal": [0.0, 0.0]}, "nothing"),
        ("undecided", None, {}, "nothing"),
        ("optimal", 3.5, {}, "wrong"),
        ("unbounded", None, {}, "wrong"),
        ("infeasible", None, {}, "infeasible"),
        ("infeasible", None, {"primal": [1.0, 0.5]}, "wrong"),
    ],
)
def test_linear_claims(claim, bound, arrays, outcome):
    """Proven by multipliers, vouched for by the solver, rough within a thousandth, or not true."""
    found = judged(LP, claim, bound, **arrays)
    assert found.outcome == outcome
    assert found.why or outcome in ("proven", "feasible", "nothing")


@pytest.mark.parametrize(
    ("claim", "bound", "point", "outcome"),
    [
        ("optimal", 5.0, [1.0, 1.0], "vouched"),
        ("optimal", 4.2, [1.0, 1.0], "vouched"),  # values are whole, so nothing is below 5
        ("optimal", 3.5, [1.0, 1.0], "wrong"),
        ("feasible", 3.5, [1.0, 1.0], "feasible"),
        ("optimal", 3.5, [1.0, 0.5], "wrong"),
        ("feasible", 5.5, [1.0, 1.0], "wrong"),
    ],
)
def test_claims_on_integers(claim, bound, point, outcome):
    """Fractions are no plan; a search's bound is the solver's word, but must fit its own value."""
    assert judged(IP, claim, bound, primal=point).outcome == outcome


def test_what_is_recomputed_is_what_is_shown():
    """Value, violation, bound and gap come from the program, not from the claim."""
    found = judged(LP, "optimal", 3.5, primal=[1.0, 0.6], dual=DUAL)
    assert (found.value, found.bound, found.proof, found.violation) == pytest.approx((3.8, 3.5, "certificate", 0.0))
    assert found.gap == pytest.approx(0.3 / 3.5)

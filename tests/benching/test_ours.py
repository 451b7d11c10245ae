"""Algorithm 1 as a subject: its multipliers prove the selection program's optimum, for any tallies."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.benching.judge import PROVEN, judge_solution
from crowdopt.benching.measure import multipliers, point
from crowdopt.core.solution import Solution, Status
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import build
from crowdopt.hire.ranking import ranked

TALLIES = st.lists(st.integers(0, 10), min_size=1, max_size=12)


@given(TALLIES, st.integers(1, 12), st.integers(2, 4))
def test_the_closed_form_dual_proves_the_integer_optimum(correct, most, classes):
    """The relaxation is tight (Li & Liu's problem (11) as sizes of prefixes), so the gap is rounding."""
    instance = SelectionInstance(correct=np.array(correct), asked=np.full(len(correct), 10), classes=classes, most=most)
    program = build(instance)
    arrays = point(program, ranked(instance).members), multipliers(program, instance)
    found = judge_solution(Solution(program, "", Status.OPTIMAL, *arrays, None, None, 0.0, ""))
    assert found.outcome == PROVEN, found
    assert abs(found.gap) <= 1e-12

"""Plans that are looked for on the way to an answer: Ctrl-C there ends the caller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt.api.binding import WHOLE
from crowdopt.assign.methods import quick
from crowdopt.assign.methods.quick import quick_plan
from crowdopt.assign.search import solve_linear_rule
from crowdopt.crowd.recipes import recipe


@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
def test_an_interrupted_search_is_no_answer(rule, monkeypatch):
    """The exact method keeps what it has; a caller that went on with it would have lost the interrupt."""
    instance = replace(recipe("R1:8x20", 0), rule=rule, epsilon=np.full(8, 0.2))
    assert quick_plan(instance, WHOLE, 10.0) is not None
    cut = lambda *args, **options: replace(solve_linear_rule(*args, **options), interrupted=True)  # noqa: E731
    monkeypatch.setattr(quick, "solve_linear_rule", cut)
    with pytest.raises(KeyboardInterrupt):
        quick_plan(instance, WHOLE, 10.0)

"""Plans that are looked for on the way to an answer: Ctrl-C there ends the caller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt.assign import search
from crowdopt.assign.search import quick_plan, solve_exact
from crowdopt.crowd.recipes import recipe
from crowdopt.verbs.binding import WHOLE


@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
def test_an_interrupted_search_is_no_answer(rule, monkeypatch):
    """The exact method keeps what it has; a caller that went on with it would have lost the interrupt."""
    instance = replace(recipe("R1:8x20", 0), rule=rule, epsilon=np.full(8, 0.2))
    assert quick_plan(instance, WHOLE, 10.0) is not None
    cut = lambda *args, **options: replace(solve_exact(*args, **options), interrupted=True)  # noqa: E731
    monkeypatch.setattr(search, "solve_exact", cut)
    with pytest.raises(KeyboardInterrupt):
        quick_plan(instance, WHOLE, 10.0)

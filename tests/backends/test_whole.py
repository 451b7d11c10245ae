"""``solve_whole``: the same solution, or none at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crowdopt import backends, recipe, relax
from crowdopt.programs import assignment


def test_an_interrupted_search_ends_the_caller(monkeypatch):
    """An answer that cannot say it was cut short must not be made of one that was."""
    program = relax(assignment.build(recipe("R1:10x20", seed=0)))
    found = backends.solve(program)
    assert (backends.solve_whole(program).primal == found.primal).all()
    monkeypatch.setattr(backends, "solve", lambda *_: replace(found, interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        backends.solve_whole(program)

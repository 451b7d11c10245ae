"""``solve_whole``: the same solution, or none at all."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest

from crowdopt import recipe, relax
from crowdopt.programs import assignment

backends = import_module("crowdopt.backends")  # the folder; crowdopt.backends is the call


def test_an_interrupted_search_ends_the_caller(monkeypatch):
    """An answer that cannot say it was cut short must not be made of one that was."""
    program = relax(assignment.build(recipe("R1:10x20", seed=0)))
    found = backends.solve(program)
    assert (backends.solve_whole(program).primal == found.primal).all()
    monkeypatch.setattr(backends, "solve", lambda *_: replace(found, interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        backends.solve_whole(program)

"""Compiling takes longer than the small time limits here: it is done once, before anything is timed."""

from __future__ import annotations

import pytest

from crowdopt import assign, recipe


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Every compiled loop is used once."""
    assign(recipe("R10:60x100"), nodes=3, time_limit=600)

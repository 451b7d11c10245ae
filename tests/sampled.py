"""Values that a test is tried with: the first few by default, all of them where there is time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_of(values: Iterable[Any], few: int = 1) -> list[Any]:
    """Parameters of a test: all but the first few are slow, since they show the same again."""
    every = [one if isinstance(one, tuple) else (one,) for one in values]
    return [pytest.param(*one, marks=pytest.mark.slow if k >= few else ()) for k, one in enumerate(every)]

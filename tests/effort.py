"""How many examples a theorem is tried on: a quarter by default, all of them with CROWDOPT_EXAMPLES=all."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

LEAST = 10
ALL = os.environ.get("CROWDOPT_EXAMPLES") == "all"


def examples(count: int, **more: Any) -> settings:
    """Settings of a test that is worth so many examples when minutes do not count (tests/test_thorough.py)."""
    return settings(max_examples=count if ALL else min(count, max(LEAST, count // 4)), **more)

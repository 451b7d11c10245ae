"""How many examples a theorem is tried on: some of them by default, all of them with CROWDOPT_EXAMPLES=all."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

LEAST = 10
ALL = os.environ.get("CROWDOPT_EXAMPLES") == "all"


def tries(count: int, few: int) -> int:
    """Cases that a test draws itself, or how often something has to be seen in them: all, or a few by default."""
    return count if ALL else few


def examples(count: int, **more: Any) -> settings:
    """Settings of a test worth so many examples when minutes do not count (tests/test_thorough.py), a quarter else."""
    return settings(max_examples=count if ALL else min(count, max(LEAST, count // 4)), **more)

"""Nothing here is timed before the loops are compiled."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def compiled_first(compiled: None) -> None:
    """Once in a process."""

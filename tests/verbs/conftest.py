"""What tests of the verbs may go without."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No library of charts: pictures take longer than a small study, and other tests look at them."""
    monkeypatch.setitem(sys.modules, "altair", None)

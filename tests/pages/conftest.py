"""What tests of pages may go without."""

from __future__ import annotations

import pytest

from crowdopt.pages import charts


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame in place of each picture: drawing takes seconds, and tests of pictures look at them."""
    monkeypatch.setattr(charts, "_converted", lambda jobs: [b"<svg></svg>" for _ in jobs])

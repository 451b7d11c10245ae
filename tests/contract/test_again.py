"""Every backend takes its library's own options or says that it has none."""

from __future__ import annotations

import pytest

from tests.contract.accuracy import accuracy
from tests.contract.rows import BACKENDS, row


@pytest.mark.parametrize("backend", BACKENDS)
def test_options_of_the_library_s_own(backend: str) -> None:
    """A harmless one leaves the optimum; one that is not there is a sentence, never ignored."""
    facts = row(backend, "again/options")
    if facts["takes"]:
        optimum = 5.0 if backend == "ortools-cpsat" else 3.5
        assert facts["value"] == pytest.approx(optimum, abs=10 * accuracy(backend))
    assert "presolvv" in facts["said"] and "\n" not in facts["said"]

"""Every backend takes its library's own options or says that it has none, and answers in a session as it does cold."""

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


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_session_answers_as_a_cold_solve(backend: str) -> None:
    """Other costs, sides and bounds: equal certificates, and one build where the library keeps anything."""
    facts = row(backend, "again/session")
    for (status, value, bound), (cold_status, cold_value, _) in zip(facts["warm"], facts["cold"], strict=True):
        assert status == cold_status
        if cold_value is not None:
            assert value == pytest.approx(cold_value, abs=10 * accuracy(backend) * max(1.0, abs(cold_value)))
            assert bound is None or bound <= value + 10 * accuracy(backend) * max(1.0, abs(value))
    assert facts["builds"] == (1 if facts["keeps"] else len(facts["warm"]))

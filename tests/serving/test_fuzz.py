"""Requests that a schema allows, and that it does not, by the thousand: always a sentence, never the inside."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import crowdopt
from crowdopt.verbs.live import check_history, live_application, token

schemathesis = pytest.importorskip("schemathesis")
pytest.importorskip("fastapi")

INSIDE = ("Traceback", 'File "', "sqlite3", "crowdopt/", "SELECT ", "INSERT ")


@pytest.mark.parametrize(
    "requests", [pytest.param(400, marks=pytest.mark.slow), pytest.param(100_000, marks=pytest.mark.long)]
)
def test_no_request_is_answered_by_the_inside(requests, tmp_path):
    """Over all calls, by any owner: no 500, no traceback, no other's token; and the history leads to its decisions."""
    crowdopt.init(tmp_path / "birds")
    store = tmp_path / "campaign.db"
    live = crowdopt.live(tmp_path / "birds", policy="greedy", store=store, newcomers=20)
    app = live_application(tmp_path / "birds", live)
    tokens = token(store), token(store, "ada"), token(store, role="expert"), "wrong"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = schemathesis.openapi.from_asgi("/openapi.json", app)
        calls = [call.ok() for call in schema.get_all_operations()]
    assert {"POST /api/label", "POST /api/tokens", "GET /join"} <= {call.label for call in calls}
    some = [call.as_strategy() for call in calls]
    some += [call.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE) for call in calls]

    @settings(max_examples=requests, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=st.one_of(some), owner=st.sampled_from(tokens))
    def answered(case, owner):
        answer = case.call(headers={"Authorization": f"Bearer {owner}"})
        assert answer.status_code < 500, (case.path, answer.text)
        assert not any(word in answer.text for word in INSIDE), answer.text
        assert not any(secret in answer.text for secret in tokens[:-1])
        if answer.status_code >= 400 and answer.status_code != 405:
            assert list(answer.json()) == ["error"]

    answered()
    check_history(tmp_path / "birds", store)

"""Requests that a schema allows, and that it does not, by the thousand: always a sentence, never the inside."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import crowdopt
from crowdopt.api.live_history import check_history
from crowdopt.api.live_service import live_application, token

schemathesis = pytest.importorskip("schemathesis")
pytest.importorskip("fastapi")

INSIDE = ("Traceback", 'File "', "sqlite3", "crowdopt/", "SELECT ", "INSERT ")


@pytest.fixture(scope="module")
def open_service(tmp_path_factory):
    """The application of a small campaign, its place, and tokens."""
    folder = tmp_path_factory.mktemp("fuzz")
    crowdopt.init(folder / "birds")
    store = folder / "campaign.db"
    running = crowdopt.live(folder / "birds", policy="greedy", store=store, newcomers=20)
    app = live_application(folder / "birds", running)
    return app, folder, (token(store), token(store, "ada"), token(store, role="expert"), "wrong")


def fuzzed(service, requests: int, number: int = 0) -> None:
    """So many requests over all calls, each with one of the tokens; then the history is looked at."""
    app, folder, tokens = service
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = schemathesis.openapi.from_asgi("/openapi.json", app)
        calls = [call.ok() for call in schema.get_all_operations()]
    assert {"POST /api/label", "POST /api/tokens", "GET /join"} <= {call.label for call in calls}
    some = [st.one_of(call.as_strategy(), call.as_strategy(generation_mode=_negative())) for call in calls]

    @seed(number)
    @settings(
        max_examples=requests,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(some), owner=st.sampled_from(tokens))
    def answered(case, owner):
        answer = case.call(headers={"Authorization": f"Bearer {owner}"})
        assert answer.status_code < 500, (case.path, answer.text)
        assert not any(word in answer.text for word in INSIDE), answer.text
        assert not any(secret in answer.text for secret in tokens[:-1])
        if answer.status_code >= 400 and answer.status_code != 405:
            assert list(answer.json()) == ["error"]

    answered()
    check_history(folder / "birds", folder / "campaign.db")


def _negative():
    from schemathesis import GenerationMode

    return GenerationMode.NEGATIVE


@pytest.mark.slow
def test_a_few_hundred_requests(open_service):
    """What the long test does a hundred thousand times."""
    fuzzed(open_service, 400)


@pytest.mark.long
def test_a_hundred_thousand_requests(open_service):
    """No request is answered by 500, a traceback, or another's token, and the history leads to its decisions."""
    fuzzed(open_service, 100_000)

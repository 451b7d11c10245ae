"""A disk that is full: the service says to call again, and the same call is taken once there is room."""

from __future__ import annotations

import sqlite3

import pytest

import crowdopt
from crowdopt.api.live_history import check_history
from crowdopt.api.live_service import live_application, token

pytest.importorskip("httpx")
testing = pytest.importorskip("starlette.testclient")
pytest.importorskip("fastapi")


def test_a_full_disk_is_answered_by_call_again(tmp_path, monkeypatch):
    """503, as a page needs it to send the label again; nothing of it has happened, and later it counts once."""
    crowdopt.init(tmp_path / "birds", classes=["yes", "no"])
    store = tmp_path / "campaign.db"
    live = crowdopt.live(tmp_path / "birds", policy="greedy", store=store)
    client = testing.TestClient(live_application(tmp_path / "birds", live), raise_server_exceptions=False)
    ada = {"Authorization": f"Bearer {token(store, 'ada')}"}
    lease = client.post("/api/next", headers=ada).json()["lease"]

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as while_full:
        while_full.setattr(live.store, "_run_each", full)
        for path, body in (("/api/label", {"lease": lease, "label": "yes"}), ("/api/skip", {"lease": lease})):
            answer = client.post(path, json=body, headers=ada)
            assert answer.status_code == 503 and list(answer.json()) == ["error"] and "sqlite" not in answer.text
        assert client.post("/api/next", headers=ada).json()["lease"] == lease
    assert live.labels() == []
    answers = [client.post("/api/label", json={"lease": lease, "label": "yes"}, headers=ada) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200] and answers[0].content == answers[1].content
    assert check_history(tmp_path / "birds", store).labels == 1
